"""The proof of a tree: its questions are asked again, level by level, from the data and the nodes alone.

For all nodes of a level at once, and for every column, the rows are put in order within their nodes; running sums give the purity of every
question there is. None may be better than the one that was asked, but for rounding; a threshold lies midway between its neighbours; and a
leaf is one because its rows are alike, because they agree in every column, or because a rule says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS
from qed.trees.columns import midway
from qed.trees.impurity import ENTROPY, purities
from qed.trees.nodes import Nodes
from qed.trees.problem import TreeProblem


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
            slack = (16 + 4 * problem.targets.classes) * EPS
            claims.append(Claim(f"a question is better than the one asked, by at most{where}", self.worse, slack))
            if not pruned:
                claims.append(Claim(f"leaves that the rules would have split{where}", float(self.unasked), 0.0))
        return claims


def check_questions(nodes: Nodes, problem: TreeProblem, budget: int | None) -> Checked:
    """Ask all questions again, or as many as a `budget` of numbers to look at allows."""
    found = Checked(of=nodes.node_count)
    chosen = _chosen(nodes, problem.X.shape[1], budget)
    found.nodes = int(chosen.sum())
    X, at, rows = problem.X, np.zeros(len(problem.X), dtype=np.intp), np.arange(len(problem.X))
    for depth, level in enumerate(nodes.levels):
        looked = level[chosen[level]]
        if looked.size:
            place = np.full(nodes.node_count, -1, dtype=np.intp)
            place[looked] = np.arange(len(looked))
            here = rows[place[at[rows]] >= 0]
            _check_level(found, nodes, problem, looked, here, place[at[here]], depth)
        rows = rows[nodes.feature[at[rows]] >= 0]
        if not rows.size:
            break
        at[rows] = _next(nodes, X, rows, at[rows])
    return found


def _chosen(nodes: Nodes, p: int, budget: int | None) -> np.ndarray:
    """Choose the nodes to look at: all, or those from the root on for which there is room."""
    if budget is None:
        return np.ones(nodes.node_count, dtype=bool)
    chosen = np.zeros(nodes.node_count, dtype=bool)
    for level in nodes.levels:
        price = np.cumsum(nodes.n_node_samples[level] * p)
        inside = price <= budget
        chosen[level[inside]] = True
        budget -= int(price[inside][-1]) if inside.any() else 0
        if budget < p:
            break
    return chosen


def _next(nodes: Nodes, X: np.ndarray, rows: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Give the child that each row goes to."""
    left = _goes_left(nodes, X[rows, nodes.feature[at]], at)
    return np.where(left, at + 1, nodes.children_right[at])


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
    depth: int,
) -> None:
    """Look at some nodes of a level; `rows` are theirs, and `place` is which of the nodes each belongs to."""
    count = len(looked)
    sizes = np.bincount(place, minlength=count)
    found.empty += int((sizes == 0).sum())
    amounts, weight = _amounts(problem, rows)
    whole = np.stack([np.bincount(place, one, count) for one in amounts])
    total = np.bincount(place, weight, count)
    asking = nodes.feature[looked] >= 0
    best = _best(problem, rows, place, sizes, amounts, weight, whole, total)
    chosen = _asked(found, nodes, problem, looked, rows, place, amounts, weight, whole, total)
    kind = problem.kind
    # What a purity can be at most, of which rounding takes a share.
    most = np.maximum(np.abs(purities(kind, whole, whole, total, np.ones(count))), np.where(asking, np.abs(chosen), 0))
    if kind == ENTROPY:
        most = total * (2.0 + 40.0 * np.log(2.0))
    with np.errstate(invalid="ignore"):
        excess = np.where(asking & np.isfinite(best), (best - chosen) / np.where(most > 0, most, 1.0), 0.0)
        excess = np.where(asking & ~(sizes > 0), 0.0, excess)
    found.worse = max(found.worse, float(np.nan_to_num(excess, nan=np.inf).max(initial=0.0)))
    rules = problem.rules
    mixed = _mixed(problem, rows, place, count)
    alone = purities(kind, whole, whole, total, np.ones(count))
    worth = best - alone >= (rules.gain + 32 * EPS * most if rules.gain > 0 else -np.inf)
    could = mixed & (sizes >= rules.split) & (depth < rules.depth) & np.isfinite(best) & worth
    found.unasked += int((could & ~asking).sum())


def _amounts(problem: TreeProblem, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give what each row adds to the sums of its node: a line for each class, or one of numbers; and what it weighs."""
    targets = problem.targets
    weight = targets.weight[rows] if len(targets.weight) else np.ones(len(rows))
    if targets.classes == 1:
        return targets.value[rows][None], weight
    label = problem.label[rows]
    return np.where(label == np.arange(targets.classes)[:, None], weight, 0.0), weight


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
    amounts: np.ndarray,
    weight: np.ndarray,
    whole: np.ndarray,
    total: np.ndarray,
) -> np.ndarray:
    """Give the best purity that any question has in each node; minus infinity where there is none."""
    best = np.full(len(sizes), -np.inf)
    full = sizes > 0
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    for j in range(problem.X.shape[1]):
        x = problem.X[rows, j]
        order = np.lexsort((x, place))
        for score in _scores(
            problem, x[order], place[order], starts, sizes, amounts[:, order], weight[order], whole, total
        ):
            if len(score):
                best[full] = np.maximum(best[full], np.maximum.reduceat(score, starts[full]))
    return best


def _scores(
    problem: TreeProblem,
    x: np.ndarray,
    place: np.ndarray,
    starts: np.ndarray,
    sizes: np.ndarray,
    amounts: np.ndarray,
    weight: np.ndarray,
    whole: np.ndarray,
    total: np.ndarray,
) -> list[np.ndarray]:
    """Give the purity of cutting after each row of a column in order, with missing values on the right; and on the left, if there are any."""
    n, rules = len(x), problem.rules
    first = starts[place]
    lost = np.isnan(x)
    changes = np.zeros(n, dtype=bool)
    changes[:-1] = (place[1:] == place[:-1]) & ~lost[:-1] & (x[1:] != x[:-1])
    found = []
    missing = np.bincount(place, lost, len(sizes)).astype(np.intp)
    for turn in range(1 + bool(missing.any())):
        before, count = _running(weight, first), np.arange(1, n + 1) - first
        left = np.stack([_running(one, first) for one in amounts])
        cut = changes.copy()
        if turn:
            cut[:-1] &= ~lost[1:]
            cut &= missing[place] > 0
            before = before + np.bincount(place, np.where(lost, weight, 0.0), len(sizes))[place]
            count = count + missing[place]
            left = left + np.stack([np.bincount(place, np.where(lost, one, 0.0), len(sizes))[place] for one in amounts])
        rest = total[place] - before
        cut &= (count >= rules.leaf) & (sizes[place] - count >= rules.leaf)
        cut &= (before >= rules.weight) & (rest >= rules.weight)
        score = np.full(n, -np.inf)
        score[cut] = purities(problem.kind, left[:, cut], whole[:, place[cut]], before[cut], rest[cut])
        found.append(score)
    return found


def _running(amounts: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Give running sums that begin anew where a node begins; they are exact."""
    sums = np.cumsum(amounts)
    return np.asarray(sums - (sums - amounts)[first])


def _asked(
    found: Checked,
    nodes: Nodes,
    problem: TreeProblem,
    looked: np.ndarray,
    rows: np.ndarray,
    place: np.ndarray,
    amounts: np.ndarray,
    weight: np.ndarray,
    whole: np.ndarray,
    total: np.ndarray,
) -> np.ndarray:
    """Give the purity of the questions that were asked, and count the thresholds that do not follow from the rows."""
    count = len(looked)
    feature = nodes.feature[looked]
    asking = feature >= 0
    node = looked[place]
    x = problem.X[rows, np.maximum(feature, 0)[place]].astype(np.float64)
    goes = _goes_left(nodes, x, node)
    left = np.stack([np.bincount(place, np.where(goes, one, 0.0), count) for one in amounts])
    before = np.bincount(place, np.where(goes, weight, 0.0), count)
    chosen = purities(problem.kind, left, whole, before, total - before)
    there = ~np.isnan(x)
    top, bottom = np.full(count, -np.inf), np.full(count, np.inf)
    np.maximum.at(top, place[goes & there], x[goes & there])
    np.minimum.at(bottom, place[~goes & there], x[~goes & there])
    with np.errstate(invalid="ignore"):
        wrong = midway(top, bottom) != nodes.threshold[looked]
    sent = np.bincount(place, goes, count)
    whole_rows = np.bincount(place, minlength=count)
    none_lost = np.bincount(place, ~there, count) == 0
    wrong |= none_lost & (nodes.missing_go_to_left[looked] != (2 * sent > whole_rows))
    said = (nodes.threshold[looked] != 0) | nodes.missing_go_to_left[looked]
    found.displaced += int(np.where(asking, wrong, said).sum())
    return np.where(asking, chosen, -np.inf)
