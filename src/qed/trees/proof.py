"""The proof of a tree: its questions are asked again, level by level, from the data and the nodes alone.

For all nodes of a level at once, and for every column, the rows are put in order within their nodes; running sums give the purity of every
question there is. None may be better than the one that was asked, but for rounding; a threshold lies midway between its neighbours; and a
leaf is one because its rows are alike, because they agree in every column, or because a rule says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS
from qed.trees.columns import midway
from qed.trees.impurity import ENTROPY, purities
from qed.trees.nodes import Nodes
from qed.trees.problem import TreeProblem
from qed.trees.sweeping import GRID


@dataclass
class Checked:
    """What was found wrong, and in how many nodes."""

    nodes: int = 0  # nodes that were looked at
    of: int = 0  # and all there are
    worse: float = 0.0  # the most by which another question is better, relative to what a node's purity can be
    displaced: int = 0  # thresholds that are not midway between their neighbours, missing values sent the wrong way, leaves with either
    unasked: int = 0  # leaves that the rules would have split
    empty: int = 0  # nodes that no row comes to

    def claims(self, problem: TreeProblem, pruned: bool) -> list[Claim]:
        where = "" if self.nodes == self.of else f" ({self.nodes} of {self.of} nodes)"
        claims = [
            Claim(f"nodes that no row comes to{where}", float(self.empty), 0.0),
            Claim(f"thresholds that are not midway between rows{where}", float(self.displaced), 0.0),
        ]
        if problem.rules.tried >= problem.X.shape[1]:
            # Rounding to the grid moves a sum by half a step for each row, and classes are added up.
            slack = (16 + 4 * problem.targets.classes + len(problem.X)) * EPS
            claims.append(Claim(f"a question is better than the one asked, by at most{where}", self.worse, slack))
            if not pruned:
                claims.append(Claim(f"leaves that the rules would have split{where}", float(self.unasked), 0.0))
        return claims


def check_questions(nodes: Nodes, problem: TreeProblem, budget: int | None) -> Checked:
    """Ask all questions again, or as many as a `budget` of numbers to look at allows."""
    found = Checked(of=nodes.node_count)
    chosen = with_room(nodes, problem.X.shape[1], budget)
    found.nodes = int(chosen.sum())
    leaf = nodes.apply(problem.X)
    # Numbers of two bytes are sorted by their digits.
    order = np.argsort(leaf.astype(np.min_scalar_type(nodes.node_count)), kind="stable")
    in_order = leaf[order]
    for depth, level in enumerate(nodes.levels):
        looked = level[chosen[level]]
        if not looked.size:
            continue
        # The leaves below a node are one stretch, so its rows are, too.
        first, last = np.searchsorted(in_order, looked), np.searchsorted(in_order, nodes.ends[looked])
        place = np.repeat(np.arange(len(looked)), last - first)
        rows = order[np.arange(len(place)) - np.repeat(np.cumsum(last - first) - last, last - first)]
        goes = leaf[rows] < nodes.children_right[looked][place]
        _check_level(found, nodes, problem, looked, rows, place, goes, depth)
    return found


def with_room(nodes: Nodes, price: int, budget: int | None) -> np.ndarray:
    """Choose the nodes to look at: all, or those from the root on for which there is room at a `price` for each of their rows."""
    if budget is None:
        return np.ones(nodes.node_count, dtype=bool)
    chosen = np.zeros(nodes.node_count, dtype=bool)
    for level in nodes.levels:
        spent = np.cumsum(nodes.n_node_samples[level] * price)
        inside = spent <= budget
        chosen[level[inside]] = True
        budget -= int(spent[inside][-1]) if inside.any() else 0
        if budget < price:
            break
    return chosen


def _goes_left(nodes: Nodes, x: np.ndarray, at: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return (x <= nodes.threshold[at]) | (np.isnan(x) & nodes.missing_go_to_left[at])


def _check_level(
    found: Checked,
    nodes: Nodes,
    problem: TreeProblem,
    looked: np.ndarray,
    rows: np.ndarray,
    place: np.ndarray,
    goes: np.ndarray,
    depth: int,
) -> None:
    """Look at some nodes of a level; `rows` are theirs, `place` is which of the nodes each belongs to, and `goes` who went left."""
    count = len(looked)
    sizes = np.bincount(place, minlength=count)
    found.empty += int((sizes == 0).sum())
    amounts = _amounts(problem, rows, place, count)
    whole, total, most = amounts.whole, amounts.total, amounts.most
    asking = nodes.feature[looked] >= 0
    best = _best(problem, rows, place, sizes, amounts)
    chosen = _asked(found, nodes, problem, looked, rows, place, goes, amounts)
    kind = problem.kind
    with np.errstate(invalid="ignore"):
        excess = np.where(asking & np.isfinite(best), (best - chosen) / np.where(most > 0, most, 1.0), 0.0)
        excess = np.where(asking & ~(sizes > 0), 0.0, excess)
    found.worse = max(found.worse, float(np.nan_to_num(excess, nan=np.inf).max(initial=0.0)))
    rules = problem.rules
    mixed = _mixed(problem, rows, place, count)
    alone = purities(kind, whole, whole, total, np.ones(count))
    least = rules.gain * amounts.heavy * amounts.wide + (sizes + 32) * EPS * most
    worth = best - alone >= (least if rules.gain > 0 else -np.inf)
    could = mixed & (sizes >= rules.split) & (depth < rules.depth) & np.isfinite(best) & worth
    found.unasked += int((could & ~asking).sum())


class Amounts(NamedTuple):
    """What rows add to the sums of their node, near one and on a grid on which sums are exact."""

    each: np.ndarray  # a line for each class, or one of numbers
    mass: np.ndarray  # what each row weighs
    heavy: np.ndarray  # by what the weights of each node were multiplied
    wide: np.ndarray  # and the squares of its numbers
    whole: np.ndarray  # the sums of each node
    total: np.ndarray  # what it weighs
    most: np.ndarray  # what its purity can be at most, of which rounding takes a share
    step: np.ndarray  # what the amounts of each node are multiples of
    mass_step: float  # and what weights are

    def of(self, order: np.ndarray) -> Amounts:
        """Give the rows in another order."""
        return self._replace(each=self.each[:, order], mass=self.mass[order])


def _amounts(problem: TreeProblem, rows: np.ndarray, place: np.ndarray, count: int) -> Amounts:
    """Bring weights and targets of the rows near one, node by node."""
    targets, mass, mass_step = problem.targets, np.ones(len(rows)), GRID if len(problem.targets.weight) else 1.0
    heavy = wide = np.ones(count)
    step = np.full(count, mass_step)
    if len(targets.weight):
        heavy = np.ldexp(1.0, -np.frexp(np.bincount(place, targets.weight[rows], count))[1])
        mass = np.maximum(np.rint(targets.weight[rows] * heavy[place] / GRID), 1.0) * GRID
    total = np.bincount(place, mass, count)
    if targets.classes > 1:
        each = np.where(problem.label[rows] == np.arange(targets.classes)[:, None], mass, 0.0)
        most = total * (2.0 + 40.0 * np.log(2.0)) if problem.kind == ENTROPY else total
    else:
        low, high = np.full(count, np.inf), np.full(count, -np.inf)
        np.minimum.at(low, place, targets.number[rows])
        np.maximum.at(high, place, targets.number[rows])
        middle = low / 2 + high / 2
        wide = np.ldexp(1.0, -np.frexp(np.where(high > low, high - middle, 1.0))[1])
        value = mass * ((targets.number[rows] - middle[place]) * wide[place])
        step = np.ldexp(GRID, np.frexp(np.bincount(place, np.abs(value), count))[1])
        each = (np.rint(value / step[place]) * step[place])[None]
        most, wide = np.bincount(place, each[0] ** 2 / mass, count), wide * wide
    whole = np.stack([np.bincount(place, one, count) for one in each])
    return Amounts(each, mass, heavy, wide, whole, total, most, step, mass_step)


def _mixed(problem: TreeProblem, rows: np.ndarray, place: np.ndarray, count: int) -> np.ndarray:
    """Say in which nodes the targets differ."""
    number = problem.label[rows] if problem.targets.classes > 1 else problem.targets.number[rows]
    one = np.zeros(count, dtype=number.dtype)
    one[place] = number
    return np.bincount(place, number != one[place], count) > 0


def _best(
    problem: TreeProblem,
    rows: np.ndarray,
    place: np.ndarray,
    sizes: np.ndarray,
    amounts: Amounts,
) -> np.ndarray:
    """Give the best purity that any question has in each node; minus infinity where there is none."""
    best = np.full(len(sizes), -np.inf)
    full = sizes > 0
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    for j in range(problem.X.shape[1]):
        x = problem.X[rows, j]
        order = np.lexsort((x, place))
        for score in _scores(problem, x[order], place[order], starts, sizes, amounts.of(order)):
            if len(score):
                best[full] = np.maximum(best[full], np.maximum.reduceat(score, starts[full]))
    return best


def _scores(
    problem: TreeProblem,
    x: np.ndarray,
    place: np.ndarray,
    starts: np.ndarray,
    sizes: np.ndarray,
    amounts: Amounts,
) -> list[np.ndarray]:
    """Give the purity of cutting after each row of a column in order: with missing values on the right, then perhaps on the left."""
    n, rules, mass, step = len(x), problem.rules, amounts.mass, amounts.step[place]
    first = starts[place]
    lost = np.isnan(x)
    changes = np.zeros(n, dtype=bool)
    changes[:-1] = (place[1:] == place[:-1]) & ~lost[:-1] & (x[1:] != x[:-1])
    found = []
    missing = np.bincount(place, lost, len(sizes)).astype(np.intp)
    for turn in range(1 + bool(missing.any())):
        before, count = _running(mass, first, amounts.mass_step), np.arange(1, n + 1) - first
        left = np.stack([_running(one, first, step) for one in amounts.each])
        cut = changes.copy()
        if turn:
            cut[:-1] &= ~lost[1:]
            cut &= missing[place] > 0
            before = before + np.bincount(place, np.where(lost, mass, 0.0), len(sizes))[place]
            count = count + missing[place]
            left = left + np.stack(
                [np.bincount(place, np.where(lost, one, 0.0), len(sizes))[place] for one in amounts.each]
            )
        rest = amounts.total[place] - before
        cut &= (count >= rules.leaf) & (sizes[place] - count >= rules.leaf)
        least = rules.weight * amounts.heavy[place]
        cut &= (before >= least) & (rest >= least)
        score = np.full(n, -np.inf)
        score[cut] = purities(problem.kind, left[:, cut], amounts.whole[:, place[cut]], before[cut], rest[cut])
        found.append(score)
    return found


def _running(amounts: np.ndarray, first: np.ndarray, step: Any) -> np.ndarray:
    """Give running sums that begin anew where a node begins. As whole numbers of steps they are exact, even where they wrap around."""
    steps = np.rint(amounts / step).astype(np.int64)
    sums = np.cumsum(steps)
    return np.asarray((sums - (sums - steps)[first]) * step)


def _asked(
    found: Checked,
    nodes: Nodes,
    problem: TreeProblem,
    looked: np.ndarray,
    rows: np.ndarray,
    place: np.ndarray,
    went: np.ndarray,
    amounts: Amounts,
) -> np.ndarray:
    """Give the purity of the questions that were asked, and count the thresholds that do not follow from the rows."""
    count = len(looked)
    feature = nodes.feature[looked]
    asking = feature >= 0
    node = looked[place]
    x = problem.X[rows, np.maximum(feature, 0)[place]].astype(np.float64)
    goes = _goes_left(nodes, x, node)
    left = np.stack([np.bincount(place, np.where(goes, one, 0.0), count) for one in amounts.each])
    before = np.bincount(place, np.where(goes, amounts.mass, 0.0), count)
    chosen = purities(problem.kind, left, amounts.whole, before, amounts.total - before)
    there = ~np.isnan(x)
    top, bottom = np.full(count, -np.inf), np.full(count, np.inf)
    np.maximum.at(top, place[goes & there], x[goes & there])
    np.minimum.at(bottom, place[~goes & there], x[~goes & there])
    with np.errstate(invalid="ignore"):
        wrong = midway(top, bottom) != nodes.threshold[looked]
    none_lost = np.bincount(place, ~there, count) == 0
    wrong |= none_lost & (nodes.missing_go_to_left[looked] != (2 * before > amounts.total))
    wrong |= np.bincount(place, went != goes, count) > 0
    said = (nodes.threshold[looked] != 0) | nodes.missing_go_to_left[looked]
    found.displaced += int(np.where(asking, wrong, said).sum())
    return np.where(asking, chosen, -np.inf)
