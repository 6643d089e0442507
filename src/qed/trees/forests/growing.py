r"""Growing one tree of a forest: rows drawn by lot, columns drawn by lot at every node, and questions between bins.

The rows of a node are added up by the bins of a column (:mod:`qed.trees.bins`), or sorted by them where they are few; a sweep along the
bins finds the best question. With :math:`m` columns at each node, a level costs :math:`O(nm)`. What is drawn is keyed by the seed, the
number of the tree and the way from the root to the node, so it depends on nothing else.

Breiman (2001), Random forests; Geurts, Ernst and Wehenkel (2006), Extremely randomized trees.
"""

from __future__ import annotations

import math

import numpy as np

from qed.base.compile import interpreted, kernel
from qed.trees.bins import MISSING, Bins
from qed.trees.forests.lots import RIGHT
from qed.trees.growing import Grown, Rules, on_grid
from qed.trees.impurity import purity, purity_of_two
from qed.trees.sweeping import GRID, mix

# Rows below which a node is sorted, and rows times columns below which a tree is not worth compiling.
SORTED, FEW = 32, 1 << 8


def grow_drawn(
    codes: np.ndarray,
    bins: Bins,
    rows: np.ndarray,
    mass: np.ndarray,
    label: np.ndarray,
    number: np.ndarray,
    kind: int,
    classes: int,
    rules: Rules,
    lot: np.uint64,
    by_chance: bool,
) -> tuple[Grown, np.ndarray]:
    """Grow the tree of the rows that were drawn, from codes (p, n); give its nodes, with bins as ranks, and the leaf of each of these rows.

    `mass` is what they weigh; there are labels where there are classes, and numbers where there are none.
    """
    # What a row weighs, and what it adds to the sum of its node: that, where it is of the second of two classes; else see `add_up`.
    amount = np.zeros((codes.shape[1], 2))
    amount[rows, 0] = on_grid(mass, all_count=True)
    amount[rows, 1] = amount[rows, 0] * (label[rows] == 1)
    n = len(rows)
    most = 2 * max(n // rules.leaf, 1) - 1
    grown = Grown.room(min(most, (2 << rules.depth) - 1) if rules.depth < 62 else most)
    leaf = np.empty(codes.shape[1], dtype=np.intp)
    run = interpreted(grow_bins) if n * len(codes) <= FEW else grow_bins
    limits = rules.depth, rules.split, rules.leaf, rules.weight, rules.gain, rules.tried
    order = rows.astype(np.int32)
    count = run(
        codes, bins.edges, order, label, number, amount, kind, classes, *limits, lot, by_chance, *grown.parts, leaf
    )
    return Grown(*(part[:count].copy() for part in grown.parts)), leaf[rows]


@kernel
def grow_bins(
    codes: np.ndarray,
    edges: np.ndarray,
    order: np.ndarray,
    label: np.ndarray,
    number: np.ndarray,
    amount: np.ndarray,
    kind: int,
    classes: int,
    most_levels: int,
    least_rows: int,
    leaf: int,
    leaf_weight: float,
    least_gain: float,
    tried: int,
    seed: np.uint64,
    by_chance: bool,
    feature: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    missing_left: np.ndarray,
    right: np.ndarray,
    leaf_of: np.ndarray,
) -> int:
    """Grow the tree of the rows in `order`, which is changed; give how many nodes it has."""
    p, n, room = len(codes), len(order), len(feature) + 1
    firsts, lasts = np.empty(room, np.intp), np.empty(room, np.intp)
    levels, parents, lots = np.empty(room, np.intp), np.empty(room, np.intp), np.empty(room, np.uint64)
    firsts[0], lasts[0], levels[0], parents[0], lots[0] = 0, n, 0, -1, seed
    waiting, count = 1, 0
    spare, columns = np.empty(n, np.int32), np.arange(p)
    whole, left, sums = np.empty(classes), np.empty(classes), np.zeros((MISSING + 1, max(classes, 2)))
    counts, keys = np.zeros(MISSING + 1, np.intp), np.empty(SORTED, np.int32)
    near = np.empty((SORTED, 2))  # the amounts of a node with few rows, side by side
    while waiting > 0:
        waiting -= 1
        start, stop, level, lot = firsts[waiting], lasts[waiting], levels[waiting], lots[waiting]
        node, count = count, count + 1
        if parents[waiting] >= 0:
            right[parents[waiting]] = node
        total, alone, wide, mixed_ = add_up(order, label, number, amount, kind, classes, start, stop, whole)
        score, chosen, place, missing = -np.inf, -1, -1, -1
        few = stop - start <= SORTED and not by_chance
        if few:
            for r in range(stop - start):
                near[r, 0], near[r, 1] = amount[order[start + r], 0], amount[order[start + r], 1]
        if mixed_ and level < most_levels and stop - start >= least_rows:
            own = lot
            for t in range(p):
                columns[t] = t
            for t in range(p):
                if t >= tried and chosen >= 0:
                    break
                own = mix(own)
                other = t + np.intp(own % np.uint64(p - t))
                columns[t], columns[other] = columns[other], columns[t]
                j = columns[t]
                if few:
                    found, where, side = best_of_few(
                        *(codes[j], order, label, near, kind, classes, start, stop),
                        *(whole, total, leaf, leaf_weight, left, keys),
                    )
                else:
                    collect(codes[j], order, label, amount, classes, leaf > 1, start, stop, sums, counts)
                    found, where, side = best_bin(
                        *(sums, counts, edges[j], kind, classes, stop - start, whole, total, leaf, leaf_weight, left),
                        *(by_chance, mix(own ^ RIGHT)),
                    )
                if where >= 0 and (found > score or (found == score and j < chosen)):
                    score, chosen, place, missing = found, j, where, side
        if chosen < 0 or score - alone < least_gain * wide:
            for r in range(start, stop):
                leaf_of[order[r]] = node
            continue
        front, heavy = divide_rows(codes[chosen], amount, place, missing == 1, start, stop, order, spare)
        # Where nothing was missing, what will be goes with the heavier side.
        feature[node], low[node] = chosen, place
        missing_left[node] = missing == 1 or (missing < 0 and 2 * heavy > total)
        firsts[waiting], lasts[waiting], levels[waiting], parents[waiting] = front, stop, level + 1, node
        lots[waiting] = mix(lot ^ RIGHT)
        firsts[waiting + 1], lasts[waiting + 1], levels[waiting + 1], parents[waiting + 1] = start, front, level + 1, -1
        lots[waiting + 1] = mix(~lot)
        waiting += 2
    return count


@kernel(within=True)
def divide_rows(
    bins: np.ndarray,
    amount: np.ndarray,
    place: int,
    missing: bool,
    first: int,
    last: int,
    order: np.ndarray,
    spare: np.ndarray,
) -> tuple[int, float]:
    """Bring the rows that go left to the front; give where the others begin, and what those on the left weigh."""
    front, back, heavy = first, 0, 0.0
    for r in range(first, last):
        here = order[r]
        code = bins[here]
        goes = int(code <= place or (missing and code == MISSING))
        order[front] = here
        spare[back] = here
        front += goes
        back += 1 - goes
        heavy += goes * amount[here, 0]
    for r in range(back):
        order[front + r] = spare[r]
    return front, heavy


@kernel(within=True)
def add_up(
    order: np.ndarray,
    label: np.ndarray,
    number: np.ndarray,
    amount: np.ndarray,
    kind: int,
    classes: int,
    first: int,
    last: int,
    whole: np.ndarray,
) -> tuple[float, float, float, bool]:
    """Add up the rows of a node; give what they weigh, how pure they are, what squares of numbers were multiplied by, and if they differ.

    Numbers are taken about the middle of their range in the node, and brought to a grid on which their sums are exact, as in
    :mod:`qed.trees.sweeping`.
    """
    for k in range(classes):
        whole[k] = 0.0
    total, sum_, mixed_, wide = 0.0, 0.0, False, 1.0
    one = order[first]
    if classes == 1:
        low, high = number[one], number[one]
        for r in range(first, last):
            low, high = min(low, number[order[r]]), max(high, number[order[r]])
        mixed_ = low < high
        if mixed_:
            middle, far = low / 2 + high / 2, 0.0
            wide = math.ldexp(1.0, -math.frexp(high - middle)[1])
            for r in range(first, last):
                i = order[r]
                amount[i, 1] = amount[i, 0] * ((number[i] - middle) * wide)
                far += abs(amount[i, 1])
            grid = math.ldexp(GRID, math.frexp(far)[1])
            for r in range(first, last):
                amount[order[r], 1] = np.rint(amount[order[r], 1] / grid) * grid
    for r in range(first, last):
        i = order[r]
        total += amount[i, 0]
        sum_ += amount[i, 1]
        if classes > 1:
            mixed_ |= label[i] != label[one]
        if classes > 2:
            whole[label[i]] += amount[i, 0]
    if classes == 1:
        whole[0] = sum_
    elif classes == 2:
        whole[0], whole[1] = total - sum_, sum_
    return total, purity(kind, whole, whole, total, 1.0), wide * wide, mixed_


@kernel(within=True)
def collect(
    bins: np.ndarray,
    order: np.ndarray,
    label: np.ndarray,
    amount: np.ndarray,
    classes: int,
    counted: bool,
    first: int,
    last: int,
    sums: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Add up the rows of a node by the bins of a column: what they weigh and their sums, or what each class weighs."""
    for b in range(MISSING + 1):
        counts[b] = 0
        for k in range(max(classes, 2)):
            sums[b, k] = 0.0
    if classes <= 2:
        for r in range(first, last):
            i = order[r]
            b = bins[i]
            sums[b, 0] += amount[i, 0]
            sums[b, 1] += amount[i, 1]
    else:
        for r in range(first, last):
            i = order[r]
            sums[bins[i], label[i]] += amount[i, 0]
    if counted:
        for r in range(first, last):
            counts[bins[order[r]]] += 1


@kernel(within=True)
def best_of_few(
    bins: np.ndarray,
    order: np.ndarray,
    label: np.ndarray,
    near: np.ndarray,
    kind: int,
    classes: int,
    first: int,
    last: int,
    whole: np.ndarray,
    total: float,
    leaf: int,
    leaf_weight: float,
    left: np.ndarray,
    keys: np.ndarray,
) -> tuple[float, int, int]:
    """Sweep along the rows of a small node in the order of their bins, and give what `best_bin` gives."""
    best, place, side, size, there = -np.inf, -1, -1, last - first, 0
    for r in range(size):
        code = np.int32(bins[order[first + r]])
        there += code != MISSING
        key, q = np.int32(code << 8 | r), r
        while q > 0 and keys[q - 1] > key:
            keys[q] = keys[q - 1]
            q -= 1
        keys[q] = key
    for turn in range(1 + (there < size)):
        before, number, sum_ = 0.0, 0, 0.0
        for k in range(classes):
            left[k] = 0.0
        # The missing ones stand last, and come first where they are to go left.
        for step in range(size if turn == 1 else there):
            q = step
            if turn == 1:
                q = there + step if there + step < size else there + step - size
            i, code = keys[q] & 0xFF, keys[q] >> 8
            number += 1
            before += near[i, 0]
            sum_ += near[i, 1]
            if classes > 2:
                left[label[order[first + i]]] += near[i, 0]
            if code == MISSING or q + 1 == size or keys[q + 1] >> 8 == code or (q + 1 == there and turn == 1):
                continue
            rest = total - before
            if number < leaf or size - number < leaf or before < leaf_weight or rest < leaf_weight or rest <= 0.0:
                continue
            if classes <= 2:
                found = purity_of_two(kind, sum_, whole[classes - 1], before, rest, best)
            else:
                found = purity(kind, left, whole, before, rest)
            if found > best:
                best, place, side = found, code, turn if there < size else -1
    return best, place, side


@kernel(within=True)
def best_bin(
    sums: np.ndarray,
    counts: np.ndarray,
    edges: np.ndarray,
    kind: int,
    classes: int,
    size: int,
    whole: np.ndarray,
    total: float,
    leaf: int,
    leaf_weight: float,
    left: np.ndarray,
    by_chance: bool,
    lot: np.uint64,
) -> tuple[float, int, int]:
    """Sweep along the bins, or go to one by chance; give the best purity, the last bin on the left, and where missing values go.

    They go right (0) or left (1), or there are none (-1).
    """
    best, place, side = -np.inf, -1, -1
    lost = is_there(sums, classes, MISSING)
    lowest, highest = 0, MISSING - 1
    while lowest < MISSING and not is_there(sums, classes, lowest):
        lowest += 1
    while highest > lowest and not is_there(sums, classes, highest):
        highest -= 1
    only = -1
    if by_chance and lowest < highest:
        share = np.float64(lot >> np.uint64(11)) * 2.0**-53
        at = edges[lowest] + share * (edges[highest - 1] - edges[lowest])
        only = lowest
        while only + 1 < highest and edges[only + 1] <= at:
            only += 1
    for turn in range(1 + lost):
        before, number, sum_ = 0.0, 0, 0.0
        for k in range(classes):
            left[k] = 0.0
        for step in range(lowest - turn, highest + 1):
            b = MISSING if step < lowest else step
            number += counts[b]
            there = False
            if classes <= 2:
                before, sum_, there = before + sums[b, 0], sum_ + sums[b, 1], sums[b, 0] > 0.0
            else:
                for k in range(classes):
                    left[k] += sums[b, k]
                    before += sums[b, k]
                    there |= sums[b, k] > 0.0
            if b == MISSING or (b != only if only >= 0 else not there) or (b == highest and (turn == 1 or not lost)):
                continue
            rest = total - before
            if before < leaf_weight or rest < leaf_weight or rest <= 0.0 or before <= 0.0:
                continue
            if leaf > 1 and (number < leaf or size - number < leaf):
                continue
            if classes <= 2:
                found = purity_of_two(kind, sum_, whole[classes - 1], before, rest, best)
            else:
                found = purity(kind, left, whole, before, rest)
            if found > best:
                best, place, side = found, b, turn if lost else -1
    return best, place, side


@kernel(within=True)
def is_there(sums: np.ndarray, classes: int, b: int) -> bool:
    """Say whether a bin has rows."""
    there = False
    for k in range(classes if classes > 2 else 1):
        there |= sums[b, k] > 0.0
    return there
