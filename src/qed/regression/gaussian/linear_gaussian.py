r"""Six estimators in one: the linear Gaussian model.

.. math:: y = Xw + z,\quad z \sim N(0, \Sigma_z),\quad w \sim N(\mu, \Sigma_w), \qquad
   \hat w = \mu + (X^\top \Sigma_z^{-1} X + \Sigma_w^{-1})^{-1} X^\top \Sigma_z^{-1} (y - X\mu).

Least squares has no prior and unit noise, generalised least squares no prior, ridge an isotropic one, Tikhonov's
method a full one. New coordinates make noise and prior standard: :math:`z = Lu` and :math:`w = \mu + Rv` turn the
model into :math:`r = Bv + u` with :math:`B = L^{-1}XR` and :math:`r = L^{-1}(y - X\mu)`, whose solution has two forms
(Woodbury's identity),

.. math:: \hat v = (B^\top B + I)^{-1} B^\top r = B^\top (B B^\top + I)^{-1} r,

primal with :math:`d` unknowns and dual with :math:`n`: the smaller is solved. Neither inverts a covariance, so the
prior may be singular (some combinations of coefficients are known exactly). The Cholesky factor of either matrix is the
R of a QR of :math:`B` stacked on :math:`I`, which does not square its condition number. Cost:
:math:`O(nd\min(n, d))`, and :math:`O(n^3)` where the noise is a full matrix.

Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, section 2.1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from qed.base.engine import one_blas_thread
from qed.base.errors import DegenerateError, InputError, ParameterError
from qed.base.numbers import EPS
from qed.stats.distributions.covariance import Whitening, location, numbers, root


@dataclass(frozen=True)
class Posterior:
    """What is known about the coefficients after the data were seen: they are N(mean, covariance).

    Attributes
    ----------
    mean : ndarray of shape (d,)
        The most probable coefficients.
    covariance : ndarray of shape (d, d)
        Their covariance, which depends on `X`, noise and prior but not on `y`.
    form : {"primal", "dual"}
        Which system of equations was solved.
    reason : str
        Why that one.
    """

    mean: np.ndarray
    covariance: np.ndarray
    form: str
    reason: str

    @property
    def standard_deviations(self) -> np.ndarray:
        """The square roots of the variances."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance)))


def linear_gaussian(
    X: Any, y: Any, *, noise: Any = None, prior_mean: Any = None, prior: Any = None, form: str = "auto"
) -> Posterior:
    r"""Find the posterior of w in y = Xw + z, for any Gaussian noise z and any Gaussian prior of w.

    ============================  ==========================  =======================================
    prior                         noise N(0, I)               noise N(0, S)
    ============================  ==========================  =======================================
    none                          least squares               generalised (weighted) least squares
    N(0, I / lambda)              ridge                       ridge with coloured noise
    N(m, P)                       Tikhonov                    maximum a posteriori, coloured noise
    ============================  ==========================  =======================================

    Parameters
    ----------
    X, y : array-like of shape (n, d) and (n,)
        Features and target; there is no intercept unless a column of ones is among the features.
    noise : None, float, or array of shape (n,) or (n, n)
        Covariance of the noise: the identity, one variance for all rows, one for each row, or a full matrix.
    prior_mean : None, float or array of shape (d,)
        Centre of the prior; zero when not given. It needs a `prior`.
    prior : None, float, or array of shape (d,) or (d, d)
        Covariance of the prior: none (all coefficients equally likely), one variance, one for each coefficient, or a
        full matrix, which may be singular: a coefficient of variance zero stays at its prior mean.
    form : {"auto", "primal", "dual"}
        Solve for d unknowns, for n, or for the fewer.

    Returns
    -------
    Posterior
        Mean, covariance, and which form was used.

    Examples
    --------
    >>> X, y = [[1, 0], [1, 1], [1, 2]], [1, 2, 2]
    >>> linear_gaussian(X, y).mean.round(6)
    array([1.166667, 0.5     ])
    >>> ridge = linear_gaussian(X, y, prior=1.0)
    >>> ridge.mean.round(6), ridge.form, ridge.reason
    (array([0.8, 0.6]), 'primal', '2 coefficients are not more than 3 rows')
    >>> linear_gaussian(X, y, prior=[4, 0.25], prior_mean=[1, 0], form="dual").mean.round(6)
    array([1.444444, 0.185185])
    """
    X, y = _table(X, y)
    n, d = X.shape
    if prior is None and prior_mean is not None:
        raise ParameterError("prior_mean is given without a prior: also give its (co)variance, prior=...")
    form, reason = _choose(form, n, d, proper=prior is not None)
    whiten = Whitening(noise, n)
    with one_blas_thread:
        if prior is None:
            mean, half = _flat(whiten(X), whiten(y))
        else:
            center = location("prior_mean", 0.0 if prior_mean is None else prior_mean, d)
            R = root("prior", prior, d)
            solve = _primal if form == "primal" else _dual
            v, half = solve(whiten(X) @ R, whiten(y - X @ center))
            mean, half = center + R @ v, R @ half
        return Posterior(mean, half @ half.T, form, reason)


def _choose(form: str, n: int, d: int, *, proper: bool) -> tuple[str, str]:
    if form not in ("auto", "primal", "dual"):
        raise ParameterError(f"form must be 'auto', 'primal' or 'dual', not {form!r}.")
    if not proper:
        if form == "dual":
            raise ParameterError("form='dual' needs a prior: without one only the primal form has a solution.")
        return "primal", "there is no prior"
    if form != "auto":
        return form, "it was asked for"
    if d <= n:
        return "primal", f"{d} coefficients are not more than {n} rows"
    return "dual", f"{n} rows are fewer than {d} coefficients"


def _primal(B: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve ``(B'B + I) v = B'r``; give v and a root of the inverse of the matrix."""
    n, d = B.shape
    Q, T = np.linalg.qr(np.vstack([B, np.eye(d)]))
    return linalg.solve_triangular(T, Q[:n].T @ r), linalg.solve_triangular(T, np.eye(d))


def _dual(B: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the same, as ``v = B'(BB' + I)^-1 r`` and a root of ``I - B'(BB' + I)^-1 B``.

    The root is read off the orthogonal complement, where a difference would lose digits, and even its sign.
    """
    n, d = B.shape
    Q, T = np.linalg.qr(np.vstack([B.T, np.eye(n)]), mode="complete")
    return Q[:d, :n] @ linalg.solve_triangular(T[:n], r, trans="T"), Q[:d, n:]


def _flat(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve least squares without a prior, which needs independent columns; give w and a root of ``(X'X)^-1``."""
    d = X.shape[1]
    length = np.sqrt((X**2).sum(axis=0))
    Q, T, order = linalg.qr(X / np.where(length > 0, length, 1.0), mode="economic", pivoting=True)
    independent = int((np.abs(np.diagonal(T)) > max(X.shape) * EPS).sum())
    if independent < d:
        lost = ", ".join(str(j) for j in sorted(order[independent:]))
        raise DegenerateError(
            f"Only {independent} of {d} columns are independent (number {lost} can be had from the others), so no "
            "single w is most likely: drop columns, or give a prior."
        )
    inverse = np.empty((d, d))
    inverse[order] = linalg.solve_triangular(T, np.eye(d))
    inverse /= length[:, None]
    return inverse @ (Q.T @ y), inverse


def _table(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    X, y = numbers("X", X, InputError), numbers("y", y, InputError)
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(f"X must be a table with rows and columns, not of shape {X.shape}.")
    if y.shape != (len(X),):
        raise InputError(f"y must have one number for each of the {len(X)} rows of X, not shape {y.shape}.")
    return X, y
