r"""A cheap stand-in for the inverse Hessian of a likelihood, which conjugate gradients are preconditioned with.

There are three of them, each dearer and better than the one before: the diagonal; for each class the products of the columns, once for
all, times the mean curvature of the class; for each class its true block of the Hessian, from some or all of the rows. The first that is
used is chosen by its price, in products with the Hessian, and kept while steps are short. Where steps have taken more products than the
next stand-in costs, as when columns are nearly dependent, that one is used from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import lapack

from qed.base.sources.rows import Rows
from qed.classification.logistic.sums import Sums
from qed.linalg.cholesky import factor_in_place, solve_factored
from qed.optim.functions.softmax import Curve, SoftmaxLoss

DIAGONAL, PRODUCTS, BLOCKS = 0, 1, 2
# True blocks may cost as much as so many products with the Hessian, times four.
PRODUCTS_WORTH = 32
MANY_CLASSES = 32
# Blocks are formed from the first step on up to so many columns, and at all up to so many.
NARROW, NARROW_SPARSE, WIDEST = 512, 256, 4096
# More blocks than this, of no more columns, are inverted, so that one product serves all of them.
FEW_BLOCKS, SMALL_BLOCK = 4, 64
# A block in single precision, which takes half as long, stands in unless a pivot is so small a share of its diagonal.
LEAST_PIVOT = 1e-3
# A product of matrices does so many more operations in a second than one with a vector.
FASTER = 10
MOST_PRODUCTS = 500
# With more than this to gain, relative to the objective, a stand-in is made anew.
FAR = 1e-2


class Objective(Protocol):
    """What is asked of a likelihood."""

    count: int
    total: float
    factor: float
    ridge: np.ndarray
    centred: bool
    loss: SoftmaxLoss
    sums: Sums
    rows: Rows
    part: Rows | None


class Point(Protocol):
    """What is asked of a point."""

    @property
    def theta(self) -> np.ndarray:
        """The parameters."""

    @property
    def curve(self) -> Curve:
        """The loss there."""

    @property
    def objective(self) -> float:
        """The objective there."""

    @property
    def gradient(self) -> np.ndarray:
        """Its gradient."""


class Kept(NamedTuple):
    """A stand-in: how much was spent on it, where it was made, and what multiplies with it."""

    effort: int
    theta: np.ndarray
    solve: Callable[[np.ndarray], np.ndarray]


class Preconditioner:
    """Makes stand-ins for one likelihood; what does not depend on the point is kept."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self._products: np.ndarray | None = None
        self._kept: Kept | None = None
        self._promise: tuple[Kept, Point, float] | None = None
        self._spent = 0
        m, q = objective.loss.shape
        narrow = m > 1 and q <= (NARROW if objective.centred else NARROW_SPARSE)
        self.effort = DIAGONAL if not narrow else BLOCKS if self._is_cheap() else PRODUCTS

    def _is_cheap(self) -> bool:
        """Whether true blocks cost less than the products that they save."""
        objective, (m, q) = self.objective, self.objective.loss.shape
        some = objective.count if objective.part is None else objective.part.count()
        return m < MANY_CLASSES and q * some <= PRODUCTS_WORTH * objective.count

    @property
    def most(self) -> int:
        """How many products a step may take: as many as the next stand-in costs, twice."""
        return min(MOST_PRODUCTS, 16 + 2 * self._price)

    @property
    def _price(self) -> int:
        """What the next stand-in costs, in products."""
        q, n = self.objective.loss.shape[1], max(1, self.objective.count)
        if self.effort == BLOCKS or q > WIDEST:
            return MOST_PRODUCTS
        slow = 1 if self.objective.centred else 8
        return int(slow * (q + q * q / (3 * n)) / (4 * FASTER))

    def learn(self, n_products: int) -> None:
        """Do more from now on, if steps took more products together than that costs."""
        self._spent += n_products
        if self.effort < BLOCKS and self._spent >= 8 + self._price:
            self._spent, self.effort = 0, BLOCKS if len(self.objective.loss.coding) == 1 else self.effort + 1

    def at(self, point: Point) -> Callable[[np.ndarray], np.ndarray]:
        """Give the function that multiplies with the stand-in at a point, or at an earlier one that is not far away."""
        kept = self._kept
        if kept is None or kept.effort != self.effort or self.promised(point) > FAR * point.objective:
            self._kept = kept = Kept(self.effort, point.theta, self._made(point, self.effort))
        return kept.solve

    def promised(self, point: Point) -> float:
        """Give about twice how much a step from a point can gain, by the last stand-in; infinite where there is none."""
        kept, known = self._kept, self._promise
        if kept is None:
            return np.inf
        if known is None or known[0] is not kept or known[1] is not point:
            found = max(float((point.gradient * kept.solve(point.gradient)).sum()), 0.0)
            self._promise = known = kept, point, found
        return known[2]

    @property
    def memory(self) -> dict[str, np.ndarray]:
        """What has to be known to go on as if nothing had happened."""
        kept, shape = self._kept, self.objective.loss.shape
        place = np.zeros((0, *shape)) if kept is None else kept.theta[None]
        return {"stand_in": place, "efforts": np.array([self.effort, self._spent, 0 if kept is None else kept.effort])}

    def recall(self, memory: Mapping[str, object], at: Callable[[np.ndarray], Point]) -> None:
        """Take up what an earlier fit noted, if it had parameters of this shape; `at` gives the point at some parameters."""
        place, efforts = memory.get("stand_in"), memory.get("efforts")
        if not (isinstance(place, np.ndarray) and place.shape[1:] == self.objective.loss.shape and len(place) <= 1):
            return
        if not (isinstance(efforts, np.ndarray) and efforts.shape == (3,)):
            return
        self.effort, self._spent, effort = np.clip(efforts, 0, [BLOCKS, MOST_PRODUCTS, BLOCKS]).astype(int).tolist()
        if len(place):
            self._kept = Kept(effort, place[0], self._made(at(place[0]), effort))

    def _made(self, point: Point, effort: int) -> Callable[[np.ndarray], np.ndarray]:
        objective = self.objective
        if effort == DIAGONAL:
            diagonal = objective.factor * objective.sums.diagonal(point.theta) + objective.ridge
            inverse = 1.0 / np.where(diagonal > 0, diagonal, 1.0)
            return lambda residual: residual * inverse
        factors, coding = self._factors(point, effort), objective.loss.coding
        # To call a solver for each of many small blocks would take longer than all its passes.
        many = effort == BLOCKS and len(factors) > FEW_BLOCKS and objective.loss.shape[1] <= SMALL_BLOCK
        inverses = (
            np.array([lapack.dpotrs(factor, np.eye(len(factor)), lower=1)[0] for factor, _ in factors])
            if many
            else None
        )

        def precondition(residual: np.ndarray) -> np.ndarray:
            parts = coding.T @ residual if len(coding) > 1 else residual
            found = np.empty_like(parts)
            if inverses is not None:
                found[:] = (inverses @ parts[:, :, None])[:, :, 0]
            for factor, classes in factors if inverses is None else ():
                found[classes] = _solved(factor, parts[classes].T).T
            return np.asarray(coding @ found if len(coding) > 1 else found)

        return precondition

    def _factors(self, point: Point, effort: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Factorise a stand-in for each class's block of the Hessian; give the factors, each with the classes that it is for."""
        objective, loss = self.objective, self.objective.loss
        some = objective.rows if objective.part is None else objective.part
        more = 1.0 if objective.part is None else objective.count / max(1, some.count())
        if effort == BLOCKS and objective.part is None:
            rough = self._of_blocks(objective.sums.blocks(point.theta, roughly=True))
            return rough or self._of_blocks(objective.sums.blocks(point.theta))
        if effort == BLOCKS:
            return self._of_blocks(some.fold(loss.of, point.theta, "blocks").blocks, more)
        if self._products is None:
            self._products = more * some.fold(loss.products)
        # Classes whose share of the curvature is about the same have a factor in common.
        share = np.clip(point.curve.bent / objective.total, 1e-12, 1.0)
        rounded = np.exp2(np.round(np.log2(share)))[-len(loss.pairs("blocks")) :]
        factors = (
            (_factor(objective.factor * value * self._products, objective.ridge), value) for value in np.unique(rounded)
        )
        return [(factor, np.flatnonzero(rounded == value)) for factor, value in factors if factor is not None]

    def _of_blocks(
        self, blocks: Mapping[tuple[int, int], np.ndarray], more: float = 1.0
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Factorise the blocks of classes, which count so many times `more`; none where single precision says too little of one."""
        factors = []
        for number, block in enumerate(blocks.values()):
            lower = _factor(np.multiply(block, more * self.objective.factor, out=block), self.objective.ridge)
            if lower is None:
                return []
            factors.append((lower, np.array([number])))
        return factors


def _factor(block: np.ndarray, ridge: np.ndarray) -> np.ndarray | None:
    """Factorise a stand-in with its penalty, in place; None where single precision says too little of it."""
    diagonal = block.diagonal() + ridge
    diagonal += 1e-10 * diagonal + 1e-300
    np.fill_diagonal(block, diagonal)
    lower = np.asfortranarray(block.T)
    done = factor_in_place(lower)
    if lower.dtype == np.float32:
        return lower if done and (lower.diagonal() ** 2 > LEAST_PIVOT * diagonal).all() else None
    # Where rounding left no factor, the diagonal stands in.
    return lower if done else np.asfortranarray(np.diag(np.sqrt(diagonal)))


def _solved(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve with a factor of either precision, of right-hand sides whose size is known to neither."""
    size = 1.0 if factor.dtype == np.float64 else float(np.abs(right).max(initial=0.0)) or 1.0
    return solve_factored(factor, (right / size).astype(factor.dtype, copy=False)).astype(np.float64) * size
