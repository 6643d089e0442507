r"""Sums of absolute differences between rows and centres, :math:`\|x - c\|_1 = \sum_j |x_j - c_j|`: exact but for the last digits.

Features are added one after the other by every way, so that all of them give the same bits.
"""

from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.clustering.means.distances import FEW, STRIP, checked, turn


def city_distances(X: Any, centers: np.ndarray) -> np.ndarray:
    """Give the distances from all rows to all centres, of shape (n, k).

    >>> city_distances(np.array([[0.0, 1.0]]), np.array([[0.0, 0.0], [2.0, 3.0]]))
    array([[1., 4.]])
    """
    centers, X = checked(centers, X), np.asarray(X)
    found = np.zeros((len(X), len(centers)))
    if X.shape[0] * centers.size <= FEW:
        for j in range(X.shape[1]):
            found += np.abs(X[:, j, None].astype(np.float64) - centers[:, j])
        return found
    add_distances(np.ascontiguousarray(X), centers, np.zeros((X.shape[1], STRIP)), np.zeros(STRIP), found)
    return found


def nearest_by_city(X: Any, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the number of the nearest centre of each row, the lower one of equals, and the distance from it."""
    labels, away = np.empty(X.shape[0], np.int32), np.empty(X.shape[0])
    step = max(64, (1 << 17) // max(1, len(centers)))
    for start in range(0, len(labels), step):
        here = slice(start, start + step)
        found = city_distances(X[here], centers)
        labels[here] = found.argmin(axis=1)
        away[here] = found.min(axis=1)
    return labels, away


@kernel
def add_distances(
    X: np.ndarray, centers: np.ndarray, columns: np.ndarray, total: np.ndarray, found: np.ndarray
) -> None:
    """Set `found` to the distances of all rows from all centres; `columns` and `total` are room for a strip of rows."""
    for start in range(0, len(X), STRIP):
        stop = min(start + STRIP, len(X))
        turn(X[start:stop], columns)
        for c in range(len(centers)):
            for i in range(len(total)):
                total[i] = 0.0
            for j in range(len(columns)):
                column, a = columns[j], centers[c, j]
                for i in range(len(total)):
                    total[i] += abs(column[i] - a)
            for i in range(start, stop):
                found[i, c] = total[i - start]
