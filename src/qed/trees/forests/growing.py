r"""Growing one tree of a forest: rows drawn by lot, columns drawn by lot at every node, and questions between bins.

The rows of a node are added up by the bins of a column (:mod:`qed.trees.bins`), or sorted by them where they are few; a sweep along the bins
finds the best question. With :math:`m` columns at each node, a level costs :math:`O(nm)`. What is drawn is keyed by the seed, the number of
the tree and the way from the root to the node, so it depends on nothing else.

Breiman (2001), Random forests; Geurts, Ernst and Wehenkel (2006), Extremely randomized trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qed.base.compile import interpreted, kernel
from qed.trees.bins import MISSING, Bins
from qed.trees.growing import Grown, Rules
from qed.trees.impurity import purity, purity_of_two
from qed.trees.sweeping import mix

# Rows below which a node is sorted, and rows times columns below which a tree is not worth compiling.
SORTED, FEW = 48, 1 << 11
RIGHT = np.uint64(0xD1B54A32D192ED03)
# Copies of rows that are drawn from one by one.
MOST_COPIES = 1 << 26


class Drawn(NamedTuple):
    """The rows of one tree."""

    rows: np.ndarray  # which rows were drawn
    mass: np.ndarray  # what they weigh: how often they were drawn, times their weight
    value: np.ndarray  # their numbers times that; or that where they are of the second of two classes


class Urn:
    """The rows to be drawn from, in an order that follows from what is in them: neither the order they came in nor copies matter."""

    def __init__(self, X: np.ndarray, target: np.ndarray, weight: np.ndarray | None) -> None:
        lots = np.zeros(len(X), dtype=np.uint64)
        for column in (*X.T, target):
            # Zero has two signs, and what is missing many bits.
            plain = np.where(np.isnan(column), np.nan, column.astype(np.float64) + 0.0)
            lots = mixed(lots ^ plain.view(np.uint64))
        self.order = np.argsort(lots, kind="stable")
        self.weight = np.ones(len(X)) if weight is None else weight[self.order]
        self.ends = np.cumsum(self.weight)
        total = float(self.ends[-1])
        # Whole weights are rows that are there so often.
        whole = total <= MOST_COPIES and bool((self.weight == np.floor(self.weight)).all())
        self.copies = round(total) if whole else len(X)

    def draw(self, lot: np.uint64, share: float) -> tuple[np.ndarray, np.ndarray]:
        """Draw a share of as many rows as there are, each copy as likely as any other; give the rows, and what they weigh."""
        count = max(1, round(share * self.copies))
        lots = mixed(np.arange(count, dtype=np.uint64) + lot)
        at = (lots >> np.uint64(11)) * 2.0**-53 * self.ends[-1]
        place = np.minimum(np.searchsorted(self.ends, at, side="right"), len(self.order) - 1)
        times = np.bincount(place, minlength=len(self.order))
        found = np.flatnonzero(times)
        return self.order[found], times[found] * (float(self.ends[-1]) / self.copies)

    def all(self) -> tuple[np.ndarray, np.ndarray]:
        """Give all rows, and what they weigh."""
        return self.order, self.weight


def lot_of(seed: int, tree: int) -> np.uint64:
    """Give the number that the lots of a tree begin with."""
    first = mixed(np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64))
    return np.uint64(mixed(first ^ np.uint64(tree))[0])


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Give the numbers drawn after these, as `mix` does for one."""
    with np.errstate(over="ignore"):
        z = numbers + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def grow_drawn(
    codes: np.ndarray,
    bins: Bins,
    drawn: Drawn,
    label: np.ndarray,
    kind: int,
    classes: int,
    rules: Rules,
    lot: np.uint64,
    by_chance: bool,
) -> tuple[Grown, np.ndarray]:
    """Grow the tree of the rows that were drawn, from codes (p, n); give its nodes, with bins as ranks, and the leaf of each row."""
    n = len(drawn.rows)
    most = 2 * max(n // rules.leaf, 1) - 1
    grown = Grown.room(min(most, (2 << rules.depth) - 1) if rules.depth < 62 else most)
    leaf = np.empty(n, dtype=np.intp)
    run = interpreted(grow_bins) if n * len(codes) <= FEW else grow_bins
    limits = rules.depth, rules.split, rules.leaf, rules.weight, rules.gain, rules.tried
    count = run(
        codes,
        bins.edges,
        drawn.rows,
        label,
        drawn.mass,
        drawn.value,
        kind,
        classes,
        *limits,
        lot,
        by_chance,
        *grown.parts,
        leaf,
    )
    return Grown(*(part[:count].copy() for part in grown.parts)), leaf


@kernel
def grow_bins(
    codes: np.ndarray,
    edges: np.ndarray,
    rows: np.ndarray,
    label: np.ndarray,
    mass: np.ndarray,
    value: np.ndarray,
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
    """Grow the tree of some rows; give how many nodes it has."""
    p, n, room = len(codes), len(rows), len(feature) + 1
    firsts, lasts = np.empty(room, np.intp), np.empty(room, np.intp)
    levels, parents, lots = np.empty(room, np.intp), np.empty(room, np.intp), np.empty(room, np.uint64)
    firsts[0], lasts[0], levels[0], parents[0], lots[0] = 0, n, 0, -1, seed
    waiting, count = 1, 0
    order, spare, columns = np.arange(n), np.empty(n, np.intp), np.arange(p)
    whole, left, sums = np.empty(classes), np.empty(classes), np.zeros((MISSING + 1, classes + 1))
    counts, keys = np.zeros(MISSING + 1, np.intp), np.empty(SORTED, np.intp)
    while waiting > 0:
        waiting -= 1
        start, stop, level, lot = firsts[waiting], lasts[waiting], levels[waiting], lots[waiting]
        node, count = count, count + 1
        if parents[waiting] >= 0:
            right[parents[waiting]] = node
        for r in range(start, stop):
            leaf_of[order[r]] = node
        if level >= most_levels or stop - start < least_rows:
            continue
        total, alone, mixed_ = add_up(order, rows, label, mass, value, kind, classes, start, stop, whole)
        if not mixed_:
            continue
        score, chosen, place, missing = -np.inf, -1, -1, False
        own = lot
        for t in range(p):
            if t >= tried and chosen >= 0:
                break
            own = mix(own)
            other = t + np.intp(own % np.uint64(p - t))
            columns[t], columns[other] = columns[other], columns[t]
            j = columns[t]
            if stop - start <= SORTED and not by_chance:
                found, where, side = best_of_few(
                    *(codes[j], order, rows, label, mass, value, kind, classes, start, stop),
                    *(whole, total, leaf, leaf_weight, left, keys),
                )
            else:
                collect(codes[j], order, rows, label, mass, value, classes, start, stop, sums, counts)
                found, where, side = best_bin(
                    *(sums, counts, edges[j], kind, classes, stop - start, whole, total, leaf, leaf_weight, left),
                    *(by_chance, mix(own ^ RIGHT)),
                )
            if where >= 0 and (found > score or (found == score and j < chosen)):
                score, chosen, place, missing = found, j, where, side
        if chosen < 0 or score - alone < least_gain:
            continue
        feature[node], low[node], missing_left[node] = chosen, place, missing
        front, back, bins = start, 0, codes[chosen]
        for r in range(start, stop):
            code = bins[rows[order[r]]]
            goes = np.intp(code <= place or (missing and code == MISSING))
            here = order[r]
            order[front] = here
            spare[back] = here
            front += goes
            back += 1 - goes
        for r in range(back):
            order[front + r] = spare[r]
        firsts[waiting], lasts[waiting], levels[waiting], parents[waiting] = front, stop, level + 1, node
        lots[waiting] = mix(lot ^ RIGHT)
        firsts[waiting + 1], lasts[waiting + 1], levels[waiting + 1], parents[waiting + 1] = start, front, level + 1, -1
        lots[waiting + 1] = mix(~lot)
        waiting += 2
    return count


@kernel(within=True)
def add_up(
    order: np.ndarray,
    rows: np.ndarray,
    label: np.ndarray,
    mass: np.ndarray,
    value: np.ndarray,
    kind: int,
    classes: int,
    first: int,
    last: int,
    whole: np.ndarray,
) -> tuple[float, float, bool]:
    """Add up the rows of a node; give what they weigh, how pure they are, and whether they differ."""
    for k in range(classes):
        whole[k] = 0.0
    total, mixed_ = 0.0, False
    one = order[first]
    for r in range(first, last):
        i = order[r]
        total += mass[i]
        if classes == 1:
            whole[0] += value[i]
            mixed_ |= value[i] * mass[one] != value[one] * mass[i]
        else:
            whole[label[rows[i]]] += mass[i]
            mixed_ |= label[rows[i]] != label[rows[one]]
    return total, purity(kind, whole, whole, total, 1.0), mixed_


@kernel(within=True)
def collect(
    bins: np.ndarray,
    order: np.ndarray,
    rows: np.ndarray,
    label: np.ndarray,
    mass: np.ndarray,
    value: np.ndarray,
    classes: int,
    first: int,
    last: int,
    sums: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Add up the rows of a node by the bins of a column: what they weigh, and the sums of numbers or classes."""
    for b in range(MISSING + 1):
        counts[b] = 0
        for k in range(classes + 1):
            sums[b, k] = 0.0
    for r in range(first, last):
        i = order[r]
        b = bins[rows[i]]
        counts[b] += 1
        sums[b, 0] += mass[i]
        if classes <= 2:
            sums[b, 1] += value[i]
        else:
            sums[b, 1 + label[rows[i]]] += mass[i]


@kernel(within=True)
def best_of_few(
    bins: np.ndarray,
    order: np.ndarray,
    rows: np.ndarray,
    label: np.ndarray,
    mass: np.ndarray,
    value: np.ndarray,
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
) -> tuple[float, int, bool]:
    """Sweep along the rows of a small node in the order of their bins, and give what `best_bin` gives."""
    best, place, side, size, there = -np.inf, -1, False, last - first, 0
    for r in range(size):
        code = np.intp(bins[rows[order[first + r]]])
        there += code != MISSING
        key, q = code << 16 | r, r
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
            q = (there + step) % size if turn == 1 else step
            i = order[first + (keys[q] & 0xFFFF)]
            number += 1
            before += mass[i]
            if classes <= 2:
                sum_ += value[i]
            else:
                left[label[rows[i]]] += mass[i]
            code = keys[q] >> 16
            if (
                code == MISSING
                or (q + 1 < size and keys[q + 1] >> 16 == code)
                or q + 1 == size
                or (q + 1 == there and turn == 1)
            ):
                continue
            rest = total - before
            if number < leaf or size - number < leaf or before < leaf_weight or rest < leaf_weight or rest <= 0.0:
                continue
            if classes <= 2:
                found = purity_of_two(kind, sum_, whole[classes - 1], before, rest, best)
            else:
                found = purity(kind, left, whole, before, rest)
            if found > best:
                best, place, side = found, code, turn == 1
    if place >= 0 and there == size:
        number = 0
        for q in range(size):
            number += keys[q] >> 16 <= place
        side = 2 * number > size
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
) -> tuple[float, int, bool]:
    """Sweep along the bins, or go to one by chance; give the best purity, the last bin on the left, and where missing values go."""
    best, place, side = -np.inf, -1, False
    lost = counts[MISSING]
    lowest, highest = 0, MISSING - 1
    while lowest < MISSING and counts[lowest] == 0:
        lowest += 1
    while highest > lowest and counts[highest] == 0:
        highest -= 1
    only = -1
    if by_chance and lowest < highest:
        share = np.float64(lot >> np.uint64(11)) * 2.0**-53
        at = edges[lowest] + share * (edges[highest - 1] - edges[lowest])
        only = lowest
        while only + 1 < highest and edges[only + 1] <= at:
            only += 1
    for turn in range(1 + (lost > 0)):
        before, number, sum_ = (sums[MISSING, 0], lost, sums[MISSING, 1]) if turn == 1 else (0.0, 0, 0.0)
        for k in range(classes):
            left[k] = sums[MISSING, 1 + k] if turn == 1 and classes > 2 else 0.0
        for b in range(lowest, highest + 1):
            number += counts[b]
            before += sums[b, 0]
            sum_ += sums[b, 1]
            if classes > 2:
                for k in range(classes):
                    left[k] += sums[b, 1 + k]
            rest = total - before
            if (
                (counts[b] == 0 and only < 0)
                or (only >= 0 and b != only)
                or (b == highest and (turn == 1 or lost == 0))
            ):
                continue
            if number < leaf or size - number < leaf or before < leaf_weight or rest < leaf_weight or rest <= 0.0:
                continue
            if classes <= 2:
                found = purity_of_two(kind, sum_, whole[classes - 1], before, rest, best)
            else:
                found = purity(kind, left, whole, before, rest)
            if found > best:
                best, place, side = found, b, turn == 1
    if place >= 0 and lost == 0:
        number = 0
        for b in range(place + 1):
            number += counts[b]
        side = 2 * number > size
    return best, place, side
