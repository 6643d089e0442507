r"""Linear support vector machines in the primal: Newton's method on a hinge whose corner is rounded less and less.

.. math:: \min_{w, b}\ \tfrac12 \|w\|^2 + \sum_v C_v\, \ell(u_v), \qquad u_v = s_v (t_v - w^\top x_v - b) - \varepsilon,

with :math:`\ell(u) = u_+` or :math:`u_+^2`. Classification has one :math:`v` for each row (:math:`s = t = y = \pm 1`,
:math:`\varepsilon = 0`, so that :math:`u = 1 - y f`), regression two (:math:`s = \pm 1`). The hinge is rounded between 0 and :math:`\mu`
by :math:`u^2 / 2\mu`. Then :math:`\alpha_v = C_v \min(u_+ / \mu, 1)` is a slope and, once the sums over :math:`s = 1` and
:math:`s = -1` are made equal by scaling the larger, a point of the dual

.. math:: D(\alpha) = \sum_v \alpha_v (s_v t_v - \varepsilon) - \tfrac12 \Bigl\|\sum_v s_v \alpha_v x_v\Bigr\|^2,

so every pass gives a duality gap of the hinge itself. Only rows in the corner have curvature, and they get fewer as :math:`\mu` falls:
a pass costs hardly more than :math:`O(np)`, and some twenty are enough. A pass is a fold, so the rows may be anywhere.

Mangasarian (2002), A finite Newton method for classification; Lee and Mangasarian (2001), SSVM: a smooth support vector machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve

from qed.base.numbers import EPS, TINY
from qed.base.sources.block import Block, as_dense, dense_if_small, is_sparse
from qed.base.sources.rows import Rows
from qed.linalg.iterative.conjugate import conjugate_gradients
from qed.optim.svm.interior import Pieces, Solved, solved

# How round the corner is at first, how much less so in each stage, and when multipliers, u / mu, would lose more to rounding than it gives.
FIRST, SHARPER, SHARPEST = 2.0, 0.25, 2.0**-26
# A stage ends when what is left of its own gap is a small share of the whole one.
SHARE = 0.5
ARMIJO = 1e-4
HALVINGS = 60
FIRST_DAMPING, LEAST_DAMPING = 1e-3, 1e-6
# With more columns the Newton equations are solved by conjugate gradients, a pass for each product.
MOST_COLUMNS, PRODUCTS, CLOSE = 1500, 200, 1e-3
# Tables of no more numbers than this may be held as a whole.
MOST_HELD = 20_000_000


class Hinge(NamedTuple):
    """What is lost on a row, and how rows become pieces of it."""

    squared: bool
    two_sided: bool  # regression: a row is lost on both sides
    epsilon: float


@dataclass(frozen=True)
class HingeSums:
    """What one pass at some points (one for each output) collects; the second axis tells pieces with s = 1 from those with s = -1."""

    loss: np.ndarray  # of shape (k,): what is lost
    smooth: np.ndarray  # of shape (k,): what is lost with the corner rounded
    linear: np.ndarray  # of shape (k, 2): sum of alpha (s t - epsilon)
    square: np.ndarray  # of shape (k, 2): what the conjugate of a loss with curvature takes off the dual
    slope: np.ndarray  # of shape (k, 2, p + 1): sum of alpha times row, and of alpha
    curve: np.ndarray  # of shape (k, p + 1, p + 1); empty where that is too large
    reach: np.ndarray  # of shape (k,): the sizes of what was added, for rounding,
    steep: np.ndarray  # of shape (k,): and by how much all of it follows when every score moves

    def __add__(self, other: HingeSums) -> HingeSums:
        return HingeSums(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, eq=False)
class LinearProblem:
    """Rows whose target is a number (regression) or a class number (one output for each, against the rest)."""

    rows: Rows
    spread: np.ndarray  # the variance of each column
    middle: np.ndarray  # what is taken off dense rows, so that the constant does not lean on the coefficients
    hinge: Hinge
    C: float
    factors: np.ndarray  # of the weight by class; empty for numbers
    outputs: int
    intercept: bool
    level: float = 0.0  # what is taken off numbers, for the same reason
    unit: float = 1.0  # the size of a usual error of a constant, which roundings of the corner are measured by

    def at(self, points: np.ndarray, corner: np.ndarray) -> HingeSums:
        """Collect at points of shape (k, p + 1), the constant last."""
        found: HingeSums = self.rows.fold(_collect, self, points, corner)
        return found

    def bent(self, points: np.ndarray, corner: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Multiply the second derivative of what is lost by a direction, of shape (k, p + 1)."""
        image: np.ndarray = self.rows.fold(_bent_product, self, points, corner, direction)
        return image

    def flat(self) -> np.ndarray:
        """Give the points to begin at: no slopes, and as the constant the better of the level and zero."""
        points, corner = np.zeros((self.outputs, self.rows.n_features + 1)), np.ones(self.outputs)
        if self.level != 0.0:
            lower = points.copy()
            lower[:, -1] = -self.level
            if (self.at(lower, corner).loss < self.at(points, corner).loss).all():
                return lower
        return points

    @cached_property
    def held(self) -> int:
        """How many numbers the table has, where it may be held as a whole; zero where they are too many."""
        count = self.rows.known_count() if self.rows.in_memory else None
        size = 0 if count is None else count * self.rows.n_features
        return size if size <= MOST_HELD else 0

    @cached_property
    def table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """All rows that count, turned so that columns are no more than rows, with what turns slopes back, targets and costs."""
        block = self.rows.array()
        X = np.asarray(as_dense(block.X))
        X, (target, cost) = X.astype(np.float64), self.targets(block)
        present = (cost > 0).any(axis=1)
        X, target, cost = X[present], target[present], cost[present]
        if not self.rows.is_sparse:
            X -= self.middle
        if X.shape[1] <= len(X):
            return X, np.eye(X.shape[1]), target, cost
        turn, triangle = np.linalg.qr(X.T)
        return np.ascontiguousarray(triangle.T), turn, target, cost

    def exactly(self, output: int, tol: float) -> Solved | None:
        """Solve for one output on all rows at once; None where they are too many."""
        if not self.held:
            return None
        X, turn, target, cost = self.table
        target, cost = target[:, output], cost[:, min(output, cost.shape[1] - 1)]
        sign = np.array([[1.0], [-1.0]]) * np.ones(len(X)) if self.hinge.two_sided else target[None]
        pieces = Pieces(
            X,
            sign * target - self.hinge.epsilon,
            sign,
            np.broadcast_to(cost, sign.shape),
            self.hinge.squared,
            self.intercept,
        )
        found = solved(pieces, tol)
        return found._replace(w=turn @ found.w)

    def targets(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Give targets and costs of a block, of shape (n, k)."""
        weight = self.C * block.weights
        if not len(self.factors):
            return np.asarray(block.y, dtype=np.float64).reshape(len(block), -1) - self.level, weight[:, None]
        codes = np.asarray(block.y, dtype=np.intp)
        if self.outputs == 1:
            return np.where(codes == 1, 1.0, -1.0)[:, None], (weight * self.factors[codes])[:, None]
        return np.where(codes[:, None] == np.arange(self.outputs), 1.0, -1.0), (weight * self.factors[codes])[:, None]


class Judged(NamedTuple):
    """Objectives at some points, one for each output."""

    primal: np.ndarray
    dual: np.ndarray
    smooth: np.ndarray  # the objective with the corner rounded
    own_gap: np.ndarray  # how far that is from its own minimum, at most
    gradient: np.ndarray
    rounding: np.ndarray

    @property
    def gaps(self) -> np.ndarray:
        return np.maximum(self.primal - self.dual, 0.0) / np.maximum(self.primal, TINY)


def judged(problem: LinearProblem, points: np.ndarray, corner: np.ndarray, sums: HingeSums) -> Judged:
    """Work out objectives, gaps and gradients from what a pass collected."""
    half = (points[:, :-1] ** 2).sum(axis=1) / 2
    totals = sums.slope[:, :, -1]
    share = np.ones_like(totals)
    if problem.intercept:
        least = totals.min(axis=1, keepdims=True)
        share = np.where(totals > 0, least / np.where(totals > 0, totals, 1.0), 1.0)
    direction = share[:, :1] * sums.slope[:, 0, :-1] - share[:, 1:] * sums.slope[:, 1, :-1]
    taken = (share**2 * sums.square).sum(axis=1)
    rounded = (share * sums.linear).sum(axis=1) - (direction**2).sum(axis=1) / 2 - taken
    dual = rounded if problem.hinge.squared else rounded + taken
    gradient = (
        np.concatenate([points[:, :-1], np.zeros((len(points), 1))], axis=1) - sums.slope[:, 0] + sums.slope[:, 1]
    )
    primal = half + sums.loss
    smooth = half + sums.smooth
    rounding = EPS * 64 * (sums.reach + half + (direction**2).sum(axis=1))
    return Judged(primal, dual, smooth, smooth - rounded, gradient, rounding)


class Point(NamedTuple):
    """Where the descent is."""

    points: np.ndarray  # of shape (k, p + 1), the constant last
    corner: np.ndarray  # of shape (k,): how round the hinge is
    damping: (
        np.ndarray
    )  # of shape (k,): what share of one row's curvature is added, so that no direction is without any


def descend(problem: LinearProblem, point: Point, tol: float) -> Iterator[tuple[Point, Judged]]:
    """Give point after point with what is known there, until nothing moves."""
    points, corner, damping = point
    here = problem.at(points, corner)
    known = judged(problem, points, corner, here)
    while True:
        yield Point(points, corner, damping), known
        ready = known.gaps > tol
        sharper = _sharper(problem, known, corner, ready)
        if (sharper != corner).any():
            corner = sharper
            here = problem.at(points, corner)
            known = judged(problem, points, corner, here)
        step = -_solved(problem, here.curve, known.gradient, Point(points, corner, damping))
        step[~ready] = 0.0
        slope = (step * known.gradient).sum(axis=1)
        size, best = np.ones(len(points)), known.smooth
        for _ in range(HALVINGS):
            trial = points + size[:, None] * step
            if np.array_equal(trial, points):
                break
            there = problem.at(trial, corner)
            found = judged(problem, trial, corner, there)
            short = found.smooth > best + ARMIJO * size * slope + 8 * EPS * np.abs(best)
            if not short.any():
                break
            size = np.where(short, size / 2, size)
        else:
            return
        if np.array_equal(trial, points):
            # Nothing moves any more: what is left is what the corner hides.
            if (_sharper(problem, known, corner, ready) == corner).all():
                return
            continue
        points, here, known = trial, there, found
        damping = np.clip(np.where(size < 0.1, 10.0, 0.1) * damping, LEAST_DAMPING, 1.0)


def _sharper(problem: LinearProblem, known: Judged, corner: np.ndarray, ready: np.ndarray) -> np.ndarray:
    """Make the corners sharper of outputs whose rounded problem is solved well enough."""
    if problem.hinge.squared:
        return corner
    done = ready & (known.own_gap <= SHARE * (known.primal - known.dual)) & (corner > SHARPEST * problem.unit)
    return np.where(done, corner * SHARPER, corner)


def _solved(problem: LinearProblem, curve: np.ndarray, gradient: np.ndarray, point: Point) -> np.ndarray:
    """Solve the damped Newton equations of each output, scaled so that columns of any size are alike."""
    added = 1.0 + (point.damping * problem.C / point.corner)[:, None] * problem.spread
    if not curve.size:
        free = np.ones_like(gradient)
        free[:, -1] = float(problem.intercept)

        def product(direction: np.ndarray) -> np.ndarray:
            return free * _curved(problem, point, added, free * direction)

        return conjugate_gradients(product, free * gradient, CLOSE, PRODUCTS).solution
    found = np.empty_like(gradient)
    for k, (matrix, right) in enumerate(zip(curve, gradient)):
        H = matrix.copy()
        diagonal = np.arange(len(right) - 1)
        H[diagonal, diagonal] += added[k]
        if not problem.intercept:
            H[-1], H[:, -1], H[-1, -1] = 0.0, 0.0, 1.0
            right = np.append(right[:-1], 0.0)
        elif H[-1, -1] <= 0.0:
            H[-1, -1] = 1.0
        unit = 1 / np.sqrt(np.diagonal(H))
        scaled = unit[:, None] * H * unit
        scaled[np.arange(len(unit)), np.arange(len(unit))] += 4 * len(unit) * EPS
        found[k] = unit * solve(scaled, unit * right, assume_a="pos", check_finite=False)
    return found


def level_of(block: Block) -> np.ndarray:
    """Give the sum of weighted targets of a block, and of the weights."""
    return np.array([float(block.weights @ np.asarray(block.y, dtype=np.float64).ravel()), float(block.weights.sum())])


def distance_of(block: Block, level: float) -> float:
    """Give the sum of weighted distances of the targets of a block from a level."""
    return float(block.weights @ np.abs(np.asarray(block.y, dtype=np.float64).ravel() - level))


def _curved(problem: LinearProblem, point: Point, added: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Multiply the damped second derivative of the rounded objective by a direction, of shape (k, p + 1)."""
    image = problem.bent(point.points, point.corner, direction)
    image[:, :-1] += added * direction[:, :-1]
    # A constant that no row in a corner holds would be free to go anywhere.
    image[:, -1] += 1e-6 * problem.C * direction[:, -1]
    return image


def _bent_product(
    block: Block, problem: LinearProblem, points: np.ndarray, corner: np.ndarray, direction: np.ndarray
) -> np.ndarray:
    X, target, cost, score = _scored(block, problem, points)
    along = np.asarray(X @ direction[:, :-1].T) + direction[:, -1]
    weight = np.zeros_like(score)
    for sign in (1.0, -1.0):
        u = _excess(problem.hinge, sign, target, score)
        if problem.hinge.squared:
            weight += np.where(u > 0, 2 * cost, 0.0)
        else:
            weight += np.where((u > 0) & (u < corner), cost / corner, 0.0)
    weight *= along
    return np.column_stack([np.asarray(X.T @ weight).T, weight.sum(axis=0)])


def _scored(block: Block, problem: LinearProblem, points: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """Give the rows of a block, moved to the middle, with their targets, costs and scores."""
    X = dense_if_small(block.X).astype(np.float64, copy=False)
    if not is_sparse(X):
        X = X - problem.middle
    target, cost = problem.targets(block)
    return X, target, cost, np.asarray(X @ points[:, :-1].T) + points[:, -1]


def _excess(hinge: Hinge, sign: float, target: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Give u of the pieces with one sign; below zero where a row has none."""
    u = sign * (target - score) - hinge.epsilon
    return u if hinge.two_sided else np.where(target == sign, u, -1.0)


def _collect(block: Block, problem: LinearProblem, points: np.ndarray, corner: np.ndarray) -> HingeSums:
    hinge = problem.hinge
    X, target, cost, score = _scored(block, problem, points)
    k, p = len(points), X.shape[1]
    sums = HingeSums(
        np.zeros(k), np.zeros(k), np.zeros((k, 2)), np.zeros((k, 2)), np.zeros((k, 2, p + 1)),
        np.zeros((k, p + 1, p + 1) if p <= MOST_COLUMNS else (k, 0, 0)), np.zeros(k), np.zeros(k),
    )  # fmt: skip
    for place, sign in enumerate((1.0, -1.0)):
        u = _excess(hinge, sign, target, score)
        over = np.maximum(u, 0.0)
        if hinge.squared:
            loss, alpha, bent = cost * over**2, 2 * cost * over, u > 0
            smooth, curvature = loss, 2.0 * np.broadcast_to(cost, u.shape)
            sums.square[:, place] = (cost * over**2).sum(axis=0)
        else:
            loss, alpha, bent = cost * over, cost * np.minimum(over / corner, 1.0), (u > 0) & (u < corner)
            smooth = cost * np.where(u < corner, over**2 / (2 * corner), over - corner / 2)
            sums.square[:, place] = (alpha * np.minimum(over, corner)).sum(axis=0) / 2
            curvature = cost / corner
        sums.loss[:] += loss.sum(axis=0)
        sums.smooth[:] += smooth.sum(axis=0)
        sums.linear[:, place] = (alpha * (sign * target - hinge.epsilon)).sum(axis=0)
        size = 1 + np.abs(target) + np.abs(score)
        # A row on the edge counts with all it could cost: rounding takes it over.
        slopes = 2 * cost * over if hinge.squared else cost * (u > -64 * EPS * size)
        sums.reach[:] += (slopes * size).sum(axis=0)
        sums.steep[:] += slopes.sum(axis=0)
        sums.slope[:, place, :-1] = np.asarray(X.T @ alpha).T
        sums.slope[:, place, -1] = alpha.sum(axis=0)
        for j in range(k if sums.curve.size else 0):
            rows = np.flatnonzero(bent[:, j])
            if len(rows):
                _bend(sums.curve[j], X[rows], curvature[rows, j])
    return sums


def pulled(block: Block, problem: LinearProblem, points: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Add up the sizes of what slopes are sums of: multipliers times the sizes of the rows' numbers, of shape (k, p)."""
    X, target, cost, score = _scored(block, problem, points)
    alpha = np.zeros_like(score)
    for sign in (1.0, -1.0):
        over = np.maximum(_excess(problem.hinge, sign, target, score), 0.0)
        alpha += cost * (2 * over if problem.hinge.squared else np.minimum(over / corner, 1.0))
    return np.asarray(abs(X).T @ alpha).T


def _bend(curve: np.ndarray, X: Any, weight: np.ndarray) -> None:
    """Add the curvature of some rows."""
    scaled = X.multiply(weight[:, None]) if is_sparse(X) else X * weight[:, None]
    product = X.T @ scaled
    curve[:-1, :-1] += product.toarray() if is_sparse(X) else product
    edge = np.asarray(scaled.sum(axis=0)).ravel()
    curve[:-1, -1] += edge
    curve[-1, :-1] += edge
    curve[-1, -1] += weight.sum()
