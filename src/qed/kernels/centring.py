r"""Centring a Gram matrix: the inner products of features whose mean was taken off, without the features.

.. math:: K^c_{ij} = K_{ij} - \theta_i - \theta_j + \rho, \qquad \theta_i = \frac1n \sum_k K_{ik}, \qquad
   \rho = \frac1{n^2} \sum_{kl} K_{kl}, \qquad K^c = HKH, \quad H = I - \tfrac1n \mathbf 1 \mathbf 1^\top.

New rows are centred with the mean of the *training* rows: :math:`k^c(z, x_j) = k(z, x_j) - \frac1n\sum_k k(z, x_k) - \theta_j
+ \rho`. Cost :math:`O(n^2)`.

Schölkopf, Smola and Müller (1998), Nonlinear component analysis as a kernel eigenvalue problem.
"""

from typing import Any, ClassVar, Self

import numpy as np

from qed.base.certificate import Claim
from qed.base.errors import InputError
from qed.base.models.checks import refuse_missing
from qed.base.models.problem import RowsProblem
from qed.base.models.roles import OneToOneFeatureMixin, Transformer
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.rows import ArrayRows, Rows


def centred(K: Any, new: Any = None) -> np.ndarray:
    """Centre a Gram matrix, or the kernel values of new rows with the training rows.

    Parameters
    ----------
    K : array-like of shape (n, n)
        The Gram matrix of the training rows.
    new : array-like of shape (m, n), optional
        Values of new rows with the training rows; they are centred instead of `K`.

    Returns
    -------
    ndarray of shape (n, n) or (m, n)
        The centred values.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.kernels import Linear, centred
    >>> X = np.array([[1.0], [2.0], [6.0]])
    >>> centred(Linear()(X))
    array([[ 4.,  2., -6.],
           [ 2.,  1., -3.],
           [-6., -3.,  9.]])
    >>> centred(Linear()(X), Linear()([[3.0]], X))
    array([[0., 0., 0.]])
    """
    K = np.asarray(K)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise InputError(f"A Gram matrix is square; this one has the shape {K.shape}.")
    rows = K if new is None else np.asarray(new)
    if rows.ndim != 2 or rows.shape[1] != len(K):
        raise InputError(
            f"New values must have a column for each of {len(K)} training rows; their shape is {rows.shape}."
        )
    if not len(K):
        return rows.astype(np.float64)
    means = K.mean(axis=0, dtype=np.float64)
    return _centred(rows, means, float(means.mean()))


def _centred(rows: np.ndarray, means: np.ndarray, mean: float) -> np.ndarray:
    own = rows.mean(axis=1, dtype=np.float64, keepdims=True)
    dtype = rows.dtype if rows.dtype == np.float32 else np.float64
    return (rows - means - own + mean).astype(dtype, copy=False)


class KernelCenterer(OneToOneFeatureMixin, Transformer):  # type: ignore[misc]
    """Centre Gram matrices in a pipeline; training and new rows alike.

    Attributes
    ----------
    K_fit_rows_ : ndarray of shape (n,)
        The mean of each column of the training matrix.
    K_fit_all_ : float
        The mean of all its entries.
    certificate_ : Certificate
        That the rows and columns of the centred matrix have mean zero.

    See Also
    --------
    centred : The same for one matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.kernels import KernelCenterer, RBF
    >>> K = RBF(0.5)(np.array([[0.0], [1.0], [3.0]]))
    >>> centerer = KernelCenterer().fit(K)
    >>> bool(np.allclose(centerer.transform(K).sum(axis=0), 0)), bool(centerer.certificate_)
    (True, True)
    """

    passes: ClassVar[str] = "one"

    def __init__(self) -> None:
        """There are no parameters."""

    def fit(self, K: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Learn the means of a Gram matrix.

        Parameters
        ----------
        K : array-like of shape (n, n)
            The Gram matrix of the training rows.
        y : object
            Not used.
        """
        return super().fit(K, y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags

    def _open(self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: Any = None) -> Rows:
        # A hole is told before a wrong number of columns: a matrix of another kernel may have both.
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f":
            refuse_missing(ArrayRows(X), self)
        return super()._open(X, y, sample_weight, reset=reset, target=target)

    def _problem(self, rows: Rows) -> RowsProblem:
        problem = RowsProblem(rows, self)
        summary = problem.summary
        if summary.count != rows.n_features:
            raise InputError(
                f"Kernel matrix must be a square matrix; this one has the shape ({summary.count}, {rows.n_features})."
            )
        return problem

    def _solve(self, problem: RowsProblem) -> None:
        self.K_fit_rows_ = problem.summary.mean
        self.K_fit_all_ = float(problem.summary.mean.mean())

    def _change(self, block: Block) -> np.ndarray:
        return _centred(np.asarray(block.X), self.K_fit_rows_, self.K_fit_all_)

    def _prove(self, problem: RowsProblem) -> list[Claim]:
        rows, summary = problem.rows, problem.summary
        size = np.maximum(np.abs(summary.low), np.abs(summary.high)).max(initial=0.0)
        bound = 8 * EPS * np.log2(2 + rows.n_features) * size
        return [
            Claim("rows of the centred matrix have mean zero", float(max(rows.each(self._row_mean))), bound),
            Claim("the means are those of the columns", float(np.abs(summary.mean - self.K_fit_rows_).max()), bound),
            Claim("their mean is that of the matrix", abs(float(summary.mean.mean()) - self.K_fit_all_), bound),
        ]

    def _row_mean(self, block: Block) -> float:
        centred_rows = _centred(np.asarray(block.X, dtype=np.float64), self.K_fit_rows_, self.K_fit_all_)
        return float(np.abs(centred_rows.mean(axis=1)).max(initial=0.0))
