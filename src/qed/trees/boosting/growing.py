r"""Growing a tree on bins for a loss: the question that promises most, leaf by leaf.

With slopes :math:`g_i` and curvatures :math:`h_i` of the losses of its rows, the model of a node
:math:`\sum_i w_i (g_i v + \tfrac12 h_i v^2) + \tfrac12 \lambda v^2` is least at
:math:`v = -G / (H + \lambda)`, and a question is worth

.. math:: \tfrac{G_L^2}{H_L + \lambda} + \tfrac{G_R^2}{H_R + \lambda} - \tfrac{G^2}{H + \lambda}, \ \ G = \sum w_i g_i,\ H = \sum w_i h_i .

All sums come from histograms: one for each column of the smaller child, and those of the larger by subtraction. A level costs
:math:`O(np)` additions. Slopes and curvatures are whole numbers of a grid there, so that the sums are exact; values of leaves are made of
the numbers themselves. Ke et al. (2017), LightGBM; Friedman (2001), Greedy function approximation.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from qed.base.compile import is_ready
from qed.base.threads.team import Team
from qed.trees.boosting.coding import Coding
from qed.trees.boosting.histograms import LEAST_SHARE
from qed.trees.boosting.kernel import grow_together
from qed.trees.boosting.levels import SUPPORT, order_of_levels, set_of
from qed.trees.boosting.monotone import Fence, bounded, handed_down, in_order

# Values below which a tree is grown by NumPy, curvature that a leaf must have, rows whose codes are turned to columns at a time, and rows
# at the least, and rows for each node, whose slopes are added up in one go.
FEW, LEAST_CURVATURE, PART, IN_ONE_GO, FOR_A_NODE = 1 << 12, 1e-3, 1 << 12, 1 << 14, 64
# Loops that were never compiled are not waited for by tables that have so many times as many values at the most, as long as NumPy has
# taken less than these seconds in their stead: about what compiling takes.
MANY_MORE, PATIENCE = 25, 5.0
NO_ROWS = np.empty(0, dtype=np.intp)


class _Spent:
    """The seconds that NumPy took for trees in this process where loops would have been faster, had they been there."""

    seconds = 0.0


_spent = _Spent()


class Rules(NamedTuple):
    """Where growing ends."""

    leaves: int  # leaves at the most
    depth: int  # levels below the root
    weight: float  # what a leaf must weigh
    curvature: float  # and how much curvature it must have
    penalty: float  # what is added to the curvature of a leaf


class Grid(NamedTuple):
    """The units of slopes and curvatures: powers of two, such that all sums keep within 31 and 32 bits."""

    slope: float
    curvature: float
    is_whole: bool  # whether weights are whole numbers, and count how often a row is there

    @classmethod
    def of(cls, slopes: float, curvatures: float, weight: np.ndarray, rows: int) -> Grid:
        """Choose the grid from sums of sizes, what rows weigh (nothing where it is one), and how many there are."""
        total = float(weight.sum()) if len(weight) else float(rows)
        is_whole = bool(total < 2.0**29 and (not len(weight) or (weight == np.rint(weight)).all()))
        rounding = (total if is_whole else rows) + 1.0
        return cls(_power(2.0**31 - 1 - rounding, slopes), _power(2.0**32 - 1 - rounding, curvatures), is_whole)

    def amounts(self, slope: np.ndarray, curvature: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Bring slopes and curvatures, times their weights, to the grid; give them and the weights, of shape (3, n)."""
        inside, times = (weight, 1.0) if len(weight) and not self.is_whole else (1.0, weight if len(weight) else 1.0)
        # Each row bends by a unit at least, so that a bin with rows is never taken for an empty one.
        bends = np.maximum(np.rint(inside * curvature * self.curvature), 1.0)
        own = weight if len(weight) else np.ones(len(slope))
        return np.stack([times * np.rint(inside * slope * self.slope), times * bends, own])


def _power(room: float, total: float) -> float:
    """Give the largest power of two that a sum times it does not exceed a bound."""
    # Less a rounding of the sum itself, which is of positive numbers.
    return math.ldexp(1.0, min(math.frexp(room / (total * (1 + 1e-9)))[1] - 1, 1000)) if total > 0 else 1.0


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree as it was grown: nodes in the order in which they came, the children of a node side by side."""

    questions: np.ndarray  # (nodes, 4): column or -1, bin, whether missing values go left, the left child
    sides: np.ndarray  # (nodes, 256): which codes go left
    gains: np.ndarray  # what each question is worth
    sums: np.ndarray  # (nodes, 4): slopes, curvatures, weight and rows of the leaves
    leaf: np.ndarray  # the leaf of each row that was used
    limits: np.ndarray | None = (
        None  # (nodes, 2): between what values each node has to stay, where columns are to be monotone
    )

    def in_order(self) -> np.ndarray:
        """Give the numbers of the nodes in the order of a walk that goes left first."""
        order, waiting = [], [0]
        while waiting:
            node = waiting.pop()
            order.append(node)
            if self.questions[node, 0] >= 0:
                waiting += [int(self.questions[node, 3]) + 1, int(self.questions[node, 3])]
        return np.array(order)


class Grower:
    """Rows in bins, and room for the trees that are grown on them."""

    def __init__(
        self, codes: np.ndarray, coding: Coding, weight: np.ndarray, rules: Rules, directions: np.ndarray | None = None
    ) -> None:
        self.codes, self.weight, self.rules, self.directions = codes, weight, rules, directions
        self.n_bins, self.is_categorical = coding.counts, coding.is_categorical
        n, p = len(codes), len(self.n_bins)
        levels, ways = bool(self.is_categorical.any()), directions is not None
        waits = n * p <= MANY_MORE * FEW and not is_ready(grow_together, is_categorical=not levels, directions=not ways)
        self.is_for_one = n * p <= FEW
        self._is_tiny, self._is_small = self.is_for_one and waits, waits
        self._columns = np.empty((p, n), dtype=np.uint8)
        for start in range(0, n, PART):
            self._columns[:, start : start + PART] = codes[start : start + PART, :p].T
        self.has_missing = np.array([(one == 255).any() for one in self._columns])
        if not self._is_tiny:
            self._rows, self._spare = np.empty(n, dtype=np.int32), np.empty((2, n + 1), dtype=np.int32)
            self._packed, self._words = np.empty(n, dtype=np.int64), codes.view(np.uint64)
            self._histograms = np.empty((rules.leaves, codes.shape[1] << 8), dtype=np.int64)
            self._own = np.empty((0, codes.shape[1] << 8), dtype=np.int64)

    @property
    def is_few(self) -> bool:
        """Whether the next tree is grown by NumPy: it is too small, or too soon, to wait for loops to be compiled."""
        return self._is_tiny or (self._is_small and _spent.seconds < PATIENCE)

    def grow(
        self,
        crew: Team,
        slope: np.ndarray,
        curvature: np.ndarray,
        grid: Grid,
        rows: np.ndarray | None,
        allowed: np.ndarray,
        leaf: np.ndarray,
    ) -> Grown:
        """Grow the tree of all rows, or of some in ascending order, and tell each of them its `leaf`.

        `allowed` says which columns each node may ask about.
        """
        if self.is_few:
            began, chosen = time.thread_time(), np.arange(len(self.codes)) if rows is None else rows
            grown = _grow_few(self, slope, curvature, grid, chosen, allowed, leaf)
            if not self._is_tiny:
                _spent.seconds += time.thread_time() - began
            return grown
        nodes, members = 2 * self.rules.leaves - 1, max(crew.members, 1)
        if len(self._own) < members:
            self._own = np.empty((members, self._own.shape[1]), dtype=np.int64)
        room = self._spare, self._packed, self._own, self._histograms
        best, bounds, counts = np.zeros((members, nodes, 6)), np.zeros((members, 8)), np.zeros((members, 256))
        shared, states = np.zeros((members, 8), dtype=np.int64), np.zeros((members, 7, nodes), dtype=np.int64)
        found, sides = np.zeros((members, nodes, 256), dtype=np.uint8), np.zeros((nodes, 256), dtype=np.uint8)
        questions, gains, sums = np.full((nodes, 4), -1), np.zeros(nodes), np.zeros((nodes, 4))
        limits = None if self.directions is None else np.tile([[-np.inf], [np.inf]], (members, 1, nodes))
        used = self._rows[: len(self._rows if rows is None else rows)]
        if rows is not None:
            leaf[:] = -1
        parts = np.zeros((-(-len(leaf) // max(IN_ONE_GO, FOR_A_NODE * nodes)), nodes, 3))
        crew.together(
            *(grow_together, self._words, self._columns, self.n_bins, self.has_missing),
            self.is_categorical if self.is_categorical.any() else None,
            *(self.level_share(rows), slope, curvature, self.weight, grid.is_whole, np.array(grid[:2]), *self.rules),
            *(self.directions, limits, allowed, NO_ROWS if rows is None else rows, used, *room),
            *(states, counts, best, shared, bounds, found, questions, sides, gains, parts, sums, leaf),
        )
        count = int(shared[0, 0])
        kept = None if limits is None else limits[0, :, :count].T
        return Grown(questions[:count], sides[:count], gains[:count], sums[:count], leaf, kept)

    def level_share(self, rows: np.ndarray | None) -> float:
        """Give the share of all curvature that a category must have to stand for itself."""
        weight = self.weight if rows is None or not len(self.weight) else self.weight[rows]
        return level_share(weight, len(self.codes if rows is None else rows))


def level_share(weight: np.ndarray, rows: int) -> float:
    """Give the share of all curvature that a category must have to stand for itself, from what rows weigh (nothing where it is one)."""
    return SUPPORT / (float(weight.sum()) if len(weight) else float(rows))


def worth(
    histograms: np.ndarray, n_bins: np.ndarray, rules: Rules, grid: Grid, fence: Fence | None = None
) -> np.ndarray:
    """Give what every question is worth, from histograms (3, ..., bins + 1) of slopes, curvatures and weights on the grid.

    The last bin is that of missing values. The answer has the axes (..., sides, bins): missing values on the right and, where there are
    any, on the left; and the bin up to which rows go left. Minus infinity stands for questions that can not be asked. Values are held to
    the bounds of a fence, which have as many axes.
    """
    lost, whole = histograms[..., None, -1:], histograms.sum(axis=-1)[..., None, None]
    left, n_bins = np.cumsum(histograms[..., None, :-1], axis=-1), n_bins[..., None, None]
    some = (lost[:2] != 0).any(axis=0)
    last = n_bins - ~some
    if some.any():
        left = np.concatenate([left, left + lost], axis=-2)
        last = np.concatenate([last, np.where(some, n_bins - 1, 0)], axis=-2)
    return _gains(left, whole, np.arange(left.shape[-1]) < last, rules, grid, fence)


def _gains(
    left: np.ndarray, whole: np.ndarray, there: np.ndarray, rules: Rules, grid: Grid, fence: Fence | None
) -> np.ndarray:
    """Give what questions are worth that are there, from the sums of the rows that go left and of all."""
    right = whole - left
    fits = there & (np.minimum(left[2], right[2]) >= rules.weight)
    fits &= np.minimum(left[1], right[1]) >= rules.curvature * grid.curvature
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if fence is None:
            score = size = score_of(left, rules, grid) + score_of(right, rules, grid)
            gain = score - score_of(whole, rules, grid)
        else:
            sides = [bounded(*pull_of(sums, rules, grid), fence) for sums in (left, right, whole)]
            gain, size = sides[0][1] + sides[1][1] - sides[2][1], sides[0][2] + sides[1][2]
            fits = fits & in_order(sides[0][0], sides[1][0], fence)
        return np.where(fits & (gain > LEAST_SHARE * size), gain, -np.inf)


def pull_of(sums: np.ndarray, rules: Rules, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Give slope, and curvature with the penalty, of sums (at least 2, ...) on the grid."""
    return sums[0] / grid.slope, sums[1] / grid.curvature + rules.penalty


def score_of(sums: np.ndarray, rules: Rules, grid: Grid) -> np.ndarray:
    """Give the square of the slopes over the curvature, of sums (at least 2, ...) on the grid."""
    slope, width = pull_of(sums, rules, grid)
    return np.asarray(slope * slope / width)


def worth_of_levels(
    histograms: np.ndarray, least: float, rules: Rules, grid: Grid, fence: Fence | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Give what every question about categories is worth, and their order, from histograms (3, ..., 256) of their codes.

    The answer (..., 257) is for cuts behind each place of the order; minus infinity stands for those that can not be asked.
    """
    order, sums, count = order_of_levels(histograms, least)
    left, whole = np.cumsum(sums, axis=-1), histograms.sum(axis=-1)[..., None]
    return _gains(left, whole, np.arange(left.shape[-1]) < count[..., None] - 1, rules, grid, fence), order


class _SmallTable:
    """Few rows, whose tree is grown without a compiled loop; the answer is the same."""

    def __init__(self, grower: Grower, amounts: np.ndarray, rows: np.ndarray, grid: Grid, allowed: np.ndarray) -> None:
        self.grower, self.amounts, self.grid, self.allowed = grower, amounts, grid, allowed
        self.numeric, self.levels = (np.flatnonzero(one) for one in (~grower.is_categorical, grower.is_categorical))
        # Missing values behind the last bin.
        self.width = int(grower.n_bins[self.numeric].max(initial=0)) + 1
        self.places = np.minimum(grower.codes[:, self.numeric], self.width - 1) + self.width * np.arange(
            len(self.numeric)
        )
        self.level_places = grower.codes[:, self.levels].astype(np.intp) + 256 * np.arange(len(self.levels))
        weight = grower.weight[rows] if len(grower.weight) else grower.weight
        self.least = level_share(weight, len(rows)) * amounts[1, rows].sum()

    def _histograms(self, places: np.ndarray, width: int, chosen: np.ndarray) -> np.ndarray:
        columns = places.shape[1]
        at = places[chosen].ravel()
        sums = [np.bincount(at, np.repeat(one[chosen], columns), columns * width) for one in self.amounts]
        return np.stack(sums).reshape(3, columns, width)

    def _worth(self, histograms: np.ndarray, limits: np.ndarray | None) -> np.ndarray:
        given = self.grower.n_bins[self.numeric], self.grower.rules, self.grid
        if limits is None:
            return worth(histograms, *given)
        ways = np.asarray(self.grower.directions)[self.numeric]
        every = worth(histograms, *given, Fence(limits[0], limits[1]))
        for way in (-1, 1):
            if (ways == way).any():
                every[ways == way] = worth(histograms, *given, Fence(limits[0], limits[1], way))[ways == way]
        return every

    def value(self, chosen: np.ndarray) -> float:
        """Give how far the rows of a node would go."""
        slope, width = pull_of(self.amounts[:, chosen].sum(axis=1), self.grower.rules, self.grid)
        return float(-slope / width)

    def best_question(
        self, node: int, chosen: np.ndarray, limits: np.ndarray | None
    ) -> tuple[float, int, int, np.ndarray]:
        """Give what the best question of a node is worth, its column and bin, and which codes go left."""
        grower, nothing = self.grower, (0.0, -1, -1, np.zeros(256, dtype=np.uint8))
        histograms = self._histograms(self.places, self.width, chosen)
        every = self._worth(histograms, limits)
        every[self.allowed[node, self.numeric] == 0] = -np.inf
        found = nothing
        if every.size and (gain := float(every.max())) > 0:
            column, turn, cut = (int(one) for one in np.unravel_index(int(every.argmax()), every.shape))
            mass = histograms[1, column]
            side = turn == 1 if grower.has_missing[self.numeric[column]] else 2 * mass[: cut + 1].sum() > mass.sum()
            goes = np.append(np.arange(255) <= cut, side).astype(np.uint8)
            found = gain, int(self.numeric[column]), cut, goes
        if not len(self.levels):
            return found
        histograms = self._histograms(self.level_places, 256, chosen)
        fence = None if limits is None else Fence(*limits)
        every, order = worth_of_levels(histograms, self.least, grower.rules, self.grid, fence)
        every[self.allowed[node, self.levels] == 0] = -np.inf
        column, cut = (int(one) for one in np.unravel_index(int(every.argmax()), every.shape))
        gain, asked = float(every[column, cut]), int(self.levels[column])
        if gain > found[0] or (gain == found[0] and asked < found[1]):
            goes = set_of(order[column], cut, histograms[:, column], self.least).astype(np.uint8)
            found = gain, asked, cut, goes
        return found


def _grow_few(
    grower: Grower,
    slope: np.ndarray,
    curvature: np.ndarray,
    grid: Grid,
    rows: np.ndarray,
    allowed: np.ndarray,
    leaf: np.ndarray,
) -> Grown:
    """Grow the tree of few rows by NumPy."""
    rules, amounts = grower.rules, grid.amounts(slope, curvature, grower.weight)
    table, weights = _SmallTable(grower, amounts, rows, grid, allowed), amounts[2]
    parts, found, depth, questions, gains = [rows], [], [0], [[-1, -1, -1, -1]], [0.0]
    leaves, nothing = [0], (0.0, -1, -1, np.zeros(256, dtype=np.uint8))
    ways, limits = grower.directions, [(-math.inf, math.inf)]

    def best_question(node: int) -> tuple[float, int, int, np.ndarray]:
        chosen = parts[node]
        is_last = depth[node] >= rules.depth or weights[chosen].sum() < 2 * rules.weight
        return (
            nothing if is_last else table.best_question(node, chosen, None if ways is None else np.array(limits[node]))
        )

    found.append(best_question(0))
    while len(leaves) < rules.leaves:
        node = max(leaves, key=lambda one: found[one][0])
        gain, column, cut, side = found[node]
        if not gain > 0:
            break
        chosen = parts[node]
        goes = side[grower.codes[chosen, column]] == 1
        questions[node], gains[node] = [column, cut, int(side[255]), len(parts)], gain
        parts += [chosen[goes], chosen[~goes]]
        leaves[leaves.index(node)] = len(parts) - 2
        leaves.append(len(parts) - 1)
        if ways is not None:
            values = table.value(parts[-2]), table.value(parts[-1])
            limits += handed_down(np.array(limits[node]), values[0], values[1], int(ways[column]))
        for _ in range(2):
            depth.append(depth[node] + 1)
            questions.append([-1, -1, -1, -1])
            gains.append(0.0)
        found += (
            [best_question(len(parts) - 2), best_question(len(parts) - 1)]
            if len(leaves) < rules.leaves
            else [nothing] * 2
        )
    for node in leaves:
        leaf[parts[node]] = node
    heavy, own = weights[rows], leaf[rows]
    described = heavy * slope[rows], heavy * curvature[rows], heavy, np.ones(len(rows))
    # Row after row, as the loops add them up.
    sums = np.stack([np.bincount(own, one, len(parts)) for one in described], axis=1)
    sides = np.stack([one[3] for one in found])
    return Grown(np.array(questions), sides, np.array(gains), sums, leaf, None if ways is None else np.array(limits))
