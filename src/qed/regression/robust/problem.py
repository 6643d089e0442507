r"""The objective of robust regression with a scale, Newton's step on it, and how far from the minimum a place can be at most.

.. math:: F(w, b, \sigma) = \sum_i s_i \Bigl(\sigma + H_\varepsilon\bigl(\tfrac{r_i}{\sigma}\bigr)\,\sigma\Bigr) + \alpha \|w\|^2, \qquad
          H_\varepsilon\bigl(\tfrac{r}{\sigma}\bigr)\,\sigma = \tfrac2\sigma\, \rho_{\varepsilon\sigma}(r),

convex in all its unknowns together (Huber's Proposal 2); with a given :math:`\sigma` the first sum is a constant and is left
out. Newton's equations are those of the rows inside, :math:`|r| \le \varepsilon\sigma`, with the columns :math:`(x, 1, r/\sigma)`.

The bound is a duality gap. For any :math:`|u_i| \le 2\varepsilon` the conjugate gives
:math:`H_\varepsilon(r/\sigma)\,\sigma \ge u r - \sigma u^2/4`. So with :math:`\sum s_i u_i^2 \le 4 \sum s_i` no scale helps, and for
another plane, at a distance :math:`\Delta`,

.. math:: F(w, b, \sigma) - F^* \le \sum_i s_i \bigl(\sigma + H_\varepsilon(\tfrac{r_i}{\sigma})\,\sigma - u_i r_i\bigr)
          + e^\top \Delta - \alpha \|\Delta_w\|^2, \qquad e = \sum_i s_i u_i (x_i, 1) - (2\alpha w, 0).

:math:`u = 2k \operatorname{clip}(r / \sigma, -\varepsilon, \varepsilon)` makes the sum vanish at the minimum, where :math:`k = 1` and
:math:`e = 0`; what they miss is bounded by :class:`~qed.regression.robust.frame.Frame` and by the penalty.

Huber (1981), Robust Statistics, sections 7.7 and 7.8; Owen (2007), A robust hybrid of lasso and ridge regression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.numbers import EPS, TINY
from qed.optim.searches.downhill import downhill
from qed.regression.robust.columns import Plane
from qed.regression.robust.frame import Frame
from qed.regression.robust.sums import HuberSums

# The least scale, relative to the spread of the target. Where so many rows lie on a plane that no scale above zero is best, it is taken.
LEAST_SCALE = 1e-9
SHRINK = 0.2


@dataclass(frozen=True)
class Place:
    """A plane and a scale, with the objective there."""

    plane: Plane
    scale: float
    sums: HuberSums
    objective: float


@dataclass(frozen=True)
class HuberProblem:
    """The objective on some rows.

    Attributes
    ----------
    frame : Frame
        The rows, and what is known of them as a whole.
    epsilon, alpha : float
        Where the loss becomes linear, in scales; the weight of the penalty.
    scale : float or None
        The scale, or None where it is to be found.
    """

    frame: Frame
    epsilon: float
    alpha: float
    scale: float | None

    @property
    def least(self) -> float:
        """The least scale that is looked at."""
        total = self.frame.total
        square = float(total.uncentered()[-1, -1])
        spread = float(total.scatter[-1, -1]) if self.frame.intercept else square
        return max(
            LEAST_SCALE * float(np.sqrt(spread / total.weight)),
            64 * EPS * float(np.sqrt(square / total.weight)),
            1e-100,
        )

    def beginning(self) -> tuple[Plane, float]:
        """Begin with ridge regression, and the mean deviation from it."""
        plane = self.frame.nearest(self.frame.total, self.frame.ridge)
        return plane, max(self.frame.deviation(plane), self.least) if self.scale is None else self.scale

    def at(self, plane: Plane, scale: float) -> Place:
        """Work out the objective: one pass over the rows."""
        sums = self.frame.at(plane, self.epsilon * scale)
        objective = 2 * sums.loss / scale + self.alpha * float(plane.coef @ plane.coef)
        return Place(plane, scale, sums, objective + (sums.weight * scale if self.scale is None else 0.0))

    def _shrinking(self, plane: Plane) -> np.ndarray:
        """Give half the gradient of the penalty."""
        return self.frame.columns.gradient(self.alpha * plane.coef)

    def _pull(self, place: Place) -> tuple[np.ndarray, float, float]:
        """Give minus the gradient in coefficients, constant and scale, times half the scale."""
        sums, scale = place.sums, place.scale
        pull = sums.pull - scale * self._shrinking(place.plane)
        return pull, sums.level, 0.5 * (sums.square / scale - sums.weight * scale)

    def descend(self, place: Place) -> Place:
        """Go along Newton's direction; the scale becomes smaller by no more than a factor at a time."""
        pull, level, widen = self._pull(place)
        free = self.scale is None and not (place.scale <= self.least and widen <= 0)
        scale = (place.scale, widen, max(SHRINK * place.scale, self.least)) if free else None
        way = self.frame.direction(place.sums.inside, pull, level, self.alpha * place.scale, scale)

        def at(step: float) -> Place:
            return self.at(place.plane.moved(way.plane, step), place.scale + step * way.scale)

        def slope(found: Place) -> float:
            pull, level, widen = self._pull(found)
            return -(self.frame.slope(pull, level, way) + widen * way.scale) / found.scale

        trial = self.frame.trial(way, place.sums.absolute / place.sums.weight + place.scale)
        longest = 1.0 if way.scale < 0 else np.inf
        noise = EPS * place.objective
        found = downhill(
            at, slope, slope(place), lambda found: found.objective - place.objective,
            noise=8 * noise, trial=trial, longest=longest, rounding=noise,
        )  # fmt: skip
        return found or place

    def gap(self, place: Place) -> tuple[float, float]:
        """Bound the distance from the minimum, relative to the objective; say how much of it rounding can explain."""
        sums, scale, frame = place.sums, place.scale, self.frame
        weight, k, left, others = sums.weight, 1.0, 0.0, 0.0
        if self.scale is None:
            k = scale * float(np.sqrt(weight / sums.square)) if sums.square > weight * scale**2 else 1.0
            idle = max(0.0, weight - k * k * sums.square / scale**2)
            left = weight * scale + (2 * (1 - k) * sums.product - sums.square) / scale - min(self.least, scale) * idle
            others = 0.5 * place.objective
        else:
            others = (place.objective + weight * self.epsilon**2 * scale) / (2 * self.epsilon)
        pull = 2 * k / scale * (sums.pull - frame.centre * sums.level)
        level = 2 * k / scale * sums.level
        eta, made_up = frame.imbalance(pull - 2 * self._shrinking(place.plane), level)
        between = eta * (sums.absolute + others)
        if self.alpha > 0:
            constant = abs(level) / weight * (sums.absolute + others) if frame.intercept else 0.0
            miss = frame.columns.own(pull) - 2 * self.alpha * place.plane.coef
            lost = miss - frame.columns.own(made_up)
            between = min(between + lost @ lost / (4 * self.alpha), constant + miss @ miss / (4 * self.alpha))
        size = max(place.objective, TINY)
        numbers, equations = frame.rounding(place.plane, sums.target)
        rounding = 64 * (equations + numbers / (weight * scale) + numbers / size)
        return min(1.0, max(0.0, left + between) / size), float(rounding)


def is_outlier(block: Any, plane: Plane, bound: float) -> np.ndarray:
    """Say which rows are further than `bound` from a plane."""
    prediction = np.asarray(block.X @ plane.coef, dtype=np.float64) + plane.intercept
    return np.abs(np.asarray(block.y, dtype=np.float64).ravel() - prediction) > bound
