r"""Going along a line until a convex function is nearly as low on it as it gets.

The slope :math:`\varphi'(t)` of a convex function along a direction never falls. It is negative at :math:`t = 0`; where it has come
near zero the lowest point is near. A full step is tried first; after that the zero is enclosed (`Bracket`) and found by the
secant. A place counts only if the function fell there by a share of what the slope promised (Armijo's rule), but for
rounding. Every trial is a pass over the rows, and the pass of the one that is taken serves the next direction too.

Nocedal and Wright (2006), Numerical Optimization, section 3.5; Dowell and Jarratt (1971), A modified regula falsi method.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

Point = TypeVar("Point")
DECREASE = 1e-4
LEAST_GROWTH, GROWTH, LEAST_SHARE = 1.1, 10.0, 0.05


class Bracket:
    """What is known of where a slope that is negative at 0 vanishes: it is above `low`, and not above `high`.

    >>> bracket = Bracket(-8.0)
    >>> [bracket.next(t, t**3 - 8) for t in (1.0, 8.0)]
    [8.0, 1.095...]
    """

    def __init__(self, slope: float, longest: float = math.inf) -> None:
        self.low, self.high = 0.0, math.inf
        self._at_low, self._at_high = float(slope), math.nan
        self._longest, self._side, self._widths = longest, 0, (math.inf, math.inf)

    def next(self, length: float, slope: float) -> float:
        """Take note of the slope at a length (NaN where it is too long, no matter the slope), and say which length to try next."""
        length, slope = float(length), float(slope)
        ahead = self._extrapolated(length, slope)
        # An end that stays put twice in a row counts half, or the chord would crawl towards the zero from one side.
        if slope < 0:
            self._at_high /= 2 if self._side < 0 else 1
            self.low, self._at_low, self._side = length, slope, -1
        else:
            self._at_low /= 2 if self._side > 0 else 1
            self.high, self._at_high, self._side = length, slope, 1
        if math.isinf(self.high):
            return min(ahead, self._longest)
        width = self.high - self.low
        slow, self._widths = width > 0.5 * self._widths[0], (self._widths[1], width)
        chord = math.nan
        if not slow and math.isfinite(self._at_high):
            # Where the slope soars, the chord would lead back to where the function has not begun to fall.
            share = self._at_low / (self._at_low - self._at_high)
            chord = self.low + width * (max(share, LEAST_SHARE) if self.low == 0 else share)
        return chord if self.low < chord < self.high else self.low + 0.5 * width

    def _extrapolated(self, length: float, slope: float) -> float:
        """Give where the slope would vanish if it went on as between `low` and here; not much nearer, nor very far away."""
        change = slope - self._at_low
        zero = length - slope * (length - self.low) / change if change > 0 else math.inf
        return length * min(max(zero / length, LEAST_GROWTH), GROWTH) if length > 0 else 0.0

    def holds(self, length: float) -> bool:
        """Say whether a length is strictly inside; rounding leaves none in the end."""
        return self.low < length < self.high


def downhill(
    at: Callable[[float], Point],
    slope: Callable[[Point], float],
    first: float,
    rise: Callable[[Point], float],
    *,
    noise: float = 0.0,
    flat: float = 0.5,
    trial: float = 1.0,
    longest: float = math.inf,
    rounding: float = 0.0,
    trials: int = 50,
) -> Point | None:
    """Find a place on a line where a convex function fell and its slope is nearly used up.

    `at(t)` gives the place after a step t, `slope` and `rise` the slope along the line there (at a kink, of all slopes
    the one nearest to zero) and the value less that at the start, where the slope is `first`. Values that differ by
    `noise` can not be told apart, nor slopes of the size `rounding` from zero; a share `flat` of the first slope may be
    left. Where no place is flat enough, the lowest of those tried is given, and None where no way leads down.

    >>> downhill(lambda t: t, lambda t: 10.0 * t - 1.0, -1.0, lambda t: 5 * t**2 - t)
    0.1...
    >>> downhill(lambda t: t, lambda t: 1.0, 1.0, lambda t: t) is None
    True
    """
    best, lowest = None, math.inf
    if not first < 0:
        return best
    bracket, t = Bracket(first, longest), min(trial, longest)
    for _ in range(trials):
        place = at(t)
        rose, here = rise(place), slope(place)
        fell = rose <= DECREASE * t * first + noise
        if fell and (abs(here) <= max(flat * -first, rounding) or (here < 0 and t == longest)):
            return place
        if fell and rose < lowest:
            best, lowest = place, rose
        t = bracket.next(t, here if fell or here >= 0 else math.nan)
        if not bracket.holds(t):
            break
    return best
