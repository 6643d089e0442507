"""The rounds of boosting: measure the losses, grow a tree for each output, go as far as the loss allows.

The scores of a resumed fit are those of its trees, added in the same order: it goes on bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.numbers import EPS
from qed.base.threads.team import Team, team
from qed.trees.boosting.coding import Coding
from qed.trees.boosting.forest import Forest, Growing
from qed.trees.boosting.growing import Grid, Grower, Grown
from qed.trees.boosting.losses.line import Line
from qed.trees.boosting.losses.measuring import Measured, Table, mean_loss, measure
from qed.trees.boosting.losses.objectives import quantiles
from qed.trees.boosting.monotone import limits_of, mean_values
from qed.trees.boosting.problem import BoostingProblem
from qed.trees.nodes import LEAF

# What rounding may raise a sum of losses by, and how often a step is halved.
ROUNDING, HALVINGS = 64 * EPS, 60


def grid_of(measured: Measured, output: int, table: Table, drawn: np.ndarray | None) -> Grid:
    """Give the grid of one tree."""
    weight = table.weight if drawn is None or not len(table.weight) else table.weight[drawn]
    slopes, curvatures = measured.sizes[output]
    return Grid.of(slopes, curvatures, weight, len(table) if drawn is None else len(drawn))


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree as columns of a forest and its sets of categories, and the values of its nodes as they were numbered while it grew."""

    nodes: list[np.ndarray]
    sets: np.ndarray
    value: np.ndarray

    def stretch(self, by: float) -> None:
        """Go so many times as far."""
        self.value[:] *= by
        self.nodes[4][:] *= by


class Rounds:
    """What one round hands to the next."""

    def __init__(self, problem: BoostingProblem, seed: int, rate: float, forest: Forest | None = None) -> None:
        self.problem, self.seed, self.rate = problem, seed, rate
        self.objective = problem.objective
        self.train, self.aside = problem.divided(seed)
        self.rules = problem.rules(self.train)
        self.coded = problem.coded(self.train, self.aside)
        self.coding = self.coded.coding
        self.grower = Grower(self.coded.train, self.coding, self.train.weight, self.rules, problem.directions)
        self.baseline = self.objective.baseline(self.train.y, self.train.weights)
        self.growing = Growing(forest)
        self.number = 0 if forest is None else forest.n_trees // self.objective.outputs
        self.scores, self.aside_scores = (
            scores_of(problem, self.coding, codes, self.baseline, forest)
            for codes in (self.coded.train, self.coded.aside)
        )
        self.leaf, self._moved = np.zeros(self.scores.shape, dtype=np.int32), np.empty_like(self.scores)
        with self._crew() as crew:
            self.measured = measure(self.objective, self.train, self.scores, crew)

    def _crew(self) -> Team:
        return team(1 if self.grower.is_for_one or self.grower.is_few else None)

    @property
    def train_loss(self) -> float:
        """The mean loss of the rows that are learned from."""
        return self.measured.loss / self.train.total

    @property
    def aside_loss(self) -> float:
        """The mean loss of the rows kept aside."""
        assert self.aside is not None
        return mean_loss(self.objective, self.aside, self.aside_scores)

    def advance(self) -> None:
        """Grow the trees of one round, and go along them."""
        drawn = self.problem.drawn(self.seed, self.number, len(self.train))
        with self._crew() as crew:
            if drawn is not None:
                self.measured = measure(self.objective, self.train, self.scores, crew, drawn, self.measured)
            trees = []
            allowed = self.problem.allowed(self.seed, self.number, 2 * self.rules.leaves - 1)
            for output, columns in enumerate(allowed):
                grid = grid_of(self.measured, output, self.train, drawn)
                slope, curvature = self.measured.slope[output], self.measured.curvature[output]
                grown = self.grower.grow(crew, slope, curvature, grid, drawn, columns, self.leaf[output])
                trees.append(self._tree(grown, output, drawn))
            if self.problem.model.line_search:
                self._search(crew, trees, drawn)
            self._go(crew, trees, whole=drawn is None)
        for tree in trees:
            self.growing.append(tree.nodes, tree.sets)
        if self.aside is not None:
            first = self.number * self.objective.outputs
            last = range(first, first + self.objective.outputs)
            forest, before = self.growing.forest, self.aside_scores
            self.aside_scores = scores_of(self.problem, self.coding, self.coded.aside, before, forest, last)
        self.number += 1

    def _tree(self, grown: Grown, output: int, drawn: np.ndarray | None) -> Tree:
        """Make a tree of what was grown, and tell the rows that were not drawn their leaves."""
        order = grown.in_order()
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        value, leaf = self._values(grown, output, drawn), grown.sums[order, 3] > 0
        column, cut, side, left = grown.questions[order].T
        by_level = ~leaf & self.coding.is_categorical[column]
        plain = ~leaf & ~by_level
        threshold = np.where(plain, self.coding.bins.edges[np.maximum(column, 0), np.where(plain, cut, 0)], 0.0)
        sets = grown.sides[order[by_level]].astype(bool)
        # What was never seen goes where missing values go.
        sets = np.where(self.coding.known[column[by_level]], sets, sets[:, -1:])
        counts = _added_up(grown, order)
        nodes = [
            np.where(leaf, LEAF, column),
            threshold,
            np.where(leaf, LEAF, place[np.where(leaf, 0, left + 1)]),
            side == 1,
            value[order] * self.problem.size,
            grown.gains[order],
            counts[:, 1].astype(np.intp),
            counts[:, 0],
            np.where(by_level, np.cumsum(by_level) - 1, LEAF),
        ]
        if drawn is not None:
            others = np.setdiff1d(np.arange(len(self.train)), drawn, assume_unique=True)
            alone = Forest(*[np.array([0, len(order)]), *nodes, sets])
            self.leaf[output, others] = order[self.coding.leaves(alone, 0, self.coded.train[others])]
        return Tree(nodes, sets, value)

    def _values(self, grown: Grown, output: int, drawn: np.ndarray | None) -> np.ndarray:
        """Give how far each leaf goes: to the minimum of its model of the losses, or to a quantile, times the rate."""
        objective = self.objective
        if objective.level is None:
            bend = grown.sums[:, 1] + self.rules.penalty
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                step = np.where(bend > 0, -grown.sums[:, 0] / bend, 0.0)
        else:
            used = slice(None) if drawn is None else drawn
            away = self.train.y[used] - self.scores[output, used]
            step = quantiles(away, self.train.weights[used], grown.leaf[used], len(grown.sums), objective.level)
        if grown.limits is not None:
            free = np.where(np.isfinite(step), step, 0.0)
            step = np.where(grown.questions[:, 0] < 0, np.clip(free, *self._limits(grown, free).T), 0.0)
        return np.where(np.isfinite(step), self.rate * step, 0.0)

    def _limits(self, grown: Grown, step: np.ndarray) -> np.ndarray:
        """Give the bounds of values, where columns are to be monotone: those of growing, or of the quantiles that leaves go to."""
        if self.objective.level is None or grown.limits is None:
            return np.asarray(grown.limits)
        tree = grown.questions[:, 0], grown.questions[:, 3], grown.questions[:, 3] + 1
        means = mean_values(*tree, step, grown.sums[:, 2])
        return limits_of(*tree, np.asarray(self.grower.directions), means)[0]

    def _search(self, crew: Team, trees: list[Tree], drawn: np.ndarray | None) -> None:
        """Go by the rate of the way to where the loss is least along the trees."""
        direction = np.stack([tree.value[leaf] for tree, leaf in zip(trees, self.leaf)])
        line = Line(self.objective, self.train, self.scores, direction, crew, drawn)
        length = self.rate * line.best(1.0 / self.rate)
        for tree in trees:
            tree.stretch(length)

    def _go(self, crew: Team, trees: list[Tree], *, whole: bool) -> None:
        """Add the values of the trees to the scores; where that would raise the loss of all rows, halve them until it does not."""
        before = self.measured.loss

        def move(here: slice) -> None:
            for k, tree in enumerate(trees):
                np.add(self.scores[k, here], tree.value[self.leaf[k, here]], out=self._moved[k, here])

        for _ in range(HALVINGS):
            self.measured = measure(self.objective, self.train, self._moved, crew, room=self.measured, move=move)
            if not whole or self.measured.loss <= before * (1 + ROUNDING):
                break
            for tree in trees:
                tree.stretch(0.5)
        self.scores, self._moved = self._moved, self.scores


def scores_of(
    problem: BoostingProblem,
    coding: Coding,
    codes: np.ndarray,
    before: Any,
    forest: Forest | None,
    trees: range | None = None,
) -> np.ndarray:
    """Give the scores (outputs, n) of rows after some trees, or all, from a constant or the scores before them."""
    outputs = problem.objective.outputs
    scores = np.empty((outputs, len(codes)))
    scores[:] = np.asarray(before).reshape(outputs, -1)
    if forest is None or not len(codes):
        return scores
    scores *= problem.size
    for tree in range(forest.n_trees) if trees is None else trees:
        leaf = coding.leaves(forest, tree, codes)
        scores[tree % outputs] += forest.value[forest.starts[tree] : forest.starts[tree + 1]][leaf]
    return scores / problem.size


def _added_up(grown: Grown, order: np.ndarray) -> np.ndarray:
    """Give weight and rows of all nodes from those of the leaves, in the order of the walk."""
    counts = grown.sums[:, 2:].copy()
    # Children come after their parents.
    for node in range(len(counts) - 1, -1, -1):
        if grown.questions[node, 0] >= 0:
            left = grown.questions[node, 3]
            counts[node] = counts[left] + counts[left + 1]
    return counts[order]
