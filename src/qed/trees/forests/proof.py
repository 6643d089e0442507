"""The proof of a tree in a forest: rows are led through it again, and the questions of some nodes are asked again, bin by bin."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from qed.base.compile import interpreted
from qed.base.numbers import EPS
from qed.base.random import mixed
from qed.trees.asking.subsets import MOST_TRIED
from qed.trees.bins import MISSING, Bins
from qed.trees.forests.adding import between
from qed.trees.forests.growing import counted
from qed.trees.forests.lots import columns_of, lots_of_nodes
from qed.trees.forests.walking import leaves_of, places_of
from qed.trees.growing import Rules
from qed.trees.impurity import ENTROPY, purities
from qed.trees.nodes import Nodes
from qed.trees.problem import TreeProblem
from qed.trees.proof import with_room
from qed.trees.sweeping import STEP


class Walked:
    """The way of the rows that were drawn through a tree, to their leaves, and their codes."""

    def __init__(
        self,
        nodes: Nodes,
        codes: np.ndarray,
        bins: Bins,
        rows: np.ndarray,
        mass: np.ndarray,
        unit: float,
        is_categorical: np.ndarray | None = None,
    ) -> None:
        self.nodes, self.codes, self.bins, self.rows, self.total = nodes, codes, bins, rows, float(mass.sum())
        # As trees are grown: sums are exact, and no product of them vanishes.
        self.mass, self.unit, _ = counted(mass, unit)
        self.place, self.leaf = places_of(nodes, bins), leaves_of(nodes, bins, codes, rows)
        # Which nodes ask about categories, and about which columns they should.
        self.is_by_level = np.zeros(nodes.node_count, dtype=bool) if nodes.level_set is None else nodes.level_set >= 0
        self.by_level = np.zeros(len(codes), dtype=bool) if is_categorical is None else is_categorical

    def rules(self, problem: TreeProblem) -> Rules:
        """Give the rules, which speak of all rows, in units of the weights of those that were drawn."""
        rules, share = problem.rules, self.total / problem.total
        return rules._replace(gain=rules.gain * share / self.unit, weight=rules.weight * share / self.unit)

    @cached_property
    def _in_order(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.leaf, kind="stable")
        return order, self.leaf[order]

    def ways(self, price: int, budget: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Give nodes that ask, the places of their rows among those drawn, and which go left; for a `budget` at a `price` for each row."""
        for node, members in self.parts(price, budget, ~self.nodes.is_leaf):
            yield node, members, self.leaf[members] < self.nodes.children_right[node]

    def parts(self, price: int, budget: int, wanted: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Give nodes that are wanted, and the places of their rows among those drawn."""
        nodes, (order, leaf) = self.nodes, self._in_order
        for node in np.flatnonzero(with_room(nodes, price, budget) & wanted).tolist():
            # The leaves below a node are one stretch, so its rows are, too.
            first, last = np.searchsorted(leaf, (node, nodes.ends[node]))
            if last > first:
                yield node, order[first:last]

    def strange(self, budget: int) -> int:
        """Count thresholds that are no edges, leaves with one, nodes without rows, and rows or missing values sent to the wrong side.

        And questions of the wrong kind about a column, and sets that send categories without rows to the lighter side.
        """
        nodes, asking = self.nodes, ~self.nodes.is_leaf
        wrong = int((self.is_by_level != self.by_level[np.maximum(nodes.feature, 0)])[asking].sum())
        quiet = (nodes.threshold == 0) & ~nodes.missing_go_to_left
        wrong += int(
            (asking & (self.place == MISSING)).sum() + (~asking & ~quiet).sum() + (nodes.n_node_samples < 1).sum()
        )
        for node, members, left in self.ways(1, budget):
            code, mass = self.codes[nodes.feature[node], self.rows[members]], self.mass[members]
            lost, heavier = code == MISSING, bool(2 * mass[left].sum() > mass.sum())
            goes = (code <= self.place[node]) & ~lost | lost & nodes.missing_go_to_left[node]
            if self.is_by_level[node]:
                line = self.nodes.sets[self.nodes.level_set[node]]  # type: ignore[index]
                goes, strays = line[code] == 0, np.delete(line, code)
                # Categories that have no rows go with the heavier side.
                wrong += int((strays != 1 - heavier).any())
            wrong += int(not np.array_equal(goes, left))
            if not lost.any():
                wrong += int(nodes.missing_go_to_left[node] != heavier)
        return wrong


def check_drawn(walked: Walked, problem: TreeProblem, lot: np.uint64, budget: int, by_chance: bool = False) -> float:
    """Give the most by which the question asked differs from the best one about the columns that were drawn, as a share of the purity."""
    worst, tried = 0.0, problem.rules.tried
    lots = lots_of_nodes(walked.nodes, lot)
    for node, members, left in walked.ways(tried, budget):
        asked = _Node(walked, problem, members)
        found, looked = -np.inf, 0
        for j, own in columns_of(lots[node], len(walked.codes)):
            if looked >= tried and found > -np.inf:
                break
            found, looked = max(found, asked.best(j, own if by_chance else None)), looked + 1
        gap = abs(found - asked.purity(left))
        worst = max(worst, float(gap / asked.most) if asked.most > 0 else float(gap > 0))
    return worst


def unasked(walked: Walked, problem: TreeProblem, budget: int) -> int:
    """Count leaves that all columns are looked at for, and that the rules would have split."""
    found, depth = 0, np.zeros(walked.nodes.node_count, dtype=np.intp)
    rules = walked.rules(problem)
    for level, numbers in enumerate(walked.nodes.levels):
        depth[numbers] = level
    could = walked.nodes.is_leaf & (walked.nodes.n_node_samples >= rules.split) & (depth < rules.depth)
    for _, members in walked.parts(len(walked.codes), budget, could):
        node = _Node(walked, problem, members)
        if not node.is_mixed:
            continue
        best = max(node.best(j, None) for j in range(len(walked.codes)))
        worth = best - node.alone
        # Where a question must be worth something, rounding may not decide.
        least = rules.gain + (len(members) + 32) * EPS * node.most if rules.gain > 0 else -np.inf
        found += int(best > -np.inf and worth >= least)
    return found


class _Node:
    """The rows of a node, and what they add to its sums."""

    def __init__(self, walked: Walked, problem: TreeProblem, members: np.ndarray) -> None:
        self.codes, self.edges, self.rows = walked.codes, walked.bins.edges, walked.rows[members]
        self.by_level, self.classes = walked.by_level, problem.targets.classes
        self.kind, self.rules, self.mass = problem.kind, walked.rules(problem), walked.mass[members]
        targets = problem.targets
        if targets.classes == 1:
            number = targets.number[self.rows]
            self.is_mixed = bool(number.min() < number.max())
            self.each = (self.mass * (number - (number.min() / 2 + number.max() / 2)))[None]
            self.most = float((self.each[0] ** 2 / self.mass).sum())
        else:
            label = problem.label[self.rows]
            self.is_mixed = bool((label != label[0]).any())
            self.each = np.where(label == np.arange(targets.classes)[:, None], self.mass, 0.0)
            self.most = float(self.mass.sum()) * (1.0 if self.kind != ENTROPY else 2.0 + 40.0 * np.log(2.0))

    @property
    def alone(self) -> float:
        """The purity without a question."""
        whole = self.each.sum(axis=1, keepdims=True)
        return float(purities(self.kind, whole, whole, self.mass.sum(keepdims=True), np.ones(1))[0])

    def purity(self, left: np.ndarray) -> float:
        """Give the purity of a question, from who goes left."""
        whole, before = self.each.sum(axis=1, keepdims=True), self.mass[left].sum(keepdims=True)
        sums = self.each[:, left].sum(axis=1, keepdims=True)
        return float(purities(self.kind, sums, whole, before, self.mass.sum() - before)[0])

    def best(self, j: int, lot: np.uint64 | None) -> float:
        """Give the best purity of all questions about a column, or of the one between its values that a lot draws."""
        code = self.codes[j, self.rows]
        before = self._of_levels(code, lot) if self.by_level[j] else self._of_bins(code, j, lot)
        mass, number = before[-2], before[-1]
        rest = self.mass.sum() - mass
        allowed = (number >= self.rules.leaf) & (len(code) - number >= self.rules.leaf)
        allowed &= (mass >= self.rules.weight) & (rest >= self.rules.weight)
        if not allowed.any():
            return -np.inf
        whole = self.each.sum(axis=1, keepdims=True)
        found = purities(self.kind, before[:-2, allowed], whole, mass[allowed], rest[allowed])
        return float(found.max())

    def _sums(self, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give the codes that there are, and of each the sums, what they weigh, and their number."""
        codes, each = np.unique(code), MISSING + 1
        sums = [np.bincount(code, one, each)[codes] for one in (*self.each, self.mass, np.ones(len(code)))]
        return codes, np.array(sums)

    def _of_bins(self, code: np.ndarray, j: int, lot: np.uint64 | None) -> np.ndarray:
        """Give the sums of the left side of each question about numbers."""
        bins, sums = self._sums(code if lot is None else _halved(code, self.edges[j], lot))
        before = np.cumsum(sums, axis=1)[:, :-1]
        if bins[-1] == MISSING:
            # Missing values on the right, behind all others; or on the left, before them.
            before = np.hstack([before, before[:, :-1] + sums[:, -1:]])
        return before

    def _of_levels(self, code: np.ndarray, lot: np.uint64 | None) -> np.ndarray:
        """Give the sums of the left side of each question about categories."""
        levels, sums = self._sums(code)
        count = len(levels)
        if lot is not None:
            order = np.argsort(
                mixed(lot + (levels.astype(np.uint64) + np.uint64(1)) * STEP) >> np.uint64(11), kind="stable"
            )
            only = int(mixed(np.array([lot]))[0] % np.uint64(max(count - 1, 1)))
            return np.cumsum(sums[:, order], axis=1)[:, only : min(only + 1, count - 1)]
        if self.classes > 2 and count <= MOST_TRIED:
            ways = (np.arange(1, 1 << (count - 1))[:, None] >> np.arange(count)) & 1
            return np.asarray(sums @ ways.T.astype(np.float64))
        keys = (sums[1:2] if self.classes == 2 else sums[: self.classes]) / sums[-2]
        orders = (np.argsort(key, kind="stable") for key in keys)
        return np.hstack([np.cumsum(sums[:, order], axis=1)[:, :-1] for order in orders])


def _halved(code: np.ndarray, edges: np.ndarray, lot: np.uint64) -> np.ndarray:
    """Give codes as two bins, on either side of the place between the least and the largest that a lot draws."""
    there = code[code != MISSING]
    if not there.size or there.min() == there.max():
        return code
    low, high = int(there.min()), int(there.max())
    at = interpreted(between)(edges[low], edges[high - 1], lot)
    only = low + int(np.searchsorted(edges[low + 1 : high], at, side="right"))
    return np.where(code == MISSING, MISSING, np.where(code <= only, only, high))
