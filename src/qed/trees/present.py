"""Rows that weigh anything: their targets in memory, their features read when they are asked for, as values or as codes.

One pass looks at the rows and keeps targets and weights. Who works on values then has all of them in memory (`X`). Who works on bins
learns the edges from a sample and has a byte for each value, made block by block: numbers themselves are never all in memory, and edges
and codes are those of the same rows in memory, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.engine import add_pairwise
from qed.base.models.checks import refuse_missing
from qed.base.models.fingerprint import Fingerprint, target_sums
from qed.base.models.problem import Problem
from qed.base.sources.block import Block, is_sparse, join
from qed.base.sources.rows import ArrayRows, Rows
from qed.base.summary import COMPILED_FROM, Summary
from qed.trees.asking.categories import known_levels
from qed.trees.bins import MOST, Bins
from qed.trees.nodes import levels_of

# Values for which no loop is compiled to look at them.
SMALL = 25 << 12


class PresentRows(Problem):
    """Rows with a weight above zero, what they weigh, and their targets; missing features are let through.

    `again` says whether a model is certified, whose every question is looked at.
    """

    rows: Rows
    again: bool = False
    # Which columns hold categories; None where none does.
    is_categorical: np.ndarray | None = None
    _bins: tuple[int, Bins] | None = None
    _codes: tuple[Bins, np.ndarray] | None = None

    def __init__(self, rows: Rows, model: object) -> None:
        # Files that say how many rows they have are cheap to read again, and would fill the memory if they were mapped.
        self.rows = rows.cached() if rows.in_memory or rows.known_count() is None else rows
        self.target_ndim = rows.target_ndim
        seen = list(self.rows.each(_facts_of))
        self.summary: Summary = add_pairwise(one[1] for one in seen)
        self._sums: Any = add_pairwise(one[2] for one in seen)
        if np.isneginf(self.summary.low).any() or np.isposinf(self.summary.high).any():
            refuse_missing(rows, model)
        y = np.asarray(seen[0][3] if len(seen) == 1 else join([one[3] for one in seen]))
        weight = None if seen[0][4] is None else np.concatenate([one[4] for one in seen])
        # The number of the first row, and how many there are.
        self.first, self.count = seen[0][0], len(y)
        # The numbers of the rows that weigh anything, counted from the first.
        self.numbers = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0)
        self.y = y if self.is_whole else y[self.numbers]
        # What rows weigh; None where all weigh one.
        self.weight: np.ndarray | None = None
        if weight is not None and (weight[self.numbers] != 1).any():
            self.weight = weight[self.numbers]

    @property
    def is_whole(self) -> bool:
        """Whether all rows weigh anything."""
        return len(self.numbers) == self.count

    @cached_property
    def fingerprint(self) -> Fingerprint | None:
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.summary.fingerprint(self._sums)
        # Squares of columns at 1e200 have none; trees do not need them.
        known = (found.variance, found.target if found.target is not None else 0.0)
        return found if all(np.isfinite(one).all() for one in known) else None

    @cached_property
    def weights(self) -> np.ndarray:
        """What every row weighs."""
        return np.ones(len(self.y)) if self.weight is None else self.weight.astype(np.float64)

    @cached_property
    def total(self) -> float:
        """What all rows weigh."""
        return float(self.weights.sum())

    @property
    def targets_alone(self) -> Rows:
        """The targets and weights, as rows without features."""
        return ArrayRows(np.empty((len(self.y), 0)), self.y, self.weight)

    @cached_property
    def X(self) -> Any:
        """The features, all of them in memory."""
        X = self.rows.array().X
        return X if self.is_whole else X[self.numbers]

    def keep(self, kept: np.ndarray) -> None:
        """Go on without some of the rows."""
        for name in ("weights", "total", "X", "_bins", "_codes"):
            vars(self).pop(name, None)
        self.numbers, self.y = self.numbers[kept], self.y[kept]
        self.weight = None if self.weight is None else self.weight[kept]

    def bins(self, most: int = MOST) -> Bins:
        """Give the edges of at most `most` bins; asked again for as many, at once."""
        if self._bins is None or self._bins[0] != most:
            self._bins = most, self._learned(most)
        return self._bins[1]

    def _learned(self, most: int) -> Bins:
        chosen, weight = Bins.sample(len(self.y)), self.weight
        numbers = None if self.is_whole and chosen is None else self.numbers if chosen is None else self.numbers[chosen]
        weight = weight if weight is None or chosen is None else weight[chosen]
        return Bins.of_sample(sample_of(self.rows, self.first, numbers), weight, most, self.is_categorical)

    def codes(self, bins: Bins) -> np.ndarray:
        """Give the codes of all rows, of shape (p, n); asked again for the same bins, at once."""
        if self._codes is None or not np.array_equal(self._codes[0].edges, bins.edges):
            self._codes = bins, self._coded_by(bins)
        return self._codes[1]

    def _coded_by(self, bins: Bins) -> np.ndarray:
        codes = np.empty((self.rows.n_features, len(self.y)), dtype=np.uint8)
        columns = [] if self.is_categorical is None else np.flatnonzero(self.is_categorical).tolist()
        for start, found in self.rows.each(_codes_of, bins, columns):
            here = np.array([start - self.first, start - self.first + len(found)])
            if self.is_whole:
                codes[:, slice(*here)] = found.T
            else:
                low, high = np.searchsorted(self.numbers, here)
                codes[:, low:high] = found[self.numbers[low:high] - here[0]].T
        return codes


def sample_of(rows: Rows, first: int, chosen: np.ndarray | None) -> np.ndarray:
    """Give the features of some rows, numbered from `first` on, in ascending order; or of all."""
    if chosen is None and rows.in_memory:
        return np.asarray(rows.array().X)
    return np.asarray(join(list(rows.each(_taken, first, chosen))))


def _taken(block: Block, first: int, chosen: np.ndarray | None) -> np.ndarray:
    if chosen is None:
        return np.asarray(block.X)
    start = block.start - first
    low, high = np.searchsorted(chosen, (start, start + len(block)))
    return np.asarray(block.X[chosen[low:high] - start])


def _codes_of(block: Block, bins: Bins, columns: Sequence[int]) -> tuple[int, np.ndarray]:
    """Give the number of the first row, and codes: the bins of numbers, and categories as they are; refuse what is none."""
    codes = bins.codes(block.X)
    if columns:
        used = block.X if block.weight is None else block.X[block.weight > 0]
        known_levels(used, columns, block.X.shape[1])
    for j in columns:
        codes[:, j] = levels_of(block.X[:, j])
    return block.start, codes


def _facts_of(block: Block) -> tuple[int, Summary, Any, Any, Any]:
    """Give the number of the first row, what the columns are like, sums of the target for a fingerprint, targets and weights."""
    with np.errstate(over="ignore", invalid="ignore"):
        # What is missing adds nothing to sums.
        holes = not is_sparse(block.X) and np.isnan(block.X).any()
        sums = target_sums(replace(block, X=np.nan_to_num(block.X, nan=0.0)) if holes else block)
    return block.start, _summary(block), sums, block.y, block.weight


def _summary(block: Block) -> Summary:
    """Say what the columns are like; of a table for which loops are not worth compiling, piece by piece."""
    step = (COMPILED_FROM - 1) // block.X.shape[1]
    if is_sparse(block.X) or step < 1 or not step < len(block) <= SMALL // block.X.shape[1]:
        return Summary.of(block)
    pieces = (block.between(start, min(start + step, len(block))) for start in range(0, len(block), step))
    found: Summary = add_pairwise(map(Summary.of, pieces))
    return found
