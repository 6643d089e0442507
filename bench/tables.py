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


@cache
def correlated(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """A sparse problem: neighbouring columns correlate by 0.6, fifty of them matter, a tenth of the variance is noise; all centred."""
    generator = np.random.default_rng(0)
    fresh = generator.standard_normal((n, p))
    X = np.empty((n, p), order="F")
    X[:, 0] = fresh[:, 0]
    for j in range(1, p):
        X[:, j] = 0.6 * X[:, j - 1] + 0.8 * fresh[:, j]
    coef = np.zeros(p)
    coef[generator.choice(p, 50, replace=False)] = generator.standard_normal(50)
    signal = X @ coef
    y = signal + generator.standard_normal(n) * signal.std() / 3
    X -= X.mean(axis=0)
    return X, y - y.mean()


def lasso_objective(X: np.ndarray, y: np.ndarray, coef: np.ndarray, alpha: float) -> tuple[float, float]:
    """The lasso's objective without an intercept, and its duality gap relative to it."""
    n, coef = len(y), np.ravel(coef)
    residual = y - X @ coef
    primal = 0.5 * residual @ residual / n + alpha * np.abs(coef).sum()
    scale = min(1.0, n * alpha / np.abs(X.T @ residual).max())
    dual = (scale * (residual @ y) - 0.5 * scale**2 * (residual @ residual)) / n
    return float(primal), float((primal - dual) / primal)


@cache
def overlapping(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes of three clusters each in ten of the columns, which overlap; two labels in a hundred are flipped."""
    from sklearn.datasets import make_classification

    return make_classification(
        n, p, n_informative=10, n_redundant=4, n_clusters_per_class=3, flip_y=0.02, class_sep=0.7, random_state=0
    )


@cache
def gaussian_classes(n: int, p: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian classes that overlap, of one covariance."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, k, n)
    X = generator.standard_normal((n, p)) + 0.3 * generator.standard_normal((k, p))[y]
    return X, y
