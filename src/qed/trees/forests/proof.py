"""The proof of a tree in a forest: rows are led through it again, and the questions of some nodes are asked again, bin by bin."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from qed.trees.bins import MISSING, Bins
from qed.trees.forests.lots import columns_of, lots_of_nodes
from qed.trees.growing import on_grid
from qed.trees.impurity import ENTROPY, purities
from qed.trees.nodes import Nodes
from qed.trees.problem import TreeProblem


class Walked:
    """The way of the rows that were drawn through a tree, in codes."""

    def __init__(self, nodes: Nodes, codes: np.ndarray, bins: Bins, rows: np.ndarray, mass: np.ndarray) -> None:
        self.nodes, self.codes, self.bins, self.rows, self.mass = nodes, codes, bins, rows, mass

    @cached_property
    def place(self) -> np.ndarray:
        """The last bin on the left of each node; MISSING where its threshold is no edge."""
        nodes, found = self.nodes, np.full(self.nodes.node_count, MISSING)
        edges = self.bins.edges
        for node in np.flatnonzero(~nodes.is_leaf):
            own = edges[nodes.feature[node]]
            at = int(np.searchsorted(own, nodes.threshold[node]))
            if np.isposinf(nodes.threshold[node]):
                found[node] = MISSING - 1
            elif at < len(own) and own[at] == nodes.threshold[node]:
                found[node] = at
        return found

    @cached_property
    def exact(self) -> np.ndarray:
        """What rows weigh, such that sums are exact."""
        return on_grid(self.mass, all_count=True)

    def goes_left(self, node: int, members: np.ndarray) -> np.ndarray:
        """Say which of some rows, by their places among those drawn, go left at a node."""
        code = self.codes[self.nodes.feature[node], self.rows[members]]
        return (code <= self.place[node]) | ((code == MISSING) & self.nodes.missing_go_to_left[node])

    def ways(self, budget: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Give nodes that ask, from the root on, the places of their rows among those drawn, and which go left; for so many rows in all."""
        waiting = {0: np.arange(len(self.rows))}
        for node in np.flatnonzero(~self.nodes.is_leaf).tolist():
            members = waiting.pop(node)
            budget -= len(members)
            if budget < 0:
                return
            left = self.goes_left(node, members)
            yield node, members, left
            waiting[node + 1], waiting[int(self.nodes.children_right[node])] = members[left], members[~left]

    def strange(self, budget: int) -> int:
        """Count thresholds that are no edges, leaves with one, nodes without rows, and missing values sent to the lighter side."""
        nodes, asking = self.nodes, ~self.nodes.is_leaf
        quiet = (nodes.threshold == 0) & ~nodes.missing_go_to_left
        wrong = int(
            (asking & (self.place == MISSING)).sum() + (~asking & ~quiet).sum() + (nodes.n_node_samples < 1).sum()
        )
        for node, members, left in self.ways(budget):
            if not (self.codes[nodes.feature[node], self.rows[members]] == MISSING).any():
                mass = self.exact[members]
                wrong += int(nodes.missing_go_to_left[node] != (2 * mass[left].sum() > mass.sum()))
        return wrong


def check_drawn(walked: Walked, problem: TreeProblem, lot: np.uint64, budget: int) -> float:
    """Give the most by which a question about the columns that were drawn is better than the one asked, as a share of the purity."""
    nodes, worst, (p, _) = walked.nodes, 0.0, walked.codes.shape
    lots = lots_of_nodes(nodes.children_right, ~nodes.is_leaf, lot)
    for node, members, left in walked.ways(budget // max(problem.rules.tried, 1)):
        asked = _Node(walked, problem, members)
        found, looked = -np.inf, 0
        for j in columns_of(lots[node], p):
            if looked >= problem.rules.tried and found > -np.inf:
                break
            found, looked = max(found, asked.best(j)), looked + 1
        chosen = asked.purity(left[None])[0]
        worst = max(worst, float((found - chosen) / asked.most) if asked.most > 0 else 0.0)
    return worst


class _Node:
    """The rows of a node, and what they add to its sums."""

    def __init__(self, walked: Walked, problem: TreeProblem, members: np.ndarray) -> None:
        self.codes, self.rows, self.rules = walked.codes, walked.rows[members], problem.rules
        self.kind, mass, targets = problem.kind, walked.mass[members], problem.targets
        # The rules speak of all rows.
        self.least = problem.rules.weight * walked.mass.sum() / problem.total
        if targets.classes == 1:
            number = targets.number[self.rows]
            self.each = (mass * (number - (number.min() / 2 + number.max() / 2)))[None]
            self.most = float((self.each[0] ** 2 / mass).sum())
        else:
            self.each = np.where(problem.label[self.rows] == np.arange(targets.classes)[:, None], mass, 0.0)
            self.most = float(mass.sum()) * (1.0 if self.kind != ENTROPY else 2.0 + 40.0 * np.log(2.0))
        self.mass = mass

    def purity(self, left: np.ndarray) -> np.ndarray:
        """Give the purity of questions, each a row that says who goes left."""
        whole, before = self.each.sum(axis=1, keepdims=True), left @ self.mass
        return purities(self.kind, self.each @ left.T, whole, before, self.mass.sum() - before)

    def best(self, j: int) -> float:
        """Give the best purity of all questions about a column."""
        code = self.codes[j, self.rows]
        lost, values = code == MISSING, np.unique(code[code != MISSING])
        left = code[None] <= values[:, None]
        left &= ~lost
        if lost.any():
            left = np.vstack([left, left[:-1] | lost])
        else:
            left = left[:-1]
        number, before = left.sum(axis=1), left @ self.mass
        allowed = (number >= self.rules.leaf) & (len(code) - number >= self.rules.leaf)
        allowed &= (before >= self.least) & (self.mass.sum() - before >= self.least)
        return float(self.purity(left[allowed]).max(initial=-np.inf)) if allowed.any() else -np.inf
