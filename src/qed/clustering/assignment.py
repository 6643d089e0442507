"""One half of Lloyd's algorithm: every row goes to its nearest centre, and clusters learn where their mean is.

`Assignment` is the statistic that k-means folds: for each cluster the weight, the cost, and the sum of differences from the centre, not of
the rows themselves, so a mean far from zero loses no digits and a centre that is already the mean is seen not to move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.clustering.distances import add_to_clusters, lower_to_nearest, nearest, present, tiles


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

    @classmethod
    def of(cls, block: Block, centers: np.ndarray) -> Assignment:
        X, weight = present(block)
        runs, k, p = centers.shape
        if p != X.shape[1]:
            raise InputError(f"The centres have {p} columns, and the rows {X.shape[1]}: fit anew.")
        sums, totals = np.zeros((runs, p, k)), np.zeros((runs, 2, k))
        for place, columns in tiles(X):
            size = columns.shape[1]
            for run in range(runs):
                labels, square = np.zeros(size, dtype=np.int32), np.full(size, np.inf)
                lower_to_nearest(columns, centers[run], labels, square)
                add_to_clusters(columns, weight[place], centers[run], labels, square, sums[run], totals[run])
        return cls(centers, sums.transpose(0, 2, 1), totals[:, 0], totals[:, 1])

    def __add__(self, other: Assignment) -> Assignment:
        return Assignment(self.centers, self.sums + other.sums, self.weight + other.weight, self.cost + other.cost)

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


def refilled(rows: Rows, runs: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Move the centre of each empty cluster to the row that is farthest from all other centres."""
    runs = runs.copy()
    for centers, filled in zip(runs, weight > 0):
        while not filled.all():
            square, row = rows.fold(Farthest.of, centers[filled])
            if square == 0:
                break
            empty = int(filled.argmin())
            centers[empty], filled[empty] = row, True
    return runs


class Farthest(tuple[float, tuple[float, ...]]):
    """The squared distance and the values of the row farthest from all centres; of equals, that with the largest values."""

    @classmethod
    def of(cls, block: Block, centers: np.ndarray) -> Farthest:
        X, _ = present(block)
        if len(X) == 0:
            return cls((0.0, ()))
        square = nearest(X, centers)[1]
        rows = X[square == square.max()].astype(np.float64)
        return cls((float(square.max()), max(map(tuple, rows.tolist()))))

    def __add__(self, other: Any) -> Farthest:
        return self if self >= other else Farthest(other)
