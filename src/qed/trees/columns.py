"""Columns in order: every column is sorted once, and the order is handed down from a node to its children.

A key holds, from its highest bits to its lowest, the rank of a value among the values of its column, the number of its row, and the class
of that row. Equal values have equal ranks, so whether a question may separate two neighbours is one comparison, and to count classes
nothing but the keys is read; missing values stand last. Handing keys on to the children keeps their order, which makes a level of the tree
cost :math:`O(np)` and no sorting.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from qed.base.engine import work
from qed.base.errors import InputError


class Columns:
    """The keys of some rows, column by column, and the distinct values that ranks stand for."""

    def __init__(self, X: np.ndarray, label: np.ndarray, classes: int) -> None:
        n, p = X.shape
        self.label_bits = max(classes - 1, 0).bit_length()
        self.rank_shift = self.label_bits + n.bit_length()
        if self.rank_shift + n.bit_length() > 63:
            raise InputError(f"An exact tree of {n} rows and {classes} classes is too large: take bins, or fewer rows.")
        self.keys = np.empty((p, n), dtype=np.uint64)
        place = partial(_ordered, label=label, label_bits=self.label_bits, rank_shift=self.rank_shift)
        self.values: list[np.ndarray] = list(work(partial(place, X[:, j], self.keys[j]) for j in range(p)))

    @property
    def layout(self) -> tuple[np.uint64, np.uint64, np.uint64]:
        """How far row and rank are shifted in a key, and what stands in the place of a missing value's rank."""
        shift = np.uint64(self.rank_shift)
        return np.uint64(self.label_bits), shift, np.uint64((1 << 64) - 1) >> shift

    def middle(self, feature: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Give the values midway between two ranks of a column; infinity between all values and missing ones."""
        found = np.zeros(len(feature))
        for j in np.unique(feature[feature >= 0]):
            here = np.flatnonzero(feature == j)
            values = np.append(self.values[j].astype(np.float64), np.inf)
            top = np.minimum(high[here], len(values) - 1)
            found[here] = midway(values[low[here]], values[top])
        return found


def midway(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Give the middle of two values, such that the lower is at most as large and the higher is larger."""
    middle = low / 2 + high / 2
    # Halves of the least numbers vanish, and the middle of two neighbours is one of them. Missing values lie beyond all others.
    return np.where(((middle < low) | (middle >= high)) & (high < np.inf), low, middle)


def _ordered(column: np.ndarray, keys: np.ndarray, label: np.ndarray, label_bits: int, rank_shift: int) -> np.ndarray:
    """Write the keys of a column; give its distinct values."""
    # Equal values may come in any order: sums over them do not depend on it.
    order = np.argsort(column)
    in_order = column[order]
    there = int(np.searchsorted(in_order, np.nan)) if len(column) and np.isnan(in_order[-1]) else len(column)
    new = np.ones(there, dtype=bool)
    np.not_equal(in_order[1:there], in_order[: max(there - 1, 0)], out=new[1:])
    keys[there:] = np.uint64((1 << 64) - 1) >> np.uint64(rank_shift)
    keys[:there] = np.cumsum(new) - 1
    np.left_shift(keys, np.uint64(rank_shift), out=keys)
    order <<= label_bits
    order |= label[order >> label_bits]
    np.bitwise_or(keys, order.view(np.uint64), out=keys)
    return in_order[:there][new]
