r"""The linear kernel :math:`k(x, z) = x^\top z`: the features are the columns themselves."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.kernels.kernel import Kernel
from qed.kernels.tiles import Bound, dot


def squared_norms(X: Any) -> np.ndarray:
    """Give the squared length of each row of a dense or sparse table."""
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.multiply(X).sum(axis=1)).reshape(-1)


@dataclass(frozen=True, repr=False)
class Linear(Kernel):
    r"""The inner product of rows, :math:`k(x, z) = x^\top z`.

    See Also
    --------
    Polynomial : All products of columns up to a degree.
    QuadraticForm : Inner products in which columns weigh differently or together.

    Examples
    --------
    >>> from qed.kernels import Linear
    >>> Linear()([[1.0, 2.0], [0.0, 1.0]])
    array([[5., 2.],
           [2., 1.]])
    """

    def _bind(self, X: Any, Z: Any) -> Bound:
        return dot(X, Z)

    def _diagonal(self, X: Any) -> np.ndarray:
        return squared_norms(X)

    def n_features(self, p: int) -> int:
        return p

    def _features(self, X: Any) -> Any:
        return X
