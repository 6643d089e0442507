"""What every question about categories is worth, for many nodes at once: all subsets, the cuts of an order, or a branch for each."""

from __future__ import annotations

import numpy as np

from qed.trees.asking.scores import Amounts, distances, purity_of_groups, scores
from qed.trees.asking.subsets import MOST_TRIED
from qed.trees.impurity import ABSOLUTE, POISSON, purities
from qed.trees.nodes import NO_LEVEL, levels_of
from qed.trees.problem import TreeProblem


class Groups:
    """The rows of some nodes by their categories, those of a node one after another."""

    def __init__(self, x: np.ndarray, place: np.ndarray, count: int, amounts: Amounts) -> None:
        line = place * (NO_LEVEL + 1) + levels_of(x)
        there, self.of_row = np.unique(line, return_inverse=True)
        self.place, self.count = there // (NO_LEVEL + 1), count
        self.sizes = np.bincount(self.place, minlength=count)
        self.rows, self.mass = np.bincount(self.of_row), np.bincount(self.of_row, amounts.mass)
        self.sums = np.stack([np.bincount(self.of_row, one) for one in amounts.each])

    def branches(self, problem: TreeProblem, place: np.ndarray, amounts: Amounts) -> np.ndarray:
        """Give the purity of one branch for each category, node by node."""
        rules, least = problem.rules, problem.rules.weight * amounts.heavy[self.place]
        purity = purity_of_groups(problem, amounts, place, self.of_row)
        purity = np.where((self.rows >= rules.leaf) & (self.mass >= least), purity, -np.inf)
        return np.where(self.sizes > 1, np.bincount(self.place, purity, self.count), -np.inf)

    def subsets(self, problem: TreeProblem, amounts: Amounts) -> np.ndarray:
        """Give the best purity of all ways to divide few categories, node by node."""
        best, rules = np.full(self.count, -np.inf), problem.rules
        starts = np.cumsum(self.sizes) - self.sizes
        parts = np.vstack([self.sums, self.mass, self.rows])
        for m in range(2, MOST_TRIED + 1):
            nodes = np.flatnonzero(self.sizes == m)
            ways = (np.arange(1, 1 << (m - 1))[:, None] >> np.arange(m)) & 1
            found = parts[:, starts[nodes][:, None] + np.arange(m)] @ ways.T.astype(np.float64)
            left, before, rows = found[:-2], found[-2], found[-1]
            all_rows = np.bincount(self.place, self.rows, self.count)[nodes, None]
            total, least = amounts.total[nodes, None], rules.weight * amounts.heavy[nodes, None]
            purity = purities(problem.kind, left, amounts.whole[:, nodes, None], before, total - before)
            allowed = (np.minimum(rows, all_rows - rows) >= rules.leaf) & (np.minimum(before, total - before) >= least)
            best[nodes] = np.where(allowed, purity, -np.inf).max(axis=1, initial=-np.inf)
        return best

    def orders(self, problem: TreeProblem, place: np.ndarray, amounts: Amounts) -> list[np.ndarray]:
        """Give the orders of categories whose cuts are asked about, as a number for every row."""
        if problem.kind == ABSOLUTE:
            by_group = np.argsort(self.of_row, kind="stable")
            ends = np.cumsum(self.rows)
            keys = distances(amounts.of(by_group), place[by_group], ends - self.rows, ends)[1][None]
        else:
            keys = (self.sums[1:] if len(self.sums) == 2 else self.sums) / self.mass
        found = []
        for key in keys:
            rank = np.empty(len(key))
            rank[np.lexsort((np.arange(len(key)), key, self.place))] = np.arange(len(key))
            found.append(rank[self.of_row])
        return found

    def only_cuts(self, problem: TreeProblem) -> int:
        """Count the nodes in which a set that no cut gives might be better, as far as theory can tell."""
        several, rules = self.sizes > 2, problem.rules
        if problem.targets.classes > 2:
            return int((self.sizes > MOST_TRIED).sum())
        if problem.kind == ABSOLUTE or rules.leaf > 1 or rules.weight > 0:
            return int(several.sum())
        if problem.kind == POISSON:
            return int((several & (np.bincount(self.place, self.sums[0] == 0, self.count) > 0)).sum())
        return 0


def best_of_levels(
    problem: TreeProblem, x: np.ndarray, place: np.ndarray, sizes: np.ndarray, amounts: Amounts
) -> tuple[np.ndarray, int]:
    """Give the best purity that a question about a column of categories has in each node, and in how many only cuts were asked about."""
    groups = Groups(x, place, len(sizes), amounts)
    if problem.multiway:
        return groups.branches(problem, place, amounts), 0
    best, few = np.full(len(sizes), -np.inf), np.zeros(len(sizes), dtype=bool)
    if problem.targets.classes > 2:
        best, few = groups.subsets(problem, amounts), groups.sizes <= MOST_TRIED
    if few.all():
        return best, 0
    starts, full = np.cumsum(sizes) - sizes, sizes > 0
    for number in groups.orders(problem, place, amounts):
        order = np.lexsort((number, place))
        for score in scores(problem, number[order], place[order], starts, sizes, amounts.of(order)):
            cuts = np.full(len(sizes), -np.inf)
            cuts[full] = np.maximum.reduceat(score, starts[full])
            best = np.where(few, best, np.maximum(best, cuts))
    return best, groups.only_cuts(problem)
