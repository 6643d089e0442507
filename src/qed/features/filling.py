"""Transformers that know how wide their result is, and write it where it belongs.

For data in memory the whole result is asked for once, and the blocks, worked on in parallel, fill their own rows of it:
nothing is copied afterwards. Files and clusters go the usual way, block after block.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from qed.base.errors import InputError, enough_memory
from qed.base.models.checks import complete, refuse_missing
from qed.base.models.roles import Transformer
from qed.base.sources.block import Block
from qed.base.sources.rows import ArrayRows, Rows


class Filling(Transformer):
    """A transformer of numbers into a known number of columns of the same precision."""

    @abstractmethod
    def _fill(self, X: np.ndarray, out: np.ndarray) -> bool:
        """Write the new columns of some rows into `out`, and say whether all that came and went was finite."""

    def _width(self) -> int:
        """Say how many columns there will be."""
        return int(self.n_features_in_)

    def _change(self, block: Block) -> Any:
        out = np.empty((len(block), self._width()), block.X.dtype)
        if not self._fill(block.X, out):
            self._refuse_in(block)
        return out

    def transform(self, X: Any) -> Any:
        self._check_fitted()
        with enough_memory():
            return self._filled(self._open(X, reset=False))

    def _filled(self, rows: Rows) -> Any:
        if not rows.in_memory:
            return self._apply(self._change, rows)
        if rows.is_sparse:
            # Putting sparse parts together would take longer than making them.
            return self._change(complete(rows, self).array())
        return filled(rows, self._width(), rows.dtype, self._write, rows)

    def _write(self, block: Block, out: np.ndarray, rows: Rows) -> None:
        if not self._fill(block.X, out):
            self._refuse(rows)

    def _refuse_in(self, block: Block) -> None:
        names = getattr(self, "feature_names_in_", None)
        self._refuse(ArrayRows(block.X, weight=block.weight, feature_names=names, first=block.start))

    def _refuse(self, rows: Rows) -> None:
        """Say which value was missing or infinite, or that the result is too large."""
        refuse_missing(rows, self)
        raise InputError(
            f"The columns that {type(self).__name__} makes of these rows overflow: the values are much larger than "
            "those it was fitted on, or too large for the degree. Correct them, or scale the columns first."
        )


def filled(rows: Rows, width: int, dtype: Any, write: Callable[..., None], *args: Any) -> np.ndarray:
    """Make a matrix of as many rows as `rows`, in memory, have; ``write(block, out, *args)`` fills the part of each block.

    >>> filled(ArrayRows(np.ones((3, 2))), 1, float, lambda block, out: out.fill(7)).tolist()
    [[7.0], [7.0], [7.0]]
    """
    out = np.zeros((rows.count(), width), dtype)
    for _ in rows.each(_write_into, out, write, args):
        continue
    return out


def _write_into(block: Block, out: np.ndarray, write: Callable[..., None], args: tuple[Any, ...]) -> None:
    write(block, out[block.start : block.start + len(block)], *args)
