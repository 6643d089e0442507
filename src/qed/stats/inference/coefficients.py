r"""What can be said about coefficients beyond their values: standard errors, tests and intervals.

For :math:`\hat\beta` with covariance :math:`V`, each :math:`t_j = \hat\beta_j / \sqrt{V_{jj}}` follows Student's law with
:math:`\nu` degrees of freedom when :math:`\beta_j = 0` (the normal law for :math:`\nu = \infty`), and a set of restrictions
:math:`R\beta = r` is tested by Wald's :math:`(R\hat\beta - r)^\top (RVR^\top)^{-1} (R\hat\beta - r)`. In least squares with
independent Gaussian noise this is exact, with

.. math:: V = \hat\sigma^2 (X^\top X)^{-1}, \qquad \hat\sigma^2 = \frac{\|y - X\hat\beta\|^2}{n - p}, \qquad \nu = n - p,

all of which follows from the moments of the rows, so a fit on a file larger than memory has standard errors too. Tail
probabilities are computed as such, never as one minus something near one, so a p-value of 1e-80 has all its digits.

Seber and Lee (2003), Linear Regression Analysis.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, special

from qed.base.errors import DegenerateError, NotAvailableError, ParameterError
from qed.base.numbers import EPS, ratio
from qed.base.visible import ShownAsText, visible
from qed.linalg.normal import equilibrate
from qed.stats.factor import Factor
from qed.stats.inference.spread import log_likelihood, sums, with_intercept
from qed.stats.inference.wald import WaldTest
from qed.stats.moments import Moments


@dataclass(frozen=True, eq=False, repr=False)
class Inference(ShownAsText):
    """Coefficients with their covariance, and the tests and intervals that follow.

    Attributes
    ----------
    coefficients : ndarray of shape (p,)
        The estimates, the intercept first where there is one.
    covariance : ndarray of shape (p, p)
        Their covariance.
    names : tuple of str
        What they belong to.
    degrees_of_freedom : float
        Those of the noise variance; infinite when it is known, and the normal law is then used.
    n : float or None
        How many rows were seen: the sum of the weights, because a weight means a repetition.
    sigma2 : float or None
        Variance of the noise.
    residual, total : float or None
        Sum of squared residuals of the model, and of a model with the intercept alone (or nothing).
    has_intercept : bool
        Whether the first coefficient is an intercept.
    log_likelihood : float or None
        Of the model, at its maximum.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("stackloss").Xy()
    >>> print(qed.LinearRegression().fit(X, y).inference_)
    21 rows, 4 coefficients, 17 degrees of freedom, sigma 3.24336
    <BLANKLINE>
                 estimate  std. error           t       p>|t|       2.5 %      97.5 %
    intercept    -39.9197      11.896    -3.35572     0.00375     -65.018    -14.8213
    x0            0.71564    0.134858     5.30661     5.8e-05    0.431114     1.00017
    x1            1.29529    0.368024     3.51957     0.00263    0.518823     2.07175
    x2          -0.152123    0.156294    -0.97331       0.344   -0.481874    0.177629
    <BLANKLINE>
    R2 0.91358, adjusted 0.89833, F(3, 17) = 59.902, p = 3.02e-09
    log-likelihood -52.288, AIC 112.58, BIC 116.75
    """

    coefficients: np.ndarray
    covariance: np.ndarray
    names: tuple[str, ...] = ()
    degrees_of_freedom: float = math.inf
    n: float | None = None
    sigma2: float | None = None
    residual: float | None = None
    total: float | None = None
    has_intercept: bool = False
    log_likelihood: float | None = None

    def __post_init__(self) -> None:
        coefficients = np.asarray(self.coefficients, dtype=np.float64)
        covariance = np.asarray(self.covariance, dtype=np.float64)
        p = coefficients.size
        names = tuple(str(name) for name in self.names) or tuple(f"x{j}" for j in range(p))
        if coefficients.ndim != 1 or covariance.shape != (p, p) or len(names) != p:
            raise ParameterError(
                f"Inference needs p coefficients, a p x p covariance and p names, not shapes {coefficients.shape} and "
                f"{covariance.shape} with {len(names)} names."
            )
        if not self.degrees_of_freedom > 0:
            raise ParameterError(f"degrees_of_freedom must be positive, not {self.degrees_of_freedom!r}.")
        object.__setattr__(self, "coefficients", coefficients)
        object.__setattr__(self, "covariance", covariance)
        object.__setattr__(self, "names", names)

    @classmethod
    def of_least_squares(
        cls,
        statistic: Moments | Factor,
        coef: np.ndarray,
        intercept: Any = 0.0,
        *,
        fit_intercept: bool = True,
        names: Sequence[str] | None = None,
        n: float | None = None,
        sigma2: float | None = None,
    ) -> Any:
        """Make the inference of a least-squares fit from the statistic of its rows.

        Weights are repetitions: a row of weight two counts as two rows, and the sum of the weights is the n of all formulas.
        (For weights that are precisions instead, give the number of rows as `n`.)

        Parameters
        ----------
        statistic : Moments or Factor
            Of features and targets; a Factor where the columns are nearly dependent.
        coef, intercept : ndarray of shape (p,) or (p, q), and float or ndarray of shape (q,)
            The fit, a column for each target.
        fit_intercept : bool
            Whether the model has an intercept.
        names : sequence of str, optional
            Names of the features.
        n : float, optional
            The number of rows; the sum of the weights when not given.
        sigma2 : float, optional
            The variance of the noise where it is known; the normal law then takes the place of Student's.

        Returns
        -------
        Inference, or a tuple of them
            One for each target, alone when there is one target.
        """
        columns = np.asarray(coef, dtype=np.float64).reshape(statistic.n_features, -1)
        constants = np.broadcast_to(np.asarray(intercept, dtype=np.float64), columns.shape[1])
        p = statistic.n_features + fit_intercept
        n = float(statistic.weight) if n is None else float(n)
        spare = math.inf if sigma2 is not None else n - p
        if spare <= 0:
            raise NotAvailableError(
                f"Standard errors are not defined: {n:g} rows leave nothing over to estimate the noise from after "
                f"{p} coefficients. Give more rows or fewer columns."
            )
        half, residuals, totals = sums(statistic, columns, fit_intercept)
        inverse = half @ half.T
        labels = [f"x{j}" for j in range(statistic.n_features)] if names is None else [str(name) for name in names]
        if fit_intercept:
            inverse = with_intercept(inverse, statistic.x_mean, statistic.weight)
            columns = np.vstack([constants, columns])
            labels = ["intercept", *labels]
        found = []
        for values, residual, total in zip(columns.T, residuals.tolist(), totals.tolist()):
            variance = residual / spare if sigma2 is None else float(sigma2)
            chance = log_likelihood(n, residual, sigma2)
            fit = (n, variance, residual, total, fit_intercept, chance)
            found.append(cls(values, variance * inverse, tuple(labels), spare, *fit))
        return found[0] if len(found) == 1 else tuple(found)

    @property
    def standard_errors(self) -> np.ndarray:
        """The square roots of the variances of the coefficients."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance)))

    @property
    def t_values(self) -> np.ndarray:
        """Coefficients over their standard errors; infinite where the error is zero, as in a perfect fit."""
        return ratio(self.coefficients, self.standard_errors)

    @property
    def p_values(self) -> np.ndarray:
        """Probability of a t at least as far from zero if the coefficient were zero (two-sided)."""
        t2 = self.t_values**2
        if math.isinf(self.degrees_of_freedom):
            return np.asarray(special.chdtrc(1, t2))
        return np.asarray(special.fdtrc(1, self.degrees_of_freedom, t2))

    def intervals(self, level: float = 0.95) -> np.ndarray:
        """Give intervals that contain the true coefficients with probability `level`, one by one.

        Parameters
        ----------
        level : float
            The probability, between 0 and 1.

        Returns
        -------
        ndarray of shape (p, 2)
            Lower and upper ends.
        """
        if not 0 < level < 1:
            raise ParameterError(f"level must be between 0 and 1, such as 0.95, not {level!r}.")
        tail = (1 - level) / 2
        known = math.isinf(self.degrees_of_freedom)
        reach = -(special.ndtri(tail) if known else special.stdtrit(self.degrees_of_freedom, tail))
        step = reach * self.standard_errors
        return np.column_stack([self.coefficients - step, self.coefficients + step])

    def wald(self, R: Any, r: Any = 0.0) -> WaldTest:
        """Test the restrictions ``R @ coefficients = r`` together.

        Parameters
        ----------
        R : array-like of shape (q, p) or (p,), or a name, or a list of names
            The restrictions, a row each; names stand for "these coefficients are `r`".
        r : float or array-like of shape (q,)
            The right-hand side.
        """
        rows = self._restrictions(R)
        gap = rows @ self.coefficients - np.broadcast_to(np.asarray(r, dtype=np.float64), len(rows))
        scaled, length = equilibrate(rows @ self.covariance @ rows.T)
        values = np.linalg.eigvalsh(scaled)
        if values[0] <= 8 * len(rows) * EPS:
            raise DegenerateError(
                "The restrictions depend on each other, or concern a coefficient without variance: drop some of them."
            )
        part = linalg.cho_solve(linalg.cho_factor(scaled), gap / length)
        return WaldTest.of(float(part @ (gap / length)), len(rows), self.degrees_of_freedom)

    def _restrictions(self, R: Any) -> np.ndarray:
        chosen = [R] if isinstance(R, str) else R
        if len(chosen) and all(isinstance(name, str) for name in chosen):
            lost = [name for name in chosen if name not in self.names]
            if lost:
                raise ParameterError(f"There is no coefficient {lost[0]!r}; there are: {', '.join(self.names)}.")
            return np.eye(len(self.names))[[self.names.index(name) for name in chosen]]
        rows = np.atleast_2d(np.asarray(R, dtype=np.float64))
        if rows.shape[1] != len(self.names):
            raise ParameterError(
                f"R must have a column for each of the {len(self.names)} coefficients, not shape {rows.shape}."
            )
        return rows

    @property
    def r_squared(self) -> float | None:
        """The share of the scatter of the target that the model explains."""
        if self.residual is None or self.total is None:
            return None
        return 1.0 - self.residual / self.total if self.total > 0 else float(self.residual == 0)

    @property
    def adjusted_r_squared(self) -> float | None:
        """The same for variances: each sum of squares over its degrees of freedom."""
        if self.n is None or self.r_squared is None or math.isinf(self.degrees_of_freedom):
            return None
        return 1.0 - (1.0 - self.r_squared) * (self.n - self.has_intercept) / self.degrees_of_freedom

    @property
    def f_test(self) -> WaldTest | None:
        """The test that all coefficients but the intercept are zero."""
        slopes = len(self.coefficients) - self.has_intercept
        if self.residual is None or self.total is None or self.sigma2 is None or slopes == 0:
            return None
        explained = max(self.total - self.residual, 0.0)
        return WaldTest.of(float(ratio(explained, self.sigma2)), slopes, self.degrees_of_freedom)

    @property
    def aic(self) -> float | None:
        """Akaike's criterion, 2p - 2 log-likelihood, where p counts coefficients and not the variance."""
        return None if self.log_likelihood is None else 2 * len(self.coefficients) - 2 * self.log_likelihood

    @property
    def bic(self) -> float | None:
        """Schwarz's criterion, p log n - 2 log-likelihood, where p counts coefficients and not the variance."""
        if self.log_likelihood is None or self.n is None:
            return None
        return len(self.coefficients) * math.log(self.n) - 2 * self.log_likelihood

    def to_dict(self) -> dict[str, Any]:
        """Give all numbers as plain lists and floats; infinite degrees of freedom are None."""
        low, high = self.intervals().T
        test = self.f_test
        return {
            "names": list(self.names),
            "coefficients": self.coefficients.tolist(),
            "standard_errors": self.standard_errors.tolist(),
            "t_values": self.t_values.tolist(),
            "p_values": self.p_values.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "covariance": self.covariance.tolist(),
            "degrees_of_freedom": None if math.isinf(self.degrees_of_freedom) else self.degrees_of_freedom,
            "n": self.n,
            "sigma2": self.sigma2,
            "r_squared": self.r_squared,
            "adjusted_r_squared": self.adjusted_r_squared,
            "f_statistic": None if test is None else test.statistic,
            "f_p_value": None if test is None else test.p_value,
            "log_likelihood": self.log_likelihood,
            "aic": self.aic,
            "bic": self.bic,
        }

    def summary(self, level: float = 0.95) -> str:
        """Give a table of the coefficients, with what is known about the fit above and below it.

        Parameters
        ----------
        level : float
            Probability of the intervals.
        """
        return "\n".join(_table(self, level))

    def __str__(self) -> str:
        return self.summary()


def _table(seen: Inference, level: float) -> list[str]:
    normal = math.isinf(seen.degrees_of_freedom)
    facts = [f"{len(seen.coefficients)} coefficients"]
    facts = facts if seen.n is None else [f"{seen.n:g} rows", *facts]
    facts += [] if normal else [f"{seen.degrees_of_freedom:g} degrees of freedom"]
    facts += [] if seen.sigma2 is None else [f"sigma {math.sqrt(seen.sigma2):.6g}"]
    letter = "z" if normal else "t"
    tail = 50 * (1 - level)
    heads = ["estimate", "std. error", letter, f"p>|{letter}|", f"{tail:.3g} %", f"{100 - tail:.5g} %"]
    names = [visible(name) for name in seen.names]
    width = max([len(name) for name in names], default=0)
    lines = [", ".join(facts), "", " " * width + "".join(f"{head:>12}" for head in heads)]
    values = (seen.coefficients, seen.standard_errors, seen.t_values, seen.p_values, *seen.intervals(level).T)
    for name, *numbers, p, low, high in zip(names, *values):
        shown = [f"{value:.6g}" for value in numbers] + [f"{p:.3g}", f"{low:.6g}", f"{high:.6g}"]
        lines.append(f"{name:<{width}}" + "".join(f"{value:>12}" for value in shown))
    fit = [] if seen.r_squared is None else [f"R2 {seen.r_squared:.5g}"]
    fit += [] if seen.adjusted_r_squared is None else [f"adjusted {seen.adjusted_r_squared:.5g}"]
    fit += [] if seen.f_test is None else [str(seen.f_test)]
    chance = [] if seen.log_likelihood is None else [f"log-likelihood {seen.log_likelihood:.5g}"]
    chance += [f"{word} {value:.5g}" for word, value in (("AIC", seen.aic), ("BIC", seen.bic)) if value is not None]
    return lines + ([""] if fit or chance else []) + [", ".join(part) for part in (fit, chance) if part]
