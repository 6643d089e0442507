"""A table at a glance: per column the weight, mean, spread, range and number of missing values, in one pass.

This statistic is what validation looks at (is anything missing or infinite?), what fingerprints are made of (is this the
table that the model was fitted on?) and what scalers and imputers learn. Means and sums of squared deviations are merged by the
pairwise update of Chan, Golub and LeVeque (1979), about the means, so large offsets cost no digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.lazy import later
from qed.base.models.fingerprint import Fingerprint, largest_loss, mixture, within_range
from qed.base.numbers import EPS, TINY, all_finite, any_of, largest, largest_share, ratio
from qed.base.saving.known import savable
from qed.base.sources.block import Block, is_sparse

summary_kernel = later("qed.base.summary_kernel")
TILE_ROWS = 256
COMPILED_FROM = 1 << 15
# Summaries of so many columns in all are added side by side: what is called matters there, not what is copied.
FEW_COLUMNS = 1 << 12
# A smaller share of its squares that is left of a column, when rows were taken away, is rounding.
ROUNDING = 64 * EPS
# What there is a number of for each column.
OF_COLUMNS = ("weight", "mean", "deviation", "low", "high", "missing", "slip", "lost")


@savable
@dataclass(frozen=True)
class Summary:
    """Weighted count, mean, sum of squared deviations, minimum and maximum of each column.

    Missing values (NaN) are counted and left out; rows of zero weight are left out altogether, also of the count.

    >>> import numpy as np
    >>> from qed.base.sources.open import rows
    >>> seen = rows(np.array([[1.0, 5.0], [3.0, np.nan]])).fold(Summary.of)
    >>> seen.mean, seen.missing
    (array([2., 5.]), array([0, 1]))
    """

    attributes: ClassVar = {
        "count": integers(),
        "weight": floats("columns", low=0),
        "mean": floats("columns"),
        "deviation": floats("columns", low=0),
        "low": floats("columns", finite=False),
        "high": floats("columns", finite=False),
        "missing": integers("columns"),
        "slip": floats("columns", low=0),
        "lost": floats("columns", low=0),
    }
    count: int
    weight: np.ndarray  # (p,): the weight of the values that are there
    # (p,): mean, and sum of weighted squared deviations from it.
    mean: np.ndarray
    deviation: np.ndarray
    # (p,): range.
    low: np.ndarray
    high: np.ndarray
    missing: np.ndarray  # (p,): how many values are missing
    # (p,): how far rounding may have carried means and deviations, at most: far, where larger rows were taken away than are left.
    slip: np.ndarray = None  # type: ignore[assignment]
    lost: np.ndarray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.slip is None:
            self._allow(1.0)

    def _allow(self, summed: float) -> Summary:
        """Set what rounding may have done: sums are over tiles, then over these, about means that were `summed` with so many roundings."""
        roundings = 8 + 2 * (min(self.count, TILE_ROWS) + self.count / TILE_ROWS)
        with np.errstate(all="ignore"):
            slip = EPS * (summed * np.abs(self.mean) + (summed + roundings) * np.sqrt(self.variance))
            lost = (summed + roundings) * EPS * self.deviation
            if summed > 1:
                lost += self.weight * slip**2
        vars(self).update(slip=slip, lost=lost)
        return self

    @classmethod
    def of(cls, block: Block) -> Summary:
        X, weight = block.X, block.weight
        if weight is not None and not weight.all():
            chosen = weight > 0
            X, weight = X[chosen], weight[chosen]
        if is_sparse(X):
            return cls._of_sparse(X, weight)
        with np.errstate(invalid="ignore", over="ignore"):
            return cls._of_dense(np.asarray(X), weight)

    @classmethod
    def _of_dense(cls, X: np.ndarray, weight: np.ndarray | None) -> Summary:
        n, p = X.shape
        if n == 0:
            return cls.empty(p)
        w = np.ones(n) if weight is None else weight
        if X.size >= COMPILED_FROM:
            return cls._of_many(X, np.ascontiguousarray(w))
        total = w @ X
        if all_finite(total):
            missing, weights = np.zeros(p, dtype=np.int64), n if weight is None else w.sum()
            mean, deviation = _about_mean(X, w, total / weights, weights)
            low, high = (ends.astype(float, copy=False) for ends in (X.min(axis=0), X.max(axis=0)))
            return cls(n, np.full(p, weights, dtype=float), mean, deviation, low, high, missing)
        hole = np.isnan(X)
        there = w @ ~hole
        filled = np.where(hole, 0, X)
        mean = np.divide(w @ filled, there, out=np.zeros(p), where=there > 0)
        gap = np.where(hole, 0, X - mean)
        drift = np.divide(w @ gap, there, out=np.zeros(p), where=there > 0)
        mean, deviation = mean + drift, np.maximum(w @ gap**2 - there * drift**2, 0.0)
        low = np.where(hole, np.inf, X).min(axis=0)
        high = np.where(hole, -np.inf, X).max(axis=0)
        return cls(n, there, mean, deviation, low.astype(float), high.astype(float), hole.sum(axis=0))

    @classmethod
    def _of_many(cls, X: np.ndarray, weight: np.ndarray) -> Summary:
        n, p = X.shape
        if X.flags.c_contiguous:
            mean, deviation, low, high = summary_kernel.summarise(X, weight, TILE_ROWS)
            if np.isfinite(mean).all():
                return cls(n, np.full(p, weight.sum()), mean, deviation, low, high, np.zeros(p, dtype=np.int64))
        return cls(n, *summary_kernel.summarise_there(X, weight, TILE_ROWS))

    @classmethod
    def _of_sparse(cls, X: Any, weight: np.ndarray | None) -> Summary:
        n, p = X.shape
        if n == 0:
            return cls.empty(p)
        w = np.ones(n) if weight is None else weight
        X = X.tocsr()
        if X.nnz >= COMPILED_FROM:
            w = np.ascontiguousarray(w)
            return cls(n, *summary_kernel.summarise_sparse(X.data, X.indices, X.indptr, w, p))._allow(n)
        hole = np.isnan(X.data)
        missing = np.bincount(X.indices[hole], minlength=p)
        row_weight = np.repeat(w, np.diff(X.indptr))
        value = np.where(hole, 0, X.data).astype(np.float64)
        there = w.sum() - np.bincount(X.indices[hole], row_weight[hole], minlength=p)
        mean = np.divide(
            np.bincount(X.indices, row_weight * value, minlength=p), there, out=np.zeros(p), where=there > 0
        )
        spread = np.where(hole, 0, (value - mean[X.indices]) ** 2)
        zeros = np.bincount(X.indices, minlength=p) < n
        # Where nothing is left out, the weight of what is left out is no rounding error either.
        left_out = np.where(zeros, np.maximum(w.sum() - np.bincount(X.indices, row_weight, minlength=p), 0.0), 0.0)
        deviation = np.bincount(X.indices, row_weight * spread, minlength=p) + left_out * mean**2
        low, high = np.where(zeros, 0.0, np.inf), np.where(zeros, 0.0, -np.inf)
        np.minimum.at(low, X.indices[~hole], value[~hole])
        np.maximum.at(high, X.indices[~hole], value[~hole])
        return cls(n, there, mean, deviation, low, high, missing)._allow(n)

    @classmethod
    def empty(cls, p: int) -> Summary:
        """Give the summary of no rows: the zero of addition."""
        zero = np.zeros(p)
        return cls(0, zero, zero, zero, np.full(p, np.inf), np.full(p, -np.inf), np.zeros(p, dtype=np.int64))

    def __add__(self, other: Summary) -> Summary:
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        with np.errstate(invalid="ignore", over="ignore"):
            gap = other.mean - self.mean
            deviation = self.deviation + other.deviation + gap**2 * self.weight * share
            mean = self.mean + gap * share
        return Summary(
            self.count + other.count,
            weight,
            mean,
            deviation,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.missing + other.missing,
            *self._doubt(other, share, (1 - share) * self.slip, mean, deviation),
        )

    @classmethod
    def add_each(cls, some: Sequence[Summary], others: Sequence[Summary]) -> list[Summary]:
        """Add summaries of as many columns pair by pair, all in one go: the same as one by one."""
        if len(some) * len(some[0].mean) > FEW_COLUMNS:
            return [one + other for one, other in zip(some, others)]
        both = cls._beside(some) + cls._beside(others)
        return both.cut([one.count + other.count for one, other in zip(some, others)])

    @classmethod
    def _beside(cls, parts: Sequence[Summary]) -> Summary:
        """Give a summary of the columns of several, side by side."""
        return cls(0, *(np.concatenate([vars(one)[name] for one in parts]) for name in OF_COLUMNS))

    def cut(self, counts: Sequence[int]) -> list[Summary]:
        """Cut the columns into summaries of as many each, of so many rows."""
        tables = (vars(self)[name].reshape(len(counts), -1) for name in OF_COLUMNS)
        return [Summary(int(count), *values) for count, *values in zip(counts, *tables)]

    def __sub__(self, other: Summary) -> Summary:
        """Take away rows that were part of this summary; their range can not be taken away, so it is NaN from then on."""
        missing = self.missing - other.missing
        # Where nothing is left, what weights leave is rounding.
        weight = np.where(missing == self.count - other.count, 0.0, self.weight - other.weight)
        there = weight > 0
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=there)
        with np.errstate(invalid="ignore", over="ignore"):
            gap = other.mean - self.mean
            deviation = np.maximum(self.deviation - other.deviation - gap**2 * self.weight * share, 0.0)
            mean = np.where(there, self.mean - gap * share, 0.0)
            # Nothing but rounding is left of a column that is constant now.
            gone = deviation <= ROUNDING * self.deviation
        unknown = np.full_like(weight, np.nan)
        slip, lost = self._doubt(other, share, (1 + share) * self.slip, mean, self.deviation)
        return Summary(
            self.count - other.count,
            weight,
            mean,
            np.where(there & ~gone, deviation, 0.0),
            unknown,
            unknown,
            missing,
            np.where(there, slip, 0.0),
            np.where(there, lost + np.where(gone, deviation, 0.0), 0.0),
        )

    def _doubt(
        self, other: Summary, share: np.ndarray, slip: np.ndarray, mean: np.ndarray, deviation: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Bound the errors of a mean and of deviations that were made of two, the other being a `share` of the whole."""
        with np.errstate(invalid="ignore", over="ignore"):
            gap = np.abs(other.mean - self.mean)
            blur = self.slip + other.slip + 4 * EPS * gap
            slip = slip + share * other.slip + 8 * EPS * gap * share + EPS * np.abs(mean)
            lost = self.lost + other.lost + self.weight * share * blur * (2 * gap + blur) + 8 * EPS * deviation
        return slip, lost

    @property
    def variance(self) -> np.ndarray:
        """Give the variance of each column, divided by the weight."""
        return np.divide(self.deviation, self.weight, out=np.zeros(len(self.mean)), where=self.weight > 0)

    def sums(self) -> np.ndarray:
        """Add up the columns, mixed into one, and all squares: what a fingerprint knows of a target that is summarised."""
        squares = self.deviation + self.weight * self.mean**2
        return np.array([(self.weight * self.mean) @ mixture(len(self.mean)), squares.sum()])

    def fingerprint(self, target: np.ndarray | None = None) -> Fingerprint:
        """Tell these rows from others; `target` is what `target_sums` folds to, where there is one.

        >>> first = Summary.of(Block(np.array([[1.0], [3.0]]))).fingerprint()
        >>> first.count, first.mean, first.variance
        (2, array([2.]), array([1.]))
        """
        weight = largest(self.weight, 0.0)
        target = None if target is None else within_range(target / max(weight, 1e-300))
        return Fingerprint(self.count, weight, within_range(self.mean), within_range(self.variance), target)

    @property
    def loss(self) -> float:
        """By how much the squares that went in exceed those that are left, in the column that lost most."""
        return largest_loss(ratio(self.lost, self.weight) / (2 * TILE_ROWS * EPS), self.variance, self.mean)

    def apart(self, other: Summary) -> float:
        """Give the largest difference from another summary, in units of what rounding can do; ranges that were lost are not compared."""
        known = not np.isnan([self.low, self.high]).all()
        same = self.count == other.count and np.array_equal(self.missing, other.missing)
        if not same or (known and not (np.array_equal(self.low, other.low) and np.array_equal(self.high, other.high))):
            return np.inf
        bounded = (self.slip >= EPS * np.abs(other.mean) * (1 - 1e-9)).all() and np.isfinite(self.slip).all()
        bounded &= (self.lost >= EPS * other.deviation).all() and np.isfinite(self.lost).all()
        return max(
            largest_share(self.weight, other.weight, 1e-10 * other.weight),
            largest_share(self.mean, other.mean, self.slip + other.slip + TINY),
            largest_share(self.deviation, other.deviation, self.lost + other.lost + TINY),
            0.0 if bounded else np.inf,
        )

    @property
    def is_finite(self) -> bool:
        """Say whether nothing is missing and the means and spreads are finite."""
        return not any_of(self.missing) and all_finite(self.mean) and all_finite(self.deviation)

    @property
    def is_complete(self) -> bool:
        """Say whether nothing is missing and nothing is infinite."""
        return not any_of(self.missing) and all_finite(self.mean) and all_finite(self.low) and all_finite(self.high)


class Beside(Mapping[Any, Summary]):
    """Summaries of as many columns each, by their labels: kept as one of all columns, side by side, and cut apart when one is asked for.

    Those of the same labels are added at the price of one.

    >>> whole = Summary.of(Block(np.array([[1.0, 5.0], [3.0, 9.0]])))
    >>> both = Beside(["low", "high"], np.array([2, 2]), whole)
    >>> both["high"].mean, (both + both)["low"].count
    (array([7.]), 4)
    """

    def __init__(self, labels: Sequence[Any], counts: np.ndarray, whole: Summary) -> None:
        self.labels, self.counts, self.whole = labels, counts, whole

    @cached_property
    def _parts(self) -> dict[Any, Summary]:
        return dict(zip(self.labels, self.whole.cut(self.counts.tolist())))

    def __getitem__(self, label: Any) -> Summary:
        return self._parts[label]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: Beside) -> Beside:
        return Beside(self.labels, self.counts + other.counts, self.whole + other.whole)


def _about_mean(X: np.ndarray, weight: np.ndarray, mean: np.ndarray, total: float) -> tuple[np.ndarray, np.ndarray]:
    """Give the mean and the sum of weighted squared deviations, in pieces that stay in the cache; `total` is that of the weights.

    What is left when a rounded mean is taken away (`drift`) corrects both, so a large offset costs no digits.
    """
    square, drift = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for start in range(0, len(X), 1024):
        gap = X[start : start + 1024] - mean
        drift += weight[start : start + 1024] @ gap
        np.multiply(gap, gap, out=gap)
        square += weight[start : start + 1024] @ gap
    drift /= total
    return mean + drift, np.maximum(square - total * drift**2, 0.0)
