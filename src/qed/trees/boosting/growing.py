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
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from qed.base.threads.team import Team
from qed.trees.bins import Bins
from qed.trees.boosting.kernel import LEAST_SHARE, grow_together

# Values below which a tree is grown by NumPy, and curvature that a leaf must have.
FEW, LEAST_CURVATURE = 1 << 12, 1e-3


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
        rounding = 0.5 * (total if is_whole else rows) + 1.0
        return cls(_power(2.0**31 - 1 - rounding, slopes), _power(2.0**32 - 1 - rounding, curvatures), is_whole)

    def whole(self, amounts: np.ndarray, unit: float, weight: np.ndarray) -> np.ndarray:
        """Bring slopes or curvatures, times their weights, to the grid."""
        if not len(weight):
            return np.asarray(np.rint(amounts * unit))
        return np.asarray(weight * np.rint(amounts * unit) if self.is_whole else np.rint(weight * amounts * unit))


def _power(room: float, total: float) -> float:
    """Give the largest power of two that a sum times it does not exceed a bound."""
    # Less a rounding of the sum itself, which is of positive numbers.
    return math.ldexp(1.0, min(math.frexp(room / (total * (1 + 1e-9)))[1] - 1, 1000)) if total > 0 else 1.0


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree as it was grown: nodes in the order in which they came, the children of a node side by side."""

    questions: np.ndarray  # (nodes, 4): column or -1, bin, whether missing values go left, the left child
    gains: np.ndarray  # what each question is worth
    sums: np.ndarray  # (nodes, 4): slopes, curvatures, weight and rows of the leaves
    leaf: np.ndarray  # the leaf of each row that was used

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

    def __init__(self, codes: np.ndarray, bins: Bins, weight: np.ndarray, rules: Rules) -> None:
        self.codes, self.weight, self.rules = codes, weight, rules
        self.n_bins = bins.counts
        self.has_missing = (codes == 255).any(axis=0)
        n, p = codes.shape
        self.is_few = n * p <= FEW
        if not self.is_few:
            self._rows, self._spare = np.empty(n, dtype=np.int32), np.empty((2, n + 1), dtype=np.int32)
            self._packed = np.empty(n, dtype=np.int64)
            width = -(-p // 8) * 8
            padded = np.zeros((n, width), dtype=np.uint8)
            padded[:, :p] = codes
            self._words, self._columns = padded.view(np.uint64), np.ascontiguousarray(codes.T)
            self._histograms = np.empty((rules.leaves, width << 8), dtype=np.int64)
            self._own = np.empty((0, width << 8), dtype=np.int64)

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
            chosen = np.arange(len(self.codes)) if rows is None else rows
            return _grow_few(self, slope, curvature, grid, chosen, allowed, leaf)
        nodes, members = 2 * self.rules.leaves - 1, max(crew.members, 1)
        if len(self._own) < members:
            self._own = np.empty((members, self._own.shape[1]), dtype=np.int64)
        best, bounds, counts = np.zeros((members, nodes, 6)), np.zeros((members, 8)), np.zeros((members, 256))
        shared, states = np.zeros((members, 8), dtype=np.int64), np.zeros((members, 7, nodes), dtype=np.int64)
        questions, gains, sums = np.full((nodes, 4), -1), np.zeros(nodes), np.zeros((nodes, 4))
        used = self._rows[: len(self._rows if rows is None else rows)]
        used[:] = np.arange(len(used)) if rows is None else rows
        crew.together(
            *(grow_together, self._words, self._columns, self.n_bins, self.has_missing),
            *(slope, curvature, self.weight, grid.is_whole),
            *(np.array(grid[:2]), *self.rules, allowed, used, self._spare, self._packed, self._own, self._histograms),
            *(states, counts, best, shared, bounds, questions, gains, sums, leaf),
        )
        count = int(shared[0, 0])
        return Grown(questions[:count], gains[:count], sums[:count], leaf)


def worth(histograms: np.ndarray, n_bins: np.ndarray, rules: Rules, grid: Grid) -> np.ndarray:
    """Give what every question is worth, from histograms (3, ..., bins + 1) of slopes, curvatures and weights on the grid.

    The last bin is that of missing values. The answer has the axes (..., sides, bins): missing values on the right and, where there are
    any, on the left; and the bin up to which rows go left. Minus infinity stands for questions that can not be asked.
    """
    lost, whole = histograms[..., None, -1:], histograms.sum(axis=-1)[..., None, None]
    left, n_bins = np.cumsum(histograms[..., None, :-1], axis=-1), n_bins[..., None, None]
    some = (lost[:2] != 0).any(axis=0)
    last = n_bins - ~some
    if some.any():
        left = np.concatenate([left, left + lost], axis=-2)
        last = np.concatenate([last, np.where(some, n_bins - 1, 0)], axis=-2)
    right = whole - left
    fits = (np.arange(left.shape[-1]) < last) & (np.minimum(left[2], right[2]) >= rules.weight)
    fits &= np.minimum(left[1], right[1]) >= rules.curvature * grid.curvature
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        score = score_of(left, rules, grid) + score_of(right, rules, grid)
        gain = score - score_of(whole, rules, grid)
        return np.where(fits & (gain > LEAST_SHARE * score), gain, -np.inf)


def score_of(sums: np.ndarray, rules: Rules, grid: Grid) -> np.ndarray:
    """Give the square of the slopes over the curvature, of sums (at least 2, ...) on the grid."""
    slope = sums[0] / grid.slope
    return np.asarray(slope * slope / (sums[1] / grid.curvature + rules.penalty))


def _grow_few(
    grower: Grower,
    slope: np.ndarray,
    curvature: np.ndarray,
    grid: Grid,
    rows: np.ndarray,
    allowed: np.ndarray,
    leaf: np.ndarray,
) -> Grown:
    """Grow the tree of few rows without a compiled loop; the answer is the same."""
    rules, codes, (_, p) = grower.rules, grower.codes, grower.codes.shape
    width = int(grower.n_bins.max()) + 1
    # Missing values behind the last bin.
    places = np.minimum(codes, width - 1) + width * np.arange(p)
    weights = grower.weight if len(grower.weight) else np.ones(len(codes))
    amounts = np.stack(
        [
            grid.whole(slope, grid.slope, grower.weight),
            grid.whole(curvature, grid.curvature, grower.weight),
            weights,
        ]
    )
    parts, found, depth, questions, gains = [rows], [], [0], [[-1, -1, -1, -1]], [0.0]
    leaves = [0]

    def look(node: int) -> tuple[float, int, int, int, float]:
        chosen = parts[node]
        if depth[node] >= rules.depth or amounts[2, chosen].sum() < 2 * rules.weight:
            return 0.0, -1, -1, -1, 0.0
        at = places[chosen].ravel()
        histograms = np.stack([np.bincount(at, np.repeat(one[chosen], p), p * width) for one in amounts]).reshape(
            3, p, width
        )
        every = worth(histograms, grower.n_bins, rules, grid)
        every[~allowed[node].astype(bool)] = -np.inf
        best = int(every.argmax())
        column, turn, cut = np.unravel_index(best, every.shape)
        breadth = histograms[1, column, : cut + 1].sum()
        side = turn == 1 if grower.has_missing[column] else 2 * breadth > histograms[1, column].sum()
        return float(every.flat[best]), int(column), int(cut), int(side), float(breadth)

    found.append(look(0))
    while len(leaves) < rules.leaves:
        node = max(leaves, key=lambda one: found[one][0])
        gain, column, cut, side, _ = found[node]
        if not gain > 0:
            break
        chosen, code = parts[node], codes[parts[node], column]
        goes = (code <= cut) | ((code == 255) & bool(side))
        questions[node], gains[node] = [column, cut, side, len(parts)], gain
        parts += [chosen[goes], chosen[~goes]]
        leaves[leaves.index(node)] = len(parts) - 2
        leaves.append(len(parts) - 1)
        for _ in range(2):
            depth.append(depth[node] + 1)
            questions.append([-1, -1, -1, -1])
            gains.append(0.0)
        found += [look(len(parts) - 2), look(len(parts) - 1)] if len(leaves) < rules.leaves else [found[0]] * 2
    for node in leaves:
        leaf[parts[node]] = node
    heavy, own = weights[rows], leaf[rows]
    described = heavy * slope[rows], heavy * curvature[rows], heavy, np.ones(len(rows))
    # Row after row, as the loops add them up.
    sums = np.stack([np.bincount(own, one, len(parts)) for one in described], axis=1)
    return Grown(np.array(questions), np.array(gains), sums, leaf)
