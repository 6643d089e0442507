r"""Going along a line until a convex function is nearly as low on it as it gets.

The slope :math:`\varphi'(t)` of a convex function along a direction never falls. It is negative at :math:`t = 0`; where it has come
near zero the lowest point is near. A full step is tried first; after that the zero is enclosed and found by the secant
(regula falsi). Every trial is a pass over the rows, and the pass of the one that is taken serves the next direction too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Place = TypeVar("Place")
FLAT = 0.5
MOST_TRIALS = 30


def descend(
    at: Callable[[float], Place],
    slope: Callable[[Place], float],
    first: float,
    *,
    trial: float = 1.0,
    longest: float = float("inf"),
    rounding: float = 0.0,
) -> Place:
    """Find a place on a line where the slope is at most half of the first one.

    Parameters
    ----------
    at : callable
        Gives the place after a step t.
    slope : callable
        Gives the slope, along the line, at a place.
    first : float
        The slope at the start. Where rounding has left nothing negative of it, no step is made.
    trial, longest : float
        The first step to be tried, and the longest allowed.
    rounding : float
        Slopes of this size can not be told from zero.

    Examples
    --------
    >>> descend(lambda t: t, slope=lambda t: 10.0 * t - 1.0, first=-1.0)
    0.1
    """
    low, slope_low, high, slope_high = 0.0, first, None, 0.0
    t = min(trial, longest) if first < 0 else 0.0
    place = at(t)
    if t == 0:
        return place
    for _ in range(MOST_TRIALS):
        here = slope(place)
        if abs(here) <= max(FLAT * abs(first), rounding) or (here < 0 and t == longest):
            break
        if here < 0:
            low, slope_low = t, here
        else:
            high, slope_high = t, here
        if high is None:
            t = min(4.0 * t, longest)
        else:
            t = low + (high - low) * min(0.95, max(0.05, slope_low / (slope_low - slope_high)))
        place = at(t)
    return place
