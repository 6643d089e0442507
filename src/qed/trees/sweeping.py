"""The loops of growing: sweep along a column, mark and divide the rows of a node, and all of it for the tree below a node.

Keys are those of :mod:`qed.trees.columns`: `row_shift` is where the number of a row begins, `rank_shift` where the rank does, and `lost` is
the rank of missing values. Where the target is a number, there is one class, and its sum is that of the numbers.
"""

from __future__ import annotations

import math

import numpy as np

from qed.base.compile import kernel
from qed.trees.counting import NONE, ONE, best_of_counts, seconds
from qed.trees.impurity import GINI, POISSON, SQUARES, purity, purity_of_two

FIRST, SECOND, STEP = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(0x9E3779B97F4A7C15)
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
    waits, lots = np.empty((5, room), np.intp), np.empty(room, np.uint64)
    firsts, lasts, levels, parents, asks = waits[0], waits[1], waits[2], waits[3], waits[4]
    firsts[0], lasts[0], levels[0], parents[0], lots[0], asks[0] = first, last, depth, -1, seed, 1
    waiting, count = 1, 0
    whole, left, columns, handed = np.empty(classes), np.empty(classes), np.empty(p, np.intp), np.empty_like(keys)
    for j in range(p):
        columns[j] = j
    while waiting > 0:
        waiting -= 1
        start, stop, level, lot = firsts[waiting], lasts[waiting], levels[waiting], lots[waiting]
        node, count = count, count + 1
        if parents[waiting] >= 0:
            right[parents[waiting]] = node
        if asks[waiting] == 0 or level >= most_levels or stop - start < least_rows:
            continue
        # Keys are handed down from one place to the other and back.
        here, there = (handed, keys) if (level - depth) & 1 else (keys, handed)
        total, alone, heavy, wide, mixed = survey(
            here[0], row_shift, rank_shift, lost, kind, classes, weight, number, mass, value, start, stop, whole
        )
        if not mixed:
            continue
        # Of the types that they will have, so that nothing is compiled for those of these numbers.
        score, chosen, place, missing = -np.inf, -1, np.intp(-1), np.bool_(False)
        for t in range(p):
            if t >= tried and chosen >= 0:
                break
            if tried < p:
                lot = mix(lot)
                other = t + np.intp(lot % np.uint64(p - t))
                columns[t], columns[other] = columns[other], columns[t]
            j = columns[t]
            found, where, gone = best_place(
                *(here[j], row_shift, rank_shift, lost, kind, classes, weight, number, mass, value, start, stop),
                *(whole, total, leaf, leaf_weight * heavy, left, score),
            )
            if where >= 0 and (found > score or (found == score and j < chosen)):
                score, chosen, place, missing = found, j, where, gone
        if chosen < 0 or score - alone < least_gain * heavy * wide:
            continue
        feature[node], missing_left[node] = chosen, missing
        low[node] = np.intp(here[chosen, place - 1] >> rank_shift)
        high[node] = np.intp(here[chosen, place] >> rank_shift)
        gone, mixed, others = mark(here[chosen], row_shift, rank_shift, lost, start, place, stop, missing, side)
        cut = start + gone
        mixed, others = mixed and gone >= least_rows, others and stop - cut >= least_rows
        # Leaves need no order of their rows.
        if level + 1 < most_levels and (mixed or others):
            for j in range(p):
                divide(here[j], row_shift, rank_shift, lost, start, cut, stop, side, there[j])
        # The right child waits below the left one, which is next.
        firsts[waiting], lasts[waiting], levels[waiting], parents[waiting] = cut, stop, level + 1, node
        lots[waiting], asks[waiting] = mix(lot + STEP), others
        firsts[waiting + 1], lasts[waiting + 1], levels[waiting + 1], parents[waiting + 1] = start, cut, level + 1, -1
        lots[waiting + 1], asks[waiting + 1] = mix(lot), mixed
        waiting += 2
    return count


@kernel(within=True)
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
    Counts are not brought about a middle, and what is not squared is multiplied by no square.
    """
    row_mask, label_mask = (ONE << (rank_shift - row_shift)) - ONE, (ONE << row_shift) - ONE
    total, low, high = float(last - first), np.inf, -np.inf
    if classes == 1:
        for q in range(first, last):
            i = (keys[q] >> row_shift) & row_mask
            low, high = min(low, number[i]), max(high, number[i])
    heavy, wide, middle = 1.0, 1.0, 0.0 if kind == POISSON else low / 2 + high / 2
    if len(weight):
        total = 0.0
        for q in range(first, last):
            total += weight[(keys[q] >> row_shift) & row_mask]
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
        return total, purity(kind, whole, whole, total, 1.0), heavy, wide * wide if kind == SQUARES else wide, True
    if classes == 2 and len(weight) == 0:
        whole[1] = seconds(keys, first, last)
        whole[0] = total - whole[1]
        return total, purity(kind, whole, whole, total, 1.0), heavy, wide, 0.0 < whole[1] < total
    one, mixed = keys[first] & label_mask, False
    for q in range(first, last):
        k = keys[q] & label_mask
        whole[k] += mass[(keys[q] >> row_shift) & row_mask] if len(weight) else 1.0
        mixed |= k != one
    return total, purity(kind, whole, whole, total, 1.0), heavy, wide, mixed


@kernel(within=True)
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
    reached: float = -np.inf,
) -> tuple[float, int, bool]:
    """Sweep along a column; give the best purity, how far the left side goes, and whether missing values go there.

    Places that are worse than what other columns have `reached` need not be found.
    """
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
        least = max(np.float64(leaf), leaf_weight)
        best, place = best_of_counts(keys, rank_shift, kind, first, last, whole[1], least, reached)
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


@kernel(within=True)
def divide(
    keys: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    lost: np.uint64,
    first: int,
    cut: int,
    last: int,
    side: np.ndarray,
    divided: np.ndarray,
) -> None:
    """Write the rows that go left from `first` on and the others from `cut` on, all in the order they had."""
    row_mask = (ONE << (rank_shift - row_shift)) - ONE
    front, back = np.uint64(first), np.uint64(cut)
    for q in range(first, last):
        key = keys[q]
        left = np.uint64(side[(key >> row_shift) & row_mask])
        divided[front if left == ONE else back] = key
        front += left
        back += ONE - left


@kernel
def numbered_anew(
    keys: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    first: int,
    last: int,
    number: np.ndarray,
    rows: np.ndarray,
    short: np.ndarray,
    short_shift: np.uint64,
) -> None:
    """Write the keys of a node in half the room: its `rows` are numbered in the order of the first column, and ranks begin sooner."""
    row_mask, label_mask = (ONE << (rank_shift - row_shift)) - ONE, (ONE << row_shift) - ONE
    for q in range(first, last):
        i = (keys[0, q] >> row_shift) & row_mask
        rows[q - first], number[i] = i, q - first
    for j in range(len(keys)):
        for q in range(first, last):
            key = keys[j, q]
            i = np.uint64(number[(key >> row_shift) & row_mask])
            short[j, q - first] = (key >> rank_shift) << short_shift | i << row_shift | key & label_mask


@kernel(within=True)
def mix(number: np.uint64) -> np.uint64:
    """Give the next number drawn by lot."""
    number += STEP
    number = (number ^ (number >> np.uint64(30))) * FIRST
    number = (number ^ (number >> np.uint64(27))) * SECOND
    return number ^ (number >> np.uint64(31))


# For one column at a time, and for whoever is no kernel.
survey_alone, best_place_alone, mark_alone, divide_alone = (
    kernel(one.py_func) for one in (survey, best_place, mark, divide)
)
