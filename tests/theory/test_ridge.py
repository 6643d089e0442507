"""ridge: least squares with a squared penalty."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import T_X, T_Y, problem

LAMBDAS = np.logspace(-3, 4, 15)


def ridge(X, y, alpha):
    return qed.Ridge(alpha=alpha, fit_intercept=False).fit(X, y).coef_


def test_fixture_t():
    np.testing.assert_allclose(ridge(T_X, T_Y, 1.0), [0.8, 0.6], atol=1e-14)


def test_a_normal_equations_hold():
    X, y, _ = problem()
    w = ridge(X, y, 0.7)
    np.testing.assert_allclose((X.T @ X + 0.7 * np.eye(5)) @ w, X.T @ y, rtol=1e-12)


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_b_unique_and_strongly_convex_for_any_rank(rank):
    generator = np.random.default_rng(rank)
    X = generator.standard_normal((30, rank)) @ generator.standard_normal((rank, 5))
    y = generator.standard_normal(30)
    hessian = 2 * X.T @ X + 2 * 0.3 * np.eye(5)
    # The covariance of the posterior that ridge is the top of is the inverse of half of it: no eigenvalue above 1 / lambda.
    spread = qed.linear_gaussian(X, y, noise=1.0, prior=1 / 0.3).covariance
    assert np.linalg.eigvalsh(spread).max() <= (1 + 1e-9) / 0.3
    np.testing.assert_allclose(ridge(X, y, 0.3), np.linalg.solve(hessian / 2, X.T @ y), atol=1e-10)


def test_c_zero_penalty_is_least_squares():
    X, y, _ = problem()
    plain = qed.LinearRegression(fit_intercept=False).fit(X, y).coef_
    np.testing.assert_allclose(ridge(X, y, 0.0), plain, rtol=1e-12)


def test_d_training_error_never_falls_and_e_length_never_grows():
    X, y, _ = problem()
    path = [ridge(X, y, alpha) for alpha in LAMBDAS]
    errors = [np.sum((X @ w - y) ** 2) for w in path]
    lengths = [np.linalg.norm(w) for w in path]
    assert all(a <= b * (1 + 1e-12) for a, b in zip(errors, errors[1:]))
    assert all(a >= b for a, b in zip(lengths, lengths[1:]))


def test_the_constant_column_is_penalised_but_the_intercept_is_not():
    """The course penalises a constant column like any other; the intercept of the library is exempt."""
    X, y, _ = problem()
    y = y + 100
    free = qed.Ridge(alpha=50.0).fit(X, y)
    held = ridge(np.column_stack([np.ones(len(y)), X]), y, 50.0)
    centred = ridge(X - X.mean(0), y - y.mean(), 50.0)
    np.testing.assert_allclose(free.coef_, centred, rtol=1e-10)
    assert abs(held[0]) < free.intercept_


def test_gradient_methods_agree_with_the_closed_form():
    X, y, _ = problem()
    exact = qed.Ridge(alpha=2.0).fit(X, y)
    for method in ("conjugate", "steepest"):
        model = qed.GradientRidge(alpha=2.0, method=method, tol=1e-14).fit(X, y)
        np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-6)
        assert model.ending_.reason is qed.Reason.CERTIFIED
        falling = [record["objective"] for record in model.ending_.trace]
        assert all(a >= b - 1e-9 * abs(a) for a, b in zip(falling, falling[1:]))


def test_conjugate_gradients_need_at_most_as_many_steps_as_columns():
    X, y, _ = problem(n=200, p=8)
    assert qed.GradientRidge(alpha=1.0, tol=1e-12).fit(X, y).n_iter_ <= 8
