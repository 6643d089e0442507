"""The proof of boosting: its rounds are gone through again, from the data and the trees alone.

Before each round the losses are measured at the scores of the trees before it. Then every leaf must have gone as far as its rows say; no
question may be better than the one asked, nor any leaf worth more than a node that was split in its place; thresholds are edges of bins,
sets of categories hold what they must; and nodes have the rows that come to them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS
from qed.base.threads.team import Team, team
from qed.trees.bins import MISSING
from qed.trees.boosting.growing import Grid, Rules, level_share, score_of, worth, worth_of_levels
from qed.trees.boosting.objectives import quantiles
from qed.trees.boosting.problem import BoostingProblem, Coded, Table
from qed.trees.boosting.rounds import HALVINGS, PART, ROUNDING, Measured, grid_of, mean_loss, measure, scores_of
from qed.trees.forest import Forest
from qed.trees.nodes import Nodes
from qed.trees.problem import features_tried


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
    longer: int = 0  # rounds whose values might have been halved less often, or were moved otherwise

    def claims(self, train_score: np.ndarray) -> list[Claim]:
        where = "" if self.rounds == self.of else f" ({self.rounds} of {self.of} rounds)"
        claims = [
            Claim(f"nodes with other rows, weights or gains than theirs{where}", float(self.miscounted), 0.0),
            Claim(f"questions that the bins and the rules do not allow{where}", float(self.displaced), 0.0),
            Claim(f"leaves go as far as their rows say (difference, in units of rounding){where}", self.astray, 1.0),
            Claim(f"rounds that were halved without need{where}", float(self.longer), 0.0),
        ]
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
    found.all_columns = features_tried(problem.model.max_features, p) >= p
    coded = problem.coded(train, aside)
    look = _Look(found, problem, train, coded, rate)
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
            look.at_round(forest, trees, measured, scores, following, problem.drawn(seed, number, len(train)), crew)
            scores = following
            if aside is not None:
                others = scores_of(problem, coded.coding, coded.aside, others, forest, trees)
    return found


class _Look:
    """What all rounds are looked at with."""

    def __init__(self, found: Checked, problem: BoostingProblem, train: Table, coded: Coded, rate: float) -> None:
        self.found, self.problem, self.train, self.rate = found, problem, train, rate
        self.coding, self.codes = coded.coding, coded.train
        self.rules: Rules = problem.rules(train)
        self.has_missing = np.array([(one == MISSING).any() for one in self.codes.T])

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
        halvings: set[int] = set()
        for output, number in enumerate(trees):
            nodes, here = forest.tree(number), slice(forest.starts[number], forest.starts[number + 1])
            rows = np.arange(len(train)) if drawn is None else drawn
            leaf = self.coding.leaves(forest, number, self.codes if drawn is None else self.codes[drawn])
            slope, curvature = measured.slope[output, rows], measured.curvature[output, rows]
            weight = train.weight[rows] if len(train.weight) else train.weight
            grid = grid_of(measured, output, train, drawn)
            amounts = grid.amounts(slope, curvature, weight).T
            sums = nodes.sums(leaf, amounts).T
            by_level = forest.level_set[here] >= 0
            self._places(nodes, sums, by_level)
            least = level_share(weight, len(rows)) * float(sums[1, 0])
            sides = self.coding.sides(forest, here)
            self._questions(nodes, leaf, rows, amounts, sums, grid, forest.gain[here], sides, least)
            halvings |= self._counts_and_values(nodes, leaf, rows, slope, curvature, sums[2], scores[output])
        if halvings - {0}:
            self._shorter(halvings, measured, scores, following, crew)

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
        rows: np.ndarray,
        slope: np.ndarray,
        curvature: np.ndarray,
        weight: np.ndarray,
        scores: np.ndarray,
    ) -> set[int]:
        """Compare rows, weights and values; give how often the values were halved, nothing where they are all rounding."""
        found, count, heavy = self.found, nodes.node_count, self.train.weights[rows]
        wrong = nodes.sums(leaf, np.ones(len(rows))) != nodes.n_node_samples
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
        leaves = nodes.is_leaf
        wanted = np.where(np.isfinite(wanted), self.rate * wanted, 0.0)[leaves]
        own = nodes.value[leaves, 0] / self.problem.size
        # Sums of m numbers are known to m roundings of their sizes, the slopes themselves to a few.
        m = nodes.n_node_samples[leaves] + 32.0
        slack = self.rate * m * EPS * np.broadcast_to(slack, count)[leaves]
        halved = _halvings(own, wanted, slack)
        # Where all that is wanted is rounding, so are the values, of either sign.
        apart = np.abs(own) / 4 if halved is None else np.abs(own - math.ldexp(1.0, -halved) * wanted)
        with np.errstate(divide="ignore", invalid="ignore"):
            found.astray = max(found.astray, float(np.where(apart == 0, 0.0, apart / slack).max()))
        return set() if halved is None else {halved}

    def _questions(
        self,
        nodes: Nodes,
        leaf: np.ndarray,
        rows: np.ndarray,
        amounts: np.ndarray,
        sums: np.ndarray,
        grid: Grid,
        gain: np.ndarray,
        sides: np.ndarray,
        least: float,
    ) -> None:
        """Ask all questions of all nodes again, and compare the best with those asked, and with what was left unasked."""
        found, rules, asking = self.found, self.rules, ~nodes.is_leaf
        best = np.full(nodes.node_count, -np.inf)
        for column, n_bins in enumerate(self.coding.counts):
            levels = self.coding.is_categorical[column]
            width = 256 if levels else int(n_bins) + 1
            place = leaf * width + np.minimum(self.codes[rows, column], width - 1)
            flat = np.stack([np.bincount(place, one, nodes.node_count * width) for one in amounts.T])
            histograms = flat.reshape(3, nodes.node_count, width)
            for level in reversed(nodes.levels):
                above = level[asking[level]]
                histograms[:, above] = histograms[:, above + 1] + histograms[:, nodes.children_right[above]]
            if levels:
                every = worth_of_levels(histograms, least, rules, grid)[0]
                own = nodes.feature == column
                self._sets(sides[own], histograms[1, own], self.coding.known[column], least)
            else:
                every = worth(histograms, np.broadcast_to(n_bins, nodes.node_count), rules, grid).max(axis=2)
            best = np.maximum(best, every.max(axis=1))
        ask = np.flatnonzero(asking)
        left, right = sums[:, ask + 1], sums[:, nodes.children_right[ask]]
        with np.errstate(divide="ignore", invalid="ignore"):
            score = score_of(left, rules, grid) + score_of(right, rules, grid)
            own = score - score_of(sums[:, ask], rules, grid)
            # Whoever measures the losses otherwise in the last digit moves a row or two by one unit of the grid.
            steep = [np.abs(one[0] / grid.slope) / (one[1] / grid.curvature + rules.penalty) for one in (left, right)]
            slack = 64 * EPS * score + 8 * (steep[0] + steep[1]) / grid.slope
            found.miscounted += int((~(np.abs(gain[ask] - own) <= slack)).sum()) + int((gain[~asking] != 0).sum())
            excess = np.nan_to_num((best[ask] - own) / slack, nan=math.inf)
        found.worse = max(found.worse, float(excess.max(initial=0.0)))
        light = np.minimum(left[2], right[2]) < rules.weight
        light |= np.minimum(left[1], right[1]) / grid.curvature < rules.curvature
        found.displaced += int(light.sum()) + int(nodes.n_leaves > rules.leaves) + int(nodes.max_depth > rules.depth)
        self._order(nodes, np.where(asking, 0.0, best), dict(zip(ask.tolist(), zip(own, slack))))

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

    def _shorter(
        self, halvings: set[int], measured: Measured, scores: np.ndarray, following: np.ndarray, crew: Team
    ) -> None:
        """See that a round was halved as one, and that half as often would have raised the loss."""
        twice = scores + 2 * (following - scores)
        loss = measure(self.problem.objective, self.train, twice, crew).loss
        self.found.longer += int(len(halvings) != 1 or loss <= measured.loss * (1 + ROUNDING) * (1 - 1e-12))


def _halvings(own: np.ndarray, wanted: np.ndarray, slack: np.ndarray) -> int | None:
    """Say how often values must have been halved to be what they are, by the clearest; None where all are rounding."""
    clear = np.abs(wanted) - 2 * slack
    place = int(clear.argmax())
    if not clear[place] > 0:
        return None
    with np.errstate(divide="ignore", over="ignore"):
        share = float(wanted[place] / own[place])
    return int(np.clip(np.rint(np.log2(share)), 0, HALVINGS)) if share > 0 and math.isfinite(share) else 0
