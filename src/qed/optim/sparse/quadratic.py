r"""A quadratic with a penalty that makes coefficients zero, solved exactly, for one penalty after another.

.. math:: \min_w\ \tfrac12 \|y - Xw\|^2 + \lambda_1 \|w\|_1 + \tfrac12 \lambda_2 \|w\|^2,

known by :math:`G = X^\top X`, :math:`q = X^\top y` and :math:`y^\top y` alone. Far from the minimum, sweeps of coordinate descent find out
about which coefficients are not zero; near it, Newton steps on the support (:mod:`qed.optim.sparse.support`) end the matter, and the
duality gap says so. The object keeps coefficients, slope and factor, so the next penalty of a path begins where the last one
ended and costs :math:`O(k\,|S|)` and :math:`O(|S|^2)` for every column that enters or leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace

import numpy as np

from qed.base.compile import interpreted
from qed.base.numbers import EPS, any_of, largest
from qed.linalg.cholesky import factor_in_place
from qed.optim.functions.penalties import L1L2
from qed.optim.sparse.curvature import curvature_gap
from qed.optim.sparse.support import backward, forward, let_in, settle
from qed.optim.sparse.sweeps import descend, penalty_gap, subtract_rows

# Sweeps before Newton steps, and when so many columns wait outside, relative to those inside, that it pays to sweep first.
SWEEPS, FAR = 20, 0.25
MOST_SWEEPS = 100_000
HARDLY = 0.01
# Correlations may exceed the penalty by this share of it; Newton steps reach it easily.
MARGIN = 1e-9
# Up to so many columns the kernels run as plain Python: milliseconds for each solution, and none of the seconds that compiling takes.
FEW_COLUMNS = 16


@cache
def _kernels(few: bool) -> SimpleNamespace:
    """Give the kernels, compiled or, for few columns, as plain Python."""
    used = (backward, descend, forward, let_in, settle, subtract_rows)
    return SimpleNamespace(**{one.__name__: interpreted(one) if few else one for one in used})


class SparseQuadratic:
    """The problem, and where its solution stands.

    It is given by ``X'X`` (C-contiguous and perhaps larger; not copied), ``X'y`` and ``y'y``.

    >>> problem = SparseQuadratic(np.eye(2), np.array([3.0, 0.5]), 9.25)
    >>> objective, gap = problem.solve(L1L2(1.0, 0.0), tol=1e-9)
    >>> problem.coef, objective, gap
    (array([2., 0.]), 2.625, 0.0)
    """

    def __init__(self, gram: np.ndarray, right: np.ndarray, square: float) -> None:
        self.gram = gram
        self.right = np.array(right, dtype=np.float64)
        self.square = float(square)
        self.reach: float | None = None
        self.coef = np.zeros(len(right))
        self.slope = self.right.copy()
        self.sign = np.zeros(len(right))
        self._work = np.zeros((3, len(right)))
        self._factor = np.zeros((min(64, len(right)), min(64, len(right))))
        self._order = np.zeros(len(self._factor), dtype=np.int64)
        self._size = 0
        self._l2: float | None = 0.0
        self._run = _kernels(few=0 < len(right) <= FEW_COLUMNS)

    def grow(self, gram: np.ndarray, right: np.ndarray, slope: np.ndarray) -> None:
        """Take in more columns, with coefficients of zero.

        The Gram matrix is that of the old columns and the new; `right` and `slope` are those of the new.
        """
        none = np.zeros(len(right))
        self._run = _kernels(few=False)
        self.gram, self.right = gram, np.concatenate([self.right, right])
        self.slope = np.concatenate([self.slope, slope])
        self.coef, self.sign = np.concatenate([self.coef, none]), np.concatenate([self.sign, none])
        self._work = np.zeros((3, len(self.coef)))

    def keep(self, kept: np.ndarray, gram: np.ndarray) -> None:
        """Go on with some of the columns only, whose Gram matrix is `gram`; the others have coefficients of zero."""
        place = np.full(len(self.coef), -1)
        place[kept] = np.arange(len(kept))
        self._order[: self._size] = place[self._order[: self._size]]
        self.right, self.slope, self.coef, self.sign = (
            values[kept] for values in (self.right, self.slope, self.coef, self.sign)
        )
        self.gram = gram

    def begin_at(self, coef: np.ndarray) -> None:
        """Go on from other coefficients."""
        self.coef[:] = coef
        self.slope[:] = self.right
        self._run.subtract_rows(self.slope, self.gram, self.coef)
        self._l2 = None

    def model_anew(self, slope: np.ndarray, rest: float, reach: float, gram: np.ndarray | None = None) -> None:
        """Go on, from the same coefficients, with another quadratic.

        It has this slope (minus its gradient) and residual sum of squares at the coefficients; `reach` is how large the
        numbers are whose sum is a slope, since what rounding can do to it is a share of that.
        """
        if gram is not None:
            self.gram, self._l2 = gram, None
        self.slope[:] = slope
        self.right = slope.copy()
        self._run.subtract_rows(self.right, self.gram, -self.coef)
        self.square, self.reach = rest + float(self.coef @ (self.right + self.slope)), reach

    @property
    def rest(self) -> float:
        """The residual sum of squares."""
        return max(self.square - float(self.coef @ (self.right + self.slope)), 0.0)

    def gap(self, penalty: L1L2) -> tuple[float, float]:
        """Give the objective, and a bound on how far it is above its minimum."""
        rest = self.rest
        value, part, scale = penalty_gap(self.slope, self.coef, penalty.l1, penalty.l2, penalty.positive, 0.0, 0.0)
        return 0.5 * rest + value, part + 0.5 * (1.0 - scale) ** 2 * rest

    def _gap_by_curvature(self, penalty: L1L2) -> float:
        """Bound how far the objective is above its minimum where the penalty is too small beside rounding for a dual point."""
        p = len(self.coef)
        slope = penalty.kkt_distance(self.coef, -self.slope)
        return curvature_gap(self.gram[:p, :p], np.zeros(p), penalty.l2, slope)

    def direction(self) -> np.ndarray:
        """Give how the coefficients of a solution change as `l1` falls, per unit: along this line until the support changes."""
        order = self._order[: self._size]
        move = self.sign[order].copy()
        self._run.forward(self._factor, self._size, move)
        self._run.backward(self._factor, self._size, move)
        way = np.zeros(len(self.coef))
        way[order] = move
        return way

    def sweep(self, penalty: L1L2, sweeps: int = 1, enough: float = 0.0) -> int:
        """Make sweeps of coordinate descent, and nothing else."""
        self._l2 = None
        given = (penalty.l1, penalty.l2, penalty.positive)
        return int(self._run.descend(self.gram, self.slope, self.coef, *given, sweeps, enough))

    def rounds(self, penalty: L1L2, tol: float, *, newton: bool = True) -> Iterator[tuple[float, float]]:
        """Solve for a penalty, round by round: whole solutions, or without Newton steps a sweep at a time.

        Yields the objective, and a bound on how far it is above its minimum. Whole solutions end when they no longer
        get better.
        """
        before = np.inf
        while True:
            if newton:
                objective, gap = self.solve(penalty, 0.1 * tol)
                if gap > tol * objective:
                    gap = min(gap, self._gap_by_curvature(penalty))
            else:
                # Afresh from the coefficients, so that a run that is taken up again does the same to the last bit.
                self.begin_at(self.coef)
                self.sweep(penalty)
                objective, gap = self.gap(penalty)
            yield objective, gap
            if newton and gap > 0.5 * before:
                return
            before = gap

    def solve(
        self, penalty: L1L2, tol: float, *, newton: bool = True, exact: bool = True, rounds: int = 20
    ) -> tuple[float, float]:
        """Solve for a penalty, from where the last solution was.

        Gives the objective, and a bound on how far it is above its minimum; `tol` of the objective is enough. Solutions
        that are `exact` end with Newton steps even where sweeps got there; one round of both is nearly always enough.
        """
        if not newton:
            return self._sweep_until(penalty, tol)
        if self._size == 0 and not any_of(self.coef):
            self._l2 = penalty.l2  # what is empty is the factor of any penalty
        if self._l2 != penalty.l2 or self._is_far(penalty):
            # Newton steps find the rest: sweeps may end when they hardly gain anything any more.
            self.sweep(penalty, SWEEPS, HARDLY * tol * self.rest / max(1, len(self.coef)))
            objective, gap = self.gap(penalty)
            if not exact and gap <= tol * objective:
                return objective, gap
        before = np.inf
        for _ in range(rounds):
            self._newton(penalty)
            objective, gap = self.gap(penalty)
            if gap <= tol * objective or gap > 0.5 * before:
                break
            before = gap
            self.sweep(penalty, SWEEPS)
        return objective, gap

    def _sweep_until(self, penalty: L1L2, tol: float) -> tuple[float, float]:
        self._run = _kernels(few=False)  # there may be many thousands of sweeps
        objective, gap = self.gap(penalty)
        for _ in range(MOST_SWEEPS // SWEEPS):
            if gap <= tol * objective or self.sweep(penalty, SWEEPS, EPS**2 * self.square) < SWEEPS:
                break
            objective, gap = self.gap(penalty)
        return objective, gap

    def _is_far(self, penalty: L1L2) -> bool:
        """Say whether so many columns want to come in that it is better to sweep first."""
        pull = self.slope if penalty.positive else np.abs(self.slope)
        return bool(np.count_nonzero((pull > penalty.l1) & (self.sign == 0)) > 16 + FAR * self._size)

    def _newton(self, penalty: L1L2) -> None:
        """Go on to the exact minimum, with more room for the factor when it runs out."""
        if self._l2 != penalty.l2:
            self._factorise(penalty.l2)
        given = (penalty.l1, penalty.l2, penalty.positive)
        reach = self.reach
        if reach is None:
            longest = largest(np.einsum("ii->i", self.gram)[: len(self.coef)], 0.0)
            reach = np.sqrt(longest * self.square)
        margin = MARGIN * penalty.l1 + 16 * EPS * reach
        while True:
            room = len(self._factor)
            self._size = self._run.settle(
                self.gram, self.slope, self.coef, *given,
                self._factor, self._order, self._size, self.sign, margin, 100, self._work,
            )  # fmt: skip
            if self._size < room or room >= len(self.coef):
                return
            self._make_room(max(64, 2 * room))

    def _make_room(self, size: int) -> None:
        size = min(size, len(self.coef))
        old, known = self._factor, self._order
        self._factor, self._order = np.zeros((size, size)), np.zeros(size, dtype=np.int64)
        self._factor[: len(old), : len(old)] = old
        self._order[: len(known)] = known

    def _factorise(self, l2: float) -> None:
        """Factorise the support from scratch."""
        support = np.flatnonzero(self.coef)
        if len(support) >= len(self._factor):
            self._make_room(2 * len(support))
        self._l2 = l2
        if self._factorise_at_once(support, l2):
            return
        before = self.coef.copy()
        self.sign[:], self._size = 0.0, 0
        for j in support:
            self.sign[j] = np.sign(self.coef[j])
            self._size = self._run.let_in(
                self.gram, self.coef, l2, self._factor, self._order, self._size, self.sign, j, self._work[0]
            )
        if (before != self.coef).any():
            self.slope[:] = self.right
            self._run.subtract_rows(self.slope, self.gram, self.coef)

    def _factorise_at_once(self, support: np.ndarray, l2: float) -> bool:
        """Do so where no column follows from others."""
        part = self.gram[support[:, None], support]
        length = part.diagonal() + l2
        part.ravel()[:: len(part) + 1] = length
        # The lower half of a symmetric matrix that is read by columns is the upper one of its rows; what is below it means nothing.
        if not factor_in_place(part.T) or (part.diagonal() ** 2 <= 1e-12 * length).any():
            return False
        size = self._size = len(support)
        self._factor[:size, :size] = part
        self._order[:size] = support
        self.sign[:] = np.sign(self.coef)
        return True
