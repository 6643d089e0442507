r"""Graphs as matrices: degrees, parts that hang together, and the Laplacian.

.. math:: L = D - A, \qquad L_{sym} = I - D^{-1/2} A D^{-1/2}, \qquad d_i = \sum_{j \ne i} A_{ij}, \qquad
    x^\top L x = \tfrac12 \sum_{ij} A_{ij} (x_i - x_j)^2.

Both are positive semidefinite, and have the eigenvalue zero as often as the graph has parts: the vectors are constant on a part (times the
root of the degrees, for the second). An edge from a node to itself says nothing, and is left out. A node without edges is a part by itself;
its row of either is zero.

Chung (1997), Spectral Graph Theory; von Luxburg (2007), A tutorial on spectral clustering.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from qed.base.errors import InputError
from qed.base.sources.block import is_sparse
from qed.linalg.sharing import finish, spans

# An array, or SciPy's sparse csr_array: they share the operators used here, and no type.
Matrix: TypeAlias = Any
STRIP = 512


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph whose edges have weights that are not negative.

    Attributes
    ----------
    weights : ndarray or csr_array of shape (n, n)
        The weights in float64: symmetric, and zero on the diagonal.

    Examples
    --------
    >>> graph = Graph.of([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> graph.degree, graph.n_parts, graph.laplacian(normed=False)
    (array([2., 2., 0.]), 2, array([[ 2., -2.,  0.],
           [-2.,  2.,  0.],
           [ 0.,  0.,  0.]]))
    """

    weights: Matrix

    @classmethod
    def of(cls, similarities: Matrix, *, symmetric: bool = False) -> Graph:
        """Take a symmetric matrix of similarities, dense or sparse, which is copied; its diagonal does not matter.

        Parameters
        ----------
        similarities : array-like or sparse matrix of shape (n, n)
            Similarities, none below zero.
        symmetric : bool, default=False
            Whether they are known to be symmetric, and need not be compared with each other.
        """
        if is_sparse(similarities):
            return cls(_sparse_weights(similarities))
        weights = np.array(similarities, dtype=np.float64)
        _check(weights.shape, weights)
        np.fill_diagonal(weights, 0.0)
        if not symmetric and not np.array_equal(weights, weights.T):
            raise InputError("The similarities of a graph are symmetric, and these are not: take (A + A.T) / 2.")
        return cls(weights)

    def __len__(self) -> int:
        return int(self.weights.shape[0])

    @cached_property
    def degree(self) -> np.ndarray:
        """The sum of the weights of each node's edges."""
        return np.asarray(self.weights.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def root(self) -> np.ndarray:
        """The root of each degree; one where there is no edge."""
        return np.sqrt(np.where(self.degree > 0, self.degree, 1.0))

    @cached_property
    def normalised(self) -> Matrix:
        """The weights divided by the roots of the degrees at both ends."""
        if is_sparse(self.weights):
            found = self.weights.copy()
            found.data /= np.repeat(self.root, np.diff(found.indptr)) * self.root[found.indices]
            return found
        found = self.weights / self.root
        found /= self.root[:, None]
        return found

    @cached_property
    def parts(self) -> np.ndarray:
        """The number of the part that each node belongs to, numbered in the order of their first nodes."""
        if is_sparse(self.weights):
            from scipy.sparse import csgraph

            labels = csgraph.connected_components(self.weights, directed=False)[1]
            return np.asarray(np.unique(labels, return_index=True)[1].argsort().argsort()[labels])
        return _parts_of_dense(self.weights)

    @cached_property
    def n_parts(self) -> int:
        """How many parts there are that no edge joins."""
        return int(self.parts.max(initial=-1)) + 1

    @cached_property
    def kernel_of_laplacian(self) -> np.ndarray:
        """Orthonormal vectors, one column for each part, that the normalised Laplacian maps to zero."""
        found = np.zeros((len(self), self.n_parts))
        found[np.arange(len(self)), self.parts] = self.root
        return np.asarray(found / np.sqrt((found**2).sum(axis=0)))

    def divided(self, vectors: np.ndarray) -> np.ndarray:
        """Divide vectors by the roots of the degrees; the first, which are those of the parts, are then constant on each, exactly."""
        found = vectors / self.root[:, None]
        for column in range(min(self.n_parts, vectors.shape[1])):
            inside = self.parts == column
            found[:, column] = np.where(inside, 1.0 / np.sqrt((self.root[inside] ** 2).sum()), 0.0)
        return np.asarray(found)

    def laplacian(self, normed: bool = True) -> Matrix:
        """Give the Laplacian, dense or sparse like the weights.

        Parameters
        ----------
        normed : bool, default=True
            Whether it is divided by the roots of the degrees at both ends.
        """
        own = (self.degree > 0).astype(np.float64) if normed else self.degree
        around = self.normalised if normed else self.weights
        if is_sparse(around):
            from scipy.sparse import csr_array, diags_array

            return csr_array(diags_array(own) - around)
        found = 0.0 - around
        np.fill_diagonal(found, own)
        return found

    def laplacian_times(self, vectors: np.ndarray) -> np.ndarray:
        """Multiply the normalised Laplacian with some columns, on all threads."""
        return np.asarray((self.degree > 0)[:, None] * vectors - self.times(vectors))

    def times(self, vectors: np.ndarray) -> np.ndarray:
        """Multiply the normalised weights with some columns, on all threads."""
        matrix = self.normalised
        if is_sparse(matrix):
            return np.asarray(matrix @ vectors)
        # The matrix is symmetric, and few rows times a wide matrix are faster than a tall matrix times few columns.
        rows, out = np.ascontiguousarray(vectors.T), np.empty(vectors.shape[::-1])
        finish(partial(np.matmul, rows, matrix[:, strip], out=out[:, strip]) for strip in spans(len(self), STRIP))
        return out.T

    def cuts(self, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Give for each of k clusters of the nodes the weight of the edges that leave it, and the sum of its degrees."""
        inside = np.zeros((len(self), k))
        inside[np.arange(len(self)), labels] = 1.0
        volume = self.degree @ inside
        # Edges that leave are added up themselves: where they are few, the difference of two large sums would know nothing of them.
        across = self.weights @ inside
        across[np.arange(len(self)), labels] = 0.0
        return np.bincount(labels, across.sum(axis=1), k), volume

    def normalised_cut(self, labels: np.ndarray, k: int) -> float:
        """Give the sum over clusters of what leaves them, relative to their volume; a cluster without edges adds nothing.

        Parameters
        ----------
        labels : ndarray of int of shape (n,)
            The cluster of each node.
        k : int
            How many clusters there are.
        """
        cut, volume = self.cuts(labels, k)
        return float((cut / np.where(volume > 0, volume, 1.0)).sum())


def graph_laplacian(similarities: Matrix, *, normed: bool = True) -> Matrix:
    """Give the Laplacian of a graph.

    Parameters
    ----------
    similarities : array-like or sparse matrix of shape (n, n)
        The weights of the edges: symmetric, none below zero; the diagonal does not matter.
    normed : bool, default=True
        Whether it is divided by the roots of the degrees at both ends.

    Returns
    -------
    ndarray or csr_array of shape (n, n)
        The Laplacian, in float64.

    Examples
    --------
    >>> from qed.linalg.graph.laplacian import graph_laplacian
    >>> graph_laplacian([[0.0, 3.0], [3.0, 0.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return Graph.of(similarities).laplacian(normed)


def _sparse_weights(similarities: Matrix) -> Matrix:
    from scipy.sparse import csr_array

    weights: Matrix = csr_array(similarities, dtype=np.float64, copy=True)
    weights.sum_duplicates()
    _check(weights.shape, weights.data)
    weights.setdiag(0.0)
    weights.eliminate_zeros()
    weights.sort_indices()
    if (weights != weights.T).nnz:
        raise InputError("The similarities of a graph are symmetric, and these are not: take (A + A.T) / 2.")
    return weights


def _check(shape: tuple[int, ...], values: np.ndarray) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(
            f"A matrix of similarities compares rows with each other, so it is square, not of shape {shape}."
        )
    if not np.isfinite(values).all():
        raise InputError("The similarities of a graph must be finite.")
    if values.min(initial=0.0) < 0:
        raise InputError(
            f"The similarities of a graph must not be negative, but the least is {values.min():g}: take a kernel like 'rbf', whose "
            "values never are, or 'nearest_neighbors'."
        )


def _parts_of_dense(weights: np.ndarray) -> np.ndarray:
    """Number the parts, going from each node that was reached to all its neighbours; every row is read once."""
    labels, number = np.full(len(weights), -1), 0
    for first in range(len(weights)):
        if labels[first] >= 0:
            continue
        edge = np.array([first])
        while len(edge):
            labels[edge] = number
            if number == 0 and labels.min() == 0:
                return labels  # the first node's neighbours are all there are, mostly
            edge = np.flatnonzero((weights[edge] > 0).any(axis=0) & (labels < 0))
        number += 1
    return labels
