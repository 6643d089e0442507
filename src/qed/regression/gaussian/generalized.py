r"""Generalised least squares: linear regression when the noise of the rows differs in size or is correlated.

.. math:: y = Xw + b + z,\quad z \sim N(0, \sigma^2\Sigma), \qquad
   \min_{w, b}\ (y - Xw - b)^\top \Sigma^{-1} (y - Xw - b).

Whitening by :math:`\Sigma = LL^\top` (Cholesky) makes it ordinary least squares for :math:`L^{-1}X, L^{-1}y`; of all unbiased
linear estimators it has the least variance (Aitken 1935), and for Gaussian noise it is the most likely one. With
variances in the place of a matrix it is weighted least squares, with weights :math:`1/\sigma_i^2`. A full matrix costs
:math:`O(n^3)`, variances :math:`O(np^2)`.

Aitken (1935), On least squares and linear combinations of observations.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers, of
from qed.base.certificate import Claim
from qed.base.errors import DegenerateWarning, ParameterError
from qed.base.models.parameters import Parameter, array, boolean, choice, number
from qed.base.models.proof import remembered_claim, whole
from qed.base.models.roles import Regressor
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.linalg.affine import affine
from qed.linalg.normal import Solution
from qed.linalg.root import factor_rounding
from qed.optim.least_squares.evidence import accuracy_claim, first_errors, least_squares_claims
from qed.optim.least_squares.precise import solve_by_factor
from qed.regression.gaussian.metric import MetricProblem, moments_of
from qed.stats.distributions.covariance import Whitening
from qed.stats.factor import Factor
from qed.stats.inference.coefficients import Inference
from qed.stats.left_out import MOST_ALIKE, left_out_claim

# With a larger condition number, a solution from a factor has lost digits that one correction gives back.
ALIKE = 1e3


class GeneralizedLeastSquares(Regressor):
    """Least squares for rows whose noise has a known covariance.

    Parameters
    ----------
    covariance : None, float, or array of shape (n,) or (n, n)
        Covariance of the noise of the rows, in their order: the identity, one variance, one for each row, or a full
        positive definite matrix. It belongs to the rows of one table, so a model with one can not be cross-validated;
        for independent rows `LinearRegression` with ``sample_weight = 1 / variance`` can.
    fit_intercept : bool, default=True
        Whether to fit a constant.
    known_scale : bool, default=False
        Whether `covariance` is the covariance itself. If not, it is known up to a factor, which the residuals tell. That
        changes ``inference_`` only.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        Coefficients; the shortest solution where columns are dependent.
    intercept_ : float
        The constant; zero without ``fit_intercept``.
    rank_ : int
        How many columns are independent.
    condition_ : float
        Condition number of the whitened columns, scaled to equal length.
    inference_ : Inference
        Standard errors, tests and intervals.
    certificate_ : Certificate
        The proof of the fit: whitened residuals are orthogonal to every whitened column.
    statistic_ : Factor
        Weight, mean and triangular factor of the rows in the metric of the noise.
    n_rows_, log_determinant_ : float
        Sum of the sample weights, and logarithm of the determinant of the covariance.

    Examples
    --------
    >>> from qed.data.synthetic import ar1_covariance
    >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 2.0, 2.0]
    >>> model = GeneralizedLeastSquares(ar1_covariance(3, 0.5)).fit(X, y)
    >>> round(model.intercept_ * 53, 9), (model.coef_ * 53).round(9)
    (57.0, array([27.]))
    >>> bool(model.certificate_)
    True
    """

    passes: ClassVar[str] = "in memory"
    attributes: ClassVar = {
        "statistic_": of(Factor, n_features="features"),
        "log_determinant_": floats(),
        "n_rows_": floats(above=0),
        "rank_": integers(below="features+1"),
        "condition_": floats(low=0, finite=False),
        "coef_": floats("features"),
        "intercept_": floats(),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "covariance": choice(None, kind="model") | number(0, above=True) | array(),
        "fit_intercept": boolean(),
        "known_scale": boolean(),
    }
    coef_: np.ndarray
    intercept_: float

    def __init__(self, covariance: Any = None, *, fit_intercept: bool = True, known_scale: bool = False) -> None:
        self.covariance = covariance
        self.fit_intercept = fit_intercept
        self.known_scale = known_scale

    def _problem(self, rows: Rows) -> MetricProblem:
        return MetricProblem(self, rows, self._whitening(rows))

    def _solve(self, problem: MetricProblem) -> None:
        statistic = problem.factor
        solution = solve_by_factor(statistic, centered=self.fit_intercept)
        self.statistic_ = statistic
        self.log_determinant_ = problem.whitening.log_determinant(problem.rows.array().weight)
        self.n_rows_ = problem.fingerprint.weight
        self.rank_, self.condition_ = solution.rank, solution.condition
        self._set_plane(problem, solution)
        p = self.n_features_in_
        if self.rank_ < min(p, statistic.count - self.fit_intercept):
            warnings.warn(
                f"GeneralizedLeastSquares: only {self.rank_} of {p} columns are independent: many coefficients fit "
                "equally well and the shortest were taken. Drop columns that follow from others.",
                DegenerateWarning,
                stacklevel=4,
            )

    def _set_plane(self, problem: MetricProblem, solution: Solution) -> None:
        """Set coefficients and intercept; where columns are nearly dependent, after one correction by what their residuals say."""
        factor, coef = problem.factor, solution.coef
        level = factor.y_mean - factor.x_mean @ coef if self.fit_intercept else np.zeros(1)
        if solution.rank == len(coef) and solution.condition > ALIKE:
            seen = problem.evidence(coef, level, centered=self.fit_intercept)
            _, root = seen.metric.root()
            step = np.zeros(coef.shape) if root is None else root.step(seen.xr)
            coef, level = coef + step, level + (seen.r_mean - factor.x_mean @ step) * self.fit_intercept
        self.coef_, self.intercept_ = coef[:, 0].copy(), float(level[0])

    def _whitening(self, rows: Rows) -> Whitening:
        n, shape = rows.count(), np.shape(self.covariance)
        if shape and shape[0] != n:
            raise ParameterError(
                f"GeneralizedLeastSquares: covariance is for {shape[0]} rows, but {n} rows were given. A covariance belongs "
                "to the rows of one table and can not be split by cross-validation; where the rows are independent, use "
                "LinearRegression with sample_weight = 1 / variance, which can."
            )
        return Whitening(self.covariance, n, "covariance")

    def _predict(self, block: Block) -> np.ndarray:
        return affine(block.X, self.coef_, self.intercept_)

    def _prove(self, problem: MetricProblem) -> list[Claim]:
        coef, centered = np.asarray(self.coef_, dtype=np.float64)[:, None], self.fit_intercept
        constant = np.atleast_1d(np.asarray(self.intercept_, dtype=np.float64))
        said = (self.condition_, self.n_rows_, self.log_determinant_)
        if damage := whole(len(coef), self.rank_, coef, constant, *said):
            return damage
        seen = problem.evidence(coef, constant, centered=centered)
        claims = least_squares_claims(seen, coef, centered=centered, rank=self.rank_)
        errors, _, _ = first_errors(seen, coef, constant, self.rank_)
        found = solve_by_factor(problem.factor, centered=centered)
        weight, determinant = problem.fingerprint.weight, problem.whitening.log_determinant(problem.rows.array().weight)
        gap = max(abs(self.n_rows_ / weight - 1), abs(self.log_determinant_ - determinant) / max(1.0, abs(determinant)))
        blur = 1e-6 + factor_rounding(len(coef)) * len(coef) * found.condition
        return [
            *(replace(claim, says=f"whitened: {claim.says}") for claim in claims),
            accuracy_claim(float(errors.max()), is_unique=self.rank_ == len(coef)),
            Claim("rank is that of the columns", float(abs(self.rank_ - found.rank)), 0.0),
            Claim(
                "condition number is that of the columns (relative)", abs(self.condition_ / found.condition - 1), blur
            ),
            Claim("weight of the rows and determinant of the covariance are as said", float(gap), 1e-9),
            remembered_claim(self.statistic_, moments_of(problem.factor)),
            *self._prove_alike(problem),
        ]

    def _prove_alike(self, problem: MetricProblem) -> list[Claim]:
        """Claim of columns that were taken for dependent, though there are rows enough, that the rows bear it out."""
        p, factor = self.n_features_in_, problem.factor
        if not self.rank_ < p < factor.count:
            return []
        R = (factor.R if self.fit_intercept else factor.uncentered())[:, :p]
        length = np.linalg.norm(R, axis=0)
        nonzero = np.flatnonzero(length > 0)
        left_out = np.zeros((p, max(len(nonzero) - self.rank_, 0)))
        if left_out.size == 0:
            return []
        left_out[nonzero] = (np.linalg.svd(R[:, nonzero] / length[nonzero])[2][self.rank_ :] / length[nonzero]).T
        return [left_out_claim(problem.rows, left_out, MOST_ALIKE, centered=self.fit_intercept)]

    def _advice(self) -> str:
        return "Drop columns that nearly follow from others, or a covariance under which rows are nearly the same."

    @property
    def inference_(self) -> Inference:
        """Standard errors, t and p values and intervals of the coefficients, the intercept first."""
        self._check_fitted()
        found: Inference = Inference.of_least_squares(
            self.statistic_,
            self.coef_,
            self.intercept_,
            fit_intercept=self.fit_intercept,
            names=getattr(self, "feature_names_in_", None),
            n=self.n_rows_,
            sigma2=1.0 if self.known_scale else None,
        )
        if found.log_likelihood is not None:
            found = replace(found, log_likelihood=found.log_likelihood - self.log_determinant_ / 2)
        return found
