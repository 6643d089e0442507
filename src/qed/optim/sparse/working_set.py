r"""Sparse least squares with very many columns: a small problem that grows until it has solved the large one.

.. math:: \min_w\ \tfrac12 \|y - Xw\|^2 + \lambda_1 \|w\|_1 + \tfrac12 \lambda_2 \|w\|^2 .

Few coefficients are not zero, so the problem is solved on a *working set* of columns, exactly, on their Gram matrix
(:mod:`qed.optim.sparse.quadratic`). Its residual :math:`r` says which columns outside are still missing: those with
:math:`|x_j^\top r| > \lambda_1`. When there are none, the small solution is the large one; the duality gap with all columns proves it.

Most columns need not be looked at for that. With the products :math:`x_j^\top r_0` for an earlier residual in hand,

.. math:: |x_j^\top r| \le |t|\, |x_j^\top r_0| + \|x_j\|\, \|r - t r_0\| \qquad \text{for every } t,

so a column for which the right side is below :math:`\lambda_1` is *safe*: it is proven to be outside without being read. Along a path
of penalties the residual changes little from one to the next, and nearly all columns are safe. Which columns the next penalty will
need is guessed by the strong rule, :math:`|x_j^\top r| \ge 2\lambda_1^{\text{next}} - \lambda_1`, and checked in the same way.

None of this asks for squares: for another loss :math:`r` is minus its gradient in the predictions, and the small problem is solved by
one quadratic after another (:mod:`qed.optim.sparse.newton_set`). Here the quadratic is the problem itself, and one is enough.

Fercoq, Gramfort and Salmon (2015), Mind the duality gap: safer rules for the lasso. Tibshirani et al. (2012), Strong rules for
discarding predictors in lasso-type problems. Massias, Gramfort and Salmon (2018), Celer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from qed.base.numbers import EPS
from qed.optim.functions.penalties import L1L2
from qed.optim.sparse.columns import Columns
from qed.optim.sparse.quadratic import MARGIN, SparseQuadratic
from qed.optim.sparse.sweeps import penalty_gap

# How many columns a working set begins with; columns without use that are kept for later; and how much smaller than the gap of the
# whole problem that of the small one has to become, while columns are missing.
FIRST, SPARE, ROUGH = 64, 512, 0.1
# The missing columns are few when they are less than one in so many of those that are there.
FEW = 8


class Correlations:
    """Products of columns with a residual that changes, worked out for those columns only that may matter."""

    def __init__(self, columns: Columns, residual: np.ndarray) -> None:
        self._columns = columns
        self._refer_to(residual)

    def _refer_to(self, residual: np.ndarray) -> np.ndarray:
        self._reference = residual.copy()
        self._square = float(residual @ residual)
        self.known = self._columns.correlate(residual)
        return self.known

    def reaching(self, residual: np.ndarray, limit: float) -> tuple[np.ndarray, np.ndarray]:
        """Give the columns whose product with `residual` may reach `limit` in size, and their products; no other does."""
        if np.array_equal(residual, self._reference):
            places = np.flatnonzero(np.abs(self.known) >= limit)
            return places, self.known[places]
        share = float(residual @ self._reference) / self._square if self._square > 0 else 0.0
        away = residual - share * self._reference
        # Rounding of the two products and of the difference is a few units in the last place of the larger vector.
        slack = np.sqrt(away @ away) + 32 * EPS * np.sqrt(residual @ residual + self._square)
        bound = abs(share) * np.abs(self.known) + slack * self._columns.length
        places = np.flatnonzero(bound >= limit)
        if 3 * len(places) > len(bound):
            known = self._refer_to(residual)
            places = np.flatnonzero(np.abs(known) >= limit)
            return places, known[places]
        return places, self._columns.correlate(residual, places)


class WorkingSet:
    """Sparse least squares on columns in memory, for one penalty after another.

    Columns and target are centred and weighted alike; `constant` is what was taken away from the target. The columns of
    the working set are the `members`, and `iterations` says how many quadratics were solved.
    """

    def __init__(self, columns: Columns, target: np.ndarray, constant: float = 0.0) -> None:
        self.columns, self.target, self.constant, self.iterations = columns, target, constant, 0
        self.residual = target.copy()
        self.members = np.empty(0, dtype=np.int64)
        self._correlations = Correlations(columns, target)
        self.right = self._correlations.known
        self._is_member = np.zeros(len(self.right), dtype=bool)
        self._chosen = columns.chosen()
        self._gram = np.zeros((0, 0))
        self._problem = SparseQuadratic(self._gram, np.empty(0), float(target @ target))
        self._last = np.inf

    @property
    def coef(self) -> np.ndarray:
        """The coefficients of all columns."""
        full = np.zeros(len(self.right))
        full[self.members] = self._problem.coef
        return full

    @property
    def intercept(self) -> float:
        """The constant of the prediction from columns as they came."""
        return self.constant - float(self.columns.center[self.members] @ self._problem.coef)

    def direction(self) -> np.ndarray:
        """Give how the coefficients of a solution change as `l1` falls, per unit, until the support changes."""
        full = np.zeros(len(self.right))
        full[self.members] = self._problem.direction()
        return full

    def begin_at(self, coef: np.ndarray) -> None:
        """Go on from other coefficients."""
        support = np.flatnonzero(coef)
        self._admit(support, self.columns.correlate(self.residual, support))
        self._problem.begin_at(coef[self.members])
        self._update_residual()

    def rounds(self, penalty: L1L2, tol: float, *, newton: bool = True) -> Iterator[tuple[float, float]]:
        """Solve for a penalty, from where the last solution was, with a larger working set in every round.

        Yields the objective, and a bound on how far it is above its minimum, all columns considered. The last round is
        the one after which no column is missing.
        """
        likely = 2 * penalty.l1 - self._last if self._last < 2 * penalty.l1 else penalty.l1
        places, values = self._missing(min(likely, penalty.l1), penalty.positive)
        self._shrink(likely)
        goal = ROUGH if len(places) > max(FIRST, len(self.members)) else 0.1 * tol
        while True:
            self._admit_some(places, values)
            self._solve(penalty, goal, newton=newton, exact=goal <= tol)
            self._last = penalty.l1
            places, values = self._missing(penalty.l1, penalty.positive)
            over = np.abs(values) - penalty.l1
            objective, gap = self._gap(penalty, over)
            done = goal <= tol and over.max(initial=0.0) <= self._margin(penalty.l1)
            if done or gap > tol * objective:
                yield objective, gap
            if done:
                return
            # Where few columns are missing, the last solution is near: the next one may as well be exact.
            near = FEW * len(places) <= len(self.members)
            goal = 0.1 * tol if near else max(0.1 * tol, min(ROUGH * gap / objective if objective > 0 else 0.0, goal))

    def _solve(self, penalty: L1L2, goal: float, *, newton: bool, exact: bool) -> None:
        """Solve on the working set, until the gap there is `goal`, relative to the objective."""
        self.iterations += 1
        self._problem.solve(penalty, goal, newton=newton, exact=exact)
        self._update_residual()

    def _margin(self, l1: float) -> float:
        return 100 * MARGIN * l1 + 64 * EPS * self._reach

    @cached_property
    def _reach(self) -> float:
        """How large the numbers are whose sum is a correlation."""
        return float(self.columns.length.max(initial=0.0) * np.linalg.norm(self.target))

    def _missing(self, limit: float, positive: bool) -> tuple[np.ndarray, np.ndarray]:
        """Give the columns outside the working set whose correlation reaches `limit`, and their correlations."""
        places, values = self._correlations.reaching(self.residual, limit)
        wanted = ~self._is_member[places] & ((values if positive else np.abs(values)) >= limit)
        return places[wanted], values[wanted]

    def _gap(self, penalty: L1L2, over: np.ndarray) -> tuple[float, float]:
        value, part, scale = self._penalty_gap(penalty, over)
        rest = float(self.residual @ self.residual)
        return 0.5 * rest + value, part + 0.5 * (1.0 - scale) ** 2 * rest

    def _penalty_gap(self, penalty: L1L2, over: np.ndarray) -> tuple[float, float, float]:
        """Give the penalty, its part of the gap, and the scaling of the dual point; `over` is by how much columns outside exceed `l1`."""
        given = (self._problem.slope, self._problem.coef, penalty.l1, penalty.l2, penalty.positive)
        return penalty_gap(*given, penalty.l1 + float(over.max(initial=0.0)), float(over @ over))

    def _update_residual(self) -> None:
        self.residual = self.target.copy()
        self._chosen.subtract(self.residual, self._problem.coef)

    def _admit_some(self, places: np.ndarray, values: np.ndarray) -> None:
        """Take in the columns with the largest correlations: at most twice as many as there are coefficients already."""
        most = max(FIRST, 2 * int(np.count_nonzero(self._problem.coef)))
        if len(places) > most:
            best = np.sort(np.argpartition(-np.abs(values), most)[:most])
            places, values = places[best], values[best]
        self._admit(places, values)

    def _admit(self, places: np.ndarray, values: np.ndarray) -> None:
        """Take columns into the working set, which have these correlations with the residual."""
        new = ~self._is_member[places]
        places, values = places[new], values[new]
        if len(places) == 0:
            return
        first, last = len(self.members), len(self.members) + len(places)
        if last > len(self._gram):
            larger = np.zeros((last + last // 2, last + last // 2))
            larger[:first, :first] = self._gram[:first, :first]
            self._gram = larger
        self._chosen.add(places, self._gram[:last, first:last])
        self._gram[first:last, :first] = self._gram[:first, first:last].T
        self.members = np.concatenate([self.members, places])
        self._is_member[places] = True
        self._problem.grow(self._gram, self.right[places], values)

    def _shrink(self, limit: float) -> None:
        """Let go of columns that have been of no use for long, when there are many of them."""
        useful = (self._problem.coef != 0) | (np.abs(self._problem.slope) >= limit)
        kept = np.flatnonzero(useful)
        if len(useful) <= 2 * len(kept) + SPARE:
            return
        self._is_member[self.members[~useful]] = False
        self.members = self.members[kept]
        self._chosen.keep(kept)
        self._gram = self._gram[np.ix_(kept, kept)]
        self._problem.keep(kept, self._gram)
