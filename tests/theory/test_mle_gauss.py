"""mle-gauss: with Gaussian noise, maximum likelihood is least squares."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

import qed
from qed.stats import Gaussian
from tests.theory.fixtures import T_X, T_Y, problem


def log_likelihood(residual, sigma):
    """The text's formula."""
    return -np.sum(residual**2) / (2 * sigma**2) - len(residual) * np.log(np.sqrt(2 * np.pi) * sigma)


def test_a_likelihood_log_likelihood_and_squared_error_have_the_same_best_hypothesis():
    """(a) For hypotheses of any form, here a sine of unknown frequency."""
    x = np.linspace(0, 2, 15)
    y = np.sin(1.7 * x) + 0.1 * np.random.default_rng(0).standard_normal(15)
    grid = np.linspace(0.5, 3, 501)
    residuals = y - np.sin(grid[:, None] * x)
    density = norm(0, 0.1).pdf(residuals).prod(axis=1)
    logs = [Gaussian(np.zeros(15), 0.01 * np.eye(15)).log_density(r) for r in residuals]
    squares = (residuals**2).sum(axis=1)
    assert density.argmax() == np.argmax(logs) == squares.argmin()
    model = qed.NonlinearLeastSquares(lambda X, w: np.sin(w[0] * X[:, 0]), [1.5]).fit(x[:, None], y)
    assert abs(model.coef_[0] - grid[squares.argmin()]) <= 0.005


@pytest.mark.parametrize("sigma", [0.1, 1.0, 25.0])
def test_b_the_maximiser_does_not_depend_on_sigma(sigma):
    """(b) The most likely coefficients are those of least squares, whatever the noise."""
    X, y, _ = problem()
    best = minimize(lambda w: -log_likelihood(y - X @ w, sigma) * sigma**2, np.zeros(5), tol=1e-12).x
    np.testing.assert_allclose(best, qed.LinearRegression(fit_intercept=False).fit(X, y).coef_, rtol=1e-5)
    model = qed.GeneralizedLeastSquares(sigma**2, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, qed.LinearRegression(fit_intercept=False).fit(X, y).coef_, rtol=1e-12)


@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_c_value_is_the_sum_of_normal_log_densities(sigma):
    """(c) The formula, the sum of log-densities, and the model's own log-likelihood are one number."""
    X, y, _ = problem()
    model = qed.GeneralizedLeastSquares(sigma**2, fit_intercept=False, known_scale=True).fit(X, y)
    residual = y - X @ model.coef_
    expected = norm(0, sigma).logpdf(residual).sum()
    assert log_likelihood(residual, sigma) == pytest.approx(expected, rel=1e-12)
    assert model.inference_.log_likelihood == pytest.approx(expected, rel=1e-12)


def test_d_linear_hypotheses_give_ordinary_least_squares():
    """(d) Fixture T: (7/6, 1/2)."""
    np.testing.assert_allclose(qed.linear_gaussian(T_X, T_Y, noise=0.7).mean, [7 / 6, 1 / 2], rtol=1e-12)


def test_products_of_densities_underflow_and_sums_of_logs_do_not():
    """Pitfall: work in logarithms."""
    residual = np.random.default_rng(0).standard_normal(2000)
    law = Gaussian([0.0], [[1.0]])
    assert law.density(residual[:, None]).prod() == 0.0
    likelihood = law.log_likelihood(residual[:, None])
    assert likelihood == pytest.approx(log_likelihood(residual, 1.0), rel=1e-12)


def test_the_most_likely_variance_is_the_mean_squared_residual():
    """Pitfall: sigma was taken as known; its own maximum likelihood value is RSS / n."""
    X, y, _ = problem()
    seen = qed.LinearRegression(fit_intercept=False).fit(X, y).inference_
    residual = y - X @ seen.coefficients
    best = np.sqrt(residual @ residual / len(y))
    assert seen.log_likelihood == pytest.approx(log_likelihood(residual, best), rel=1e-12)
    for sigma in (0.9 * best, 1.1 * best):
        assert log_likelihood(residual, sigma) < seen.log_likelihood
