"""What a method of minimisation is: a few parameters, and how to get from one step to the next.

A method is a frozen dataclass. It writes `advance`, which reads like the line of pseudo-code in a textbook; `steps`
makes that a generator, which knows nothing of stopping rules, printing or checkpoints. A step holds all that is
needed to go on from it, so a method that is given one as ``start`` does what an unbroken run would have done, to the
last bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.certificate import Claim
from qed.base.models.parameters import Parameter, check_parameters
from qed.base.numbers import EPS, TINY
from qed.base.running.steps import Ending, Halt, Step
from qed.optim.functions.objective import Objective, as_vector


class Method(ABC):
    """A way to minimise a function.

    Attributes
    ----------
    parameters : mapping of str to Parameter
        The rule of each parameter, checked when the first step is asked for.
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {}

    def steps(self, objective: Any, point: Any, start: Step | None = None) -> Generator[Step, None, Halt]:
        """Yield step after step.

        Parameters
        ----------
        objective : Objective or callable
            What to minimise.
        point : array_like of shape (d,)
            Where to begin; not looked at when there is a `start`.
        start : Step, optional
            Go on from this step, which is not given again.

        Yields
        ------
        Step
            With ``objective`` (the value), ``gap`` and ``point``. The first is where the method begins.
        """
        check_parameters(self, self.parameters)
        objective = Objective.of(objective)
        step = start
        if step is None:
            step = self.begin(objective, as_vector(point).copy())
            yield step
        while True:
            after = self.advance(objective, step)
            if isinstance(after, Halt):
                return after
            step = after
            yield step

    def begin(self, objective: Objective, point: np.ndarray) -> Step:
        """Give the first step, at `point`."""
        return objective.at(point)

    @abstractmethod
    def advance(self, objective: Objective, step: Step) -> Step | Halt:
        """Give the step after `step`, or say why there is none."""

    def claims(self, objective: Objective, start: np.ndarray, point: np.ndarray, tol: float) -> list[Claim]:
        """Say what holds at `point`, from the function alone: it is no higher than at the start, and its gradient vanishes.

        With strong convexity known, the gradient bounds how far the value can be above its minimum.
        """
        value, first, gradient = objective.value(point), objective.value(start), objective.gradient(point)
        sizes = abs(first), float(np.linalg.norm(objective.gradient(start)))
        gap = objective.gap(point, value, gradient, sizes)
        return [not_above_the_start(value, first), Claim(objective.gap_says, gap, tol)]

    def prove(self, objective: Objective, start: np.ndarray, step: Step, tol: float) -> list[Claim]:
        """Say what holds at the last step: the claims about its point, unless a proof needs more than the point."""
        return self.claims(objective, start, step.point, tol)

    def advice(self, objective: Objective, ending: Ending) -> str:
        """Say what to change in this method after a run that ended without a proof; nothing, if there is no special advice."""
        return ""


def not_above_the_start(value: float, first: float) -> Claim:
    """Claim that a value is not above the first one, but for rounding, relative to the larger of the two."""
    scale = max(abs(value), abs(first), TINY)
    return Claim("value above that at the start (relative)", max(0.0, value - first) / scale, 4 * EPS)
