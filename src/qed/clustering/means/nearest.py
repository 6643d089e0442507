r"""The nearest centre of each row, exactly, at little more than the price of a matrix product in single precision.

**The filter.** Rows and centres are moved near zero and scaled near one, and the scores :math:`\|c\|^2/2 - x^\top c`, which rank the
centres as the distances do, come from one product of float32 matrices. Their error is at most :math:`E(\|x\|^2/2 + \|c\|^2)` with
:math:`E = 2(p + 8)2^{-24}`. Where the best score is ahead of the second by more than that, the nearest centre is proven; where it is
not, distances by differences decide. So the answer is that of the plain search, ties included, bit for bit and on every machine.

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
    apart,
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

# So many rows, and so many centres, at a time: their scores stay in the cache.
BATCH, STRIPE = 256, 128
# A chunk of so many values stays in the cache while it is gone through twice.
CHUNK_VALUES, CHUNK_ROWS = 1 << 14, 64
NO_WEIGHT = np.empty(0)
# Bounds are kept in single precision; a bound from below is made smaller, and one from above larger, by this share.
SLACK = 2.0**-20
# Beyond this, relative to the data, or with an error above this, scores in single precision say nothing.
FARTHEST, MOST_ERROR = 2.0**40, 0.1
TINY = 1e-36

# What kernels are given of the centres, and what they tell of every row: its label, a bound below its distance from others, its square.
Ready = tuple[Any, ...]
Told = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Frame:
    """How rows are brought near zero (`shift`) and near one (`scale`, a power of two): then single precision does for scores."""

    shift: np.ndarray
    scale: float

    @classmethod
    def around(cls, low: np.ndarray, high: np.ndarray) -> Frame:
        """Make the frame of a box."""
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
    frame: Frame
    before: np.ndarray | None = None  # the centres of the last pass, whose bounds are gone on from

    @classmethod
    def among(cls, centers: np.ndarray, frame: Frame | None = None, before: np.ndarray | None = None) -> Search:
        """Prepare centres for a pass; what only the kernels need is worked out when they are called."""
        centers = np.ascontiguousarray(centers, dtype=np.float64)
        return cls(centers, Frame.around(centers.min(axis=0), centers.max(axis=0)) if frame is None else frame, before)

    @cached_property
    def scoring(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """What scores are made of: the centres in the frame, in single precision; what a score begins with, half the squared
        length less what the centre adds to the error; the squared length; and E, infinite where scores say nothing.
        """
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            moved = (self.centers - self.frame.shift) * self.frame.scale
            size = (moved**2).sum(axis=1)
            error = 2.0 * (self.centers.shape[1] + 8) * 2.0**-24
            trusted = error <= MOST_ERROR and bool((size < FARTHEST**2).all())
            lowered = (size * (0.5 - error)).astype(np.float32)
            return moved.astype(np.float32), lowered, size, error if trusted else np.inf

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """In the frame: half the distance from each centre to the next, and how far the others moved since the last pass."""
        if self.before is None:
            return np.zeros(len(self.centers)), np.full(len(self.centers), np.inf)
        moves = np.sqrt(((self.centers - self.before) ** 2).sum(axis=1))
        half, drift = _half_gaps(self.centers), _largest_of_others(moves)
        return half * (self.frame.scale * (1 - SLACK)), drift * (self.frame.scale * (1 + SLACK))

    @cached_property
    def dense(self) -> Ready:
        """What kernels for dense rows are given."""
        return self.centers, *self.scoring, self.frame.shift, self.frame.scale, *self.bounds

    def room(self) -> tuple[np.ndarray, ...]:
        """Give `settle_dense` what it works in, for a batch of rows: arrays that a kernel makes have to be compiled too."""
        k, p = self.centers.shape
        scores = (np.empty((BATCH, p), np.float32), np.empty(min(k, STRIPE) * BATCH, np.float32), np.empty(BATCH))
        return np.empty(BATCH, np.int64), *scores, *np.empty((2, BATCH), np.float32), np.empty(BATCH, np.int32)

    @cached_property
    def sparse(self) -> Ready:
        """What kernels for sparse rows are given."""
        turned, norm = np.ascontiguousarray(self.centers.T), norms(self.centers)
        return self.centers, turned, norm, self.frame.scale, rounding_of(self.centers.shape[1]), *self.bounds

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
            told, no_sums = (labels, lower, square), np.empty((2, 0))
            settle_dense(
                np.ascontiguousarray(X), NO_WEIGHT, self.dense, known, stay, told, self.room(), no_sums, no_sums
            )

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
def settle_dense(
    X: np.ndarray,
    weight: np.ndarray,
    ready: Ready,
    known: bool,
    stay: bool,
    told: Told,
    room: tuple[np.ndarray, ...],
    sums: np.ndarray,
    totals: np.ndarray,
) -> None:
    """Settle dense rows and, where `totals` has a place for each cluster, add them up: chunk after chunk."""
    centers, (labels, lower, square) = ready[0], told
    step = max(CHUNK_ROWS, CHUNK_VALUES // X.shape[1])
    for start in range(0, len(X), step):
        here = slice(start, min(start + step, len(X)))
        settle_chunk(X[here], ready, known, stay, (labels[here], lower[here], square[here]), room)
        if totals.shape[1] == 0:
            continue
        for i in range(here.start, here.stop):
            w = weight[i] if len(weight) > 0 else 1.0
            if w == 0.0:
                continue
            c = labels[i]
            totals[0, c] += w
            totals[1, c] += w * square[i]
            x, center, total = X[i], centers[c], sums[c]
            for j in range(len(x)):
                total[j] += w * (x[j] - center[j])


@kernel(within=True)
def settle_chunk(
    X: np.ndarray, ready: Ready, known: bool, stay: bool, told: Told, room: tuple[np.ndarray, ...]
) -> None:
    """Settle some dense rows: those that their bounds do not keep go through the filter, batch after batch."""
    centers, small, lowered, size, error, shift, scale, half, drift = ready
    labels, lower, square = told
    waiting, batch, scores, length, best, second, found = room
    count, larger = 0, (scale * (1.0 + SLACK)) ** 2
    for i in range(len(X)):
        stays = False
        if known:
            own = labels[i]
            square[i] = apart(X[i], centers[own])
            lower[i] = max(0.0, (lower[i] - drift[own]) * (1.0 - SLACK))
            bound = max(lower[i], half[own])
            stays = square[i] * larger < bound * bound
        if not stays:
            waiting[count] = i
            count += 1
        if count == BATCH or (count > 0 and i + 1 == len(X)):
            rows = waiting[:count]
            pack(X, rows, shift, scale, batch, length)
            rank(small, lowered, batch[:count], scores, (best, second, found))
            scored = (length, best, second, found)
            decide(X, (centers, size, error, scale), rows, scored, known, stay, told)
            count = 0


@kernel(within=True, fastmath={"reassoc", "nsz", "contract"})
def pack(
    X: np.ndarray, rows: np.ndarray, shift: np.ndarray, scale: float, batch: np.ndarray, length: np.ndarray
) -> None:
    """Copy some rows into the frame, and give their squared lengths there."""
    for q in range(len(rows)):
        x, small = X[rows[q]], batch[q]
        for j in range(len(x)):
            small[j] = (x[j] - shift[j]) * scale
        total = np.float32(0.0)
        for j in range(len(x)):
            total += small[j] * small[j]
        length[q] = total


@kernel(within=True)
def rank(small: np.ndarray, lowered: np.ndarray, batch: np.ndarray, scores: np.ndarray, out: Told) -> None:
    """Set the least score of each row of a batch, the second, and the centre of the least."""
    best, second, found = out
    k, m = len(small), len(batch)
    for q in range(m):
        best[q], second[q], found[q] = np.inf, np.inf, 0
    for first in range(0, k, STRIPE):
        part = small[first : min(first + STRIPE, k)]
        table = scores[: len(part) * m].reshape((len(part), m))
        np.dot(part, batch.T, table)
        whole = len(part) - len(part) % 4
        for c in range(0, whole, 4):
            lead_of_four(table[c : c + 4], lowered[first + c : first + c + 4], np.int32(first + c), out)
        for c in range(whole, len(part)):
            row, begin, number = table[c], lowered[first + c], np.int32(first + c)
            for q in range(m):
                score, least, after = begin - row[q], best[q], second[q]
                less = score < least
                other = least if less else score
                second[q] = other if other < after else after
                found[q] = number if less else found[q]
                best[q] = score if less else least


@kernel(within=True)
def lead_of_four(table: np.ndarray, lowered: np.ndarray, number: np.int32, out: Told) -> None:
    """Take the scores of four centres in: among themselves first, so that what is known of a row is loaded and stored once.

    Written without branches, so that it becomes eight comparisons at once.
    """
    best, second, found = out
    first, beside, third, last = table[0], table[1], table[2], table[3]
    a, b, c, d = lowered[0], lowered[1], lowered[2], lowered[3]
    one, two, three = np.int32(number + 1), np.int32(number + 2), np.int32(number + 3)
    for q in range(len(first)):
        s, t, u, v = a - first[q], b - beside[q], c - third[q], d - last[q]
        less = t < s
        low, high, name = t if less else s, s if less else t, one if less else number
        less = v < u
        under, over, other = v if less else u, u if less else v, three if less else two
        less = under < low
        least, middle, winner = under if less else low, low if less else under, other if less else name
        high = over if over < high else high
        after = middle if middle < high else high
        before, behind = best[q], second[q]
        less = least < before
        loser = before if less else least
        loser = loser if loser < behind else behind
        second[q] = loser if loser < after else after
        found[q] = winner if less else found[q]
        best[q] = least if less else before


@kernel(within=True)
def decide(
    X: np.ndarray, ready: Ready, rows: np.ndarray, scored: tuple[np.ndarray, ...], known: bool, stay: bool, told: Told
) -> None:
    """Take the nearest centre from the scores where they prove it, else from distances by differences."""
    centers, size, error, scale = ready
    labels, lower, square = told
    length, best, second, found = scored
    for q in range(len(rows)):
        i, c = rows[q], found[q]
        doubt = error * (2.0 * size[c] + length[q]) + TINY
        if length[q] < FARTHEST * FARTHEST and float(second[q]) - float(best[q]) > doubt:
            if not known or labels[i] != c:
                square[i] = apart(X[i], centers[c])
            labels[i] = c
            away = 2.0 * float(second[q]) + (1.0 - 2.0 * error) * length[q] - TINY
            lower[i] = np.sqrt(max(0.0, away)) * (1.0 - SLACK)
        else:
            own = labels[i] if stay else -1
            nearest, next_one = np.inf, np.inf
            c = max(own, 0)
            # Its own comes before all others, in the same loop: a call in one place is compiled once.
            for turn in range(-1 if own >= 0 else 0, len(centers)):
                if turn == own:
                    continue
                other = own if turn < 0 else turn
                away = apart(X[i], centers[other])
                if away < nearest:
                    nearest, next_one, c = away, nearest, other
                elif away < next_one:
                    next_one = away
            labels[i], square[i] = c, nearest
            lower[i] = np.sqrt(next_one) * scale * (1.0 - SLACK)


@kernel
def settle_sparse(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, ready: Ready, known: bool, stay: bool, told: Told
) -> None:
    """Settle sparse rows; what rounding can do to their distances, `share` of both lengths, is counted against the bounds."""
    centers, turned, norm, scale, share, half, drift = ready
    labels, lower, square = told
    farthest, found = norm.max(), np.empty(len(centers))
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
            if most * (scale * (1.0 + SLACK)) ** 2 < bound * bound:
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
