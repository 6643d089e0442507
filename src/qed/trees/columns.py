"""Columns in order: every column is sorted once, and the order is handed down from a node to its children.

A key holds, from its highest bits to its lowest, the rank of a value among the values of its column, the number of its row, and the class
of that row. Equal values have equal ranks, so whether a question may separate two neighbours is one comparison, and to count classes
nothing but the keys is read; missing values stand last. Handing keys on to the children keeps their order, which makes a level of the tree
cost :math:`O(np)` and no sorting.
"""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np

from qed.base.engine import work
from qed.base.errors import InputError

# Numbers that are put in order at once; and neighbours in the wrong order that are not worth sorting.
TOGETHER, FEW = 1 << 15, 64


class Columns:
    """The keys of some rows, column by column, and the distinct values that ranks stand for."""

    def __init__(self, X: np.ndarray, label: np.ndarray, classes: int) -> None:
        n, p = X.shape
        self.label_bits = max(classes - 1, 0).bit_length()
        self.rank_shift = self.label_bits + n.bit_length()
        if self.rank_shift + n.bit_length() > 63:
            raise InputError(f"An exact tree of {n} rows and {classes} classes is too large: take bins, or fewer rows.")
        self.keys = np.empty((p, n), dtype=np.uint64)
        low_bits = (np.arange(n, dtype=np.uint64) << np.uint64(self.label_bits)) | label.astype(np.uint64)
        some = max(TOGETHER // max(n, 1), 1)
        parts = (slice(j, j + some) for j in range(0, p, some))
        ordered = work(partial(_ordered, X[:, part], self.keys[part], low_bits, self.rank_shift) for part in parts)
        self.values: list[np.ndarray] = [one for values in ordered for one in values]

    @cached_property
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


def _ordered(part: np.ndarray, keys: np.ndarray, low_bits: np.ndarray, rank_shift: int) -> list[np.ndarray]:
    """Write the keys of some columns; give the distinct values of each.

    Numbers are sorted as whole ones of the same order, of which the highest bits stand above the row and its class: that is sooner done
    than to sort rows by their numbers. Where lower bits would have decided, neighbours change places afterwards.
    """
    column = part.T.copy()
    # Zero has one sign.
    column += 0
    n, shift = column.shape[1], np.uint64(rank_shift)
    lost = np.isnan(column)
    _write_leading(column, lost, keys.view(np.int64), 64 - rank_shift)
    np.left_shift(keys, shift, out=keys)
    np.bitwise_or(keys, low_bits, out=keys)
    keys.sort(axis=1)
    np.bitwise_and(keys, (np.uint64(1) << shift) - np.uint64(1), out=keys)
    rows = (keys >> np.uint64(rank_shift - n.bit_length())).view(np.int64)
    rows += np.arange(0, column.size, n)[:, None]
    in_order = column.take(rows)
    for j in np.flatnonzero((in_order[:, 1:] < in_order[:, :-1]).any(axis=1)):
        _settle(in_order[j], keys[j])
    new = np.ones(column.shape, dtype=bool)
    np.not_equal(in_order[:, 1:], in_order[:, :-1], out=new[:, 1:])
    ranks = np.cumsum(new, axis=1, out=rows)
    ranks -= 1
    if lost.any():
        lost = np.isnan(in_order)
        new &= ~lost
        ranks[lost] = -1
    np.left_shift(ranks, rank_shift, out=ranks)
    np.bitwise_or(keys, ranks.view(np.uint64), out=keys)
    return [values[here] for values, here in zip(in_order, new)]


def _write_leading(column: np.ndarray, lost: np.ndarray, whole: np.ndarray, bits: int) -> None:
    """Write whole numbers of so many bits in the order of the columns' values; missing values are the largest."""
    kind = np.int32 if column.dtype == np.float32 else np.int64
    whole[:] = column.view(kind)
    # Negative numbers are in reverse order.
    largest = np.int64(np.iinfo(kind).max)
    whole ^= (whole >> 63) & largest
    if lost.any():
        whole[lost] = largest
    low, high = whole.min(axis=1), whole.max(axis=1)
    whole -= low[:, None]
    spare = [max((int(top) - int(bottom)).bit_length() - bits, 0) for top, bottom in zip(high, low)]
    leading = whole.view(np.uint64)
    np.right_shift(leading, np.array(spare, dtype=np.uint64)[:, None], out=leading)


def _settle(in_order: np.ndarray, keys: np.ndarray) -> None:
    """Bring values in order that are so but for some neighbours, and their keys with them."""
    wrong = np.flatnonzero(in_order[1:] < in_order[:-1])
    while 0 < len(wrong) <= FEW:
        for at in wrong:
            if in_order[at + 1] < in_order[at]:
                for one in (in_order, keys):
                    one[at], one[at + 1] = one[at + 1], one[at]
        wrong = np.flatnonzero(in_order[1:] < in_order[:-1])
    if len(wrong):
        order = np.argsort(in_order, kind="stable")
        in_order[:], keys[:] = in_order[order], keys[order]
