"""NumPy's ``.npy`` files as `Rows`: memory-mapped, so that only the blocks at work are in memory.

One file of floats is taken as the array that it is. Several files, or integers, are put together block by block.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from qed.base.errors import InputError, SourceError
from qed.base.sources.block import Sliced
from qed.base.sources.facts import FLOATS
from qed.base.sources.frames import check_lengths, read_target, read_weight
from qed.base.sources.layout import plan
from qed.base.sources.paths import find_files
from qed.base.sources.rows import ArrayRows, Rows
from qed.base.sources.spill import InParts


def open_npy(paths: Sequence[str], y: Any = None, weight: Any = None, size: int | None = None) -> Rows:
    """Make `Rows` of ``.npy`` files; `y` and `weight` are arrays, or paths of such files themselves."""
    pieces = [_mapped(path) for path in paths]
    for path, piece in zip(paths, pieces):
        if piece.ndim != 2 or piece.shape[1] != pieces[0].shape[1] or piece.dtype.kind not in "biuf":
            raise InputError(
                f"{path!r} holds {piece.dtype} of shape {piece.shape}: it must be a matrix of numbers"
                + (f", with {pieces[0].shape[1]} columns like {paths[0]!r}." if piece is not pieces[0] else ".")
            )
    n = sum(len(piece) for piece in pieces)
    if n == 0 or pieces[0].shape[1] == 0:
        raise InputError(f"{paths[0]!r} is an array of shape {pieces[0].shape}: it has no rows or no columns.")
    target, names = (None, ()) if y is None else read_target(_loaded(y))
    weights = None if weight is None else read_weight(_loaded(weight))
    check_lengths(n, target, weights)
    blocks = None if size is None else plan(size, pieces[0].shape[1])
    whole = pieces[0] if len(pieces) == 1 and pieces[0].dtype in FLOATS else Pieces(pieces)
    return ArrayRows(whole, target, weights, size=blocks, target_names=names)


class Pieces(Sliced, InParts):
    """Matrices below each other as one matrix of floats, of which only slices of rows can be had.

    >>> pieces = Pieces([np.array([[1, 2]]), np.array([[3, 4], [5, 6]])])
    >>> pieces.shape, pieces[0:2]
    ((3, 2), array([[1., 2.],
           [3., 4.]]))
    """

    def __init__(self, pieces: Sequence[np.ndarray]) -> None:
        self.pieces = pieces
        self.parts = tuple(pieces)
        self.ends = np.cumsum([len(piece) for piece in pieces]).tolist()
        self.shape = (self.ends[-1], pieces[0].shape[1])
        short = all(piece.dtype.kind == "f" and piece.dtype.itemsize <= 4 for piece in pieces)
        self.dtype = np.dtype(np.float32 if short else np.float64)

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        numbers = np.arange(*rows.indices(self.shape[0])) if isinstance(rows, slice) else rows
        found = np.empty((len(numbers), self.shape[1]), self.dtype)
        for piece, end in zip(self.pieces, self.ends):
            begin = end - len(piece)
            here = np.flatnonzero((numbers >= begin) & (numbers < end))
            if len(here) == 0:
                continue
            if isinstance(rows, slice):
                first = int(numbers[here[0]]) - begin
                found[here[0] : here[-1] + 1] = piece[first : first + len(here)]
            else:
                found[here] = piece[numbers[here] - begin]
        return found


def _loaded(values: object) -> object:
    """Load an array from its path, or give what is an array already."""
    if not isinstance(values, (str, os.PathLike)):
        return values
    parts = [_mapped(path) for path in find_files(values, {".npy"})]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _mapped(path: str) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise SourceError(f"There is no file {path!r} (any more).") from None
    except (OSError, ValueError, EOFError) as error:
        raise SourceError(
            f"{path!r} can not be read: it is damaged, cut short, or holds objects instead of numbers ({error})."
        ) from error
