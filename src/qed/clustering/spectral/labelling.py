r"""From eigenvectors to clusters: two ways besides k-means, which need no beginning to be drawn.

Vectors of the smallest eigenvalues are, but for a rotation, nearly constant on each cluster and zero elsewhere. *Discretising* (Yu and
Shi, 2003) looks for the rotation: rows of length one are labelled by their largest coordinate, and the rotation that brings them nearest
to these labels comes from a singular value decomposition, :math:`Y^\top V = P \Sigma Q^\top,\ R = Q P^\top`, in turns until nothing
changes. *Pivoting* (Damle, Minden and Ying, 2019) finds k rows that are as orthogonal as can be, by a QR decomposition with pivots, and
turns these to the axes.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from qed.base.random import generator

MOST_TURNS, RESTARTS = 100, 30


def by_pivots(vectors: np.ndarray) -> np.ndarray:
    """Label rows by the pivots of a QR decomposition.

    Parameters
    ----------
    vectors : ndarray of shape (n, k)
        Eigenvectors, one a column.

    Examples
    --------
    >>> by_pivots(np.array([[1.0, 0.1], [0.9, 0.0], [0.0, 1.1]])).tolist()
    [1, 1, 0]
    """
    k = vectors.shape[1]
    pivots = qr(vectors.T, pivoting=True)[2]
    left, _, right = np.linalg.svd(vectors[pivots[:k]].T)
    return np.asarray(np.abs(vectors @ (left @ right)).argmax(axis=1).astype(np.int32))


def discretised(vectors: np.ndarray, seed: int) -> np.ndarray:
    """Label rows by a rotation that brings them near to the axes.

    Parameters
    ----------
    vectors : ndarray of shape (n, k)
        Eigenvectors, one a column.
    seed : int
        Draws the row with which the first rotation begins; where the turns come to no rest, another is drawn.

    Examples
    --------
    >>> discretised(np.array([[1.0, 0.1], [0.9, 0.0], [0.0, 1.1]]), 0).tolist() in ([0, 0, 1], [1, 1, 0])
    True
    """
    rows = unit_rows(vectors)
    best, most = np.zeros(len(rows), np.int32), -np.inf
    for restart in range(RESTARTS):
        labels = (rows @ _first_rotation(rows, seed, restart)).argmax(axis=1)
        for _ in range(MOST_TURNS):
            rotation, agreement = rotation_for(rows, labels)
            following = (rows @ rotation).argmax(axis=1)
            if agreement > most:
                best, most = labels.astype(np.int32), agreement
            if np.array_equal(following, labels):
                return np.asarray(labels.astype(np.int32))
            labels = following
    return best


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Scale columns to the length of the root of n, then rows to length one; rows that are zero stay."""
    k = vectors.shape[1]
    columns = vectors / np.maximum(np.linalg.norm(vectors, axis=0), np.finfo(np.float64).tiny) * np.sqrt(len(vectors))
    columns = columns * np.where(columns[0] > 0, -1.0, 1.0) if k else columns
    length = np.linalg.norm(columns, axis=1, keepdims=True)
    return np.asarray(np.divide(columns, length, out=np.zeros_like(columns), where=length > 0))


def rotation_for(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, float]:
    """Give the rotation that brings rows nearest to the axes that labels name, and how well they then agree: the sum of cosines."""
    k = rows.shape[1]
    sums = np.zeros((k, k))
    np.add.at(sums, labels, rows)
    left, size, right = np.linalg.svd(sums)
    return np.asarray(right.T @ left.T), float(size.sum())


def _first_rotation(rows: np.ndarray, seed: int, restart: int) -> np.ndarray:
    """Begin with a row drawn, then those that are the most orthogonal to all before."""
    k = rows.shape[1]
    chosen = [int(generator(seed, "rotation", restart).integers(len(rows)))]
    along = np.zeros(len(rows))
    for _ in range(1, k):
        along += np.abs(rows @ rows[chosen[-1]])
        chosen.append(int(along.argmin()))
    return np.asarray(rows[chosen].T)


def in_order(labels: np.ndarray) -> np.ndarray:
    """Number clusters in the order of their first rows.

    >>> in_order(np.array([2, 0, 2, 1])).tolist()
    [0, 1, 0, 2]
    """
    there, first, place = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(there), np.int32)
    number[np.argsort(first)] = np.arange(len(there))
    return np.asarray(number[place])


def by_parts(parts: np.ndarray, k: int) -> np.ndarray:
    """Number the parts from the largest, of equal ones the first; those that are too many have the last number."""
    size = np.bincount(parts)
    rank = np.empty(len(size), np.int32)
    rank[np.argsort(-size, kind="stable")] = np.minimum(np.arange(len(size)), k - 1)
    return rank[parts]
