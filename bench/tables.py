"""The tables that workloads share, made once per process."""

from functools import cache

import numpy as np


@cache
def tall(n: int = 200_000, p: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """A tall linear problem with unit noise."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, p))
    y = X @ generator.standard_normal(p) + generator.standard_normal(n) + 3.0
    return X, y


def squared_error(X: np.ndarray, y: np.ndarray, coef: np.ndarray, intercept: float, alpha: float = 0.0) -> float:
    """The ridge objective, divided by the number of rows."""
    residual = y - X @ np.ravel(coef) - float(np.ravel(intercept)[0])
    return float((residual @ residual + alpha * np.sum(np.square(coef))) / len(y))
