r"""The linear support vector machine of all classes at once: the own class is to win by one from every other.

.. math:: \min_W\ \tfrac12 \sum_k \|w_k\|^2 + \sum_i C_i \max_k m_{ik}, \qquad m_{ik} = w_k^\top x_i - w_{y_i}^\top x_i + [k \ne y_i],

with a one behind every row where there are constants, which are penalised like any coefficient. Its dual has a multiplier for each row and
class, at most :math:`C_i` for the own class and zero for others, which sum to zero for every row:

.. math:: D(\alpha) = \sum_i \alpha_{i y_i} - \tfrac12 \sum_k \|w_k\|^2, \qquad w_k = \sum_i \alpha_{ik}\, x_i .

Its best multipliers for one row, with those of all others as they are, are in closed form (:mod:`qed.optim.svm.joint_rows`), and taking the
rows in turn ends soon on tables that are well scaled. On others it crawls, and Newton's method takes over. The largest of some numbers is
the most that shares :math:`a` of them, not negative and of sum one, can make of them; rounded by :math:`\mu`,

.. math:: \max_a\ a^\top m_i - \tfrac{\mu}{2} \|a\|^2 \quad\text{at the } a_i \text{ next to } m_i / \mu,

it has second derivatives, and :math:`\alpha_{ik} = C_i ([k = y_i] - a_{ik})` is a point of the dual whatever the planes are. So this is
the method for a single plane (:mod:`qed.optim.svm.linear`) with other sums: only rows between several classes have curvature, and they get
fewer as :math:`\mu` falls.

Crammer and Singer (2001), On the algorithmic implementation of multiclass kernel-based vector machines; Keerthi, Sundararajan, Chang, Hsieh
and Lin (2008), A sequential dual method for large scale multi-class linear SVMs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from qed.base.sources.block import Block, dense_if_small, is_sparse
from qed.optim.svm.linear import MOST_COLUMNS, HingeSums, LinearProblem


@dataclass(frozen=True, eq=False)
class JointProblem(LinearProblem):
    """Rows whose target is a class number; a point is the planes one after another, constants included, and a zero at the end."""

    classes: int = 2
    one: float = 1.0  # what stands behind every row: zero where there are no constants

    def at(self, points: np.ndarray, corner: np.ndarray) -> HingeSums:
        found: HingeSums = self.rows.fold(_collect, self, points, float(corner[0]))
        return found

    def bent(self, points: np.ndarray, corner: np.ndarray, direction: np.ndarray) -> np.ndarray:
        image: np.ndarray = self.rows.fold(_bent_product, self, points, float(corner[0]), direction)
        return image

    def flat(self) -> np.ndarray:
        return np.zeros((1, len(self.spread) + 1))

    @cached_property
    def held(self) -> int:
        """None: there is no other way than this one."""
        return 0

    def multipliers(self, points: np.ndarray, corner: np.ndarray) -> np.ndarray:
        """Give the multipliers that follow from a point, of shape (n, n_classes)."""
        return np.asarray(self.rows.map(_multipliers, self, points, float(corner[0])))

    def planes(self, points: np.ndarray) -> np.ndarray:
        """Give the planes of a point, of shape (n_classes, p + 1)."""
        return points[0, :-1].reshape(self.classes, -1)


class _Margins(NamedTuple):
    """A block at some planes; the second axis is that of classes."""

    X: Any
    own: np.ndarray  # whether a class is that of the row
    cost: np.ndarray
    margin: np.ndarray
    share: np.ndarray


def _margins_of(block: Block, problem: JointProblem, points: np.ndarray, corner: float) -> _Margins:
    X, planes = dense_if_small(block.X).astype(np.float64, copy=False), problem.planes(points)
    codes = np.asarray(block.y, dtype=np.intp)
    cost = problem.C * block.weights * problem.factors[codes]
    score = np.asarray(X @ planes[:, :-1].T) + problem.one * planes[:, -1]
    own = codes[:, None] == np.arange(problem.classes)
    margin = np.where(own, 0.0, 1.0 + score - score[np.arange(len(codes)), codes][:, None])
    return _Margins(X, own, cost, margin, shares(margin / corner))


def shares(values: np.ndarray) -> np.ndarray:
    """Give what is not negative, sums to one and is next to the values of each row.

    >>> shares(np.array([[0.5, 0.3, -2.0], [9.0, 0.0, 0.0]]))
    array([[0.6, 0.4, 0. ],
           [1. , 0. , 0. ]])
    """
    values = values - values.max(axis=1, keepdims=True)
    falling = -np.sort(-values, axis=1)
    level = (np.cumsum(falling, axis=1) - 1) / np.arange(1, values.shape[1] + 1)
    last = (falling > level).sum(axis=1, keepdims=True) - 1
    return np.maximum(values - np.take_along_axis(level, last, axis=1), 0.0)


def _collect(block: Block, problem: JointProblem, points: np.ndarray, corner: float) -> HingeSums:
    margins = _margins_of(block, problem, points, corner)
    squares = corner / 2 * (margins.share**2).sum(axis=1)
    linear = margins.cost @ (1 - margins.share[margins.own])
    m = len(problem.spread)
    curve = np.zeros((1, m + 1, m + 1) if m <= MOST_COLUMNS else (1, 0, 0))
    if curve.size:
        for one, other, part in _bends(margins, problem, corner):
            curve[0, one, other], curve[0, other, one] = part, part.T
    slope = np.zeros((1, 2, m + 1))
    slope[0, 0] = _pulled(margins, problem, _multipliers_of(margins))[0]
    nothing = np.zeros(1)
    return HingeSums(
        np.array([margins.cost @ margins.margin.max(axis=1)]),
        np.array([margins.cost @ ((margins.share * margins.margin).sum(axis=1) - squares)]),
        np.array([[linear, 0.0]]),
        np.array([[margins.cost @ squares, 0.0]]),
        slope,
        curve,
        nothing,
        nothing,
    )


def _multipliers_of(margins: _Margins) -> np.ndarray:
    return margins.cost[:, None] * (margins.own - margins.share)


def _multipliers(block: Block, problem: JointProblem, points: np.ndarray, corner: float) -> np.ndarray:
    return _multipliers_of(_margins_of(block, problem, points, corner))


def _pulled(margins: _Margins, problem: JointProblem, amounts: np.ndarray) -> np.ndarray:
    """Add up the rows times their amounts for each class, as a point."""
    planes = np.column_stack([np.asarray(margins.X.T @ amounts).T, problem.one * amounts.sum(axis=0)])
    return np.append(planes, 0.0)[None]


def _bends(margins: _Margins, problem: JointProblem, corner: float) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """Give the places of pairs of classes in a point, and the second derivative there: of rows that lie between both."""
    between = np.flatnonzero((margins.share > 0).sum(axis=1) > 1)
    X, inside = margins.X[between], margins.share[between] > 0
    weight, several = margins.cost[between] / corner, inside.sum(axis=1)
    width = X.shape[1] + 1
    for k, other in combinations_with_replacement(range(problem.classes), 2):
        rows = np.flatnonzero(inside[:, k] & inside[:, other])
        if len(rows):
            factor = weight[rows] * ((k == other) - 1 / several[rows])
            one, two = (slice(c * width, (c + 1) * width) for c in (k, other))
            yield one, two, _bent(X[rows], factor, problem.one)


def _bent(X: Any, weight: np.ndarray, one: float) -> np.ndarray:
    """Give the products of columns, the constant one last."""
    scaled = X.multiply(weight[:, None]).tocsr() if is_sparse(X) else X * weight[:, None]
    product = X.T @ scaled
    edge = one * np.asarray(scaled.sum(axis=0)).reshape(-1, 1)
    corner = [[one * float(weight.sum())]]
    return np.block([[product.toarray() if is_sparse(X) else product, edge], [edge.T, np.array(corner)]])


def _bent_product(
    block: Block, problem: JointProblem, points: np.ndarray, corner: float, direction: np.ndarray
) -> np.ndarray:
    margins, planes = _margins_of(block, problem, points, corner), problem.planes(direction)
    inside = margins.share > 0
    along = np.where(inside, np.asarray(margins.X @ planes[:, :-1].T) + problem.one * planes[:, -1], 0.0)
    turned = np.where(inside, along - along.sum(axis=1, keepdims=True) / inside.sum(axis=1, keepdims=True), 0.0)
    return _pulled(margins, problem, (margins.cost / corner)[:, None] * turned)
