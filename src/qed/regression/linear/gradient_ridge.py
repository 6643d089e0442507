r"""Ridge regression by gradients: steepest descent and conjugate gradients, one pass over the rows per iteration.

.. math:: f(w) = \|y - Xw\|^2 + \alpha\|w\|^2, \qquad
   -\tfrac12 \nabla f(w) = r = X^\top y - A w, \quad A = X^\top X + \alpha I,

with centred columns when there is an intercept. Both methods go from :math:`w` along a direction :math:`d` to the lowest point
on that line, :math:`w + t d` with :math:`t = r^\top d / d^\top A d`; a pass over the rows gives :math:`A d`. Steepest descent takes
:math:`d = r` and needs about :math:`\kappa(A)` iterations per digit; conjugate gradients keep the directions
:math:`A`-orthogonal and need :math:`\sqrt{\kappa(A)}`, at most :math:`p` but for rounding. No :math:`p \times p` matrix is formed, so this
is the way for very many columns. Strong convexity bounds what is missing: :math:`f(w) - \min f \le \|r\|^2 / \alpha`. Without a penalty
that says nothing: the run ends when :math:`\|r\|^2 / \lambda` is small with the least curvature :math:`\lambda` it has met, and the proof,
:math:`r^\top A^{-1} r`, forms the matrix once, for up to a few thousand columns.

Hestenes and Stiefel (1952), Methods of conjugate gradients for solving linear systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.certificate import Claim
from qed.base.models.checks import overflowed
from qed.base.models.estimator import Iterative
from qed.base.models.parameters import Parameter, boolean, choice, integer, number
from qed.base.models.problem import RowsProblem
from qed.base.numbers import EPS, TINY, ratio
from qed.base.running.steps import Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.linalg.normal import Standing
from qed.optim.least_squares.problem import LeastSquaresProblem
from qed.regression.linear.least_squares import LinearRegression
from qed.regression.linear.linear import LinearPredictor
from qed.stats.products import vanishes
from qed.stats.residual_sums import ResidualSums

# A perfect fit is compared with this share of the squares of the target.
NO_SHARE = 1e-8
# Of more columns, no matrix is formed for a proof.
MOST_COLUMNS = 4096


class GradientRidge(LinearPredictor, Iterative):
    """Ridge regression found step by step.

    Parameters
    ----------
    alpha : float, default=1.0
        The weight of the penalty.
    method : {"conjugate", "steepest"}, default="conjugate"
        Conjugate gradients, or steepest descent with exact line search.
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    tol : float, default=1e-10
        The fit ends when the objective is proven to be within this, relative, of its minimum. Without a penalty there is no such
        bound while it runs, and the least curvature met takes the place of the penalty; the certificate has the last word.
    max_iter : int, default=1000
        The most iterations.

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (n_outputs, p)
        Coefficients.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant.
    n_iter_ : int
        Iterations made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof of the fit.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> slow = qed.GradientRidge(alpha=100.0, tol=1e-14).fit(X, y)
    >>> exact = qed.Ridge(alpha=100.0).fit(X, y)
    >>> bool(abs(slow.coef_ - exact.coef_).max() < 1e-5)
    True
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "alpha": number(0),
        "method": choice("conjugate", "steepest"),
        "fit_intercept": boolean(),
        "tol": number(0),
        "max_iter": integer(1),
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        method: str = "conjugate",
        fit_intercept: bool = True,
        tol: float = 1e-10,
        max_iter: int = 1000,
    ) -> None:
        self.alpha = alpha
        self.method = method
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def _problem(self, rows: Rows) -> CenteredRows:
        return CenteredRows(rows.cached(), self, centered=self.fit_intercept)

    def _steps(self, problem: CenteredRows, start: Step | None = None) -> Iterator[Step]:
        right, size = problem.right, problem.size
        if start is None:
            coef, residual, direction = np.zeros_like(right), right, right
            least = np.full(right.shape[1], np.inf)
        else:
            coef, residual, direction, least = start.coef, start.residual, start.direction, start.least
        length = (residual**2).sum(axis=0)
        while True:
            value = size - ((right + residual) * coef).sum(axis=0)
            if start is None:
                gap = self._gap(length, value, size, least)
                yield Step(value.sum(), gap, coef=coef, residual=residual, direction=direction, least=least)
            start = None
            image = problem.moving(problem.rows.fold(_gram_times, problem.center, direction)) + self.alpha * direction
            curvature = (direction * image).sum(axis=0)
            step = ratio((residual * direction).sum(axis=0), curvature)
            met = ratio(curvature, (direction**2).sum(axis=0))
            least = np.where(met > 0, np.minimum(least, met), least)
            coef = coef + step * direction
            residual = residual - step * image
            before, length = length, (residual**2).sum(axis=0)
            kept = direction * ratio(length, before) if self.method == "conjugate" else 0.0
            direction = residual + kept

    def _gap(self, length: np.ndarray, value: np.ndarray, size: np.ndarray, least: np.ndarray) -> float:
        """Bound the relative distance from the minimum; without a penalty, guess it by the least curvature."""
        if self.alpha > 0:
            return float(ratio(length, self.alpha * np.maximum(value, 0.0)).max())
        # Before the first step no curvature has been met.
        missing = np.where(length == 0, 0.0, np.where(np.isfinite(least), length / least, np.inf))
        return float(ratio(missing, np.maximum(value, 0.0) + NO_SHARE * size).max())

    def _finish(self, problem: CenteredRows, step: Step) -> None:
        self._set_coef(step.coef, problem.center, problem.target_center, flat=problem.target_ndim == 1)

    def _prove(self, problem: CenteredRows) -> list[Claim]:
        coef, intercept = self._columns()
        center, target, weight = problem.center, problem.target_center, problem.weight
        gradient, error, lost = problem.rows.fold(_residual_sums, center, coef, intercept)
        scale = np.sqrt(np.maximum(problem.size, TINY))
        offset = np.abs(target) + np.abs(center) @ np.abs(coef)
        noise = float((1e-15 * weight**0.5 * offset / scale).max())
        claims = [self._prove_minimum(problem, coef, intercept, (problem.moving(gradient), error, lost))]
        if self.fit_intercept:
            off = float((np.abs(lost) / weight**0.5 / scale).max())
            claims.append(Claim.within("residuals sum to zero", off, 1e-9, noise))
        return claims

    def _prove_minimum(
        self, problem: CenteredRows, coef: np.ndarray, intercept: np.ndarray, sums: tuple[np.ndarray, ...]
    ) -> Claim:
        """Bound what is missing from the minimum; where rounding hides too much, from residuals to twice the digits."""
        words, bound, (gradient, error, lost) = (
            "objective above its minimum, at most (relative)",
            max(self.tol, 1e-15),
            sums,
        )
        value = error + self.alpha * (coef**2).sum(axis=0)
        if self.alpha == 0:
            return Claim(words, self._missing(problem, coef, intercept, value), bound)

        def missing(gradient: np.ndarray, lost: np.ndarray, share: np.ndarray | float) -> float:
            """Bound it where sums are right but for a share of what residuals are differences of."""
            blur = share * problem.reach(coef, intercept)
            # About a mean that is rounded, the gradient is off where residuals do not sum to zero, which costs something by itself.
            total = (np.abs(lost) + np.sqrt(problem.weight) * blur) * self.fit_intercept
            noise = problem.moving(np.outer(problem.far, blur) + np.outer(problem.slip, total))
            steepest = _length(np.abs(gradient - self.alpha * coef) + noise)
            return self._gap(steepest + self.alpha * total**2 / problem.weight, value, problem.size, value)

        rounding = (len(coef) + 3) * EPS
        found = missing(gradient, lost, rounding)
        if found > bound >= self._gap(_length(gradient - self.alpha * coef), value, problem.size, value):
            closer = problem.rows.fold(ResidualSums.of, problem.center, coef, intercept)
            met = (coef == 0).all(axis=0) & (closer.square == 0)  # every row, by a constant: nothing is lost
            gradient = problem.moving(closer.gradient.value)
            found = missing(gradient, closer.total.value, 1e-8 * rounding * ~met)
        if found > bound:
            # The penalty bounds what is missing by the least curvature there could be; where a row is far away there is much more.
            found = min(found, self._missing(problem, coef, intercept, value))
        return Claim(words, found, bound)

    def _missing(self, problem: CenteredRows, coef: np.ndarray, intercept: np.ndarray, value: np.ndarray) -> float:
        """Give what is missing from the minimum, exactly but for rounding, relative to that minimum: the matrix is formed."""
        if len(coef) > MOST_COLUMNS:
            return np.inf
        closer = LeastSquaresProblem(LinearRegression(fit_intercept=self.fit_intercept), problem.rows, source="data")
        seen = closer.sharpened(closer.evidence(coef, intercept), coef, intercept)
        reach = np.sqrt(np.maximum(seen.yy, 0.0)) + seen.metric.lengths @ np.abs(coef)
        alphas, share = np.full(len(value), float(self.alpha)), NO_SHARE * problem.size * (self.alpha == 0)
        gradient, noise = seen.xr - self.alpha * coef, seen.noise + EPS * self.alpha * np.abs(coef)
        found = seen.metric.excess(Standing(coef, gradient, noise, alphas, reach, self.tol * (value + share)))
        found += seen.weight * (np.abs(seen.r_mean) + seen.slip) ** 2
        return float(ratio(found, np.maximum(value - found, 0.0) + share).max()) if np.isfinite(found).all() else np.inf


class CenteredRows(RowsProblem):
    """Ridge regression on rows, about the means of columns and target (about zero without an intercept)."""

    def __init__(self, rows: Rows, model: Any, *, centered: bool) -> None:
        super().__init__(rows, model)
        self.weight, total = rows.fold(_sum_target)
        self.center = self.summary.mean if centered else np.zeros(rows.n_features)
        self.target_center = total / self.weight if centered else np.zeros(len(total))
        with np.errstate(over="ignore"):
            far = 0.0 if centered else self.weight * self.summary.mean**2
            self.lengths = np.sqrt(self.summary.deviation + far)
        if not np.isfinite(self.lengths).all():
            raise overflowed(model)
        # Products of columns and targets, squares of the targets, and their spread.
        right, self.size, spread = rows.fold(_correlate, self.center, self.target_center)
        # About its mean a column that never varies is zero, whatever rounding leaves of it.
        self.still = (self.summary.high == self.summary.low) & centered
        self.right = self.moving(right)
        # The lengths of columns about zero, and how far their means may be off.
        self.far = np.sqrt(self.lengths**2 + self.weight * self.center**2)
        self.slip = self.summary.slip + EPS * np.abs(self.center)
        if vanishes(self.size, spread).any():
            raise overflowed(model)

    def moving(self, sums: np.ndarray) -> np.ndarray:
        """Give sums of products with columns, of which those that never vary have none."""
        return np.where(self.still[:, None], 0.0, sums)

    def reach(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Give the length of what residuals are differences of, means included."""
        root = np.sqrt(self.weight)
        target = np.sqrt(self.size) + root * (np.abs(self.target_center) + np.abs(intercept))
        return np.asarray(target + (self.lengths + root * np.abs(self.center)) @ np.abs(coef))


class _Sums(tuple):
    """A few arrays that are added one by one."""

    def __add__(self, other: Any) -> _Sums:  # type: ignore[override]
        return _Sums(mine + theirs for mine, theirs in zip(self, other))


def _length(values: np.ndarray) -> np.ndarray:
    return np.asarray((values**2).sum(axis=0))


def _target(block: Block) -> np.ndarray:
    y = np.asarray(block.y, dtype=np.float64)
    return y[:, None] if y.ndim == 1 else y


def _sum_target(block: Block) -> _Sums:
    block = block.present
    weight = block.weights
    return _Sums((weight.sum(), weight @ _target(block)))


def _times(block: Block, center: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Compute ``(X - center)' values``."""
    return np.asarray(block.X.T @ values, dtype=np.float64) - np.outer(center, values.sum(axis=0))


def _correlate(block: Block, center: np.ndarray, target_center: np.ndarray) -> _Sums:
    block = block.present
    weight, y = block.weights[:, None], _target(block) - target_center
    return _Sums((_times(block, center, weight * y), (weight * y**2).sum(axis=0), np.abs(y).sum(axis=0)))


def _gram_times(block: Block, center: np.ndarray, direction: np.ndarray) -> np.ndarray:
    block = block.present
    image = np.asarray(block.X @ direction, dtype=np.float64) - center @ direction
    return _times(block, center, block.weights[:, None] * image)


def _residual_sums(block: Block, center: np.ndarray, coef: np.ndarray, intercept: np.ndarray) -> _Sums:
    block = block.present
    weight = block.weights[:, None]
    residual = _target(block) - np.asarray(block.X @ coef, dtype=np.float64) - intercept
    weighted = weight * residual
    return _Sums((_times(block, center, weighted), (weighted * residual).sum(axis=0), weighted.sum(axis=0)))
