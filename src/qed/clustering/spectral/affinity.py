r"""Rows as the nodes of a graph, whose edges are the heavier the more alike two rows are.

By a kernel every row is joined to every other, :math:`A_{ij} = k(x_i, x_j)`. By nearest neighbours a row is joined to few, itself among
them, :math:`A = \frac12 (B + B^\top)` where :math:`B_{ij} = 1` if :math:`x_j` is one of the rows nearest to :math:`x_i`, and the matrix
is sparse. Or similarities are given.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from qed.base.errors import DegenerateWarning, InputError, ParameterError, level_of_user
from qed.base.models.problem import RowsProblem
from qed.base.sources.block import copied, is_sparse
from qed.base.sources.rows import Rows
from qed.clustering.spectral.features import enough_rows
from qed.kernels.kernel import Kernel
from qed.kernels.names import as_kernel
from qed.linalg.graph.laplacian import Graph, Matrix
from qed.linalg.graph.spectrum import Spectrum, smallest
from qed.neighbors.nearest import NearestNeighbors

NEIGHBORS, GIVEN, GIVEN_NEIGHBORS = "nearest_neighbors", "precomputed", "precomputed_nearest_neighbors"


class Joins(Protocol):
    """The parameters by which rows are joined."""

    n_clusters: int
    affinity: str | Kernel | Callable[..., float]
    gamma: float | None
    degree: int
    coef0: float
    n_neighbors: int
    kernel_params: dict[str, object] | None
    target: Any


class GraphProblem(RowsProblem):
    """Rows, the graph that they make, and as much of its spectrum as was asked for."""

    def __init__(self, rows: Rows, model: Joins) -> None:
        super().__init__(rows, model)
        self.block = rows.array()
        enough_rows(len(self.block), int(model.n_clusters))
        self._model = model
        self._spectrum: Spectrum | None = None

    @cached_property
    def affinity(self) -> Matrix:
        """The similarities of all rows, as they are kept."""
        return affinity_of(self.block.X, self._model)

    @cached_property
    def graph(self) -> Graph:
        return Graph.of(self.affinity, symmetric=True)

    def spectrum(self, count: int) -> Spectrum:
        """Give the smallest eigenvalues and their vectors; of those known already, the first."""
        if self._spectrum is None or len(self._spectrum.values) < count:
            self._spectrum = smallest(self.graph, count)
        return Spectrum(self._spectrum.values[:count], self._spectrum.vectors[:, :count])


def affinity_of(X: Any, model: Joins) -> Matrix:
    """Give the symmetric matrix of similarities of a table's rows, as a model's parameters say."""
    if isinstance(model.affinity, str) and model.affinity in (NEIGHBORS, GIVEN_NEIGHBORS):
        return _by_neighbors(X, model.n_neighbors, model.affinity == GIVEN_NEIGHBORS)
    if isinstance(model.affinity, str) and model.affinity == GIVEN:
        return _as_given(X)
    kernel = kernel_of(model)
    K = kernel(X)
    return K if kernel.is_symmetric else np.asarray((K + K.T) / 2)


def kernel_of(model: Joins) -> Kernel:
    """Give the kernel by which rows are joined."""
    affinity: Any = model.affinity
    named = isinstance(affinity, str | Kernel)
    if model.kernel_params and not named:
        affinity = partial(affinity, **model.kernel_params)
    elif model.kernel_params:
        raise ParameterError("SpectralClustering: kernel_params are for an affinity that is a function.")
    return as_kernel(affinity, model.gamma, model.degree, model.coef0)


def _by_neighbors(X: Any, k: int, given: bool) -> Matrix:
    from scipy.sparse import csr_array

    if k > X.shape[0]:
        raise ParameterError(
            f"SpectralClustering: n_neighbors={k} is more than the {X.shape[0]} rows there are: ask for fewer, or take affinity='rbf'."
        )
    model = NearestNeighbors(n_neighbors=k, metric="precomputed" if given else "minkowski")
    # The model is asked once, for all its rows: a proof on a sample of them would take as long as the question.
    model._solve(model._problem(model._open(X, reset=True)))
    near = csr_array(model.kneighbors_graph(X, mode="connectivity"))
    return csr_array((near + near.T) * 0.5)


def _as_given(X: Any) -> Matrix:
    if X.shape[0] != X.shape[1]:
        raise InputError(
            f"Similarities that were precomputed compare rows with each other: a square matrix, not {X.shape}."
        )
    turned = X.T.tocsr() if is_sparse(X) else X.T
    apart = abs(X - turned).max() if X.shape[0] else 0.0
    if apart > 1e-10 * abs(X).max():
        warnings.warn(
            "SpectralClustering: the similarities given are not symmetric, and the mean of each and its opposite is taken.",
            DegenerateWarning,
            stacklevel=level_of_user(),
        )
    return (X + turned) / 2 if apart > 0 else copied(X)
