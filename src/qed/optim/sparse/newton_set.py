r"""Sparse problems with any smooth convex loss: one quadratic after another, on a working set of columns.

.. math:: \min_{w, b}\ \sum_i \omega_i f_i(x_i^\top w + b) + \lambda_1 \|w\|_1 + \tfrac12 \lambda_2 \|w\|^2 .

Near a place the loss is its quadratic model, with the pull :math:`\theta` and the curvature :math:`h` of every row
(:mod:`qed.optim.sparse.scored`): sparse least squares whose rows weigh :math:`h_i`. That is solved exactly, on the Gram matrix
:math:`X_W^\top \operatorname{diag}(h)\, X_W` of the working set (:mod:`qed.optim.sparse.quadratic`), and a search along the way to its
solution, on the true objective, makes sure that it falls (*proximal Newton*). Which columns belong to the working set is known
from :math:`X^\top\theta` as in least squares, with the same screening and the same duality gap (:mod:`qed.optim.sparse.working_set`).

The Gram matrix is what costs, :math:`O(n|W|^2)`. That of an earlier place is kept, with its triangular factor, as long as the steps
that a new one would save cost less: near the solution, and from one penalty of a path to the next, a step costs :math:`O(n|W|)`. What an
old matrix misses is mostly a single direction, in which the loss has become flatter. So its step is joined with the one before it, in
the plane of both: their scores are known, hence the curvature :math:`v^\top \operatorname{diag}(h)\, v` in it at this very place, in
:math:`O(n)`. While the support stays, these are *conjugate gradients* with the old matrix as preconditioner.

Lee, Sun and Saunders (2014), Proximal Newton-type methods for minimizing composite functions; Massias et al. (2020), Dual
extrapolation for sparse generalized linear models; Hager and Zhang (2006), A survey of nonlinear conjugate gradient methods.
"""

from __future__ import annotations

import numpy as np

from qed.base.numbers import EPS
from qed.optim.functions.penalties import L1L2
from qed.optim.searches.downhill import downhill
from qed.optim.sparse.columns import Columns
from qed.optim.sparse.scored import Scored, ScoredLoss
from qed.optim.sparse.working_set import WorkingSet

MOST_STEPS = 200
# A quadratic is solved to this share of the gap.
INNER = 0.01
# A Gram matrix of so many columns costs as much as a step. With its own a step makes the gap smaller by about the exponential of
# this; one that leaves more than half of it is worth a new one in any case, but for the first, which has yet to find the support.
COLUMNS_PER_STEP, FRESH_RATE, HARDLY = 120, 5.0, 0.5
# Directions are joined if the determinant of their curvatures, scaled to a diagonal of ones, is above this.
APART = 0.01
NONE = np.empty(0)


class NewtonSet(WorkingSet):
    """A sparse problem with a smooth loss on columns in memory, for one penalty after another.

    The columns have no weights, and are centred where there is a constant.
    """

    def __init__(self, columns: Columns, fit: ScoredLoss) -> None:
        self.fit, self._curvature = fit, NONE
        self._before: tuple[np.ndarray, np.ndarray] | None = None
        self.here = fit.beginning()
        super().__init__(columns, self.here.pull, self.here.constant)

    def _solve(self, penalty: L1L2, goal: float, *, newton: bool, exact: bool) -> None:
        before, idle, self._before = np.inf, False, None
        for number in range(MOST_STEPS):
            objective, gap = self._gap(penalty, NONE)
            if gap <= goal * objective or (idle and gap > 0.5 * before):
                return
            fresh = len(self._curvature) == 0 or (number > 1 and self._is_slow(gap / before, gap / (goal * objective)))
            if fresh:
                self._curvature = self.fit.curvature(self.here)
            self._model(fresh)
            fell = self._step(penalty, INNER * gap, newton)
            # The model of an earlier place may lead nowhere where that of this place does not, and the gap may still fall by it.
            before, idle = gap, fresh and fell <= self.here.noise

    def _is_slow(self, left: float, far: float) -> bool:
        """Say whether a new Gram matrix costs less than the steps that it saves: the last one left so much of a gap that is so far off."""
        if left > HARDLY:
            return True
        steps = np.log(far) * (1 / -np.log(left) - 1 / FRESH_RATE) if left > 0 else 0.0
        return bool(steps > len(self.members) / COLUMNS_PER_STEP)

    def _model(self, fresh: bool) -> None:
        """Set up the quadratic at this place, with its own Gram matrix or with the last one."""
        rest = float((self.here.pull**2 / self._curvature).sum())
        if fresh:
            k = len(self.members)
            self._gram[:k, :k] = self._chosen.weigh(self._curvature, centered=self.fit.intercept)
        self._problem.model_anew(self._problem.slope, rest, self._reach, self._gram if fresh else None)

    def _step(self, penalty: L1L2, goal: float, newton: bool) -> float:
        """Go towards the minimum of the quadratic; give by how much the objective fell."""
        self.iterations += 1
        start, slope = self._problem.coef.copy(), self._problem.slope.copy()
        self._problem.solve(penalty, goal / max(self._problem.gap(penalty)[0], goal), newton=newton)
        way, ahead, found = self._problem.coef - start, np.zeros(len(self.target)), None
        if way.any():
            self._chosen.subtract(ahead, -way)
            way, ahead = self._joined(penalty, start, slope, way, ahead)
            found = self._search(penalty, start, way, ahead)
        step, here = found or (0.0, self.here)
        self._before = (way, ahead) if step > 0 else None
        fell = self.here.value + penalty.value(start)
        if step != 1.0:
            self._problem.begin_at(start + step * way)
        self._arrive(here)
        return fell - self.here.value - penalty.value(self._problem.coef)

    def _joined(
        self, penalty: L1L2, start: np.ndarray, slope: np.ndarray, way: np.ndarray, ahead: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Join the way on with the last one, where both keep the signs, to what is lowest in their plane; give it, and its scores."""
        sign, zero = np.where(start != 0, np.sign(start), np.sign(way)), start == 0
        ways, aheads = [way], [ahead]
        if self._before is not None and not self._before[0][zero].any():
            ways, aheads = [way, self._before[0]], [ahead, self._before[1]]
        both, k = np.array(ways), len(ways)
        seen = np.array([*aheads, *([np.ones(len(ahead))] if self.fit.intercept else [])])
        bend, pull = (seen * self.fit.curvature(self.here)) @ seen.T, np.zeros(len(seen))
        bend[:k, :k] += penalty.l2 * both @ both.T
        # Coordinate by coordinate, since near the minimum slope and penalty all but cancel.
        pull[:k] = both @ (slope - penalty.l1 * sign - penalty.l2 * start)
        unit = 1 / np.sqrt(np.maximum(bend.diagonal(), 1e-300))
        bend *= unit * unit[:, None]
        if np.linalg.det(bend) < APART:
            return way, ahead
        shares = (unit * np.linalg.solve(bend, unit * pull))[:k]
        to = start + shares @ both
        # The triangular factor knows a support and signs, which have to stay those of the model's solution.
        if not np.array_equal(np.sign(to), np.sign(start + way)):
            return way, ahead
        self._problem.coef[:] = to
        return to - start, shares @ seen[:k]

    def _search(
        self, penalty: L1L2, start: np.ndarray, way: np.ndarray, ahead: np.ndarray
    ) -> tuple[float, Scored] | None:
        """Find how far to go, at most to the end, and what is there; `ahead` are the scores of the way."""
        shift, here = 0.0, self.here
        if self.fit.intercept:
            shift = -float(self._curvature @ ahead) / float(self._curvature.sum())
            ahead = ahead + shift

        def at(step: float) -> tuple[float, Scored]:
            return step, self.fit.at(here.scores + step * ahead, here.constant + step * shift)

        def slopes(place: tuple[float, Scored]) -> tuple[float, float]:
            smooth = -float(place[1].pull @ ahead)
            left, right = penalty.slope(start + place[0] * way, way)
            return smooth + left, smooth + right

        def slope(place: tuple[float, Scored]) -> float:
            left, right = slopes(place)
            return left if left > 0 else min(right, 0.0)

        def rise(place: tuple[float, Scored]) -> float:
            return place[1].value - here.value + penalty.value(start + place[0] * way) - cost

        cost = penalty.value(start)
        noise = here.noise + 8 * EPS * cost
        rounding = noise + 8 * EPS * float(np.abs(here.pull) @ np.abs(ahead))
        first = slopes((0.0, here))[1]
        if first >= -rounding:
            # What is left to gain can not be seen in values: the quadratic is believed if it does no harm.
            place = at(1.0)
            return place if rise(place) <= noise else None
        return downhill(at, slope, first, rise, noise=noise, longest=1.0, rounding=rounding)

    def _update_residual(self) -> None:
        scores = np.full(len(self.target), self.constant)
        self._chosen.subtract(scores, -self._problem.coef)
        self._arrive(self.fit.at(scores, self.constant))

    def _arrive(self, here: Scored) -> None:
        self.here = self.fit.balanced(here)
        self.residual, self.constant = self.here.pull, self.here.constant
        self._problem.slope[:] = self._chosen.correlate(self.residual)

    def _gap(self, penalty: L1L2, over: np.ndarray) -> tuple[float, float]:
        value, part, scale = self._penalty_gap(penalty, over)
        return self.here.value + value, part + self.fit.misfit(self.here, scale)
