r"""Gram matrices, tile by tile: :math:`K_{ij} = k(x_i, z_j)`.

A kernel is first *bound* to two tables: whatever is needed of each row by itself (its norm, its features) is worked out
once. What comes back is a function that fills any tile of the matrix, and tiles are small enough to stay in the cache
while one operation after another runs over them. Strips of tiles are filled in parallel. The matrix of a table with
itself is symmetric bit for bit, because only the tiles below the diagonal are worked out and the others are copied from
them. All is done in float64, and kept as float32 where the tables are. Cost: :math:`O(nmp)` for :math:`n` and :math:`m`
rows of :math:`p` columns, at the speed of matrix products.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from qed.base.engine import n_threads, work
from qed.base.errors import InputError, ParameterError
from qed.base.models.checks import is_finite
from qed.kernels.inputs import Pair

SIDE = 240

Fill = Callable[[slice, slice, np.ndarray], Any]


class Bound(NamedTuple):
    """A kernel bound to two tables.

    Attributes
    ----------
    fill : callable
        ``fill(rows, columns, out)`` writes the values of some rows of the first table and some of the second into `out`.
    held : int
        Bytes that it keeps besides the tables.
    extra : int
        How many more arrays of the size of `out` it needs while it fills.
    """

    fill: Fill
    held: int = 0
    extra: int = 0


def whole(bound: Bound, pair: Pair, mirrored: bool, kernel: Any) -> np.ndarray:
    """Give the whole matrix; `mirrored` says that it is symmetric, and `kernel` is who is to blame if it overflows."""
    shape = pair.X.shape[0], pair.Z.shape[0]
    out = np.empty(shape, pair.dtype)
    _fill_rows(bound.fill, out, 0, SIDE, mirrored, kernel)
    return out


def blocks(bound: Bound, pair: Pair, memory: int, kernel: Any) -> Iterator[tuple[slice, np.ndarray]]:
    """Give the matrix in blocks of rows that, with everything else, need no more than `memory` bytes."""
    n, m = pair.X.shape[0], pair.Z.shape[0]
    size, side = _plan(bound, pair, memory)
    for start in range(0, n, size):
        rows = slice(start, min(start + size, n))
        out = np.empty((rows.stop - start, m), pair.dtype)
        _fill_rows(bound.fill, out, start, side, False, kernel)
        yield rows, out


def _plan(bound: Bound, pair: Pair, memory: int) -> tuple[int, int]:
    """Say how many rows a block may have, and how long the sides of its tiles are.

    Two blocks are alive at a time, because whoever reads them still holds the last one while the next is made.
    """
    n, m = pair.X.shape[0], pair.Z.shape[0]
    row = 2 * max(1, m) * pair.dtype.itemsize
    free = memory - bound.held - pair.held
    tile = 8 * n_threads() * (1 + bound.extra)
    least = bound.held + pair.held + row + tile
    if memory < least:
        raise ParameterError(
            f"memory={memory} bytes are too few: one row of the {n} x {m} matrix and what is needed to fill it take {least}. "
            "Give more memory, or compare with fewer rows at a time."
        )
    side = max(1, min(SIDE, math.isqrt(free // (4 * tile))))
    return max(1, min(max(1, n), (free - tile * side**2) // row)), side


def _fill_rows(fill: Fill, out: np.ndarray, first: int, side: int, mirrored: bool, kernel: Any) -> None:
    """Fill the rows `first` and following of the matrix, which are `out`, strip by strip."""
    strips = (slice(start, min(start + side, len(out))) for start in range(0, len(out), side))
    for _ in work(partial(_fill_strip, fill, out, strip, first, side, mirrored, kernel) for strip in strips):
        continue


def quiet() -> np.errstate:
    """Let values overflow in silence: what comes of it is looked at afterwards, once for all kernels."""
    return np.errstate(over="ignore", invalid="ignore")


def overflowed(kernel: Any) -> InputError:
    """Give the error for rows whose similarities are not finite."""
    return InputError(
        f"The values of {kernel!r:.200} overflow for these rows: scale the columns first, for example with qed.StandardScaler, or "
        "give the kernel a smaller scale."
    )


def _fill_strip(fill: Fill, out: np.ndarray, strip: slice, first: int, side: int, mirrored: bool, kernel: Any) -> None:
    rows = slice(first + strip.start, first + strip.stop)
    scratch = np.empty(side * side)
    for start in range(0, strip.stop if mirrored else out.shape[1], side):
        columns = slice(start, min(start + side, out.shape[1]))
        shape = rows.stop - rows.start, columns.stop - start
        tile = scratch[: shape[0] * shape[1]].reshape(shape)
        with quiet():
            fill(rows, columns, tile)
            if mirrored and start == strip.start:
                below = np.tril(tile, -1)
                tile[...] = below + below.T + np.diag(np.diagonal(tile))
            out[strip, columns] = tile
        if not is_finite(tile if out.dtype == np.float64 else out[strip, columns]):
            raise overflowed(kernel)
        if mirrored and start < strip.start:
            out[columns, strip] = tile.T


def dot(X: Any, Z: Any) -> Bound:
    """Bind the inner products of two tables."""
    if isinstance(X, np.ndarray):
        return Bound(lambda rows, columns, out: np.matmul(X[rows], Z[columns].T, out=out))

    def fill(rows: slice, columns: slice, out: np.ndarray) -> None:
        out[...] = (X[rows] @ Z[columns].T).toarray()

    return Bound(fill, extra=4)


def after(bound: Bound, change: Callable[[np.ndarray], Any], extra: int = 0) -> Bound:
    """Apply a function, in place, to whatever `bound` fills; it needs `extra` arrays of the size of a tile."""

    def fill(rows: slice, columns: slice, out: np.ndarray) -> None:
        bound.fill(rows, columns, out)
        change(out)

    return bound._replace(fill=fill, extra=max(bound.extra, extra))
