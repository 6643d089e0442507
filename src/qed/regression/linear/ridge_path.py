r"""Ridge regression for a whole path of penalties, from one decomposition.

Coefficients, training errors and degrees of freedom of all penalties follow from one basis in which error and penalty are diagonal
(:mod:`qed.optim.least_squares.ridge_basis`), and the errors on rows left out have a closed form
(:mod:`qed.optim.least_squares.leave_one_out`). Cost: the one pass of a ridge fit, :math:`O(p^3)`, and :math:`O(p^2)` for each penalty;
leaving out each row in turn takes a second pass.

Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, sections 3.4.1 and 7.10.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.engine import one_blas_thread
from qed.base.errors import ParameterError
from qed.base.models.problem import collect
from qed.base.numbers import EPS, ratio
from qed.base.sources.rows import Rows
from qed.base.visible import Lines, Shown
from qed.linalg.normal import Normal, Standing
from qed.optim.least_squares import squared_errors
from qed.optim.least_squares.evidence import TOLERANCE, Evidence, relative_excess
from qed.optim.least_squares.leave_one_out import leave_one_out
from qed.optim.least_squares.precise import lazy_factor
from qed.optim.least_squares.problem import LeastSquaresProblem
from qed.optim.least_squares.ridge_basis import coefficients, intercepts
from qed.regression.linear.ridge import Ridge
from qed.stats.moments import Moments


@dataclass(frozen=True, eq=False, repr=False)
class RidgePath(Shown):
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
    gaps : ndarray of shape (m,)
        How far the penalised error of each is above its minimum, at most, relative to it.
    certificate : Certificate
        That none of the gaps is more than a billionth, but for rounding.
    feature_names : tuple of str or None
        Names of the columns.
    """

    alphas: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    training_error: np.ndarray
    degrees_of_freedom: np.ndarray
    leave_one_out_error: np.ndarray
    gaps: np.ndarray
    certificate: Certificate
    feature_names: tuple[str, ...] | None = None

    def _table(self) -> Lines:
        names = ["alpha", "degrees of freedom", "error on rows fitted", "error on rows left out"]
        values = zip(self.alphas, self.degrees_of_freedom, self.training_error, self.leave_one_out_error)
        return names, [[f"{value:.4g}" for value in line] for line in values]

    def _said(self) -> str:
        return f"best: alpha={self.best:.6g}, by the error on rows left out; {'proven ∎' if self.certificate else 'not proven'}"

    @property
    def best(self) -> float:
        """The penalty of the smallest leave-one-out error."""
        return float(self.alphas[int(np.argmin(self.leave_one_out_error))])

    def plot(self, axes: Any = None) -> Any:
        """Draw coefficients and errors against the penalty, on two axes."""
        axes = draw_coefficients(axes, self.alphas, self.coef, self.feature_names)
        draw_errors(axes[1], self.alphas, self.training_error, self.leave_one_out_error, self.best)
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
        Coefficients, training error, degrees of freedom, leave-one-out error and proof of every penalty.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0, 2.0])
    >>> path = ridge_path(X, y, [0.5, 1.0, 2.0], fit_intercept=False)
    >>> path.coef[1].round(12)
    array([0.8, 0.6])
    >>> path.training_error.round(4), path.degrees_of_freedom.round(4)
    (array([0.0843, 0.1333, 0.2495]), array([1.561 , 1.3333, 1.0769]))
    >>> bool(path.certificate), bool((path.gaps < 1e-12).all())
    (True, True)
    """
    model = Ridge(fit_intercept=fit_intercept)
    rows = model._open(X, y, sample_weight, reset=True, target=model.target)
    moments = collect(rows, model, model._statistic)
    with one_blas_thread:
        seen = model._centered(moments)
        spectrum = np.maximum(np.linalg.eigvalsh(seen.xx), 0.0)
        values = penalties_of(alphas, spectrum)
        wanted = np.repeat(values[:, None], moments.n_targets, axis=1)
        coef = coefficients(moments, wanted, lazy_factor(rows), centered=fit_intercept)
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
        *_proof(model, rows, moments, coef, intercept, values),
        rows.feature_names,
    )


def _proof(
    model: Ridge, rows: Rows, moments: Moments, coef: np.ndarray, intercept: np.ndarray, alphas: np.ndarray
) -> tuple[np.ndarray, Certificate]:
    """Bound the gap of every penalty, from the moments; where these hide too much, from residuals to twice the digits."""
    centered, (m, p, q) = bool(model.fit_intercept), coef.shape
    every, each = coef.transpose(1, 0, 2).reshape(p, -1), np.repeat(alphas, q)
    metric = Damped(model._centered(moments))
    seen = Evidence.from_moments(moments, every, intercept.ravel(), centered=centered, normal=metric)
    found, hidden = relative_excess(seen, every, each, TOLERANCE, centered=centered)
    gaps, bounds = found.reshape(m, q).max(axis=1), TOLERANCE + hidden.reshape(m, q).max(axis=1)
    closer = LeastSquaresProblem(model, rows, source="data")
    for k in np.flatnonzero(~(gaps <= bounds)):
        claim = closer.prove(coef[k], intercept[k], np.full(q, alphas[k]))[0][-1]
        gaps[k], bounds[k] = claim.value, claim.bound
    worst = int(np.argmax(gaps / bounds))
    claim = Claim("excess over the least possible error, at any penalty", float(gaps[worst]), float(bounds[worst]))
    return gaps, Certificate([claim], source="statistics")


class Damped(Normal):
    """A Gram matrix of which many penalties are tried: each adds at least itself to every eigenvalue, which often says enough."""

    def __init__(self, seen: Moments) -> None:
        super().__init__(seen.xx, seen.noise[: seen.n_features])

    def excess(self, at: Standing) -> np.ndarray:
        """Bound it by ``||g||^2 / alpha``; where that says too little, by a factor for each penalty."""
        size = np.linalg.norm(np.abs(at.gradient) + at.noise, axis=0)
        found = np.asarray(ratio(size**2, at.alphas))
        coarse = ~(found <= at.enough)
        if coarse.any():
            found[coarse] = super().excess(at.of(coarse))
        return found


def penalties_of(alphas: Any, spectrum: np.ndarray) -> np.ndarray:
    """Give the penalties asked for, checked; by default 50 of them, from a millionth to ten times the largest eigenvalue."""
    if alphas is None:
        top = max(float(spectrum.max(initial=0.0)), 1e-300)
        return np.geomspace(1e-6 * top, 10 * top, 50)
    values = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    if values.ndim != 1 or len(values) == 0 or not (np.isfinite(values) & (values >= 0)).all():
        raise ParameterError(f"alphas must be finite numbers >= 0 in one row, not {alphas!r}.")
    return values


def draw_coefficients(axes: Any, alphas: np.ndarray, coef: np.ndarray, names: Sequence[str] | None) -> Any:
    """Draw the coefficients of a path that are not always zero on the first of two axes; give both, with their scale set."""
    import matplotlib.pyplot as plt

    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    flat = coef.reshape(len(alphas), -1)
    used = np.flatnonzero(flat.any(axis=0)).tolist()
    lines = axes[0].plot(alphas, flat[:, used], linewidth=1)
    if names is not None and len(used) <= 12 and flat.shape[1] == len(names):
        axes[0].legend(lines, [names[j] for j in used], fontsize="small")
    axes[0].set(xlabel="alpha", ylabel="coefficient")
    for ax in axes:
        ax.set_xscale("symlog" if (alphas == 0).any() else "log")
    return axes


def draw_errors(ax: Any, alphas: np.ndarray, training: np.ndarray, left_out: np.ndarray, best: float) -> None:
    """Draw training and leave-one-out errors, and mark the best penalty."""
    ax.plot(alphas, training, label="training")
    ax.plot(alphas, left_out, label="leave one out")
    ax.axvline(best, color="grey", linestyle=":", label=f"alpha = {best:.3g}")
    ax.set(xlabel="alpha", ylabel="mean squared error", xscale="symlog" if (alphas == 0).any() else "log")
    ax.legend()


def _coarse(error: np.ndarray, noise: np.ndarray) -> np.ndarray:
    return np.asarray((noise > 1e-9 * error).any(axis=1))
