"""The nodes of a tree: what each asks, where it leads, and what its rows are like.

Nodes stand in the order of a walk that goes left first. So the left child of a node is the next one, only the right one has to be told,
and whoever follows them comes to a leaf, whatever the numbers are: they only grow. A row goes left where its value is at most the
threshold.

A node that asks about a column of categories, whole numbers from 0 to 254, has a line of `sets` in the place of a threshold: which branch
each category takes, 0 being the left or first child, 1 the right or second, and so on where there are more. What is no such number is
missing, and takes the branch at the end of the line. Further children follow where the stretch of the one before them ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from qed.base.attributes import booleans, floats, integers, nothing
from qed.base.compile import interpreted, kernel
from qed.base.engine import work
from qed.base.errors import InputError
from qed.base.saving.known import savable

# Rows times nodes below which a walk is not worth compiling.
FEW = 1 << 12
# Rows that a thread leads to their leaves at a time.
PART = 1 << 14
LEAF = -1
# The place in a line of a set for what is no category.
NO_LEVEL = 255


@savable
@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of a decision tree, under the names that scikit-learn gives them where it has them."""

    attributes: ClassVar = {
        "feature": integers("nodes", low=LEAF),
        "threshold": floats("nodes", finite=False),
        "children_right": integers("nodes", low=LEAF),
        "missing_go_to_left": booleans("nodes"),
        "value": floats("nodes", "outputs"),
        "impurity": floats("nodes", low=0),
        "n_node_samples": integers("nodes"),
        "weighted_n_node_samples": floats("nodes", low=0),
        "level_set": integers("nodes", low=LEAF) | nothing(),
        "sets": integers("sets", NO_LEVEL + 1) | nothing(),
        "slope": floats("nodes", "columns") | nothing(),
        "center": floats("nodes", "columns") | nothing(),
        "bounds": floats("nodes", 2) | nothing(),
    }
    feature: np.ndarray  # the column that a node asks about; -1 for a leaf
    threshold: np.ndarray  # up to where rows go left; infinity where missing values alone go right
    children_right: np.ndarray  # the right child; -1 for a leaf
    missing_go_to_left: np.ndarray  # where rows go whose value is missing
    value: np.ndarray  # (nodes, outputs): the shares of the classes, or the mean of the target
    impurity: np.ndarray
    n_node_samples: np.ndarray  # how many rows there are
    weighted_n_node_samples: np.ndarray  # and what they weigh
    level_set: np.ndarray | None = None  # the line of `sets` of a node that asks about categories; -1 for all others
    sets: np.ndarray | None = (
        None  # (sets, 256): the branch of every category, in the order of the nodes; None without any
    )

    slope: np.ndarray | None = (
        None  # (nodes, p): what lines in the nodes add to their value for each column; None without lines
    )
    center: np.ndarray | None = None  # (nodes, p): from where on
    bounds: np.ndarray | None = None  # (nodes, 2): and between what they stay

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.feature)

    @property
    def n_outputs(self) -> int:
        """How many values each node has."""
        return self.value.shape[-1]

    @property
    def children_left(self) -> np.ndarray:
        """The left child of each node; -1 for a leaf."""
        return np.where(self.feature >= 0, np.arange(self.node_count) + 1, LEAF)

    @cached_property
    def n_children(self) -> np.ndarray:
        """How many children each node has."""
        found = np.where(self.feature >= 0, 2, 0)
        if self.level_set is not None and self.sets is not None:
            own = self.level_set >= 0
            found[own] = self.sets.max(axis=1).astype(np.intp)[self.level_set[own]] + 1
        return found

    @cached_property
    def is_leaf(self) -> np.ndarray:
        """Which nodes are leaves."""
        return self.feature < 0

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return int(self.is_leaf.sum())

    @cached_property
    def levels(self) -> list[np.ndarray]:
        """The numbers of the nodes, level by level."""
        found, level = [], np.array([0])
        while level.size:
            found.append(level)
            asking = level[self.feature[level] >= 0]
            if self._is_binary:
                level = np.column_stack([asking + 1, self.children_right[asking]]).ravel()
            else:
                level = np.sort(np.concatenate([child for _, child in self.children(asking)]))
        return found

    @cached_property
    def _is_binary(self) -> bool:
        return self.sets is None or self.sets.max(initial=1) < 2

    def children(self, asking: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Give the children of nodes that ask: of all of them the left ones, then the right ones, then the third of those that have one."""
        yield asking, asking + 1
        child = self.children_right[asking]
        yield asking, child
        for k in range(2, 2 if self._is_binary else int(self.n_children.max())):
            more = self.n_children[asking] > k
            asking, child = asking[more], self.ends[child[more]]
            yield asking, child

    @property
    def max_depth(self) -> int:
        """How many questions lie between the root and the deepest leaf."""
        return len(self.levels) - 1

    @cached_property
    def ends(self) -> np.ndarray:
        """The number after that of the last node below each: a node and all below it stand in one stretch."""
        end = np.arange(1, self.node_count + 1)
        if not self._is_binary:
            return self._stretches
        for level in reversed(self.levels):
            asking = level[self.feature[level] >= 0]
            end[asking] = end[self.children_right[asking]]
        return end

    @property
    def _stretches(self) -> np.ndarray:
        """The ends, from the numbers of children alone: below a node are as many places taken as opened when its stretch is over."""
        opened = np.concatenate([[0], np.cumsum(self.n_children - 1)])
        line = opened * len(opened) + np.arange(len(opened))
        in_order = np.sort(line)
        after = in_order[np.minimum(np.searchsorted(in_order, line[:-1] - len(opened)), self.node_count)]
        return np.asarray(after % len(opened))

    def fault(self) -> str:
        """Say what makes of these numbers no tree; nothing where they are one."""
        # Of a copy, which remembers nothing that followed from other numbers.
        return replace(self)._fault()

    def _fault(self) -> str:
        count, own = self.node_count, np.arange(self.node_count)
        lengths = {len(one) for name in self.attributes if name != "sets" and (one := getattr(self, name)) is not None}
        if not count or lengths != {count}:
            return "has columns of different lengths"
        if fault := self._fault_of_sets() or self._fault_of_lines():
            return fault
        asking = self.feature >= 0
        right = self.children_right
        if (right[~asking] != LEAF).any() or (right[asking] <= own[asking] + 1).any() or (right >= count).any():
            return "has a child that does not come after its parent"
        if not self._is_binary:
            opened = np.cumsum(self.n_children - 1)
            if opened[-1] != -1 or (opened[:-1] < 0).any() or (right[asking] != self._stretches[own[asking] + 1]).any():
                return "has a node without a parent"
            return ""
        # Every node but the root is the child of one: the next of a node that asks, or the right one of another.
        children = np.concatenate([own[asking] + 1, right[asking]])
        return "" if np.array_equal(np.sort(children), own[1:]) else "has a node without a parent"

    def _fault_of_lines(self) -> str:
        lines = (self.slope, self.center, self.bounds)
        if any((one is None) != (self.slope is None) for one in lines):
            return "has lines of which something is missing"
        return "" if self.bounds is None or (self.bounds[:, 0] <= self.bounds[:, 1]).all() else "has bounds that cross"

    def _fault_of_sets(self) -> str:
        if self.level_set is None or self.sets is None:
            return "" if self.level_set is self.sets else "has sets of categories without their nodes"
        own = np.flatnonzero(self.level_set >= 0)
        lines = np.sort(self.sets, axis=1).astype(np.intp)
        if not np.array_equal(self.level_set[own], np.arange(len(lines))) or (self.feature[own] < 0).any():
            return "has sets of categories that do not follow one another"
        if len(own) and ((lines[:, 0] != 0).any() or (lines[:, -1] < 1).any() or (np.diff(lines, axis=1) > 1).any()):
            return "has a branch that no category takes"
        if ((self.sets[:, NO_LEVEL] == 0) != self.missing_go_to_left[own]).any() or (self.threshold[own] != 0).any():
            return "has a set of categories that sends missing values another way"
        return ""

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Give the number of the leaf of each row."""
        if self.node_count and self.feature.max() >= X.shape[1]:
            raise InputError(f"A node asks about column {self.feature.max()}, but there are {X.shape[1]} columns.")
        leaf, X = np.zeros(len(X), dtype=np.intp), np.ascontiguousarray(X)
        walk = interpreted(descend) if len(X) * self.max_depth <= FEW else descend
        by_level = (None, None, None) if self.sets is None else (self.level_set, self.sets, self.ends)
        asked = (self.feature, self.threshold, self.children_right, self.missing_go_to_left, *by_level)
        parts = (slice(start, start + PART) for start in range(0, len(X), PART))
        for _ in work(partial(walk, X[part], *asked, leaf[part]) for part in parts):
            pass
        return leaf

    def sums(self, leaf: np.ndarray, amounts: np.ndarray) -> np.ndarray:
        """Add amounts of rows, which lie in the leaves `leaf`, up to all nodes; a column each where there are several."""
        columns = amounts.reshape(len(leaf), -1).T
        total = np.stack([np.bincount(leaf, one, self.node_count) for one in columns], axis=1)
        return self._upwards(total).reshape(-1, *amounts.shape[1:])

    def tally(self, leaf: np.ndarray, label: np.ndarray, weight: np.ndarray | None, classes: int) -> np.ndarray:
        """Give what the rows of each class weigh in every node, one each where no `weight` is given; of shape (nodes, classes)."""
        found = np.bincount(leaf * classes + label, weight, self.node_count * classes)
        return self._upwards(found.reshape(-1, classes).astype(np.float64))

    def _upwards(self, total: np.ndarray) -> np.ndarray:
        """Add what lies in leaves to the nodes above them."""
        for level in reversed(self.levels):
            for parent, child in self.children(level[self.feature[level] >= 0]):
                total[parent] += total[child]
        return total

    def above(self, level: np.ndarray, leaf: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give the node of a level that lies on the way to each leaf, and where there is one."""
        found = level[np.maximum(np.searchsorted(level, leaf, side="right") - 1, 0)]
        return found, (found <= leaf) & (leaf < self.ends[found])

    def gains(self) -> np.ndarray:
        """Give the impurity that the question of each node takes away, times what its rows weigh."""
        mixed = self.weighted_n_node_samples * self.impurity
        gain = mixed.copy()
        for parent, child in self.children(np.flatnonzero(~self.is_leaf)):
            gain[parent] -= mixed[child]
        return gain

    def holding(self, value: np.ndarray, impurity: np.ndarray, count: np.ndarray, weight: np.ndarray) -> Nodes:
        """Give the same questions with what the rows of their nodes are like."""
        return replace(self, value=value, impurity=impurity, n_node_samples=count, weighted_n_node_samples=weight)

    def kept(self, collapsed: np.ndarray) -> Nodes:
        """Give the tree in which nodes that are `collapsed` are leaves."""
        below = np.zeros(self.node_count + 1, dtype=np.intp)
        chosen = np.flatnonzero(collapsed & ~self.is_leaf)
        np.add.at(below, chosen + 1, 1)
        np.add.at(below, self.ends[chosen], -1)
        keep = np.cumsum(below[:-1]) == 0
        number = np.cumsum(keep) - 1
        leaf = (self.is_leaf | collapsed)[keep]
        own = [name for name in self.attributes if name != "sets" and getattr(self, name) is not None]
        parts = {name: getattr(self, name)[keep].copy() for name in own}
        parts["feature"][leaf] = LEAF
        parts["threshold"][leaf] = 0.0
        parts["missing_go_to_left"][leaf] = False
        parts["children_right"] = np.where(leaf, LEAF, number[parts["children_right"]])
        if self.sets is None:
            return Nodes(**parts)
        line = np.where(leaf, LEAF, parts["level_set"])
        by_level = line >= 0
        parts["level_set"] = np.where(by_level, np.cumsum(by_level) - 1, LEAF)
        return Nodes(**parts, sets=self.sets[line[by_level]])


def skeleton(feature: np.ndarray, threshold: np.ndarray, right: np.ndarray, missing_left: np.ndarray) -> Nodes:
    """Give the nodes of a tree before their rows were looked at."""
    count = len(feature)
    empty = (np.zeros((count, 1)), np.zeros(count), np.zeros(count, dtype=np.intp), np.zeros(count))
    return Nodes(feature, threshold, right, missing_left, *empty)


def levels_of(column: np.ndarray) -> np.ndarray:
    """Give the categories of values, whole numbers from 0 to 254; 255 for what is none.

    >>> levels_of(np.array([0.0, 254.0, 255.0, 1.5, -1.0, np.nan])).tolist()
    [0, 254, 255, 255, 255, 255]
    """
    with np.errstate(invalid="ignore"):
        level = np.where((column >= 0) & (column < NO_LEVEL), column, NO_LEVEL).astype(np.uint8)
        return np.where(level == column, level, np.uint8(NO_LEVEL))


@kernel
def descend(
    X: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    right: np.ndarray,
    missing_left: np.ndarray,
    levels: np.ndarray | None,
    sets: np.ndarray,
    ends: np.ndarray,
    leaf: np.ndarray,
) -> None:
    """Follow every row to its leaf; `levels` is None where no node asks about categories, and what is for these is not even compiled."""
    for i in range(len(X)):
        node = 0
        while feature[node] >= 0:
            x = X[i, feature[node]]
            if levels is not None and levels[node] >= 0:
                level = np.int64(x) if x >= 0 and x < NO_LEVEL else NO_LEVEL
                branch = sets[levels[node], level if level == x else NO_LEVEL]
                node += 1
                for _ in range(branch):
                    node = ends[node]
                continue
            if x <= threshold[node] or (x != x and missing_left[node]):
                node += 1
            else:
                node = right[node]
        leaf[i] = node
