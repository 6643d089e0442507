r"""Kernel ridge regression for a whole path of penalties, from one decomposition of the kernel matrix.

.. math:: c_\alpha = (K + \alpha S^{-1})^{-1} y, \qquad y_i - f_{-i}(x_i) = \frac{c_{\alpha i}}{[(K + \alpha S^{-1})^{-1}]_{ii}}, \qquad
   \mathrm{df}(\alpha) = \sum_j \frac{\lambda_j}{\lambda_j + \alpha}:

coefficients, fitted values, the error of every row when it is left out, and degrees of freedom of all penalties; see
:mod:`qed.linalg.shifted`. Cost: :math:`O(n^3)` once, :math:`O(n^2)` for each penalty.

Golub, Heath and Wahba (1979), Generalized cross-validation as a method for choosing a good ridge parameter.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import DegenerateWarning
from qed.base.sources.block import copied
from qed.base.visible import Lines, Shown
from qed.linalg.shifted import solve_all
from qed.regression.kernel.ridge import KernelRidge
from qed.regression.linear.ridge_path import draw_errors, penalties_of


@dataclass(frozen=True, eq=False, repr=False)
class KernelRidgePath(Shown):
    """Kernel ridge regression along a path of penalties.

    Attributes
    ----------
    alphas : ndarray of shape (m,)
        The penalties.
    dual_coef : ndarray of shape (m, n) or (m, n, n_outputs)
        Their dual coefficients.
    fitted : ndarray of shape (m, n) or (m, n, n_outputs)
        Their predictions for the rows fitted.
    leave_one_out_residual : ndarray of shape (m, n) or (m, n, n_outputs)
        The error on each row, predicted from all the others.
    training_error, leave_one_out_error : ndarray of shape (m,)
        Mean squared errors: on the rows fitted (by weight), and on the rows left out (each counting the same).
    degrees_of_freedom : ndarray of shape (m,)
        Sum of ``s / (s + alpha)`` over the eigenvalues s of the kernel matrix.
    model : KernelRidge
        What it is the path of; `fit` it with the best penalty, or use `predict` for all of them.
    """

    alphas: np.ndarray
    dual_coef: np.ndarray
    fitted: np.ndarray
    leave_one_out_residual: np.ndarray
    training_error: np.ndarray
    leave_one_out_error: np.ndarray
    degrees_of_freedom: np.ndarray
    model: KernelRidge

    def _table(self) -> Lines:
        names = ["alpha", "degrees of freedom", "error on rows fitted", "error on rows left out"]
        values = zip(self.alphas, self.degrees_of_freedom, self.training_error, self.leave_one_out_error)
        return names, [[f"{value:.4g}" for value in line] for line in values]

    def _said(self) -> str:
        return f"best: alpha={self.best:.6g}, by the error on rows left out"

    @property
    def best(self) -> float:
        """The penalty of the smallest leave-one-out error."""
        return float(self.alphas[int(np.argmin(self.leave_one_out_error))])

    def predict(self, X: Any) -> np.ndarray:
        """Predict new rows with every penalty.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, p)
            The features.

        Returns
        -------
        ndarray of shape (m, n_new) or (m, n_new, n_outputs)
            The predictions.
        """
        right = np.moveaxis(self.dual_coef, 0, -1)
        block = self.model._open(X, reset=False).array()
        found = self.model._similar(block.X, right.reshape(len(right), -1))
        return np.moveaxis(found.reshape(found.shape[0], *right.shape[1:]), -1, 0)

    def plot(self, ax: Any = None) -> Any:
        """Draw training and leave-one-out error against the penalty."""
        import matplotlib.pyplot as plt

        ax = ax if ax is not None else plt.subplots(layout="constrained")[1]
        draw_errors(ax, self.alphas, self.training_error, self.leave_one_out_error, self.best)
        return ax


def kernel_ridge_path(
    X: Any,
    y: Any = None,
    alphas: Any = None,
    *,
    kernel: Any = "linear",
    gamma: float | None = None,
    degree: int = 3,
    coef0: float = 1,
    sample_weight: Any = None,
) -> KernelRidgePath:
    """Fit kernel ridge regression for all penalties, with their leave-one-out errors.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, path, Dask collection or Rows
        The features (the kernel matrix, if it is "precomputed").
    y : array-like, optional
        The target; not needed when `X` is Rows that know it.
    alphas : array-like of shape (m,), optional
        The penalties; the default is 50 of them, up to the trace of the kernel matrix and down to a ten-millionth of it.
    kernel : str, Kernel or callable
        A name ("linear", "poly", "rbf", "laplacian", "cosine"), a kernel, a function of two rows, or "precomputed".
    gamma : float, optional
        The factor of "rbf", "laplacian" and "poly"; the default is one over the number of columns.
    degree : int, default=3
        The degree of "poly".
    coef0 : float, default=1
        The constant of "poly".
    sample_weight : array-like of shape (n,), optional
        Weights; rows of weight zero are left out.

    Returns
    -------
    KernelRidgePath
        Coefficients, fitted values, leave-one-out residuals and degrees of freedom of every penalty.

    Examples
    --------
    >>> X = np.linspace(-3, 3, 30)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.cos(9 * X[:, 0])
    >>> path = kernel_ridge_path(X, y, [0.001, 0.1, 10.0], kernel="rbf")
    >>> path.leave_one_out_error.round(4), path.best
    (array([0.021 , 0.0106, 0.2101]), 0.1)
    >>> path.degrees_of_freedom.round(2)
    array([13.48,  8.94,  1.96])
    """
    model = KernelRidge(kernel=kernel, gamma=gamma, degree=degree, coef0=coef0)
    rows = model._open(X, y, sample_weight, reset=True, target=model.target)
    problem = model._problem(rows)
    model.X_fit_ = copied(problem.given)
    K = model._similarity.gram(problem.X)
    values = penalties_of(alphas, np.array([np.trace(K) / 10]))
    found = solve_all(K, problem.Y, problem.weight, values, leave_out=True)
    assert found.left_out is not None and found.freedom is not None
    if found.unsafe.any():
        warnings.warn(
            f"Leaving one out has no closed form for alpha={values[found.unsafe].max():g}, because the kernel matrix is singular but "
            f"for rounding: {len(K)} fits were needed. Take larger alphas.",
            DegenerateWarning,
            stacklevel=2,
        )
    weight = problem.counts
    fitted = (K @ found.dual.transpose(1, 0, 2).reshape(len(K), -1)).reshape(len(K), len(values), -1).transpose(1, 0, 2)
    error = ((problem.Y - fitted) ** 2).mean(axis=2) @ weight / weight.sum()
    left_out = (found.left_out**2).mean(axis=(1, 2))

    dual, predicted, residual = (
        np.stack([problem.shaped(one) for one in part]) for part in (found.dual, fitted, found.left_out)
    )
    return KernelRidgePath(values, dual, predicted, residual, error, left_out, found.freedom, model)
