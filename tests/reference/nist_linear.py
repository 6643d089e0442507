"""NIST's certified linear least-squares problems, and how many of their digits floating point can be asked for.

Rounding makes a computed solution the exact one of data moved by a relative η = n u in every column (sums of n terms, each rounded to
u = 2^-53). To first order the coefficients then move by

    |δβ_j| <= η ( |row j of A⁺| (|y| + Σ_k |β_k| |a_k|)  +  |r| Σ_k |(A'A)⁻¹_jk| |a_k| )

(Wedin; Higham, Accuracy and Stability of Numerical Algorithms, 20.1), and certified values are themselves rounded to 15 digits.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("nist_linear.json")
UNIT, PRINTED = 2.0**-53, 5e-15


@dataclass(frozen=True)
class Problem:
    """A table with its certified least-squares solution.

    Attributes
    ----------
    X, y : ndarray
        The table.
    intercept : bool
        Whether the model has one.
    coefficients, deviations : ndarray
        The certified coefficients, the intercept first, and their standard deviations.
    residual : float
        The certified standard deviation of the residuals.
    """

    X: np.ndarray
    y: np.ndarray
    intercept: bool
    coefficients: np.ndarray
    deviations: np.ndarray
    residual: float

    @property
    def rounding(self) -> float:
        """How far rounding may move the data: η."""
        return len(self.y) * UNIT

    @cached_property
    def design(self) -> np.ndarray:
        return np.column_stack([np.ones(len(self.y)), self.X]) if self.intercept else self.X

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.linalg.norm(self.design, axis=0)

    @cached_property
    def residual_length(self) -> float:
        return float(np.sqrt(len(self.y) - len(self.coefficients)) * self.residual)

    @cached_property
    def size(self) -> float:
        """The length of y and of all columns times their coefficients: what the residuals are the difference of."""
        return float(np.linalg.norm(self.y) + np.abs(self.coefficients) @ self.lengths)

    def coefficient_errors(self) -> np.ndarray:
        """Bound the relative errors of the coefficients."""
        Q, R = np.linalg.qr(self.design / self.lengths)
        inverse = np.linalg.inv(R)
        moved = np.linalg.norm(inverse @ Q.T, axis=1) * self.size
        moved += np.abs(inverse @ inverse.T).sum(axis=1) * self.residual_length
        return self.rounding * moved / (np.abs(self.coefficients) * self.lengths) + PRINTED

    def deviation_error(self) -> float:
        """Bound the relative error of standard deviations.

        (A'A)⁻¹ is as sure as the condition of A allows, and the squares of the residuals lose what cancels in y'y - ŷ'y.
        """
        condition = np.linalg.cond(self.design / self.lengths)
        centred = np.linalg.norm(self.y - self.intercept * self.y.mean())
        return float(self.rounding * (condition + (centred / self.residual_length) ** 2) + PRINTED)


def _problem(found: dict) -> Problem:
    x = np.array(found["x"], dtype=float).T
    return Problem(
        X=x if found["degree"] is None else x ** np.arange(1.0, found["degree"] + 1),
        y=np.array(found["y"], dtype=float),
        intercept=found["intercept"],
        coefficients=np.array(found["certified"], dtype=float),
        deviations=np.array(found["deviations"], dtype=float),
        residual=float(found["residual"]),
    )


PROBLEMS = {name: _problem(found) for name, found in json.loads(FILE.read_text(encoding="utf-8")).items()}
