r"""Total least squares: the columns may be wrong, too.

.. math:: \min \|[E_X\ E_y]\|_F^2 \quad\text{subject to}\quad (X + E_X)\,w = y + E_y.

The nearest matrix to :math:`[X\ y]` whose columns are dependent leaves out its smallest singular direction,
:math:`[E_X\ E_y] = -\sigma_{d+1} u_{d+1} v_{d+1}^\top`, and :math:`[w; -1]` is a multiple of :math:`v_{d+1}`. The
minimum is :math:`\sigma_{d+1}^2`, the sum of the squared *perpendicular* distances of the points :math:`(x_i, y_i)`
to the plane, where ordinary least squares takes the vertical ones. It is ridge regression with a negative penalty,
:math:`(X^\top X - \sigma_{d+1}^2 I)\,w = X^\top y`, which takes away what noise of equal variance in every column has
added to :math:`X^\top X`. A solution exists where :math:`\sigma_{d+1}([X\ y]) < \sigma_d(X)`. Several targets have
:math:`W = -V_{12} V_{22}^{-1}`, from the q smallest singular directions.

One pass folds the scatter matrix of :math:`(x, y)`, :math:`O(nd^2)`, whose eigenvectors these are; where digits would
be lost, a second folds the R factor of a QR and takes its singular vectors. Unlike ordinary least squares, the answer
depends on the units of the columns.

Golub and Van Loan (1980), An analysis of the total least squares problem.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.certificate import Claim
from qed.base.errors import DegenerateError, DegenerateWarning, level_of_user
from qed.base.models.parameters import Parameter, boolean
from qed.base.models.problem import StatisticProblem
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.linalg.normal import table_of
from qed.regression.linear.evidence import residual_moments
from qed.regression.linear.linear import LinearModel
from qed.regression.linear.problem import LinearProblem
from qed.regression.total.directions import Directions
from qed.stats.moments import Moments

DIGITS_WANTED = 10.0
TOLERANCE = 1e-9
SINGLE = 1e-7
NO_SHARE = 1e-12


class TotalLeastSquares(LinearModel):
    """Linear regression with errors in the columns as well as in the target, all of the same variance.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit a constant, by centring columns and target. The course's version has none.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (n_outputs, d)
        Coefficients.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant; zero without ``fit_intercept``.
    singular_values_ : ndarray of shape (d + n_outputs,)
        Those of the (centred, weighted) matrix of columns and target, the largest first.
    smallest_ : float
        The smallest singular value of the columns alone; a solution exists where it is above the next of all.
    error_ : float
        The sum of the squared perpendicular distances: the squares of the last ``n_outputs`` singular values.
    rank_ : int
        How many columns are independent.
    certificate_ : Certificate
        The proof of the fit.
    statistic_ : Moments
        What the model remembers of its rows.

    Notes
    -----
    ``error_`` over the weight of the rows estimates the variance of the noise. Where the noise of columns differs, divide each by its
    standard deviation first. With weights, a weight of two means the same as the row twice.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X, y = np.array([[2.0], [1.0]]), np.array([1.0, 2.0])
    >>> model = qed.TotalLeastSquares(fit_intercept=False).fit(X, y)
    >>> model.coef_.round(12), model.singular_values_.round(12), round(model.error_, 12)
    (array([1.]), array([3., 1.]), 1.0)
    >>> model.perpendicular_distances(X, y).round(6)
    array([0.707107, 0.707107])
    >>> better, target = model.denoise(X, y)
    >>> better.ravel().round(12), target.round(12)
    (array([1.5, 1.5]), array([1.5, 1.5]))
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {"fit_intercept": boolean()}

    def __init__(self, *, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    def _solve(self, problem: LinearProblem) -> None:
        statistic = problem.statistic
        seen, d = self._centered(statistic), statistic.n_features
        found = Directions.of(table_of(seen.scatter), d, SINGLE)
        if problem.lazy_factor is not None and found.digits < DIGITS_WANTED:
            factor = problem.lazy_factor()
            far = np.sqrt(statistic.weight) * float(np.abs(seen.x_mean).max())
            table = factor.R if self.fit_intercept else factor.uncentered()
            found = Directions.of(table, d, 16 * len(seen.mean) * EPS, far)
        self._check_exists(found)
        self._warn_of_dependent(found.rank, int(statistic.count))
        self.singular_values_, self.smallest_, self.rank_ = found.all_values, found.smallest, found.rank
        self.error_ = float((found.values[found.rank :] ** 2).sum())
        self._set_coef(found.coefficients(), statistic.x_mean, statistic.y_mean, flat=problem.target_ndim == 1)

    def _check_exists(self, found: Directions) -> None:
        """Refuse where the smallest singular direction has no part in the target."""
        if found.share_of_target <= NO_SHARE:
            raise DegenerateError(
                "TotalLeastSquares has no solution for these data: the smallest singular value of the columns, "
                f"{found.smallest:.6g}, is not above that of columns and target together, {found.values[found.rank]:.6g}, so "
                "the nearest dependent columns do not involve the target. Use qed.LinearRegression, or bring the columns "
                "to comparable units."
            )

    def _warn_of_dependent(self, rank: int, count: int) -> None:
        if rank < min(self.n_features_in_, count - self.fit_intercept):
            warnings.warn(
                f"TotalLeastSquares: only {rank} of {self.n_features_in_} columns are independent: many coefficients fit equally well "
                "and the shortest were taken. Drop columns that follow from others to make the coefficients meaningful.",
                DegenerateWarning,
                stacklevel=level_of_user(),
            )

    def _residual(self, block: Block) -> np.ndarray:
        y = np.asarray(block.y, dtype=np.float64)
        return (y - np.asarray(self._predict(block), dtype=np.float64)).reshape(len(block), -1)

    def perpendicular_distances(self, X: Any, y: Any = None) -> np.ndarray:
        """Give the distance of every point ``(x, y)`` to the plane.

        Parameters
        ----------
        X, y
            Rows with their target, as in ``fit``.

        Returns
        -------
        ndarray of shape (n,)
            The distances; over the rows of the fit their squares sum to ``error_``.
        """
        found: np.ndarray = self._rows_of(X, y).map(_distances, self._residual, self._columns()[0])
        return found

    def denoise(self, X: Any, y: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Move every point ``(x, y)`` to the nearest one on the plane.

        Parameters
        ----------
        X, y
            Rows with their target, as in ``fit``.

        Returns
        -------
        X, y : ndarray
            ``X + E_X`` and ``y + E_y``. Ordinary least squares on them gives this model again.
        """
        rows = self._rows_of(X, y)
        found = rows.map(_nearest, self._residual, self._columns()[0])
        d = self.n_features_in_
        return found[:, :d], found[:, d] if rows.target_ndim == 1 else found[:, d:]

    def _rows_of(self, X: Any, y: Any) -> Rows:
        self._check_fitted()
        return self._open(X, y, reset=False, target=self.target)

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        coef, intercept = self._columns()
        if problem.source == "data" and problem.rows is not None:
            q = coef.shape[1]
            both = problem.rows.fold(residual_moments, coef, intercept)
            seen = self._centered(both)
            xr, yr = seen.xy[:, q:], seen.yy[:q, q:]
            return self._claims_about(_without_residual(seen, q), xr, yr, both.y_mean[q:])
        seen, statistic = self._centered(problem.statistic), problem.statistic
        r_mean = statistic.y_mean - statistic.x_mean @ coef - intercept
        return self._claims_about(seen, seen.xy - seen.xx @ coef, seen.yy - seen.xy.T @ coef, r_mean)

    def _claims_about(self, seen: Moments, xr: np.ndarray, yr: np.ndarray, r_mean: np.ndarray) -> list[Claim]:
        """Make the claims from the moments of ``(x, y)`` and the products of both with the residuals."""
        coef, _ = self._columns()
        d, q = coef.shape
        value = np.maximum(np.linalg.eigvalsh(seen.scatter), 0.0)
        inside, direction = np.linalg.eigh(seen.xx)
        lost = d - self.rank_
        reach = float(np.sqrt(np.trace(seen.yy)) + np.sqrt(np.diagonal(seen.xx)) @ np.abs(coef).sum(axis=1)) or 1.0
        far = float(np.sqrt(seen.weight) * (np.abs(seen.y_mean).max() + np.abs(seen.x_mean) @ np.abs(coef).sum(axis=1)))
        bound = TOLERANCE + 16 * EPS * (1 + far / reach)
        size = float(np.sqrt(value[-1])) or 1.0
        slope = float(np.abs(xr + coef @ yr).max(initial=0.0)) / (size * reach)
        error = float(np.trace(np.linalg.solve(np.eye(q) + coef.T @ coef, yr - coef.T @ xr)))
        least = float(value[lost : lost + q].sum())
        claims = [
            Claim("negative ridge: (X'X - s^2) w = X'y with s^2 = y'(y - Xw)", slope, bound),
            Claim("perpendicular error above the least possible", abs(error - least) / size**2, bound),
            Claim("perpendicular error is as said", abs(error - self.error_) / size**2, bound),
        ]
        if self.rank_:
            ratio = float(value[lost + q - 1] / inside[lost]) if inside[lost] > 0 else np.inf
            claims.append(Claim("smallest squared singular value of [X y] over that of X", ratio, 1 - EPS))
        if lost:
            share = np.linalg.norm(direction[:, :lost].T @ coef) / (np.linalg.norm(coef) or 1.0)
            claims.append(Claim("solution is the shortest of many", float(share), 1e-6))
        if self.fit_intercept:
            off = float(np.sqrt(seen.weight) * np.abs(r_mean).max()) / reach
            claims.append(Claim("residuals sum to zero", off, bound))
        return claims


def _without_residual(seen: Moments, q: int) -> Moments:
    keep = slice(0, len(seen.mean) - q)
    return Moments(seen.weight, seen.count, seen.mean[keep], seen.scatter[keep, keep], seen.n_features)


def _distances(block: Block, residual: Any, coef: np.ndarray) -> np.ndarray:
    found = residual(block)
    return np.sqrt(np.maximum((found * _shares(found, coef)).sum(axis=1), 0.0))


def _nearest(block: Block, residual: Any, coef: np.ndarray) -> np.ndarray:
    found = residual(block)
    share = _shares(found, coef)
    X = np.asarray(block.X.toarray() if hasattr(block.X, "toarray") else block.X, dtype=np.float64)
    return np.hstack([X + share @ coef.T, np.asarray(block.y, dtype=np.float64).reshape(len(block), -1) - share])


def _shares(residual: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Divide residuals by ``I + W'W``: what is left of them perpendicular to the plane."""
    return np.linalg.solve(np.eye(coef.shape[1]) + coef.T @ coef, residual.T).T
