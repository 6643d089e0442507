"""Questions about categories, from the histogram of their column: which of them go left.

A category is its own bin, and what is missing one more. The sets that are asked about are those of :mod:`qed.trees.asking.subsets`: cuts
of the order of means or of the share of the second class, which stand for all sets; for more classes all ways to divide few categories, and
of many the cuts of as many orders as there are classes. Where questions are asked by chance, categories are put in an order by lot and cut
at a place by lot, which leaves something on both sides.
"""

from __future__ import annotations

import numpy as np

from qed.base.compile import kernel
from qed.trees.asking.subsets import MOST_TRIED, best_division
from qed.trees.forests.adding import HALF, NONE, ONE, ROW
from qed.trees.impurity import purity
from qed.trees.places import PLACES, SCATTER, TOP
from qed.trees.sweeping import STEP, mix


@kernel(within=True)
def gather_levels(
    pairs: np.ndarray,
    sums: np.ndarray | None,
    counts: np.ndarray,
    bits: np.ndarray,
    classes: int,
    level: np.ndarray,
    both: np.ndarray,
    begin: np.ndarray,
    amounts: np.ndarray,
) -> int:
    """Bring the categories that have rows together, and empty their bins; give how many there are.

    `amounts` has the sums of classes or numbers and then the weight of each, `both` its two counts, and between two entries of `begin` are
    as many as it has rows, or one where these do not matter.
    """
    count = 0
    for part in range(4):
        waiting, bits[part] = bits[part], NONE
        while waiting != NONE:
            lowest = waiting & (~waiting + ONE)
            waiting ^= lowest
            b = part * 64 + PLACES[(lowest * SCATTER) >> TOP]
            mass, second = np.float64(pairs[b] >> ROW), np.float64(pairs[b] & HALF)
            if sums is not None:
                mass, second = sums[b, 0], sums[b, 1]
                if classes > 2:
                    for k in range(1, classes):
                        mass += sums[b, k]
                for k in range(max(classes, 2)):
                    amounts[count, k] = sums[b, k]
                    sums[b, k] = 0.0
            if classes == 2:
                amounts[count, 0], amounts[count, 1] = mass - second, second
            elif classes == 1:
                amounts[count, 0] = second
            amounts[count, classes] = mass
            begin[count + 1] = begin[count] + max(counts[b], 1)
            level[count], both[count] = b, pairs[b]
            pairs[b], counts[b] = NONE, 0
            count += int(mass > 0.0)
    return count


@kernel(within=True)
def best_set(
    kind: int,
    classes: int,
    count: int,
    begin: np.ndarray,
    amounts: np.ndarray,
    level: np.ndarray,
    whole: np.ndarray,
    total: float,
    leaf: int,
    leaf_weight: float,
    lot: np.uint64 | None,
    left: np.ndarray,
    order: np.ndarray,
    branch: np.ndarray,
) -> float:
    """Give the best purity of sets of these categories, or of the one that a lot draws, and write the branch of each; 0 goes left."""
    by_lot = lot is not None
    if not by_lot and classes > 2 and count <= MOST_TRIED:
        return best_division(
            kind, classes, False, count, begin, amounts, left, whole, total, leaf, leaf_weight, left, branch
        )
    best, only, key = -np.inf, np.int64(-1), np.empty(count)
    if lot is not None and count > 1:
        only = np.int64(mix(lot) % np.uint64(count - 1))
    for way in range(classes if classes > 2 and not by_lot else 1):
        for c in range(count):
            key[c] = amounts[c, 1 if classes == 2 else way] / amounts[c, classes]
            if lot is not None:
                key[c] = np.float64(mix(lot + np.uint64(level[c] + 1) * STEP) >> np.uint64(11))
            q = c
            while q > 0 and key[order[q - 1]] > key[c]:
                order[q] = order[q - 1]
                q -= 1
            order[q] = c
        before, rows = 0.0, 0
        for k in range(classes):
            left[k] = 0.0
        for place in range(count - 1):
            c = order[place]
            for k in range(classes):
                left[k] += amounts[c, k]
            before += amounts[c, classes]
            rows += begin[c + 1] - begin[c]
            rest, others = total - before, begin[count] - begin[0] - rows
            if (by_lot and place != only) or min(rows, others) < leaf or min(before, rest) < leaf_weight:
                continue
            found = purity(kind, left, whole, before, rest)
            if found > best:
                best = found
                for q in range(count):
                    branch[order[q]] = int(q > place)
    return best


@kernel(within=True)
def write_line(
    count: int,
    level: np.ndarray,
    branch: np.ndarray,
    amounts: np.ndarray,
    both: np.ndarray,
    classes: int,
    total: float,
    line: np.ndarray,
) -> tuple[float, np.uint64]:
    """Write the branch of every category, those without rows with the heavier side; give what goes left, and its two counts."""
    heavy, gone = 0.0, NONE
    for c in range(count):
        if branch[c] == 0:
            heavy += amounts[c, classes]
            gone += both[c]
    # Of two that weigh the same, the second, as it is with thresholds.
    stray = 0 if 2.0 * heavy > total else 1
    for b in range(len(line)):
        line[b] = stray
    for c in range(count):
        line[level[c]] = branch[c]
    return heavy, gone


@kernel(within=True)
def divide_by_line(
    bins: np.ndarray, line: np.ndarray, first: int, last: int, keys: np.ndarray, spare: np.ndarray
) -> int:
    """Bring the rows whose category goes left to the front; give where the others begin."""
    front, back = first, 0
    for r in range(first, last):
        key = keys[r]
        goes = 1 - int(line[bins[key >> ROW]])
        keys[front] = key
        spare[back] = key
        front += goes
        back += 1 - goes
    for r in range(back):
        keys[front + r] = spare[r]
    return front
