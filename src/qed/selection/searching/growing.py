"""Training sets that grow, from sums that are shared.

A learning curve fits a model to the first m rows of each of k training sets, for several m. Cut the rows, in the order in which
training sets grow, wherever one of these ends. One pass collects a statistic of every fold in every segment; each training set is then
the sum of some of them, and the next larger one is that and a few more. So the whole curve costs one pass, whatever k and the number
of sizes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate
from operator import add
from typing import Any

import numpy as np

from qed.base.models.problem import collect
from qed.base.models.searching import Collected, Indices
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.selection.searching.folds import Folds, mask
from qed.stats.grouped import Grouped
from qed.stats.parts import Part


@dataclass(frozen=True, eq=False)
class GrowingFolds:
    """Splits with training sets of several sizes: split ``s * k + f`` trains on the first ``sizes[s]`` rows of fold f's training set.

    >>> growing = GrowingFolds(Folds.of(2, range(6)), np.array([1, 3]), np.arange(6)[::-1])
    >>> [growing.train(split).tolist() for split in growing], growing.test(2).tolist()
    ([[5], [2], [3, 4, 5], [0, 1, 2]], [0, 1, 2])
    """

    folds: Folds  # the splits whose training sets are cut short
    sizes: np.ndarray  # (n_sizes,): the numbers of training rows, rising
    rank: np.ndarray  # (n,): the place of each row in the order in which training sets grow
    leave_one_out = out_of_bag = False

    @property
    def n_splits(self) -> int:
        """How many splits there are: folds times sizes."""
        return self.folds.n_splits * len(self.sizes)

    @property
    def words(self) -> str:
        """How many there are, in words."""
        return f"{len(self.sizes)} size{'s' if len(self.sizes) > 1 else ''} and {self.folds.words}"

    @property
    def repeats_rows(self) -> bool:
        """Whether a split names a row more than once."""
        return self.folds.repeats_rows

    @property
    def n_groups(self) -> int:
        """How many groups of rows one pass tells apart: folds in segments."""
        return 0 if self.folds.assignment is None else (self.folds.n_splits + 1) * (len(self.cuts) + 1)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.n_splits))

    def train(self, fold: int) -> Indices:
        """Give the row numbers of a training set."""
        size, part = divmod(fold, self.folds.n_splits)
        if self.folds.assignment is not None:
            return np.flatnonzero((self.folds.assignment != part) & (self.rank < self.ends[part, size]))
        rows = self.folds.train(part)
        return np.sort(rows[np.argsort(self.rank[rows], kind="stable")[: self.sizes[size]]])

    def test(self, fold: int) -> Indices:
        """Give the row numbers that a fold holds out."""
        return self.folds.test(fold % self.folds.n_splits)

    def training(self, rows: Rows, fold: int) -> Rows:
        """Give the training rows of a fold."""
        return Part(rows, mask(self.train(fold), self.folds.n_rows))

    def held_out(self, rows: Rows, fold: int) -> Rows:
        """Give the rows that a fold holds out."""
        return self.folds.held_out(rows, fold % self.folds.n_splits)

    def lacks_class(self, codes: Indices) -> bool:
        """Say whether some training set lacks a class."""
        return any(len(np.unique(codes[self.train(split)])) <= codes.max() for split in self)

    @cached_property
    def ends(self) -> np.ndarray:
        """How far each training set reaches in the order in which they grow: shape (n_splits, n_sizes)."""
        assert self.folds.assignment is not None
        ordered = np.empty_like(self.folds.assignment)
        ordered[self.rank] = self.folds.assignment
        return np.array([np.flatnonzero(ordered != fold)[self.sizes - 1] + 1 for fold in self.folds])

    @cached_property
    def cuts(self) -> np.ndarray:
        """All these ends, in rising order."""
        return np.unique(self.ends)

    def collect(self, rows: Rows, model: Any, function: Callable[[Block], Any]) -> Collected[Any]:
        """Collect a statistic of all splits in one pass, where the folds are a partition."""
        assert self.folds.assignment is not None
        segments = len(self.cuts) + 1
        groups = (self.folds.assignment + 1) * segments + np.searchsorted(self.cuts, self.rank, side="right")
        found: Grouped = collect(rows, model, Grouped.of, groups, self.n_groups, function)
        training: list[Any] = [None] * self.n_splits
        for fold in self.folds:
            others = [key for key in sorted(found.parts) if key // segments != fold + 1]
            stops = np.searchsorted(self.cuts, self.ends[fold]) + 1
            between = ([k for k in others if a <= k % segments < b] for a, b in zip([0, *stops], stops))
            grown = accumulate(reduce(add, [found.parts[key] for key in keys]) for keys in between)
            training[fold :: self.folds.n_splits] = list(grown)
        parts = [[found.parts[k] for k in found.parts if k // segments == fold + 1] for fold in self.folds]
        held_out = [reduce(add, part) for part in parts]
        return Collected(training, held_out * len(self.sizes), found.total)
