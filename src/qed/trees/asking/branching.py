"""Growing with questions of every kind: thresholds, sets of categories, a branch for each of them; and by distances from the median.

The tree is grown as :mod:`qed.trees.growing` says, from the same sums, by one thread: columns of numbers alone, with sums for a criterion,
are left to that. A column of categories is searched as :mod:`qed.trees.asking.subsets` says, at the price of one of numbers.
"""

from __future__ import annotations

import numpy as np

from qed.base.compile import interpreted, kernel
from qed.trees.asking.absolute import distance, medians_of_parts, nearest_place, rank_numbers
from qed.trees.asking.subsets import MOST_TRIED, add_up_parts, best_division, cut_order, put_in_order
from qed.trees.columns import Columns
from qed.trees.counting import ONE
from qed.trees.growing import FEW, Grown, Rules, Targets
from qed.trees.impurity import ABSOLUTE
from qed.trees.nodes import LEAF, NO_LEVEL
from qed.trees.sweeping import STEP, best_place, mix, survey


def grow_branches(
    columns: Columns, targets: Targets, rules: Rules, is_categorical: np.ndarray | None, multiway: bool
) -> tuple[Grown, np.ndarray, np.ndarray]:
    """Grow the tree of some rows; give its nodes, their lines of sets, and the sets.

    Where the criterion is the distance from the median, the target is the last of the columns.
    """
    by_median = targets.kind == ABSOLUTE
    p, n = len(columns.keys) - by_median, columns.keys.shape[1]
    most = 2 * max(n // rules.leaf, 1) - 1
    if not multiway and rules.depth < 62:
        most = min(most, (2 << rules.depth) - 1)
    grown, line = Grown.room(most), np.full(most, LEAF, dtype=np.intp)
    level_of = np.full((p, NO_LEVEL + 1), NO_LEVEL, dtype=np.uint8)
    for j in [] if is_categorical is None else np.flatnonzero(is_categorical):
        level_of[j, : len(columns.values[j])] = columns.values[j]
    # Every second node asks at the most.
    sets = np.zeros((0 if is_categorical is None else most // 2 + 1, NO_LEVEL + 1), dtype=np.uint8)
    limits = (rules.depth, rules.split, rules.leaf, rules.weight, rules.gain, rules.tried, np.uint64(rules.seed))
    ranks = (np.empty(n, np.intp), np.empty(n), np.empty(257), np.empty((4, n + 1))) if by_median else (None,) * 4
    run = interpreted(grow_any) if n * p <= FEW else grow_any
    count, used = run(
        *(columns.keys, *columns.layout, *targets, *limits),
        *(is_categorical, level_of, multiway, *ranks, *grown.parts, line, sets),
    )
    return Grown(*(part[:count].copy() for part in grown.parts)), line[:count].copy(), sets[:used].copy()


@kernel
def grow_any(
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
    is_categorical: np.ndarray | None,
    level_of: np.ndarray,
    multiway: bool,
    rank: np.ndarray | None,
    point: np.ndarray | None,
    median: np.ndarray | None,
    sums: np.ndarray | None,
    feature: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    missing_left: np.ndarray,
    right: np.ndarray,
    set_of: np.ndarray,
    sets: np.ndarray,
) -> tuple[int, int]:
    """Grow the tree of all rows; give how many nodes and sets it has.

    `is_categorical` is None where no column is, and `rank` to `sums` where medians are not asked for: what is for these is not compiled.
    """
    p, n, room = len(level_of), keys.shape[1], len(feature) + 1
    # What waits: rows and level of a node, the parent whose second child it is, and what its lots are drawn with.
    firsts, lasts, levels = np.empty(room, np.intp), np.empty(room, np.intp), np.empty(room, np.intp)
    parents, lots = np.empty(room, np.intp), np.empty(room, np.uint64)
    firsts[0], lasts[0], levels[0], parents[0], lots[0] = 0, n, 0, -1, seed
    waiting, count, used = 1, 0, 0
    whole, left, columns = np.empty(classes), np.empty(classes), np.arange(p)
    spare, part, side = np.empty(n, np.uint64), np.empty(n, np.uint8), np.empty(n, np.uint8)
    begin, ends, amounts = np.empty(258, np.intp), np.empty(257, np.intp), np.empty((257, classes + 1))
    order, far = np.empty(257, np.intp), np.empty(257)
    branch, taken = np.empty(257, np.uint8), np.empty(257, np.uint8)
    while waiting > 0:
        waiting -= 1
        start, stop, level, lot = firsts[waiting], lasts[waiting], levels[waiting], lots[waiting]
        node, count = count, count + 1
        if parents[waiting] >= 0:
            right[parents[waiting]] = node
        if level >= most_levels or stop - start < least_rows:
            continue
        total, alone, heavy, wide, mixed = survey(
            keys[0], row_shift, rank_shift, lost, kind, classes, weight, number, mass, value, start, stop, whole
        )
        if not mixed:
            continue
        if sums is not None:
            rank_numbers(keys[p], row_shift, rank_shift, weight, number, mass, value, start, stop, rank, point, sums)
            alone = -distance(sums, stop - start, 1.0, 0.0, total, whole[0], point)
        score, chosen, place, missing, parts, lot = search_node(
            *(keys, row_shift, rank_shift, lost, kind, classes, weight, number, mass, value, start, stop),
            *(whole, total, leaf, leaf_weight * heavy, tried, lot, is_categorical, multiway, rank, point, median, sums),
            *(left, columns, spare, part, begin, amounts, order, far, branch, taken),
        )
        if chosen < 0 or score - alone < least_gain * heavy * wide:
            continue
        feature[node] = chosen
        if is_categorical is not None and parts > 0:
            set_of[node] = used
            branches = write_set(
                *(keys[chosen], row_shift, rank_shift, lost, classes, weight, mass, value, start, stop),
                *(begin, amounts, part, taken, level_of[chosen], sets[used], side),
            )
            missing, used = sets[used, NO_LEVEL] == 0, used + 1
        else:
            low[node] = np.intp(keys[chosen, place - 1] >> rank_shift)
            high[node] = np.intp(keys[chosen, place] >> rank_shift)
            branches = send(keys[chosen], row_shift, rank_shift, lost, start, place, stop, missing, side)
        missing_left[node] = missing
        for j in range(len(keys)):
            divide_branches(keys[j], row_shift, rank_shift, start, stop, branches, side, spare, ends)
        # The first child is next, so it waits on top.
        for b in range(branches - 1, -1, -1):
            firsts[waiting], lasts[waiting] = start if b == 0 else ends[b - 1], ends[b]
            levels[waiting], parents[waiting] = level + 1, node if b == 1 else -1
            lots[waiting] = mix(lot + np.uint64(b) * STEP)
            waiting += 1
    return count, used


@kernel(within=True)
def search_node(
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
    tried: int,
    lot: np.uint64,
    is_categorical: np.ndarray | None,
    multiway: bool,
    rank: np.ndarray | None,
    point: np.ndarray | None,
    median: np.ndarray | None,
    sums: np.ndarray | None,
    left: np.ndarray,
    columns: np.ndarray,
    spare: np.ndarray,
    part: np.ndarray,
    begin: np.ndarray,
    amounts: np.ndarray,
    order: np.ndarray,
    far: np.ndarray,
    branch: np.ndarray,
    taken: np.ndarray,
) -> tuple[float, int, int, bool, int, np.uint64]:
    """Find the best question of a node: its purity, column, place, and side of missing values; how many categories it is about; the lot.

    The branch of each category is written to `taken`; what stands before it is room.
    """
    p = len(columns)
    score, chosen, place, missing, asked = -np.inf, -1, -1, False, 0
    for t in range(p):
        if t >= tried and chosen >= 0:
            break
        if tried < p:
            lot = mix(lot)
            other = t + np.intp(lot % np.uint64(p - t))
            columns[t], columns[other] = columns[other], columns[t]
        j, line, here, there, ways = columns[t], keys[columns[t]], first, last, 1
        found, where, gone, parts = -np.inf, -1, False, 0
        if is_categorical is not None and is_categorical[j]:
            found, parts, ways = look_at_levels(
                *(keys[j], keys[-1], row_shift, rank_shift, kind, classes, weight, mass, value, first, last),
                *(multiway, whole, total, leaf, leaf_weight, left, begin, amounts, part),
                *(point, median, far, branch),
            )
            where, line, here, there = 0 if found > -np.inf else -1, spare, 0, last - first
        for k in range(ways):
            if is_categorical is not None and parts > 0:
                put_in_order(keys[j], rank_shift, parts, begin, amounts, median, k, classes, order, spare)
            if sums is not None:
                new, cut, with_left = nearest_place(
                    *(line, row_shift, rank_shift, lost, weight, mass, value, here, there, whole[0], total),
                    *(leaf, leaf_weight, rank, point, sums),
                )
            else:
                new, cut, with_left = best_place(
                    *(line, row_shift, rank_shift, lost, kind, classes, weight, number, mass, value, here, there),
                    *(whole, total, leaf, leaf_weight, left),
                )
            if new > found:
                found, where, gone = new, cut, with_left
                if is_categorical is not None and parts > 0:
                    cut_order(parts, begin, order, cut, branch)
        if where >= 0 and (found > score or (found == score and j < chosen)):
            score, chosen, place, missing, asked = found, j, where, gone, parts
            for c in range(parts):
                taken[c] = branch[c]
    return score, chosen, place, missing, asked, lot


@kernel(within=True)
def look_at_levels(
    keys: np.ndarray,
    by_number: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    kind: int,
    classes: int,
    weight: np.ndarray,
    mass: np.ndarray,
    value: np.ndarray,
    first: int,
    last: int,
    multiway: bool,
    whole: np.ndarray,
    total: float,
    leaf: int,
    leaf_weight: float,
    left: np.ndarray,
    begin: np.ndarray,
    amounts: np.ndarray,
    part: np.ndarray,
    point: np.ndarray | None,
    median: np.ndarray | None,
    far: np.ndarray,
    branch: np.ndarray,
) -> tuple[float, int, int]:
    """Add up the categories of a node; give the best purity where it is known by now, how many there are, and the orders to look at."""
    parts = add_up_parts(keys, row_shift, rank_shift, classes, weight, mass, value, first, last, begin, amounts, part)
    if median is not None:
        medians_of_parts(
            *(by_number, row_shift, rank_shift, weight, mass, value, first, last),
            *(part, parts, amounts, point, median, far),
        )
    if not multiway and (classes <= 2 or parts > MOST_TRIED):
        return -np.inf, parts, classes if classes > 2 else min(parts - 1, 1)
    found = best_division(
        *(kind, classes, multiway, parts, begin, amounts, far, whole, total, leaf, leaf_weight, left, branch),
    )
    return found, parts, 0


@kernel(within=True)
def send(
    keys: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    lost: np.uint64,
    first: int,
    place: int,
    last: int,
    missing: bool,
    side: np.ndarray,
) -> int:
    """Note the branch of every row at a threshold: 0 before `place`, and for missing values as it is said; there are two."""
    row_mask = (ONE << (rank_shift - row_shift)) - ONE
    for q in range(first, last):
        goes = q < place or (missing and keys[q] >> rank_shift == lost)
        side[(keys[q] >> row_shift) & row_mask] = 0 if goes else 1
    return 2


@kernel(within=True)
def write_set(
    keys: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    lost: np.uint64,
    classes: int,
    weight: np.ndarray,
    mass: np.ndarray,
    value: np.ndarray,
    first: int,
    last: int,
    begin: np.ndarray,
    amounts: np.ndarray,
    part: np.ndarray,
    taken: np.ndarray,
    level_of: np.ndarray,
    line: np.ndarray,
    side: np.ndarray,
) -> int:
    """Write the branch of every category, and note that of every row; give how many branches there are."""
    parts = add_up_parts(keys, row_shift, rank_shift, classes, weight, mass, value, first, last, begin, amounts, part)
    branches, heaviest = 0, 0
    for c in range(parts):
        branches = max(branches, int(taken[c]) + 1)
    heavy = np.zeros(branches)
    for c in range(parts):
        heavy[taken[c]] += amounts[c, classes]
    for b in range(branches):
        # Of two that weigh the same, the second, as it is with thresholds.
        if heavy[b] > heavy[heaviest] or (branches == 2 and b == 1 and heavy[1] == heavy[0]):
            heaviest = b
    for code in range(NO_LEVEL + 1):
        line[code] = heaviest
    row_mask = (ONE << (rank_shift - row_shift)) - ONE
    for c in range(parts):
        own = keys[begin[c]] >> rank_shift
        line[NO_LEVEL if own == lost else np.intp(level_of[own])] = taken[c]
        for q in range(begin[c], begin[c + 1]):
            side[(keys[q] >> row_shift) & row_mask] = taken[c]
    return branches


@kernel(within=True)
def divide_branches(
    keys: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    first: int,
    last: int,
    branches: int,
    side: np.ndarray,
    spare: np.ndarray,
    ends: np.ndarray,
) -> None:
    """Bring the rows of every branch together, all in the order they had; write where each branch ends."""
    row_mask = (ONE << (rank_shift - row_shift)) - ONE
    for b in range(branches):
        ends[b] = 0
    for q in range(first, last):
        ends[side[(keys[q] >> row_shift) & row_mask]] += 1
        spare[q - first] = keys[q]
    at = first
    for b in range(branches):
        at, ends[b] = at + ends[b], at
    for q in range(last - first):
        b = side[(spare[q] >> row_shift) & row_mask]
        keys[ends[b]] = spare[q]
        ends[b] += 1
