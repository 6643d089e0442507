"""O-LR-ML: with Gaussian noise, maximum likelihood for a line is least squares."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

import qed
from tests.theory.fixtures import problem


@pytest.mark.parametrize("sigma", [0.3, 2.0])
def test_maximiser_of_the_log_likelihood_is_least_squares(sigma):
    """Check: y | x ~ N(w'x, sigma²); a numerical maximiser of the log-likelihood finds the model's coefficients."""
    X, y, _ = problem()
    best = minimize(lambda w: -norm(X @ w, sigma).logpdf(y).sum() * sigma**2, np.zeros(5), tol=1e-12).x
    np.testing.assert_allclose(qed.LinearRegression(fit_intercept=False).fit(X, y).coef_, best, rtol=1e-5)


def test_most_likely_variance_is_rss_over_n():
    """Derived: maximising over sigma too gives RSS / n, smaller than the unbiased RSS / (n - p)."""
    X, y, _ = problem()
    seen = qed.LinearRegression(fit_intercept=False).fit(X, y).inference_

    def negative(parameters):
        return -norm(X @ parameters[:5], np.exp(parameters[5])).logpdf(y).sum()

    best = minimize(negative, np.zeros(6), tol=1e-12).x
    variance = np.exp(2 * best[5])
    assert variance == pytest.approx(seen.residual / 40, rel=1e-5)
    assert seen.sigma2 == pytest.approx(seen.residual / 35, rel=1e-12)
    assert -negative(best) == pytest.approx(seen.log_likelihood, rel=1e-9)
