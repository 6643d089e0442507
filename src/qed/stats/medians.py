r"""Exact medians of columns of any length, in little memory.

A median is no sum over rows, yet it can be found by sums: counting how many values fall into each of :math:`2^b` ranges
says in which of them the median lies, and counting again inside that one narrows it by :math:`b` more bits. The ranges
are those of the leading bits of the numbers themselves, put in order (for a negative number all bits are flipped, for a
positive one the sign), so :math:`64 / b` passes end at the exact value, whatever the distribution. This is radix
selection (Knuth, The Art of Computer Programming 3, 5.2.5), folded. With weights it finds the value up to which half of
the weight lies; where a value ends exactly at half, the median is the middle between it and the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.base.numbers import halfway
from qed.base.sources.block import Block, block_rows
from qed.base.sources.rows import Rows

WIDTH = 64
LARGEST = np.int64(np.float64(np.inf).view(np.int64))
SIGN = np.int64(-(1 << 63))


# What tells the group that each row of a block belongs to.
Grouping = Callable[[Block], np.ndarray]
# So many counts are held at a time.
MOST_COUNTS = 1 << 21


def medians(rows: Rows) -> np.ndarray:
    """Give the weighted median of each column, missing values left out; NaN for a column of which nothing is there.

    >>> from qed.base.sources.open import rows
    >>> medians(rows(np.array([[1.0, 5.0], [2.0, np.nan], [10.0, 7.0], [3.0, np.nan]])))
    array([2.5, 6. ])
    """
    return medians_of_groups(rows, 1, _all_in_one)[0]


def medians_of_groups(rows: Rows, groups: int, group: Grouping) -> np.ndarray:
    """Give the weighted median of each column in each of some groups of rows, of shape (groups, p).

    >>> from qed.base.sources.open import rows
    >>> medians_of_groups(
    ...     rows([[1.0], [7.0], [2.0], [9.0], [3.0]]), 2, lambda block: (block.X[:, 0] > 5).astype(np.int64)
    ... )
    array([[2.],
           [8.]])
    """
    rows, p = rows.cached(), rows.n_features
    # Few bits keep the counts small next to a block; many bits save passes, which are dear where rows have to be read anew.
    bits = min(12 if rows.in_memory else 16, block_rows(p).bit_length() - 3)
    bits = max(1, min(bits, (MOST_COUNTS // (groups * p)).bit_length() - 1)) if groups > 1 else bits
    prefix = np.zeros((groups, p), dtype=np.uint64)
    below, total, last = (np.zeros((groups, p)) for _ in range(3))
    for done in range(0, WIDTH, bits):
        step = min(bits, WIDTH - done)
        counts = rows.fold(_count, group, prefix, WIDTH - done - step, step, done)
        total = counts.sum(axis=2) if done == 0 else total
        reached = below[:, :, None] + np.cumsum(counts, axis=2)
        chosen = np.minimum((reached < total[:, :, None] / 2).sum(axis=2), (1 << step) - 1)
        before = np.take_along_axis(reached, np.maximum(chosen - 1, 0)[:, :, None], 2)[:, :, 0]
        below = np.where(chosen > 0, before, below)
        last = np.take_along_axis(reached, chosen[:, :, None], 2)[:, :, 0]
        prefix = (prefix << np.uint64(step)) | chosen.astype(np.uint64)
    lower = _from_keys(prefix)
    at_half = last <= total / 2
    upper = np.where(at_half, rows.fold(_Next.of, group, lower).value, lower) if at_half.any() else lower
    return np.where(total > 0, halfway(lower, upper), np.nan)


def _all_in_one(block: Block) -> np.ndarray:
    return np.zeros(len(block), np.int64)


def _count(block: Block, group: Grouping, prefix: np.ndarray, shift: int, step: int, done: int) -> np.ndarray:
    """Count, by the next `step` bits, the weight of the values of each group whose leading bits are `prefix`."""
    bits = np.ascontiguousarray(block.X, dtype=np.float64).view(np.int64)
    counts = np.zeros((*prefix.shape, 1 << step))
    above = np.uint64(min(shift + step, WIDTH - 1))
    number = np.ascontiguousarray(group(block), np.int64)
    _count_bits(bits, block.weights, number, prefix, np.uint64(shift), above, done > 0, counts)
    return counts


@kernel
def _count_bits(
    bits: Any, weight: Any, group: Any, prefix: Any, shift: Any, above: Any, narrowed: bool, counts: Any
) -> None:
    """Put the bits in the order of the numbers, and count those that agree with `prefix` above."""
    mask = np.uint64(counts.shape[2] - 1)
    for i in range(bits.shape[0]):
        row, first, mine = bits[i], prefix[group[i]], counts[group[i]]
        for j in range(bits.shape[1]):
            word = row[j]
            if word & ~SIGN > LARGEST:
                continue
            word = np.int64(0) if word == SIGN else word
            key = np.uint64(word ^ ((word >> 63) | SIGN))
            if not narrowed or key >> above == first[j]:
                mine[j, np.int64((key >> shift) & mask)] += weight[i]


def _from_keys(keys: np.ndarray) -> np.ndarray:
    """Give the numbers that ordered bits stand for."""
    half = np.uint64(1 << 63)
    return np.where(keys >= half, keys ^ half, ~keys).view(np.float64)


class _Next:
    """The smallest value of each column above a given one."""

    def __init__(self, value: np.ndarray) -> None:
        self.value = value

    @classmethod
    def of(cls, block: Block, group: Grouping, lower: np.ndarray) -> _Next:
        found, number = np.full(lower.shape, np.inf), group(block)
        for place, least in enumerate(lower):
            here = (number == place) & (block.weights > 0)
            X = block.X if here.all() else block.X[here]
            found[place] = np.min(np.where(least < X, X, np.inf), axis=0, initial=np.inf)
        return cls(found)

    def __add__(self, other: _Next) -> _Next:
        return _Next(np.minimum(self.value, other.value))
