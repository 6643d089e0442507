"""What sets of items weigh: the rows that hold all items of a set, by bits.

An item is in a row, a basket, where its value is above zero. Each item is a string of bits, one for each row; a set is their "and". Sets of
different sizes stand in one table, a set in each row, its items rising, filled up with -1.
"""

from __future__ import annotations

import numpy as np

from qed.base.compile import kernel
from qed.base.sources.block import Block, is_sparse

# Sets that are looked at together: their bits should stay near the processor.
TOGETHER_BYTES = 1 << 19
# With so few words NumPy is done before a loop could be compiled.
FEW = 1 << 20


def held(block: Block, items: np.ndarray | None = None) -> np.ndarray:
    """Say which rows of a block hold which items, of all items or of some, one row for each item."""
    X = block.X if items is None else block.X[:, items]
    found = X.toarray() > 0 if is_sparse(X) else X > 0
    return np.ascontiguousarray(found.T)


def item_weights(block: Block) -> np.ndarray:
    """Give what the rows weigh that hold each item."""
    if is_sparse(block.X):
        here = block.X.tocsr(copy=True)
        here.data = (here.data > 0).astype(np.float64)
        here.sum_duplicates()
    else:
        here = (block.X > 0).astype(np.float64)
    weight = np.ones(here.shape[0]) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    return np.asarray(weight @ here)


def set_weights(block: Block, sets: np.ndarray) -> np.ndarray:
    """Give what the rows of a block weigh that hold all items of each set."""
    items, places = np.unique(sets, return_inverse=True)
    places = places.reshape(sets.shape)
    if len(items) and items[0] == -1:
        items, places = items[1:], places - 1  # the place -1 is the last string, all ones
    return weigh(held(block, items), places, block.weight)


def weigh(rows: np.ndarray, places: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Give what rows weigh in which all of some items are held.

    Parameters
    ----------
    rows : ndarray of bool, shape (n_items, n_rows)
        Which rows hold each item.
    places : ndarray of int, shape (n_sets, longest)
        The items of each set, filled up with -1.
    weight : ndarray of shape (n_rows,), optional
        What each row weighs.

    Examples
    --------
    >>> rows = np.array([[True, True, False], [True, False, True]])
    >>> (
    ...     weigh(rows, np.array([[0, -1], [0, 1]]), None),
    ...     weigh(rows, np.array([[0, -1], [0, 1]]), np.array([1.0, 2.0, 4.0])),
    ... )
    (array([2., 1.]), array([3., 1.]))
    """
    n = rows.shape[1]
    if weight is None or (n and (weight == weight[0]).all()):
        bits = np.packbits(np.pad(rows, ((0, 1), (0, -n % 64))), axis=1).view(np.uint64)
        bits[-1] = ~np.uint64(0)
        unit = 1.0 if weight is None or not n else float(weight[0])
        if places.size * bits.shape[1] <= FEW:
            return unit * _in_parts(bits, places, _counted)
        order = np.lexsort(places.T[::-1]) if places.shape[1] else np.arange(len(places))
        found = np.empty(len(places))
        found[order] = count_bits(bits, np.ascontiguousarray(places[order]))
        return unit * found
    whole = np.concatenate([rows, np.ones((1, n), dtype=bool)])
    return _in_parts(whole, places, lambda both: both @ np.asarray(weight, dtype=np.float64))


def _counted(bits: np.ndarray) -> np.ndarray:
    return np.asarray(np.bitwise_count(bits).sum(axis=1, dtype=np.int64), dtype=np.float64)


def _in_parts(strings: np.ndarray, places: np.ndarray, total: object) -> np.ndarray:
    """Join the strings of each set and add up, a few sets at a time."""
    found = np.zeros(len(places))
    at_once = max(1, TOGETHER_BYTES // max(1, strings.strides[0]))
    for first in range(0, len(places), at_once):
        part = places[first : first + at_once]
        both = strings[part[:, 0]] if part.shape[1] else np.repeat(strings[-1:], len(part), axis=0)
        for column in range(1, part.shape[1]):
            both &= strings[part[:, column]]
        found[first : first + at_once] = total(both)  # type: ignore[operator]
    return found


@kernel
def count_bits(bits: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Count the bits that all strings of a set have in common, for sets in the order of their items: what two begin with is joined once."""
    sets, longest = places.shape
    words = bits.shape[1]
    joined = np.empty((longest + 1, words), np.uint64)
    for word in range(words):
        joined[0, word] = ~np.uint64(0)
    counts = np.zeros(sets, np.int64)
    pairs, fours = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
    bytes_, ones = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
    for row in range(sets):
        alike = 0
        while row > 0 and alike < longest and places[row, alike] == places[row - 1, alike] >= 0:
            alike += 1
        size = alike
        while size < longest and places[row, size] >= 0:
            item = places[row, size]
            for word in range(words):
                joined[size + 1, word] = joined[size, word] & bits[item, word]
            size += 1
        total = np.int64(0)
        for word in range(words):
            x = joined[size, word]
            x = x - ((x >> np.uint64(1)) & pairs)
            x = (x & fours) + ((x >> np.uint64(2)) & fours)
            x = (x + (x >> np.uint64(4))) & bytes_
            total += np.int64((x * ones) >> np.uint64(56))
        counts[row] = total
    return counts
