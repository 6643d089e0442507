r"""The penalised likelihood of linear scores, Newton's step on it, and how far from the minimum a point can be at most.

.. math:: F(\theta) = C \sum_i w_i\, \ell_i(\theta) + \tfrac12 \sum_j \lambda_j \theta_j^2

in coordinates in which all columns lie in :math:`[-1, 1]`. Newton's step solves :math:`(H + \Lambda)\,d = -g` with the true
Hessian :math:`H` of the first sum: by factorising it, or, where it is large, by conjugate gradients, a fold over the rows
for each product.

The bound is a duality gap. Any probabilities :math:`q_i` in the place of the model's :math:`p_i` give a lower bound of the
minimum, and it lies below :math:`F(\theta)` by

.. math:: C \sum_i w_i \operatorname{KL}(q_i \,\|\, p_i) + \tfrac12 \sum_j r_j^2 / \lambda_j, \qquad
          r = \Lambda\theta + C \sum_i w_i\, (q_i - y_i)\,\tilde x_i,

where :math:`r_j` has to vanish if :math:`\lambda_j = 0`. At :math:`q = p` this is :math:`\tfrac12 \sum g_j^2 / \lambda_j`.
Much better is what Newton's step predicts,

.. math:: q_i = p_i + (\operatorname{diag} p_i - p_i p_i^\top)\, d^\top \tilde x_i:

these are probabilities if the step is short, the divergence is at most :math:`d^\top H d`, and :math:`r = g + Hd =
-\Lambda d`. So the squared Newton decrement :math:`d^\top (H + \Lambda)\,d` is a proven bound, with a penalty or without
one, and costs no pass of its own.

Nocedal and Wright (2006), Numerical Optimization, chapters 6 and 7; Boyd and Vandenberghe (2004), Convex Optimization, section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS
from qed.base.summary import Summary
from qed.linalg.conjugate import conjugate_gradients
from qed.linalg.normal import solve
from qed.optim.functions.softmax import Curve, SoftmaxLoss, coding_of
from qed.optim.searches.downhill import downhill

# Up to this many times the price of a gradient the Hessian is formed and factorised; blocks of it up to this many columns.
FULL_PRICE = 2048
WIDEST_BLOCK = 512
# Leads smaller than this share of the largest are taken to be zero when a separating hyperplane is looked for.
ON_THE_PLANE = 1e-7
MOST_PRODUCTS = 500


@dataclass(frozen=True)
class Point:
    """A place, by the model's coefficients and in inner coordinates, with the objective and its derivatives."""

    coef: np.ndarray
    intercept: np.ndarray
    theta: np.ndarray
    objective: float
    gradient: np.ndarray
    curve: Curve

    @property
    def separated(self) -> np.ndarray | None:
        """Tell the classes apart by a hyperplane, if this place or the step to it is one; rows may lie on it.

        Gives the least lead of each class, as a share of the largest, or None where the classes overlap.
        """
        for low, high in zip(self.curve.low, self.curve.high):
            if high > 0 and (low >= -ON_THE_PLANE * high).all():
                return np.asarray(low / high)
        return None


@dataclass(frozen=True)
class Newton:
    """A direction, and the relative distance from the minimum that it proves, at most one."""

    direction: np.ndarray
    gap: float


class Likelihood:
    """The objective on some rows.

    Parameters
    ----------
    fold : callable
        Folds a function over blocks whose target holds class numbers.
    summary : Summary
        Of these rows, for the range of the columns.
    class_weight : ndarray of shape (K,)
        Factors of the rows' weights, by class.
    C : float
        The weight of the loss; infinite for no penalty.
    intercept : bool
        Whether there is a constant.
    centred : bool
        Whether columns may be shifted, which sparse ones may not.
    """

    def __init__(
        self,
        fold: Callable[..., Any],
        summary: Summary,
        class_weight: np.ndarray,
        C: float,
        intercept: bool,
        centred: bool,
    ) -> None:
        shift = np.zeros(len(summary.mean))
        if centred and intercept:
            shift = np.where(summary.high > summary.low, summary.mean, summary.low)
        width = np.maximum(np.abs(summary.high - shift), np.abs(summary.low - shift))
        scale = np.where(width > 0, np.maximum(width, 1e-150), 1.0)
        self.fold = fold
        self.loss = SoftmaxLoss(coding_of(len(class_weight)), shift, scale, intercept, class_weight)
        self.penalised = np.isfinite(C)
        self.factor = float(C) if self.penalised else 1.0
        slopes = 1.0 / scale**2 if self.penalised else np.zeros(len(scale))
        self.ridge = np.append(slopes, np.zeros(int(intercept)))
        self.kind = self._kind()

    def _kind(self) -> str:
        q = self.loss.shape[1]
        if len(self.loss.pairs("full")) * q <= FULL_PRICE:
            return "full"
        return "blocks" if q <= WIDEST_BLOCK else "none"

    def inside(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Give the inner coordinates of coefficients, of shape (m, q)."""
        found = coef * self.loss.scale
        if self.loss.intercept:
            found = np.hstack([found, (intercept + coef @ self.loss.shift)[:, None]])
        return np.asarray(found if len(coef) == 1 else self.loss.coding @ found)

    def outside(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give the coefficients and intercepts of inner coordinates."""
        p = len(self.loss.scale)
        found = theta if self.loss.coding.shape[1] == 2 else self.loss.coding.T @ theta
        coef = found[:, :p] / self.loss.scale
        return coef, found[:, p] - coef @ self.loss.shift if self.loss.intercept else np.zeros(len(coef))

    def at(self, coef: np.ndarray, intercept: np.ndarray, direction: np.ndarray | None = None) -> Point:
        """Work out the objective and its derivatives; without a penalty, also whether `direction` separates the classes."""
        theta = self.inside(coef, intercept)
        lines = () if direction is None or self.penalised else (theta, direction)
        curve = self.fold(self.loss.of, theta, self.kind, lines)
        objective = self.factor * curve.value + 0.5 * float((self.ridge * theta**2).sum())
        return Point(coef, intercept, theta, objective, self.factor * curve.gradient + self.ridge * theta, curve)

    def newton(self, point: Point) -> Newton:
        """Find Newton's direction and the gap that it proves."""
        with one_blas_thread:
            direction, image = self._factorised(point) if self.kind == "full" else self._conjugate(point)
        gap = self._gap(point.gradient, direction, image)
        return Newton(direction, min(1.0, gap / point.objective) if point.objective > 0 else 0.0)

    def _factorised(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """Solve for Newton's direction with the Hessian itself; give the direction and its product with the Hessian."""
        H = self.factor * self.loss.joined(point.curve.blocks)
        ridge = np.broadcast_to(self.ridge, self.loss.shape)
        direction = solve(H + np.diag(ridge.ravel()), -point.gradient.reshape(-1, 1)).coef
        return direction.reshape(self.loss.shape), (H @ direction).reshape(self.loss.shape)

    def _gap(self, gradient: np.ndarray, direction: np.ndarray, image: np.ndarray) -> float:
        """Bound the distance of the objective from its minimum; `image` is the Hessian's product with `direction`."""
        change = self.loss.coding.T @ direction
        reach = float((change.max(axis=0) - change.min(axis=0)).sum())
        if not reach <= 1:
            return np.inf
        left = np.abs(gradient + image)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            proven = np.where(left > 0, left**2 / (2 * self.ridge), 0.0)
        # What rounding leaves of an equation that no penalty softens is charged at the length of the step.
        return float((direction * image).sum() + np.minimum(proven, left * reach).sum())

    def _conjugate(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """Solve for Newton's direction by preconditioned conjugate gradients, the closer to the minimum the more exactly."""
        precondition = self._preconditioner(point)
        promised = float((point.gradient * precondition(point.gradient)).sum())
        found = conjugate_gradients(
            lambda search: self.factor * self.fold(self.loss.times, point.theta, search) + self.ridge * search,
            -point.gradient,
            max(min(0.1, np.sqrt(max(promised, 0.0) / max(point.objective, 1e-300))), EPS),
            MOST_PRODUCTS,
            precondition,
        )
        return found.solution, -point.gradient - found.left - self.ridge * found.solution

    def _preconditioner(self, point: Point) -> Callable[[np.ndarray], np.ndarray]:
        """Give a cheap stand-in for the inverse Hessian: by its blocks, one for each class, or by its diagonal."""
        if self.kind == "none":
            diagonal = self.factor * point.curve.diagonal + self.ridge
            inverse = 1.0 / np.where(diagonal > 0, diagonal, 1.0)
            return lambda residual: residual * inverse
        factors = []
        for block in point.curve.blocks.values():
            total = self.factor * block + np.diag(self.ridge)
            total[np.diag_indices_from(total)] += 1e-10 * total.diagonal() + 1e-300
            factors.append(cho_factor(total, lower=True))
        coding = self.loss.coding

        def precondition(residual: np.ndarray) -> np.ndarray:
            parts = (cho_solve(factor, part) for factor, part in zip(factors, coding.T @ residual))
            return np.asarray(coding @ np.array(list(parts)))

        return precondition

    def descend(self, point: Point, direction: np.ndarray) -> Point:
        """Go along `direction`, at most to its end, until the objective is nearly as low as it gets on the way."""
        coef, intercept = self.outside(direction)

        def at(step: float) -> Point:
            return self.at(point.coef + step * coef, point.intercept + step * intercept, direction)

        def slope(found: Point) -> float:
            return float((found.gradient * direction).sum())

        noise = 8 * EPS * abs(point.objective)
        found = downhill(
            at, slope, slope(point), lambda found: found.objective - point.objective,
            noise=noise, longest=1.0, rounding=noise,
        )  # fmt: skip
        return found or point

    def covariance(self, point: Point) -> np.ndarray | None:
        """Give the covariance of constants and coefficients at the maximum of a likelihood, class by class.

        It is the inverse of the Hessian; None where that is singular, or too large to be formed.
        """
        if self.kind != "full":
            return None
        with one_blas_thread:
            H = self.loss.joined(point.curve.blocks)
            found = solve(H, np.eye(len(H)))
        if found.rank < len(H):
            return None
        p = len(self.loss.scale)
        outer = np.diag(1.0 / self.loss.scale)
        if self.loss.intercept:
            outer = np.block([[-self.loss.shift / self.loss.scale, 1.0], [outer, np.zeros((p, 1))]])
        if len(self.loss.coding) > 1:
            outer = np.kron(self.loss.coding.T, outer)
        return np.asarray(outer @ found.coef @ outer.T)
