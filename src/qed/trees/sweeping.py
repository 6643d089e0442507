"""The loops of growing: sweep along a column, mark and divide the rows of a node, and all of it for the tree below a node.

Keys are those of :mod:`qed.trees.columns`: `row_shift` is where the number of a row begins, `rank_shift` where the rank does, and `lost` is
the rank of missing values. Where the target is a number, there is one class, and its sum is that of the numbers.
"""

from __future__ import annotations

import math

import numpy as np

from qed.base.compile import kernel
from qed.trees.impurity import GINI, purity, purity_of_two

FIRST, SECOND, STEP = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(0x9E3779B97F4A7C15)
ONE, NONE = np.uint64(1), np.uint64(0)
# More, as a share of the rows, than what rounding does to two purities.
SURELY = 2.0**-46
# Sums of a weight below one are multiples of this, and exact.
GRID = 2.0**-52


@kernel
def grow_below(
    keys: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    lost: np.uint64,
    kind: int,
    classes: int,
    weight: np.ndarray,
    number: np.ndarray,
    mass: np.ndarray,
    value: np.ndarray,
    most_levels: int,
    least_rows: int,
    leaf: int,
    leaf_weight: float,
    least_gain: float,
    tried: int,
    seed: np.uint64,
    side: np.ndarray,
    first: int,
    last: int,
    depth: int,
    feature: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    missing_left: np.ndarray,
    right: np.ndarray,
) -> int:
    """Grow the tree of the rows `first` to `last` of every column; give how many nodes it has."""
    p, room = len(keys), len(feature) + 1
    # What waits: rows and level of a node, the parent whose right child it is, what its lots are drawn with, and if it may be split.
    firsts, lasts = np.empty(room, np.intp), np.empty(room, np.intp)
    levels, parents = np.empty(room, np.intp), np.empty(room, np.intp)
    lots, asks = np.empty(room, np.uint64), np.empty(room, np.bool_)
    firsts[0], lasts[0], levels[0], parents[0], lots[0], asks[0] = first, last, depth, -1, seed, True
    waiting, count = 1, 0
    whole, left = np.empty(classes), np.empty(classes)
    columns, spare = np.arange(p), np.empty(last - first, np.uint64)
    while waiting > 0:
        waiting -= 1
        start, stop, level, lot = firsts[waiting], lasts[waiting], levels[waiting], lots[waiting]
        node, count = count, count + 1
        if parents[waiting] >= 0:
            right[parents[waiting]] = node
        if not asks[waiting] or level >= most_levels or stop - start < least_rows:
            continue
        total, alone, heavy, wide, mixed = survey(
            keys[0], row_shift, rank_shift, lost, kind, classes, weight, number, mass, value, start, stop, whole
        )
        if not mixed:
            continue
        score, chosen, place, missing = -np.inf, -1, -1, False
        for t in range(p):
            if t >= tried and chosen >= 0:
                break
            if tried < p:
                lot = mix(lot)
                other = t + np.intp(lot % np.uint64(p - t))
                columns[t], columns[other] = columns[other], columns[t]
            j = columns[t]
            found, where, gone = best_place(
                *(keys[j], row_shift, rank_shift, lost, kind, classes, weight, number, mass, value, start, stop),
                *(whole, total, leaf, leaf_weight * heavy, left),
            )
            if where >= 0 and (found > score or (found == score and j < chosen)):
                score, chosen, place, missing = found, j, where, gone
        if chosen < 0 or score - alone < least_gain * heavy * wide:
            continue
        feature[node], missing_left[node] = chosen, missing
        low[node], high[node] = (
            np.intp(keys[chosen, place - 1] >> rank_shift),
            np.intp(keys[chosen, place] >> rank_shift),
        )
        gone, mixed, others = mark(keys[chosen], row_shift, rank_shift, lost, start, place, stop, missing, side)
        cut = start + gone
        mixed, others = mixed and gone >= least_rows, others and stop - cut >= least_rows
        # Leaves need no order of their rows.
        if level + 1 < most_levels and (mixed or others):
            for j in range(p):
                divide(keys[j], row_shift, rank_shift, lost, start, stop, side, spare)
        # The right child waits below the left one, which is next.
        firsts[waiting], lasts[waiting], levels[waiting], parents[waiting] = cut, stop, level + 1, node
        lots[waiting], asks[waiting] = mix(lot + STEP), others
        firsts[waiting + 1], lasts[waiting + 1], levels[waiting + 1], parents[waiting + 1] = start, cut, level + 1, -1
        lots[waiting + 1], asks[waiting + 1] = mix(lot), mixed
        waiting += 2
    return count


@kernel
def survey(
    keys: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    lost: np.uint64,
    kind: int,
    classes: int,
    weight: np.ndarray,
    number: np.ndarray,
    mass: np.ndarray,
    value: np.ndarray,
    first: int,
    last: int,
    whole: np.ndarray,
) -> tuple[float, float, float, float, bool]:
    """Add up the rows of a node, after bringing weights and numbers near one and to a grid on which all their sums are exact.

    Gives what the rows weigh, how pure they are, by what weights and squared numbers were multiplied, and whether the rows differ.
    """
    row_mask, label_mask = (ONE << (rank_shift - row_shift)) - ONE, (ONE << row_shift) - ONE
    total, low, high = 0.0, np.inf, -np.inf
    for q in range(first, last):
        i = (keys[q] >> row_shift) & row_mask
        total += weight[i] if len(weight) else 1.0
        if classes == 1:
            low, high = min(low, number[i]), max(high, number[i])
    heavy, wide, middle = 1.0, 1.0, low / 2 + high / 2
    if len(weight):
        heavy, total = math.ldexp(1.0, -math.frexp(total)[1]), 0.0
        for q in range(first, last):
            i = (keys[q] >> row_shift) & row_mask
            # Sums below one of multiples of this are exact; and no row weighs nothing.
            mass[i] = max(np.rint(weight[i] * heavy / GRID), 1.0) * GRID
            total += mass[i]
    for k in range(classes):
        whole[k] = 0.0
    if classes == 1:
        if low == high:
            return total, 0.0, heavy, wide, False
        wide = math.ldexp(1.0, -math.frexp(high - middle)[1])
        far = 0.0
        for q in range(first, last):
            i = (keys[q] >> row_shift) & row_mask
            value[i] = (mass[i] if len(weight) else 1.0) * ((number[i] - middle) * wide)
            far += abs(value[i])
        grid = math.ldexp(GRID, math.frexp(far)[1])
        for q in range(first, last):
            i = (keys[q] >> row_shift) & row_mask
            value[i] = np.rint(value[i] / grid) * grid
            whole[0] += value[i]
        return total, purity(kind, whole, whole, total, 1.0), heavy, wide * wide, True
    one, mixed = keys[first] & label_mask, False
    for q in range(first, last):
        k = keys[q] & label_mask
        whole[k] += mass[(keys[q] >> row_shift) & row_mask] if len(weight) else 1.0
        mixed |= k != one
    return total, purity(kind, whole, whole, total, 1.0), heavy, wide, mixed


@kernel
def best_place(
    keys: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    lost: np.uint64,
    kind: int,
    classes: int,
    weight: np.ndarray,
    number: np.ndarray,
    mass: np.ndarray,
    value: np.ndarray,
    first: int,
    last: int,
    whole: np.ndarray,
    total: float,
    leaf: int,
    leaf_weight: float,
    left: np.ndarray,
) -> tuple[float, int, bool]:
    """Sweep along a column; give the best purity, how far the left side goes, and whether missing values go there."""
    best, place, side, heavy = -np.inf, -1, False, 0.0
    end = last
    while end > first and keys[end - 1] >> rank_shift == lost:
        end -= 1
    gone = last - end
    if end == first or (gone == 0 and keys[first] >> rank_shift == keys[end - 1] >> rank_shift):
        return best, place, side
    row_mask, label_mask = (ONE << (rank_shift - row_shift)) - ONE, (ONE << row_shift) - ONE
    two, weighted = classes <= 2, len(weight) > 0
    if gone == 0 and kind == GINI and classes == 2 and not weighted:
        best, place = best_of_counts(keys, rank_shift, first, last, whole[1], max(np.float64(leaf), leaf_weight))
        return best, place, 2 * (place - first) > last - first
    for turn in range(1 + (gone > 0)):
        for k in range(classes):
            left[k] = 0.0
        before, sum_, count = 0.0, 0.0, 0
        begin = end if turn == 1 else first
        while True:
            stop = last if begin == end else end
            # First, on the second turn, the missing values; then the others.
            for q in range(begin, stop):
                key = keys[q]
                i = (key >> row_shift) & row_mask
                w = mass[i] if weighted else 1.0
                before += w
                count += 1
                if classes == 1:
                    sum_ += value[i]
                elif two:
                    sum_ += w if key & ONE else 0.0
                else:
                    left[key & label_mask] += w
                if begin == end or q + 1 == last or keys[q + 1] >> rank_shift == key >> rank_shift:
                    continue
                if (q + 1 == end and turn == 1) or count < leaf or last - first - count < leaf:
                    continue
                rest = total - before
                if before < leaf_weight or rest < leaf_weight:
                    continue
                if two:
                    found = purity_of_two(kind, sum_, whole[classes - 1], before, rest, best)
                else:
                    found = purity(kind, left, whole, before, rest)
                if found > best:
                    best, place, side, heavy = found, q + 1, turn == 1, before
            if begin == first:
                break
            begin = first
    if place >= 0 and gone == 0:
        # What will be missing goes with the heavier side.
        side = 2 * heavy > total
    return best, place, side


@kernel(within=True)
def best_of_counts(
    keys: np.ndarray, rank_shift: np.uint64, first: int, last: int, whole: float, least: float
) -> tuple[float, int]:
    r"""Sweep along a column of two classes that are counted, of which `whole` are of the second; give the best purity and its place.

    With :math:`d = c_2 n - c\,n_2` for the left side the purity is that of the node and :math:`2 d^2 / (n c (n - c))`. The distance
    :math:`d` needs one sum for each row, so what can not be the best is told by it, with room for rounding.
    """
    rows, second, n = last - first, np.int64(whole), np.float64(last - first)
    alone = ((n - whole) * (n - whole) + whole * whole) / n
    best, place, limit, sum_, far = -np.inf, -1, -np.inf, np.int64(0), np.int64(0)
    key = keys[first]
    for q in range(first + 1, last):
        one, other = np.int64(key & ONE), keys[q]
        sum_, far = sum_ + one, far + (one * rows - second)
        new, key = (other ^ key) >> rank_shift, other
        before, distance = np.float64(q - first), np.float64(far)
        rest = n - before
        if new == NONE or distance * distance < limit * (before * rest) or before < least or rest < least:
            continue
        found = purity_of_two(GINI, np.float64(sum_), whole, before, rest, best)
        if found > best:
            best, place = found, q
            limit = (best - alone - n * SURELY) * n / 2.0
    return best, place


@kernel
def mark(
    keys: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    lost: np.uint64,
    first: int,
    place: int,
    last: int,
    missing: bool,
    side: np.ndarray,
) -> tuple[int, bool, bool]:
    """Mark the rows that go left, those before `place` and perhaps the missing ones; give how many they are, and which side has two labels.

    There is one label where the target is a number, of which nothing is said: both sides may differ.
    """
    gone, row_mask, label_mask = 0, (ONE << (rank_shift - row_shift)) - ONE, (ONE << row_shift) - ONE
    # The left side begins with the first key, and the last that is not missing stands on the right, if any does.
    here, there = keys[first] & label_mask, label_mask
    mixed, others, seen = label_mask == NONE, label_mask == NONE, False
    for q in range(first, last):
        left = q < place or (missing and keys[q] >> rank_shift == lost)
        side[(keys[q] >> row_shift) & row_mask] = left
        gone += left
        k = keys[q] & label_mask
        if left:
            mixed |= k != here
        else:
            there, seen, others = k if not seen else there, True, others | (seen and k != there)
    return gone, mixed, others


@kernel
def divide(
    keys: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    lost: np.uint64,
    first: int,
    last: int,
    side: np.ndarray,
    spare: np.ndarray,
) -> None:
    """Bring the rows that go left to the front, all in the order they had."""
    front, back, row_mask = first, 0, (ONE << (rank_shift - row_shift)) - ONE
    for q in range(first, last):
        key = keys[q]
        left = int(side[(key >> row_shift) & row_mask])
        # Both are written, and one of them stays.
        keys[front] = key
        spare[back] = key
        front += left
        back += 1 - left
    for q in range(back):
        keys[front + q] = spare[q]


@kernel(within=True)
def mix(number: np.uint64) -> np.uint64:
    """Give the next number drawn by lot."""
    number += STEP
    number = (number ^ (number >> np.uint64(30))) * FIRST
    number = (number ^ (number >> np.uint64(27))) * SECOND
    return number ^ (number >> np.uint64(31))
