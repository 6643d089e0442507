r"""Newton's method for a likelihood with a squared penalty or none, and how far from the minimum a point can be at most.

Newton's step solves :math:`(H + \Lambda)\,d = -g` with the true Hessian :math:`H` of the loss: by factorising it, or, where it is large, by
conjugate gradients, a fold over the rows for each product.

How far from the minimum a point can be at most follows from the same step (:mod:`qed.classification.logistic.gap`): the squared Newton
decrement :math:`g^\top (H + \Lambda)^{-1} g` is a duality gap, with a penalty or without one, and costs no pass of its own.

Nocedal and Wright (2006), Numerical Optimization, chapters 6 and 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS, smallest
from qed.classification.logistic.dependent_columns import dependent_columns
from qed.classification.logistic.gap import Rounding, magnitudes, roughly, sharply, summed, triangle_of
from qed.classification.logistic.hessian_bound import UNIT, LowerBound, from_rows, from_sums
from qed.classification.logistic.likelihood import Likelihood, Newton, Point
from qed.classification.logistic.preconditioner import NARROW, Preconditioner
from qed.classification.logistic.secants import Secants
from qed.linalg.iterative.conjugate import Conjugate, conjugate_gradients
from qed.linalg.normal import solve
from qed.optim.searches.downhill import downhill

# A pivot of the Hessian, scaled to a diagonal of ones, that is smaller than this may be little but rounding.
LEAST_PIVOT = 1e-5
# The next step will do for a proof where this one promises more, relative to the objective.
HOPEFUL = 1e-12
# With so many times less than the tolerance to gain, the curvature of all rows is looked at for a proof.
HOPE = 1.0
# With more than this to gain, relative to the objective, the curvature of an earlier place is no longer used.
FAR = 0.03
# The most operations that a QR decomposition of the rows may take.
LARGEST_TRIANGLE = 1e11


class SmoothLikelihood(Likelihood):
    """The objective with a squared penalty, or with none."""

    _curved: tuple[np.ndarray, LowerBound | None] | None = None
    _tried: tuple[Point, np.ndarray | None] | None = None

    @cached_property
    def preconditioner(self) -> Preconditioner:
        """What conjugate gradients begin a step with."""
        return Preconditioner(self)

    @property
    def memory(self) -> dict[str, np.ndarray]:
        return {} if self.factorised else self.preconditioner.memory

    def recall(self, memory: Mapping[str, object]) -> None:
        """Take up what a step noted."""
        if not self.factorised:
            self.preconditioner.recall(memory, lambda theta: self.at(*self.outside(theta)))

    def newton(self, point: Point, secants: Secants | None = None) -> Newton:
        """Find Newton's direction and the gap that it proves; `secants` correct the direction where some rows stand for all."""
        known = self._proven
        if known is None or known[0] is not point:
            with one_blas_thread:
                if self.factorised:
                    found = self._factor(point) if secants is None else self._along(point, secants)
                else:
                    found = self._conjugate(point)
            self._proven = known = point, found
        return known[1]

    def _along(self, point: Point, secants: Secants) -> Newton:
        """Go on with the curvature of some rows at an earlier place, as corrected by `secants`, until that promises a proof."""
        size = max(point.objective, 1e-300)
        bound = self._sampled(secants.place[0]) if len(secants.place) else None
        if bound is None or bound.norm(point.gradient) ** 2 > FAR * size:
            secants, bound = secants._replace(place=point.theta[None]), self._sampled(point.theta)
        if bound is None:
            return self._factor(point)
        usable, gap = bound, 1.0
        if bound.norm(point.gradient) ** 2 <= max(2 * self.tol, EPS) * size:
            gap, secants = self._factor(point).gap, secants._replace(place=point.theta[None])
        return Newton(gap, lambda: secants.direction(usable.solve, point.gradient), secants)

    def beyond(self, point: Point) -> Point:
        """Go by what the step promises where that is known: one proof is enough, and the point after it is the one to be proven."""
        direction = self._quickly(point) if self.factorised and self.part is None else None
        if direction is None:
            return super().beyond(point)
        near = _promised(point, direction) <= self.tol * point.objective
        return self.descend(point, direction) if near else point

    def final_gap(self, point: Point) -> float:
        """Give the gap that is proven of a point which is the last one: on the way, a proof that would not hold is not tried."""
        gap, effort = self.newton(point).gap, -1
        with one_blas_thread:
            # A rough step leads on and proves nothing; who looks at a point for the first time has the cheapest stand-in, too.
            while not self.factorised and gap > self.tol and self.preconditioner.effort > effort:
                effort, gap = self.preconditioner.effort, min(gap, self._conjugate(point, rough=0.0).gap)
            if gap < 1 or not self.factorised:
                return gap
            return min(self._factor(point, hasty=False).gap, self.plain_gap(point))

    def _factor(self, point: Point, *, hasty: bool = True) -> Newton:
        direction = self._quickly(point) if hasty and self.part is None else None
        if direction is not None and _promised(point, direction) > max(10 * self.tol, HOPEFUL) * point.objective:
            return Newton(1.0, lambda: direction)
        bound = self.bound(point)
        if bound is None:
            return Newton(1.0, lambda: self._least_squares(point))
        base = bound.norm(point.gradient)
        step = None if self.part is not None else (bound.solve(point.gradient), base)
        gap = self._gap(point, bound, base, step=step)
        if self._searched and self.absent.any():
            return Newton(gap, lambda: self._least_squares(point))
        return Newton(gap, lambda: -bound.solve(point.gradient))

    @property
    def _near(self) -> float:
        """With less than this to gain, relative to the objective, a proof is worth its price."""
        return max(10 * self.tol, 1e-9)

    def _quickly(self, point: Point) -> np.ndarray | None:
        """Give Newton's direction where the Hessian is far from singular, with no bound of what rounding did; else None."""
        if self._tried is None or self._tried[0] is not point:
            self._tried = point, self._unproven(point)
        return self._tried[1]

    def _unproven(self, point: Point) -> np.ndarray | None:
        H = self.factor * self.loss.joined(self.pieces(point))
        H.flat[:: len(H) + 1] += self._for_each(self.ridge)
        length = np.sqrt(H.diagonal())
        if not smallest(length) > 0:
            return None
        scaled = H / length
        scaled /= length[:, None]
        lower, failed = lapack.dpotrf(scaled, lower=1, overwrite_a=1)
        if failed or not smallest(lower.diagonal()) > LEAST_PIVOT:
            return None
        found, _ = lapack.dpotrs(lower, -point.gradient.ravel() / length, lower=1)
        return np.asarray((found / length).reshape(point.gradient.shape))

    def bound(self, point: Point) -> LowerBound | None:
        """Give a lower bound of the Hessian; None where floating point can not tell it from a singular one."""
        m, q = self.loss.shape
        if not self.factorised:
            return self._separate(point)
        found = None if self.part is None else self._sampled(point.theta)
        if found is not None:
            return found
        pieces = self.pieces(point)
        found = self._summed(pieces, self.factor, self._nowhere)
        if found is None and not self.penalised and not self._searched:
            self._searched = True
            gram = np.sum([piece for (k, l), piece in pieces.items() if k == l], axis=0)
            self.absent = self.absent | dependent_columns(self.rows, gram, self.loss.shift, self.loss.scale)
            return self.bound(point)
        if found is None and self.count * (m + 1) * (m * q) ** 2 <= LARGEST_TRIANGLE:
            triangle = self.rows.fold(triangle_of, self.loss, point.theta, self.factor).R
            triangle = np.vstack([triangle, np.diag(np.sqrt(self._for_each(self.ridge)))])
            tile = min(self.count, self.loss.tile_rows)
            rows, tiles = (m + 1) * tile + 2 * m * q, 2 + self.count / max(tile, 1)
            found = from_rows(triangle, 4 * rows * m * q * tiles * UNIT, self._nowhere)
        return found

    def _sampled(self, theta: np.ndarray) -> LowerBound | None:
        """Give the bound that some of the rows are: with their curvature for that of all, and then less again."""
        assert self.part is not None
        if self._curved is None or not np.array_equal(self._curved[0], theta):
            more = self.count / max(1, self.part.count())
            pieces = self.part.fold(self.loss.of, theta, "full").blocks
            found = self._summed(pieces, more * self.factor, self._nowhere)
            self._curved = theta, None if found is None else found.weaker(np.sqrt(more))
        return self._curved[1]

    @property
    def _nowhere(self) -> np.ndarray:
        """Parameters on which nothing depends."""
        return self._for_each(self.absent & (self.ridge == 0))

    def _for_each(self, values: np.ndarray) -> np.ndarray:
        """Repeat values for every class."""
        m = self.loss.shape[0]
        return values if m == 1 else np.tile(values, m)

    def _summed(
        self, pieces: dict[tuple[int, int], np.ndarray], factor: float, absent: np.ndarray
    ) -> LowerBound | None:
        """Give the bound that the pieces of a Hessian are, with the penalty."""
        total = factor * self.loss.joined(pieces)
        total.flat[:: len(total) + 1] += self._for_each(self.ridge)
        own = {k: np.sqrt(np.maximum(piece.diagonal(), 0.0)) for (k, l), piece in pieces.items() if k == l}
        moved = np.abs(self.loss.coding[:, list(own)]) @ np.array(list(own.values()))
        rounding = factor * (self.count + len(self.loss.coding) ** 2 + 32) * UNIT
        return from_sums(total, moved.ravel(), rounding, absent)

    def _separate(self, point: Point, least: float | None = None) -> LowerBound | None:
        """Give the bound that the penalty is, with the curvature of the constants; None where there is no penalty."""
        if not self.penalised:
            return None
        p = len(self.loss.scale)
        root = np.sqrt(2 / self.ridge[:p]) if self.loss.intercept else np.sqrt(1 / self.ridge)
        if self.loss.intercept:
            # The columns' Hessian is at most this, in units of the penalty; so much of it may be spent on the constants.
            steepest = self.factor * float(self.squares[:p] @ (1 / self.ridge[:p]))
            curvature = self.factor * (point.curve.least if least is None else least) / max(1.0, steepest)
            root = np.append(root, np.sqrt(2 / curvature) if curvature > 0 else np.inf)
        whole = self._for_each(root)
        return LowerBound(whole, whole)

    def _gap(
        self,
        point: Point,
        bound: LowerBound,
        base: float,
        lost: np.ndarray | float = 0.0,
        step: tuple[np.ndarray, float] | None = None,
    ) -> float:
        """Bound the relative distance of the objective from its minimum; at most one.

        `base` is the length of Newton's step but for rounding, `lost` what rounding did to products that it was worked out with, by column;
        `step` is the step where it was computed, with its length.
        """
        loss, shape = self.loss, self.loss.shape
        magnitude, sizes = magnitudes(loss, point.coef, point.intercept), bound.sizes.reshape(shape)
        unit, moved, solved = summed(loss, self.count, not self.centred), np.inf, 0.0
        if step is not None:
            change, solved = loss.coding.T @ step[0], step[1]
            moved = float((change.max(axis=0) - change.min(axis=0)).sum())

        def length(rounding: Rounding) -> float:
            errors = 2 * unit * rounding.terms + 8 * UNIT * np.abs(self.ridge * point.theta)
            return rounding.length(base, bound, errors + lost, moved, solved)

        rough = roughly(loss, point.curve.missed, self.squares, magnitude, sizes, self.factor)
        found = length(rough)
        near = base**2 <= self._near * point.objective
        if near and not found <= 2 * base:
            most = min(found, 2 * base + 1e-3 * np.sqrt(point.objective))
            sharp = self.rows.fold(sharply, loss, point.theta, magnitude, sizes, self.factor, most)
            exact = length(sharp)
            found = min(found, exact if exact <= most else np.inf)
        value = point.objective - self.factor * point.curve.missed * 2 * rough.worst
        return min(1.0, found**2 / value) if value > 0 else float(found > 0)

    def _least_squares(self, point: Point) -> np.ndarray:
        """Solve for Newton's direction without what rounding can not tell from zero: a way on, but no proof."""
        H = self.factor * self.loss.joined(self.pieces(point))
        ridge = np.broadcast_to(self.ridge, self.loss.shape)
        return solve(H + np.diag(ridge.ravel()), -point.gradient.reshape(-1, 1)).coef.reshape(self.loss.shape)

    def _conjugate(self, point: Point, rough: float = 0.3) -> Newton:
        """Bound the gap by the penalty and the least curvature of every row; where that is not enough, by Newton's direction as well.

        That may be `rough` where there is much to gain, but not where it is to prove that there is nothing.
        """
        hopeful = self.preconditioner.promised(point) <= HOPE * max(self.tol, EPS) * point.objective
        flat = self._flattest(point) if hopeful else None
        bound = flat or self.bound(point)
        plain = 1.0 if bound is None else self._gap(point, bound, bound.norm(point.gradient))
        if bound is not None and flat is None and plain > self.tol and self._has_more_to_say(point):
            bound = self._separate(point, self._least(point)) or bound
            plain = min(plain, self._gap(point, bound, bound.norm(point.gradient)))
        if plain <= self.tol:
            return Newton(plain, lambda: self._solved(point).solution)
        found = self._solved(point, rough)
        if bound is None:
            return Newton(plain, lambda: found.solution)
        bent = max(0.0, -float(((point.gradient + found.left) * found.solution).sum()))
        lost = 4 * summed(self.loss, self.count, not self.centred) * np.sqrt(bent * self.factor * self.squares)
        base = 1.01 * np.sqrt(bent) + bound.norm(found.left)
        sharper = self._gap(point, bound, base, lost, (found.solution, float(np.sqrt(bent))))
        return Newton(min(plain, sharper), lambda: found.solution)

    def plain_gap(self, point: Point) -> float:
        """Bound the relative gap by the penalty alone, for the price of the gradient; 1 where there is no penalty."""
        bound = self._separate(point)
        return 1.0 if bound is None else self._gap(point, bound, bound.norm(point.gradient))

    def _flattest(self, point: Point) -> LowerBound | None:
        """Give the bound that the least curvature of every row is, the same for all classes; None where it costs more than it saves."""
        m, q = self.loss.shape
        if not self.centred or q > NARROW:
            return None
        piece = self.factor * self.sums.flattest(point.theta)
        moved, absent = np.sqrt(np.maximum(piece.diagonal(), 0.0)), self.absent & (self.ridge == 0)
        found = from_sums(piece + np.diag(self.ridge), moved, (self.count + 32) * UNIT, absent)
        return None if found is None else found.for_each(m)

    def _has_more_to_say(self, point: Point) -> bool:
        """Whether the slopes of the columns would prove enough, if more were known of the constants, as of more than two classes."""
        columns = point.gradient[:, : len(self.loss.scale)] ** 2 / self.ridge[: len(self.loss.scale)]
        enough = bool(2 * columns.sum() <= self._near * point.objective)
        return enough and self.loss.intercept and len(self.loss.coding) > 1

    def _least(self, point: Point) -> float:
        """Bound the least eigenvalue of the constants' Hessian from below."""
        total = self.rows.fold(self.loss.constants, point.theta)
        away = (self.count + 2 * len(total)) * UNIT * (self.total + float(np.trace(total)))
        return max(float(np.linalg.eigvalsh(total)[0]) - len(total) * away, point.curve.least)

    def _solved(self, point: Point, rough: float = 0.3) -> Conjugate:
        """Solve for Newton's direction by preconditioned conjugate gradients, the closer to the minimum the more exactly."""
        precondition = self.preconditioner.at(point)
        promised = self.preconditioner.promised(point)
        size = max(point.objective, 1e-300)
        # Far from the minimum a rough step will do, as exact as its gain is small; and near it none has to lead far below the tolerance.
        enough = 0.01 * np.sqrt(self.tol * size / max(promised, 1e-300))
        found = conjugate_gradients(
            lambda search: self.factor * self.sums.times(point.theta, search) + self.ridge * search,
            -point.gradient,
            max(min(rough, max(np.sqrt(promised / size), enough)), min(enough, 0.3), EPS),
            self.preconditioner.most,
            precondition,
        )
        self.preconditioner.learn(found.iterations)
        return found

    def descend(self, point: Point, direction: np.ndarray) -> Point:
        """Go along `direction`, at most to its end, until the objective is nearly as low as it gets on the way."""
        coef, intercept = self.outside(direction)

        def at(step: float) -> Point:
            return self.at(point.coef + step * coef, point.intercept + step * intercept, direction)

        def slope(found: Point) -> float:
            return float(np.vdot(found.gradient, direction))

        noise = 8 * EPS * abs(point.objective)
        found = downhill(
            at, slope, slope(point), lambda found: found.objective - point.objective,
            noise=noise, longest=1.0, rounding=noise,
        )  # fmt: skip
        return found or point


def _promised(point: Point, direction: np.ndarray) -> float:
    """Give about twice how much Newton's step gains."""
    return -float(np.vdot(point.gradient, direction))
