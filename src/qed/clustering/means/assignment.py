"""One half of Lloyd's algorithm: every row goes to its nearest centre, and clusters learn where their mean is.

`Assignment` is the statistic that k-means folds: for each cluster the weight, the cost, and the sum of differences from the centre, not of
the rows themselves, so a mean far from zero loses no digits and a centre that is already the mean is seen not to move. `Memory` keeps what
rows know from pass to pass. It only saves work: with it, without it, and after a resume, the sums have the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.base.numbers import EPS
from qed.base.sources.block import Block, is_sparse
from qed.base.sources.rows import Rows
from qed.clustering.means.distances import FEW, few_squares, nearest_of, stored
from qed.clustering.means.nearest import NO_WEIGHT, Search, UnitScaling

# The most that rows may remember between passes, in bytes; less where they lie on disk, as they do for want of room.
MOST_MEMORY, MOST_BESIDE_FILES = 1 << 29, 1 << 27


class Memory:
    """What rows remember between passes: for each run their label and a bound below the distance from other centres.

    Rows that are read elsewhere, or too many of them, remember nothing, unless labels are needed (`stay`).
    """

    def __init__(
        self, rows: Rows, runs: int, scaling: UnitScaling, labels: np.ndarray | None = None, stay: bool = False
    ) -> None:
        self.scaling, self.stay = scaling, stay
        self.before: np.ndarray | None = None
        self.places = places_of(rows)
        n = sum(count for _, count in self.places.values())
        self.keeps = n > 0 and (stay or runs * n * 8 <= most_memory(rows))
        shape = (runs, n if self.keeps else 0)
        self.labels = np.full(shape, -1, np.int32) if labels is None else labels.copy()
        self.lower = np.zeros(shape, np.float32)
        self._known = np.zeros(runs, dtype=bool)

    def searches(self, runs: np.ndarray, moving: np.ndarray) -> list[tuple[int, bool, Search]]:
        """Prepare a pass for the runs that move: their numbers, whether bounds are known of them, and their centres."""
        found = []
        for run in np.flatnonzero(moving):
            known = self.keeps and bool(self._known[run])
            before = self.before[run] if known and self.before is not None else None
            found.append((int(run), known, Search.among(runs[run], self.scaling, before)))
        self.before = runs
        self._known |= moving
        return found

    def of(self, block: Block, run: int) -> tuple[np.ndarray, np.ndarray]:
        """Give what the rows of a block remember, to be changed in place."""
        n = len(block)
        if not self.keeps:
            return np.full(n, -1, np.int32), np.zeros(n, np.float32)
        first = self.places[block.start][0]
        return self.labels[run, first : first + n], self.lower[run, first : first + n]

    def __reduce__(self) -> tuple[object, ...]:
        return _forgetful, (self.scaling,)


def _forgetful(scaling: UnitScaling) -> Memory:
    """Make what travels to another process in the place of a memory: one that keeps nothing."""
    found = Memory.__new__(Memory)
    found.scaling, found.keeps, found.stay = scaling, False, False
    return found


def most_memory(rows: Rows) -> int:
    """Say how many bytes rows may remember."""
    return MOST_BESIDE_FILES if rows.facts.is_mapped else MOST_MEMORY


def places_of(rows: Rows) -> dict[int, tuple[int, int]]:
    """Give for the first row of each block how many rows come before, and how many it has; nothing where rows are read elsewhere."""
    places, before = {}, 0
    if rows.in_memory:
        for piece in rows.pieces():
            places[piece.start] = (before, piece.count)
            before += piece.count
    return places


@dataclass(frozen=True)
class Assignment:
    """What rows say about the centres they are nearest to, for several sets of centres at once.

    >>> from qed.base.sources.open import rows
    >>> found = rows([[0.0], [1.0], [5.0]]).fold(Assignment.of, np.array([[[0.0], [4.0]]]))
    >>> found.means[0], found.inertia
    (array([[0.5],
           [5. ]]), array([2.]))
    """

    centers: np.ndarray  # (runs, k, p): the centres
    sums: np.ndarray  # (runs, k, p): weighted sums of the differences between a cluster's rows and its centre
    # (runs, k): weight, and weighted sum of squared distances, of each cluster.
    weight: np.ndarray
    cost: np.ndarray
    # The labels of the rows, block after block, where there is one set of centres only.
    labels: tuple[np.ndarray, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls, block: Block, centers: np.ndarray, before: np.ndarray | None = None, own: np.ndarray | None = None
    ) -> Assignment:
        """Look at the rows of a block for the first time; those that have had labels `before` stay with them at a tie.

        Labels are written to `own`, where that is given, of a single set of centres.
        """
        n, parts = len(block), []
        for one in centers:
            labels = np.empty(n, np.int32) if own is None else own
            labels[:] = -1 if before is None else before[block.start : block.start + n]
            added = _added(block, Search.among(one), labels, np.zeros(n, np.float32), stay=before is not None)
            parts.append((*added, labels))
        return cls._joined(centers, parts, (parts[0][2],) if len(parts) == 1 else ())

    @classmethod
    def near(cls, block: Block, search: Search, labels: np.ndarray, own: np.ndarray | None = None) -> Assignment:
        """Look at the rows of a block that begin to look at labels, which may be wrong: that saves work, and changes nothing."""
        n = len(block)
        own = np.empty(n, np.int32) if own is None else own
        own[:] = labels[block.start : block.start + n]
        added = _added(block, search, own, np.zeros(n, np.float32), known=True)
        return cls._joined(search.centers[None], [added], (own,))

    @classmethod
    def following(cls, block: Block, searches: Sequence[tuple[int, bool, Search]], memory: Memory) -> Assignment:
        """Look at the rows of a block, which remember the last pass."""
        parts = []
        if not is_sparse(block.X) and len(block) * searches[0][2].centers.size <= FEW:
            return cls._of_few(block, np.array([search.centers for _, _, search in searches]), searches, memory)
        for run, known, search in searches:
            labels, lower = memory.of(block, run)
            parts.append(_added(block, search, labels, lower, known, memory.stay))
        return cls._joined(np.array([search.centers for _, _, search in searches]), parts)

    @classmethod
    def _of_few(
        cls, block: Block, centers: np.ndarray, searches: Sequence[tuple[int, bool, Search]], memory: Memory
    ) -> Assignment:
        """Do it by NumPy for all runs at once, whose clusters are numbered through."""
        runs, k, p = centers.shape
        all_centers = centers.reshape(-1, p)
        found = few_squares(block.X, all_centers).reshape(len(block), runs, k)
        labels, square = nearest_of(found)
        if memory.stay:
            before = np.array([memory.of(block, run)[0] for run, _, _ in searches]).T
            own = np.take_along_axis(found, np.maximum(before, 0)[:, :, None], 2)[:, :, 0]
            labels = np.where((before >= 0) & (own <= square), before, labels)
        if memory.keeps:
            for place, (run, _, _) in enumerate(searches):
                memory.of(block, run)[0][:] = labels[:, place]
        numbers = labels + k * np.arange(runs)
        sums, totals = added_few(block, all_centers, numbers, square)
        totals = totals.reshape(2, runs, k)
        return cls(centers, sums.reshape(centers.shape), totals[0], totals[1])

    @classmethod
    def _joined(
        cls, centers: np.ndarray, parts: Sequence[tuple[np.ndarray, ...]], labels: tuple[np.ndarray, ...] = ()
    ) -> Assignment:
        sums, totals = (np.array([part[place] for part in parts]) for place in range(2))
        return cls(centers, sums, totals[:, 0], totals[:, 1], labels)

    def __add__(self, other: Assignment) -> Assignment:
        return Assignment(
            self.centers,
            self.sums + other.sums,
            self.weight + other.weight,
            self.cost + other.cost,
            self.labels + other.labels,
        )

    @property
    def inertia(self) -> np.ndarray:
        """The objective of each set of centres."""
        return np.asarray(self.cost.sum(axis=1))

    @property
    def spread(self) -> np.ndarray:
        """The mean squared distance of a cluster's rows from its centre; zero for an empty one."""
        return _divided(self.cost, self.weight)

    @property
    def means(self) -> np.ndarray:
        """The mean of each cluster's rows; an empty one keeps its centre."""
        return np.asarray(self.centers + _divided(self.sums, self.weight[:, :, None]))

    def moves(self, following: np.ndarray) -> np.ndarray:
        """Give the sum of squared moves of each set of centres, not counting moves that rounding explains."""
        square = ((following - self.centers) ** 2).sum(axis=2)
        rounding = (16 * EPS) ** 2 * (self.spread + (self.centers**2).sum(axis=2))
        return np.asarray(np.where(square > rounding, square, 0.0).sum(axis=1))


def _divided(top: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Divide by the weight; zero where there is none."""
    return np.asarray(np.divide(top, weight, out=np.zeros_like(top), where=weight > 0))


def _added(
    block: Block, search: Search, labels: np.ndarray, lower: np.ndarray, known: bool = False, stay: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Settle the rows of a block, and add them to their clusters.

    Gives the weighted differences from the centre, of shape (k, p), and the weights and costs, of shape (2, k). Rows are
    added one after another, by whatever way, so that all ways give the same bits; rows of zero weight are left out.
    """
    X, k, centers = block.X, len(search.centers), search.centers
    weight = NO_WEIGHT if block.weight is None else block.weight
    square, sums, totals = np.empty(len(block)), np.zeros(centers.shape), np.zeros((2, k))
    if not is_sparse(X) and len(block) * centers.size > FEW:
        search.settle_and_add(X, weight, (labels, lower, square), known, stay, sums, totals)
        return sums, totals
    search.settle(X, labels, lower, square, known, stay)
    if is_sparse(X):
        add_sparse(*stored(X), weight, labels, square, sums, totals)
        sums -= totals[0][:, None] * centers
        return sums, totals
    return added_few(block, centers, labels[:, None], square[:, None])


def added_few(
    block: Block, centers: np.ndarray, labels: np.ndarray, square: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Add rows to their clusters by NumPy: one cluster of each of some runs, so `labels` and `square` are of shape (n, runs)."""
    X, weight = block.X, block.weights[:, None]
    if not weight.all():
        chosen = np.flatnonzero(weight)
        X, weight, labels, square = X[chosen], weight[chosen], labels[chosen], square[chosen]
    flat, each = labels.ravel(), np.broadcast_to(weight, labels.shape).ravel()
    k, sums = len(centers), np.zeros(centers.shape)
    totals = np.array([np.bincount(flat, each, k), np.bincount(flat, (weight * square).ravel(), k)])
    np.add.at(sums, flat, (weight[:, :, None] * (X[:, None] - centers[labels])).reshape(-1, X.shape[1]))
    return sums, totals


@kernel
def add_sparse(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    weight: np.ndarray,
    labels: np.ndarray,
    square: np.ndarray,
    sums: np.ndarray,
    totals: np.ndarray,
) -> None:
    """Add sparse rows to the sums of their clusters: of the rows themselves, which are near zero."""
    for i in range(len(labels)):
        w = weight[i] if len(weight) > 0 else 1.0
        if w == 0.0:
            continue
        c = labels[i]
        totals[0, c] += w
        totals[1, c] += w * square[i]
        for place in range(indptr[i], indptr[i + 1]):
            sums[c, indices[place]] += w * data[place]


def refilled(rows: Rows, runs: np.ndarray, weight: np.ndarray, farthest: type[Farthest] | None = None) -> np.ndarray:
    """Move the centre of each empty cluster to the row farthest from all other centres; where none is left, to the first of them."""
    if (weight > 0).all():
        return runs
    runs = runs.copy()
    for centers, filled in zip(runs, weight > 0):
        while not filled.all():
            square, row = rows.fold((farthest or Farthest).of, centers[filled])
            if square == 0:
                centers[~filled] = centers[filled.argmax()]
                break
            empty = int(filled.argmin())
            centers[empty], filled[empty] = row, True
    return runs


class Farthest(tuple[float, tuple[float, ...]]):
    """The squared distance and the values of the row farthest from all centres; of equals, that with the largest values."""

    @classmethod
    def of(cls, block: Block, centers: np.ndarray) -> Farthest:
        X = block.X if block.weight is None else block.X[np.flatnonzero(block.weight)]
        if X.shape[0] == 0:
            return cls((0.0, ()))
        square = cls._away(X, centers)
        rows = X[np.flatnonzero(square == square.max())]
        rows = (rows.toarray() if is_sparse(rows) else rows).astype(np.float64)
        return cls((float(square.max()), max(map(tuple, rows.tolist()))))

    @staticmethod
    def _away(X: Any, centers: np.ndarray) -> np.ndarray:
        return Search.among(centers).of(X)[1]

    def __add__(self, other: object) -> Farthest:
        assert isinstance(other, tuple)
        return self if self >= other else Farthest(other)
