"""O-RIDGE-CON: ridge as a constrained problem, and the level sets of the error."""

import numpy as np
import pytest
from scipy.optimize import minimize

import qed
from tests.theory.fixtures import problem


def test_constrained_problem_with_the_ridge_length_has_the_ridge_solution():
    X, y, _ = problem(p=3)
    w = qed.Ridge(alpha=5.0, fit_intercept=False).fit(X, y).coef_
    theta = w @ w
    found = minimize(
        lambda v: np.sum((X @ v - y) ** 2),
        np.zeros(3),
        jac=lambda v: 2 * X.T @ (X @ v - y),
        constraints={"type": "ineq", "fun": lambda v: theta - v @ v, "jac": lambda v: -2 * v},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(found.x, w, atol=1e-5)


def test_level_sets_are_ellipses_about_the_least_squares_solution():
    X, y, _ = problem()
    best = qed.LinearRegression(fit_intercept=False).fit(X, y).coef_

    def error(v):
        return np.sum((X @ v - y) ** 2)

    for v in np.random.default_rng(0).standard_normal((20, 5)):
        assert error(v) == pytest.approx(error(best) + (v - best) @ X.T @ X @ (v - best), rel=1e-10)


def test_circles_when_the_gram_matrix_is_the_identity():
    X, y, _ = problem()
    Q, _ = np.linalg.qr(X)
    best = qed.LinearRegression(fit_intercept=False).fit(Q, y).coef_
    steps = np.random.default_rng(1).standard_normal((10, 5))
    rise = [np.sum((Q @ (best + s) - y) ** 2) - np.sum((Q @ best - y) ** 2) for s in steps]
    np.testing.assert_allclose(rise, np.sum(steps**2, axis=1), rtol=1e-10)
