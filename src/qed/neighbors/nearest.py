r"""The nearest rows themselves: :math:`N_k(x)`, the k rows with the least distance from :math:`x`, and those within a radius.

Of equally far rows the first ones are taken. Cost: see :mod:`qed.neighbors.search`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.models.checks import finite
from qed.base.models.parameters import Parameter, number
from qed.base.models.ways import takes
from qed.base.sources.block import Block
from qed.neighbors.measures import Metric
from qed.neighbors.model import NEIGHBOR_PARAMETERS, NEIGHBOR_WAYS, Neighbors
from qed.neighbors.search import AT_ONCE


@takes("n_jobs", **NEIGHBOR_WAYS)
class NearestNeighbors(Neighbors):
    """The k nearest rows of a query, or those within a radius.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours to look for.
    radius : float, default=1.0
        How far they may be for ``radius_neighbors``.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How neighbours are looked for; all ways find the same. Trees are k-d trees.
    metric : str, Kernel or callable, default="minkowski"
        The distance: "minkowski", "euclidean", "manhattan", "chebyshev", "cosine", "precomputed", a function of two rows, or a
        kernel, in whose features the distance then is.
    p : float, default=2
        The exponent of Minkowski's distance, at least one; infinity for the largest difference.

    Attributes
    ----------
    X_fit_ : ndarray or sparse array of shape (n, p)
        The rows.
    n_samples_fit_ : int
        How many rows there are.
    tree_ : Tree
        Their tree, where one is worth its growing.
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

    parameters: ClassVar[Mapping[str, Parameter]] = {**NEIGHBOR_PARAMETERS, "radius": number(0, kind="model")}

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: str = "auto",
        metric: Metric = "minkowski",
        p: float = 2,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.metric = metric
        self.p = p

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
        radius : float, optional
            How far they may be; the default is the model's.
        return_distance : bool, default=True
            Whether to give distances too.
        sort_results : bool, default=False
            Whether to order them by distance; else they come in the order of the rows.

        Returns
        -------
        distances : ndarray of shape (m,) of arrays
            How far they are; only where asked for.
        numbers : ndarray of shape (m,) of arrays
            The numbers of the rows.
        """
        self._check_fitted()
        limit = number(0).checked("radius", self.radius if radius is None else radius)
        rows = finite(self._open(self.X_fit_ if X is None else X, reset=False), self)
        found = [pair for part in rows.each(self._within, limit, X is None, sort_results) for pair in part]
        both = np.empty((2, len(found)), dtype=object)
        for place, pair in enumerate(found):
            both[0, place], both[1, place] = pair
        return (both[0], both[1]) if return_distance else both[1]

    def _within(self, block: Block, limit: float, alone: bool, ordered: bool) -> list[tuple[np.ndarray, np.ndarray]]:
        """Give distances and numbers of the rows within a radius of each row of a block."""
        search, present = self._search_among(), self._present
        step, found = max(1, AT_ONCE // max(1, self.n_samples_fit_)), []
        queries = self._prepared(block.X)
        for first in range(0, len(block), step):
            sizes = search.measure.sizes(queries[first : first + step], search.X)
            for place, each in enumerate(self._distances(sizes)):
                near = np.flatnonzero(each <= limit)
                numbers = near if present is None else present[near]
                stays = numbers != block.start + first + place if alone else np.ones(len(near), dtype=bool)
                near, numbers = near[stays], numbers[stays]
                order = np.argsort(each[near], kind="stable") if ordered else slice(None)
                found.append((each[near][order], numbers[order]))
        return found
