r"""Searches on a line: how far to go from :math:`w` along a direction :math:`u`, :math:`h(\alpha) = f(w + \alpha u)`.

- `Exact` goes to where :math:`h' = 0`; on a quadratic that is :math:`\alpha = -g^\top u / u^\top H u`, in one go.
- `Grid` tries evenly spaced lengths and takes the best: no derivative needed, and several valleys are seen.
- `GoldenSection` narrows an interval around a lowest point: no derivative needed.
- `Armijo` halves the step until the function falls by a share of what the slope promises, :math:`h(\alpha) \le h(0) + c\,\alpha h'(0)`.
- `Wolfe` asks besides that the slope has been used up, :math:`|h'(\alpha)| \le c_2 |h'(0)|`, as quasi-Newton methods need it.

None of them goes up, but for rounding: where nothing lower is found they answer 0. Each is a step rule, so each can be the
``step`` of a method.

Armijo (1966), Minimization of functions having Lipschitz continuous first partial derivatives; Nocedal and Wright
(2006), Numerical Optimization, algorithms 3.5 and 3.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from qed.base.errors import InputError
from qed.base.models.parameters import Parameter, check_parameters, choice, integer, number
from qed.base.numbers import EPS
from qed.base.running.steps import Step
from qed.optim.functions.objective import Objective
from qed.optim.searches.line import Line, golden_section, lowest_bracket, zero_of_slope
from qed.optim.searches.step_rules import POSITIVE, StepRule


class Search(StepRule):
    """A step rule that looks at the function along the line.

    Class attributes
    ----------------
    needs_slope : bool
        Whether it uses the gradient, and so wants a direction of descent.
    """

    needs_slope: ClassVar[bool] = True


@dataclass(frozen=True)
class Exact(Search):
    """The lowest point on the line, found as a zero of the slope.

    The curvature gives it at once on a quadratic; where the slope does not vanish there, it is searched for.

    Parameters
    ----------
    tol : float
        How small the slope has to be, relative to that at the beginning.

    Examples
    --------
    >>> bowl = Objective(lambda w: w @ ([1, 9] * w) / 2, lambda w: [1, 9] * w, lambda w: np.diag([1.0, 9.0]))
    >>> step = bowl.at(np.array([9.0, 1.0]))
    >>> round(Exact().length(bowl, step, -step.gradient), 9)
    0.2
    """

    tol: float = 1e-10

    parameters: ClassVar[Mapping[str, Parameter]] = {"tol": number(0)}

    def length(self, objective: Objective, step: Step, direction: np.ndarray) -> float:
        """Give the length at which the slope vanishes."""
        line = Line(objective, step, direction)
        slope = descent_slope(line)
        if slope == 0:
            return 0.0
        curvature = line.curvature()
        guess = -slope / curvature if curvature > 0 else 1.0 / max(1.0, float(np.linalg.norm(direction)))
        # Differences know the curvature less well than the slope, so what they give is improved too.
        allowed = self.tol if objective.knows("hessian") or objective.knows("product") else min(self.tol, 1e-12)
        if curvature > 0 and abs(line.slope(guess)) <= allowed * abs(slope):
            return guess
        found = zero_of_slope(line.slope, guess, slope, self.tol)
        if found is None:
            raise InputError(
                f"The function keeps falling from {step.point} along {direction}: it has no minimum there. Add a penalty, "
                "or use a search that does not go to the lowest point, such as Armijo()."
            )
        return found if falls_enough(line.first, line.value(found), 0.0) else 0.0


@dataclass(frozen=True)
class Grid(Search):
    """The best of evenly spaced lengths from 0 on. Costs a value for each.

    Parameters
    ----------
    longest : float
        The longest length tried, in multiples of the direction.
    points : int
        How many are tried besides 0.

    Examples
    --------
    >>> kink = Objective(lambda w: abs(w[0] - 3))
    >>> Grid(longest=10.0, points=100).length(kink, Step(3.0, point=np.zeros(1)), np.ones(1))
    3.0
    """

    longest: float = 1.0
    points: int = 100

    needs_slope: ClassVar[bool] = False
    parameters: ClassVar[Mapping[str, Parameter]] = {"longest": POSITIVE, "points": integer(1)}

    def length(self, objective: Objective, step: Step, direction: np.ndarray) -> float:
        """Give the best length of the grid, 0 included."""
        line = Line(objective, step, direction)
        lengths = self.longest * np.arange(1, self.points + 1) / self.points
        values = [line.value(length) for length in lengths]
        best = int(np.argmin(values))
        return float(lengths[best]) if values[best] < line.first else 0.0


@dataclass(frozen=True)
class GoldenSection(Search):
    """A lowest point on the line by golden section, from values alone; the global one where there is a single valley.

    Parameters
    ----------
    first : float
        The first length tried; the interval grows from it until the function rises.
    tol : float
        Down to which share of its size the interval is narrowed. Values of a smooth function can not tell points
        apart that are closer than about 1e-8 of it.

    Examples
    --------
    >>> bowl = Objective(lambda w: (w[0] - 3) ** 2)
    >>> round(GoldenSection().length(bowl, Step(9.0, point=np.zeros(1)), np.ones(1)), 6)
    3.0
    """

    first: float = 1.0
    tol: float = 1e-9

    needs_slope: ClassVar[bool] = False
    parameters: ClassVar[Mapping[str, Parameter]] = {"first": POSITIVE, "tol": number(0)}

    def length(self, objective: Objective, step: Step, direction: np.ndarray) -> float:
        """Give the length of the lowest point found."""
        line = Line(objective, step, direction)
        bracket = lowest_bracket(line.value, self.first, line.first)
        if bracket is None:
            raise InputError(
                f"The function keeps falling from {step.point} along {direction}: it has no minimum there."
            )
        found = golden_section(line.value, *bracket, self.tol)
        return found if line.value(found) < line.first else 0.0


@dataclass(frozen=True)
class Armijo(Search):
    """Backtracking until the function falls by a share of what the slope promises.

    Parameters
    ----------
    first : float, optional
        The first length tried. By default that of the step before, times `grow`; 1 at the beginning.
    shrink : float
        The factor, below 1, by which a length that is too long is multiplied.
    decrease : float
        The share c, below 1, of the promised decrease that has to be kept.
    grow : float
        The factor, 1 or above, by which the length of the step before is multiplied to have the first one tried, so that lengths can
        grow again.

    Examples
    --------
    >>> bowl = Objective(lambda w: 2 * w @ w, lambda w: 4 * w)
    >>> step = bowl.at(np.array([1.0]))
    >>> Armijo().length(bowl, step, -step.gradient)
    0.25
    """

    first: float | None = None
    shrink: float = 0.5
    decrease: float = 1e-4
    grow: float = 2.0

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "first": POSITIVE | choice(None),
        "shrink": number(0, 1 - EPS, above=True),
        "grow": number(1),
        "decrease": number(0, 1 - EPS, above=True),
    }

    def length(self, objective: Objective, step: Step, direction: np.ndarray) -> float:
        """Give the first length that is short enough."""
        line = Line(objective, step, direction)
        slope = descent_slope(line)
        length = first_length(self.first, step, self.grow)
        hidden = line.value(length) <= line.first + 100 * noise_of(line.first)
        while length * float(np.abs(direction).max()) > EPS**2 * (1 + float(np.abs(step.point).max())) and slope < 0:
            value, promised = line.value(length), self.decrease * length * slope
            if value <= line.first + promised and value < line.first:
                return length
            # What rounding hides in the values, from the first one tried on, the slope still tells: it must not rise again by much.
            if hidden and falls_enough(line.first, value, promised) and line.slope(length) <= -slope / 2:
                return length
            length *= self.shrink
        return 0.0


@dataclass(frozen=True)
class Wolfe(Search):
    """A length that satisfies the strong Wolfe conditions.

    Parameters
    ----------
    first : float, optional
        The first length tried; by default that of the step before, and 1 at the beginning. Quasi-Newton methods want 1.
    decrease : float
        The share of the promised decrease that has to be kept.
    curvature : float
        The share of the slope that may be left, above `decrease`.

    Examples
    --------
    >>> bowl = Objective(lambda w: w @ w / 2, lambda w: w)
    >>> step = bowl.at(np.array([4.0]))
    >>> length = Wolfe(curvature=0.1).length(bowl, step, -step.gradient)
    >>> bool(abs(bowl.gradient(step.point - length * step.gradient)[0]) <= 0.1 * 4)
    True
    """

    first: float | None = None
    decrease: float = 1e-4
    curvature: float = 0.9

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "first": POSITIVE | choice(None),
        "decrease": number(0, 0.5, above=True),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_parameters(self, {"curvature": number(self.decrease, 1 - EPS, above=True)})

    def length(self, objective: Objective, step: Step, direction: np.ndarray) -> float:
        """Walk on until the conditions hold, or until an interval is found in which they do."""
        line = Line(objective, step, direction)
        slope = descent_slope(line)
        if slope == 0:
            return 0.0
        before, low = 0.0, line.first
        length = first_length(self.first, step, 2.0)
        for _ in range(60):
            value = line.value(length)
            if not falls_enough(line.first, value, self.decrease * length * slope) or (before > 0 and value >= low):
                return self._zoom(line, slope, before, low, length)
            end = line.slope(length)
            if abs(end) <= -self.curvature * slope:
                return length
            if end >= 0:
                return self._zoom(line, slope, length, value, before)
            before, low, length = length, value, 2 * length
        return before

    def _zoom(self, line: Line, slope: float, best: float, low: float, other: float) -> float:
        """Narrow the interval between the best length so far and another, towards which the function falls."""
        at_best = slope if best == 0 else line.slope(best)
        for _ in range(60):
            width = other - best
            # The parabola through the best point, its slope there and the value at the other end, kept away from the ends.
            bend = line.value(other) - low - at_best * width
            share = -at_best * width / (2 * bend) if np.isfinite(bend) and bend > 0 else 0.5
            length = best + width * min(max(share, 0.1), 0.9)
            value = line.value(length)
            if not falls_enough(line.first, value, self.decrease * length * slope) or value >= low:
                other = length
            else:
                end = line.slope(length)
                if abs(end) <= -self.curvature * slope:
                    return length
                if end * width >= 0:
                    other = best
                best, low, at_best = length, value, end
            if abs(other - best) <= EPS * max(abs(other), abs(best)):
                break
        return best


def falls_enough(before: float, after: float, promised: float) -> bool:
    """Say whether a value fell by the promised (negative) amount or, where rounding hides that, did not rise beyond it."""
    noise = noise_of(before)
    return after <= before + promised or (-promised <= noise and after <= before + noise)


def noise_of(value: float) -> float:
    """Give what rounding may do to a value."""
    return 4 * EPS * abs(value)


def first_length(first: float | None, step: Step, grow: float) -> float:
    """Give the first length to try: the one asked for, or `grow` times that of the step before."""
    if first is not None:
        return first
    last = step.state.get("length")
    return grow * last if last else 1.0


def descent_slope(line: Line) -> float:
    """Give the slope at the beginning of a line, and refuse a direction that does not lead down."""
    slope = line.first_slope()
    if not slope <= 0:
        raise InputError(
            f"The direction {line.direction} does not lead down: the slope along it is {slope:.3g} at {line.start}. Give "
            "a direction whose product with the gradient is negative, such as the negative gradient."
        )
    return slope
