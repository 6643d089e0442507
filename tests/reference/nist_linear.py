"""NIST's certified linear least-squares problems, and how many of their digits floating point can be asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.rounding import LeastSquares

FILE = Path(__file__).with_name("nist_linear.json")
PRINTED = 5e-15  # certified values have 15 digits


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
        The certified length of the residuals.
    """

    X: np.ndarray
    y: np.ndarray
    intercept: bool
    coefficients: np.ndarray
    deviations: np.ndarray
    residual: float

    @property
    def exact(self) -> LeastSquares:
        design = np.column_stack([np.ones(len(self.y)), self.X]) if self.intercept else self.X
        return LeastSquares(design, self.y, self.coefficients, self.residual)

    def coefficient_errors(self) -> np.ndarray:
        return self.exact.coefficient_errors() + PRINTED

    def deviation_error(self) -> float:
        return self.exact.deviation_error() + self.exact.squares_error() + PRINTED


def _problem(found: dict) -> Problem:
    x = np.array(found["x"], dtype=float).T
    y, certified = np.array(found["y"], dtype=float), np.array(found["certified"], dtype=float)
    return Problem(
        X=x if found["degree"] is None else x ** np.arange(1.0, found["degree"] + 1),
        y=y,
        intercept=found["intercept"],
        coefficients=certified,
        deviations=np.array(found["deviations"], dtype=float),
        residual=float(np.sqrt(len(y) - len(certified)) * found["residual"]),
    )


PROBLEMS = {name: _problem(found) for name, found in json.loads(FILE.read_text(encoding="utf-8")).items()}
