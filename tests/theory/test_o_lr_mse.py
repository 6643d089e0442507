"""O-LR-MSE: the expected squared error of the maximum-likelihood coefficients is sigma^2 times the trace of the inverse Gram matrix."""

import numpy as np
import pytest

import qed


def test_monte_carlo_agrees_within_three_standard_errors():
    generator = np.random.default_rng(0)
    X, truth, sigma, draws = generator.standard_normal((25, 4)), generator.standard_normal(4), 0.7, 1000
    Y = (X @ truth)[:, None] + sigma * generator.standard_normal((25, draws))
    found = qed.LinearRegression(fit_intercept=False).fit(X, Y).coef_
    errors = np.sum((found - truth) ** 2, axis=1)
    expected = sigma**2 * np.trace(np.linalg.inv(X.T @ X))
    assert abs(errors.mean() - expected) < 3 * errors.std() / np.sqrt(draws)


def test_trace_of_the_inverse_is_the_sum_of_inverse_eigenvalues():
    """The covariance of the weights has the trace sigma² sum 1 / lambda_i, with the eigenvalues of the scatter as PCA finds them."""
    X = np.random.default_rng(1).standard_normal((25, 4))
    X -= X.mean(axis=0)
    spread = qed.linear_gaussian(X, np.zeros(25), noise=1.0).covariance
    eigenvalues = qed.PCA(n_components=None).fit(X).singular_values_ ** 2
    assert np.trace(spread) == pytest.approx(np.sum(1 / eigenvalues), rel=1e-10)


def test_inference_estimates_that_covariance():
    generator = np.random.default_rng(2)
    X = generator.standard_normal((4000, 4))
    y = X @ [1.0, -1.0, 0.5, 2.0] + 0.7 * generator.standard_normal(4000)
    model = qed.LinearRegression(fit_intercept=False).fit(X, y)
    estimated = np.asarray(model.inference_.standard_errors) ** 2
    np.testing.assert_allclose(estimated, 0.49 * np.diag(np.linalg.inv(X.T @ X)), rtol=0.1)
