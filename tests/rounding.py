"""What rounding may do to a least-squares solution: the bounds that tolerances of tests follow from.

Rounding makes a computed solution the exact one of data moved by a relative η = n u in every column (sums of n terms, each rounded to
u = 2^-53). To first order the coefficients then move by

    |δβ_j| <= η ( |row j of A⁺| (|y| + Σ_k |β_k| |a_k|)  +  |r| Σ_k |(A'A)⁻¹_jk| |a_k| )

(Wedin; Higham, Accuracy and Stability of Numerical Algorithms, 20.1). A factor of A loses the condition κ of A, whose columns may be
scaled, and a Gram matrix its square; residuals lose what cancels in y - Aβ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

UNIT = 2.0**-53


@dataclass(frozen=True)
class LeastSquares:
    """A problem, with its solution and the length of its residuals.

    Attributes
    ----------
    design, y : ndarray
        The columns, with one of ones where there is an intercept, and the target.
    coefficients : ndarray
        The solution.
    residual : float
        The length of the residuals.
    """

    design: np.ndarray
    y: np.ndarray
    coefficients: np.ndarray
    residual: float

    @property
    def moved(self) -> float:
        """How far rounding may move the data: η."""
        return len(self.y) * UNIT

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.linalg.norm(self.design, axis=0)

    @cached_property
    def condition(self) -> float:
        return float(np.linalg.cond(self.design / self.lengths))

    @cached_property
    def size(self) -> float:
        """The length of y and of all columns times their coefficients: what the residuals are the difference of."""
        return float(np.linalg.norm(self.y) + np.abs(self.coefficients) @ self.lengths)

    def coefficient_errors(self, off_design: float = 0.0) -> np.ndarray:
        """Bound the relative errors of the coefficients, where columns may be off by more than rounding."""
        Q, R = np.linalg.qr(self.design / self.lengths)
        inverse = np.linalg.inv(R)
        by_target = np.linalg.norm(inverse @ Q.T, axis=1) * self.size
        by_columns = np.abs(inverse @ inverse.T).sum(axis=1) * self.residual
        moved = self.moved * by_target + (self.moved + off_design) * by_columns
        return moved / (np.abs(self.coefficients) * self.lengths)

    def deviation_error(self) -> float:
        """Bound the relative error of standard deviations from a factor of A."""
        return self.moved * (self.condition + self.size / self.residual)

    def squares_error(self) -> float:
        """Bound the relative error of the squares of the residuals as the difference of two sums of squares about the mean."""
        return self.moved * float(np.linalg.norm(self.y - self.y.mean()) / self.residual) ** 2
