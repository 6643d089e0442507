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

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.models.problem import RowsProblem, collect
from qed.base.numbers import EPS
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.linalg.normal import equilibrate, shortest, solve
from qed.regression.robust.columns import Columns, Plane
from qed.regression.robust.sums import HuberSums
from qed.stats.moments import Moments

# The weight of the faint copy of all rows, relative to that of the rows inside; more where columns are nearly dependent.
FAINT = 1e-10
# Combinations of columns whose share of the squares is smaller can not be told from zero by sums of products.
DEPENDENT = 1e-13
FEW = 8.0


@dataclass(frozen=True)
class Direction:
    """A direction: of the plane in the rows' own columns, and in those of the frame; and of the scale."""

    plane: Plane
    inner: Plane
    scale: float = 0.0


class Design(RowsProblem):
    """The rows of a robust fit, and what is known of them as a whole.

    Parameters
    ----------
    rows : Rows
        The rows.
    model : Estimator
        Who is fitted; named where squares overflow.
    intercept : bool
        Whether there is a constant.
    alpha : float
        The weight of the penalty.

    Attributes
    ----------
    columns : Columns
        The columns that gradients and Hessians are written in.
    total : Moments
        Of these columns and the target.
    centre : ndarray of shape (k,)
        What directions are written about: the mean, or zero when there is no intercept.
    gram : ndarray of shape (k + 1, k + 1)
        Of the centred columns and the constant.
    basis : ndarray of shape (k + 1, rank)
        Combinations of these that are orthonormal, with the penalty counted in.
    least : float
        How near to dependent the columns are: the least eigenvalue of their correlations, one if they are orthogonal.
    ridge : float
        About how much the penalty adds to the squares of a column.
    reach : ndarray of shape (k,)
        How far from the centre the values of a column are at most.
    largest : ndarray of shape (p,)
        The largest size of the values of each of the rows' own columns.
    """

    def __init__(self, rows: Rows, model: Any, *, intercept: bool, alpha: float = 0.0) -> None:
        super().__init__(rows, model)
        total, summary = collect(rows, model, Moments.of), self.summary
        self.intercept = intercept
        self.largest = np.maximum(np.abs(summary.high), np.abs(summary.low))
        self.ridge = alpha * float(np.sqrt(total.scatter[-1, -1] / total.weight))
        self.columns = columns = Columns.of(rows, total, self.largest, self.ridge, intercept=intercept)
        if columns.mix is not None:
            total, summary = (columns.view(rows).fold(statistic) for statistic in (Moments.of, Summary.of))
        self.total: Moments = total
        self.centre = centre = total.x_mean if intercept else np.zeros(total.n_features)
        self.reach = np.maximum(summary.high - centre, centre - summary.low)
        self.gram = _gram(total, centre, intercept)[:-1, :-1]
        damped = self.gram.copy()
        damped[:-1, :-1] += self.ridge * columns.metric()
        self.basis, self.least = _orthonormal(damped)

    def at(self, plane: Plane, delta: float) -> HuberSums:
        """Fold the sums at a plane, with residuals cut off at `delta`."""
        found: HuberSums = self.rows.fold(HuberSums.of, plane, delta, self.columns)
        return found

    def nearest(self, seen: Moments, ridge: float = 0.0) -> Plane:
        """Give the plane, or the way to it, with the least sum of squares to the rows of some moments, plus ``ridge |w|^2``."""
        k = seen.n_features
        scatter = seen.scatter if self.intercept else seen.uncentered()
        coef = solve(scatter[:k, :k] + ridge * self.columns.metric(), scatter[:k, k:]).coef[:, 0]
        return self.columns.outward(Plane(coef, float(seen.y_mean[0] - seen.x_mean @ coef) if self.intercept else 0.0))

    def deviation(self, plane: Plane) -> float:
        """Give the mean size of the residuals of a plane."""
        return self.at(plane, 0.0).absolute / self.total.weight

    def direction(
        self,
        inside: Moments,
        pull: np.ndarray,
        level: float,
        ridge: float = 0.0,
        scale: tuple[float, float, float] | None = None,
    ) -> Direction:
        """Give Newton's direction: solve the equations whose right-hand sides are `pull` and `level`.

        Parameters
        ----------
        inside : Moments
            Of features and residual.
        pull, level : ndarray of shape (k,), float
            Right-hand sides of coefficients and constant, for columns that are not centred.
        ridge : float
            The weight of the squared length of the rows' own coefficients.
        scale : (float, float, float), optional
            Where the scale is unknown too: the scale, its right-hand side, and the least that it may become.
        """
        k, rank = self.basis.shape[0] - 1, self.basis.shape[1]
        both = np.zeros((k + 2, rank + 1))
        both[: k + 1, :rank], both[k + 1, rank] = self.basis, 1.0 if scale is None else 1.0 / scale[0]
        matrix = _gram(inside, self.centre, self.intercept)
        matrix[:k, :k] += ridge * self.columns.metric()
        matrix = both.T @ matrix @ both
        share = max(inside.weight / self.total.weight, 1.0 / max(self.total.count, 1))
        size = np.append(np.ones(rank), self.total.weight)
        matrix[np.arange(rank + 1), np.arange(rank + 1)] += max(FAINT, EPS / self.least) * share * size
        right = self.basis.T @ np.append(pull - self.centre * level, level if self.intercept else 0.0)
        wider = 0.0
        if scale is not None:
            now, widen, least = scale
            found = solve(matrix, np.append(right, widen)[:, None]).coef[:, 0]
            wider = max(float(found[rank]), least - now)
        if scale is None or wider > found[rank]:
            found = solve(matrix[:rank, :rank], (right - wider * matrix[:rank, rank])[:, None]).coef[:, 0]
        found = self.basis @ found[:rank]
        inner = Plane(found[:k], float(found[k] - self.centre @ found[:k]) if self.intercept else 0.0)
        return Direction(self.columns.outward(inner), inner, wider)

    def imbalance(self, miss: np.ndarray, level: float) -> tuple[float, np.ndarray]:
        """Bound ``max |eta|`` for what equations miss; give also the part of `miss` that eta makes up for.

        Parameters
        ----------
        miss, level : ndarray of shape (p,), float
            By how much the equations of the (centred) coefficients and of the constant miss.
        """
        p = len(miss)
        slopes = self.basis[:p]
        weights = slopes @ (slopes.T @ miss)
        eta = self.reach @ np.abs(weights) + (abs(level) / self.total.weight if self.intercept else 0.0)
        return float(eta), self.gram[:p, :p] @ weights

    def rounding(self, plane: Plane, target: float) -> tuple[float, float]:
        """Say how large the numbers are that residuals are differences of, summed over the rows; and how coarse equations are."""
        numbers = target + self.total.weight * float(self.largest @ np.abs(plane.coef) + abs(plane.intercept))
        spread = np.sqrt(np.maximum(np.diagonal(self.gram)[:-1], 0.0) / self.total.weight)
        seen = spread > EPS * np.abs(self.centre)
        offset = float((np.abs(self.centre[seen]) / spread[seen]).max(initial=1.0))
        return EPS * numbers, EPS * (offset + 1.0 / self.least)

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
    away = moments.mean - np.append(centre, np.zeros(len(moments.mean) - p))
    about = moments.scatter + moments.weight * np.outer(away, away)
    matrix = np.zeros((p + 2, p + 2))
    kept = [*range(p), p + 1]
    matrix[np.ix_(kept, kept)] = about
    matrix[p, p] = 1.0
    if intercept:
        matrix[p, kept] = matrix[kept, p] = moments.weight * away
        matrix[p, p] = moments.weight
    return matrix
