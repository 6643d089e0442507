r"""The nearest rows themselves: :math:`N_k(x)`, the k rows with the least distance from :math:`x`, and those within a radius.

Of equally far rows the first ones are taken. Cost: see :mod:`qed.neighbors.search`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

from qed.base.errors import InputError, ParameterError
from qed.base.models.checks import finite
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, choice, number, numbers
from qed.base.sources.block import Block
from qed.neighbors.measures import Metric
from qed.neighbors.model import NEIGHBOR_NO_EFFECT, NEIGHBOR_PARAMETERS, Neighbors
from qed.neighbors.search import AT_ONCE

RADIUS = number(0, kind="model") | choice(np.inf)


@takes("n_jobs", **NEIGHBOR_NO_EFFECT)
class NearestNeighbors(Neighbors):
    """The k nearest rows of a query, or those within a radius.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours to look for.
    radius : float, default=1.0
        How far they may be for ``radius_neighbors``.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "hashing"}, default="auto"
        How neighbours are looked for. All ways find the same, trees are k-d trees; only "hashing" may miss some in tables of 5 000 rows
        and more, by Euclid's distance or "cosine": it compares a query with the rows in its cells alone, see ``recall_``.
    metric : str, Kernel or callable, default="minkowski"
        The distance: "minkowski", "euclidean", "manhattan", "chebyshev", "cosine", "haversine", a function of two rows, a kernel, in
        whose features the distance then is, or another name that SciPy has, such as "canberra" or "jaccard". With "precomputed" the
        rows are distances from the rows of the fit; a sparse matrix holds those that are known.
    p : float, default=2
        The exponent of Minkowski's distance, above zero; infinity for the largest difference.
    metric_params : dict, optional
        What else a distance has to know: weights ``w`` of the columns for "minkowski", ``V`` for "seuclidean", ``VI`` for
        "mahalanobis", or arguments of the function.

    Attributes
    ----------
    X_fit_ : ndarray or sparse array of shape (n, p)
        The rows.
    n_samples_fit_ : int
        How many rows there are.
    tree_ : Tree
        Their tree, where one is worth its growing.
    tables_, recall_ : Tables and float
        With "hashing": the cells of the rows, and which share of their nearest rows some of the rows find.
    center_, scale_ : ndarray of shape (p,) and float
        The middle of the rows' box, and a power of two that brings them near one.
    certificate_ : Certificate
        The proof of the fit: what is kept are the rows, and what is found for a sample of them are their nearest rows.

    Examples
    --------
    >>> import qed
    >>> model = qed.NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [3.0]])
    >>> model.kneighbors([[0.9]])
    (array([[0.1, 0.9]]), array([[1, 0]]))
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {**NEIGHBOR_PARAMETERS, "radius": RADIUS}

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: str = "auto",
        metric: Metric = "minkowski",
        p: float = 2,
        metric_params: dict[str, object] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.metric = metric
        self.p = p
        self.metric_params = metric_params

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Keep the rows.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The rows.
        y
            Not used.
        """
        return super().fit(X)

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """Find all rows within a radius.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows, optional
            The queries; without them the rows of the fit, each of which is no neighbour of its own.
        radius : float or array-like of shape (m,), optional
            How far they may be, one number for all or one for each query; the default is the model's.
        return_distance : bool, default=True
            Whether to give distances too.
        sort_results : bool, default=False
            Whether to order them by distance; else they come in the order of the rows. Distances are then asked for, too.

        Returns
        -------
        distances : ndarray of shape (m,) of arrays
            How far they are; only where asked for.
        numbers : ndarray of shape (m,) of arrays
            The numbers of the rows.
        """
        self._check_fitted()
        if sort_results and not return_distance:
            raise ParameterError("return_distance must be True where results are to be ordered by distance.")
        limit = np.asarray(
            (RADIUS | numbers()).checked("radius", self.radius if radius is None else radius), dtype=np.float64
        )
        queries = finite(self._open(X, reset=False), self)
        if limit.ndim and limit.shape != (queries.count(),):
            raise InputError(
                f"There are {queries.count()} queries, but {limit.shape} radii: give one, or one for each."
            )
        found = [pair for part in queries.each(self._within, limit, sort_results) for pair in part]
        both = np.empty((2, len(found)), dtype=object)
        for place, pair in enumerate(found):
            both[0, place], both[1, place] = pair
        return (both[0], both[1]) if return_distance else both[1]

    def radius_neighbors_graph(
        self, X: object = None, radius: float | None = None, mode: str = "connectivity", sort_results: bool = False
    ) -> csr_matrix:
        """Give the rows within a radius as a sparse matrix: ones, or distances, where a row is within it of a query.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows, optional
            The queries; without them the rows of the fit, each of which is no neighbour of its own.
        radius : float or array-like of shape (m,), optional
            How far they may be, one number for all or one for each query; the default is the model's.
        mode : {"connectivity", "distance"}, default="connectivity"
            What the matrix holds.
        sort_results : bool, default=False
            Whether to order the neighbours of each query by distance; else they come in the order of the rows.
        """
        choice("connectivity", "distance").checked("mode", mode)
        distances, numbers = self.radius_neighbors(X, radius, sort_results=sort_results)
        return self._graph(list(distances), list(numbers), mode)

    def _within(self, block: Block, limit: np.ndarray, ordered: bool) -> list[tuple[np.ndarray, np.ndarray]]:
        """Give distances and numbers of the rows within a radius of each row of a block."""
        search, own = self._search_among(), self._own(block)
        step, found = max(1, AT_ONCE // max(1, self.n_samples_fit_)), []
        queries, start = self._prepared(block.X), block.start if own is None else own[0]
        radius = np.broadcast_to(limit if limit.ndim == 0 else limit[start : start + len(block)], len(block))
        for first in range(0, len(block), step):
            sizes = search.measure.sizes(queries[first : first + step], search.X)
            for place, each in enumerate(self._distances(sizes), first):
                near = np.flatnonzero(each <= radius[place])
                near = near if own is None else near[near != own[place]]
                order = np.argsort(each[near], kind="stable") if ordered else slice(None)
                found.append((each[near][order], near[order]))
        return found
