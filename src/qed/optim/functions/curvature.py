r"""The constants of strong convexity and smoothness, estimated from Hessians at points of a box.

.. math:: m = \inf_w \lambda_{\min}(\nabla^2 f(w)), \qquad M = \sup_w \max_j |\lambda_j(\nabla^2 f(w))|.

A sample sees neither the infimum nor the supremum: the true :math:`m` is at most, and the true :math:`M` at least, what
is found. Positive eigenvalues at every point are not enough for strong convexity, since their infimum may be zero, as
it is for :math:`\sqrt{w^2 + 1}`; and without convexity a large negative eigenvalue counts for :math:`M` like a positive
one. For quadratics both constants are exact. The cost is a Hessian and its eigenvalues, :math:`O(d^3)`, per point.

Nesterov (2018), Lectures on Convex Optimization, section 2.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.optim.functions.derivatives import Function
from qed.optim.functions.sampled import Sampled, draw_pairs


@dataclass(frozen=True)
class Curvature:
    """The extreme eigenvalues of a Hessian over a sample of points.

    Attributes
    ----------
    lowest, highest : float
        The extreme eigenvalues; zero where rounding, or an infimum over ever flatter places, can not be told from it.
    lowest_at, highest_at : ndarray of shape (d,)
        Where they were found.
    """

    lowest: float
    highest: float
    lowest_at: np.ndarray
    highest_at: np.ndarray

    @property
    def strong_convexity(self) -> float:
        """The constant m, 0 when the function is not strongly convex on the sample."""
        return max(self.lowest, 0.0)

    @property
    def smoothness(self) -> float:
        """The constant M."""
        return max(abs(self.lowest), abs(self.highest))

    @property
    def condition(self) -> float:
        """M / m, infinite without strong convexity."""
        return self.smoothness / self.lowest if self.lowest > 0 else math.inf


def estimate_curvature(
    function: Function,
    low: Any,
    high: Any,
    *,
    gradient: Function | None = None,
    hessian: Function | None = None,
    n_samples: int = 500,
    tol: float = 1e-9,
    random_state: Any = 0,
) -> Curvature:
    """Estimate the constants m and M of a function over a box.

    Parameters
    ----------
    function : callable
        Takes an array of shape (d,), gives a number.
    low, high : float or array_like of shape (d,)
        The box from which points are drawn; infinite sides are explored up to a distance of a million.
    gradient, hessian : callable, optional
        The function's derivatives; found by differences where they are missing.
    n_samples : int
        How many points to look at.
    tol : float
        Eigenvalues below this part of the largest count as zero.
    random_state : None, int or Generator
        Draws the points.

    Examples
    --------
    >>> found = estimate_curvature(lambda w: w[0] ** 2 + 50 * w[1] ** 2, [-1, -1], [1, 1])
    >>> round(found.strong_convexity, 4), round(found.smoothness, 4), round(found.condition, 4)
    (2.0, 100.0, 50.0)
    >>> estimate_curvature(lambda w: np.sqrt(w[0] ** 2 + 1), -np.inf, np.inf).strong_convexity
    0.0
    """
    sample = Sampled(*draw_pairs(low, high, n_samples, random_state), function, gradient, hessian)
    lowest, highest = sample.bends.min(axis=1), sample.bends.max(axis=1)
    first, last = int(lowest.argmin()), int(highest.argmax())
    nothing = tol * np.abs(sample.bends).max() + sample.hessian_noise
    low_end = float(lowest[first]) if abs(lowest[first]) > nothing[first] else 0.0
    high_end = float(highest[last]) if abs(highest[last]) > nothing[last] else 0.0
    return Curvature(low_end, high_end, sample.u[first], sample.u[last])
