r"""Line search: choose a direction, go to the best point along it, again and again.

.. math:: \alpha_t \approx \arg\min_{\alpha \ge 0} f(w^t + \alpha u^t), \qquad w^{t+1} = w^t + \alpha_t u^t

Any direction with :math:`\langle \nabla f, u \rangle < 0` leads down: the negative gradient, a direction drawn at
random, a coordinate. With a search that needs no slope (`Grid`, `GoldenSection`) the method needs no gradient at all
and works on functions with kinks; both :math:`u` and :math:`-u` are tried then. The function never rises. That the
best point of a whole line can lie in another valley makes it more robust to local minima; that is a heuristic, no
guarantee. An iteration costs what its search costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from qed.base.errors import InputError
from qed.base.models.parameters import Parameter, choice, integer
from qed.base.random import generator
from qed.base.running.steps import Halt, Step
from qed.optim.functions.objective import Objective, as_vector
from qed.optim.searches.line import Line
from qed.optim.searches.methods import Armijo, Search
from qed.optim.solvers.gradient_descent import no_way_down
from qed.optim.solvers.method import Method

SEARCH = Parameter("a search, such as Exact() or Grid()", lambda value: isinstance(value, Search))


@dataclass(frozen=True)
class LineSearch(Method):
    """Line search along directions of a choice.

    Parameters
    ----------
    direction : {"gradient", "random", "coordinate"} or callable
        The negative gradient, a random direction, each coordinate in turn, or ``direction(step)``, which gives a
        vector that leads down from ``step.point``.
    search : Search
        How far to go: ``Armijo()``, ``Wolfe()``, ``Exact()``, ``Grid()`` or ``GoldenSection()``.
    seed : int
        For random directions.

    Examples
    --------
    >>> from itertools import islice
    >>> from qed.optim.searches.methods import Grid
    >>> kinks = Objective(lambda w: abs(w[0] - 3) + abs(w[1] + 1))
    >>> steps = LineSearch("coordinate", Grid(longest=5.0, points=50)).steps(kinks, [0.0, 0.0])
    >>> [step.objective for step in islice(steps, 3)]
    [4.0, 1.0, 0.0]
    """

    direction: Any = "gradient"
    search: Search = field(default_factory=Armijo)
    seed: int = 0

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "direction": choice("gradient", "random", "coordinate") | Parameter("a function of the step", callable),
        "search": SEARCH,
        "seed": integer(0),
    }

    def begin(self, objective: Objective, point: np.ndarray) -> Step:
        return self._at(objective, point, None)

    def advance(self, objective: Objective, step: Step) -> Step | Halt:
        """Choose a direction and go to the best point along it."""
        direction = self._choose(step)
        if callable(self.direction):
            self._refuse_uphill(objective, step, direction)
        if self.direction in ("random", "coordinate"):
            length = search_both_ways(self.search, objective, step, direction)
        else:
            length = self.search.length(objective, step, direction)
        if length == 0 and self.direction == "gradient":
            return no_way_down()
        return self._at(objective, step.point + length * direction, step, length=abs(length))

    def _choose(self, step: Step) -> np.ndarray:
        if self.direction == "gradient":
            return np.asarray(-step.gradient)
        size = len(step.point)
        if self.direction == "coordinate":
            return np.eye(size)[step.number % size]
        if self.direction == "random":
            drawn = generator(self.seed, "direction", step.number).standard_normal(size)
            return np.asarray(drawn / np.linalg.norm(drawn))
        return as_vector(self.direction(step))

    def _refuse_uphill(self, objective: Objective, step: Step, direction: np.ndarray) -> None:
        if direction.shape != step.point.shape:
            raise InputError(
                f"The direction has shape {direction.shape}, the point {step.point.shape}: they must be the same."
            )
        if not objective.knows("gradient"):
            return
        slope = Line(objective, step, direction).first_slope()
        if not slope < 0 and step.gap != 0:
            raise InputError(
                f"The direction {direction} does not lead down from {step.point}: its product with the gradient is "
                f"{slope:.3g}, which must be negative."
            )

    def _at(self, objective: Objective, point: np.ndarray, after: Step | None, **state: Any) -> Step:
        sloped = self.direction == "gradient" or self.search.needs_slope or objective.knows("gradient")
        return step_at(objective, point, after, sloped, **state)


def step_at(objective: Objective, point: np.ndarray, after: Step | None, sloped: bool, **state: Any) -> Step:
    """Give the step of a method that may need no gradient: without, it has no gap, and ends when the value stands still."""
    if sloped:
        return objective.at(point, after, **state)
    return Step(objective.value(point), None, 0 if after is None else after.number + 1, point=point, **state)


def search_both_ways(search: Search, objective: Objective, step: Step, direction: np.ndarray) -> float:
    """Search along a direction and against it, and give the length with its sign: by the slope, or by what is lower.

    >>> from qed.optim.searches.methods import Grid
    >>> search_both_ways(
    ...     Grid(10.0, 10), Objective(lambda w: (w[0] + 4) ** 2), Step(16.0, point=np.zeros(1)), np.ones(1)
    ... )
    -4.0
    """
    if search.needs_slope:
        slope = Line(objective, step, direction).first_slope()
        return search.length(objective, step, direction) if slope <= 0 else -search.length(objective, step, -direction)
    there, back = (search.length(objective, step, sign * direction) for sign in (1, -1))
    line = Line(objective, step, direction)
    return there if line.value(there) <= line.value(-back) else -back
