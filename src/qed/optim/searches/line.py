r"""A function along a line, :math:`h(\alpha) = f(w + \alpha u)`, and the tools that searches on it are made of.

*Bracketing* walks on with growing steps until the function (or its slope) turns, *golden section* narrows an interval
that holds a lowest point by :math:`0.618` per value and knows no derivative, and where the slope vanishes is found
between two points of opposite slope, by the secant (:mod:`qed.optim.searches.downhill`).

Kiefer (1953), Sequential minimax search for a maximum.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qed.base.running.steps import Step
from qed.optim.functions.objective import Objective
from qed.optim.searches.downhill import Bracket

GOLDEN = (5**0.5 - 1) / 2
MOST_DOUBLINGS = 60


class Line:
    """A function along a line through the point of a step.

    >>> line = Line(
    ...     Objective(lambda w: w @ w, lambda w: 2 * w), Step(1.0, point=np.array([1.0, 0.0])), np.array([-1.0, 0.0])
    ... )
    >>> line.value(0.5), line.slope(0.5)
    (0.25, -1.0)
    """

    def __init__(self, objective: Objective, step: Step, direction: np.ndarray) -> None:
        self.objective, self.start, self.direction = objective, step.point, direction
        self.first = step.objective
        self._gradient = step.state.get("gradient")

    def point(self, length: float) -> np.ndarray:
        """Give the point that far along."""
        return np.asarray(self.start + length * self.direction)

    def value(self, length: float) -> float:
        """Give the function there; what is not finite counts as infinitely high."""
        found = self.objective.value(self.point(length))
        return found if np.isfinite(found) else np.inf

    def slope(self, length: float) -> float:
        """Give the derivative there, and NaN where the function is not finite."""
        if not np.isfinite(self.value(length)):
            return np.nan
        return float(self.objective.gradient(self.point(length)) @ self.direction)

    def first_slope(self) -> float:
        """Give the derivative at the beginning; negative where the direction is one of descent."""
        gradient = self.objective.gradient(self.start) if self._gradient is None else self._gradient
        return float(gradient @ self.direction)

    def curvature(self) -> float:
        """Give the second derivative at the beginning."""
        return float(self.direction @ self.objective.product(self.start, self.direction))


def lowest_bracket(value: Callable[[float], float], first: float, at_zero: float) -> tuple[float, float] | None:
    """Find an interval from 0 on that holds a local minimum, by growing steps; None if the function keeps falling.

    >>> low, high = lowest_bracket(lambda a: (a - 10) ** 2, 1.0, 100.0)
    >>> low < 10 < high
    True
    """
    low, middle, high = 0.0, 0.0, first
    before = at_zero
    for _ in range(MOST_DOUBLINGS):
        now = value(high)
        if now >= before:
            return low, high
        low, middle, before = middle, high, now
        high = middle + (middle - low) / GOLDEN
    return None


def golden_section(value: Callable[[float], float], low: float, high: float, tol: float) -> float:
    """Give the lowest point found in an interval, which is narrowed until it is `tol` of its size.

    >>> round(golden_section(lambda a: abs(a - 2), 0.0, 5.0, 1e-9), 6)
    2.0
    """
    tol = max(tol, 1e-15) * max(abs(low), abs(high))
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = value(left), value(right)
    while high - low > tol:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = value(right)
    return left if at_left <= at_right else right


def zero_of_slope(slope: Callable[[float], float], first: float, at_zero: float, tol: float) -> float | None:
    """Find where a slope that is negative at 0 vanishes, to `tol` of what it was there; None if it stays negative.

    >>> round(zero_of_slope(lambda a: a**3 - 8, 1.0, -8.0, 1e-12), 9)
    2.0
    """
    bracket, length = Bracket(at_zero), first
    for _ in range(200):
        found = slope(length)
        if abs(found) <= tol * abs(at_zero):
            return length
        after = bracket.next(length, found)
        if not bracket.holds(after):
            break
        length = after
    return None if np.isinf(bracket.high) else length
