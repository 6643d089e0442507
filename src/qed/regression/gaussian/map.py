r"""Maximum a posteriori: linear regression with a Gaussian belief about the coefficients.

.. math:: y = Xw + z,\quad z \sim N(0, \sigma^2 I),\quad w \sim N(\mu, \Sigma_w), \qquad
   \min_w\ \frac{1}{\sigma^2}\|y - Xw\|^2 + (w - \mu)^\top \Sigma_w^{-1} (w - \mu),

Tikhonov's regularisation, and ridge regression with :math:`\alpha = \sigma^2/\sigma_w^2` when the prior is
:math:`N(0, \sigma_w^2 I)`. The posterior is Gaussian too, with mean :math:`\hat w` (its mode, the answer) and covariance
:math:`(X^\top X/\sigma^2 + \Sigma_w^{-1})^{-1}`. The moments of the rows are all that matters: their triangular root is a
table of :math:`p + 1` rows with the same likelihood, which :func:`qed.linear_gaussian` solves, so one pass of :math:`O(np^2)`
serves, rows can be added and forgotten, and the prior may be singular. A belief that is wrong makes the answer worse than least
squares would be; several can be compared by cross-validation.

Bishop (2006), Pattern Recognition and Machine Learning, section 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats
from qed.base.certificate import Claim
from qed.base.errors import ParameterError
from qed.base.models.parameters import Parameter, array, boolean, number
from qed.base.models.problem import StatisticProblem
from qed.base.models.proof import whole
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.linalg.normal import Normal, equilibrate, table_of
from qed.optim.least_squares.evidence import Evidence
from qed.optim.least_squares.problem import LeastSquaresProblem, LinearProblem
from qed.regression.gaussian.linear_gaussian import linear_gaussian
from qed.regression.gaussian.metric import MetricProblem
from qed.regression.gaussian.posterior import posterior_claims, ridge_claim
from qed.regression.linear.linear import LinearModel
from qed.stats.distributions.covariance import Whitening, location, root
from qed.stats.inference.coefficients import Inference
from qed.stats.inference.spread import with_intercept
from qed.stats.moments import Moments
from qed.stats.products import dense

DIGITS_WANTED = 9.0


class GaussianMAP(LinearModel):
    """Linear regression with a Gaussian prior: the most probable coefficients, and how sure they are.

    Parameters
    ----------
    prior_mean : float or array of shape (p,), default=0.0
        Where the coefficients are believed to be.
    prior_covariance : float, or array of shape (p,) or (p, p), default=1.0
        How sure that belief is: one variance for all, one for each coefficient, or a full matrix. Zero means certainty.
    noise_variance : float, or array of shape (n,) or (n, n), default=1.0
        Variance of the noise; or one for each row, or their covariance matrix, which then belong to the rows of one
        table: such a model is fitted in memory, and neither ``partial_fit`` nor cross-validation is possible.
    fit_intercept : bool, default=False
        Whether to fit a constant, about which nothing is believed. (Without it, a column of ones has a prior like any
        other.)

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (n_outputs, p)
        Mean and mode of the posterior.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant; zero without ``fit_intercept``.
    covariance_ : ndarray of shape (p, p)
        Covariance of the posterior, the same for all outputs. It does not depend on the target.
    inference_ : Inference or tuple of them
        Posterior standard deviations and credible intervals, the intercept first.
    certificate_ : Certificate
        The proof of the fit.
    statistic_ : Moments
        What the model remembers of its rows; ``partial_fit`` adds to it, ``forget`` takes away from it.

    Notes
    -----
    Minimises ``sum_i weight_i (y_i - x_i w - b)^2 / noise_variance + (w - m)' inv(P) (w - m)`` with the prior's mean m and
    covariance P.

    Examples
    --------
    >>> X, y = [[1, 0], [1, 1], [1, 2]], [1, 2, 2]
    >>> model = GaussianMAP(prior_mean=[1, 0], prior_covariance=[4, 0.25]).fit(X, y)
    >>> model.coef_.round(6)
    array([1.444444, 0.185185])
    >>> mean, std = model.predict([[1, 3]], return_std=True)
    >>> mean.round(4), std.round(4)
    (array([2.]), array([1.4142]))
    """

    attributes: ClassVar = {"covariance_": floats("features", "features")}
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "prior_mean": number() | array(),
        "prior_covariance": number(0) | array(),
        "noise_variance": number(0, above=True) | array(),
        "fit_intercept": boolean(),
    }

    def __init__(
        self,
        prior_mean: Any = 0.0,
        prior_covariance: Any = 1.0,
        noise_variance: Any = 1.0,
        *,
        fit_intercept: bool = False,
    ) -> None:
        self.prior_mean = prior_mean
        self.prior_covariance = prior_covariance
        self.noise_variance = noise_variance
        self.fit_intercept = fit_intercept

    @property
    def _noise(self) -> float:
        """The variance to divide sums by: one when the moments are in the metric of the noise already."""
        return float(self.noise_variance) if np.ndim(self.noise_variance) == 0 else 1.0

    @property
    def _is_streamed(self) -> bool:
        return np.ndim(self.noise_variance) == 0

    def _prior(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean, and covariance as a matrix."""
        p = self.n_features_in_
        half = root("prior_covariance", self.prior_covariance, p)
        return location("prior_mean", self.prior_mean, p), half @ half.T

    def _whitening(self, rows: Rows) -> Whitening:
        n, size = rows.count(), np.shape(self.noise_variance)[0]
        if size != n:
            raise ParameterError(
                f"GaussianMAP: noise_variance is for {size} rows, but {n} rows were given. Variances of rows belong to one "
                "table and can not be split by cross-validation: give one number, or weights with sample_weight."
            )
        return Whitening(self.noise_variance, n, "noise_variance")

    def _problem(self, rows: Rows) -> Any:
        return super()._problem(rows) if self._is_streamed else MetricProblem(self, rows, self._whitening(rows))

    def _evidence(self, rows: Rows) -> Any:
        return super()._evidence(rows) if self._is_streamed else self._problem(rows)

    def _known(self, rows: Rows | None, statistic: Moments, target_ndim: int = 1) -> Any:
        if self._is_streamed or rows is None:
            return super()._known(rows, statistic, target_ndim)
        return self._problem(rows)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> GaussianMAP:
        self._want_one_variance("partial_fit")
        return super().partial_fit(X, y, sample_weight)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> GaussianMAP:
        self._want_one_variance("forget")
        return super().forget(X, y, sample_weight)

    def _want_one_variance(self, what: str) -> None:
        if not self._is_streamed:
            raise ParameterError(
                f"GaussianMAP: {what} needs one noise_variance for all rows, because an array belongs to the rows of one fit."
            )

    def _solve(self, problem: LinearProblem | MetricProblem) -> None:
        seen = problem.statistic
        moments = self._centered(seen)
        table = table_of(moments.scatter)
        if problem.rows is not None and self._digits(moments) < DIGITS_WANTED:
            table = self._precise_table(problem)
        p = self.n_features_in_
        known = {"noise": self._noise, "prior": self.prior_covariance, "prior_mean": self.prior_mean}
        found = [linear_gaussian(table[:, :p], y, **known, form="primal") for y in table[:, p:].T]
        self.covariance_ = found[0].covariance
        coef = np.column_stack([posterior.mean for posterior in found])
        self._set_coef(coef, seen.x_mean, seen.y_mean, flat=problem.target_ndim == 1)

    def _digits(self, moments: Moments) -> float:
        """Estimate how many digits survive in moments, where the posterior squares the condition number."""
        half = root("prior_covariance", self.prior_covariance, self.n_features_in_)
        precision, _ = equilibrate(half.T @ moments.xx @ half / self._noise + np.eye(len(half)))
        value = np.linalg.eigvalsh(precision)
        return float(-np.log10(EPS * value[-1] / max(value[0], EPS)))

    def _precise_table(self, problem: LinearProblem | MetricProblem) -> np.ndarray:
        """Take the table of a QR of the rows."""
        if isinstance(problem, MetricProblem):
            factor = problem.factor
        else:
            assert problem.lazy_factor is not None
            factor = problem.lazy_factor()
        return factor.R if self.fit_intercept else factor.uncentered()

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the target.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        return_std : bool, default=False
            Also give the standard deviation of a new observation: that of the line, and of the noise where it has one
            variance for all rows.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs), or a tuple of it and an ndarray of shape (n,)
            The predictions, and their standard deviations if asked for.
        """
        mean = super().predict(X)
        return (mean, self._apply(self._deviation, X)) if return_std else mean

    def _deviation(self, block: Block) -> np.ndarray:
        seen, noise = self.statistic_, self._noise
        variance = float(self.noise_variance) if self._is_streamed else 0.0
        x = dense(block.X)
        if self.fit_intercept:
            x = x - seen.x_mean
            variance += noise / seen.weight
        found = np.sqrt((x @ self.covariance_ * x).sum(axis=1) + variance)
        return np.asarray(found, dtype=block.X.dtype)

    @property
    def inference_(self) -> Any:
        """Standard deviations and credible intervals of the posterior; for several outputs a tuple."""
        self._check_fitted()
        seen, covariance = self.statistic_, self.covariance_
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        coef, intercept = self._columns()
        if self.fit_intercept:
            covariance = with_intercept(covariance, seen.x_mean, seen.weight / self._noise)
            coef, names = np.vstack([intercept, coef]), ["intercept", *names]
        labels = tuple(names)
        found = tuple(Inference(values, covariance, labels, has_intercept=self.fit_intercept) for values in coef.T)
        return found[0] if self.coef_.ndim == 1 else found

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        coef, intercept = self._columns()
        if damage := whole(len(coef), 0, coef, intercept, self.covariance_):
            return damage
        if isinstance(problem, MetricProblem):
            moments = self._centered(problem.statistic)
            seen = problem.evidence(coef, intercept, centered=self.fit_intercept)
            seen = replace(seen, metric=Normal(moments.xx, moments.noise[: len(coef)]))
            claims = self._claims(seen, coef, None)
        else:
            seen = self._evidence_of(problem)
            claims = self._claims(seen, coef, None)
            if problem.rows is not None and not all(claim.holds for claim in claims):
                closer = LeastSquaresProblem(self, problem.rows, problem.statistic)
                claims = self._claims(closer.sharpened(seen, coef, intercept), coef, closer)
        return claims

    def _claims(self, seen: Evidence, coef: np.ndarray, closer: LeastSquaresProblem | None) -> list[Claim]:
        """Make the claims from what is seen; where squares lost digits, with a QR factor for the columns."""
        mean, prior = self._prior()
        known = (seen, coef, self.covariance_, mean, prior)
        claims = posterior_claims(*known, noise=self._noise, centered=self.fit_intercept)
        variance = prior[0, 0]
        if variance > 0 and not mean.any() and np.array_equal(prior, variance * np.eye(len(prior))):
            alpha = self._noise / variance
            root = None if closer is None else closer.triangle(np.ones(len(coef), dtype=bool), alpha)
            claims.append(ridge_claim(seen, coef, alpha, root))
        return claims
