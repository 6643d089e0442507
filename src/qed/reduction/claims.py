r"""What is claimed of the directions along which something varies most: that they are orthonormal, eigenvectors, and the first ones.

Let :math:`V` have k orthonormal rows and let :math:`SV^\top = V^\top \Theta + E`. Without what couples their plane to the rest, at most
:math:`\|E\|`, the matrix falls into two parts. If the second has no eigenvalue above :math:`\theta_k + \tau`, which an inertia count tells,
the k largest of both exceed those of the first by no more than :math:`k \tau`; and so no plane of k dimensions misses less than this one
by more than :math:`k (\tau + 4 \|E\|)`.
"""

from __future__ import annotations

import numpy as np

from qed.base.certificate import MOST_ROUNDING, Claim
from qed.base.numbers import EPS, TINY
from qed.reduction.spread import Spread

TOLERANCE = 1e-9
LEAST = "reconstruction error above the least possible, at most (relative to all variance)"
# A level that something exceeds is raised by such factors, until nothing does.
RAISE, MOST_RAISES = 2.0, 40


def claim_of_signs(directions: np.ndarray, what: str) -> Claim:
    """Claim that directions, the rows of a matrix, have the one of their two signs with which their largest entry is positive."""
    there = np.arange(len(directions)), np.abs(directions).argmax(axis=1)
    turned = float((np.asarray(directions)[there] < 0).sum())
    return Claim(f"the largest entry of each of {what} is positive (those that are not)", turned, 0.0)


class Plane:
    """Directions of shape (k, p), with what are taken for their eigenvalues, judged by a spread."""

    def __init__(self, spread: Spread, directions: np.ndarray, values: np.ndarray) -> None:
        self.spread, self.directions, self.values = spread, directions, values
        k, p = directions.shape
        self.largest = max(float(values.max(initial=0.0)), TINY)
        self.skew = float(np.abs(directions @ directions.T - np.eye(k)).max(initial=0.0))
        image = spread.applied(directions)
        # In units of the largest, since squares of squares may leave the range of numbers.
        self.away = (
            float(np.linalg.norm(image / self.largest - values[:, None] / self.largest * directions)) * self.largest
        )
        # Rows that are all alike are known to be, unless sums from which heavier rows were taken say so.
        hidden = spread.noise + 4 * (p + k) * EPS * spread.total
        self.rounding = hidden / self.largest if hidden > 0 else 0.0
        # A bound that anything would meet proves nothing.
        self.allowed = min(self.rounding, MOST_ROUNDING)

    def claims(self, what: str = "components") -> list[Claim]:
        """Claim that directions are orthonormal eigenvectors."""
        bound = TOLERANCE + 4 * self.directions.shape[1] * EPS
        return [
            self.claim_of_angles(what, bound),
            Claim(
                f"{what} are eigenvectors (residual, relative)",
                self.away / self.largest + self.rounding,
                TOLERANCE + 2 * self.allowed,
            ),
        ]

    def claim_of_angles(self, what: str, bound: float) -> Claim:
        """Claim that directions are orthonormal."""
        return Claim(f"{what} are orthonormal (products off, at most)", self.skew, bound)

    def claim_of_least(self, says: str = LEAST) -> Claim:
        """Claim that no plane is nearer to the rows."""
        k, total, spread = len(self.values), self.spread.total or 1.0, self.spread
        away = self.away + self.rounding * self.largest
        lost = spread.lost * float(self.values[-1])
        slack = TOLERANCE * self.largest + 2 * away + 2 * lost
        # Rows that are all alike lie in every plane.
        beyond = spread.total > 0 and spread.exceeds(float(self.values[-1]) + slack, self.directions)
        return Claim(
            says,
            np.inf if beyond else k * (slack + 4 * away) / total,
            8 * k * (TOLERANCE + self.allowed + lost / self.largest),
        )

    def excess(self) -> float:
        r"""Bound how much more than the least possible this plane misses, relative to all variance, however good it is.

        If nothing beyond the plane exceeds a level, the k largest of both parts exceed those of the plane by
        :math:`\sum_j (\ell - \theta_j)_+`, and what couples the parts adds the sum of its singular values, at most
        :math:`\sqrt k \|E\|_F`.
        """
        k, total, last = len(self.values), self.spread.total, float(self.values[-1])
        if total == 0:  # rows that are all alike lie in every plane
            return 0.0
        hidden = (self.rounding + TOLERANCE) * self.largest
        slack = self.away / 8 + hidden + 2 * self.spread.lost * last
        for _ in range(MOST_RAISES):
            if not self.spread.exceeds(last + slack, self.directions):
                above = np.maximum(last + slack - self.values, 0.0).sum() + k**0.5 * self.away + k * hidden
                return float(min(above / total, 1.0))
            slack *= RAISE
        return 1.0
