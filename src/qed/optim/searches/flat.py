r"""Steps where values can no longer tell: near a minimum the function is flat to rounding, and its slope is not.

A search that compares values sees :math:`f(w) - f^* \approx \tfrac m2 \|w - w^*\|^2` only down to the rounding of
:math:`f`, so it loses its way when half of the digits of :math:`w` are right. The gradient still points to the minimum
there. So where a direction promises less than rounding may hide, a length is accepted that uses up a part of the slope,
which on a parabola is the same as going down; the value may then change by what rounding does to it.

Hager and Zhang (2005), A new conjugate gradient method with guaranteed descent and an efficient line search, section 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.base.running.steps import Step
from qed.optim.functions.objective import Objective
from qed.optim.searches.downhill import Bracket
from qed.optim.searches.line import Line
from qed.optim.searches.methods import Search
from qed.optim.searches.step_rules import step_length

ROUNDING = 2.0**-33


def safe_length(rule: Any, objective: Objective, step: Step, direction: np.ndarray) -> float:
    """Give the length by a step rule; where that is a search that values can not guide, or that finds nothing, go by the slope.

    >>> from qed.optim.searches.methods import Armijo
    >>> high = Objective(lambda w: 1e9 + w @ w, lambda w: 2 * w)
    >>> step = high.at(np.array([1e-5]))
    >>> safe_length(Armijo(first=1.0), high, step, -step.gradient), safe_length(0.25, high, step, -step.gradient)
    (0.5, 0.25)
    """
    if not (isinstance(rule, Search) and rule.needs_slope):
        return step_length(rule, objective, step, direction)
    promised = -float(step.gradient @ direction)
    if promised > ROUNDING * abs(step.objective):
        return step_length(rule, objective, step, direction) or flat_length(objective, step, direction)
    return flat_length(objective, step, direction) or step_length(rule, objective, step, direction)


def flat_length(objective: Objective, step: Step, direction: np.ndarray, slope_left: float = 0.5) -> float:
    """Give a length that uses up the slope along a direction while the value stays what it is, up to rounding; 0 if there is none.

    The share `slope_left` of the slope may be left.

    >>> high = Objective(lambda w: 1e9 + w @ w, lambda w: 2 * w)
    >>> step = high.at(np.array([1e-5]))
    >>> flat_length(high, step, -step.gradient)
    0.5
    """
    line = Line(objective, step, direction)
    slope, length = line.first_slope(), 1.0
    if not slope < 0:
        return 0.0
    bracket = Bracket(slope)
    for _ in range(10):
        level = line.value(length) <= line.first + ROUNDING * abs(line.first)
        end = line.slope(length) if level else np.nan
        if level and abs(end) <= slope_left * -slope:
            return length
        length = bracket.next(length, end)
    return 0.0
