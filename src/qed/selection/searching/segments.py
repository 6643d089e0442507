"""Training sets that grow, from sums that are shared.

A learning curve fits a linear model to the first m rows of each of k training sets, for several m. Cut the rows, in the
order in which training sets grow, wherever one of these ends. One pass collects the moments of every fold in every
segment; each training set is then the sum of some of them, and the next larger one is that and a few more. So the
whole curve costs one pass, whatever k and the number of sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from operator import add
from typing import Any

import numpy as np

from qed.base.models.problem import collect
from qed.base.sources.rows import Rows
from qed.selection.scoring import Scorer
from qed.selection.searching.folds import Folds
from qed.selection.searching.linear_scores import LinearCandidates
from qed.stats.grouped import Grouped
from qed.stats.moments import Moments
from qed.stats.parts import Part


@dataclass(frozen=True, eq=False)
class Segments:
    """The moments of every fold's rows between two neighbouring sizes of training sets.

    Attributes
    ----------
    model : LinearModel
        The model, opened on the rows.
    rows : Rows
        All rows.
    folds : Folds
        The splits.
    rank : ndarray of int of shape (n,)
        The place of each row in the order in which training sets grow.
    ends : ndarray of int of shape (n_splits, n_sizes)
        How far in that order each training set reaches.
    cuts : ndarray of int
        All these ends, in rising order.
    parts : mapping of int to Moments
        The moments of fold f in segment s, under ``(f + 1) * (len(cuts) + 1) + s``.
    """

    model: Any
    rows: Rows
    folds: Folds
    rank: np.ndarray
    ends: np.ndarray
    cuts: np.ndarray
    parts: Mapping[int, Any]

    @classmethod
    def of(cls, model: Any, rows: Rows, folds: Folds, sizes: np.ndarray, rank: np.ndarray) -> Segments:
        """Collect the moments of all segments in one pass."""
        assert folds.assignment is not None
        ordered = np.empty_like(folds.assignment)
        ordered[rank] = folds.assignment
        ends = np.array([np.flatnonzero(ordered != fold)[sizes - 1] + 1 for fold in folds])
        cuts = np.unique(ends)
        groups = (folds.assignment + 1) * (len(cuts) + 1) + np.searchsorted(cuts, rank, side="right")
        many = (folds.n_splits + 1) * (len(cuts) + 1)
        found = collect(rows, model, Grouped.of, groups, many, model._statistic)
        return cls(model, rows, folds, rank, ends, cuts, found.parts)

    def _total(self, folds: Iterable[int], segments: Iterable[int]) -> Moments:
        keys = [(fold + 1) * (len(self.cuts) + 1) + s for s in segments for fold in folds]
        empty = Moments.empty(self.rows.n_features, next(iter(self.parts.values())).n_targets)
        return reduce(add, [self.parts[key] for key in keys if key in self.parts], empty)

    def held_out(self, fold: int) -> Moments:
        """Give the moments of the rows that a fold holds out."""
        return self._total([fold], range(len(self.cuts) + 1))

    def training(self, fold: int) -> list[Moments]:
        """Give the moments of the training sets of all sizes, each the one before and some segments more."""
        others = [other for other in range(-1, self.folds.n_splits) if other != fold]
        stops = np.searchsorted(self.cuts, self.ends[fold]) + 1
        pieces = [self._total(others, range(start, stop)) for start, stop in zip([0, *stops], stops)]
        return list(accumulate(pieces))

    def scores(self, fold: int, scorer: Scorer) -> tuple[list[float], list[float]]:
        """Score a fold's training sets of all sizes, on the rows held out and on their own."""
        test, train = [], []
        one = LinearCandidates.of([self.model], next(iter(self.parts.values())).n_targets)
        rows, held_out = self.folds.held_out(self.rows, fold), self.held_out(fold)
        for training, end in zip(self.training(fold), self.ends[fold]):
            chosen = Part(self.rows, (self.folds.assignment != fold) & (self.rank < end))
            on_others, on_own = one.scores(training, chosen, held_out, rows, scorer, train=True)
            test.append(float(on_others[0]))
            train.append(float(on_own[0]))
        return test, train
