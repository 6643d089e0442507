r"""How long a step is: constant, by the theory of convex functions, falling, or found on the line.

.. math:: w^{t+1} = w^t - \alpha_t \nabla f(w^t), \qquad t = 1, 2, \dots

What theory asks for depends on what is known of a convex function: the distance :math:`R` from the start to a
minimum, the Lipschitz constant :math:`L` of the function, the strong convexity :math:`m`, the smoothness :math:`M`.

======================================= ============================ ==========================
the function is                         step                         rule
======================================= ============================ ==========================
convex, L-Lipschitz                     :math:`R / (L \sqrt t)`      `RootDecay`
m-strongly convex, L-Lipschitz          :math:`2 / (m (t + 1))`      `InverseDecay`
convex, M-smooth                        :math:`1 / M`                `InverseSmoothness`
m-strongly convex, M-smooth             :math:`1 / M`                `InverseSmoothness`
======================================= ============================ ==========================

What they promise is in :mod:`qed.optim.solvers.rates`. A method also takes a number, a function of t, or a search
(:mod:`qed.optim.searches.methods`).

Bubeck (2015), Convex optimization: algorithms and complexity, chapter 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.models.parameters import Parameter, check_parameters, choice, integer, number
from qed.base.random import generator
from qed.base.running.steps import Step
from qed.optim.functions.objective import Objective

POSITIVE = number(0, above=True)


class StepRule(ABC):
    """A rule that says how far to go along a direction; its parameters are checked when it is made."""

    parameters: ClassVar[Mapping[str, Parameter]] = {}

    def __post_init__(self) -> None:
        check_parameters(self, self.parameters)

    @abstractmethod
    def length(self, objective: Objective, step: Step, direction: np.ndarray) -> float:
        """Give the length, in multiples of `direction`, of the move away from ``step.point``."""


class Schedule(StepRule):
    """A step that depends on the iteration alone."""

    @abstractmethod
    def at(self, t: int) -> float:
        """Give the step of iteration t, which begins at 1."""

    def length(self, objective: Objective, step: Step, direction: np.ndarray) -> float:
        """Give the step of the iteration that comes after `step`."""
        return self.at(step.number + 1)


@dataclass(frozen=True)
class RootDecay(Schedule):
    r"""The step :math:`R / (L \sqrt t)` for convex Lipschitz functions.

    Parameters
    ----------
    radius : float
        R, the distance from the start to a minimum, or a bound of it.
    lipschitz : float
        L, a bound of the length of all (sub)gradients.
    horizon : int, optional
        When the number of steps T is known beforehand, the constant step :math:`R / (L \sqrt T)`, for which the
        averaged iterate is at most :math:`R L / \sqrt T` above the minimum.

    Examples
    --------
    >>> RootDecay(radius=2.0, lipschitz=1.0).at(4), RootDecay(2.0, 1.0, horizon=100).at(4)
    (1.0, 0.2)
    """

    radius: float
    lipschitz: float
    horizon: int | None = None

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "radius": POSITIVE,
        "lipschitz": POSITIVE,
        "horizon": integer(1) | choice(None),
    }

    def at(self, t: int) -> float:
        return float(self.radius / (self.lipschitz * np.sqrt(t if self.horizon is None else self.horizon)))


@dataclass(frozen=True)
class InverseDecay(Schedule):
    r"""The step :math:`2 / (m (t + 1))` for strongly convex functions that are Lipschitz on a bounded set.

    Parameters
    ----------
    strong_convexity : float
        m.

    Examples
    --------
    >>> InverseDecay(0.5).at(1), InverseDecay(0.5).at(3)
    (2.0, 1.0)
    """

    strong_convexity: float

    parameters: ClassVar[Mapping[str, Parameter]] = {"strong_convexity": POSITIVE}

    def at(self, t: int) -> float:
        return 2 / (self.strong_convexity * (t + 1))


@dataclass(frozen=True)
class InverseSmoothness(StepRule):
    r"""The step :math:`1 / M` for smooth functions.

    Parameters
    ----------
    smoothness : float, optional
        M; by default what the objective says.

    Examples
    --------
    >>> rule = InverseSmoothness(4.0)
    >>> rule.length(Objective(lambda w: 2 * w @ w), Step(0.0), np.ones(1))
    0.25
    """

    smoothness: float | None = None

    parameters: ClassVar[Mapping[str, Parameter]] = {"smoothness": POSITIVE | choice(None)}

    def length(self, objective: Objective, step: Step, direction: np.ndarray) -> float:
        known = objective.smoothness if self.smoothness is None else self.smoothness
        if known is None:
            raise InputError(
                "The step 1 / M needs the smoothness M: give it to the objective, or use Armijo() as step."
            )
        return 1 / known


@dataclass(frozen=True)
class Diminishing(Schedule):
    r"""A step that falls as a power of the iterations, :math:`c / t^p`: for subgradients and noisy gradients.

    Its sum is infinite for :math:`p \le 1`, so it can reach any point, and the sum of its squares is finite for
    :math:`p > 1/2`, so that noise dies out.

    Parameters
    ----------
    first : float
        c, the first step.
    power : float
        p, above 0 and at most 1.

    Examples
    --------
    >>> [Diminishing(1.0, power=1.0).at(t) for t in (1, 2, 4)]
    [1.0, 0.5, 0.25]
    """

    first: float = 1.0
    power: float = 0.5

    parameters: ClassVar[Mapping[str, Parameter]] = {"first": POSITIVE, "power": number(0, 1, above=True)}

    def at(self, t: int) -> float:
        return float(self.first / t**self.power)


def step_parameter() -> Parameter:
    """Accept what `step_length` understands."""

    def accepts(value: Any) -> bool:
        return isinstance(value, StepRule) or POSITIVE.accepts(value) or callable(value)

    return Parameter("a number > 0, a rule such as Armijo() or a function of the iteration", accepts)


def step_length(rule: Any, objective: Objective, step: Step, direction: np.ndarray) -> float:
    """Give the length of the step after `step` by a number, a rule, or a function of the iteration t = 1, 2, ...

    >>> step_length(lambda t: 1 / t, Objective(np.sum), Step(0.0, number=3), np.ones(1))
    0.25
    """
    if isinstance(rule, StepRule):
        return rule.length(objective, step, direction)
    length = float(rule(step.number + 1)) if callable(rule) else float(rule)
    if not (length > 0 and np.isfinite(length)):
        raise ParameterError(
            f"The step of iteration {step.number + 1} is {length}: it must be a finite number above 0."
        )
    return length


def largest_curvature(objective: Objective, point: np.ndarray, iterations: int = 50, tol: float = 1e-3) -> float:
    """Estimate the largest absolute eigenvalue of the Hessian at a point, by the power method on its products.

    Parameters
    ----------
    objective : Objective
        The function.
    point : ndarray of shape (d,)
        Where.
    iterations : int
        The most products.
    tol : float
        The relative change at which to stop.

    Examples
    --------
    >>> round(largest_curvature(Objective(lambda w: w @ w, lambda w: 2 * w), np.ones(3)), 6)
    2.0
    """
    vector = generator(0, "curvature").standard_normal(len(point))
    curvature = 0.0
    for _ in range(iterations):
        vector = vector / np.linalg.norm(vector)
        image = objective.product(point, vector)
        before, curvature = curvature, float(np.linalg.norm(image))
        if not np.isfinite(curvature):
            return float("nan")
        if curvature == 0 or abs(curvature - before) <= tol * curvature:
            break
        vector = image
    return curvature
