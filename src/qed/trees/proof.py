"""The proof of a tree: its questions are asked again, from the data and the nodes alone.

For many nodes at once, and for every column, the rows are put in order within their nodes; running sums give the purity of every
question there is. None may be better than the one that was asked, but for rounding; a threshold lies midway between its neighbours; and a
leaf is one because its rows are alike, because they agree in every column, or because a rule says so. Of categories every set is asked
about, or the cuts of an order that theory says none is better than; where it does not, the claim says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from qed.base.certificate import Claim
from qed.base.engine import work
from qed.base.numbers import EPS
from qed.trees.asking.level_scores import best_of_levels
from qed.trees.asking.scores import Amounts, amounts_of, purity_of_branches, scores
from qed.trees.columns import midway
from qed.trees.nodes import LEAF, NO_LEVEL, Nodes, levels_of
from qed.trees.problem import TreeProblem

# Numbers that are looked at at once.
TOGETHER = 1 << 16


@dataclass
class Checked:
    """What was found wrong, and in how many nodes."""

    nodes: int = 0  # nodes that were looked at
    of: int = 0  # and all there are
    worse: float = 0.0  # the most by which another question is better, relative to what a node's purity can be
    displaced: int = 0  # thresholds that are not midway between their neighbours, missing values sent the wrong way, leaves with either
    unasked: int = 0  # leaves that the rules would have split
    empty: int = 0  # nodes that no row comes to
    cuts: int = 0  # searches of a column in a node in which no sets but the cuts of an order were asked about, and others may be better

    def claims(self, problem: TreeProblem, pruned: bool) -> list[Claim]:
        where = "" if self.nodes == self.of else f" ({self.nodes} of {self.of} nodes)"
        sets = "" if problem.is_categorical is None else ", sets with strays"
        claims = [
            Claim(f"nodes that no row comes to{where}", float(self.empty), 0.0),
            Claim(f"thresholds that are not midway between rows{sets}{where}", float(self.displaced), 0.0),
        ]
        if problem.rules.tried >= problem.X.shape[1]:
            # Rounding to the grid moves a sum by half a step for each row, and classes are added up.
            slack = (16 + 4 * problem.targets.classes + len(problem.X)) * EPS
            cuts = f", of categories cuts of their order alone in {self.cuts} searches" if self.cuts else ""
            claims.append(Claim(f"a question is better than the one asked, by at most{where}{cuts}", self.worse, slack))
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
    depth = np.empty(nodes.node_count, dtype=np.intp)
    for k, level in enumerate(nodes.levels):
        depth[level] = k
    every = np.flatnonzero(chosen)
    if not len(every):
        return found
    # The leaves below a node are one stretch, so its rows are, too.
    first, last = np.searchsorted(in_order, every), np.searchsorted(in_order, nodes.ends[every])
    numbers = np.cumsum(last - first) * problem.X.shape[1]
    for some in np.split(np.arange(len(every)), np.flatnonzero(np.diff(numbers // TOGETHER)) + 1):
        looked, sizes = every[some], (last - first)[some]
        place = np.repeat(np.arange(len(looked)), sizes)
        rows = order[np.arange(len(place)) - np.repeat(np.cumsum(sizes) - last[some], sizes)]
        _check_some(found, nodes, problem, looked, rows, place, _went(nodes, looked, leaf[rows], place), depth[looked])
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


def _check_some(
    found: Checked,
    nodes: Nodes,
    problem: TreeProblem,
    looked: np.ndarray,
    rows: np.ndarray,
    place: np.ndarray,
    went: np.ndarray,
    depth: np.ndarray,
) -> None:
    """Look at some nodes; `rows` are theirs, `place` is which of the nodes each belongs to, and `went` the branch it took."""
    count = len(looked)
    sizes = np.bincount(place, minlength=count)
    found.empty += int((sizes == 0).sum())
    amounts = amounts_of(problem, rows, place, count)
    most = amounts.most
    asking = nodes.feature[looked] >= 0
    best = _best(found, problem, rows, place, sizes, amounts)
    chosen = _asked(found, nodes, problem, looked, rows, place, went, amounts)
    with np.errstate(invalid="ignore"):
        excess = np.where(asking & np.isfinite(best), (best - chosen) / np.where(most > 0, most, 1.0), 0.0)
        excess = np.where(asking & ~(sizes > 0), 0.0, excess)
    found.worse = max(found.worse, float(np.nan_to_num(excess, nan=np.inf).max(initial=0.0)))
    rules = problem.rules
    mixed = _mixed(problem, rows, place, count)
    alone = purity_of_branches(problem, amounts, place, np.zeros_like(place))
    least = rules.gain * amounts.heavy * amounts.wide + (sizes + 32) * EPS * most
    worth = best - alone >= (least if rules.gain > 0 else -np.inf)
    could = mixed & (sizes >= rules.split) & (depth < rules.depth) & np.isfinite(best) & worth
    found.unasked += int((could & ~asking).sum())


def _mixed(problem: TreeProblem, rows: np.ndarray, place: np.ndarray, count: int) -> np.ndarray:
    """Say in which nodes the targets differ."""
    number = problem.label[rows] if problem.targets.classes > 1 else problem.targets.number[rows]
    one = np.zeros(count, dtype=number.dtype)
    one[place] = number
    return np.bincount(place, number != one[place], count) > 0


def _best(
    found: Checked,
    problem: TreeProblem,
    rows: np.ndarray,
    place: np.ndarray,
    sizes: np.ndarray,
    amounts: Amounts,
) -> np.ndarray:
    """Give the best purity that any question has in each node; minus infinity where there is none."""
    by_level = np.zeros(problem.X.shape[1], bool) if problem.is_categorical is None else problem.is_categorical
    # Medians are asked for by one column at a time.
    some = 1 if amounts.ranks is not None else max(TOGETHER // max(len(rows), 1), 1)
    columns = np.flatnonzero(~by_level)
    parts = (columns[j : j + some] for j in range(0, len(columns), some))
    best = list(work(partial(_best_of, problem, part, rows, place, sizes, amounts) for part in parts))
    for j in np.flatnonzero(by_level):
        score, cuts = best_of_levels(problem, problem.X[rows, j], place, sizes, amounts)
        best.append(score)
        found.cuts += cuts
    return np.maximum.reduce([np.full(len(sizes), -np.inf), *best])


def _best_of(
    problem: TreeProblem, part: np.ndarray, rows: np.ndarray, place: np.ndarray, sizes: np.ndarray, amounts: Amounts
) -> np.ndarray:
    """Give the best purity in each node of questions about some columns, which stand one behind the other as if they were more nodes."""
    count, x = len(sizes), problem.X[np.ix_(rows, part)].T
    copies = len(x)
    place = (place + count * np.arange(copies)[:, None]).ravel()
    sizes, amounts = np.tile(sizes, copies), amounts.times(copies)
    order = np.argsort(x.ravel())
    # Numbers of two bytes are sorted by their digits.
    order = order[np.argsort(place.astype(np.min_scalar_type(count * copies))[order], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    best, full = np.full(len(sizes), -np.inf), sizes > 0
    for score in scores(problem, x.ravel()[order], place[order], starts, sizes, amounts.of(order)):
        if len(score):
            best[full] = np.maximum(best[full], np.maximum.reduceat(score, starts[full]))
    return best.reshape(copies, count).max(axis=0)


def _went(nodes: Nodes, looked: np.ndarray, leaf: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Give the branch that rows took, from the leaves that they came to."""
    taken = (leaf >= nodes.children_right[looked][place]).astype(np.intp)
    for parent, child in islice(nodes.children(looked[nodes.feature[looked] >= 0]), 2, None):
        begin = np.full(len(looked), nodes.node_count)
        begin[np.searchsorted(looked, parent)] = child
        taken += leaf >= begin[place]
    return taken


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
    """Give the purity of the questions that were asked, and count the thresholds and sets that do not follow from the rows."""
    count, feature = len(looked), nodes.feature[looked]
    asking = feature >= 0
    x = problem.X[rows, np.maximum(feature, 0)[place]].astype(np.float64)
    line = np.full(count, LEAF) if nodes.level_set is None else nodes.level_set[looked]
    by_level = line >= 0
    branch = np.where(_goes_left(nodes, x, looked[place]), 0, 1)
    if nodes.sets is not None:
        branch = np.where(
            by_level[place], nodes.sets[np.maximum(line, 0)[place], levels_of(x)] if len(nodes.sets) else 0, branch
        )
    branch = np.where(asking[place], branch, 0)
    chosen = purity_of_branches(problem, amounts, place, branch)
    goes, there = branch == 0, ~np.isnan(x)
    top, bottom = np.full(count, -np.inf), np.full(count, np.inf)
    np.maximum.at(top, place[goes & there], x[goes & there])
    np.minimum.at(bottom, place[~goes & there], x[~goes & there])
    with np.errstate(invalid="ignore"):
        wrong = midway(top, bottom) != nodes.threshold[looked]
    before = np.bincount(place, np.where(goes, amounts.mass, 0.0), count)
    none_lost = np.bincount(place, ~there, count) == 0
    wrong |= none_lost & (nodes.missing_go_to_left[looked] != (2 * before > amounts.total))
    if nodes.sets is not None:
        wrong[by_level] = _sets_are_wrong(nodes.sets, problem, line, by_level, levels_of(x), place, branch, amounts)
    wrong |= np.bincount(place, went != branch, count) > 0
    if problem.is_categorical is not None:
        wrong |= by_level != problem.is_categorical[np.maximum(feature, 0)]
    said = (nodes.threshold[looked] != 0) | nodes.missing_go_to_left[looked]
    found.displaced += int(np.where(asking, wrong, said).sum())
    return np.where(asking, chosen, -np.inf)


def _sets_are_wrong(
    sets: np.ndarray,
    problem: TreeProblem,
    line: np.ndarray,
    by_level: np.ndarray,
    level: np.ndarray,
    place: np.ndarray,
    branch: np.ndarray,
    amounts: Amounts,
) -> np.ndarray:
    """Say which sets have branches that they may not have, or send categories without rows elsewhere than with the heaviest branch."""
    own = sets[line[by_level]].astype(np.intp)
    number, inside = np.cumsum(by_level) - 1, by_level[place]
    spot = number[place[inside]] * (NO_LEVEL + 1)
    size = len(own) * (NO_LEVEL + 1)
    known = np.bincount(spot + level[inside], minlength=size).reshape(own.shape) > 0
    heavy = np.bincount(spot + branch[inside], amounts.mass[inside], size).reshape(own.shape)
    heaviest = heavy.argmax(axis=1)
    # Of two that weigh the same, the second.
    heaviest = np.where((own.max(axis=1) == 1) & (heavy[:, 0] == heavy[:, 1]), 1, heaviest)
    strays = (~known & (own != heaviest[:, None])).any(axis=1)
    if problem.multiway:
        return np.asarray(strays | (known & (own != np.cumsum(known, axis=1) - 1)).any(axis=1))
    return np.asarray(strays | (own.max(axis=1) != 1))
