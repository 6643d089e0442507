"""Many trees in one set of columns: a forest that is saved, checked and walked as a whole.

The nodes of a tree stand in one stretch, in the order of :mod:`qed.trees.nodes`; children are numbered within their tree, so that whoever
follows them ends in a leaf of it. A node that asks about a column of categories, whole numbers from 0 to 254, has the set of those that go
left; whatever else there is in the column goes where missing values go.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from qed.base.attributes import booleans, floats, integers
from qed.base.compile import interpreted, is_ready, kernel
from qed.base.errors import InputError
from qed.base.saving.known import savable
from qed.trees.boosting.passing import Passes, add_few, add_passed, passes_of
from qed.trees.nodes import LEAF, NO_LEVEL, Nodes

# Rows times trees below which a walk is not worth compiling, and rows times questions below which answers at once are not.
FEW, FEW_ANSWERS = 1 << 11, 1 << 21


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
        "level_set": integers("nodes", low=LEAF),
        "sets": booleans("sets", NO_LEVEL + 1),
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
    level_set: np.ndarray  # the number of the set of a node that asks about categories; -1 for all others
    sets: (
        np.ndarray
    )  # (sets, 256): which categories go left, in the order of the nodes; the last place is for what is none

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.starts) - 1

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """All that nodes have, in the order of their names."""
        return tuple(getattr(self, name) for name in self.attributes if name not in ("starts", "sets"))

    def tree(self, number: int) -> Nodes:
        """Give one of the trees."""
        here = slice(int(self.starts[number]), int(self.starts[number + 1]))
        parts = [one[here] for one in self.columns]
        feature, threshold, right, missing, value, _, count, weight, _ = parts
        return Nodes(feature, threshold, right, missing, value[:, None], np.zeros(len(value)), count, weight)

    def first(self, trees: int) -> Forest:
        """Give the forest of the first trees."""
        end = int(self.starts[trees])
        sets = self.sets[: int((self.level_set[:end] >= 0).sum())]
        return Forest(*[self.starts[: trees + 1], *(one[:end] for one in self.columns), sets])

    def fault(self) -> str:
        """Say what makes of these numbers no forest; nothing where they are one."""
        starts, lengths = self.starts, {len(one) for one in self.columns}
        if lengths != {int(starts[-1])} or starts[0] != 0 or (np.diff(starts) < 1).any():
            return "has trees that do not follow one another"
        own = np.flatnonzero(self.level_set >= 0)
        if not np.array_equal(self.level_set[own], np.arange(len(self.sets))) or (self.feature[own] < 0).any():
            return "has sets of categories that do not follow one another"
        if (self.sets[:, NO_LEVEL] != self.missing_go_to_left[own]).any():
            return "has a set of categories that sends missing values another way"
        return next((fault for number in range(self.n_trees) if (fault := self.tree(number).fault())), "")

    def add_to(self, X: np.ndarray, totals: np.ndarray, trees: range) -> None:
        """Add the values of some trees to totals (n, outputs), whose columns they belong to in turn."""
        if len(self.feature) and self.feature.max() >= X.shape[1]:
            raise InputError(f"A node asks about column {self.feature.max()}, but there are {X.shape[1]} columns.")
        X, passes = np.ascontiguousarray(X), self._passes
        if passes is not None:
            if len(X) * passes.questions <= FEW_ANSWERS and not is_ready(add_passed):
                add_few(X, passes, self.sets, trees.start, trees.stop, totals)
            else:
                add_passed(X, *passes, self.sets, trees.start, trees.stop, totals)
            return
        walk = interpreted(add_values) if len(X) * len(trees) <= FEW else add_values
        columns = self.feature, self.threshold, self.children_right, self.missing_go_to_left, self.value
        levels = self.level_set if len(self.sets) else self.level_set[:0]
        walk(X, self.starts, *columns, levels, self.sets, trees.start, trees.stop, totals)

    @cached_property
    def _passes(self) -> Passes | None:
        """The questions, where all trees are small, such that many rows answer them at once."""
        columns = self.feature, self.threshold, self.children_right, self.missing_go_to_left, self.value
        return passes_of(self.starts, *columns, self.level_set)


class Growing:
    """A forest to which trees are added; what was added never changes, so that each of its stages stays what it is."""

    def __init__(self, forest: Forest | None = None) -> None:
        self._count = self._end = 0
        self._starts = np.zeros(64, dtype=np.intp)
        kinds = (np.intp, np.float64, np.intp, np.bool_, np.float64, np.float64, np.intp, np.float64, np.intp)
        self._columns = [np.zeros(1024, dtype=kind) for kind in kinds]
        self._sets, self._n_sets = np.zeros((0, NO_LEVEL + 1), dtype=bool), 0
        if forest is not None:
            self._add(np.diff(forest.starts), forest.columns, forest.sets)

    def append(self, columns: Iterable[np.ndarray], sets: np.ndarray) -> None:
        """Add a tree, given what its nodes have, in the order of `Forest`, and its sets of categories, counted from its first."""
        *given, levels = columns
        self._add(np.array([len(levels)]), [*given, np.where(levels >= 0, levels + self._n_sets, LEAF)], sets)

    def _add(self, lengths: np.ndarray, columns: Iterable[np.ndarray], sets: np.ndarray) -> None:
        count, end = self._count + len(lengths), self._end + int(lengths.sum())
        self._starts = _with_room(self._starts, count + 1)
        self._starts[self._count + 1 : count + 1] = self._end + np.cumsum(lengths)
        for place, own in enumerate(columns):
            self._columns[place] = _with_room(self._columns[place], end)
            self._columns[place][self._end : end] = own
        self._count, self._end = count, end
        if len(sets):
            self._sets = _with_room(self._sets, self._n_sets + len(sets))
            self._sets[self._n_sets : self._n_sets + len(sets)] = sets
            self._n_sets += len(sets)

    @property
    def forest(self) -> Forest:
        """The forest as it is now."""
        own = [one[: self._end] for one in self._columns]
        return Forest(*[self._starts[: self._count + 1], *own, self._sets[: self._n_sets]])


def _with_room(array: np.ndarray, length: int) -> np.ndarray:
    """Give the array, or a longer one that begins like it; older views keep the old one."""
    if length <= len(array):
        return array
    longer = np.zeros((max(length, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
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
    levels: np.ndarray,
    sets: np.ndarray,
    first: int,
    last: int,
    totals: np.ndarray,
) -> None:
    """Follow every row through the trees `first` to `last`, and add up what it finds; some rows at a time, which stay near.

    `levels` is empty where no node asks about categories.
    """
    (n, outputs), any_levels = totals.shape, len(levels) > 0
    for begin in range(0, n, 256):
        for tree in range(first, last):
            start, output = starts[tree], tree % outputs
            for i in range(begin, min(begin + 256, n)):
                node = start
                while feature[node] >= 0:
                    x = X[i, feature[node]]
                    if any_levels and levels[node] >= 0:
                        level = np.int64(x) if x >= 0 and x < NO_LEVEL else NO_LEVEL
                        goes = sets[levels[node], level if level == x else NO_LEVEL]
                    else:
                        goes = x <= threshold[node] or (x != x and missing_left[node])
                    node = node + 1 if goes else start + right[node]
                totals[i, output] += value[node]
