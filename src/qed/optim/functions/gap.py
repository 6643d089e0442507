r"""The duality gap of a penalised loss: a proof of how far a point is from the minimum, at most.

.. math:: P(w) = \sum_i \omega_i f_i(x_i^\top w) + g(w) \ \ge\ D(\theta) = -\sum_i \omega_i f_i^*(-\theta_i / \omega_i) - g^*(X^\top \theta)

for every :math:`w` and every :math:`\theta` (Fenchel and Rockafellar). So :math:`P(w) - D(\theta)` bounds what :math:`w`
misses, whatever :math:`\theta` is. A good one comes for free: :math:`\theta_i = -\omega_i f_i'(x_i^\top w)`, which is optimal
when :math:`w` is, shrunk by the penalty's dual scaling :math:`s` until :math:`g^*(s X^\top\theta)` is finite. The gap is a sum of
two terms, neither of which is negative,

.. math:: \sum_i \bigl[\omega_i f_i(z_i) + \omega_i f_i^*(-s\theta_i / \omega_i) + s\theta_i z_i\bigr]
          + \bigl[g(w) + g^*(s X^\top\theta) - s\,w^\top X^\top\theta\bigr], \qquad z = Xw + b,

one of the loss alone and one of the penalty alone: so it is written once, here, for all of them, and for arrays, rows folded in
blocks and moments alike. An intercept :math:`b` costs nothing: its optimality condition is :math:`\sum_i \theta_i = 0`, and where
that does not quite hold yet, `balanced` makes it so. The cost beyond a gradient is :math:`O(n + p)`.

Rockafellar (1970), Convex Analysis, section 31.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from qed.base.numbers import ratio
from qed.optim.functions.penalties import Penalty


@dataclass(frozen=True)
class Gap:
    """A point's objective, a lower bound of all objectives, and how far they are apart.

    Attributes
    ----------
    primal, dual : float
        The objective, and a number that no objective is below.
    gap : float
        Their difference, which is not negative but for rounding.
    relative : float
        The gap over the objective, less what is the least loss for any predictions: at most that share of it could be saved.
    scale : float
        By how much the dual point was shrunk.
    """

    primal: float
    dual: float
    gap: float
    relative: float
    scale: float


def duality_gap(
    loss_value: float,
    conjugate: Callable[[float], float],
    penalty: Penalty,
    coef: np.ndarray,
    correlation: np.ndarray,
) -> Gap:
    r"""Bound how far the objective at `coef` is above its minimum.

    Parameters
    ----------
    loss_value : float
        The loss at `coef`, without the penalty.
    conjugate : callable
        The function :math:`s \mapsto \sum_i \omega_i f_i^*(-s\theta_i / \omega_i)`: from `Loss.conjugate`, or, where there are moments
        only, from `SquaredLoss.conjugate_of_sums`.
    penalty : Penalty
        The penalty.
    coef : ndarray of shape (p,)
        The coefficients.
    correlation : ndarray of shape (p,)
        :math:`X^\top\theta` with the raw dual point :math:`\theta`, minus the gradient of the loss in `coef`. An unpenalised
        intercept is no part of it: its equation, that :math:`\theta` sums to zero, has to hold already.

    Returns
    -------
    Gap
        With an infinite gap where the penalty allows no bound.

    Examples
    --------
    >>> from qed.optim.functions.losses import SquaredLoss
    >>> from qed.optim.functions.penalties import L1
    >>> X, y = np.eye(2), np.array([3.0, 0.5])
    >>> def gap_at(w):
    ...     loss, theta = SquaredLoss(), y - X @ w
    ...     return duality_gap(loss.value(X @ w, y), lambda s: loss.conjugate(-s * theta, y), L1(1.0), w, X.T @ theta)
    >>> gap_at(np.array([2.0, 0.0])).gap, round(gap_at(np.zeros(2)).relative, 3)
    (0.0, 0.444)
    """
    product = float(np.asarray(coef) @ np.asarray(correlation))

    def misfit(scale: float) -> float:
        return loss_value + conjugate(scale) + scale * product

    return fenchel_gap(loss_value, misfit, penalty, coef, correlation, -conjugate(0.0))


def fenchel_gap(
    loss_value: float,
    misfit: Callable[[float], float],
    penalty: Penalty,
    coef: np.ndarray,
    correlation: np.ndarray,
    least: float = 0.0,
) -> Gap:
    r"""Bound how far the objective at `coef` is above its minimum, by the two terms of the gap.

    Parameters
    ----------
    loss_value : float
        The loss at `coef`, without the penalty.
    penalty : Penalty
        The penalty.
    coef : ndarray of shape (p,)
        The coefficients.
    correlation : ndarray of shape (p,)
        :math:`X^\top\theta` with the raw dual point :math:`\theta`, minus the gradient of the loss in `coef`. An unpenalised
        intercept is no part of it: its equation, that :math:`\theta` sums to zero, has to hold already.
    misfit : callable
        The first term as a function of the scaling :math:`s`, from `Loss.gap`; for squares :math:`\tfrac12 (1 - s)^2 \|r\|^2`.
    least : float
        The least loss for any predictions, which no coefficients can save.

    Examples
    --------
    >>> from qed.optim.functions.penalties import L1
    >>> fenchel_gap(4.625, lambda s: (1 - s) ** 2 * 4.625, L1(1.0), np.zeros(2), np.array([3.0, 0.5])).gap
    2.0555...
    """
    primal, scale = loss_value + penalty.value(coef), penalty.dual_scale(correlation)
    shrunk = scale * np.asarray(correlation)
    apart = misfit(scale)
    dual = loss_value - apart + float(np.asarray(coef) @ shrunk) - penalty.conjugate(shrunk)
    if not np.isfinite(primal):
        return Gap(primal, dual, np.inf, np.inf, scale)
    gap = apart + penalty.gap(coef, shrunk)
    return Gap(primal, dual, gap, ratio(max(gap, 0.0), primal - least if np.isfinite(least) else abs(primal)), scale)


def balanced(theta: np.ndarray) -> np.ndarray:
    """Make a dual point sum to zero, as an intercept asks for, by shrinking what is positive or what is negative.

    A conjugate that is finite at a point and at zero is finite in between, so the result is as good a dual point as any, and near
    the minimum it is hardly changed.

    Examples
    --------
    >>> balanced(np.array([3.0, 1.0, -2.0]))
    array([ 1.5,  0.5, -2. ])
    """
    above, below = float(theta[theta > 0].sum()), -float(theta[theta < 0].sum())
    least = min(above, below)
    return np.where(theta > 0, theta * ratio(least, above), theta * ratio(least, below))
