r"""The lasso and the elastic net for a whole path of penalties, at little more than the price of one.

.. math:: w(\alpha) = \arg\min_w\ \frac1{2n}\|y - Xw\|^2 + \alpha\rho\|w\|_1 + \tfrac12\alpha(1 - \rho)\|w\|^2 .

For the lasso :math:`w(\alpha)` is piecewise linear. It begins at zero for :math:`\alpha_{\max} = \|X^\top y\|_\infty / n\rho`, and
from one penalty to the next few coefficients become or cease to be zero. So the penalties are taken in falling order, each from the
solution, the support and the triangular factor of the one before; what it costs are the columns that enter and leave. In the end
the duality gap of every solution is computed afresh, from the rows (one pass for all) or from their moments.

Osborne, Presnell and Turlach (2000), A new approach to variable selection in least squares problems; Friedman, Hastie and Tibshirani
(2010), Regularization paths for generalized linear models via coordinate descent.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.certificate import Certificate
from qed.base.engine import one_blas_thread
from qed.base.models.parameters import check_parameters
from qed.base.visible import Lines, Shown
from qed.optim.least_squares.precise import lazy_factor
from qed.optim.sparse.grid import strengths
from qed.regression.linear.ridge_path import draw_coefficients
from qed.regression.sparse.elastic_net import ElasticNet
from qed.regression.sparse.evidence import path_claims
from qed.regression.sparse.problem import problem_for
from qed.regression.sparse.search import along


@dataclass(frozen=True, eq=False, repr=False)
class LassoPath(Shown):
    """Sparse linear regression along a path of penalties.

    Attributes
    ----------
    alphas : ndarray of shape (m,)
        The penalties.
    coef : ndarray of shape (m, p) or (m, n_outputs, p)
        Their coefficients.
    intercept : ndarray of shape (m,) or (m, n_outputs)
        Their constants.
    gaps : ndarray of shape (m,)
        By how much each objective is above its minimum, at most, relative to it; with several outputs the largest of them.
    training_error : ndarray of shape (m,)
        Mean squared error on the rows fitted.
    alpha_max : float
        The smallest penalty with which all coefficients are zero.
    certificate : Certificate
        The proof of all solutions together.
    feature_names : tuple of str or None
        Names of the columns.
    """

    alphas: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    gaps: np.ndarray
    training_error: np.ndarray
    alpha_max: float
    certificate: Certificate
    feature_names: tuple[str, ...] | None = None

    def _table(self) -> Lines:
        values = zip(self.alphas, self.n_nonzero, self.training_error, self.gaps)
        lines = [[f"{alpha:.4g}", str(count), f"{error:.4g}", f"{gap:.1e}"] for alpha, count, error, gap in values]
        return ["alpha", "not zero", "error on rows fitted", "gap"], lines

    def _said(self) -> str:
        proof = "proven ∎" if self.certificate else "not proven"
        return f"all coefficients are zero from alpha={self.alpha_max:.6g} on; {proof}"

    def __iter__(self) -> Iterator[np.ndarray]:
        """Give penalties, coefficients with the penalties along the last axis, and gaps, as scikit-learn's function does."""
        return iter((self.alphas, np.moveaxis(self.coef, 0, -1), self.gaps))

    def __len__(self) -> int:
        return 3

    def __getitem__(self, place: int) -> np.ndarray:
        return tuple(self)[place]

    @property
    def n_nonzero(self) -> np.ndarray:
        """How many coefficients are not zero, for each penalty."""
        return np.count_nonzero(self.coef.reshape(len(self.alphas), -1), axis=1)

    def plot(self, axes: Any = None) -> Any:
        """Draw coefficients, and error with the number of coefficients that are not zero, against the penalty."""
        axes = draw_coefficients(axes, self.alphas, self.coef, self.feature_names)
        axes[1].plot(self.alphas, self.training_error, label="training error")
        axes[1].set(xlabel="alpha", ylabel="mean squared error")
        count = axes[1].twinx()
        count.step(self.alphas, self.n_nonzero, where="mid", color="grey", linestyle=":", label="coefficients not zero")
        count.set(ylabel="coefficients not zero")
        return axes


def lasso_path(
    X: Any,
    y: Any = None,
    alphas: Any = 100,
    *,
    eps: float = 1e-3,
    fit_intercept: bool = True,
    positive: bool = False,
    sample_weight: Any = None,
    tol: float = 1e-6,
) -> LassoPath:
    """Fit the lasso for many penalties.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, path, Dask collection or Rows
        The features.
    y : array-like, optional
        The target; not needed when `X` is Rows that know it.
    alphas : int or array-like of shape (m,), default=100
        The penalties, or how many: so many are evenly spaced in their logarithm from the smallest one with which all coefficients are
        zero down to `eps` times it.
    eps : float, default=1e-3
        The smallest penalty, as a share of the smallest one with which all coefficients are zero. Penalties that are given do not
        need it.
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    positive : bool, default=False
        Whether coefficients must not be negative.
    tol : float, default=1e-6
        The relative duality gap: how far the objective may be above its minimum.
    sample_weight : array-like of shape (n,), optional
        Weights.

    Returns
    -------
    LassoPath
        Coefficients, training error and duality gap of every penalty.

    Examples
    --------
    >>> path = lasso_path(np.eye(2), [3.0, 0.5], [1.5, 0.5, 0.1], fit_intercept=False)
    >>> path.coef.round(12)
    array([[0. , 0. ],
           [2. , 0. ],
           [2.8, 0.3]])
    >>> path.n_nonzero, bool(path.certificate)
    (array([0, 1, 2]), True)
    """
    model = ElasticNet(l1_ratio=1.0, fit_intercept=fit_intercept, positive=positive, tol=tol)
    return _path(model, X, y, alphas, eps, sample_weight)


def elastic_net_path(
    X: Any,
    y: Any = None,
    alphas: Any = 100,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    fit_intercept: bool = True,
    positive: bool = False,
    sample_weight: Any = None,
    tol: float = 1e-6,
) -> LassoPath:
    """Fit the elastic net for many penalties.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, path, Dask collection or Rows
        The features.
    y : array-like, optional
        The target; not needed when `X` is Rows that know it.
    alphas : int or array-like of shape (m,), default=100
        The penalties, or how many: so many are evenly spaced in their logarithm from the smallest one with which all coefficients are
        zero down to `eps` times it.
    eps : float, default=1e-3
        The smallest penalty, as a share of the smallest one with which all coefficients are zero. Penalties that are given do not
        need it.
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    positive : bool, default=False
        Whether coefficients must not be negative.
    sample_weight : array-like of shape (n,), optional
        Weights.
    tol : float, default=1e-6
        The relative duality gap: how far the objective may be above its minimum.
    l1_ratio : float, default=0.5
        The share of the 1-norm in the penalty; above zero, unless `alphas` are given.

    Returns
    -------
    LassoPath
        Coefficients, training error and duality gap of every penalty.

    Examples
    --------
    >>> path = elastic_net_path(np.eye(2), [3.0, 0.5], [1.0], l1_ratio=0.5, fit_intercept=False)
    >>> path.coef
    array([[1., 0.]])
    """
    model = ElasticNet(l1_ratio=l1_ratio, fit_intercept=fit_intercept, positive=positive, tol=tol)
    return _path(model, X, y, alphas, eps, sample_weight)


def _path(model: ElasticNet, X: Any, y: Any, alphas: Any, eps: float, sample_weight: Any) -> LassoPath:
    check_parameters(model, model.parameters)
    rows = model._open(X, y, sample_weight, reset=True, target=model.target)
    problem = problem_for(rows, model, many=True)
    share = problem.weight * float(model.l1_ratio)
    top = problem.largest(bool(model.positive)) / share if share > 0 else np.inf
    values = strengths(alphas, eps, top, name="alphas", zero=True)
    coef = along(model, problem, values, lazy_factor(rows))
    m, p, q = coef.shape
    intercept = problem.y_mean - problem.x_mean @ coef
    flat = coef.transpose(1, 0, 2).reshape(p, m * q)
    outputs = np.tile(np.arange(q), m)
    centered = bool(model.fit_intercept)
    with one_blas_thread:
        seen = problem.evidence(flat, intercept.ravel(), outputs)
    penalties = [model._penalty(problem.weight, alpha) for alpha in np.repeat(values, q)]
    gaps, claims = path_claims(seen, flat, penalties, model.tol, centered=centered)
    single = rows.target_ndim == 1
    return LassoPath(
        values,
        coef[:, :, 0] if single else coef.transpose(0, 2, 1),
        intercept[:, 0] if single else intercept,
        gaps.reshape(m, q).max(axis=1),
        seen.rr.reshape(m, q).mean(axis=1) / problem.weight,
        top,
        Certificate(claims, source=problem.source),
        rows.feature_names,
    )
