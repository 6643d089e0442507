r"""The penalised likelihood of linear scores: its value and its derivatives at a place.

.. math:: F(\theta) = C \sum_i w_i\, \ell_i(\theta) + \tfrac12 \sum_j \lambda_j \theta_j^2

in coordinates in which all columns lie in :math:`[-1, 1]`. How it is minimised, and how far from the minimum a place can be at most, is
said in :mod:`qed.classification.logistic.smooth_likelihood`, and for sizes in :mod:`qed.classification.logistic.sparse_likelihood`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.classification.logistic.hessian_bound import UNIT
from qed.classification.logistic.secants import Secants
from qed.classification.logistic.sums import SmallSums, Sums, TwoClassSums
from qed.linalg.normal import solve
from qed.optim.functions.softmax import Curve, SoftmaxLoss, coding_of

# Up to this many times the price of a gradient the Hessian is formed and factorised; without a penalty, up to this many parameters.
FULL_PRICE = 1024
SPARSE_PRICE = 256
MOST_UNPENALISED = 4096
# Leads smaller than this share of the largest are taken to be zero when a separating hyperplane is looked for.
ON_THE_PLANE = 1e-7


@dataclass(frozen=True)
class Point:
    """A place, by the model's coefficients and in inner coordinates, with the objective and its derivatives."""

    coef: np.ndarray
    intercept: np.ndarray
    theta: np.ndarray
    objective: float
    gradient: np.ndarray
    curve: Curve

    @property
    def separated(self) -> np.ndarray | None:
        """Tell the classes apart by a hyperplane, if this place or the step to it is one; rows may lie on it.

        Gives the least lead of each class, as a share of the largest, or None where the classes overlap.
        """
        for low, high in zip(self.curve.low, self.curve.high):
            if high > 0 and (low >= -ON_THE_PLANE * high).all():
                return np.asarray(low / high)
        return None


class Newton:
    """The relative distance from the minimum that a point is proven to have at most, at most one; and the way on, if it is asked for.

    Parameters
    ----------
    gap : float
        The distance.
    find : callable
        Gives Newton's direction.
    secants : Secants, optional
        What earlier steps told about the curvature, where the direction rests on it.
    """

    def __init__(self, gap: float, find: Callable[[], np.ndarray], secants: Secants | None = None) -> None:
        self.gap, self._find, self._secants = gap, find, secants

    @cached_property
    def direction(self) -> np.ndarray:
        """Newton's direction."""
        return self._find()

    def learned(self, before: Point, after: Point) -> Secants | None:
        """Give what is known of the curvature after a step; None where steps do not rest on it."""
        if self._secants is None:
            return None
        return self._secants.with_pair(after.theta - before.theta, after.gradient - before.gradient)


class Likelihood(ABC):
    """The objective on some rows; where a method is of first order, curvature is worked out for proofs alone.

    Parameters
    ----------
    rows : Rows
        Their target holds class numbers.
    summary : Summary
        Of these rows, for the range of the columns.
    class_weight : ndarray of shape (K,)
        Factors of the rows' weights, by class.
    C : float
        The weight of the loss; infinite for no penalty.
    intercept : bool
        Whether there is a constant.
    centred : bool
        Whether columns may be shifted, which sparse ones may not.
    part : Rows, optional
        Some of the rows, whose curvature stands for that of all.
    tol : float
        A gap that is small enough.
    coding : ndarray, optional
        How scores follow from parameters; that of `coding_of` by default.
    """

    first_order = False

    def __init__(
        self,
        rows: Rows,
        summary: Summary,
        class_weight: np.ndarray,
        C: float,
        intercept: bool,
        centred: bool,
        part: Rows | None = None,
        tol: float = 1e-14,
        coding: np.ndarray | None = None,
    ) -> None:
        shift = np.zeros(len(summary.mean))
        if centred and intercept:
            # A column whose mean is small next to its spread loses no digits about zero.
            spread = np.sqrt(summary.deviation / np.maximum(summary.weight, 1e-300))
            away = np.where(np.abs(summary.mean) > 0.5 * spread, summary.mean, 0.0)
            shift = np.where(summary.high > summary.low, away, summary.low)
        width = np.maximum(np.abs(summary.high - shift), np.abs(summary.low - shift))
        # Powers of two, so that scaling rounds nothing.
        scale = np.where(width > 0, np.exp2(np.ceil(np.log2(np.maximum(width, 1e-150)))), 1.0)
        self.rows, self.summary, self.count, self.centred, self.part = rows, summary, summary.count, centred, part
        self.loss = SoftmaxLoss(
            coding_of(len(class_weight)) if coding is None else coding, shift, scale, intercept, class_weight
        )
        kinds: tuple[type[TwoClassSums | SmallSums], ...] = (TwoClassSums, SmallSums)
        kind = next((one for one in kinds if one.suits(rows, self.loss)), Sums)
        self.sums: Sums = kind(rows, self.loss)  # type: ignore[arg-type]
        self.penalised = np.isfinite(C)
        self.factor = float(C) if self.penalised else 1.0
        slopes = 1.0 / scale**2 if self.penalised else np.zeros(len(scale))
        self.ridge = np.append(slopes, np.zeros(int(intercept)))
        # Columns without which nothing is lost: those that are zero, and, once they were looked for, combinations of others.
        self.absent = np.append(width == 0, np.zeros(int(intercept), dtype=bool))
        heaviest = float(class_weight.max())
        squares = (summary.deviation + summary.weight * (summary.mean - shift) ** 2) / scale**2
        total = float(summary.weight.max(initial=0.0))
        self.squares = 1.01 * heaviest * np.append(squares, [total] * int(intercept))
        self.total = max(heaviest * total, 1e-300)
        self.factorised = self._is_factorised()
        self.tol = tol
        self._last: Point | None = None
        self._proven: tuple[Point, Newton] | None = None
        self._searched = False

    def _is_factorised(self) -> bool:
        m, q = self.loss.shape
        small = not self.penalised and m * q <= MOST_UNPENALISED
        return small or is_factorised(self.count, m, q, FULL_PRICE if self.centred else SPARSE_PRICE)

    def inside(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Give the inner coordinates of coefficients, of shape (m, q)."""
        p, found = len(self.loss.scale), np.empty((len(coef), self.loss.shape[1]))
        np.multiply(coef, self.loss.scale, out=found[:, :p])
        if self.loss.intercept:
            found[:, p] = intercept + coef @ self.loss.shift
        return np.asarray(found if len(coef) == 1 else self.loss.coding @ found)

    def outside(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give the coefficients and intercepts of inner coordinates."""
        p = len(self.loss.scale)
        found = theta if self.loss.coding.shape[1] == 2 else self.loss.coding.T @ theta
        coef = found[:, :p] / self.loss.scale
        return coef, found[:, p] - coef @ self.loss.shift if self.loss.intercept else np.zeros(len(coef))

    def penalty(self, theta: np.ndarray) -> float:
        """Give the penalty of inner coordinates."""
        return 0.5 * float((self.ridge * theta**2).sum())

    def at(self, coef: np.ndarray, intercept: np.ndarray, direction: np.ndarray | None = None) -> Point:
        """Work out the objective and its derivatives; without a penalty, also whether `direction` separates the classes."""
        seen = self._last
        if seen is not None and _same(seen.coef, coef) and _same(seen.intercept, intercept):
            return seen
        theta = self.inside(coef, intercept)
        lines = () if direction is None or self.penalised else (theta, direction)
        kind = "full" if self.part is None and self.factorised and not self.first_order else "none"
        curve = self.sums.curve(theta, kind, lines)
        objective = self.factor * curve.value + self.penalty(theta)
        self._last = Point(coef, intercept, theta, objective, self.factor * curve.gradient + self.ridge * theta, curve)
        return self._last

    @abstractmethod
    def newton(self, point: Point, secants: Secants | None = None) -> Newton:
        """Find Newton's direction and the gap that it proves; `secants` correct the direction where some rows stand for all."""

    def beyond(self, point: Point) -> Point:
        """Give the point one step further where a point is near enough to the minimum; else the point."""
        newton = self.newton(point)
        return self.descend(point, newton.direction) if newton.gap <= self.tol else point

    def final_gap(self, point: Point) -> float:
        """Give the gap that is proven of a point which is the last one, whatever that costs."""
        return self.newton(point).gap

    @abstractmethod
    def descend(self, point: Point, direction: np.ndarray) -> Point:
        """Go along `direction` until the objective has fallen enough."""

    @property
    def memory(self) -> dict[str, np.ndarray]:
        """What a step has to note so that another fit goes on from it in the same way."""
        return {}

    def pieces(self, point: Point) -> dict[tuple[int, int], np.ndarray]:
        """Give the pieces of the Hessian of all rows, which are known where the curvature of some was not asked for."""
        return point.curve.blocks or self.sums.curve(point.theta, "full").blocks

    def covariance(self, point: Point) -> tuple[np.ndarray | None, float]:
        """Give the covariance of constants and coefficients at the maximum of a likelihood, class by class.

        It is the inverse of the Hessian; None where that is singular, too large to be formed, or has numbers beyond all floats (columns
        of 1e-300). With how far rounding may move it.
        """
        if not self.factorised:
            return None, 0.0
        with one_blas_thread:
            H = self.loss.joined(self.pieces(point))
            found = solve(H, np.eye(len(H)))
        if found.rank < len(H):
            return None, 0.0
        p = len(self.loss.scale)
        outer = np.diag(1.0 / self.loss.scale)
        if self.loss.intercept:
            outer = np.block([[-self.loss.shift / self.loss.scale, 1.0], [outer, np.zeros((p, 1))]])
        if len(self.loss.coding) > 1:
            outer = np.kron(self.loss.coding.T, outer)
        moved = 4 * (self.count + len(H)) * len(H) * UNIT * found.condition**2
        with np.errstate(over="ignore", invalid="ignore"):
            inverse = np.asarray(outer @ found.coef @ outer.T)
        return inverse if np.isfinite(inverse).all() else None, float(min(moved, 1e-4))


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return one is other or (one.shape == other.shape and one.tobytes() == other.tobytes())


def is_factorised(count: int, m: int, q: int, most: float = FULL_PRICE) -> bool:
    """Whether forming and factorising the Hessian costs less than the products that conjugate gradients would take."""
    pairs = 1 if m == 1 else (m + 1) * (m + 2) // 2
    return bool(pairs * q + m**3 * q * q / max(1, count) <= most)


def centred(values: np.ndarray) -> np.ndarray:
    """Give values that sum to zero over the classes; those that do but for rounding stay, and so does what was proven of them.

    Examples
    --------
    >>> centred(np.array([[1.0], [2.0], [3.0]]))[:, 0]
    array([-1.,  0.,  1.])
    """
    mean = values.mean(axis=0)
    return values if np.abs(mean).max() <= 8 * EPS * np.abs(values).max() else values - mean
