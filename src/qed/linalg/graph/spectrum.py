r"""The smallest eigenvalues of a graph's normalised Laplacian, and the proof that none was missed.

Vectors of the eigenvalue zero are known beforehand, one for each part of the graph; the others are orthogonal to them. A small matrix is
decomposed whole. Of a large dense one, the Krylov space of some random columns is grown until the vectors wanted are in it (Golub and
Underwood, 1977): a few dozen products. Of a sparse one the inverse is used, :math:`(L + \sigma I)^{-1}`, whose large eigenvalues are far
apart where those of L crowd at zero, by a factor that stays sparse.

Residuals and orthogonality show that each value is an eigenvalue, not that they are the smallest. That is counted, by one of

.. math:: \tau I - N + 2 U U^\top \succ 0 \;\Rightarrow\; \lambda_{m+1}(L) > 1 - \tau, \qquad
    L - \tau I = F \Delta F^\top \;\Rightarrow\; \#\{\lambda_j(L) < \tau\} = \#\{\Delta_{jj} < 0\}:

a Cholesky factor of a dense matrix, in which m vectors U (of any length) were taken out, since a matrix of rank m moves no more than m
eigenvalues (Weyl); or the signs of the pivots of a sparse one (Sylvester's law of inertia). Both are said for the matrix that was
factored in truth: what rounding did to it is bounded from the factor itself and taken off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qed.base.numbers import EPS
from qed.base.random import generator
from qed.base.sources.block import as_dense, is_sparse
from qed.linalg.cholesky import factor_in_place
from qed.linalg.graph.laplacian import Graph

if TYPE_CHECKING:
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import SuperLU

# Matrices of so few rows are decomposed whole.
SMALL = 400
# How far below zero the inverse is taken, and how good the vectors are to be.
SHIFT, ENOUGH = 1e-5, 1e-11
# The space of a dense matrix grows to so many columns before all of it is decomposed instead.
MOST_COLUMNS = 400


class Spectrum(NamedTuple):
    """Some eigenvalues in rising order, and their vectors, one a column."""

    values: np.ndarray
    vectors: np.ndarray


def smallest(graph: Graph, count: int) -> Spectrum:
    """Give the smallest eigenvalues of the normalised Laplacian of a graph, and orthonormal vectors.

    Parameters
    ----------
    graph : Graph
        The graph.
    count : int
        How many, at most the number of nodes.

    Examples
    --------
    >>> graph = Graph.of([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> smallest(graph, 3).values.round(12)
    array([0., 1., 2.])
    """
    known = graph.kernel_of_laplacian
    if (more := count - known.shape[1]) <= 0:
        return Spectrum(np.zeros(count), known[:, :count].copy())
    n = len(graph)
    found = None
    if n > max(SMALL, 4 * count):
        found = _by_inverse(graph, known, more) if is_sparse(graph.weights) else _by_growing(graph, known, more)
    if found is None:
        found = _whole(graph, known, more)
    vectors = _signed(np.hstack([known, found]))
    images = graph.laplacian_times(vectors)
    values = np.maximum(np.einsum("ij,ij->j", vectors, images), 0.0)
    values[: known.shape[1]] = 0.0
    order = np.argsort(values, kind="stable")
    return Spectrum(values[order], vectors[:, order])


def _whole(graph: Graph, known: np.ndarray, more: int) -> np.ndarray:
    """Decompose the whole matrix, in which the vectors known were moved out of the way."""
    laplacian = graph.laplacian()
    dense = as_dense(laplacian)
    return np.asarray(np.linalg.eigh(dense + 4 * known @ known.T)[1][:, :more])


def _by_growing(graph: Graph, known: np.ndarray, more: int) -> np.ndarray | None:
    """Grow the Krylov space of random columns until the vectors wanted are in it; None where it would grow too large."""
    n, width, free = len(graph), more + 4, len(graph) - known.shape[1]
    most = min(MOST_COLUMNS, free) // width
    # The known vectors stand first, so that all that new columns are made orthogonal to is one slice.
    basis = np.empty((n, known.shape[1] + most * width), order="F")
    images = np.empty((n, most * width), order="F")
    basis[:, : known.shape[1]] = known
    new = generator(0, "columns of a graph").standard_normal((n, width))
    for step in range(most):
        start, stop = known.shape[1] + step * width, known.shape[1] + (step + 1) * width
        basis[:, start:stop] = _orthonormal(new, basis[:, :start])
        new = images[:, step * width : (step + 1) * width] = graph.times(basis[:, start:stop])
        if step < 3 or (step % 2 and step + 1 < most):
            continue
        own, image = basis[:, known.shape[1] : stop], images[:, : (step + 1) * width]
        values, turn = np.linalg.eigh(own.T @ image)
        turn, values = turn[:, ::-1][:, :more], values[::-1][:more]
        left = image @ turn - (own @ turn) * values
        left -= known @ (known.T @ left)
        if np.linalg.norm(left, axis=0).max() <= ENOUGH:
            return np.asarray(_orthonormal(own @ turn, known))
    return None


def _by_inverse(graph: Graph, known: np.ndarray, more: int) -> np.ndarray | None:
    """Use the inverse of the sparse Laplacian, moved a little below zero; None where the iteration does not end."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n = len(graph)
    factor = _factor(graph, -SHIFT)

    def inverse(vector: np.ndarray) -> np.ndarray:
        free = vector - known @ (known.T @ vector)
        found = factor.solve(free)
        return np.asarray(found - known @ (known.T @ found))

    start = generator(0, "columns of a graph").standard_normal(n)
    columns = min(n - 1, 2 * more + 8)
    operator = LinearOperator((n, n), matvec=inverse, dtype=np.float64)
    try:
        vectors = eigsh(operator, more, ncv=columns, v0=start - known @ (known.T @ start), which="LA", tol=ENOUGH)[1]
    except ArpackError:
        return None
    vectors = _orthonormal(vectors[:, ::-1], known)
    turn = np.linalg.eigh(vectors.T @ graph.laplacian_times(vectors))[1]
    return np.asarray(vectors @ turn)


def _factor(graph: Graph, shift: float) -> SuperLU:
    """Factor the sparse Laplacian less a multiple of the identity, keeping its order of rows and columns the same."""
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    moved = csc_array(graph.laplacian() - shift * eye_array(len(graph)))
    return splu(moved, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def _orthonormal(columns: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Make columns orthonormal, and orthogonal to others that are: twice, since once leaves rounding."""
    for _ in range(2):
        columns = np.linalg.qr(columns - others @ (others.T @ columns))[0]
    return columns


def _signed(vectors: np.ndarray) -> np.ndarray:
    """Turn vectors so that the largest entry of each is positive, of nearly equal ones the first."""
    size = np.abs(vectors)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    return np.asarray(vectors * np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0))


def nothing_below(graph: Graph, vectors: np.ndarray, values: np.ndarray, slack: float) -> float:
    """Give a level below which the normalised Laplacian has no eigenvalue but those that are told; -infinity where none is shown.

    Parameters
    ----------
    graph : Graph
        The graph.
    vectors : ndarray of shape (n, m)
        What are taken for its eigenvectors.
    values : ndarray of shape (m,)
        What are taken for its smallest eigenvalues, each near one of its own (which residuals show).
    slack : float
        How far below the largest value the level may be.
    """
    top = float(values.max())
    if is_sparse(graph.weights) and len(graph) > SMALL:
        return _counted(graph, values, top - slack)
    return _definite(graph, vectors, top - slack)


def _definite(graph: Graph, vectors: np.ndarray, level: float) -> float:
    """Show it by a Cholesky factor of the Laplacian less the level, with the vectors moved out of the way."""
    laplacian = graph.laplacian()
    matrix = np.ascontiguousarray(as_dense(laplacian))
    matrix += (4 * vectors) @ vectors.T
    n, size = len(matrix), 2.0 + 4 * float((vectors**2).sum(axis=1).max())
    # A factor is that of a matrix off by (n + 1) roundings of the largest diagonal in each entry, and a little came in before.
    lost = float(n * (n + 1 + vectors.shape[1] + 8)) * EPS * size
    matrix[np.diag_indices(n)] -= level - lost
    # It is symmetric but for rounding, so that turned it is the same in the order that factors want.
    return level - 2 * lost if factor_in_place(matrix.T) else -np.inf


def _counted(graph: Graph, values: np.ndarray, level: float) -> float:
    """Show it by the signs of the pivots of a sparse factor: as many are negative as values are below the level."""
    if not level > 0:
        return level  # no eigenvalue is negative
    try:
        factor = _factor(graph, level)
    except RuntimeError:
        return -np.inf
    if not np.array_equal(factor.perm_r, factor.perm_c):
        return -np.inf
    lower, upper = factor.L, factor.U
    pivots = upper.diagonal()
    lost = _rounding_of(lower, upper, pivots)
    if int((pivots < 0).sum()) > int((values < level).sum()) or not np.isfinite(lost):
        return -np.inf
    return level - lost


def _rounding_of(lower: csc_array, upper: csc_array, pivots: np.ndarray) -> float:
    """Bound how far a symmetric matrix is from the product of its lower factor, its pivots, and the same turned.

    The factors' own product is off by a rounding of each of the n products that make an entry. The upper factor is the lower one turned,
    times the pivots, but for rounding, which is looked at.
    """
    from scipy.sparse import csc_array

    size, width = abs(lower), np.diff(lower.indptr)
    scaled = csc_array((lower.data * np.repeat(pivots, width), lower.indices, lower.indptr), lower.shape)
    other = np.asarray(abs(upper.T.tocsc() - scaled).sum(axis=0)).ravel()
    most = int(np.bincount(lower.indices).max()) + 8
    own = float((size @ np.asarray(abs(upper).sum(axis=1)).ravel()).max())
    return 2 * most * EPS * own + float((size @ other).max())
