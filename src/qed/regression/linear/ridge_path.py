r"""Ridge regression for a whole path of penalties, from one decomposition.

With a basis :math:`B` in which error and penalty are both diagonal, :math:`B^\top S B = \mathrm{diag}(e)` and
:math:`B^\top B = \mathrm{diag}(c)`, every solution is a matter of dividing by :math:`e + \alpha c`:

.. math:: w_\alpha = (S_{xx} + \alpha I)^{-1} S_{xy} = B\,\mathrm{diag}\Big(\frac{1}{e + \alpha c}\Big) B^\top S_{xy},
   \qquad \mathrm{df}(\alpha) = \sum_i \frac{e_i}{e_i + \alpha c_i}.

The eigenvectors of :math:`S_{xx}` are such a basis (:math:`e` its eigenvalues, the squared singular values of
:math:`X`; :math:`c = 1`) and a precise one, unless the columns have very different units and the penalty is small; then
the eigenvectors that belong to columns of length one are taken (:math:`e = 1`). Cost: the one pass of a ridge fit, :math:`O(p^3)`, and
:math:`O(p^2)` for each penalty; leaving out each row in turn, in closed form, takes a second pass.

Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, sections 3.4.1 and 7.10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular

from qed.base.engine import blas_for
from qed.base.errors import ParameterError
from qed.base.numbers import EPS
from qed.base.sources.rows import Rows
from qed.linalg.normal import equilibrate
from qed.regression.linear import squared_errors
from qed.regression.linear.evidence import about_zero
from qed.regression.linear.precise import solve_precisely
from qed.regression.linear.ridge import DIGITS_WANTED, Ridge
from qed.stats.moments import Moments


@dataclass(frozen=True)
class Diagonal:
    """A basis in which error and penalty are both diagonal.

    Attributes
    ----------
    basis : ndarray of shape (p, p)
        The basis vectors, as columns.
    error, penalty : ndarray of shape (p,)
        What a unit step along each of them adds to the squared error and to the squared length.
    condition : float
        By how much rounding was magnified in making the basis.
    """

    basis: np.ndarray
    error: np.ndarray
    penalty: np.ndarray
    condition: float = 1.0

    @classmethod
    def of_columns(cls, gram: np.ndarray) -> Diagonal:
        """Take the eigenvectors of the Gram matrix."""
        # NumPy's routine, unlike SciPy's, lets other threads run meanwhile: the folds of a search are solved side by side.
        value, vector = np.linalg.eigh(gram)
        return cls(vector, np.maximum(value, 0.0), np.ones(len(gram)))

    @classmethod
    def of_unit_columns(cls, gram: np.ndarray) -> Diagonal | None:
        """Take the eigenvectors of the penalty for columns of length one; None where columns are dependent."""
        scaled, length = equilibrate(gram)
        lower, failed = lapack.dpotrf(scaled, lower=1, clean=1)
        reciprocal = 0.0 if failed else lapack.dpocon(lower, np.abs(scaled).sum(axis=0).max(), uplo="L")[0]
        if reciprocal <= 4 * len(gram) * EPS:
            return None
        inverse = solve_triangular(lower, np.eye(len(gram)), lower=True, check_finite=False)
        value, vector = np.linalg.eigh((inverse / length**2) @ inverse.T)
        basis = inverse.T @ vector / length[:, None]
        return cls(basis, np.ones(len(gram)), np.maximum(value, 0.0), 1 / reciprocal)

    def weights(self, alphas: np.ndarray) -> np.ndarray:
        """Give ``1 / (error + alpha penalty)``, a column for each penalty; zero where rounding hides the sum."""
        total = self.error[:, None] + self.penalty[:, None] * alphas
        floor = 4 * len(total) * EPS * self.error.max(initial=0.0)
        return np.asarray(np.divide(1.0, total, out=np.zeros_like(total), where=total > floor))

    def digits(self, alphas: np.ndarray) -> np.ndarray:
        """Give about how many decimal digits of the solution for each penalty are right."""
        total = self.error[:, None] + self.penalty[:, None] * alphas
        spread = total.max(axis=0) / np.maximum(total.min(axis=0), 1e-300)
        return np.asarray(-np.log10(EPS * np.maximum(spread, self.condition)))

    def coef(self, right: np.ndarray, alphas: np.ndarray) -> np.ndarray:
        """Give the solutions for all penalties, of shape (n_alphas, p, q)."""
        p, q = right.shape
        parts = self.weights(alphas)[:, :, None] * (self.basis.T @ right)[:, None, :]
        return np.asarray(self.basis @ parts.reshape(p, -1)).reshape(p, -1, q).transpose(1, 0, 2)


def diagonals(gram: np.ndarray, alphas: np.ndarray) -> list[tuple[Diagonal, np.ndarray, np.ndarray]]:
    """Give one or two bases, each with the penalties (their positions) that it serves best and its digits there.

    Examples
    --------
    >>> ((first, places, digits),) = diagonals(np.diag([4.0, 1.0]), np.array([1.0, 3.0]))
    >>> first.weights(np.array([1.0, 3.0]))[-1], places
    (array([0.2       , 0.14285714]), array([0, 1]))
    """
    plain = Diagonal.of_columns(gram)
    found = plain.digits(alphas)
    poor = found < DIGITS_WANTED
    unit = Diagonal.of_unit_columns(gram) if poor.any() else None
    if unit is None:
        return [(plain, np.arange(len(alphas)), found)]
    other = unit.digits(alphas)
    better = poor & (other > found)
    choices = [(plain, np.flatnonzero(~better), found[~better]), (unit, np.flatnonzero(better), other[better])]
    return [choice for choice in choices if len(choice[1])]


def coefficients(moments: Moments, alphas: np.ndarray, rows: Rows, *, centered: bool) -> np.ndarray:
    """Solve ridge regression for many settings of the penalty at once.

    Parameters
    ----------
    moments : Moments
        Of the training rows.
    alphas : ndarray of shape (m, q)
        For each setting one penalty per output.
    rows : Rows
        The training rows, for a second look where moments are too coarse.
    centered : bool
        Whether there is an intercept.

    Returns
    -------
    ndarray of shape (m, p, q)
        What `Ridge` would find for each setting, to nine digits or as many as the data allow.
    """
    seen = moments if centered else about_zero(moments)
    values, places = np.unique(alphas, return_inverse=True)
    found = np.empty((len(values), *seen.xy.shape))
    for basis, chosen, digits in diagonals(seen.xx, values):
        found[chosen] = basis.coef(seen.xy, values[chosen])
        for k in chosen[digits < DIGITS_WANTED]:
            alpha = float(values[k])
            solution, _ = solve_precisely(seen, alpha, rows, centered=centered, digits_wanted=DIGITS_WANTED)
            found[k] = solution.coef
    if alphas.shape[1] == 1:
        return found[places.ravel()]
    outputs = np.arange(alphas.shape[1])
    return found[places.reshape(alphas.shape), :, outputs].transpose(0, 2, 1)


def intercepts(moments: Moments, coef: np.ndarray, *, centered: bool) -> np.ndarray:
    """Give the constants that go with coefficients of shape (m, p, q)."""
    return moments.y_mean - moments.x_mean @ coef if centered else np.zeros((len(coef), coef.shape[2]))


@dataclass(frozen=True, eq=False)
class RidgePath:
    """Ridge regression along a path of penalties.

    Attributes
    ----------
    alphas : ndarray of shape (m,)
        The penalties.
    coef : ndarray of shape (m, p) or (m, n_outputs, p)
        Their coefficients.
    intercept : ndarray of shape (m,) or (m, n_outputs)
        Their constants.
    training_error : ndarray of shape (m,)
        Mean squared error on the rows fitted.
    degrees_of_freedom : ndarray of shape (m,)
        Sum of ``s / (s + alpha)`` over the eigenvalues s of the scatter of the features (the constant not counted).
    leave_one_out_error : ndarray of shape (m,)
        Mean squared error on each row, predicted from all the others.
    feature_names : tuple of str or None
        Names of the columns.
    """

    alphas: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    training_error: np.ndarray
    degrees_of_freedom: np.ndarray
    leave_one_out_error: np.ndarray
    feature_names: tuple[str, ...] | None = None

    @property
    def best(self) -> float:
        """The penalty of the smallest leave-one-out error."""
        return float(self.alphas[int(np.argmin(self.leave_one_out_error))])

    def plot(self, axes: Any = None) -> Any:
        """Draw coefficients and errors against the penalty, on two axes."""
        import matplotlib.pyplot as plt

        if axes is None:
            _, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
        flat = self.coef.reshape(len(self.alphas), -1)
        lines = axes[0].plot(self.alphas, flat, linewidth=1)
        if self.feature_names is not None and len(lines) == len(self.feature_names) <= 12:
            axes[0].legend(lines, self.feature_names, fontsize="small")
        axes[0].set(xlabel="alpha", ylabel="coefficient")
        axes[1].plot(self.alphas, self.training_error, label="training")
        axes[1].plot(self.alphas, self.leave_one_out_error, label="leave one out")
        axes[1].axvline(self.best, color="grey", linestyle=":", label=f"alpha = {self.best:.3g}")
        axes[1].set(xlabel="alpha", ylabel="mean squared error")
        axes[1].legend()
        for ax in axes:
            ax.set_xscale("symlog" if (self.alphas == 0).any() else "log")
        return axes


def ridge_path(
    X: Any, y: Any = None, alphas: Any = None, *, fit_intercept: bool = True, sample_weight: Any = None
) -> Any:
    """Fit ridge regression for all penalties at about the price of one.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, path, Dask collection or Rows
        The features.
    y : array-like, optional
        The target; not needed when `X` is Rows that know it.
    alphas : array-like of shape (m,), optional
        The penalties; the default is 50 of them, from a millionth of the largest eigenvalue of the scatter to ten times it.
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    sample_weight : array-like of shape (n,), optional
        Weights.

    Returns
    -------
    RidgePath
        Coefficients, training error, degrees of freedom and leave-one-out error of every penalty.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0, 2.0])
    >>> path = ridge_path(X, y, [0.5, 1.0, 2.0], fit_intercept=False)
    >>> path.coef[1].round(12)
    array([0.8, 0.6])
    >>> path.training_error.round(4), path.degrees_of_freedom.round(4)
    (array([0.0843, 0.1333, 0.2495]), array([1.561 , 1.3333, 1.0769]))
    """
    from qed.regression.linear.leave_one_out import leave_one_out

    model = Ridge(fit_intercept=fit_intercept)
    rows = model._open(X, y, sample_weight, reset=True, target=model.target)
    moments = model._collect(rows)
    with blas_for(rows.n_features):
        seen = model._centered(moments)
        spectrum = np.maximum(np.linalg.eigvalsh(seen.xx), 0.0)
        values = penalties_of(alphas, spectrum)
        wanted = np.repeat(values[:, None], moments.n_targets, axis=1)
        coef = coefficients(moments, wanted, rows, centered=fit_intercept)
        intercept = intercepts(moments, coef, centered=fit_intercept)
        error = squared_errors.precise(moments, rows, coef, intercept, _coarse)
    floor = 4 * len(spectrum) * EPS * spectrum.max(initial=0.0)
    share = np.where(spectrum > floor, spectrum, 0.0)[:, None]
    freedom = np.divide(share, share + values, out=np.zeros((len(spectrum), len(values))), where=share > 0).sum(axis=0)
    left_out = leave_one_out(rows, moments, wanted, centered=fit_intercept)
    flat = rows.target_ndim == 1
    return RidgePath(
        values,
        coef[:, :, 0] if flat else coef.transpose(0, 2, 1),
        intercept[:, 0] if flat else intercept,
        error.mean(axis=1) / moments.weight,
        freedom,
        left_out.mean,
        rows.feature_names,
    )


def penalties_of(alphas: Any, spectrum: np.ndarray) -> np.ndarray:
    """Give the penalties asked for, checked; by default 50 of them, from a millionth to ten times the largest eigenvalue."""
    if alphas is None:
        top = max(float(spectrum.max(initial=0.0)), 1e-300)
        return np.geomspace(1e-6 * top, 10 * top, 50)
    values = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    if values.ndim != 1 or len(values) == 0 or not (np.isfinite(values) & (values >= 0)).all():
        raise ParameterError(f"alphas must be finite numbers >= 0 in one row, not {alphas!r}.")
    return values


def _coarse(error: np.ndarray, noise: np.ndarray) -> np.ndarray:
    return np.asarray((noise > 1e-9 * error).any(axis=1))
