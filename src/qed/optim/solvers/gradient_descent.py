r"""Gradient descent: go against the gradient.

.. math:: w^{t+1} = w^t - \alpha_t \nabla f(w^t)

Of all unit vectors :math:`u`, the slope :math:`\langle \nabla f, u \rangle` is least along
:math:`-\nabla f / \|\nabla f\|`. On a function of curvature at most :math:`M` a constant step converges when
:math:`0 < \alpha < 2/M`: shorter is slow, longer runs away. An iteration costs one gradient, and the number of them
is about :math:`\kappa = M/m` per digit. It stops at stationary points, which are minima where the function is convex.

Cauchy (1847), Méthode générale pour la résolution des systèmes d'équations simultanées.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from qed.base.models.parameters import Parameter, choice
from qed.base.running.steps import Ending, Halt, Reason, Step
from qed.optim.functions.objective import Objective
from qed.optim.searches.methods import Armijo
from qed.optim.searches.step_rules import InverseSmoothness, largest_curvature, step_length, step_parameter
from qed.optim.solvers.method import Method


@dataclass(frozen=True)
class GradientDescent(Method):
    """Gradient descent.

    Parameters
    ----------
    step : float, StepRule, callable or None
        The step: a number, a rule such as ``Armijo()``, or a function of the iteration t = 1, 2, ... By default 1 / M
        where the objective knows its smoothness M, and Armijo's rule otherwise.

    Examples
    --------
    >>> from itertools import islice
    >>> bowl = Objective(lambda w: w @ w, lambda w: 2 * w)
    >>> [step.objective for step in islice(GradientDescent(0.25).steps(bowl, [4.0]), 4)]
    [16.0, 4.0, 1.0, 0.25]
    """

    step: Any = None

    parameters: ClassVar[Mapping[str, Parameter]] = {"step": step_parameter() | choice(None)}

    def advance(self, objective: Objective, step: Step) -> Step | Halt:
        """Go against the gradient."""
        direction, rule = -step.gradient, self.step
        if rule is None:
            rule = Armijo() if objective.smoothness is None else InverseSmoothness()
        length = step_length(rule, objective, step, direction)
        if length == 0:
            return no_way_down()
        return objective.at(step.point + length * direction, after=step, length=length)

    def advice(self, objective: Objective, ending: Ending) -> str:
        """Compare a constant step with the curvature."""
        return too_long(self.step, objective, ending, 2.0, "2 / M")


def no_way_down() -> Halt:
    """Give the ending of a search that finds nothing lower along its direction."""
    return Halt(
        Reason.STALLED,
        "No step along the direction lowers the function.",
        "Check the gradient with minimize(..., check=True): it may not belong to the function, or there is a kink.",
    )


def too_long(step: Any, objective: Objective, ending: Ending, share: float, formula: str) -> str:
    """Say, after a run that diverged or stood still, whether its step was too long for the curvature at the best point.

    A step of ``share / M``, which `formula` writes out, is the longest that is stable on a quadratic of curvature M.
    Nothing is said of a step that is no number.
    """
    if callable(step) or not isinstance(step, (int, float)) or ending.reason not in (Reason.DIVERGED, Reason.STALLED):
        return ""
    curvature = largest_curvature(objective, ending.step.point)
    if not curvature > 0 or step < 0.999 * share / curvature:
        return ""
    return (
        f"The step {step:.3g} is not below {formula} = {share / curvature:.3g}, where M is the largest curvature at the "
        f"best point; try {1 / curvature:.2g}."
    )
