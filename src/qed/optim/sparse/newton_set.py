r"""Sparse problems with any smooth convex loss: one quadratic after another, on a working set of columns.

.. math:: \min_{w, b}\ \sum_i \omega_i f_i(x_i^\top w + b) + \lambda_1 \|w\|_1 + \tfrac12 \lambda_2 \|w\|^2 .

Near a place the loss is its quadratic model, with the pull :math:`\theta` and the curvature :math:`h` of every row
(:mod:`qed.optim.sparse.scored`): sparse least squares whose rows weigh :math:`h_i`. That is solved exactly, on the Gram matrix
:math:`X_W^\top \operatorname{diag}(h)\, X_W` of the working set (:mod:`qed.optim.sparse.quadratic`), and a search along the way to its
solution, on the true objective, makes sure that it falls (*proximal Newton*). Which columns belong to the working set is known
from :math:`X^\top\theta` as in least squares, with the same screening and the same duality gap (:mod:`qed.optim.sparse.working_set`).

The Gram matrix is what costs, :math:`O(n|W|^2)`. As long as steps with that of an earlier place make the gap ten times smaller, it is
kept, with its triangular factor: near the solution, and from one penalty of a path to the next, a step costs :math:`O(n|W|)`.

Lee, Sun and Saunders (2014), Proximal Newton-type methods for minimizing composite functions; Massias et al. (2020), Dual
extrapolation for sparse generalized linear models.
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
# A step that leaves more of the gap than this is worth a new Gram matrix; a quadratic is solved to this share of the gap.
SLOW, INNER = 0.1, 0.01
NONE = np.empty(0)


class NewtonSet(WorkingSet):
    """A sparse problem with a smooth loss on columns in memory, for one penalty after another.

    The columns have no weights, and are centred where there is a constant.
    """

    def __init__(self, columns: Columns, fit: ScoredLoss) -> None:
        self.fit, self._curvature = fit, NONE
        self.here = fit.beginning()
        super().__init__(columns, self.here.pull, self.here.constant)

    def _solve(self, penalty: L1L2, goal: float, *, newton: bool, exact: bool) -> None:
        before, idle = np.inf, False
        for _ in range(MOST_STEPS):
            objective, gap = self._gap(penalty, NONE)
            if gap <= goal * objective or (idle and gap > 0.5 * before):
                return
            fresh = len(self._curvature) == 0 or gap > SLOW * before
            if fresh:
                self._curvature = self.fit.curvature(self.here)
            self._model(fresh)
            fell = self._step(penalty, INNER * gap, newton)
            # The model of an earlier place may lead nowhere where that of this place does not, and the gap may still fall by it.
            before, idle = gap, fresh and fell <= self.here.noise

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
        start = self._problem.coef.copy()
        self._problem.solve(penalty, goal / max(self._problem.gap(penalty)[0], goal), newton=newton)
        way = self._problem.coef - start
        found = self._search(penalty, start, way) if way.any() else None
        step, here = found or (0.0, self.here)
        fell = self.here.value + penalty.value(start)
        if step != 1.0:
            self._problem.begin_at(start + step * way)
        self._arrive(here)
        return fell - self.here.value - penalty.value(self._problem.coef)

    def _search(self, penalty: L1L2, start: np.ndarray, way: np.ndarray) -> tuple[float, Scored] | None:
        """Find how far to go, at most to the end, and what is there."""
        ahead, shift, here = np.zeros(len(self.target)), 0.0, self.here
        self._chosen.subtract(ahead, -way)
        if self.fit.intercept:
            shift = -float(self._curvature @ ahead) / float(self._curvature.sum())
            ahead += shift

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
