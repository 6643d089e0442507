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
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.certificate import MOST_ROUNDING, Claim
from qed.base.errors import DegenerateError, DegenerateWarning, level_of_user
from qed.base.models.parameters import Parameter, boolean
from qed.base.models.proof import whole
from qed.base.numbers import EPS, TINY, ratio
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.linalg.normal import table_of
from qed.linalg.root import factor_rounding
from qed.optim.least_squares.evidence import residual_moments
from qed.optim.least_squares.problem import LinearProblem
from qed.regression.linear.linear import LinearModel
from qed.regression.total.directions import Directions
from qed.stats.moments import Moments
from qed.stats.products import dense

DIGITS_WANTED = 10.0
TOLERANCE = 1e-9
SINGLE = 1e-7
NO_SHARE = 1e-12
# Squared distances are compared with so much of the squares of what they are differences of, where they are next to nothing.
NO_PART = 1e-8


class TotalProblem(LinearProblem):
    """Moments of the rows, and the singular directions of columns and targets that follow."""

    by_factor = False  # whether they are from the QR factor of the rows, because the moments leave too few digits

    @cached_property
    def directions(self) -> Directions:
        """Decompose; with a second look where digits are missing."""
        seen, d = self.model._centered(self.statistic), self.statistic.n_features
        self.table = table_of(seen.scatter)
        found = Directions.of(self.table, d, SINGLE)
        if self.lazy_factor is not None and (found.digits < DIGITS_WANTED or self._hides(found)):
            factor, self.by_factor = self.lazy_factor(), True
            offset = np.sqrt(self.statistic.weight) * np.abs(seen.x_mean)
            self.table = factor.R if self.model.fit_intercept else factor.uncentered()
            found = Directions.of(self.table, d, 16 * len(seen.mean) * EPS, offset)
        return found

    def _hides(self, found: Directions) -> bool:
        """Say whether rounding of squares hides a part of the squared distances: they are small differences of large numbers."""
        if found.share_of_target <= NO_SHARE:
            return True
        coef = found.coefficients()
        reach = found.lengths[found.rank :].sum() + found.lengths[: found.rank] @ np.abs(found.basis.T @ coef).sum(
            axis=1
        )
        least = float((found.values[found.rank :] ** 2).sum()) * (1 + float(np.linalg.norm(coef)) ** 2)
        return self.rounding**2 * float(reach) ** 2 > 100 * TOLERANCE * least

    @property
    def knows_rank(self) -> bool:
        """Whether rows were looked at, or are too few, before columns were taken for dependent: sums do not tell them from nearly so."""
        varying = int((np.diagonal(self.statistic.xx) > 0).sum())
        most = min(varying, int(self.statistic.count) - self.model.fit_intercept)
        return self.by_factor or self.directions.rank >= most

    @property
    def rounding(self) -> float:
        """What rounding did to columns, relative to their lengths: that of squares is larger than that of a factor."""
        m = len(self.statistic.mean)
        if self.by_factor:
            return factor_rounding(m)
        seen = self.model._centered(self.statistic)
        return float(np.sqrt(ratio(seen.noise**2, np.diagonal(seen.scatter)).max(initial=0.0) + m * (m + 2) * EPS))

    def blur(self, values: np.ndarray) -> np.ndarray:
        """Bound what rounding did to singular values, by their own size where columns are not alike, else by the largest."""
        largest, m = float(self.directions.all_values[0]), len(self.statistic.mean)
        moved = self.rounding * np.sqrt(m) * self.directions.far
        own = values * (2 * moved if self.by_factor else moved**2) if moved < 0.5 else np.full(len(values), np.inf)
        if self.by_factor:
            return np.minimum(own, factor_rounding(m) * np.sqrt(m) * largest)
        noise = self.model._centered(self.statistic).noise
        squared = float(noise @ noise) + 8 * m * EPS * largest**2
        coarse = squared / np.maximum(np.maximum(values, np.sqrt(squared)), TINY)
        return np.asarray(np.minimum(coarse, own))


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

    problem_kind = TotalProblem
    attributes: ClassVar = {
        "singular_values_": floats("features+outputs", low=0),
        "smallest_": floats(low=0),
        "rank_": integers(below="features+1"),
        "error_": floats(low=0),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {"fit_intercept": boolean()}

    def __init__(self, *, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    def _solve(self, problem: TotalProblem) -> None:
        statistic, found = problem.statistic, problem.directions
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
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        y : array-like or str, optional
            The target; or the name of its column, where `X` is a frame or a path.

        Returns
        -------
        ndarray of shape (n,)
            The distances; over the rows of the fit their squares sum to ``error_``.
        """
        return self._rows_of(X, y).map(_distances, self._residual, self._columns()[0])

    def denoise(self, X: Any, y: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Move every point ``(x, y)`` to the nearest one on the plane.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        y : array-like or str, optional
            The target; or the name of its column, where `X` is a frame or a path.

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

    def _prove(self, problem: TotalProblem) -> list[Claim]:
        coef, intercept = self._columns()
        said = (self.singular_values_, self.smallest_, self.error_)
        if damage := whole(len(coef), self.rank_, coef, intercept, *said):
            return damage
        if problem.source == "data" and problem.rows is not None:
            q = coef.shape[1]
            both = problem.rows.fold(residual_moments, coef, intercept)
            seen = self._centered(both)
            known = (_without_residual(seen, q), seen.xy[:, q:], seen.yy[:q, q:], both.y_mean[q:])
            return [*self._claims_about(problem, *known, seen.yy[q:, q:]), *self._claims_said(problem)]
        seen, statistic = self._centered(problem.statistic), problem.statistic
        r_mean = statistic.y_mean - statistic.x_mean @ coef - intercept
        known = (seen, seen.xy - seen.xx @ coef, seen.yy - seen.xy.T @ coef, r_mean)
        residual = problem.table[:, len(coef) :] - problem.table[:, : len(coef)] @ coef
        return [*self._claims_about(problem, *known, residual.T @ residual), *self._claims_said(problem)]

    def _claims_about(
        self, problem: TotalProblem, seen: Moments, xr: np.ndarray, yr: np.ndarray, r_mean: np.ndarray, rr: np.ndarray
    ) -> list[Claim]:
        """Make the claims about the plane from the moments of ``(x, y)`` and the products of both, and of residuals, with the residuals."""
        coef, _ = self._columns()
        d = len(coef)
        length = np.sqrt(np.diagonal(seen.scatter))
        reach = float(length[d:].sum() + length[:d] @ np.abs(coef).sum(axis=1)) or 1.0
        far = float(np.sqrt(seen.weight) * (np.abs(seen.y_mean).max() + np.abs(seen.x_mean) @ np.abs(coef).sum(axis=1)))
        bound = TOLERANCE + 16 * EPS * (1 + far / reach)
        size = float(np.linalg.norm(length)) or 1.0
        h = seen.noise
        blur = float(np.linalg.norm(h)) * float(h[d:].sum() + h[:d] @ np.abs(coef).sum(axis=1))
        scale = reach * (size + float(np.abs(coef).max(initial=0.0)) * float(np.sqrt(np.trace(seen.yy))))
        slope = (float(np.abs(xr + coef @ yr).max(initial=0.0)) + blur) / scale
        claims = [
            Claim("negative ridge: (X'X - s^2) w = X'y with s^2 = y'(y - Xw)", slope, bound + min(blur / scale, 1e-7)),
            self._claim_of_least(problem, rr, reach, far, bound),
        ]
        if problem.directions.rank < d:
            lost = np.linalg.norm(coef - problem.directions.basis @ (problem.directions.basis.T @ coef))
            share = float(lost / (np.linalg.norm(coef) or 1.0)) if problem.knows_rank else np.inf
            claims.append(Claim("solution is the shortest of many", share, 1e-6))
        if self.fit_intercept:
            off = float(np.sqrt(seen.weight) * np.abs(r_mean).max()) / reach
            claims.append(Claim("residuals sum to zero", off, bound))
        return claims

    def _claim_of_least(self, problem: TotalProblem, rr: np.ndarray, reach: float, far: float, bound: float) -> Claim:
        """Claim that no plane is nearer, relative to the squared distances and to a trace of what they are differences of."""
        coef, _ = self._columns()
        q, found = coef.shape[1], problem.directions
        share = np.eye(q) + coef.T @ coef
        error = float(np.trace(np.linalg.solve(share, rr)))
        steep = float(np.sqrt(np.linalg.eigvalsh(share)[0]))
        least = float((found.values[found.rank : found.rank + q] ** 2).sum())
        # Residuals of rows are rounded, and columns of a factor; what rounding did to squares is no product with the error.
        blur, slip = problem.rounding * reach / steep, (len(coef) + 4) * EPS * (far + reach) / steep
        hidden = 2 * np.sqrt(error) * (slip + blur * problem.by_factor) + (slip + blur) ** 2
        hidden += 2 * float((found.values[found.rank :] * problem.blur(found.values[found.rank :])).sum())
        scale = (error + NO_PART * (reach / steep) ** 2) or 1.0
        allowed = 2 * hidden / scale if hidden <= MOST_ROUNDING * scale else 0.0
        above = (abs(error - least) + hidden) / scale
        return Claim("perpendicular error above the least possible", float(above), float(bound + allowed))

    def _claims_said(self, problem: TotalProblem) -> list[Claim]:
        """Compare what the model says of singular values with what they are, up to what rounding does to them."""
        found, blur = problem.directions, problem.blur
        own = TotalProblem(self, None, self.statistic_)
        if np.allclose(self.singular_values_, own.directions.all_values, rtol=1e-9, atol=0.0):
            blur = own.blur  # they are those of the sums, and as right as these
        rest = found.values[found.rank :]
        error, slack = float((rest**2).sum()), float((2 * rest * blur(rest) + blur(rest) ** 2).sum())
        said, true = np.atleast_1d(self.singular_values_), found.all_values
        gap = np.abs(said - true) / _allowed(true, blur(true)) if said.shape == true.shape else np.array([np.inf])
        smallest = np.array([found.smallest])
        claims = [
            Claim("rank is that of the columns", float(abs(self.rank_ - found.rank)), 0.0),
            Claim("singular values are as said (in units of rounding)", float(gap.max(initial=0.0)), 1.0),
            Claim(
                "smallest singular value of the columns is as said (in units of rounding)",
                float(abs(self.smallest_ - found.smallest) / _allowed(smallest, blur(smallest))[0]),
                1.0,
            ),
            Claim(
                "perpendicular error is as said (in units of rounding)",
                float(abs(self.error_ - error) / _allowed(np.array([error]), np.array([slack]))[0]),
                1.0,
            ),
        ]
        if found.rank:
            following = found.values[found.rank : found.rank + 1]
            room = smallest - blur(smallest)
            share = float(((following + blur(following)) / room)[0]) if room > 0 else np.inf
            claims.append(Claim("smallest squared singular value of [X y] over that of X", share**2, 1.0))
        return claims

    def _advice(self) -> str:
        return (
            "Bring columns to comparable units, drop those that nearly follow from others, or use qed.LinearRegression."
        )


def _allowed(value: np.ndarray, blur: np.ndarray) -> np.ndarray:
    return 1e-6 * np.abs(value) + 4 * blur + TINY


def _without_residual(seen: Moments, q: int) -> Moments:
    keep = slice(0, len(seen.mean) - q)
    known = (seen.mean[keep], seen.scatter[keep, keep], seen.n_features, seen.rest[keep], seen.bulk[keep])
    return Moments(seen.weight, seen.count, *known, seen.roundings, seen.drift[keep], seen.doubt)


def _distances(block: Block, residual: Any, coef: np.ndarray) -> np.ndarray:
    found = residual(block)
    return np.sqrt(np.maximum((found * _shares(found, coef)).sum(axis=1), 0.0))


def _nearest(block: Block, residual: Any, coef: np.ndarray) -> np.ndarray:
    found = residual(block)
    share = _shares(found, coef)
    return np.hstack(
        [dense(block.X) + share @ coef.T, np.asarray(block.y, dtype=np.float64).reshape(len(block), -1) - share]
    )


def _shares(residual: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Divide residuals by ``I + W'W``: what is left of them perpendicular to the plane."""
    return np.linalg.solve(np.eye(coef.shape[1]) + coef.T @ coef, residual.T).T
