"""COND: the condition number, and what a ridge penalty does to it."""

import numpy as np
import pytest

from qed.optim import (
    GradientDescent,
    condition_number,
    descent_iterations,
    estimate_curvature,
    minimize,
    ridge_condition,
    ridged,
)
from tests.theory.functions import quadratic

DESIGN = np.diag([1.0, 10.0])
ALPHAS = np.array([0.0, 1.0, 10.0, 100.0])


def test_worked_numbers():
    np.testing.assert_allclose(ridge_condition(DESIGN, ALPHAS), [100, 50.5, 10, 200 / 101], rtol=1e-14)
    assert condition_number(DESIGN.T @ DESIGN) == pytest.approx(100)
    assert estimate_curvature(quadratic(DESIGN.T @ DESIGN).value, [-1, -1], [1, 1]).condition == pytest.approx(
        100, 1e-5
    )


def test_it_falls_strictly_with_the_penalty_towards_one():
    alphas = np.logspace(-3, 8, 40)
    kappa = ridge_condition(np.random.default_rng(0).standard_normal((20, 4)), alphas)
    assert (np.diff(kappa) < 0).all()
    assert kappa[-1] == pytest.approx(1, abs=1e-5)


def test_a_singular_design_has_none_and_any_penalty_gives_one():
    X = np.ones((5, 2))
    np.testing.assert_allclose(ridge_condition(X, [0.0, 1e-6, 1.0]), [np.inf, 1e7 + 1, 11], rtol=1e-8)
    assert np.isinf(ridge_condition(np.ones((2, 3)), 0.0))
    assert np.isinf(condition_number(X.T @ X))


def test_gradient_descent_needs_fewer_iterations_with_a_larger_penalty():
    taken = []
    for alpha in ALPHAS:
        H = DESIGN.T @ DESIGN + alpha * np.eye(2)
        f = quadratic(H)
        method = GradientDescent(1 / H.max())
        found = minimize(
            f.value, [1.0, 1.0], gradient=f.derivatives["gradient"], method=method, tol=1e-8, max_iter=5000
        )
        taken.append(found.ending.n_iter)
    assert taken == sorted(taken, reverse=True)
    assert taken[0] > 20 * taken[-1]


def test_the_number_of_iterations_is_bounded_by_the_condition():
    H = np.diag([1.0, 10.0, 100.0])
    w, first, steps = np.ones(3), 111 / 2, 0
    while w @ H @ w / 2 > 1e-6 * first:
        w, steps = w - H @ w / 100, steps + 1
    assert steps <= descent_iterations(100.0, 1e-6)
    assert [descent_iterations(k, 0.5) for k in (1.0, 2.0, np.inf)] == [1.0, 1.0, np.inf]


def test_the_price_is_bias():
    f = quadratic(DESIGN, [1.0, 1.0])
    plain = minimize(f.value, [0.0, 0.0], gradient=f.derivatives["gradient"], tol=1e-10).point
    held = minimize(ridged(f.value, 50.0), [0.0, 0.0], tol=1e-8).point
    np.testing.assert_allclose(held, np.linalg.solve(DESIGN + 100 * np.eye(2), [1.0, 1.0]), atol=1e-6)
    assert f.value(held) > f.value(plain) + 0.1
