r"""Growing one tree of a forest: rows drawn by lot, columns drawn by lot at every node, and questions between bins.

The rows of a node are added up by the bins of a column (:mod:`qed.trees.bins`), and a sweep along the bins that have rows finds the best
question; or one by chance, of those between its least and its largest value (`by_chance`). With :math:`m` columns at each node, a level
costs :math:`O(nm)`. What is drawn is keyed by the seed, the number of the tree and the way from the root to the node, so it depends on
nothing else. Rows stand in the order of their urn, and each side of a question keeps it: what is read of a column is read in one direction.

Breiman (2001), Random forests; Geurts, Ernst and Wehenkel (2006), Extremely randomized trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qed.base.compile import kernel, unless_few
from qed.trees.bins import MISSING
from qed.trees.forests.adding import (
    NONE,
    ONE,
    ROW,
    add_up,
    best_bin,
    collect,
    collect_halves,
    count_up,
    divide_rows,
    tell,
    upwards,
)
from qed.trees.forests.levels import best_set, divide_by_line, gather_levels, write_line
from qed.trees.forests.lots import RIGHT
from qed.trees.growing import Rules, near_one, on_grid
from qed.trees.impurity import WITH_LOGARITHMS, purity
from qed.trees.sweeping import mix

# Rows times columns times trees below which a forest is not worth compiling.
FEW = 1 << 12


class Drawn(NamedTuple):
    """What trees are grown from: codes of shape (p, n), labels where there are classes, numbers where there are none."""

    codes: np.ndarray
    edges: np.ndarray
    label: np.ndarray
    number: np.ndarray
    kind: int
    classes: int
    is_categorical: np.ndarray | None  # which columns hold categories; None where none does


class DrawnTree(NamedTuple):
    """The nodes of such a tree: what they ask, as bins, and what is in them."""

    feature: np.ndarray
    place: np.ndarray  # the last bin on the left
    missing_left: np.ndarray
    right: np.ndarray
    size: np.ndarray  # rows
    tally: np.ndarray  # what each class weighs, or all rows where there are none
    line: (
        np.ndarray | None
    )  # the line of `sets` of a node that asks about categories, -1 for others; None where no column has any
    sets: np.ndarray | None  # and the branch of each category, for each such node

    @classmethod
    def room(cls, count: int, classes: int, by_level: bool) -> DrawnTree:
        whole = (np.empty(count, dtype=np.intp) for _ in range(4))
        feature, place, right, size = whole
        found = cls(feature, place, np.empty(count, dtype=bool), right, size, np.empty((count, classes)), None, None)
        if not by_level:
            return found
        # Every second node asks at the most.
        return found._replace(line=np.empty(count, np.intp), sets=np.empty((count // 2 + 1, MISSING + 1), np.uint8))

    def first(self, count: int) -> DrawnTree:
        """Give the nodes that there are."""
        own = [part[:count].copy() for part in self[:6]]
        if self.line is None or self.sets is None:
            return DrawnTree._make([*own, None, None])
        line = self.line[:count].copy()
        return DrawnTree._make([*own, line, self.sets[: int((line >= 0).sum())].copy()])


def counted(mass: np.ndarray, unit: float) -> tuple[np.ndarray, float, bool]:
    """Give what rows weigh such that all sums are exact, its unit, and whether they are whole numbers of it: of `unit`, or else on a grid.

    >>> counted(np.array([3.0, 1.0]) * 0.1, 0.1)
    (array([3., 1.]), 0.1, True)
    """
    times = np.rint(mass / unit)
    if (times * unit == mass).all() and times.sum() < 2.0**52:
        return times, unit, True
    near = near_one(mass)
    return on_grid(mass * near, all_count=True), 1.0 / near, False


def grow_drawn(
    drawn: Drawn,
    rows: np.ndarray,
    mass: np.ndarray,
    unit: float,
    rules: Rules,
    lot: np.uint64,
    by_chance: bool,
    trees: int,
) -> tuple[DrawnTree, np.ndarray]:
    """Grow one of some trees from the rows that were drawn, which weigh `mass`; give its nodes, and the leaf of each of these rows.

    Where rows of two classes weigh whole numbers of a `unit`, they are counted, and two counts are added at once.
    """
    n, (exact, unit, is_counted) = len(rows), counted(mass, unit)
    whole = drawn.classes == 2 and is_counted and exact.sum() < 1 << 31
    keys, everything = rows.astype(np.uint64) << ROW, NONE
    # What counted rows do not need is None, and so nothing is compiled for it.
    weight = near = sums = None
    if whole:
        keys |= exact.astype(np.uint64) << ONE | drawn.label[rows].astype(np.uint64)
        everything = np.uint64(exact.sum()) << ROW | np.uint64(exact @ drawn.label[rows])
    else:
        weight, near = np.empty((drawn.codes.shape[1], 2)), np.empty((n, 2))
        weight[rows, 0], weight[rows, 1] = exact, mass
        sums = np.zeros((MISSING + 1, max(drawn.classes, 2)))
    rules = rules._replace(gain=rules.gain / unit, weight=rules.weight / unit)
    most = 2 * max(n // rules.leaf, 1) - 1
    most = min(most, (2 << rules.depth) - 1) if rules.depth < 62 else most
    room = DrawnTree.room(most, drawn.classes, drawn.is_categorical is not None)
    leaf = np.empty(drawn.codes.shape[1] if drawn.classes == 1 else 0, dtype=np.intp)
    # Trees of numbers and of places by chance ask so many questions that compiling takes no longer.
    soon = drawn.classes > 1 and not by_chance and drawn.kind not in WITH_LOGARITHMS
    run = unless_few(grow_bins, drawn.codes.size * trees, FEW, same=soon)
    limits = rules.depth, rules.split, rules.leaf, rules.weight, rules.gain, rules.tried
    bins = np.zeros(MISSING + 1, np.uint64), np.zeros(MISSING + 1, np.intp), np.zeros(4, np.uint64)
    given = drawn if by_chance else (drawn.codes, None, *drawn[2:])
    count = run(*given, weight, near, keys, everything, *limits, lot, sums, *bins, *room, leaf)
    grown = room.first(count)
    if whole:
        np.multiply(grown.tally, unit, out=grown.tally)
    return grown, leaf[rows] if len(leaf) else leaf


@kernel
def grow_bins(
    codes: np.ndarray,
    edges: np.ndarray | None,
    label: np.ndarray,
    number: np.ndarray,
    kind: int,
    classes: int,
    is_categorical: np.ndarray | None,
    weight: np.ndarray | None,
    near: np.ndarray | None,
    keys: np.ndarray,
    everything: np.uint64,
    most_levels: int,
    least_rows: int,
    leaf: int,
    leaf_weight: float,
    least_gain: float,
    tried: int,
    seed: np.uint64,
    sums: np.ndarray | None,
    pairs: np.ndarray,
    counts: np.ndarray,
    bits: np.ndarray,
    feature: np.ndarray,
    low: np.ndarray,
    missing_left: np.ndarray,
    right: np.ndarray,
    size: np.ndarray,
    tally: np.ndarray,
    line: np.ndarray | None,
    sets: np.ndarray | None,
    leaf_of: np.ndarray,
) -> int:
    """Grow the tree of the rows in `keys`, which are changed; give how many nodes it has.

    Without a `weight` rows are counted, without `edges` no question is one by chance, and without `is_categorical` all columns are numbers.
    """
    p, n = len(codes), len(keys)
    room = min(n, most_levels) + 2
    # What waits: the rows and the level of a node, the parent whose right child it is, what its lots are drawn with, and its counts.
    waits, drawn = np.empty((4, room), np.intp), np.empty((2, room), np.uint64)
    firsts, lasts, levels, parents, lots, both = waits[0], waits[1], waits[2], waits[3], drawn[0], drawn[1]
    firsts[0], lasts[0], levels[0], parents[0], lots[0], both[0] = 0, n, 0, -1, seed, everything
    waiting, count = 1, 0
    spare, columns = np.empty_like(keys), np.empty(p, np.intp)
    whole, left, used = np.empty(classes), np.empty(classes), 0
    level_of, pairs_of, begin = np.empty(257, np.intp), np.empty(257, np.uint64), np.zeros(258, np.intp)
    amounts, order, branch = np.empty((257, classes + 1)), np.empty(257, np.intp), np.empty(257, np.uint8)
    given = codes, edges, kind, classes, is_categorical, near, keys
    room_to_ask = sums, pairs, counts, bits, left, columns, level_of, pairs_of, begin, amounts, order, branch, sets
    while waiting > 0:
        waiting -= 1
        start, stop, level, lot, all_ = firsts[waiting], lasts[waiting], levels[waiting], lots[waiting], both[waiting]
        node, count = count, count + 1
        if parents[waiting] >= 0:
            right[parents[waiting]] = node
        feature[node], low[node], missing_left[node], right[node], size[node] = -1, 0, False, -1, stop - start
        if line is not None:
            line[node] = -1
        if weight is None:
            total, wide, mixed = count_up(all_, whole, tally[node])
        else:
            total, wide, mixed = add_up(keys, label, number, weight, classes, start, stop, near, whole)
        score, chosen, place, missing, heavy, gone = -np.inf, -1, np.intp(-1), -1, 0.0, NONE
        if mixed and level < most_levels and stop - start >= least_rows:
            score, chosen, place, missing, heavy, gone = ask_drawn(
                *given, start, stop, whole, total, leaf, leaf_weight, tried, lot, *room_to_ask, used
            )
        if chosen < 0 or score - purity(kind, whole, whole, total, 1.0) < least_gain * wide:
            if weight is not None:
                tell(keys, label, weight, start, stop, node, tally[node], leaf_of)
            continue
        # Where nothing was missing, what will be goes with the heavier side.
        feature[node], low[node] = chosen, place
        missing_left[node] = missing == 1 or (missing < 0 and 2 * heavy > total)
        if is_categorical is not None and line is not None and sets is not None and is_categorical[chosen]:
            front = divide_by_line(codes[chosen], sets[used], start, stop, keys, spare)
            line[node], missing_left[node], used = used, sets[used, MISSING] == 0, used + 1
        else:
            front = divide_rows(codes[chosen], place, missing == 1, start, stop, keys, spare)
        firsts[waiting], lasts[waiting], levels[waiting], parents[waiting] = front, stop, level + 1, node
        lots[waiting], both[waiting] = mix(lot ^ RIGHT), all_ - gone
        firsts[waiting + 1], lasts[waiting + 1], levels[waiting + 1], parents[waiting + 1] = start, front, level + 1, -1
        lots[waiting + 1], both[waiting + 1] = mix(~lot), gone
        waiting += 2
    if weight is not None:
        upwards(feature, right, count, tally)
    return count


@kernel(within=True, forceinline=True)
def ask_drawn(
    codes: np.ndarray,
    edges: np.ndarray | None,
    kind: int,
    classes: int,
    is_categorical: np.ndarray | None,
    near: np.ndarray | None,
    keys: np.ndarray,
    start: int,
    stop: int,
    whole: np.ndarray,
    total: float,
    leaf: int,
    leaf_weight: float,
    tried: int,
    lot: np.uint64,
    sums: np.ndarray | None,
    pairs: np.ndarray,
    counts: np.ndarray,
    bits: np.ndarray,
    left: np.ndarray,
    columns: np.ndarray,
    level_of: np.ndarray,
    pairs_of: np.ndarray,
    begin: np.ndarray,
    amounts: np.ndarray,
    order: np.ndarray,
    branch: np.ndarray,
    sets: np.ndarray | None,
    used: int,
) -> tuple[float, int, int, int, float, np.uint64]:
    """Find the question of a node about columns drawn by lot: purity, column, place, side of missing values, and what goes left.

    Of one about categories the branches are written to the first line of `sets` that is not used; what stands before them is room.
    """
    score, chosen, place, missing, heavy, gone = -np.inf, -1, np.intp(-1), -1, 0.0, NONE
    p, own = len(codes), lot
    for t in range(p):
        columns[t] = t
    for t in range(p):
        if t >= tried and chosen >= 0:
            break
        own = mix(own)
        other = t + np.intp(own % np.uint64(p - t))
        columns[t], columns[other] = columns[other], columns[t]
        j, parts = columns[t], 0
        if edges is None or (is_categorical is not None and is_categorical[j]):
            collect(codes[j], keys, near, classes, leaf > 1, start, stop, pairs, sums, counts, bits)
        else:
            room_of_bins = pairs, sums, counts, bits
            collect_halves(codes[j], keys, near, classes, start, stop, *room_of_bins, edges[j], mix(own ^ RIGHT))
        if is_categorical is not None and is_categorical[j]:
            parts = gather_levels(pairs, sums, counts, bits, classes, level_of, pairs_of, begin, amounts)
            asked = kind, classes, parts, begin, amounts, level_of, whole, total, leaf, leaf_weight
            if edges is None:
                found = best_set(*asked, None, left, order, branch)
            else:
                found = best_set(*asked, mix(own ^ RIGHT), left, order, branch)
            where, side, before, gone_here = np.intp(found > -np.inf) - 1, -1, 0.0, NONE
        else:
            found, where, side, before, gone_here = best_bin(
                *(pairs, sums, counts, bits, kind, classes, stop - start, whole, total, leaf, leaf_weight, left)
            )
        if where >= 0 and (found > score or (found == score and j < chosen)):
            score, chosen, place, missing, heavy, gone = found, j, where, side, before, gone_here
            if is_categorical is not None and sets is not None and is_categorical[j]:
                heavy, gone = write_line(parts, level_of, branch, amounts, pairs_of, classes, total, sets[used])
    return score, chosen, place, missing, heavy, gone  # type: ignore[return-value]
