"""Least-squares problems that go wrong, and their exact answers: what claims about digits are held against."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tests.regression.exact import Exact


@dataclass(frozen=True)
class Problem:
    """A table, a target and weights, with the exact coefficients and intercept of its least squares.

    Attributes
    ----------
    X, y : ndarray
        The table.
    weight : ndarray or None
        Weights of the rows.
    centered : bool
        Whether there is an intercept.
    """

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None
    centered: bool = True

    @cached_property
    def exact(self) -> list[Fraction]:
        """The coefficients, and the intercept last."""
        judge = Exact(self.X, self.y, weight=self.weight, centered=self.centered)
        coef = judge.solution()
        level = judge.y_mean - sum(m * c for m, c in zip(judge.x_mean, coef))
        return [*coef, level]

    @cached_property
    def is_full(self) -> bool:
        """Whether there is one solution only, in exact arithmetic."""
        try:
            return len(self.y) - self.centered >= self.X.shape[1] and bool(self.exact)
        except AssertionError:
            return False

    def error(self, coef: np.ndarray, intercept: float) -> float:
        """Give the largest relative error of coefficients and intercept; what is next to nothing is compared with what it is made of."""
        found = [Fraction(float(value)) for value in [*coef, intercept]]
        exact = self.exact
        mean = np.average(self.X, axis=0, weights=self.weight) * self.centered
        away, level = self.X - mean, (self.y - np.average(self.y, weights=self.weight) * self.centered)
        root = np.ones(len(self.y)) if self.weight is None else np.sqrt(self.weight)
        unit = np.maximum(
            np.abs(away).max(axis=0), 1e-305
        )  # squares of these can be held, those of the values maybe not
        length = unit * np.linalg.norm(root[:, None] * (away / unit), axis=0)
        true = np.array([abs(float(value)) for value in exact])
        high = max(float(np.abs(level).max()), 1e-305)
        reach = high * np.linalg.norm(root * (level / high)) + length @ true[:-1]
        size = abs(np.average(self.y, weights=self.weight)) + np.abs(mean) @ true[:-1]
        # Claims compare what is smaller than a hundred-thousandth with that; lengths are rounded here.
        least = 1.000001e-5 * np.append(reach / np.where(length > 0, length, np.inf), size)
        off = np.array([float(abs(a - b)) for a, b in zip(found, exact)])
        off[-1] *= self.centered
        whole = np.maximum(true, least)
        return float(np.max(np.divide(off, whole, out=np.zeros(len(off)), where=whole > 0), initial=0.0))


def draw(generator: np.random.Generator) -> Problem:
    """Make a problem with some of the defects there are: near-dependent columns, offsets, units, large residuals, duplicates."""
    p = int(generator.integers(1, 5))
    n = int(generator.integers(p + 2, 25))
    X = generator.standard_normal((n, p))
    if generator.random() < 0.2:
        X = np.round(2 * X)
    if p > 1 and generator.random() < 0.5:
        X[:, -1] = X[:, 0] + 10.0 ** -generator.uniform(2, 14) * X[:, -1]
    if generator.random() < 0.3:
        X += 10.0 ** generator.uniform(1, 9)
    if generator.random() < 0.3:
        X *= 10.0 ** generator.integers(-8, 9, p)
    if generator.random() < 0.2:
        X = X.astype(np.float32).astype(np.float64)
    w = generator.standard_normal(p)
    noise = 10.0 ** generator.uniform(-12, 6) * generator.integers(0, 2)
    y = X @ w + noise * np.linalg.norm(X @ w) / np.sqrt(n) * generator.standard_normal(n)
    if generator.random() < 0.1:
        y = generator.standard_normal(n)
    if generator.random() < 0.15:
        X[n // 2 :], y[n // 2 :] = X[: n - n // 2], y[: n - n // 2]
    if generator.random() < 0.1:
        X[0] *= 1e9
    weight = generator.uniform(0.1, 5, n) if generator.random() < 0.2 else None
    return Problem(X, y, weight, bool(generator.integers(0, 2)))


def plain(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Make data as people have them: columns of any unit, some far from zero, some of zeros and ones, noise, maybe weights."""
    p = int(generator.integers(1, 12))
    n = int(generator.integers(6 * p + 20, 400))
    X = generator.standard_normal((n, p))
    few = generator.random(p) < 0.3
    X[:, few] = X[:, few] > 0
    X = X * 10.0 ** generator.integers(-2, 3, p) + generator.choice([0.0, 1.0, 100.0, 1e4], p)
    w = generator.standard_normal(p) / X.std(axis=0)
    y = X @ w + 10.0 ** generator.uniform(-2, 1) * generator.standard_normal(n)
    return X, y, generator.uniform(0.1, 3, n) if generator.random() < 0.3 else None
