r"""Proximal gradients: descent on a smooth function plus a penalty with kinks (ISTA), and its accelerated form (FISTA).

.. math:: w^{t+1} = \operatorname{prox}_{\alpha g}\bigl(z^t - \alpha \nabla f(z^t)\bigr), \qquad
          z^{t} = w^{t} + \tfrac{k}{k+3}\,(w^t - w^{t-1}) .

A gradient step on the smooth part, then the penalty's proximal map, which for :math:`\lambda\|w\|_1` is soft thresholding:
coefficients become exactly zero. Without momentum (:math:`z = w`) the value falls in every step and is :math:`O(1/t)` above its
minimum; with it :math:`O(1/t^2)`. Momentum that leads uphill is dropped, :math:`k = 0`, and so the rate is linear near a minimum
that is sharp enough. The step is :math:`1/M` where the smoothness :math:`M` is known; otherwise it is halved until the smooth
part lies below the parabola that the step assumes. An iteration costs two gradients: one to go on, one to prove.

Beck and Teboulle (2009), A fast iterative shrinkage-thresholding algorithm; O'Donoghue and Candès (2015), Adaptive restart for
accelerated gradient schemes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from qed.base.errors import InputError
from qed.base.models.parameters import Parameter, boolean, choice, number
from qed.base.numbers import EPS
from qed.base.running.steps import Halt, Step
from qed.optim.functions.composite import Composite
from qed.optim.functions.objective import Objective
from qed.optim.searches.step_rules import largest_curvature
from qed.optim.solvers.gradient_descent import no_way_down
from qed.optim.solvers.method import Method

MOST_HALVINGS = 60


@dataclass(frozen=True)
class ProximalGradient(Method):
    """Proximal gradient descent on a `Composite`.

    Parameters
    ----------
    step : float or None
        The step. By default 1 / M where the smooth part knows M; else it begins at 1 / M with M estimated at the start, and is halved
        where that is too long.
    accelerated : bool, default=True
        Whether to use momentum (FISTA) or not (ISTA).

    Examples
    --------
    >>> from qed.base.running.steps import Rule, run
    >>> from qed.optim.functions.composite import penalised
    >>> from qed.optim.functions.losses import SquaredLoss
    >>> from qed.optim.functions.penalties import L1
    >>> X, y = np.array([[1.0, 0.5], [0.5, 1.0], [0.2, 0.1]]), np.array([1.0, 0.5, 0.1])
    >>> lasso = penalised(X, y, SquaredLoss(), L1(0.3))
    >>> ending = run(ProximalGradient().steps(lasso, np.zeros(2)), Rule(tol=1e-12))
    >>> ending.step.point.round(6), ending.reason.name
    (array([0.751938, 0.      ]), 'CERTIFIED')
    """

    step: float | None = None
    accelerated: bool = True

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "step": number(0, above=True) | choice(None),
        "accelerated": boolean(),
    }

    def begin(self, objective: Objective, point: np.ndarray) -> Step:
        """Begin at rest, where the penalty allows it."""
        parts = _parts(objective)
        length = self.step or 1 / (parts.smooth.smoothness or largest_curvature(parts.smooth, point) or 1.0)
        allowed = point if np.isfinite(parts.penalty.value(point)) else parts.penalty.prox(point, length)
        return objective.at(allowed, velocity=np.zeros(len(point)), since=0, length=length)

    def advance(self, objective: Objective, step: Step) -> Step | Halt:
        """Go against the gradient of the smooth part, and let the penalty shrink what is there."""
        parts = _parts(objective)
        momentum = step.since / (step.since + 3) if self.accelerated else 0.0
        ahead = step.point + momentum * step.velocity
        gradient = parts.smooth.gradient(ahead)
        found = self._shrunk(parts, ahead, gradient, step.length)
        if found is None:
            return no_way_down()
        point, length = found
        velocity = point - step.point
        uphill = float((ahead - point) @ velocity) > 0
        since = 0 if uphill else step.since + 1
        return objective.at(point, after=step, velocity=velocity, since=since, length=length)

    def _shrunk(
        self, parts: Composite, ahead: np.ndarray, gradient: np.ndarray, length: float
    ) -> tuple[np.ndarray, float] | None:
        """Give the next point and the step that leads to it; the step is halved where the parabola does not lie above."""
        fixed = self.step is not None or parts.smooth.smoothness is not None
        value = 0.0 if fixed else parts.smooth.value(ahead)
        for _ in range(MOST_HALVINGS):
            point = parts.penalty.prox(ahead - length * gradient, length)
            if fixed:
                return point, length
            way = point - ahead
            above = value + gradient @ way + way @ way / (2 * length) + 8 * EPS * abs(value)
            if parts.smooth.value(point) <= above:
                return point, length
            length /= 2
        return None


def _parts(objective: Objective) -> Composite:
    if not isinstance(objective, Composite):
        raise InputError(
            "Proximal gradients need the two parts of an objective: give a qed.optim.Composite(smooth, penalty), or "
            "qed.optim.penalised(X, y, loss, penalty)."
        )
    return objective
