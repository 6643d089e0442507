"""The catalogue's quadratics, for the tests of the first-order methods."""

import numpy as np

from qed.optim import FiniteSum, Objective

RAVINE = np.array([1.0, 10.0, 100.0])


def quadratic(diagonal=RAVINE, **constants):
    """f = 1/2 sum h_j w_j^2."""
    h = np.asarray(diagonal, dtype=float)
    return Objective(lambda w: h @ w**2 / 2, lambda w: h * w, lambda w: np.diag(h), **constants)


def squares(X, y):
    """f = 1/n sum (x_i'w - y_i)^2, as a sum of n terms."""

    def residual(w, rows):
        return X[rows] @ w - y[rows]

    return FiniteSum(
        lambda w, rows: (residual(w, rows) ** 2).mean(),
        lambda w, rows: 2 * X[rows].T @ residual(w, rows) / len(y[rows]),
        n=len(y),
    )


def iterations_to(method, objective, start, share):
    """How many steps a method needs to bring the value down to a share of the first one."""
    first = None
    for number, step in enumerate(method.steps(objective, start)):
        first = step.objective if first is None else first
        if step.objective <= share * first:
            return number
        assert number < 10**5
