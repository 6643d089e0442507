r"""The nearest centre of each row, exactly, at little more than the price of a matrix product in single precision.

**The filter.** Rows and centres are moved near zero and scaled near one, and the scores :math:`\|c\|^2/2 - x^\top c`, which rank the
centres as the distances do, are worked out in float32 and in registers (:mod:`qed.clustering.means.settling`). Their error is at most
:math:`E(\|x\|^2/2 + \|c\|^2)` with :math:`E = 2(p + 8)2^{-24}`: twice the p + 1 roundings of the sum and those of what goes into
it. Where the best score is ahead of the second by more than that, the nearest centre is proven; where it is not, distances by differences
decide. So the answer is that of the plain search, ties included, bit for bit and on every machine.

**The bounds.** A row that was looked at before knows a bound below its distance from all other centres. Each pass lowers it by the
farthest move of those. While the row's own distance (which the objective needs anyway) is less than that, or than half the way from its
centre to the next, no other centre is looked at.

Hamerly (2010), Making k-means even faster. A pass costs :math:`O(np)`, and :math:`O(pk)` for each row that is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.base.sources.block import is_sparse
from qed.clustering.means.distances import (
    FEW,
    checked,
    few_squares,
    nearest_of,
    norms,
    rounding_of,
    sparse_apart,
    sparse_row,
    squares,
    stored,
)
from qed.clustering.means.settling import FARTHEST, SLACK, Ready, Settled, settle_dense
from qed.linalg.registers.lead import padded, rows_in_lead

NO_WEIGHT = np.empty(0)
# With an error above this scores in single precision say nothing.
MOST_ERROR = 0.1


@dataclass(frozen=True)
class UnitScaling:
    """How rows are brought near zero (`shift`) and near one (`scale`, a power of two): then single precision does for scores."""

    shift: np.ndarray
    scale: float

    @classmethod
    def around(cls, low: np.ndarray, high: np.ndarray) -> UnitScaling:
        """Make the scaling that suits a box."""
        width = float((high - low).max(initial=0.0))
        return cls(low + (high - low) / 2, 2.0 ** -int(np.frexp(width)[1]) if 0 < width < np.inf else 1.0)


@dataclass(frozen=True)
class Search:
    """Centres to look for the nearest of.

    >>> found = Search.among(np.array([[0.0], [2.0]])).of(np.array([[0.0], [1.0], [5.0]]))
    >>> found[0], found[1]
    (array([0, 0, 1], dtype=int32), array([0., 1., 9.]))
    """

    centers: np.ndarray
    scaling: UnitScaling
    before: np.ndarray | None = None  # the centres of the last pass, whose bounds are gone on from

    @classmethod
    def among(cls, centers: np.ndarray, scaling: UnitScaling | None = None, before: np.ndarray | None = None) -> Search:
        """Prepare centres for a pass; what only the kernels need is worked out when they are called."""
        centers = np.ascontiguousarray(centers, dtype=np.float64)
        return cls(
            centers,
            UnitScaling.around(centers.min(axis=0), centers.max(axis=0)) if scaling is None else scaling,
            before,
        )

    @cached_property
    def scoring(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
        """What scores are made of: the centres, scaled, in single precision, turned about; what a score begins with, half the squared
        length less what the centre adds to the error; the order they are taken in; the squared length; and E, infinite where scores
        say nothing. One more centre, which is infinitely far, fills the registers up.
        """
        k, p = self.centers.shape
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            moved = (self.centers - self.scaling.shift) * self.scaling.scale
            size = (moved**2).sum(axis=1)
            error = 2.0 * (p + 8) * 2.0**-24
            trusted = error <= MOST_ERROR and bool((size < FARTHEST**2).all())
            small, lowered = np.zeros((k + 1, p), np.float32), np.full(k + 1, np.inf, np.float32)
            small[:k], lowered[:k] = -moved, size * (0.5 - error)
        order = np.full(padded(k), k, np.int32)
        order[:k] = np.arange(k)
        return small, lowered, order, size, error if trusted else np.inf

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Scaled: half the distance from each centre to the next, and how far the others moved since the last pass."""
        if self.before is None:
            return np.zeros(len(self.centers)), np.full(len(self.centers), np.inf)
        moves = np.sqrt(((self.centers - self.before) ** 2).sum(axis=1))
        half, drift = _half_gaps(self.centers), _largest_of_others(moves)
        return half * (self.scaling.scale * (1 - SLACK)), drift * (self.scaling.scale * (1 + SLACK))

    @cached_property
    def dense(self) -> Ready:
        """What kernels for dense rows are given."""
        return self.centers, *self.scoring, self.scaling.shift, self.scaling.scale, *self.bounds

    def room(self) -> tuple[np.ndarray, ...]:
        """Give kernels what they work in, for as many rows as they take at a time: arrays that a kernel makes have to be compiled too."""
        size = rows_in_lead()
        batch = np.zeros((self.centers.shape[1], size), np.float32)
        return np.empty(size, np.int64), batch, *np.empty((3, size), np.float32), np.empty(size, np.int32)

    @cached_property
    def sparse(self) -> Ready:
        """What kernels for sparse rows are given."""
        turned, norm = np.ascontiguousarray(self.centers.T), norms(self.centers)
        return self.centers, turned, norm, self.scaling.scale, rounding_of(self.centers.shape[1]), *self.bounds

    def of(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Give for each row the number of the nearest centre, the lower one of equals, and the squared distance to it."""
        n = X.shape[0]
        labels, lower, square = np.full(n, -1, np.int32), np.zeros(n, np.float32), np.empty(n)
        self.settle(X, labels, lower, square)
        return labels, square

    def settle(
        self, X: Any, labels: np.ndarray, lower: np.ndarray, square: np.ndarray, known: bool = False, stay: bool = False
    ) -> None:
        """Set labels, squared distances, and bounds below the distance from all other centres.

        `known` says that `labels` and `lower` are those of the last pass. With `stay`, a row leaves the cluster of its
        label for a strictly nearer centre only; else the lower number wins among equals.
        """
        checked(self.centers, X)
        if is_sparse(X):
            settle_sparse(*stored(X), self.sparse, known, stay, (labels, lower, square))
        elif X.shape[0] * self.centers.size <= FEW:
            self._settle_few(X, labels, square, stay)
        else:
            no_sums = np.empty((2, 0))
            self.settle_and_add(X, NO_WEIGHT, (labels, lower, square), known, stay, no_sums, no_sums)

    def settle_and_add(
        self,
        X: np.ndarray,
        weight: np.ndarray,
        settled: Settled,
        known: bool,
        stay: bool,
        sums: np.ndarray,
        totals: np.ndarray,
    ) -> None:
        """Do the same for dense rows that are not few and, where `totals` has a place for each cluster, add them up."""
        settle_dense(np.ascontiguousarray(X), weight, self.dense, known, stay, settled, self.room(), sums, totals)

    def _settle_few(self, X: np.ndarray, labels: np.ndarray, square: np.ndarray, stay: bool) -> None:
        """Do it by NumPy, without bounds."""
        found = few_squares(X, self.centers)
        best, square[:] = nearest_of(found)
        if stay:
            own = (labels >= 0) & (found[np.arange(len(found)), labels] <= square)
            best = np.where(own, labels, best)
        labels[:] = best


def _half_gaps(centers: np.ndarray) -> np.ndarray:
    """Give half the distance from each centre to the next; infinite where there is one only."""
    between = squares(centers, centers)
    np.fill_diagonal(between, np.inf)
    return np.sqrt(between.min(axis=1)) / 2


def _largest_of_others(moves: np.ndarray) -> np.ndarray:
    """Give for each centre how far another one moved at most."""
    if len(moves) == 1:
        return np.zeros(1)
    second, first = np.argsort(moves, kind="stable")[-2:]
    found = np.full(len(moves), moves[first])
    found[first] = moves[second]
    return found


@kernel
def settle_sparse(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, ready: Ready, known: bool, stay: bool, settled: Settled
) -> None:
    """Settle sparse rows; what rounding can do to their distances, `share` of both lengths, is counted against the bounds."""
    centers, turned, norm, scale, share, half, drift = ready
    labels, lower, square = settled
    farthest, found = norm.max(), np.empty(len(centers))
    larger = scale * scale * ((1.0 + SLACK) * (1.0 + SLACK))
    for i in range(len(labels)):
        there = slice(indptr[i], indptr[i + 1])
        values, places = data[there], indices[there]
        if known:
            own, length = labels[i], 0.0
            for value in values:
                length += float(value) * float(value)
            square[i] = sparse_apart(values, places, centers[own], norm[own])
            lower[i] = max(0.0, (lower[i] - drift[own]) * (1.0 - SLACK))
            bound, most = max(lower[i], half[own]), square[i] + 4.0 * share * (length + farthest)
            if most * larger < bound * bound:
                continue
        length = sparse_row(values, places, turned, norm, found)
        c = labels[i] if stay and labels[i] >= 0 else 0
        for other in range(len(found)):
            if found[other] < found[c]:
                c = other
        next_one = np.inf
        for other in range(len(found)):
            if other != c and found[other] < next_one:
                next_one = found[other]
        labels[i], square[i] = c, found[c]
        lower[i] = np.sqrt(max(0.0, next_one - 4.0 * share * (length + farthest))) * scale * (1.0 - SLACK)
