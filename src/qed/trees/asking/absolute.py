r"""Distances from the median: what the two sides of a question have of them, along a sweep.

.. math:: \min_m \sum_i w_i |y_i - m| = \sum_{y_i \ge m} w_i (y_i - m) + \sum_{y_i < m} w_i (m - y_i), \qquad m = \text{weighted median.}

A median is no sum, so rows are counted by the rank of their number within the node, in sums over stretches of ranks that halve one another
(Fenwick 1994, A new data structure for cumulative frequency tables): to move a row to the left side, and to find the median of either side
with the sums below it, takes :math:`O(\log n)`. A level of the tree costs :math:`O(np \log n)`. Sums are exact, as all are in growing.
"""

from __future__ import annotations

import math

import numpy as np

from qed.base.compile import kernel

ONE = np.uint64(1)
# The lines of sums: weights and numbers of the whole node, and of the left side.
WHOLE, LEFT = 0, 2


@kernel(within=True)
def rank_numbers(
    by_number: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    weight: np.ndarray,
    number: np.ndarray,
    mass: np.ndarray,
    value: np.ndarray,
    first: int,
    last: int,
    rank: np.ndarray,
    point: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Write the rank of every row of a node, the number at every rank, near one, and the sums; `by_number` has rows in their order."""
    row_mask, n = (ONE << (rank_shift - row_shift)) - ONE, last - first
    low = number[(by_number[first] >> row_shift) & row_mask]
    high = number[(by_number[last - 1] >> row_shift) & row_mask]
    middle = low / 2 + high / 2
    wide = math.ldexp(1.0, -math.frexp(high - middle)[1])
    for r in range(n):
        i = (by_number[first + r] >> row_shift) & row_mask
        rank[i], point[r] = r, (number[i] - middle) * wide
        sums[WHOLE, r + 1] = mass[i] if len(weight) else 1.0
        sums[WHOLE + 1, r + 1] = value[i]
    for r in range(1, n + 1):
        above = r + (r & -r)
        if above <= n:
            sums[WHOLE, above] += sums[WHOLE, r]
            sums[WHOLE + 1, above] += sums[WHOLE + 1, r]


@kernel(within=True)
def distance(
    sums: np.ndarray, n: int, of_whole: float, of_left: float, weight: float, total: float, point: np.ndarray
) -> float:
    """Give the distances from the median of so much of the node and so much of the left side, from what they weigh and add up to.

    The left side is (0, 1), the right one (1, -1), and the node itself (1, 0).
    """
    half, below, amount, place, step = weight / 2, 0.0, 0.0, 0, 1
    while 2 * step <= n:
        step *= 2
    while step > 0:
        at = place + step
        if at <= n:
            more = of_whole * sums[WHOLE, at] + of_left * sums[LEFT, at]
            if below + more < half:
                place, below = at, below + more
                amount += of_whole * sums[WHOLE + 1, at] + of_left * sums[LEFT + 1, at]
        step //= 2
    return ((total - amount) - point[place] * (weight - below)) + (point[place] * below - amount)


@kernel(within=True)
def nearest_place(
    keys: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    lost: np.uint64,
    weight: np.ndarray,
    mass: np.ndarray,
    value: np.ndarray,
    first: int,
    last: int,
    whole: float,
    total: float,
    leaf: int,
    leaf_weight: float,
    rank: np.ndarray,
    point: np.ndarray,
    sums: np.ndarray,
) -> tuple[float, int, bool]:
    """Sweep along a column as `best_place` does; what is best has the least distances from the medians of its sides."""
    n, row_mask = last - first, (ONE << (rank_shift - row_shift)) - ONE
    best, place, side, heavy, end = -np.inf, -1, False, 0.0, last
    while end > first and keys[end - 1] >> rank_shift == lost:
        end -= 1
    gone = last - end
    for turn in range(1 + (0 < gone < n)):
        for r in range(n + 1):
            sums[LEFT, r] = sums[LEFT + 1, r] = 0.0
        before, sum_ = 0.0, 0.0
        for step in range(n):
            # On the second turn the missing values, which stand behind the others, come first.
            q = first + step if turn == 0 else end + step if step < gone else first + step - gone
            i = (keys[q] >> row_shift) & row_mask
            w = mass[i] if len(weight) else 1.0
            before, sum_ = before + w, sum_ + value[i]
            at = np.intp(rank[i]) + 1
            while at <= n:
                sums[LEFT, at] += w
                sums[LEFT + 1, at] += value[i]
                at += at & -at
            count = step + 1
            if q >= end or q + 1 == last or (q + 1 == end and turn == 1):
                continue
            if keys[q + 1] >> rank_shift == keys[q] >> rank_shift or count < leaf or n - count < leaf:
                continue
            rest = total - before
            if before < leaf_weight or rest < leaf_weight:
                continue
            found = -distance(sums, n, 0.0, 1.0, before, sum_, point)
            found -= distance(sums, n, 1.0, -1.0, rest, whole - sum_, point)
            if found > best:
                best, place, side, heavy = found, q + 1, turn == 1, before
    if place >= 0 and gone == 0:
        side = 2 * heavy > total
    return best, place, side


@kernel(within=True)
def medians_of_parts(
    by_number: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    weight: np.ndarray,
    mass: np.ndarray,
    value: np.ndarray,
    first: int,
    last: int,
    part: np.ndarray,
    count: int,
    amounts: np.ndarray,
    point: np.ndarray,
    median: np.ndarray,
    far: np.ndarray,
) -> None:
    """Write the median of each of some parts of a node, and the distances from it; `part` is that of every row.

    `amounts` are the sums of numbers and the weight of each part.
    """
    row_mask = (ONE << (rank_shift - row_shift)) - ONE
    below, amount = np.zeros(count), np.zeros(count)
    for c in range(count):
        median[c] = np.nan
    for r in range(last - first):
        i = (by_number[first + r] >> row_shift) & row_mask
        c, w = part[i], mass[i] if len(weight) else 1.0
        if median[c] != median[c]:
            if below[c] + w >= amounts[c, 1] / 2:
                median[c] = point[r]
                far[c] = ((amounts[c, 0] - amount[c]) - point[r] * (amounts[c, 1] - below[c])) + (
                    point[r] * below[c] - amount[c]
                )
            below[c], amount[c] = below[c] + w, amount[c] + value[i]
