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


class DrawnTree(NamedTuple):
    """The nodes of such a tree: what they ask, as bins, and what is in them."""

    feature: np.ndarray
    place: np.ndarray  # the last bin on the left
    missing_left: np.ndarray
    right: np.ndarray
    size: np.ndarray  # rows
    tally: np.ndarray  # what each class weighs, or all rows where there are none

    @classmethod
    def room(cls, count: int, classes: int) -> DrawnTree:
        whole = (np.empty(count, dtype=np.intp) for _ in range(4))
        feature, place, right, size = whole
        return cls(feature, place, np.empty(count, dtype=bool), right, size, np.empty((count, classes)))


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
    room = DrawnTree.room(min(most, (2 << rules.depth) - 1) if rules.depth < 62 else most, drawn.classes)
    leaf = np.empty(drawn.codes.shape[1] if drawn.classes == 1 else 0, dtype=np.intp)
    # Trees of numbers and of places by chance ask so many questions that compiling takes no longer.
    soon = drawn.classes > 1 and not by_chance and drawn.kind not in WITH_LOGARITHMS
    run = unless_few(grow_bins, drawn.codes.size * trees, FEW, same=soon)
    limits = rules.depth, rules.split, rules.leaf, rules.weight, rules.gain, rules.tried
    bins = np.zeros(MISSING + 1, np.uint64), np.zeros(MISSING + 1, np.intp), np.zeros(4, np.uint64)
    given = drawn if by_chance else (drawn.codes, None, *drawn[2:])
    count = run(*given, weight, near, keys, everything, *limits, lot, sums, *bins, *room, leaf)
    grown = DrawnTree(*(part[:count].copy() for part in room))
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
    leaf_of: np.ndarray,
) -> int:
    """Grow the tree of the rows in `keys`, which are changed; give how many nodes it has.

    Without a `weight` rows are counted, and without `edges` no question is one by chance.
    """
    p, n = len(codes), len(keys)
    room = min(n, most_levels) + 2
    # What waits: the rows and the level of a node, the parent whose right child it is, what its lots are drawn with, and its counts.
    waits, drawn = np.empty((4, room), np.intp), np.empty((2, room), np.uint64)
    firsts, lasts, levels, parents, lots, both = waits[0], waits[1], waits[2], waits[3], drawn[0], drawn[1]
    firsts[0], lasts[0], levels[0], parents[0], lots[0], both[0] = 0, n, 0, -1, seed, everything
    waiting, count = 1, 0
    spare, columns = np.empty_like(keys), np.empty(p, np.intp)
    whole, left = np.empty(classes), np.empty(classes)
    while waiting > 0:
        waiting -= 1
        start, stop, level, lot, all_ = firsts[waiting], lasts[waiting], levels[waiting], lots[waiting], both[waiting]
        node, count = count, count + 1
        if parents[waiting] >= 0:
            right[parents[waiting]] = node
        feature[node], low[node], missing_left[node], right[node], size[node] = -1, 0, False, -1, stop - start
        if weight is None:
            total, wide, mixed = count_up(all_, whole, tally[node])
        else:
            total, wide, mixed = add_up(keys, label, number, weight, classes, start, stop, near, whole)
        score, chosen, place, missing, heavy, gone = -np.inf, -1, np.intp(-1), -1, 0.0, NONE
        if mixed and level < most_levels and stop - start >= least_rows:
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
                if edges is None:
                    collect(codes[j], keys, near, classes, leaf > 1, start, stop, pairs, sums, counts, bits)
                else:
                    room_of_bins = pairs, sums, counts, bits
                    collect_halves(
                        codes[j], keys, near, classes, start, stop, *room_of_bins, edges[j], mix(own ^ RIGHT)
                    )
                found, where, side, before, gone_here = best_bin(
                    *(pairs, sums, counts, bits, kind, classes, stop - start, whole, total, leaf, leaf_weight, left)
                )
                if where >= 0 and (found > score or (found == score and j < chosen)):
                    score, chosen, place, missing, heavy, gone = found, j, where, side, before, gone_here
        if chosen < 0 or score - purity(kind, whole, whole, total, 1.0) < least_gain * wide:
            if weight is not None:
                tell(keys, label, weight, start, stop, node, tally[node], leaf_of)
            continue
        front = divide_rows(codes[chosen], place, missing == 1, start, stop, keys, spare)
        # Where nothing was missing, what will be goes with the heavier side.
        feature[node], low[node] = chosen, place
        missing_left[node] = missing == 1 or (missing < 0 and 2 * heavy > total)
        firsts[waiting], lasts[waiting], levels[waiting], parents[waiting] = front, stop, level + 1, node
        lots[waiting], both[waiting] = mix(lot ^ RIGHT), all_ - gone
        firsts[waiting + 1], lasts[waiting + 1], levels[waiting + 1], parents[waiting + 1] = start, front, level + 1, -1
        lots[waiting + 1], both[waiting + 1] = mix(~lot), gone
        waiting += 2
    if weight is not None:
        upwards(feature, right, count, tally)
    return count
