r"""Convex quadratic programs, and what multipliers prove about them.

.. math:: p^* = \min_x \tfrac12 x^\top P x + q^\top x \ \text{ s.t. }\ G x \le h,\ A x = b.

With :math:`r = P\hat x + q + G^\top\lambda + A^\top\nu` for any :math:`\hat x`, :math:`\nu` and :math:`\lambda \ge 0`, convexity gives
for every feasible z

.. math:: f(z) \ \ge\ L(z, \lambda, \nu) \ \ge\ -\tfrac12 \hat x^\top P \hat x - h^\top\lambda - b^\top\nu + r^\top z ,

a bound that needs no exact solution of anything; rounding may leave P an eigenvalue a little below zero, which is allowed for. Where
:math:`r` is only nearly zero, it holds for all z with :math:`\|z\| \le \rho` after :math:`\rho\|r\|` is taken off. Multipliers with
:math:`G^\top\lambda + A^\top\nu = 0` and :math:`h^\top\lambda + b^\top\nu < 0` prove that nothing is feasible (Farkas); a direction d
with :math:`Pd = 0`, :math:`Gd \le 0`, :math:`Ad = 0` and :math:`q^\top d < 0` that a feasible problem has no minimum. All sums are
computed with a bound on their rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from qed.base.certificate import Claim
from qed.base.errors import InputError
from qed.base.numbers import EPS, ratio

# Points that are farther than this many times the solution are not looked at where equations hold only nearly.
REACH = 10.0


@dataclass(frozen=True)
class Program:
    """The data of a convex quadratic program, checked."""

    P: np.ndarray
    q: np.ndarray
    G: np.ndarray
    h: np.ndarray
    A: np.ndarray
    b: np.ndarray
    dip: float = 0.0  # by how much the least eigenvalue of P may be below zero

    @classmethod
    def of(
        cls,
        P: ArrayLike | None,
        q: ArrayLike,
        G: ArrayLike | None = None,
        h: ArrayLike | None = None,
        A: ArrayLike | None = None,
        b: ArrayLike | None = None,
    ) -> Program:
        """Check what a user gave; see `solve_qp`."""
        slope = np.atleast_1d(np.asarray(q, dtype=np.float64)).ravel()
        d = len(slope)
        square = np.zeros((d, d)) if P is None else np.atleast_2d(np.asarray(P, dtype=np.float64))
        if square.shape != (d, d):
            raise InputError(
                f"P must be of shape ({d}, {d}), like q with its {d} numbers; it is of shape {square.shape}."
            )
        parts = (square, slope, *_rows(G, h, d, "G", "h"), *_rows(A, b, d, "A", "b"))
        for name, part in zip("PqGhAb", parts):
            if not np.isfinite(part).all():
                raise InputError(f"{name} must be finite: leave out an inequality without a limit.")
        size = np.abs(square).max(initial=0.0)
        if np.abs(square - square.T).max(initial=0.0) > 1e-10 * size:
            raise InputError("P must be symmetric: give (P + P.T) / 2, which is the same function.")
        square = (square + square.T) / 2
        least = np.linalg.eigvalsh(square)[0] if d else 0.0
        if least < -1e-12 * d * size:
            raise InputError(f"P has the negative eigenvalue {least:g}: the problem is not convex.")
        return cls(square, *parts[1:], dip=max(0.0, -float(least)) + d * EPS * float(size))

    @property
    def rounding(self) -> float:
        """The most that a sum over all variables or constraints is off, relative to the sizes of its terms."""
        return 2 * (len(self.q) + len(self.h) + len(self.b) + 8) * EPS

    def value(self, x: np.ndarray) -> float:
        return float(x @ (self.P @ x) / 2 + self.q @ x)

    def slope(self, x: np.ndarray, above: np.ndarray, equal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give the gradient of the Lagrangian, and a bound on its rounding."""
        found = self.P @ x + self.q + self.G.T @ above + self.A.T @ equal
        sizes = (
            np.abs(self.P) @ np.abs(x)
            + np.abs(self.q)
            + np.abs(self.G).T @ np.abs(above)
            + np.abs(self.A).T @ np.abs(equal)
        )
        return found, self.rounding * sizes

    def bound(self, x: np.ndarray, above: np.ndarray, equal: np.ndarray) -> float:
        """Give the dual value, from below up to what the slope is off."""
        return float(-x @ (self.P @ x) / 2 - self.h @ above - self.b @ equal)

    def claims(self, x: np.ndarray, above: np.ndarray, equal: np.ndarray, tol: float) -> list[Claim]:
        """Claim that a point is the minimum."""
        slack, slack_size = self.G @ x - self.h, np.abs(self.G) @ np.abs(x) + np.abs(self.h)
        off, off_size = self.A @ x - self.b, np.abs(self.A) @ np.abs(x) + np.abs(self.b)
        residual, noise = self.slope(x, above, equal)
        near = self.near
        reach = (1 + REACH) * max(float(np.linalg.norm(x)), near)
        terms = (x @ (self.P @ x), self.q @ x, self.h @ above, self.b @ equal)
        # Where the objective is zero, what is added up is nothing: then its change over a natural length is the measure.
        change = float(np.linalg.norm(self.q)) * near + float(np.abs(self.P).max(initial=0.0)) * near**2
        size = max(float(sum(abs(term) for term in terms)), 1e-6 * (change or 1.0))
        sizes = np.abs(x) @ np.abs(self.P) @ np.abs(x) + np.abs(self.q) @ np.abs(x)
        sizes += np.abs(self.h) @ np.abs(above) + np.abs(self.b) @ np.abs(equal)
        gap = abs(self.value(x) - self.bound(x, above, equal)) + float(np.linalg.norm(residual)) * reach
        lost = self.rounding * float(sizes) + float(np.linalg.norm(noise)) * reach + self.dip * reach**2 / 2
        return [
            Claim.within(
                "inequalities are kept (largest excess, relative)", _share(slack, slack_size), tol, self.rounding
            ),
            Claim.within(
                "equalities are met (largest distance, relative)", _share(np.abs(off), off_size), tol, self.rounding
            ),
            Claim("multipliers of inequalities are not negative", float(np.max(-above, initial=0.0)) + 0.0, 0.0),
            Claim.within(
                "objective is off the least of all feasible points up to ten times as far out, at most (relative)",
                ratio(gap, size),
                tol,
                ratio(lost, size),
            ),
        ]

    def infeasible_claims(self, above: np.ndarray, equal: np.ndarray, tol: float) -> list[Claim]:
        """Claim that multipliers prove that no point is feasible (Farkas)."""
        combined = self.G.T @ above + self.A.T @ equal
        noise = self.rounding * (np.abs(self.G).T @ above + np.abs(self.A).T @ np.abs(equal))
        left = float(self.h @ above + self.b @ equal)
        size = float(np.abs(self.h) @ above + np.abs(self.b) @ np.abs(equal))
        below = -left - self.rounding * size
        length = float(np.linalg.norm(np.abs(combined) + noise))
        far = self.far
        return [
            Claim("multipliers of inequalities are not negative", float(np.max(-above, initial=0.0)) + 0.0, 0.0),
            Claim(
                "no feasible point is nearer than one over this, relative to the constraints",
                length * far / below if below > 0 else np.inf,
                tol,
            ),
        ]

    @property
    def _distances(self) -> np.ndarray:
        """How far from the origin the boundaries of the constraints lie that do not go through it."""
        rows, right = np.vstack([self.G, self.A]), np.abs(np.concatenate([self.h, self.b]))
        lengths = np.linalg.norm(rows, axis=1)
        used = (lengths > 0) & (right > 0)
        return np.asarray(right[used] / lengths[used])

    @property
    def far(self) -> float:
        """How far from the origin the boundary of a constraint lies, at most."""
        return float(self._distances.max(initial=0.0)) or 1.0

    @property
    def near(self) -> float:
        """A natural length: the distance of the nearest boundary, or how far the slope reaches."""
        if len(self._distances):
            return float(self._distances.min())
        return ratio(float(np.linalg.norm(self.q)), float(np.abs(self.P).max(initial=0.0))) if self.P.any() else 1.0

    def unbounded_claims(self, direction: np.ndarray, tol: float) -> list[Claim]:
        """Claim that the objective falls for ever along a direction that no constraint forbids."""
        parts = [
            (np.abs(self.P @ direction), np.abs(self.P) @ np.abs(direction)),
            (self.G @ direction, np.abs(self.G) @ np.abs(direction)),
            (np.abs(self.A @ direction), np.abs(self.A) @ np.abs(direction)),
        ]
        worst = max(_share(found, size) for found, size in parts)
        fall, size = float(self.q @ direction), float(np.abs(self.q) @ np.abs(direction))
        return [
            Claim.within(
                "the direction leads out of no constraint, and is flat (largest excess, relative)",
                worst,
                tol,
                self.rounding,
            ),
            Claim("the objective falls along it (slope, relative)", ratio(fall, size), -tol - self.rounding),
        ]


def _rows(
    matrix: ArrayLike | None, right: ArrayLike | None, d: int, left_name: str, right_name: str
) -> tuple[np.ndarray, np.ndarray]:
    if matrix is None and right is None:
        return np.zeros((0, d)), np.zeros(0)
    if matrix is None or right is None:
        raise InputError(f"{left_name} and {right_name} belong together: give both or none.")
    table, values = np.atleast_2d(np.asarray(matrix, np.float64)), np.atleast_1d(np.asarray(right, np.float64)).ravel()
    if table.size == 0 and len(values) == 0:
        return np.zeros((0, d)), np.zeros(0)
    if table.shape != (len(values), d):
        raise InputError(
            f"{left_name} must be of shape ({len(values)}, {d}), for {right_name} and q; it is of shape {table.shape}."
        )
    return table, values


def _share(excess: np.ndarray, size: np.ndarray) -> float:
    """Give the largest excess, relative to the sizes of what it was computed from."""
    return float(np.max(np.asarray(ratio(np.maximum(excess, 0.0), size)), initial=0.0)) if len(excess) else 0.0
