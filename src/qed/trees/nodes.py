"""The nodes of a tree: what each asks, where it leads, and what its rows are like.

Nodes stand in the order of a walk that goes left first. So the left child of a node is the next one, only the right one has to be told,
and whoever follows them comes to a leaf, whatever the numbers are: they only grow. A row goes left where its value is at most the
threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from qed.base.attributes import booleans, floats, integers
from qed.base.compile import interpreted, kernel
from qed.base.engine import work
from qed.base.errors import InputError
from qed.base.saving.known import savable

# Rows times nodes below which a walk is not worth compiling.
FEW = 1 << 12
# Rows that a thread leads to their leaves at a time.
PART = 1 << 14
LEAF = -1


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
    }
    feature: np.ndarray  # the column that a node asks about; -1 for a leaf
    threshold: np.ndarray  # up to where rows go left; infinity where missing values alone go right
    children_right: np.ndarray  # the right child; -1 for a leaf
    missing_go_to_left: np.ndarray  # where rows go whose value is missing
    value: np.ndarray  # (nodes, outputs): the shares of the classes, or the mean of the target
    impurity: np.ndarray
    n_node_samples: np.ndarray  # how many rows there are
    weighted_n_node_samples: np.ndarray  # and what they weigh

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
            level = np.column_stack([asking + 1, self.children_right[asking]]).ravel()
        return found

    @property
    def max_depth(self) -> int:
        """How many questions lie between the root and the deepest leaf."""
        return len(self.levels) - 1

    @cached_property
    def ends(self) -> np.ndarray:
        """The number after that of the last node below each: a node and all below it stand in one stretch."""
        end = np.arange(1, self.node_count + 1)
        for level in reversed(self.levels):
            asking = level[self.feature[level] >= 0]
            end[asking] = end[self.children_right[asking]]
        return end

    def fault(self) -> str:
        """Say what makes of these numbers no tree; nothing where they are one."""
        count, own = self.node_count, np.arange(self.node_count)
        if not count or any(len(getattr(self, name)) != count for name in self.attributes):
            return "has columns of different lengths"
        asking = self.feature >= 0
        right = self.children_right
        if (right[~asking] != LEAF).any() or (right[asking] <= own[asking] + 1).any() or (right >= count).any():
            return "has a child that does not come after its parent"
        # Every node but the root is the child of one: the next of a node that asks, or the right one of another.
        children = np.concatenate([own[asking] + 1, right[asking]])
        return "" if np.array_equal(np.sort(children), own[1:]) else "has a node without a parent"

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Give the number of the leaf of each row."""
        if self.node_count and self.feature.max() >= X.shape[1]:
            raise InputError(f"A node asks about column {self.feature.max()}, but there are {X.shape[1]} columns.")
        leaf, X = np.zeros(len(X), dtype=np.intp), np.ascontiguousarray(X)
        walk = interpreted(descend) if len(X) * self.max_depth <= FEW else descend
        asked = (self.feature, self.threshold, self.children_right, self.missing_go_to_left)
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
            asking = level[self.feature[level] >= 0]
            total[asking] = total[asking + 1] + total[self.children_right[asking]]
        return total

    def holding(self, value: np.ndarray, impurity: np.ndarray, count: np.ndarray, weight: np.ndarray) -> Nodes:
        """Give the same questions with what the rows of their nodes are like."""
        return Nodes(
            *(self.feature, self.threshold, self.children_right, self.missing_go_to_left),
            *(value, impurity, count, weight),
        )

    def kept(self, collapsed: np.ndarray) -> Nodes:
        """Give the tree in which nodes that are `collapsed` are leaves."""
        below = np.zeros(self.node_count + 1, dtype=np.intp)
        chosen = np.flatnonzero(collapsed & ~self.is_leaf)
        np.add.at(below, chosen + 1, 1)
        np.add.at(below, self.ends[chosen], -1)
        keep = np.cumsum(below[:-1]) == 0
        number = np.cumsum(keep) - 1
        leaf = (self.is_leaf | collapsed)[keep]
        parts = {name: getattr(self, name)[keep].copy() for name in self.attributes}
        parts["feature"][leaf] = LEAF
        parts["threshold"][leaf] = 0.0
        parts["missing_go_to_left"][leaf] = False
        parts["children_right"] = np.where(leaf, LEAF, number[parts["children_right"]])
        return Nodes(**parts)


def skeleton(feature: np.ndarray, threshold: np.ndarray, right: np.ndarray, missing_left: np.ndarray) -> Nodes:
    """Give the nodes of a tree before their rows were looked at."""
    count = len(feature)
    empty = (np.zeros((count, 1)), np.zeros(count), np.zeros(count, dtype=np.intp), np.zeros(count))
    return Nodes(feature, threshold, right, missing_left, *empty)


@kernel
def descend(
    X: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    right: np.ndarray,
    missing_left: np.ndarray,
    leaf: np.ndarray,
) -> None:
    """Follow every row to its leaf."""
    for i in range(len(X)):
        node = 0
        while feature[node] >= 0:
            x = X[i, feature[node]]
            if x <= threshold[node] or (x != x and missing_left[node]):
                node += 1
            else:
                node = right[node]
        leaf[i] = node
