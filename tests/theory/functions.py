"""Functions of the catalogue's chapter on optimisation, with their derivatives."""

from types import SimpleNamespace

import numpy as np

from tests.theory.fixtures import problem

X, Y, _ = problem(n=30, p=3)
LABELS = np.sign(Y)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def function(value, gradient, hessian):
    """A function with derivatives, and all of them by name, ready for ``**``."""
    return SimpleNamespace(value=value, derivatives={"gradient": gradient, "hessian": hessian})


def quadratic(H, b=None):
    """w'Hw/2 - b'w."""
    H = np.asarray(H, dtype=float)
    b = np.zeros(len(H)) if b is None else np.asarray(b, dtype=float)
    return function(lambda w: w @ H @ w / 2 - b @ w, lambda w: H @ w - b, lambda w: H)


def least_squares(design=X, target=Y, penalty=0.0):
    """||Xw - y||^2 + penalty ||w||^2."""
    H = 2 * design.T @ design + 2 * penalty * np.eye(design.shape[1])
    return function(
        lambda w: ((design @ w - target) ** 2).sum() + penalty * (w @ w),
        lambda w: 2 * design.T @ (design @ w - target) + 2 * penalty * w,
        lambda w: H,
    )


def _logistic_hessian(w):
    p = sigmoid(X @ w)
    return (X * (p * (1 - p))[:, None]).T @ X


logistic = function(
    lambda w: np.logaddexp(0, -LABELS * (X @ w)).sum(),
    lambda w: -X.T @ (LABELS * sigmoid(-LABELS * (X @ w))),
    _logistic_hessian,
)

cube = function(lambda w: w[0] ** 3, lambda w: 3 * w**2, lambda w: 6 * w)

hyperbola = function(
    lambda w: np.sqrt(w[0] ** 2 + 1), lambda w: w / np.sqrt(w**2 + 1), lambda w: (1 + w[:, None] ** 2) ** -1.5
)


def _sigmoid_squared_hessian(w):
    p = sigmoid(w)
    return 2 * p * (1 - p) ** 2 * (3 * p - 1)


sigmoid_squared = function(
    lambda w: (1 - sigmoid(w[0])) ** 2,
    lambda w: -2 * sigmoid(w) * (1 - sigmoid(w)) ** 2,
    _sigmoid_squared_hessian,
)
