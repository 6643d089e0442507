r"""Momentum: the heavy ball of Polyak and the accelerated gradient of Nesterov.

.. math:: v^t = \beta_t v^{t-1} - \alpha_t \nabla f(w^t), \qquad w^{t+1} = w^t + v^t, \qquad v^{-1} = 0

is the heavy ball, which rolls on through the zigzag of a ravine; Nesterov takes the gradient where the momentum is
about to lead, :math:`\nabla f(w^t + \beta_t v^{t-1})`. In one line, with :math:`w^{-1} = w^0`,

.. math:: w^{t+1} = w^t - \alpha_t \nabla f(\cdot) + \beta_t (w^t - w^{t-1}).

With :math:`\kappa = M/m` known, both need about :math:`\sqrt\kappa` iterations per digit on a quadratic, where
gradient descent needs :math:`\kappa`; Nesterov's method keeps that on every strongly convex function, and reaches
:math:`O(1/t^2)` on convex ones. An iteration costs one gradient.

Polyak (1964), Some methods of speeding up the convergence of iteration methods; Nesterov (1983), A method of solving
a convex programming problem with convergence rate :math:`O(1/k^2)`; O'Donoghue and Candès (2015), Adaptive restart
for accelerated gradient schemes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from qed.base.errors import ParameterError
from qed.base.models.parameters import Parameter, choice, number
from qed.base.running.steps import Ending, Halt, Step
from qed.optim.functions.objective import Objective
from qed.optim.searches.methods import Armijo
from qed.optim.searches.step_rules import InverseSmoothness, StepRule, largest_curvature, step_length, step_parameter
from qed.optim.solvers.gradient_descent import no_way_down, too_long
from qed.optim.solvers.method import Method

FUNCTION = Parameter("a function of the iteration", callable)


@dataclass(frozen=True)
class HeavyBall(Method):
    """Polyak's heavy ball.

    Parameters
    ----------
    step : float, StepRule, callable or None
        The step: a number, a rule such as ``Armijo()``, or a function of the iteration t = 1, 2, ... By default
        ``4 / (sqrt(M) + sqrt(m))^2`` where the objective knows both, the best for
        a quadratic; else 1 / M, with M estimated at the start if it is not known.
    momentum : float, callable or None
        Beta, from 0 (gradient descent) to below 1, or a function of the iteration t = 1, 2, ... By default
        ``((sqrt(kappa) - 1) / (sqrt(kappa) + 1))^2`` where kappa = M / m is known, else 0.9.

    Examples
    --------
    >>> from itertools import islice
    >>> ravine = Objective(lambda w: (w[0] ** 2 + 25 * w[1] ** 2) / 2, lambda w: np.array([w[0], 25 * w[1]]))
    >>> path = [step.point for step in islice(HeavyBall(0.05, 0.8).steps(ravine, [1.0, 1.0]), 11)]
    >>> path[-1].round(8)
    array([-0.04681655,  0.32432663])
    """

    step: Any = None
    momentum: Any = None

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "step": step_parameter() | choice(None),
        "momentum": number(0) | FUNCTION | choice(None),
    }

    def begin(self, objective: Objective, point: np.ndarray) -> Step:
        """Begin at rest."""
        return objective.at(point, velocity=np.zeros(len(point)), length=self._first_length(objective, point))

    def advance(self, objective: Objective, step: Step) -> Step | Halt:
        """Roll on."""
        direction = -step.gradient
        rule = step.length if self.step is None else self.step
        length = step_length(rule, objective, step, direction)
        if length == 0:
            return no_way_down()
        velocity = self._momentum(objective, step) * step.velocity + length * direction
        return objective.at(step.point + velocity, after=step, velocity=velocity, length=length)

    def advice(self, objective: Objective, ending: Ending) -> str:
        """Compare a constant step with the curvature."""
        if callable(self.momentum):
            return ""
        share = 2 * (1 + self._momentum(objective, ending.step))
        return too_long(self.step, objective, ending, share, "2 (1 + momentum) / M")

    def _first_length(self, objective: Objective, point: np.ndarray) -> float | None:
        if self.step is not None:
            return None
        most, least = objective.smoothness, objective.strong_convexity
        if most is None:
            return 1 / (largest_curvature(objective, point) or 1.0)
        return 4 / (np.sqrt(most) + np.sqrt(least)) ** 2 if least > 0 else 1 / most

    def _momentum(self, objective: Objective, step: Step) -> float:
        if self.momentum is not None:
            return momentum_at(self.momentum, step.number + 1)
        known = accelerated_momentum(objective)
        return 0.9 if known is None else known**2


@dataclass(frozen=True)
class Nesterov(Method):
    """Nesterov's accelerated gradient.

    Parameters
    ----------
    step : float, StepRule, callable or None
        The step: a number, a rule such as ``Armijo()``, or a function of the iteration t = 1, 2, ... By default
        1 / M where the objective knows M; else it begins at 1 / M with M estimated at
        the start, and is halved where the function does not fall by half of what the gradient promises.
    momentum : float, callable or None
        Beta, from 0 (gradient descent) to below 1, or a function of the iteration t = 1, 2, ... By default
        ``(sqrt(kappa) - 1) / (sqrt(kappa) + 1)`` where kappa = M / m is known; else k / (k + 3), with k counted anew
        from 0 whenever the momentum leads uphill.

    Examples
    --------
    >>> from qed.base.running.steps import Rule, run
    >>> bowl = Objective(
    ...     lambda w: w @ ([1, 10, 100] * w) / 2, lambda w: [1, 10, 100] * w, strong_convexity=1.0, smoothness=100.0
    ... )
    >>> run(Nesterov().steps(bowl, np.ones(3)), Rule(tol=1e-6)).reason.name
    'CERTIFIED'
    """

    step: Any = None
    momentum: Any = None

    parameters: ClassVar[Mapping[str, Parameter]] = HeavyBall.parameters

    def begin(self, objective: Objective, point: np.ndarray) -> Step:
        """Begin at rest."""
        length = None
        if self.step is None and objective.smoothness is None:
            length = 1 / (largest_curvature(objective, point) or 1.0)
        return objective.at(point, velocity=np.zeros(len(point)), since=0, length=length)

    def advance(self, objective: Objective, step: Step) -> Step | Halt:
        """Look ahead along the momentum, and take the gradient there."""
        momentum = self._momentum(objective, step)
        ahead = step.point + momentum * step.velocity
        gradient = objective.gradient(ahead)
        length = self._length(objective, step, ahead, gradient)
        if length == 0:
            return no_way_down()
        velocity = momentum * step.velocity - length * gradient
        uphill = float(gradient @ velocity) > 0
        since = 0 if uphill else step.since + 1
        return objective.at(step.point + velocity, after=step, velocity=velocity, since=since, length=length)

    def advice(self, objective: Objective, ending: Ending) -> str:
        """Compare a constant step with the curvature."""
        if callable(self.momentum):
            return ""
        beta = self._momentum(objective, ending.step)
        share = 2 * (1 + beta) / (1 + 2 * beta)
        return too_long(self.step, objective, ending, share, "2 (1 + momentum) / ((1 + 2 momentum) M)")

    def _length(self, objective: Objective, step: Step, ahead: np.ndarray, gradient: np.ndarray) -> float:
        rule = self.step
        if rule is None:
            rule = Armijo(decrease=0.5, grow=1.1) if objective.smoothness is None else InverseSmoothness()
        if isinstance(rule, StepRule):
            state = {"point": ahead, "gradient": gradient, "length": step.length}
            step = Step(objective.value(ahead), None, step.number, **state)
        return step_length(rule, objective, step, -gradient)

    def _momentum(self, objective: Objective, step: Step) -> float:
        if self.momentum is not None:
            return momentum_at(self.momentum, step.number + 1)
        known = accelerated_momentum(objective)
        return step.since / (step.since + 3) if known is None else known


def accelerated_momentum(objective: Objective) -> float | None:
    """Give ``(sqrt(kappa) - 1) / (sqrt(kappa) + 1)`` where the condition number kappa = M / m is known."""
    if objective.smoothness is None or objective.strong_convexity == 0:
        return None
    root = np.sqrt(objective.smoothness / objective.strong_convexity)
    return float((root - 1) / (root + 1))


def momentum_at(momentum: Any, t: int) -> float:
    """Give the momentum of iteration t from a number or a function."""
    beta = float(momentum(t)) if callable(momentum) else float(momentum)
    if not 0 <= beta < 1:
        raise ParameterError(f"The momentum of iteration {t} is {beta}: it must be from 0 to below 1.")
    return beta
