"""The loops of growing a tree of a forest: rows are added up by the bins of a column, and bins are swept along.

A key holds the number of a row in its upper half; where rows of two classes are counted, the lower half holds how often it was drawn and,
in the lowest bit, its class. Bits say which bins of a column may have rows, so that a small node costs what its rows do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.trees.bins import MISSING
from qed.trees.impurity import purity, purity_of_two
from qed.trees.places import PLACES, SCATTER, TOP
from qed.trees.sweeping import GRID

# Rows from which every bin is taken to have some.
MANY = 1 << 9
ONE, NONE = np.uint64(1), np.uint64(0)
ROW, HALF = np.uint64(32), np.uint64((1 << 32) - 1)


@kernel(within=True)
def pair(key: np.uint64) -> np.uint64:
    """Give how often a row was drawn, and in the lower half the same where it is of the second class."""
    times = (key & HALF) >> ONE
    return times << ROW | times * (key & ONE)


@kernel(within=True)
def count_up(both: np.uint64, whole: np.ndarray, tally: np.ndarray) -> tuple[float, float, bool]:
    """Give what `add_up` gives, from the two counts of a node."""
    total, second = np.float64(both >> ROW), np.float64(both & HALF)
    whole[0], whole[1] = total - second, second
    tally[0], tally[1] = total - second, second
    return float(total), 1.0, bool(0.0 < second < total)


@kernel(within=True)
def tell(
    keys: np.ndarray,
    label: np.ndarray,
    weight: np.ndarray,
    first: int,
    last: int,
    node: int,
    tally: np.ndarray,
    leaf_of: np.ndarray,
) -> None:
    """Add up what the rows of a leaf weigh, class by class, and tell rows with a number which leaf is theirs."""
    for k in range(len(tally)):
        tally[k] = 0.0
    for r in range(first, last):
        i = keys[r] >> ROW
        tally[label[i]] += weight[i, 1]
        if len(tally) == 1:
            leaf_of[i] = node


@kernel(within=True)
def upwards(feature: np.ndarray, right: np.ndarray, count: int, tally: np.ndarray) -> None:
    """Add what lies in leaves to the nodes above them."""
    for node in range(count - 1, -1, -1):
        if feature[node] >= 0:
            for k in range(tally.shape[1]):
                tally[node, k] = tally[node + 1, k] + tally[right[node], k]


@kernel(within=True)
def divide_rows(
    bins: np.ndarray, place: int, missing: bool, first: int, last: int, keys: np.ndarray, spare: np.ndarray
) -> int:
    """Bring the rows that go left to the front; give where the others begin."""
    front, back = first, 0
    for r in range(first, last):
        key = keys[r]
        code = bins[key >> ROW]
        goes = int(code <= place or (missing and code == MISSING))
        keys[front] = key
        spare[back] = key
        front += goes
        back += 1 - goes
    for r in range(back):
        keys[front + r] = spare[r]
    return front


@kernel(within=True)
def add_up(
    keys: np.ndarray,
    label: np.ndarray,
    number: np.ndarray,
    weight: np.ndarray,
    classes: int,
    first: int,
    last: int,
    near: np.ndarray,
    whole: np.ndarray,
) -> tuple[float, float, bool]:
    """Add up the rows of a node; give what they weigh, what squares of numbers were multiplied by, and if they differ.

    What each weighs, and adds to the sum of its node, is brought `near`: that weight where it is of the second of two classes, its class
    where there are more. Numbers are taken about the middle of their range in the node, and brought to a grid on which their sums are
    exact, as in :mod:`qed.trees.sweeping`.
    """
    for k in range(classes):
        whole[k] = 0.0
    total, sum_, mixed, wide = 0.0, 0.0, False, 1.0
    one = keys[first] >> ROW
    if classes > 1:
        for r in range(first, last):
            i = keys[r] >> ROW
            k, mass = label[i], weight[i, 0]
            total += mass
            whole[k] += mass
            mixed |= k != label[one]
            near[r - first, 0] = mass
            near[r - first, 1] = np.float64(k) * mass if classes == 2 else np.float64(k)
        return total, wide, mixed
    low = high = number[one]
    for r in range(first, last):
        i = keys[r] >> ROW
        near[r - first, 0], near[r - first, 1] = weight[i, 0], number[i]
        total += weight[i, 0]
        low, high = min(low, number[i]), max(high, number[i])
    if low < high:
        middle, far = low / 2 + high / 2, 0.0
        wide = math.ldexp(1.0, -math.frexp(high - middle)[1])
        for r in range(last - first):
            near[r, 1] = near[r, 0] * ((near[r, 1] - middle) * wide)
            far += abs(near[r, 1])
        grid = math.ldexp(GRID, math.frexp(far)[1])
        for r in range(last - first):
            near[r, 1] = np.rint(near[r, 1] / grid) * grid
            sum_ += near[r, 1]
    whole[0] = sum_
    return total, wide * wide, low < high


@kernel(within=True)
def collect(
    bins: np.ndarray,
    keys: np.ndarray,
    near: np.ndarray | None,
    classes: int,
    sized: bool,
    first: int,
    last: int,
    pairs: np.ndarray,
    sums: Any,
    counts: np.ndarray,
    bits: np.ndarray,
) -> None:
    """Add up the rows of a node by the bins of a column: two counts, what they weigh and their sums, or what each class weighs.

    The bits say which bins may have rows; the others are empty before and after.
    """
    if last - first >= MANY:
        for part in range(4):
            bits[part] = ~NONE
    else:
        for r in range(first, last):
            b = bins[keys[r] >> ROW]
            bits[b >> 6] |= ONE << np.uint64(b & 63)
    if near is None:
        for r in range(first, last):
            pairs[bins[keys[r] >> ROW]] += pair(keys[r])
    elif classes <= 2:
        for r in range(first, last):
            b = bins[keys[r] >> ROW]
            sums[b, 0] += near[r - first, 0]
            sums[b, 1] += near[r - first, 1]
    else:
        for r in range(first, last):
            sums[bins[keys[r] >> ROW], np.intp(near[r - first, 1])] += near[r - first, 0]
    if sized:
        for r in range(first, last):
            counts[bins[keys[r] >> ROW]] += 1


@kernel(within=True)
def between(low: float, high: float, lot: np.uint64) -> float:
    """Give the number between two that a lot draws, each as likely as any other."""
    share = np.float64(lot >> np.uint64(11)) * 2.0**-53
    return (1.0 - share) * low + share * high


@kernel(within=True)
def collect_halves(
    bins: np.ndarray,
    keys: np.ndarray,
    near: np.ndarray | None,
    classes: int,
    first: int,
    last: int,
    pairs: np.ndarray,
    sums: Any,
    counts: np.ndarray,
    bits: np.ndarray,
    edges: np.ndarray,
    lot: np.uint64,
) -> None:
    """Add the rows of a node up in two bins of a column, on either side of a place between the least and the largest by chance.

    Missing values have a third one, and the bits say which of them may have rows.
    """
    lowest, highest = np.int64(MISSING), np.int64(-1)
    for r in range(first, last):
        b = np.int64(bins[keys[r] >> ROW])
        lowest = min(lowest, b)
        highest = max(highest, b if b < MISSING else np.int64(-1))
    only = lowest
    if lowest < highest:
        at, most = between(edges[lowest], edges[highest - 1], lot), highest - 1
        while only < most:
            middle = (only + most + 1) >> 1
            if edges[middle] <= at:
                only = middle
            else:
                most = middle - 1
    for r in range(first, last):
        b = np.int64(bins[keys[r] >> ROW])
        to = only if b <= only else highest if b < MISSING else b
        bits[to >> 6] |= ONE << np.uint64(to & 63)
        counts[to] += 1
        if near is None:
            pairs[to] += pair(keys[r])
        elif classes <= 2:
            sums[to, 0] += near[r - first, 0]
            sums[to, 1] += near[r - first, 1]
        else:
            sums[to, np.intp(near[r - first, 1])] += near[r - first, 0]


@kernel(within=True)
def best_bin(
    pairs: np.ndarray,
    sums: np.ndarray | None,
    counts: np.ndarray,
    bits: np.ndarray,
    kind: int,
    classes: int,
    size: int,
    whole: np.ndarray,
    total: float,
    leaf: int,
    leaf_weight: float,
    left: np.ndarray,
) -> tuple[float, int, int, float, np.uint64]:
    """Sweep along the bins, and empty them; give the best purity, the last bin on the left, where missing values go, and what goes left.

    They go right (0) or left (1), or there are none (-1).
    """
    best, place, side, heavy, gone = -np.inf, -1, -1, 0.0, NONE
    lost = int(pairs[MISSING] > NONE)
    if sums is not None:
        for k in range(classes if classes > 2 else 1):
            lost |= sums[MISSING, k] > 0.0
    for turn in range(1 + lost):
        before, number, sum_, both = 0.0, 0, 0.0, NONE
        for k in range(classes):
            left[k] = 0.0
        # The missing ones come first where they go left, and last where they do not.
        for part in range(-turn, 4):
            waiting = ONE << np.uint64(63) if part < 0 else bits[part]
            while waiting != NONE:
                lowest = waiting & (~waiting + ONE)
                waiting ^= lowest
                b = (part & 3) * 64 + PLACES[(lowest * SCATTER) >> TOP]
                if b == MISSING and turn == 1 and part >= 0:
                    continue
                added = 0.0
                if sums is None:
                    both += pairs[b]
                    added = np.float64(pairs[b] >> ROW)
                    sum_ = np.float64(both & HALF)
                elif classes <= 2:
                    added, sum_ = sums[b, 0], sum_ + sums[b, 1]
                else:
                    for k in range(classes):
                        left[k] += sums[b, k]
                        added += sums[b, k]
                before += added
                number += counts[b]
                if turn == lost:
                    pairs[b], counts[b] = NONE, 0
                    if sums is not None:
                        for k in range(max(classes, 2)):
                            sums[b, k] = 0.0
                rest = total - before
                if b == MISSING or added == 0.0 or rest <= 0.0 or before < leaf_weight or rest < leaf_weight:
                    continue
                if leaf > 1 and (number < leaf or size - number < leaf):
                    continue
                if classes <= 2:
                    found = purity_of_two(kind, sum_, whole[classes - 1], before, rest, best)
                else:
                    found = purity(kind, left, whole, before, rest)
                if found > best:
                    best, place, side, heavy, gone = found, b, turn if lost else -1, before, both
    for part in range(4):
        bits[part] = NONE
    return best, place, side, heavy, gone
