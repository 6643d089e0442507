"""O-OLS: multivariate linear regression with points as rows or as columns."""

import numpy as np

import qed
from tests.theory.fixtures import problem, slope


def test_row_and_column_conventions_agree():
    X, y, _ = problem()
    columns = X.T
    w = np.linalg.pinv(columns @ columns.T) @ columns @ y
    np.testing.assert_allclose(qed.LinearRegression(fit_intercept=False).fit(X, y).coef_, w, rtol=1e-10)


def test_gradient_in_the_column_convention_vanishes():
    X, y, _ = problem()
    w = qed.LinearRegression(fit_intercept=False).fit(X, y).coef_
    A = X.T
    assert np.abs(2 * A @ A.T @ w - 2 * A @ y).max() < 1e-11
    v = np.random.default_rng(0).standard_normal(5)
    ours = 2 * A @ qed.optim.SquaredLoss().gradient(A.T @ v, y)  # the loss is half of the square
    np.testing.assert_allclose(slope(lambda u: np.sum((A.T @ u - y) ** 2), v), ours, rtol=1e-6)
    np.testing.assert_allclose(ours, 2 * A @ A.T @ v - 2 * A @ y, rtol=1e-10)


def test_a_column_of_ones_is_an_intercept():
    X, y, _ = problem()
    D = np.column_stack([np.ones(len(y)), X])
    ones = qed.LinearRegression(fit_intercept=False).fit(D, y).coef_
    model = qed.LinearRegression().fit(X, y + 0.0)
    np.testing.assert_allclose(ones, np.r_[model.intercept_, model.coef_], rtol=1e-10, atol=1e-12)
