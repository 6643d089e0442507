"""The catalogue's common fixtures."""

import numpy as np

T_X = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
T_Y = np.array([1.0, 2.0, 2.0])


def problem(n=40, p=5, seed=0, noise=1.0):
    """A random linear problem: X, y and the true coefficients."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p))
    truth = generator.standard_normal(p)
    return X, X @ truth + noise * generator.standard_normal(n), truth


def slope(function, w, step=1e-6):
    """Central finite differences."""
    w = np.asarray(w, dtype=float)
    eye = np.eye(len(w))
    return np.array([(function(w + step * e) - function(w - step * e)) / (2 * step) for e in eye])
