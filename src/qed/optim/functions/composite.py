r"""A smooth function plus a penalty, which may have kinks.

.. math:: F(w) = f(w) + g(w), \qquad \text{for example}\quad F(w) = \sum_i \omega_i \ell(x_i^\top w, y_i) + \lambda \|w\|_1 .

A `Composite` is an objective like any other: its gradient is the *shortest subgradient* of :math:`F`, which vanishes exactly at a
minimum, where :math:`-\nabla f(w)` is a subgradient of :math:`g`. Methods that know about the parts use them one by one. Of a loss of
linear predictions the duality gap is known too (:mod:`qed.optim.functions.gap`), and then a run ends with a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.numbers import TINY
from qed.base.sources.block import is_sparse
from qed.optim.functions.gap import fenchel_gap
from qed.optim.functions.losses import Loss
from qed.optim.functions.objective import HALF_OF_THE_DIGITS, Objective
from qed.optim.functions.penalties import Penalty
from qed.stats.products import dense


class Composite(Objective):
    """A smooth objective plus a penalty.

    Parameters
    ----------
    smooth : Objective or callable
        The smooth part.
    penalty : Penalty
        The other part.
    gap : callable, optional
        Gives a bound of how far the value at a point can be above the minimum.

    Examples
    --------
    >>> from qed.optim.functions.penalties import L1
    >>> both = Composite(Objective(lambda w: 0.5 * (w - 3) @ (w - 3), lambda w: w - 3), L1(1.0))
    >>> both.value([2.0]), both.gradient([2.0]), both.gradient([0.0])
    (2.5, array([0.]), array([-2.]))
    """

    def __init__(self, smooth: Any, penalty: Penalty, gap: Callable[[np.ndarray], float] | None = None) -> None:
        self.smooth, self.penalty, self._bound = Objective.of(smooth), penalty, gap
        super().__init__(
            lambda w: self.smooth.value(w) + penalty.value(w),
            lambda w: penalty.subgradient(w, self.smooth.gradient(w)),
            strong_convexity=self.smooth.strong_convexity,
        )

    @property
    def gap_says(self) -> str:
        if self._bound is not None or self.strong_convexity > 0:
            return "value above its minimum, at most (relative)"
        return "shortest subgradient, relative to that at the start"

    def gap(self, point: np.ndarray, value: float, gradient: np.ndarray, first: tuple[float, float]) -> float:
        """Say how far a point is from a proof that it is a minimum, relative: by the duality gap, where it is known."""
        if self._bound is None:
            return super().gap(point, value, gradient, first)
        size = max(abs(value), HALF_OF_THE_DIGITS * first[0], TINY)
        return max(0.0, self._bound(point)) / size


def penalised(X: Any, y: Any, loss: Loss, penalty: Penalty, sample_weight: Any = None) -> Composite:
    r"""Make the objective :math:`\sum_i \omega_i \ell(x_i^\top w, y_i) + g(w)`, with its smoothness and its duality gap.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, p)
        The features.
    y : ndarray of shape (n,)
        The target; labels are -1 and 1.
    loss : Loss
        A smooth loss.
    penalty : Penalty
        The penalty.
    sample_weight : ndarray of shape (n,), optional
        The weights of the rows, none of them negative.

    Examples
    --------
    >>> from qed.optim import L1, SquaredLoss, minimize
    >>> lasso = penalised(np.eye(2), np.array([3.0, 0.5]), SquaredLoss(), L1(1.0))
    >>> found = minimize(lasso, [0.0, 0.0], method="proximal", tol=1e-12)
    >>> found.point, found.value, bool(found.certificate)
    (array([2., 0.]), 2.625, True)
    """
    y = np.asarray(y, dtype=np.float64)
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if X.shape[0] != len(y) or weight.shape != y.shape or (weight < 0).any():
        raise InputError(
            f"X has {X.shape[0]} rows, y has {y.shape} and the weights have {weight.shape}: give as many of each, and no "
            "negative weight."
        )
    if loss.has_kinks:
        raise InputError(f"{loss!r} has kinks: give a smooth loss, or use qed.optim.AbsoluteSum.")

    def pull(w: np.ndarray) -> np.ndarray:
        return -weight * loss.gradient(X @ w, y)

    def bound(w: np.ndarray) -> float:
        theta, scores = pull(w), X @ w
        dual = np.divide(theta, weight, out=np.zeros(len(y)), where=weight > 0)

        def misfit(scale: float) -> float:
            return loss.gap(scores, -scale * dual, y, weight)

        return fenchel_gap(loss.value(scores, y, weight), misfit, penalty, w, X.T @ theta).gap

    def product(w: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.asarray(X.T @ (weight * loss.curvature(X @ w, y) * (X @ v)))

    rows = X.multiply(np.sqrt(weight)[:, None]) if is_sparse(X) else X * np.sqrt(weight)[:, None]
    gram = rows.T @ rows if X.shape[0] >= X.shape[1] else rows @ rows.T
    largest = np.linalg.eigvalsh(dense(gram))[-1]
    smooth = Objective(
        lambda w: loss.value(X @ w, y, weight),
        lambda w: -np.asarray(X.T @ pull(w)),
        product=product,
        smoothness=float(loss.smoothness * largest) if 0 < loss.smoothness * largest < np.inf else None,
    )
    return Composite(smooth, penalty, bound)
