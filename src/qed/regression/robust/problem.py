r"""The objective of robust regression with a scale, Newton's step on it, and how far from the minimum a point can be at most.

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
:math:`e = 0`; what they miss is bounded by :class:`~qed.regression.robust.design.Design` and by the penalty.

Huber (1981), Robust Statistics, sections 7.7 and 7.8; Owen (2007), A robust hybrid of lasso and ridge regression.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.certificate import MOST_ROUNDING
from qed.base.models.fingerprint import Fingerprint
from qed.base.models.problem import Problem
from qed.base.numbers import EPS, TINY
from qed.base.sources.rows import Rows
from qed.optim.searches.downhill import downhill
from qed.regression.robust.columns import Plane
from qed.regression.robust.design import Design
from qed.regression.robust.sums import HuberSums

# The least scale, relative to the spread of the target. Where so many rows lie on a plane that no scale above zero is best, it is taken.
LEAST_SCALE = 1e-9
SHRINK = 0.2
# A sum of residuals below this share of the target's is none.
EXACT = 1e-11


@dataclass(frozen=True)
class Point:
    """A plane and a scale, with the objective there."""

    plane: Plane
    scale: float
    sums: HuberSums
    objective: float

    def is_at(self, plane: Plane, scale: float) -> bool:
        """Say whether this is the point of a plane and a scale."""
        own = self.plane
        return scale == self.scale and plane.intercept == own.intercept and np.array_equal(plane.coef, own.coef)


class HuberProblem(Problem):
    """The objective on some rows.

    The loss becomes linear at `epsilon` scales; the scale is None where it is to be found.
    """

    rows: Rows

    def __init__(self, design: Design, epsilon: float, alpha: float, scale: float | None) -> None:
        self.design, self.epsilon, self.alpha, self.scale = design, epsilon, alpha, scale
        self.rows, self.target_ndim = design.rows, design.target_ndim
        self._latest: Point | None = None
        self._gap: tuple[Point, tuple[float, float]] | None = None

    @property
    def fingerprint(self) -> Fingerprint:
        return self.design.fingerprint

    @cached_property
    def least(self) -> float:
        """The least scale that is looked at."""
        total = self.design.total
        square = float(total.scatter[-1, -1] + total.weight * total.mean[-1] ** 2)
        spread = float(total.scatter[-1, -1]) if self.design.intercept else square
        return max(
            LEAST_SCALE * float(np.sqrt(spread / total.weight)),
            64 * EPS * float(np.sqrt(square / total.weight)),
            1e-100 if square == 0 else 1e-160,
        )

    def beginning(self) -> tuple[Plane, float]:
        """Begin with ridge regression, and the mean deviation from it."""
        plane = self.design.nearest(self.design.total, self.design.ridge)
        return plane, max(self.design.deviation(plane), self.least) if self.scale is None else self.scale

    def at(self, plane: Plane, scale: float, *, curved: bool = True) -> Point:
        """Work out the objective, and what a direction needs if it is `curved`: one pass over the rows, unless this was asked for last."""
        known = self._latest
        if known is not None and known.is_at(plane, scale) and not (curved and known.sums.inside is None):
            return known
        sums = self.design.at(plane, self.epsilon * scale, curved=curved)
        objective = 2 * sums.loss / scale + self.alpha * float(plane.coef @ plane.coef)
        self._latest = Point(plane, scale, sums, objective + (sums.weight * scale if self.scale is None else 0.0))
        return self._latest

    def _shrinking(self, plane: Plane) -> np.ndarray:
        """Give half the gradient of the penalty."""
        return self.design.columns.gradient(self.alpha * plane.coef)

    def _pull(self, point: Point) -> tuple[np.ndarray, float, float]:
        """Give minus the gradient in coefficients, constant and scale, times half the scale."""
        sums, scale = point.sums, point.scale
        pull = sums.pull - scale * self._shrinking(point.plane)
        return pull, sums.level, 0.5 * (sums.square / scale - sums.weight * scale)

    def descend(self, point: Point) -> Point:
        """Go along Newton's direction; the scale becomes smaller by no more than a factor at a time."""
        pull, level, widen = self._pull(point)
        free = self.scale is None and not (point.scale <= self.least and widen <= 0)
        scale = (point.scale, widen, max(SHRINK * point.scale, self.least)) if free else None
        inside = self.design.inside(point.sums, point.plane, self.epsilon * point.scale)
        way = self.design.direction(inside, pull, level, self.alpha * point.scale, scale)

        def at(step: float) -> Point:
            return self.at(point.plane.moved(way.plane, step), point.scale + step * way.scale)

        def slope(found: Point) -> float:
            pull, level, widen = self._pull(found)
            return -(self.design.slope(pull, level, way) + widen * way.scale) / found.scale

        trial = self.design.trial(way, point.sums.absolute / point.sums.weight + point.scale)
        longest = 1.0 if way.scale < 0 else np.inf
        noise = EPS * point.objective
        found = downhill(
            at, slope, slope(point), lambda found: found.objective - point.objective,
            noise=8 * noise, trial=trial, longest=longest, rounding=noise,
        )  # fmt: skip
        if found is not None and found.objective < point.objective - 8 * noise:
            return found
        # The objective no longer tells which is better, but how far the equations are from being met still does.
        whole = at(1.0)
        blur = 8 * noise + 2 * self.epsilon * self.design.rounding(point.plane, point.sums.target)[0]
        near = whole.objective <= point.objective + blur and self.gap(whole)[0] < 0.5 * self.gap(point)[0]
        return whole if near else found or point

    def gap(self, point: Point) -> tuple[float, float]:
        """Bound the distance from the minimum, relative to the objective; say how much of it rounding can explain."""
        if self._gap is None or self._gap[0] is not point:
            self._gap = point, self._bound(point)
        return self._gap[1]

    def _bound(self, point: Point) -> tuple[float, float]:
        sums, scale, design = point.sums, point.scale, self.design
        weight, k, left, others = sums.weight, 1.0, 0.0, 0.0
        if self.scale is None:
            k = scale * float(np.sqrt(weight / sums.square)) if sums.square > weight * scale**2 else 1.0
            idle = max(0.0, weight - k * k * (sums.square / scale) / scale)
            left = weight * scale + (2 * (1 - k) * sums.product - sums.square) / scale - min(self.least, scale) * idle
            others = 0.5 * point.objective
        else:
            others = (point.objective + weight * self.epsilon**2 * scale) / (2 * self.epsilon)
        pull = 2 * k / scale * (sums.pull - design.centre * sums.level)
        level = 2 * k / scale * sums.level
        inner = pull - 2 * self._shrinking(point.plane)
        eta, left_over = design.imbalance(inner, level)
        between = eta * (sums.absolute + others)
        if self.alpha > 0:
            constant = abs(level) / weight * (sums.absolute + others) if design.intercept else 0.0
            miss = design.columns.own(pull) - 2 * self.alpha * point.plane.coef
            lost = miss - design.columns.own(inner) + design.columns.own(left_over)
            between = min(between + lost @ lost / (4 * self.alpha), constant + miss @ miss / (4 * self.alpha))
        size = max(point.objective, TINY)
        numbers, equations = design.rounding(point.plane, sums.target)
        felt = numbers - EPS * (sums.target - sums.felt)
        rounding = 64 * (equations + felt / (weight * scale) + numbers / size)
        return min(1.0, max(0.0, left + between) / size), float(rounding)

    def most_rounding(self, point: Point) -> float:
        """Say how much rounding may hide of the objective: little, unless there is next to nothing of it and rows are met exactly."""
        return max(MOST_ROUNDING, EXACT * point.sums.target / max(point.objective, TINY))


def is_outlier(block: Any, plane: Plane, bound: float) -> np.ndarray:
    """Say which rows are further than `bound` from a plane."""
    prediction = np.asarray(block.X @ plane.coef, dtype=np.float64) + plane.intercept
    return np.abs(np.asarray(block.y, dtype=np.float64).ravel() - prediction) > bound
