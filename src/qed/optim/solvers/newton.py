r"""Newton's method: go to the minimum of the parabola that fits the function best at :math:`w`.

.. math:: \bar f(w + \Delta) = f(w) + \nabla f(w)^\top \Delta + \tfrac12 \Delta^\top \nabla^2 f(w)\, \Delta, \qquad
          (\nabla^2 f(w) + \tau I)\, \Delta = -\nabla f(w), \qquad w \leftarrow w + \alpha \Delta.

The *pure* method has :math:`\alpha = 1, \tau = 0`: one step on a quadratic, and near a minimum with a positive definite
Hessian twice as many digits with every step. Far away it may run off, or to a saddle. Two remedies make it safe, and
leave it alone where it needs none: *damping*, a search for :math:`\alpha` along :math:`\Delta`; and a *shift*
:math:`\tau` of the Hessian in the step, so large that it is positive definite (Levenberg), chosen as the first that a
Cholesky factorisation accepts. The other regularisation, to add :math:`\lambda \|w\|^2` to the function itself, shifts
the Hessian by :math:`2\lambda` and moves the minimum too: see `ridged`. A step costs the Hessian and :math:`O(d^3)`;
where only products with the Hessian are given, conjugate gradients solve for :math:`\Delta`, as well as the gradient is
worth it (Newton-CG).

Nocedal and Wright (2006), Numerical Optimization, algorithms 3.3 and 7.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_solve, lapack

from qed.base.models.parameters import Parameter, choice, number
from qed.base.running.steps import Halt, Reason, Step
from qed.linalg.iterative.conjugate import conjugate_gradients
from qed.optim.functions.objective import Objective
from qed.optim.searches.flat import safe_length
from qed.optim.searches.methods import Armijo, Search
from qed.optim.searches.step_rules import step_parameter
from qed.optim.solvers.gradient_descent import no_way_down
from qed.optim.solvers.method import Method
from qed.optim.solvers.root import newton_move

FULL_STEP_FIRST = Armijo(first=1.0)
HAIR = 2.0**-26


@dataclass(frozen=True)
class Newton(Method):
    r"""Newton's method.

    Parameters
    ----------
    step : float, StepRule or callable
        The length :math:`\alpha`: 1 is the pure method, a smaller number a damped one, and a search such as ``Armijo(first=1.0)`` (the
        default) or ``Wolfe(first=1.0)`` takes the full step where it can.
    shift : float or "auto"
        The shift :math:`\tau` of the Hessian in the step: 0 is the pure method, and "auto" none where the Hessian is positive definite.
    solver : {"auto", "direct", "cg"}
        A factorisation, or conjugate gradients; "auto" takes the latter for an objective that was given products and no Hessian.

    Examples
    --------
    >>> from itertools import islice
    >>> root = Objective(
    ...     lambda w: np.sqrt(w[0] ** 2 + 1), lambda w: w / np.sqrt(w**2 + 1), lambda w: (w**2 + 1) ** -1.5
    ... )
    >>> [float(step.point[0].round(6)) for step in islice(Newton(step=1.0, shift=0.0).steps(root, [0.5]), 4)]
    [0.5, -0.125, 0.001953, -0.0]
    """

    step: Any = FULL_STEP_FIRST
    shift: float | str = "auto"
    solver: str = "auto"

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "step": step_parameter(),
        "shift": number(0) | choice("auto"),
        "solver": choice("auto", "direct", "cg"),
    }

    @np.errstate(over="ignore", invalid="ignore")
    def advance(self, objective: Objective, step: Step) -> Step | Halt:
        """Go to, or towards, the minimum of the parabola."""
        products_only = objective.knows("product") and not objective.knows("hessian")
        if self.solver == "cg" or (self.solver == "auto" and products_only):
            direction = self._by_products(objective, step)
        else:
            direction = self._by_factor(objective.hessian(step.point), step.gradient)
        if not np.isfinite(direction).all():
            return Halt(
                Reason.DEGENERATE,
                f"The Hessian is singular or not finite at {step.point}.",
                'Use shift="auto", or begin elsewhere.',
            )
        if isinstance(self.step, Search) and self.step.needs_slope and step.gradient @ direction > 0:
            return Halt(
                Reason.DEGENERATE,
                f"The Newton step leads up at {step.point}: the Hessian has a negative eigenvalue.",
                'Use shift="auto".',
            )
        length = safe_length(self.step, objective, step, direction)
        if length == 0:
            return no_way_down()
        return objective.at(step.point + length * direction, after=step, length=length)

    def _by_factor(self, hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        if not np.isfinite(hessian).all():
            return np.full(len(gradient), np.nan)
        if self.shift == "auto":
            return -cho_solve((positive_factor(hessian)[0], True), gradient)
        return newton_move(hessian + self.shift * np.eye(len(gradient)), gradient)

    def _by_products(self, objective: Objective, step: Step) -> np.ndarray:
        """Solve no better than the gradient is worth: that keeps convergence faster than linear, and saves products far away."""
        shift = 0.0 if self.shift == "auto" else float(self.shift)
        tol = min(0.5, float(np.sqrt(np.linalg.norm(step.gradient) / (step.first[1] or 1.0))))
        found = conjugate_gradients(
            lambda vector: objective.product(step.point, vector) + shift * vector, -step.gradient, tol
        )
        return found.solution if found.solution.any() else -step.gradient


def positive_factor(hessian: np.ndarray) -> tuple[np.ndarray, float]:
    """Give a Cholesky factor (lower) of ``hessian + shift I``, with the first shift that makes it positive definite.

    No shift is tried first; then a hair, for what is semidefinite up to rounding; then a thousandth of the largest entry, doubled
    until it is enough.

    >>> positive_factor(np.diag([4.0, 9.0]))
    (array([[2., 0.],
           [0., 3.]]), 0.0)
    >>> lower, shift = positive_factor(np.diag([4.0, -1.0]))
    >>> 1 < shift < 2.1
    True
    """
    lowest, largest = float(np.diagonal(hessian).min()), float(np.abs(hessian).max()) or 1 / HAIR
    shift = 0.0 if lowest > 0 else HAIR * largest - lowest
    while True:
        lower, failed = lapack.dpotrf(hessian + shift * np.eye(len(hessian)), lower=1, clean=1)
        if not failed:
            return lower, shift
        shift = max(2 * shift, 1e-3 * largest) if shift > 0 else HAIR * largest


def ridged(objective: Any, weight: float) -> Objective:
    """Add ``weight * ||w||^2`` to a function: the Hessian's eigenvalues rise by twice the weight, and the minimum moves towards 0.

    Parameters
    ----------
    objective : Objective or callable
        The function.
    weight : float
        At least 0; more than minus half of the lowest eigenvalue makes the Hessian positive definite.

    Examples
    --------
    >>> bowl = ridged(Objective(lambda w: (w[0] - 3) ** 2, lambda w: 2 * (w - 3), lambda w: np.array([[2.0]])), 0.5)
    >>> bowl.value([2.0]), bowl.gradient([2.0]), bowl.hessian([2.0])
    (3.0, array([0.]), array([[3.]]))
    """
    number(0).checked("weight", weight)
    inner = Objective.of(objective)

    def hessian(w: np.ndarray) -> np.ndarray:
        return inner.hessian(w) + 2 * weight * np.eye(len(w))

    def product(w: np.ndarray, vector: np.ndarray) -> np.ndarray:
        return inner.product(w, vector) + 2 * weight * vector

    return Objective(
        lambda w: inner.value(w) + weight * (w @ w),
        lambda w: inner.gradient(w) + 2 * weight * w,
        hessian if inner.knows("hessian") else None,
        product if inner.knows("product") else None,
        strong_convexity=inner.strong_convexity + 2 * weight if inner.strong_convexity else 0.0,
        smoothness=None if inner.smoothness is None else inner.smoothness + 2 * weight,
    )
