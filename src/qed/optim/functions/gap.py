r"""The duality gap of a penalised loss: a proof of how far a point is from the minimum, at most.

.. math:: P(w) = \sum_i \omega_i f_i(x_i^\top w) + g(w) \ \ge\ D(\theta) = -\sum_i \omega_i f_i^*(-\theta_i / \omega_i) - g^*(X^\top \theta)

for every :math:`w` and every :math:`\theta` (Fenchel and Rockafellar). So :math:`P(w) - D(\theta)` bounds what :math:`w`
misses, whatever :math:`\theta` is. A good one comes for free: :math:`\theta_i = -\omega_i f_i'(x_i^\top w)`, which is optimal
when :math:`w` is, shrunk by the penalty's dual scaling :math:`s` until :math:`g^*(s X^\top\theta)` is finite. The gap needs of the
data no more than the loss, the vector :math:`X^\top \theta`, and the conjugate as a function of :math:`s`: arrays, rows
folded in blocks and moments give these alike, so it is written once, here. The cost beyond a gradient is :math:`O(n + p)`.

Rockafellar (1970), Convex Analysis, section 31.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

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
        The gap over the size of the objective, never negative: the objective is at most that share above its minimum.
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
    primal = loss_value + penalty.value(coef)
    scale = penalty.dual_scale(correlation)
    dual = -conjugate(scale) - penalty.conjugate(scale * np.asarray(correlation))
    gap = primal - dual if np.isfinite(primal) else np.inf
    relative = 0.0 if gap <= 0 else gap / abs(primal) if 0 < abs(primal) < np.inf else np.inf
    return Gap(primal, dual, gap, float(relative), scale)
