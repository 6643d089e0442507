"""Many trees in one set of columns: a forest that is saved, checked and walked as a whole.

The nodes of a tree stand in one stretch, in the order of :mod:`qed.trees.nodes`; children are numbered within their tree, so that whoever
follows them ends in a leaf of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from qed.base.attributes import booleans, floats, integers
from qed.base.compile import interpreted, kernel
from qed.base.errors import InputError
from qed.base.saving.known import savable
from qed.trees.nodes import LEAF, Nodes

# Rows times trees below which a walk is not worth compiling.
FEW = 1 << 11


@savable
@dataclass(frozen=True, eq=False)
class Forest:
    """The nodes of trees whose values are added up."""

    attributes: ClassVar = {
        "starts": integers("trees+1"),
        "feature": integers("nodes", low=LEAF),
        "threshold": floats("nodes", finite=False),
        "children_right": integers("nodes", low=LEAF),
        "missing_go_to_left": booleans("nodes"),
        "value": floats("nodes"),
        "gain": floats("nodes", low=0),
        "n_node_samples": integers("nodes"),
        "weighted_n_node_samples": floats("nodes", low=0),
    }
    starts: np.ndarray  # where each tree begins, and where the last one ends
    feature: np.ndarray  # the column that a node asks about; -1 for a leaf
    threshold: np.ndarray  # up to where rows go left; infinity where missing values alone go right
    children_right: np.ndarray  # the right child, counted from where its tree begins; -1 for a leaf
    missing_go_to_left: np.ndarray  # where rows go whose value is missing
    value: np.ndarray  # what a leaf adds; zero elsewhere
    gain: np.ndarray  # what a question is worth; zero for a leaf
    n_node_samples: np.ndarray  # how many rows there are
    weighted_n_node_samples: np.ndarray  # and what they weigh

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.starts) - 1

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """All that nodes have, in the order of their names."""
        return tuple(getattr(self, name) for name in self.attributes if name != "starts")

    def tree(self, number: int) -> Nodes:
        """Give one of the trees."""
        here = slice(int(self.starts[number]), int(self.starts[number + 1]))
        parts = [one[here] for one in self.columns]
        feature, threshold, right, missing, value, _, count, weight = parts
        return Nodes(feature, threshold, right, missing, value[:, None], np.zeros(len(value)), count, weight)

    def first(self, trees: int) -> Forest:
        """Give the forest of the first trees."""
        end = int(self.starts[trees])
        return Forest(self.starts[: trees + 1], *(one[:end] for one in self.columns))

    def fault(self) -> str:
        """Say what makes of these numbers no forest; nothing where they are one."""
        starts, lengths = self.starts, {len(one) for one in self.columns}
        if lengths != {int(starts[-1])} or starts[0] != 0 or (np.diff(starts) < 1).any():
            return "has trees that do not follow one another"
        return next((fault for number in range(self.n_trees) if (fault := self.tree(number).fault())), "")

    def add_to(self, X: np.ndarray, totals: np.ndarray, trees: range) -> None:
        """Add the values of some trees to totals (n, outputs), whose columns they belong to in turn."""
        if len(self.feature) and self.feature.max() >= X.shape[1]:
            raise InputError(f"A node asks about column {self.feature.max()}, but there are {X.shape[1]} columns.")
        walk = interpreted(add_values) if len(X) * len(trees) <= FEW else add_values
        columns = self.feature, self.threshold, self.children_right, self.missing_go_to_left, self.value
        walk(np.ascontiguousarray(X), self.starts, *columns, trees.start, trees.stop, totals)


class Growing:
    """A forest to which trees are added; what was added never changes, so that each of its stages stays what it is."""

    def __init__(self, forest: Forest | None = None) -> None:
        self._count = self._end = 0
        self._starts = np.zeros(64, dtype=np.intp)
        kinds = (np.intp, np.float64, np.intp, np.bool_, np.float64, np.float64, np.intp, np.float64)
        self._columns = [np.zeros(1024, dtype=kind) for kind in kinds]
        if forest is not None:
            self._add(np.diff(forest.starts), forest.columns)

    def append(self, columns: Iterable[np.ndarray]) -> None:
        """Add a tree, given what its nodes have, in the order of `Forest`."""
        given = tuple(columns)
        self._add(np.array([len(given[0])]), given)

    def _add(self, lengths: np.ndarray, columns: Iterable[np.ndarray]) -> None:
        count, end = self._count + len(lengths), self._end + int(lengths.sum())
        self._starts = _with_room(self._starts, count + 1)
        self._starts[self._count + 1 : count + 1] = self._end + np.cumsum(lengths)
        for place, own in enumerate(columns):
            self._columns[place] = _with_room(self._columns[place], end)
            self._columns[place][self._end : end] = own
        self._count, self._end = count, end

    @property
    def forest(self) -> Forest:
        """The forest as it is now."""
        return Forest(self._starts[: self._count + 1], *(one[: self._end] for one in self._columns))


def _with_room(array: np.ndarray, length: int) -> np.ndarray:
    """Give the array, or a longer one that begins like it; older views keep the old one."""
    if length <= len(array):
        return array
    longer = np.zeros(max(length, 2 * len(array)), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@kernel
def add_values(
    X: np.ndarray,
    starts: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    right: np.ndarray,
    missing_left: np.ndarray,
    value: np.ndarray,
    first: int,
    last: int,
    totals: np.ndarray,
) -> None:
    """Follow every row through the trees `first` to `last`, and add up what it finds; some rows at a time, which stay near."""
    n, outputs = totals.shape
    for begin in range(0, n, 256):
        for tree in range(first, last):
            start, output = starts[tree], tree % outputs
            for i in range(begin, min(begin + 256, n)):
                node = start
                while feature[node] >= 0:
                    x = X[i, feature[node]]
                    goes = x <= threshold[node] or (x != x and missing_left[node])
                    node = node + 1 if goes else start + right[node]
                totals[i, output] += value[node]
