r"""Newton's direction for a robust plane, and a bound for what its equations miss.

Planes are written about the centre of the rows, :math:`x_i^\top w + b = (x_i - \bar x)^\top w + b'`, so that a large mean costs
no digits. Two things are done with equations there.

*A direction.* The Hessian is the Gram matrix of the rows inside; where those are too few to hold a plane, a faint copy of all
rows is added.

*A bound.* The equations of a minimum say that some :math:`e = \sum_i s_i u_i (x_i - \bar x, 1)` vanishes. Let it miss. With
:math:`q = G^{-1} e` and the Gram matrix :math:`G` of all rows, :math:`\eta_i = (x_i - \bar x, 1)^\top q` makes up for it:
:math:`\sum_i s_i (u_i - \eta_i)(x_i - \bar x, 1) = 0`. So for another plane at a distance :math:`\Delta`

.. math:: e^\top \Delta = \sum_i s_i \eta_i (x_i - \bar x, 1)^\top \Delta \le \max_i |\eta_i| \; \sum_i s_i |r_i - r_i^\Delta| ,

where the sum is at most that of both planes' absolute residuals. This is how a proof accounts for what rounding, or an early
end, leaves of an equation. The maximum is bounded by the columns' ranges.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.models.checks import overflowed
from qed.base.models.problem import RowsProblem, collect
from qed.base.numbers import EPS, largest
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.linalg.cholesky import Cholesky
from qed.linalg.normal import equilibrate, shortest, solve
from qed.linalg.root import inverted
from qed.regression.robust.columns import COARSE, Columns, Plane
from qed.regression.robust.sums import HuberSums
from qed.stats.kept import KeptRows
from qed.stats.moments import Moments
from qed.stats.products import present_rows

# The weight of the faint copy of all rows, relative to that of the rows inside; more where columns are nearly dependent.
FAINT = 1e-10
# Combinations of columns whose share of the squares is smaller can not be told from zero by sums of products.
DEPENDENT = 1e-13
FEW = 8.0
# So many sparse columns are multiplied out at once, and only where a direction is wanted: adding up matrices would take the longest.
MANY_COLUMNS = 128
# So often what rounding leaves of equations is solved for again, at most: it becomes smaller by some digits each time.
TURNS = 40
# A turn that adds less than this share says nothing new.
NO_MORE = 1e-9
STRIP = 64


@dataclass(frozen=True)
class Direction:
    """A direction: of the plane in the rows' own columns, and in those of the frame; and of the scale."""

    plane: Plane
    inner: Plane
    scale: float = 0.0


class Design(RowsProblem):
    """The rows of a robust fit, and what is known of them as a whole."""

    def __init__(self, rows: Rows, model: Any, *, intercept: bool, alpha: float = 0.0) -> None:
        super().__init__(rows, model)
        self.at_once = rows.is_sparse and rows.in_memory and rows.n_features >= MANY_COLUMNS
        total, summary = self._moments(model), self.summary
        self.intercept = intercept
        # Of the rows' own columns: the largest size of their values; and about how much the penalty adds to their squares.
        self.largest = np.maximum(np.abs(summary.high), np.abs(summary.low))
        self.ridge = alpha * float(np.sqrt(total.scatter[-1, -1] / total.weight))
        # From here on in the k columns that gradients and Hessians are written in.
        self.columns = columns = Columns.of(rows, total, self.largest, self.ridge, intercept=intercept)
        if columns.mix is not None:
            total, summary = (columns.view(rows).fold(statistic) for statistic in (Moments.of, Summary.of))
        self.total: Moments = total
        # What directions are written about, and how far from there values are at most.
        self.centre = centre = total.x_mean if intercept else np.zeros(total.n_features)
        self.reach = np.maximum(summary.high - centre, centre - summary.low)
        # Products of the centred columns and the constant, and the same with the penalty counted in.
        self.gram = _gram(total, centre, intercept)[:-1, :-1]
        self.damped = self.gram.copy()
        columns.add_metric(self.damped, self.ridge)
        self.factor = Cholesky.of(self.damped)
        if self.factor is not None and self.factor.least < COARSE:
            self.factor = None
        # How near to dependent columns are: the least eigenvalue of their correlations, one if they are orthogonal.
        self.least = _orthonormal(self.damped)[1] if self.factor is None else inverted(self.factor.lower, 1e3)[0] ** -2

    @cached_property
    def basis(self) -> np.ndarray:
        """Combinations of the columns, of shape (k + 1, rank), that are orthonormal with the penalty counted in."""
        return _orthonormal(self.damped)[0]

    def _moments(self, model: Any) -> Moments:
        """Take the moments of all rows."""
        if not self.at_once:
            found: Moments = collect(self.rows, model, Moments.of)
            return found
        found = KeptRows.of(self.rows.array(), copy=False).moments()
        if not found.is_finite:
            raise overflowed(model)
        return found

    def at(self, plane: Plane, delta: float, *, curved: bool = True) -> HuberSums:
        """Fold the sums at a plane, with residuals cut off at `delta`; those of the rows inside where a direction will be wanted."""
        found: HuberSums = self.rows.fold(HuberSums.of, plane, delta, self.columns, curved and not self.at_once)
        return found

    def inside(self, sums: HuberSums, plane: Plane, delta: float) -> Moments:
        """Give the moments of the rows inside: the sums have them, unless many sparse columns are multiplied out at once."""
        if sums.inside is not None:
            return sums.inside
        X, Y, weight = present_rows(self.rows.array(), target=True)
        residual = Y[:, 0] - np.asarray(X @ plane.coef, dtype=np.float64) - plane.intercept
        near = np.abs(residual) <= delta
        some = Block(X[near], residual[near], None if weight is None else weight[near])
        return KeptRows.of(some, copy=False).moments()

    def nearest(self, seen: Moments, ridge: float = 0.0) -> Plane:
        """Give the plane, or the way to it, with the least sum of squares to the rows of some moments, plus ``ridge |w|^2``."""
        k = seen.n_features
        scatter = seen.scatter if self.intercept else seen.uncentered()
        if seen is self.total and ridge == self.ridge and self.factor is not None:
            coef = self.factor.solve(np.append(scatter[:k, k], 0.0)[:, None])[:k, 0]
            return self._plane(coef, seen)
        matrix = scatter[:k, :k].copy()
        self.columns.add_metric(matrix, ridge)
        return self._plane(solve(matrix, scatter[:k, k:]).coef[:, 0], seen)

    def _plane(self, coef: np.ndarray, seen: Moments) -> Plane:
        return self.columns.outward(Plane(coef, float(seen.y_mean[0] - seen.x_mean @ coef) if self.intercept else 0.0))

    def deviation(self, plane: Plane) -> float:
        """Give the mean size of the residuals of a plane."""
        return self.at(plane, 0.0, curved=False).absolute / self.total.weight

    def direction(
        self,
        inside: Moments,
        pull: np.ndarray,
        level: float,
        ridge: float = 0.0,
        scale: tuple[float, float, float] | None = None,
    ) -> Direction:
        """Give Newton's direction: solve the equations whose right-hand sides are `pull` and `level`.

        The right-hand sides are for columns that are not centred; `ridge` is the weight of the squared length of the
        rows' own coefficients. Where the scale is unknown too, it is given with its right-hand side and the least that
        it may become.
        """
        k = len(self.centre)
        matrix = _gram(inside, self.centre, self.intercept)
        self.columns.add_metric(matrix, ridge)
        unit = 1.0 if scale is None else 1.0 / scale[0]
        matrix[:, k + 1] *= unit
        matrix[k + 1] *= unit
        right = np.append(pull - self.centre * level, level if self.intercept else 0.0)
        share = max(inside.weight / self.total.weight, 1.0 / max(self.total.count, 1))
        faint = max(FAINT, EPS / self.least) * share
        matrix[k + 1, k + 1] += faint * self.total.weight
        if self.factor is None:
            found, wider = self._in_basis(matrix, right, faint, scale)
        else:
            matrix[: k + 1, : k + 1] += faint * self.damped
            found, wider = _with_scale(matrix, right, scale)
        inner = Plane(found[:k], float(found[k] - self.centre @ found[:k]) if self.intercept else 0.0)
        return Direction(self.columns.outward(inner), inner, wider)

    def _in_basis(
        self, matrix: np.ndarray, right: np.ndarray, faint: float, scale: tuple[float, float, float] | None
    ) -> tuple[np.ndarray, float]:
        """Solve Newton's equations for combinations of columns that are orthonormal, because the columns depend on each other."""
        rank = self.basis.shape[1]
        both = np.zeros((len(matrix), rank + 1))
        both[:-1, :rank], both[-1, rank] = self.basis, 1.0
        matrix = both.T @ matrix @ both
        matrix[np.arange(rank), np.arange(rank)] += faint
        found, wider = _with_scale(matrix, self.basis.T @ right, scale)
        return self.basis @ found, wider

    def imbalance(self, miss: np.ndarray, level: float) -> tuple[float, np.ndarray]:
        """Bound ``max |eta|`` for what equations miss; give also the part of `miss` that eta does not make up for.

        The equations are those of the (centred) coefficients and of the constant. What rounding and the penalty leave is made up for in
        turn, as long as that becomes less and eta more; whenever it ends, the bound holds.
        """
        p, left, size = len(miss), miss, math.inf
        eta, right = abs(level) / self.total.weight if self.intercept else 0.0, np.zeros((len(miss) + 1, 1))
        for _ in range(TURNS):
            if self.factor is None:
                weights = self.basis[:p] @ (self.basis[:p].T @ left)
            else:
                right[:p, 0] = left
                weights = self.factor.solve(right)[:p, 0]
            rest = left - self.gram[:p, :p] @ weights
            remains, more = largest(np.abs(rest), 0.0), float(self.reach @ np.abs(weights))
            if size < math.inf and not remains < 0.5 * size:
                break
            eta, left, size = eta + more, rest, remains
            if more <= NO_MORE * eta:
                break
        return eta, left

    def rounding(self, plane: Plane, target: float) -> tuple[float, float]:
        """Say how large the numbers are that residuals are differences of, summed over the rows; and how coarse equations are."""
        numbers = target + self.total.weight * float(self.largest @ np.abs(plane.coef) + abs(plane.intercept))
        return EPS * numbers, self._coarseness

    @cached_property
    def _coarseness(self) -> float:
        spread = np.sqrt(np.maximum(np.diagonal(self.gram)[:-1], 0.0) / self.total.weight)
        seen = spread > EPS * np.abs(self.centre)
        offset = float((np.abs(self.centre[seen]) / spread[seen]).max(initial=1.0))
        return EPS * (offset + 1.0 / self.least)

    def slope(self, pull: np.ndarray, level: float, way: Direction) -> float:
        """Give the product of a pull on a plane with a way that it goes."""
        coef = way.inner.coef
        return float((pull - self.centre * level) @ coef + level * (way.inner.intercept + self.centre @ coef))

    def trial(self, way: Direction, size: float) -> float:
        """Give the step, at most one, that changes residuals by a few times `size`, their mean size."""
        change = np.append(way.inner.coef, way.inner.intercept + self.centre @ way.inner.coef)
        mean = float(np.sqrt(max(change @ self.gram @ change, 0.0) / self.total.weight))
        return 1.0 if mean <= FEW * size else FEW * size / mean


def _orthonormal(gram: np.ndarray) -> tuple[np.ndarray, float]:
    """Give combinations of columns that are orthonormal, and the least eigenvalue; what is dependent is left out."""
    scaled, length = equilibrate(gram)
    value, vector = np.linalg.eigh(scaled)
    kept = value > DEPENDENT * max(value[-1], EPS)
    basis = vector[:, kept] / np.sqrt(value[kept]) / length[:, None]
    return shortest(basis, vector[:, ~kept] / length[:, None]), float(value[kept].min(initial=1.0))


def _gram(moments: Moments, centre: np.ndarray, intercept: bool) -> np.ndarray:
    """Give the Gram matrix of centred features, constant and target, in this order; a one stands for a constant that is not there."""
    p = moments.n_features
    away = moments.mean.copy()
    away[:p] -= centre
    step = away * np.sqrt(moments.weight)
    matrix = np.zeros((p + 2, p + 2))
    for rows in (slice(start, min(start + STRIP, p)) for start in range(0, p, STRIP)):
        matrix[rows, :p] = moments.scatter[rows, :p]
        matrix[rows, :p] += np.multiply.outer(step[rows], step[:p])
    matrix[p + 1, :p] = matrix[:p, p + 1] = moments.scatter[p, :p] + step[p] * step[:p]
    matrix[p + 1, p + 1] = moments.scatter[p, p] + step[p] ** 2
    matrix[p, p] = 1.0
    if intercept:
        matrix[p, :p] = matrix[:p, p] = moments.weight * away[:p]
        matrix[p, p + 1] = matrix[p + 1, p] = moments.weight * away[p]
        matrix[p, p] = moments.weight
    return matrix


def _with_scale(
    matrix: np.ndarray, right: np.ndarray, scale: tuple[float, float, float] | None
) -> tuple[np.ndarray, float]:
    """Solve equations whose last unknown is the scale: together with it, or where it would become too small, or is known, without."""
    wider = 0.0
    if scale is not None:
        now, widen, least = scale
        found = solve(matrix, np.append(right, widen)[:, None]).coef[:, 0]
        wider = max(float(found[-1]), least - now)
        if wider <= found[-1]:
            return found[:-1], wider
    return solve(matrix[:-1, :-1], (right - wider * matrix[:-1, -1])[:, None]).coef[:, 0], wider
