"""ols: ordinary least squares by vector calculus."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import T_X, T_Y, problem


def fitted(X, y):
    return qed.LinearRegression(fit_intercept=False).fit(X, y).coef_


def cost(X, y, w):
    return np.sum((X @ w - y) ** 2)


def test_fixture_t():
    w = fitted(T_X, T_Y)
    np.testing.assert_allclose(w, [7 / 6, 1 / 2], atol=1e-14)
    assert cost(T_X, T_Y, w) == pytest.approx(1 / 6, abs=1e-14)


def test_a_residual_is_orthogonal_to_the_range():
    X, y, _ = problem()
    assert np.linalg.norm(X.T @ (y - X @ fitted(X, y))) < 1e-12 * np.linalg.norm(X) * np.linalg.norm(y)


def test_b_hessian_is_positive_semidefinite():
    X, y, _ = problem()
    curved = qed.optim.hessian(lambda w: cost(X, y, w), np.zeros(5))
    np.testing.assert_allclose(curved, 2 * X.T @ X, atol=1e-4 * np.abs(X.T @ X).max())
    assert qed.optim.check_convexity(lambda w: cost(X, y, w), [-3.0] * 5, [3.0] * 5)


def test_c_any_step_away_costs_the_squared_length_of_its_image():
    X, y, _ = problem()
    w = fitted(X, y)
    for step in np.random.default_rng(2).standard_normal((20, 5)):
        assert cost(X, y, w + step) - cost(X, y, w) == pytest.approx(np.sum((X @ step) ** 2), rel=1e-10)


def test_d_sum_and_mean_have_the_same_minimiser():
    X, y, _ = problem()
    mean = qed.LinearRegression(fit_intercept=False).fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    np.testing.assert_allclose(fitted(X, y), mean.coef_, rtol=1e-12)


def test_e_gradient_equals_finite_differences():
    X, y, _ = problem()
    w = np.random.default_rng(3).standard_normal(5)
    assert qed.optim.check_gradient(lambda v: cost(X, y, v), lambda v: 2 * X.T @ (X @ v - y), w).holds
    np.testing.assert_allclose(qed.optim.gradient(lambda v: cost(X, y, v), w), 2 * X.T @ (X @ w - y), rtol=1e-6)


def test_multi_output_fits_every_column_by_itself():
    """ols-multi: the outputs do not inform each other."""
    X, y, _ = problem()
    Y = np.column_stack([y, y**2])
    both = qed.LinearRegression().fit(X, Y)
    for j in range(2):
        np.testing.assert_allclose(both.coef_[j], qed.LinearRegression().fit(X, Y[:, j]).coef_, rtol=1e-12)
    changed = qed.LinearRegression().fit(X, np.column_stack([y, -y]))
    np.testing.assert_array_equal(changed.coef_[0], both.coef_[0])
