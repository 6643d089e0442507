"""What sets of items weigh: the rows that hold all items of a set, by bits.

An item is in a row, a basket, where its value is above zero. Each item is a string of bits, one for each row; a set is their "and". Sets of
different sizes stand in one table, a set in each row, its items rising, filled up with -1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from qed.base.compile import is_ready, kernel
from qed.base.engine import add_pairwise, work
from qed.base.sources.block import Block, is_sparse

# Sets that are looked at together: their bits should stay near the processor.
TOGETHER_BYTES = 1 << 19
# With so few words NumPy is done before a loop could be loaded, and with so many more before one could be compiled.
FEW, MANY_MORE = 1 << 20, 1 << 25
# Strings of that many words are a piece of their own, which a thread counts; shorter ones are joined.
LONG = 1 << 12


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


@dataclass(frozen=True)
class Strings:
    """Which rows hold which items: a string of bits for each item and one of ones, piece by piece, and what the rows weigh."""

    items: np.ndarray
    pieces: tuple[tuple[np.ndarray, np.ndarray | None], ...]

    @classmethod
    def of(cls, block: Block, items: np.ndarray) -> Strings:
        """Write the items of a block as bits."""
        rows = held(block, items)
        weight = None if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        # No row is there to hold an item where a string is filled up to whole words; the weight there keeps all of them alike.
        bits = np.zeros((len(rows) + 1, -(-rows.shape[1] // 64) * 8), np.uint8)
        bits[:-1, : -(-rows.shape[1] // 8)] = np.packbits(rows, axis=1)
        bits[-1] = np.packbits(np.arange(8 * bits.shape[1]) < rows.shape[1])
        if weight is not None and len(weight):
            weight = np.pad(weight, (0, 8 * bits.shape[1] - len(weight)), mode="edge")
        return cls(items, ((bits.view(np.uint64), weight),))

    def __add__(self, other: Strings) -> Strings:
        (bits, weight), (more, its) = self.pieces[-1], other.pieces[0]
        if bits.shape[1] + more.shape[1] > LONG or (weight is None) != (its is None):
            return Strings(self.items, self.pieces + other.pieces)
        joined = (
            np.concatenate([bits, more], axis=1),
            None if weight is None or its is None else np.concatenate([weight, its]),
        )
        return Strings(self.items, (*self.pieces[:-1], joined, *other.pieces[1:]))

    def weigh(self, sets: np.ndarray) -> np.ndarray:
        """Give what the rows weigh that hold all items of each set, of items that are written down here."""
        places = np.where(sets >= 0, np.searchsorted(self.items, sets), -1)
        return np.asarray(add_pairwise(work(partial(weigh, *piece, places) for piece in self.pieces)))


def set_weights(block: Block, sets: np.ndarray) -> np.ndarray:
    """Give what the rows of a block weigh that hold all items of each set."""
    return Strings.of(block, np.unique(sets[sets >= 0])).weigh(sets)


def weigh(bits: np.ndarray, weight: np.ndarray | None, places: np.ndarray) -> np.ndarray:
    """Give what rows weigh in which all of some items are held.

    Parameters
    ----------
    bits : ndarray of uint64, shape (n_items + 1, n_words)
        The rows that hold each item; at the end those that there are.
    weight : ndarray of shape (64 * n_words,), optional
        What each row weighs.
    places : ndarray of int, shape (n_sets, longest)
        The items of each set, filled up with -1.

    Examples
    --------
    >>> bits = np.packbits(np.eye(2, 64, dtype=bool) | (np.arange(64) == 2), axis=1).view(np.uint64)
    >>> bits = np.concatenate([bits, bits[:1] | bits[1:]])
    >>> places = np.array([[0, -1], [0, 1]])
    >>> weigh(bits, None, places), weigh(bits, np.arange(64.0), places)
    (array([2., 1.]), array([2., 2.]))
    """
    if weight is not None and len(weight) and (weight != weight[0]).any():
        return _in_parts(bits, places, lambda both: np.unpackbits(both.view(np.uint8), axis=1) @ weight)
    unit = 1.0 if weight is None or not len(weight) else float(weight[0])
    words = places.size * bits.shape[1]
    if words <= FEW or (words <= MANY_MORE and not is_ready(count_bits)):
        return unit * _in_parts(bits, places, _counted)
    order = np.lexsort(places.T[::-1]) if places.shape[1] else np.arange(len(places))
    found = np.empty(len(places))
    found[order] = count_bits(bits, np.ascontiguousarray(places[order]))
    return unit * found


def _counted(bits: np.ndarray) -> np.ndarray:
    return np.asarray(np.bitwise_count(bits).sum(axis=1, dtype=np.int64), dtype=np.float64)


def _in_parts(strings: np.ndarray, places: np.ndarray, total: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Join the strings of each set and add up, a few sets at a time."""
    found = np.zeros(len(places))
    at_once = max(1, TOGETHER_BYTES // max(1, strings.strides[0]))
    for first in range(0, len(places), at_once):
        part = places[first : first + at_once]
        both = strings[part[:, 0]] if part.shape[1] else np.repeat(strings[-1:], len(part), axis=0)
        for column in range(1, part.shape[1]):
            both &= strings[part[:, column]]
        found[first : first + at_once] = total(both)
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
