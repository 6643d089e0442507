r"""Numbers by the mean of the nearest rows.

.. math:: \hat y(x) = \frac{\sum_{i \in N_k(x)} v_i\, y_i}{\sum_{i \in N_k(x)} v_i},

with :math:`N_k(x)` the k nearest rows and :math:`v_i` one, or one over the distance. For targets :math:`y = f(x) + \epsilon` with noise of
variance :math:`\sigma^2` the prediction is off by the mean of :math:`f` over the neighbours less :math:`f(x)`, which grows with k, and
varies by :math:`\sigma^2/k`, which falls: k chooses between the two. Of equally far rows the first ones are taken. Cost: see
:mod:`qed.neighbors.search`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats
from qed.base.models.checks import finite
from qed.base.models.no_effect import takes
from qed.base.models.roles import Regressor
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.neighbors.left_out import LeftOutNeighbors, left_out_neighbors
from qed.neighbors.model import NEIGHBOR_NO_EFFECT
from qed.neighbors.problem import KeptProblem
from qed.neighbors.voting import NEIGHBOR_GRID, Heard, Voting


@takes("n_jobs", **NEIGHBOR_NO_EFFECT)
class KNeighborsRegressor(Regressor, Voting):
    """Numbers by the mean of the k nearest rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows the mean is taken of.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Whether all rows count the same, or as one over the distance; or a function that makes weights of distances.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "hashing"}, default="auto"
        How neighbours are looked for. All ways find the same, trees are k-d trees; only "hashing" may miss some in tables of 5 000 rows
        and more, by Euclid's distance or "cosine": it compares a query with the rows in its cells alone, see ``recall_``.
    p : float, default=2
        The exponent of Minkowski's distance, above zero; infinity for the largest difference.
    metric : str, Kernel or callable, default="minkowski"
        The distance: "minkowski", "euclidean", "manhattan", "chebyshev", "cosine", "haversine", a function of two rows, a kernel, in
        whose features the distance then is, or another name that SciPy has, such as "canberra" or "jaccard". With "precomputed" the
        rows are distances from the rows of the fit; a sparse matrix holds those that are known.
    metric_params : dict, optional
        What else a distance has to know: weights ``w`` of the columns for "minkowski", ``V`` for "seuclidean", ``VI`` for
        "mahalanobis", or arguments of the function.

    Attributes
    ----------
    X_fit_ : ndarray or sparse array of shape (n, p)
        The rows.
    y_fit_ : ndarray of shape (n,) or (n, n_outputs)
        Their targets.
    weight_fit_ : ndarray of shape (n,)
        Their weights, where they have some.
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

    See Also
    --------
    KNeighborsClassifier : The same for classes.

    Examples
    --------
    >>> import qed
    >>> model = qed.KNeighborsRegressor(2).fit([[0.0], [1.0], [2.0], [5.0]], [0.0, 1.0, 4.0, 25.0])
    >>> model.predict([[0.4], [4.0]])
    array([ 0.5, 14.5])
    """

    attributes: ClassVar = {"y_fit_": floats("rows", "outputs?")}
    compare_grid: ClassVar[Mapping[str, Any]] = NEIGHBOR_GRID
    _losses: ClassVar[dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
        "squared error": lambda y, said: ((y - said) ** 2).reshape(len(y), -1).mean(axis=1),
        "absolute error": lambda y, said: np.abs(y - said).reshape(len(y), -1).mean(axis=1),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _solve(self, problem: KeptProblem) -> None:
        super()._solve(problem)
        self.y_fit_ = self._known(problem)

    def _known(self, problem: KeptProblem) -> np.ndarray:
        return np.array(problem.block.y, dtype=np.float64)

    def _predicted_shape(self) -> tuple[int, ...]:
        return np.shape(self.y_fit_)[1:]

    def shares(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Give the rows that a prediction is the mean of, and how much each of them counts.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, p)
            The queries.

        Returns
        -------
        numbers, shares : ndarray of shape (m, k)
            The numbers of the rows, the nearest first, and their shares, which add up to one.
        """
        self._check_fitted()
        block = finite(self._open(X, reset=False), self).array()
        heard = self._heard(block.X)
        return heard.number, _to_one(heard)

    def _without_each(self, rows: Rows) -> LeftOutNeighbors | None:
        return left_out_neighbors(self)

    def _answers(self, heard: Heard) -> dict[str, np.ndarray]:
        return {"predict": np.einsum("mk,mk...->m...", _to_one(heard), self.y_fit_[heard.number])}

    def _predict(self, block: Block) -> np.ndarray:
        return self._voted(block, "predict").astype(block.X.dtype, copy=False)


def _to_one(heard: Heard) -> np.ndarray:
    """Give shares that add up to one; where no neighbour counts, all of them count the same."""
    share = np.broadcast_to(heard.share, heard.number.shape)
    total = share.sum(axis=1, keepdims=True)
    return np.where(total > 0, share / np.where(total > 0, total, 1.0), 1 / share.shape[1])
