"""The catalogue's quadratics, for the tests of the first-order methods."""

import numpy as np

from qed.optim import FiniteSum, Objective, SquaredLoss

RAVINE = np.array([1.0, 10.0, 100.0])


def quadratic(diagonal=RAVINE, **constants):
    """f = 1/2 sum h_j w_j^2."""
    h = np.asarray(diagonal, dtype=float)
    return Objective(lambda w: h @ w**2 / 2, lambda w: h * w, lambda w: np.diag(h), **constants)


def losses(X, y, loss):
    """f = 1/n sum loss(x_i'w, y_i), as a sum of n terms, with a loss of ours."""
    return FiniteSum(
        lambda w, rows: loss.value(X[rows] @ w, y[rows]) / len(y[rows]),
        lambda w, rows: X[rows].T @ loss.gradient(X[rows] @ w, y[rows]) / len(y[rows]),
        n=len(y),
    )


def squares(X, y):
    """f = 1/n sum (x_i'w - y_i)^2: our loss has a half, which columns and targets longer by a root of two undo."""
    return losses(np.sqrt(2) * X, np.sqrt(2) * y, SquaredLoss())


def iterations_to(method, objective, start, share):
    """How many steps a method needs to bring the value down to a share of the first one."""
    first = None
    for number, step in enumerate(method.steps(objective, start)):
        first = step.objective if first is None else first
        if step.objective <= share * first:
            return number
        assert number < 10**5
