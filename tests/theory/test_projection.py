"""projection: the fitted vector is the orthogonal projection of y on the span of the columns."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import T_X, T_Y, problem


def fitted(X, y):
    return qed.LinearRegression(fit_intercept=False).fit(X, y).predict(X)


def test_fixture_t():
    np.testing.assert_allclose(fitted(T_X, T_Y), [7 / 6, 5 / 3, 13 / 6], atol=1e-14)
    np.testing.assert_allclose(T_Y - fitted(T_X, T_Y), [-1 / 6, 1 / 3, -1 / 6], atol=1e-14)


def test_a_nearest_point_and_b_pythagoras():
    X, y, _ = problem()
    nearest = fitted(X, y)
    for w in np.random.default_rng(0).standard_normal((30, 5)):
        other = X @ w
        assert np.linalg.norm(y - nearest) < np.linalg.norm(y - other)
        right = np.sum((y - nearest) ** 2) + np.sum((nearest - other) ** 2)
        assert np.sum((y - other) ** 2) == pytest.approx(right, rel=1e-12)


def test_c_and_d_residual_lies_in_the_null_space_of_the_transpose():
    X, y, _ = problem()
    residual = y - fitted(X, y)
    assert np.abs(X.T @ residual).max() < 1e-12 * np.linalg.norm(y) * np.linalg.norm(X)
    null = np.linalg.svd(X)[0][:, 5:]
    np.testing.assert_allclose(null @ (null.T @ residual), residual, atol=1e-12)


@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_e_fitted_vector_is_unique_even_when_coefficients_are_not():
    X, y, _ = problem()
    doubled = np.hstack([X, X[:, :2]])
    np.testing.assert_allclose(fitted(doubled, y), fitted(X, y), atol=1e-10)
    assert qed.LinearRegression(fit_intercept=False).fit(doubled, y).rank_ == 5


def test_f_projection_matrix_is_idempotent_symmetric_with_trace_rank():
    X, _, _ = problem(n=12)
    P = qed.LinearRegression(fit_intercept=False).fit(X, np.eye(12)).predict(X).T
    np.testing.assert_allclose(P @ P, P, atol=1e-12)
    np.testing.assert_allclose(P, P.T, atol=1e-12)
    assert np.trace(P) == pytest.approx(5, abs=1e-12)
