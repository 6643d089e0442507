r"""Squared distances from rows to centres, by differences: :math:`\|x - c\|^2 = \sum_j (x_j - c_j)^2`.

The expanded form :math:`\|x\|^2 - 2x^\top c + \|c\|^2` is a matrix product, but loses all digits when the data lie far from zero, and
gives a row another rounding in another place of the table. Differences lose none, so equal rows are equally far whatever block
they are in, and ties are ties. Features are added four at a time,

.. math:: t \leftarrow t + \bigl((g_1^2 + g_2^2) + (g_3^2 + g_4^2)\bigr), \qquad g_j = x_j - c_j,

and those that are left one by one: by every kernel and by NumPy, in this very order, so all of them give the same bits.

A sparse row is near zero in most columns; there :math:`\|c\|^2 + \sum_{x_j \ne 0} x_j (x_j - 2c_j)` takes the stored values only. What is
below the rounding of that sum counts as zero.
"""

from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.base.errors import InputError
from qed.base.numbers import EPS
from qed.base.sources.block import is_sparse

# So many products of a row, a centre and a feature are worked out by NumPy: less than compiling, or calling, a kernel takes.
FEW = 1 << 14
# Rows that are turned into columns at a time: so few that reading them column by column stays in the cache.
STRIP = 64


def squares(X: Any, centers: np.ndarray) -> np.ndarray:
    """Give the squared distances from all rows to all centres, of shape (n, k).

    >>> squares(np.array([[0.0], [1.0]]), np.array([[0.0], [2.0]]))
    array([[0., 4.],
           [1., 1.]])
    """
    centers = checked(centers, X)
    if is_sparse(X):
        found = np.empty((X.shape[0], len(centers)))
        sparse_squares(*stored(X), np.ascontiguousarray(centers.T), norms(centers), found)
        return found
    if X.shape[0] * centers.size <= FEW:
        return few_squares(X, centers)
    found = np.empty((X.shape[0], len(centers)))
    dense_squares(np.ascontiguousarray(X), centers, found)
    return found


def few_squares(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Do the same by NumPy, feature by feature: for few rows, and as the twin of the kernels."""
    p = X.shape[1]
    found = np.zeros((len(X), len(centers)))
    rows, columns = X.T.astype(np.float64)[:, :, None], centers.T[:, None, :]
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        whole = p - p % 4
        gaps = rows - columns
        gaps *= gaps
        for j in range(0, whole, 4):
            found += (gaps[j] + gaps[j + 1]) + (gaps[j + 2] + gaps[j + 3])
        for j in range(whole, p):
            found += gaps[j]
    return found


def nearest_of(found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the place and the value of the least squared distance along the last axis; what is missing is farthest."""
    np.copyto(found, np.inf, where=np.isnan(found))
    return found.argmin(axis=-1), found.min(axis=-1)


def checked(centers: np.ndarray, X: Any) -> np.ndarray:
    """Give centres as the loops take them, which trust that they have as many columns as the rows."""
    if centers.ndim != 2 or centers.shape[1] != X.shape[1]:
        raise InputError(f"The centres have the shape {centers.shape}, and the rows {X.shape[1]} columns: fit anew.")
    return np.ascontiguousarray(centers, dtype=np.float64)


def stored(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the three arrays of a sparse table."""
    X = X.tocsr()
    return X.data, X.indices, X.indptr


def norms(centers: np.ndarray) -> np.ndarray:
    """Give the squared length of each centre."""
    return few_squares(centers, np.zeros((1, centers.shape[1])))[:, 0]


def rounding_of(features: int) -> float:
    """Bound the relative rounding of a squared distance over so many features; of a sparse one, relative to both lengths."""
    return (features + 8) * EPS


@kernel(within=True)
def apart(x: np.ndarray, center: np.ndarray) -> float:
    """Give the squared distance of a row from a centre."""
    total, whole = 0.0, len(x) - len(x) % 4
    for j in range(0, whole, 4):
        g, h, k, m = x[j] - center[j], x[j + 1] - center[j + 1], x[j + 2] - center[j + 2], x[j + 3] - center[j + 3]
        total += (g * g + h * h) + (k * k + m * m)
    for j in range(whole, len(x)):
        g = x[j] - center[j]
        total += g * g
    return total


@kernel
def dense_squares(X: np.ndarray, centers: np.ndarray, found: np.ndarray) -> None:
    """Set `found` to the squared distances of all rows from all centres."""
    for i in range(len(X)):
        for k in range(len(centers)):
            found[i, k] = apart(X[i], centers[k])


@kernel(within=True)
def turn(X: np.ndarray, columns: np.ndarray) -> None:
    """Set `columns`, of float64, to the rows of a tile turned into columns."""
    for j in range(X.shape[1]):
        column = columns[j]
        for i in range(X.shape[0]):
            column[i] = X[i, j]


@kernel(within=True)
def squares_of_columns(
    columns: np.ndarray, center: np.ndarray, other: np.ndarray, square: np.ndarray, beside: np.ndarray
) -> None:
    """Set `square` and `beside` to the squared distances of rows turned into columns from two centres, which read them together.

    Several rows at once, in the order of `apart`.
    """
    p = len(columns)
    whole = p - p % 4
    for i in range(len(square)):
        square[i] = beside[i] = 0.0
    for j in range(0, whole, 4):
        first, second, third, fourth = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        a, b, c, d = center[j], center[j + 1], center[j + 2], center[j + 3]
        e, f, o, q = other[j], other[j + 1], other[j + 2], other[j + 3]
        for i in range(len(square)):
            g, h, k, m = first[i] - a, second[i] - b, third[i] - c, fourth[i] - d
            square[i] += (g * g + h * h) + (k * k + m * m)
            g, h, k, m = first[i] - e, second[i] - f, third[i] - o, fourth[i] - q
            beside[i] += (g * g + h * h) + (k * k + m * m)
    for j in range(whole, p):
        column, a, b = columns[j], center[j], other[j]
        for i in range(len(square)):
            g, h = column[i] - a, column[i] - b
            square[i] += g * g
            beside[i] += h * h


@kernel(within=True)
def sparse_apart(data: np.ndarray, indices: np.ndarray, center: np.ndarray, norm: float) -> float:
    """Give the squared distance of one sparse row from one centre of squared length `norm`."""
    total, length = norm, 0.0
    for place in range(len(data)):
        value = float(data[place])
        total += value * (value - 2.0 * center[indices[place]])
        length += value * value
    return total if total > (len(data) + 8) * EPS * (length + norm) else 0.0


@kernel(within=True)
def sparse_row(data: np.ndarray, indices: np.ndarray, turned: np.ndarray, norm: np.ndarray, found: np.ndarray) -> float:
    """Set `found` to the squared distances of one sparse row from all centres, given as columns; give the row's squared length."""
    length = 0.0
    for k in range(len(found)):
        found[k] = norm[k]
    for place in range(len(data)):
        value, column = float(data[place]), turned[indices[place]]
        length += value * value
        for k in range(len(found)):
            found[k] += value * (value - 2.0 * column[k])
    share = (len(data) + 8) * EPS
    for k in range(len(found)):
        found[k] = found[k] if found[k] > share * (length + norm[k]) else 0.0
    return length


@kernel
def sparse_squares(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, turned: np.ndarray, norm: np.ndarray, found: np.ndarray
) -> None:
    """Set `found` to the squared distances of all sparse rows from all centres."""
    for i in range(len(found)):
        there = slice(indptr[i], indptr[i + 1])
        sparse_row(data[there], indices[there], turned, norm, found[i])
