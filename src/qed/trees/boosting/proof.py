"""The proof of boosting: its rounds are gone through again, from the data and the trees alone.

Before each round the losses are measured at the scores of the trees before it. Then every leaf must have gone as far as its rows say; no
question may be better than the one asked, nor any leaf worth more than a node that was split in its place; thresholds are edges of bins,
sets of categories hold what they must; and nodes have the rows that come to them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS
from qed.base.threads.team import Team, team
from qed.trees.bins import MISSING
from qed.trees.boosting.forest import Forest
from qed.trees.boosting.growing import Grid, Rules, level_share, pull_of, worth, worth_of_levels
from qed.trees.boosting.losses.line import Line
from qed.trees.boosting.losses.measuring import PART, Measured, Table, mean_loss, measure
from qed.trees.boosting.losses.objectives import quantiles
from qed.trees.boosting.monotone import Fence, bounded, limits_of, loose_by, mean_values
from qed.trees.boosting.problem import BoostingProblem, Coded
from qed.trees.boosting.rounds import HALVINGS, ROUNDING, grid_of, scores_of
from qed.trees.nodes import Nodes
from qed.trees.problem import features_tried

# The share of their sizes by which two values clearly differ, and the least number there is above zero.
CLEAR, LEAST = 1e-9, 2.0**-1074
# Rows whose places are held at a time, so that they stay near.
NEAR = 1 << 16


@dataclass
class Checked:
    """What was found wrong in the rounds that were looked at."""

    baseline: np.ndarray
    rounds: int = 0  # rounds that were looked at
    of: int = 0  # and all there are
    whole: bool = True  # whether each round learns from all rows
    all_columns: bool = True  # whether each node looks at all columns
    losses: list[float] = field(default_factory=list)  # the mean loss before each round, and after the last
    aside: list[float] = field(default_factory=list)  # that of rows kept aside
    displaced: int = 0  # thresholds that are no edges or leave a side too light, missing values sent the wrong way, leaves with either
    miscounted: int = 0  # nodes with other rows, weights or gains
    astray: float = 0.0  # the most by which the value of a leaf differs, in units of what rounding can do
    worse: float = 0.0  # the most by which another question, or another leaf, is better, likewise
    longer: int = 0  # rounds whose values might have been halved less often
    missed: int | None = None  # rounds that go otherwise, where the way to the least loss is searched for

    def claims(self, train_score: np.ndarray) -> list[Claim]:
        where = "" if self.rounds == self.of else f" ({self.rounds} of {self.of} rounds)"
        claims = [
            Claim(f"nodes with other rows, weights or gains than theirs{where}", float(self.miscounted), 0.0),
            Claim(f"questions that the bins and the rules do not allow{where}", float(self.displaced), 0.0),
            Claim(f"leaves go as far as their rows say (difference, in units of rounding){where}", self.astray, 1.0),
            Claim(f"rounds that were halved without need{where}", float(self.longer), 0.0),
        ]
        if self.missed is not None:
            says = f"rounds whose way does not end where the loss is least along their trees, times the rate{where}"
            claims.append(Claim(says, float(self.missed), 0.0))
        if self.all_columns:
            says = f"a question is better than the one asked (excess, in units of rounding){where}"
            claims.append(Claim(says, self.worse, 1.0))
        if self.whole:
            with np.errstate(invalid="ignore"):
                rise = np.diff(train_score) / np.maximum(np.abs(train_score[:-1]), np.finfo(float).tiny)
            # Where it overflowed, it is no number and nothing is known.
            most = float(np.nan_to_num(rise, nan=math.inf).max(initial=0.0))
            claims.append(Claim("the training loss never rises (largest rise, relative)", max(most, 0.0), 4 * ROUNDING))
        return claims


def check_rounds(forest: Forest, problem: BoostingProblem, seed: int, rate: float, budget: int | None) -> Checked:
    """Go through all rounds again, or through as many as a `budget` of numbers to look at allows, but through the first."""
    objective = problem.objective
    train, aside = problem.divided(seed)
    outputs, p = objective.outputs, problem.rows.n_features
    of = forest.n_trees // outputs
    rounds = of if budget is None else min(of, max(1, budget // (len(train) * p * outputs)))
    found = Checked(objective.baseline(train.y, train.weights), rounds, of, problem.model.subsample >= 1)
    found.missed = 0 if problem.model.line_search else None
    found.all_columns = features_tried(problem.model.max_features, p) >= p
    coded = problem.coded(train, aside)
    check = _Check(found, problem, train, coded, rate)
    scores = scores_of(problem, coded.coding, coded.train, found.baseline, None)
    others = scores_of(problem, coded.coding, coded.aside, found.baseline, None)
    with team(None if len(train) > PART else 1) as crew:
        for number in range(rounds + 1):
            measured = measure(objective, train, scores, crew)
            found.losses.append(measured.loss / train.total)
            if aside is not None:
                found.aside.append(mean_loss(objective, aside, others))
            if number == rounds:
                break
            trees = range(number * outputs, (number + 1) * outputs)
            following = scores_of(problem, coded.coding, coded.train, scores, forest, trees)
            check.at_round(forest, trees, measured, scores, following, problem.drawn(seed, number, len(train)), crew)
            scores = following
            if aside is not None:
                others = scores_of(problem, coded.coding, coded.aside, others, forest, trees)
    return found


class _Bounds(NamedTuple):
    """Between what values nodes had to stay, how far that may be off, and how far the values of nodes themselves; of shape (2, nodes)."""

    limits: np.ndarray
    loose: np.ndarray
    unit: np.ndarray

    def some(self, chosen: np.ndarray) -> _Bounds:
        """Give those of some nodes."""
        return _Bounds(self.limits[:, chosen], self.loose[:, chosen], self.unit[chosen])

    def fence(self, axes: int, direction: int) -> Fence:
        """Give what questions are held to, with some axes behind that of the nodes."""
        low, high = self.limits.reshape(2, -1, *[1] * axes)
        # Whether sides that hardly differ stand in order, rounding decides.
        return Fence(low, high, direction, CLEAR)


class _Check:
    """What all rounds are looked at with."""

    def __init__(self, found: Checked, problem: BoostingProblem, train: Table, coded: Coded, rate: float) -> None:
        self.found, self.problem, self.train, self.rate = found, problem, train, rate
        self.coding, self.codes = coded.coding, coded.train
        self.rules: Rules = problem.rules(train)
        self.directions = problem.directions
        near = (self.codes[start : start + NEAR] for start in range(0, len(self.codes), NEAR))
        self.has_missing = np.any([(one == MISSING).any(axis=0) for one in near], axis=0)

    def at_round(
        self,
        forest: Forest,
        trees: range,
        measured: Measured,
        scores: np.ndarray,
        following: np.ndarray,
        drawn: np.ndarray | None,
        crew: Team,
    ) -> None:
        """Look at the trees of one round."""
        objective, train = self.problem.objective, self.train
        if drawn is not None:
            measured = measure(objective, train, scores, crew, drawn)
        values: list[tuple[np.ndarray, ...]] = []
        for output, number in enumerate(trees):
            nodes, here = forest.tree(number), slice(forest.starts[number], forest.starts[number + 1])
            # All rows are looked at where they are: copies of very many would be most of the memory.
            rows = slice(None) if drawn is None else drawn
            codes = self.codes[rows]
            leaf = self.coding.leaves(forest, number, codes)
            slope, curvature = measured.slope[output, rows], measured.curvature[output, rows]
            weight = train.weight[rows] if len(train.weight) else train.weight
            grid = grid_of(measured, output, train, drawn)
            amounts = grid.amounts(slope, curvature, weight).T
            sums = nodes.sums(leaf, amounts).T
            by_level = forest.level_set[here] >= 0
            self._places(nodes, sums, by_level)
            least = level_share(weight, len(leaf)) * float(sums[1, 0])
            sides, bounds = self.coding.sides(forest, here), self._bounds(nodes, sums, grid)
            self._questions(nodes, leaf, codes, amounts, sums, grid, forest.gain[here], sides, least, bounds)
            values.append(self._counts_and_values(nodes, leaf, rows, slope, curvature, sums[2], scores[output], bounds))
        searched = self.problem.model.line_search
        line = Line(objective, train, scores, following - scores, crew, drawn) if searched else None
        if self._values(line, *(np.concatenate(parts) for parts in zip(*values))):
            self._shorter(measured, scores, following, crew)

    def _bounds(self, nodes: Nodes, sums: np.ndarray, grid: Grid) -> _Bounds | None:
        """Hand the bounds of values down again; None where all columns are free."""
        if self.directions is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            slope, width = pull_of(sums, self.rules, grid)
            value = -slope / width
            # Whoever measures the losses otherwise in the last digit moves a row or two by one unit of the grid.
            unit = 8 * (1 / grid.slope + np.abs(value) / grid.curvature) / width
        limits, by = limits_of(*_tree(nodes), self.directions, value)
        return _Bounds(limits.T, loose_by(by, nodes.children_right, unit).T, unit)

    def _places(self, nodes: Nodes, sums: np.ndarray, by_level: np.ndarray) -> None:
        """Compare thresholds with edges, and where missing values are sent to with the rule; categories alone have sets."""
        asking = np.flatnonzero(~nodes.is_leaf & ~by_level)
        column, threshold, side = nodes.feature[asking], nodes.threshold[asking], nodes.missing_go_to_left[asking]
        edges = self.coding.bins.edges[column]
        cut = (edges < threshold[:, None]).sum(axis=1)
        there = np.take_along_axis(edges, np.minimum(cut, 254)[:, None], axis=1)[:, 0] == threshold
        wrong = ~there | (cut >= self.coding.counts[column])
        majority = 2 * sums[1, asking + 1] > sums[1, asking]
        wrong |= ~self.has_missing[column] & (side != majority)
        other = self.coding.is_categorical[nodes.feature] != by_level
        other[nodes.is_leaf] = nodes.missing_go_to_left[nodes.is_leaf]
        said = (nodes.is_leaf | by_level) & (nodes.threshold != 0)
        self.found.displaced += int(wrong.sum()) + int(said.sum()) + int(other.sum())

    def _counts_and_values(
        self,
        nodes: Nodes,
        leaf: np.ndarray,
        rows: slice | np.ndarray,
        slope: np.ndarray,
        curvature: np.ndarray,
        weight: np.ndarray,
        scores: np.ndarray,
        bounds: _Bounds | None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compare rows and weights; give the values of the leaves, those that are wanted, and what rounding may do to these."""
        found, count, heavy = self.found, nodes.node_count, self.train.weights[rows]
        wrong = nodes.sums(leaf, np.ones(len(leaf))) != nodes.n_node_samples
        wrong |= np.abs(nodes.weighted_n_node_samples - weight) > 1e-12 * weight[0]
        found.miscounted += int(wrong.sum()) + int((nodes.value[~nodes.is_leaf] != 0).sum())
        objective = self.problem.objective
        if objective.level is None:
            down, bend = np.bincount(leaf, heavy * slope, count), np.bincount(leaf, heavy * curvature, count)
            size = np.bincount(leaf, heavy * np.abs(slope), count)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                wanted = np.where(bend + self.rules.penalty > 0, -down / (bend + self.rules.penalty), 0.0)
                slack = size / (bend + self.rules.penalty)
        else:
            wanted = quantiles(self.train.y[rows] - scores[rows], heavy, leaf, count, objective.level)
            slack = np.abs(self.train.y).max() + np.abs(scores).max()
        leaves, bent = nodes.is_leaf, np.zeros(count)
        if bounds is not None:
            free, limits = np.where(np.isfinite(wanted), wanted, 0.0), bounds.limits
            if objective.level is not None:
                means = mean_values(*_tree(nodes), free, weight)
                limits = limits_of(*_tree(nodes), np.asarray(self.directions), means)[0].T
            wanted = np.clip(free, *limits)
            # Bounds of quantiles are means of them, of as many as there are rows.
            loose = bounds.loose.max(axis=0) if objective.level is None else len(leaf) * EPS * slack
            bent = np.where(wanted != free, loose, 0.0)
        wanted = np.where(np.isfinite(wanted), self.rate * wanted, 0.0)[leaves]
        own = nodes.value[leaves, 0] / self.problem.size
        # Sums of m numbers are known to m roundings of their sizes, the slopes themselves to a few.
        m = nodes.n_node_samples[leaves] + 32.0
        slack = self.rate * (m * EPS * np.broadcast_to(slack, count)[leaves] + bent[leaves])
        # What is kept in the units of the target is a multiple of the least number there is, the baseline and all values before it, too.
        slack = slack + (len(self.found.losses) + 2) * LEAST / self.problem.size
        return own, wanted, slack

    def _values(self, line: Line | None, own: np.ndarray, wanted: np.ndarray, slack: np.ndarray) -> bool:
        """Compare the values of the leaves of a round with those wanted, all times one factor; say whether they were halved."""
        found, factor, clear = self.found, 1.0, np.nan_to_num(np.abs(wanted) - 2 * slack, nan=-math.inf)
        halved, known = 0, clear > 0
        if known.any():
            clearest = int(clear.argmax())
            with np.errstate(divide="ignore", over="ignore"):
                factor = float(own[clearest] / wanted[clearest])
            if line is not None and factor > 0 and math.isfinite(factor):
                halved = self._halved(line, factor)
                slack = max(factor, 1.0) * (slack + np.abs(wanted) * slack[clearest] / np.abs(wanted[clearest]))
            else:
                halved = _halvings(factor)
                factor = math.ldexp(1.0, -halved)
        # Where all that is wanted is rounding, so are the values, of either sign.
        apart = np.where(known, np.abs(own - factor * wanted), np.abs(own) / 4)
        with np.errstate(divide="ignore", invalid="ignore"):
            found.astray = max(found.astray, float(np.where(apart == 0, 0.0, apart / slack).max()))
        return halved > 0

    def _halved(self, line: Line, factor: float) -> int:
        """Say how often the way to the least loss was halved; count a round that went neither that way nor such a part of it."""
        trial = 1.0 / (self.rate * factor)
        for halved in range(HALVINGS if self.rate > 1 else 1):
            if line.is_best(math.ldexp(1.0, halved) / self.rate, trial):
                return halved
        self.found.missed = (self.found.missed or 0) + 1
        return 0

    def _questions(
        self,
        nodes: Nodes,
        leaf: np.ndarray,
        codes: np.ndarray,
        amounts: np.ndarray,
        sums: np.ndarray,
        grid: Grid,
        gain: np.ndarray,
        sides: np.ndarray,
        least: float,
        bounds: _Bounds | None,
    ) -> None:
        """Ask all questions of all nodes again, and compare the best with those asked, and with what was left unasked."""
        found, rules, asking = self.found, self.rules, ~nodes.is_leaf
        best = np.full(nodes.node_count, -np.inf)
        for column, n_bins in enumerate(self.coding.counts):
            levels = self.coding.is_categorical[column]
            width = 256 if levels else int(n_bins) + 1
            histograms = _histograms(leaf, codes[:, column], width, amounts, nodes.node_count)
            for level in reversed(nodes.levels):
                above = level[asking[level]]
                histograms[:, above] = histograms[:, above + 1] + histograms[:, nodes.children_right[above]]
            if levels:
                fence = None if bounds is None else bounds.fence(1, 0)
                every = worth_of_levels(histograms, least, rules, grid, fence)[0]
                own = nodes.feature == column
                self._sets(sides[own], histograms[1, own], self.coding.known[column], least)
            else:
                fence = None if bounds is None else bounds.fence(2, int(np.asarray(self.directions)[column]))
                every = worth(histograms, np.broadcast_to(n_bins, nodes.node_count), rules, grid, fence).max(axis=2)
            best = np.maximum(best, every.max(axis=1))
        ask = np.flatnonzero(asking)
        left, right = sums[:, ask + 1], sums[:, nodes.children_right[ask]]
        with np.errstate(divide="ignore", invalid="ignore"):
            own, slack = self._own(nodes, ask, (left, right, sums[:, ask]), grid, bounds)
            found.miscounted += int((~(np.abs(gain[ask] - own) <= slack)).sum()) + int((gain[~asking] != 0).sum())
            excess = np.nan_to_num((best[ask] - own) / slack, nan=math.inf)
        found.worse = max(found.worse, float(excess.max(initial=0.0)))
        light = np.minimum(left[2], right[2]) < rules.weight
        light |= np.minimum(left[1], right[1]) / grid.curvature < rules.curvature
        found.displaced += int(light.sum()) + int(nodes.n_leaves > rules.leaves) + int(nodes.max_depth > rules.depth)
        self._order(nodes, np.where(asking, 0.0, best), dict(zip(ask.tolist(), zip(own, slack))))

    def _own(
        self, nodes: Nodes, ask: np.ndarray, parts: tuple[np.ndarray, ...], grid: Grid, bounds: _Bounds | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give what the questions asked are worth, from the sums of both sides and of all, and what rounding may do to that."""
        here = None if bounds is None else bounds.some(ask)
        fence = Fence(np.array(-np.inf), np.array(np.inf)) if here is None else Fence(*here.limits)
        pulls = [pull_of(one, self.rules, grid) for one in parts]
        values, scores, sizes = zip(*(bounded(*pull, fence) for pull in pulls))
        # Whoever measures the losses otherwise in the last digit moves a row or two by one unit of the grid.
        slack = (
            64 * EPS * np.maximum(sizes[0] + sizes[1], sizes[2])
            + 8 * (np.abs(values[0]) + np.abs(values[1])) / grid.slope
        )
        if bounds is not None and here is not None:
            slack += (
                4
                * sum(np.abs(slope + width * value) for (slope, width), value in zip(pulls, values))
                * here.loose.max(axis=0)
            )
            apart = np.asarray(self.directions)[nodes.feature[ask]] * (values[0] - values[1])
            near = CLEAR * (np.abs(values[0]) + np.abs(values[1])) + here.loose.max(axis=0)
            near += bounds.unit[ask + 1] + bounds.unit[nodes.children_right[ask]]
            self.found.displaced += int((apart > near).sum())
        return scores[0] + scores[1] - scores[2], slack

    def _sets(self, goes: np.ndarray, mass: np.ndarray, known: np.ndarray, least: float) -> None:
        """See that rare categories go one way, those without rows with them or the larger side, unknown ones with missing values."""
        rare = (mass < least) & np.append(known[:-1], True)
        heavy = (mass * rare).sum(axis=1)
        larger = 2 * (mass * goes).sum(axis=1) > mass.sum(axis=1)
        with_rows = (goes & rare & (mass > 0)).any(axis=1)
        one_way = np.where(heavy > 0, with_rows, larger)
        wrong = (rare & (goes != one_way[:, None])).any(axis=1)
        wrong |= ((goes != goes[:, -1:]) & ~known)[:, :-1].any(axis=1)
        self.found.displaced += int(wrong.sum())

    def _order(self, nodes: Nodes, left_open: np.ndarray, asked: dict[int, tuple[float, float]]) -> None:
        """Split the nodes again, the best first: none that stayed a leaf may be worth more than one that was split while it was open."""
        found, depth = self.found, np.zeros(nodes.node_count, dtype=np.intp)
        for level, numbers in enumerate(nodes.levels):
            depth[numbers] = level
        worth_of = np.where((depth < self.rules.depth) & nodes.is_leaf, left_open, -np.inf)
        open_ = {0}
        least = max((slack for _, slack in asked.values()), default=np.finfo(float).tiny)
        while waiting := [node for node in open_ if node in asked]:
            node = max(waiting, key=lambda one: asked[one][0])
            gain, slack = asked[node]
            other = max((float(worth_of[one]) for one in open_ if one not in asked), default=-math.inf)
            found.worse = max(found.worse, (other - gain) / slack)
            open_ ^= {node, node + 1, int(nodes.children_right[node])}
        if nodes.n_leaves < self.rules.leaves:
            rest = max(float(worth_of[one]) for one in open_)
            found.worse = max(found.worse, rest / least if rest > 0 else 0.0)

    def _shorter(self, measured: Measured, scores: np.ndarray, following: np.ndarray, crew: Team) -> None:
        """See that a round that was halved half as often would have raised the loss."""
        twice = scores + 2 * (following - scores)
        loss = measure(self.problem.objective, self.train, twice, crew).loss
        self.found.longer += int(loss <= measured.loss * (1 + ROUNDING) * (1 - 1e-12))


def _tree(nodes: Nodes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the columns that nodes ask about, and their children."""
    return nodes.feature, np.arange(nodes.node_count) + 1, nodes.children_right


def _histograms(leaf: np.ndarray, codes: np.ndarray, width: int, amounts: np.ndarray, count: int) -> np.ndarray:
    """Add up the amounts (n, 3) of rows by their leaf and code; whole numbers, so that some rows may be taken after others."""
    flat = np.zeros((3, count * width))
    for start in range(0, len(leaf), NEAR):
        here = slice(start, start + NEAR)
        place = leaf[here].astype(np.intp) * width + np.minimum(codes[here], width - 1)
        for own, one in zip(flat, amounts.T):
            own += np.bincount(place, one[here], len(own))
    return flat.reshape(3, count, width)


def _halvings(factor: float) -> int:
    """Say how often values must have been halved that are so many times what was wanted."""
    return int(np.clip(np.rint(-np.log2(factor)), 0, HALVINGS)) if factor > 0 and math.isfinite(factor) else 0
