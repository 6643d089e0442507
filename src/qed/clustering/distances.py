r"""Squared distances from rows to centres, by differences: :math:`\|x - c\|^2 = \sum_j (x_j - c_j)^2`.

The expanded form :math:`\|x\|^2 - 2x^\top c + \|c\|^2` is a matrix product, but loses all digits when the data lie far from zero, and
gives a row another rounding in another place of the table. Differences lose none, so equal rows are equally far whatever block
they are in, and ties are ties. The kernels read tiles of rows turned into columns: then the innermost loop runs over neighbours in memory,
and the processor works on eight rows at once. The cost is :math:`3nkp` operations for :math:`k` centres.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.base.errors import InputError
from qed.base.sources.block import Block

TILE_VALUES = 1 << 16
STRIP = 256


def tiles(X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Cut rows into tiles that fit the cache: give their place, and their values as float64 of shape (p, size).

    >>> place, columns = next(tiles(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])))
    >>> columns
    array([[1., 3., 5.],
           [2., 4., 6.]])
    """
    size = max(64, min(4096, TILE_VALUES // max(1, X.shape[1])))
    for start in range(0, len(X), size):
        place = slice(start, min(start + size, len(X)))
        yield place, np.array(X[place].T, dtype=np.float64, order="C")


def nearest(X: np.ndarray, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give for each row the number of the nearest centre, the lower one of equals, and the squared distance to it.

    >>> nearest(np.array([[0.0], [1.0], [5.0]]), np.array([[0.0], [2.0]]))
    (array([0, 0, 1], dtype=int32), array([0., 1., 9.]))
    """
    labels, square = np.zeros(len(X), dtype=np.int32), np.full(len(X), np.inf)
    centers = checked(centers, X)
    for place, columns in tiles(X):
        lower_to_nearest(columns, centers, labels[place], square[place])
    return labels, square


def squares(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Give the squared distances from all rows to all centres, of shape (k, n).

    >>> squares(np.array([[0.0], [1.0]]), np.array([[0.0], [2.0]]))
    array([[0., 1.],
           [4., 1.]])
    """
    centers = checked(centers, X)
    found = np.empty((len(centers), len(X)))
    for place, columns in tiles(X):
        for center, row in zip(centers, found):
            squares_to(columns, center, row[place])
    return found


def checked(centers: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Give centres as the loops take them, which trust that they have as many columns as the rows."""
    if centers.ndim != 2 or centers.shape[1] != X.shape[1]:
        raise InputError(f"The centres have the shape {centers.shape}, and the rows {X.shape[1]} columns: fit anew.")
    return np.ascontiguousarray(centers, dtype=np.float64)


def present(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Give the features and weights of the rows that count: those whose weight is not zero."""
    weights = block.weights
    if weights.all():
        return block.X, weights
    kept = weights > 0
    return block.X[kept], weights[kept]


@kernel
def squares_to(columns: Any, center: Any, square: Any) -> None:
    """Set `square` to the squared distances of a tile's rows from one centre."""
    for i in range(len(square)):
        square[i] = 0.0
    for j in range(len(columns)):
        column, c = columns[j], center[j]
        for i in range(len(square)):
            gap = column[i] - c
            square[i] += gap * gap


@kernel
def lower_to_nearest(columns: Any, centers: Any, labels: Any, square: Any) -> None:
    """Lower `square` to the distance from the nearest of `centers`, where that is less, and set `labels` there."""
    strip = np.empty(STRIP)
    for start in range(0, len(square), STRIP):
        stop = min(start + STRIP, len(square))
        best, label, found = square[start:stop], labels[start:stop], strip[: stop - start]
        for k in range(len(centers)):
            for i in range(len(found)):
                found[i] = 0.0
            for j in range(len(columns)):
                column, c = columns[j, start:stop], centers[k, j]
                for i in range(len(found)):
                    gap = column[i] - c
                    found[i] += gap * gap
            for i in range(len(found)):
                label[i] = k if found[i] < best[i] else label[i]
                best[i] = found[i] if found[i] < best[i] else best[i]


@kernel
def add_to_clusters(columns: Any, weight: Any, centers: Any, labels: Any, square: Any, sums: Any, totals: Any) -> None:
    """Add the rows of a tile to their clusters.

    `sums`, of shape (p, k), gets the weighted differences from the centre; `totals`, of shape (2, k), the weights and the
    weighted squared distances.
    """
    for i in range(len(labels)):
        totals[0, labels[i]] += weight[i]
        totals[1, labels[i]] += weight[i] * square[i]
    for j in range(len(columns)):
        column, total = columns[j], sums[j]
        for i in range(len(labels)):
            total[labels[i]] += weight[i] * (column[i] - centers[labels[i], j])
