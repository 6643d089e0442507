"""What is proven of a nonlinear fit: that it is a local minimum, determined by the data, and no worse than its starts."""

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS, ratio
from qed.optim.solvers.gauss_newton import MOST_LOST, stationary
from qed.regression.nonlinear.rows import RowResiduals


def nonlinear_claims(
    objective: RowResiduals, w: np.ndarray, cost: float, starts: np.ndarray, tol: float
) -> list[Claim]:
    """Make the claims of a fit from the data and its parameters.

    Nothing is said about other minima: the lowest of all can not be told from a local one by looking near it.
    """
    plane = objective.tangent(w)
    if not plane.is_finite:
        return [Claim("cosine between residuals and tangent plane", np.inf, tol)]
    costs = (objective.rows.fold(objective.curve.cost, start) for start in starts)
    least = min(cost if np.isfinite(cost) else np.inf for cost in costs)
    blur = 4 * plane.length * plane.noise(w)
    apart = 0.0 if plane.unseen(w, objective.scale).any() else plane.spread
    blind = 16 * len(w) * EPS
    apart_by = max(abs(plane.cost - cost) - blur, 0.0)
    return [
        stationary(objective, w, tol),
        Claim("share of the curvature that the residuals take away", objective.curvature_lost(w), MOST_LOST),
        Claim("parameters can not be told apart (rounding over least effect)", blind / max(apart, blind / 2), 1.0),
        Claim("cost above that at the start (relative)", ratio(max(plane.cost - least - blur, 0.0), least), 1e-12),
        Claim("cost_ is that of the data (difference, relative)", ratio(apart_by, plane.cost), 1e-10),
    ]
