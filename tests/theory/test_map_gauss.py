"""map-gauss: maximum a posteriori with Gaussian noise and a Gaussian prior."""

import numpy as np
import pytest
from scipy.stats import norm

import qed
from tests.theory.fixtures import problem, slope

SIGMA, SPREAD = 0.7, 0.4
CENTRE = np.array([1.0, -0.5, 0.0, 2.0, 0.3])


def fitted(X, y, centre=CENTRE, sigma=SIGMA, spread=SPREAD):
    return qed.GaussianMAP(centre, spread**2, sigma**2).fit(X, y)


def negative_log_posterior(X, y, w, centre=CENTRE):
    """Up to the evidence, which does not depend on w."""
    return -norm(0, SIGMA).logpdf(y - X @ w).sum() - norm(centre, SPREAD).logpdf(w).sum()


def test_minimises_squared_error_plus_distance_from_the_centre():
    """Computes: the negative log posterior is that sum but for a factor and a constant, so our answer minimises both."""
    X, y, _ = problem()
    random = np.random.default_rng(1)

    def objective(w):
        return np.sum((y - X @ w) ** 2) + SIGMA**2 / SPREAD**2 * np.sum((w - CENTRE) ** 2)

    best = fitted(X, y).coef_
    for step in random.standard_normal((20, 5)) * 1e-3:
        assert objective(best + step) > objective(best)
        rise = negative_log_posterior(X, y, best + step) - negative_log_posterior(X, y, best)
        assert rise == pytest.approx((objective(best + step) - objective(best)) / (2 * SIGMA**2), rel=1e-5)


def test_closed_form():
    """Computes: theta0 + (X'X + lambda I)^-1 X'(y - X theta0) with lambda = sigma² / sigma_h²."""
    X, y, _ = problem()
    lam = SIGMA**2 / SPREAD**2
    expected = CENTRE + np.linalg.solve(X.T @ X + lam * np.eye(5), X.T @ (y - X @ CENTRE))
    model = fitted(X, y)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-10)
    covariance = np.linalg.inv(X.T @ X / SIGMA**2 + np.eye(5) / SPREAD**2)
    np.testing.assert_allclose(model.covariance_, covariance, rtol=1e-9, atol=1e-12)


def test_a_centre_zero_is_ridge():
    """(a) lambda = sigma² / sigma_h², that is a prior variance of sigma² / lambda."""
    X, y, _ = problem()
    lam = 2.5
    ridge = qed.Ridge(lam, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(qed.GaussianMAP(0.0, SIGMA**2 / lam, SIGMA**2).fit(X, y).coef_, ridge.coef_, rtol=1e-10)


def test_b_flat_prior_is_maximum_likelihood():
    """(b) As sigma_h grows the centre is forgotten, at a rate of 1 / sigma_h²."""
    X, y, _ = problem()
    likely = qed.LinearRegression(fit_intercept=False).fit(X, y).coef_
    gaps = [np.linalg.norm(fitted(X, y, spread=s).coef_ - likely) for s in (10, 100, 1000)]
    assert gaps[2] < 1e-6
    np.testing.assert_allclose([gaps[0] / gaps[1], gaps[1] / gaps[2]], 100, rtol=0.02)


def test_c_certain_prior_is_its_centre():
    """(c) As sigma_h vanishes the data are forgotten."""
    X, y, _ = problem()
    assert np.linalg.norm(fitted(X, y, spread=1e-6).coef_ - CENTRE) < 1e-9


def test_d_posterior_has_less_variance_than_the_likelihood():
    """(d) sigma² (X'X)^-1 minus the posterior covariance is positive semidefinite."""
    X, y, _ = problem()
    likelihood = SIGMA**2 * np.linalg.inv(X.T @ X)
    for spread in (0.01, 0.4, 100.0):
        gap = np.linalg.eigvalsh(likelihood - fitted(X, y, spread=spread).covariance_)
        assert gap.min() > -1e-12


def test_e_gradient_of_the_negative_log_posterior_vanishes():
    """(e) By finite differences, and in the certificate."""
    X, y, _ = problem()
    model = fitted(X, y)
    found = slope(lambda w: negative_log_posterior(X, y, w), model.coef_)
    scale = np.abs(slope(lambda w: negative_log_posterior(X, y, w), np.zeros(5))).max()
    assert np.abs(found).max() < 1e-7 * scale
    assert model.certificate_["gradient of the negative log posterior vanishes"].holds


def test_a_badly_centred_prior_is_worse_than_maximum_likelihood():
    """Pitfall: belief can hurt."""
    X, y, truth = problem()
    likely = qed.LinearRegression(fit_intercept=False).fit(X, y).coef_
    wrong = fitted(X, y, centre=truth + 5).coef_
    right = fitted(X, y, centre=truth).coef_
    error = [np.linalg.norm(w - truth) for w in (right, likely, wrong)]
    assert error[0] < error[1] < error[2]


@pytest.mark.parametrize("centre", [0.0, CENTRE])
def test_prior_mean_is_supported(centre):
    """Done when: a number stands for the same centre of all coefficients."""
    X, y, _ = problem()
    vector = np.broadcast_to(centre, 5)
    np.testing.assert_array_equal(fitted(X, y, centre=centre).coef_, fitted(X, y, centre=vector).coef_)
