r"""Linear support vector machines with few coefficients: squared slack and a penalty on sizes.

.. math:: \min_{w, b}\ \|w\|_1 + \sum_i C_i \max(0,\ 1 - y_i (w^\top x_i + b))^2 .

One such problem for each output, by Newton's method on working sets of columns (:mod:`qed.optim.sparse`), with its duality gap.

Yuan, Chang, Hsieh and Lin (2010), A comparison of optimization methods and software for large-scale L1-regularized linear classification.
"""

from __future__ import annotations

import numpy as np

from qed.base.numbers import TINY
from qed.optim.functions.penalties import L1
from qed.optim.sparse.path import judge_sparse, minimize_sparse
from qed.optim.svm.linear import FIRST, Judged, LinearProblem, Point
from qed.optim.svm.losses import SquaredHingeLoss


def sparse_planes(linear: LinearProblem, tol: float, start: np.ndarray | None) -> tuple[Point, Judged]:
    """Solve for every output, from planes that are known or from nothing."""
    block, k = linear.rows.array(), linear.outputs
    target, cost = linear.targets(block)
    points, primal, gap = np.zeros((k, linear.rows.n_features + 1)), np.zeros(k), np.zeros(k)
    for output in range(k):
        found = minimize_sparse(
            block.X,
            target[:, output],
            SquaredHingeLoss(),
            L1(1.0),
            sample_weight=cost[:, 0],
            fit_intercept=linear.intercept,
            tol=tol,
            start=None if start is None else start[output, :-1],
        )
        points[output] = np.append(found.coef, found.intercept + found.coef @ linear.middle)
        primal[output], gap[output] = found.objective, found.gap
    nothing = np.zeros(k)
    point = Point(points, np.full(k, FIRST), nothing)
    return point, Judged(primal, primal * (1 - gap), primal, nothing, np.zeros_like(points), nothing)


def sparse_measured(
    linear: LinearProblem, coef: np.ndarray, constant: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give primal and dual objectives of planes, and what rounding can do to them, relative to the first."""
    block = linear.rows.array()
    target, cost = linear.targets(block)
    found = np.array(
        [
            judge_sparse(
                block.X, t, SquaredHingeLoss(), L1(1.0), w, b, sample_weight=cost[:, 0], fit_intercept=linear.intercept
            )
            for t, w, b in zip(target.T, coef, constant)
        ]
    )
    primal, gap, slip = found.T
    return primal, primal * (1 - gap), np.where(primal > TINY, slip, 0.0)
