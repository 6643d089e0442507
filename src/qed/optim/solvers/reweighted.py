r"""Iteratively reweighted least squares: absolute values as squares with weights.

.. math:: F(w) = f(w) + \sum_j c_j\, |b_j^\top w - d_j|, \qquad |r| \le \frac{r^2}{2u} + \frac u2 \ \text{ for every } u > 0,

with equality at :math:`u = |r|`. So the squares with the weights :math:`c_j / |r_j|` of the last point lie above :math:`F` and
touch it there; the minimiser of their sum, a linear system for a quadratic :math:`f`, is never higher. The lasso (:math:`B = I`,
:math:`d = 0`) and least absolute deviations (:math:`f = 0`, :math:`B = X`, :math:`d = y`) are both of this form.

The limits of the method. A weight is infinite at :math:`r_j = 0`, so :math:`|r_j|` is kept above some :math:`\epsilon`, which is what
Huber's loss does; :math:`\epsilon` is lowered slowly, since a residual that is near zero by accident is held there by its own large
weight. No coefficient becomes exactly zero, only small. The rate is linear at best, and the linear systems become ill-conditioned
as :math:`\epsilon` falls: six to eight digits of the objective are within reach, not sixteen. Coordinate descent, or
smoothing with Newton's method (:class:`qed.LeastAbsoluteDeviations`), go further. An iteration costs :math:`O(mp^2 + p^3)`.

Daubechies, DeVore, Fornasier and Güntürk (2010), Iteratively reweighted least squares minimization for sparse recovery.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from qed.base.certificate import Claim
from qed.base.errors import InputError
from qed.base.models.parameters import Parameter, number
from qed.base.numbers import TINY
from qed.base.running.steps import Step
from qed.linalg.normal import solve
from qed.optim.functions.objective import Objective
from qed.optim.solvers.method import Method, not_above_the_start


class AbsoluteSum(Objective):
    """A smooth function plus a weighted sum of absolute values of linear functions.

    Parameters
    ----------
    matrix : array_like of shape (m, d)
        B, one linear function a row.
    offset : array_like of shape (m,) or float
        d, what is subtracted from them.
    weight : array_like of shape (m,) or float
        c, none of them negative.
    smooth : Objective, optional
        The smooth part, convex; nothing when missing.

    Examples
    --------
    >>> median = AbsoluteSum(np.ones((3, 1)), offset=[1.0, 2.0, 10.0])
    >>> median.value([2.0]), median.gradient([3.0])
    (9.0, array([1.]))
    """

    def __init__(self, matrix: Any, offset: Any = 0.0, weight: Any = 1.0, smooth: Objective | None = None) -> None:
        self.matrix = np.asarray(matrix, dtype=np.float64)
        m = self.matrix.shape[0]
        self.offset = np.broadcast_to(np.asarray(offset, dtype=np.float64), (m,))
        self.weight = np.broadcast_to(np.asarray(weight, dtype=np.float64), (m,))
        if (self.weight < 0).any():
            raise InputError("A weight of an absolute value is negative, which is not convex: give weights >= 0.")
        self.smooth = smooth
        super().__init__(self._total, lambda point: self.balance(point, 0.0))

    @classmethod
    def lasso(cls, X: Any, y: Any, alpha: float) -> AbsoluteSum:
        """Make half the sum of squares plus ``alpha |w|_1``; the course's ``|y - Xw|^2 + lambda |w|_1`` is twice that of lambda / 2."""
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        gram = X.T @ X
        squares = Objective(lambda w: 0.5 * np.sum((X @ w - y) ** 2), lambda w: X.T @ (X @ w - y), lambda w: gram)
        return cls(np.eye(X.shape[1]), 0.0, alpha, squares)

    @classmethod
    def deviations(cls, X: Any, y: Any, sample_weight: Any = 1.0) -> AbsoluteSum:
        """Make the weighted sum of the absolute residuals."""
        return cls(X, y, sample_weight)

    def residual(self, point: np.ndarray) -> np.ndarray:
        """Give the numbers whose absolute values are summed."""
        return self.matrix @ point - self.offset

    def _total(self, point: np.ndarray) -> float:
        smooth = 0.0 if self.smooth is None else self.smooth.value(point)
        return float(smooth + self.weight @ np.abs(self.residual(point)))

    def balance(self, point: np.ndarray, epsilon: float) -> np.ndarray:
        """Give the gradient with all kinks rounded off below `epsilon`."""
        r = self.residual(point)
        sign = np.sign(r) if epsilon == 0 else np.clip(r / epsilon, -1.0, 1.0)
        found = self.matrix.T @ (self.weight * sign)
        return found if self.smooth is None else found + self.smooth.gradient(point)

    def hidden(self, point: np.ndarray, epsilon: float) -> float:
        """Say by how much rounding off the kinks below `epsilon` can mislead, at most: no minimum is lower by more."""
        size = np.abs(self.residual(point))
        return float(self.weight @ (size * np.maximum(0.0, 1.0 - size / epsilon)))


@dataclass(frozen=True)
class Reweighted(Method):
    """Iteratively reweighted least squares on an `AbsoluteSum`.

    Parameters
    ----------
    shrink : float, default=0.7
        By how much epsilon becomes smaller in an iteration.
    floor : float, default=1e-10
        The least epsilon, relative to the largest residual at the start.

    Examples
    --------
    >>> from qed.optim.minimize import minimize
    >>> lasso = AbsoluteSum.lasso(np.eye(2), [3.0, 0.5], alpha=1.0)
    >>> found = minimize(lasso, [3.0, 0.5], method="reweighted", tol=1e-7)
    >>> found.point.round(6), bool(found.certificate)
    (array([2., 0.]), True)
    """

    shrink: float = 0.7
    floor: float = 1e-10

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "shrink": number(0, 1, above=True),
        "floor": number(0, above=True),
    }

    def begin(self, objective: Objective, point: np.ndarray) -> Step:
        """Begin with an epsilon as large as the residuals."""
        parts = _parts(objective)
        size = float(np.abs(parts.residual(point)).max(initial=0.0))
        if size == 0 and parts.smooth is not None:
            curvature = np.maximum(np.diagonal(parts.smooth.hessian(point)), 1e-300)
            size = float(np.abs(parts.smooth.gradient(point) / curvature).max(initial=0.0))
        return self._at(parts, point, size or 1.0, None)

    def advance(self, objective: Objective, step: Step) -> Step:
        """Solve the least squares problem with the weights of this point."""
        parts = _parts(objective)
        r, epsilon = parts.residual(step.point), step.epsilon
        weight = parts.weight / np.maximum(np.abs(r), epsilon)
        matrix = (parts.matrix.T * weight) @ parts.matrix
        slope = parts.matrix.T @ (weight * r)
        if parts.smooth is not None:
            matrix = matrix + parts.smooth.hessian(step.point)
            slope = slope + parts.smooth.gradient(step.point)
        point = step.point - solve(matrix, slope[:, None]).coef[:, 0]
        return self._at(parts, point, max(self.shrink * epsilon, self.floor * step.first[1]), step)

    def prove(self, objective: Objective, start: np.ndarray, step: Step, tol: float) -> list[Claim]:
        """Say that rounded kinks hide little, and that the gradient vanishes but for them."""
        parts = _parts(objective)
        value, epsilon = parts.value(step.point), step.epsilon
        size = max(abs(value), TINY)
        above = not_above_the_start(value, parts.value(start))
        return [
            replace(above, bound=max(above.bound, tol)),
            Claim("what rounded kinks can hide (relative)", parts.hidden(step.point, epsilon) / size, tol),
            Claim("gradient with rounded kinks, relative to its parts", _imbalance(parts, step.point, epsilon), tol),
        ]

    def _at(self, parts: AbsoluteSum, point: np.ndarray, epsilon: float, after: Step | None) -> Step:
        value = parts.value(point)
        first = (abs(value), epsilon) if after is None else after.first
        size = max(abs(value), TINY)
        gap = max(parts.hidden(point, epsilon) / size, _imbalance(parts, point, epsilon))
        number = 0 if after is None else after.number + 1
        return Step(value, gap, number, point=point, epsilon=epsilon, first=first)


def _imbalance(parts: AbsoluteSum, point: np.ndarray, epsilon: float) -> float:
    """Give the largest entry of the rounded gradient, relative to the sum of the sizes of what it is a sum of."""
    size = np.abs(parts.matrix).T @ parts.weight
    if parts.smooth is not None:
        size = size + np.abs(parts.smooth.gradient(point))
    balance = np.abs(parts.balance(point, epsilon))
    return float(np.divide(balance, size, out=np.zeros_like(size), where=size > 0).max(initial=0.0))


def _parts(objective: Objective) -> AbsoluteSum:
    if not isinstance(objective, AbsoluteSum):
        raise InputError("Reweighting needs to know the absolute values: give a qed.optim.AbsoluteSum.")
    return objective
