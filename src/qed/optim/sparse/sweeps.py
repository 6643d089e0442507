r"""Coordinate descent for a sparse quadratic, on its Gram matrix.

.. math:: \min_w\ \tfrac12 w^\top G w - q^\top w + \lambda_1 \|w\|_1 + \tfrac12 \lambda_2 \|w\|^2, \qquad h = q - G w,

with :math:`G = X^\top X` and :math:`q = X^\top y` the lasso and the elastic net. As a function of one coordinate it is a parabola with a
kink at zero, whose lowest point is a *soft threshold*,

.. math:: w_j \leftarrow \frac{S(h_j + G_{jj} w_j,\ \lambda_1)}{G_{jj} + \lambda_2}, \qquad
          S(a, \lambda) = \operatorname{sign}(a)\,(|a| - \lambda)_+ .

Taking the coordinates in turn and keeping :math:`h`, the *slope*, up to date costs :math:`O(k)` for a coordinate that moves and
:math:`O(1)` for one that does not. The objective never rises, and for such a sum of a smooth and a separable convex function the
limit is the minimum (Tseng, 2001). Where columns are nearly dependent it takes very many sweeps; then
:mod:`qed.optim.sparse.support` goes on.

Friedman, Hastie and Tibshirani (2010), Regularization paths for generalized linear models via coordinate descent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.base.compile import kernel

# Sums may be taken in any order, which lets the compiler use vectors; the order is the same every time.
FAST = {"contract", "reassoc", "nsz"}


@kernel(within=True)
def soft_threshold(value: float, limit: float, positive: bool) -> float:
    """Move `value` towards zero by `limit`; a `positive` coefficient stays at zero where it would be negative."""
    if value > limit:
        return value - limit
    if value < -limit and not positive:
        return value + limit
    return 0.0


@kernel(fastmath=FAST)
def descend(gram: Any, slope: Any, coef: Any, l1: float, l2: float, positive: bool, sweeps: int, enough: float) -> int:
    """Sweep over all coordinates, several times; `coef` and `slope` are changed in place.

    Only the first k rows and columns of the symmetric `gram` are looked at; `slope` is ``q - gram @ coef``. It stops
    after a sweep in which no coordinate lowered the objective by more than `enough`, and gives the number of sweeps
    made.
    """
    k = len(coef)
    for sweep in range(sweeps):
        largest = 0.0
        for j in range(k):
            curvature = gram[j, j] + l2
            if curvature <= 0.0:
                continue
            old = coef[j]
            new = soft_threshold(slope[j] + gram[j, j] * old, l1, positive) / curvature
            move = new - old
            if move != 0.0:
                coef[j] = new
                take_away(slope, gram[j, :k], move)
                largest = max(largest, 0.5 * move * move * curvature)
        if largest <= enough:
            return sweep + 1
    return sweeps


@kernel(within=True, fastmath=FAST)
def take_away(total: Any, row: Any, factor: float) -> None:
    """Subtract ``factor * row`` from `total`, in place."""
    for t in range(len(total)):
        total[t] -= factor * row[t]


@kernel(fastmath=FAST)
def subtract_rows(total: Any, table: Any, coef: Any) -> None:
    """Subtract ``coef @ table`` from `total`, in place, reading only the rows of coefficients that are not zero."""
    for j in range(len(coef)):
        if coef[j] != 0.0:
            take_away(total, table[j, : len(total)], coef[j])


def penalty_gap(
    slope: np.ndarray, coef: np.ndarray, l1: float, l2: float, positive: bool, reach: float, over: float
) -> tuple[float, float, float]:
    r"""Give the penalty, its part of the duality gap, and the scaling of the dual point, all columns considered.

    It is the second term of the gap of :mod:`qed.optim.functions.gap`, sorted so that nothing large cancels: for
    :math:`\lambda_2 > 0` a sum of terms :math:`g(w_j) + g^*(h_j) - w_j h_j \ge 0`, each zero where coordinate j is optimal; for
    :math:`\lambda_2 = 0` the dual point is first shrunk by :math:`s` until no correlation exceeds :math:`\lambda_1`.
    Without any penalty (which leaves signs to be found) the bound holds among coefficients of at most the same sum of sizes.

    `reach` is the largest correlation of columns that are not among these k, and `over` the sum of the squares by which
    such correlations exceed `l1`.
    """
    sizes, pull = np.abs(coef), slope if positive else np.abs(slope)
    size, largest = float(sizes.sum()), float(pull.max(initial=reach))
    inner = float((l1 * sizes - coef * (slope - 0.5 * l2 * coef)).sum())
    value = l1 * size + 0.5 * l2 * float(coef @ coef)
    if l2 > 0.0:
        excess = over + float((np.maximum(pull - l1, 0.0) ** 2).sum())
        return value, inner + excess / (2.0 * l2), 1.0
    if l1 == 0.0:
        return value, inner + largest * size, 1.0 if size > 0.0 else 0.0
    scale = l1 / largest if largest > l1 else 1.0
    return value, inner + (1.0 - scale) * float(coef @ slope), scale
