"""O-RIDGE-MAP: ridge regression is the mode of a posterior."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

import qed
from tests.theory.fixtures import problem


@pytest.mark.parametrize("gamma", [0.1, 0.7, 3.0])
def test_unit_noise_gives_lambda_one_over_gamma_squared(gamma):
    """Check: prior w ~ N(0, gamma² I) and noise variance 1 give ridge with lambda = 1 / gamma²."""
    X, y, _ = problem()
    ridge = qed.Ridge(1 / gamma**2, fit_intercept=False).fit(X, y).coef_
    np.testing.assert_allclose(qed.GaussianMAP(0.0, gamma**2).fit(X, y).coef_, ridge, rtol=1e-10)
    closed = np.linalg.solve(X.T @ X + np.eye(5) / gamma**2, X.T @ y)
    np.testing.assert_allclose(ridge, closed, rtol=1e-10)


@pytest.mark.parametrize(("sigma", "gamma"), [(0.5, 0.2), (2.0, 1.5)])
def test_in_general_lambda_is_a_ratio_of_variances(sigma, gamma):
    """Check: lambda = sigma² / gamma²."""
    X, y, _ = problem()
    ridge = qed.Ridge(sigma**2 / gamma**2, fit_intercept=False).fit(X, y).coef_
    np.testing.assert_allclose(qed.GaussianMAP(0.0, gamma**2, sigma**2).fit(X, y).coef_, ridge, rtol=1e-10)


def test_numerical_maximum_of_the_posterior():
    """Check: a general optimiser on the log posterior arrives at the same coefficients."""
    X, y, _ = problem()
    gamma = 0.7

    def negative(w):
        return -norm(X @ w, 1.0).logpdf(y).sum() - norm(0, gamma).logpdf(w).sum()

    best = minimize(negative, np.ones(5), tol=1e-12).x
    np.testing.assert_allclose(qed.GaussianMAP(0.0, gamma**2).fit(X, y).coef_, best, rtol=1e-5)
