"""gls: generalised least squares under dense noise covariance."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import qed
from qed.data.synthetic import ar1_covariance
from qed.stats.distributions.covariance import Whitening
from tests.theory.fixtures import T_X, T_Y, problem


@pytest.fixture
def coloured():
    X, y, _ = problem()
    A = np.random.default_rng(9).standard_normal((len(y), len(y)))
    return X, y, A @ A.T / len(y) + 0.1 * np.eye(len(y))


def fitted(X, y, noise):
    return qed.GeneralizedLeastSquares(noise, fit_intercept=False).fit(X, y).coef_


def test_closed_form(coloured):
    """Computes: (X' Sigma^-1 X)^-1 X' Sigma^-1 y."""
    X, y, noise = coloured
    inverse = np.linalg.inv(noise)
    np.testing.assert_allclose(fitted(X, y, noise), np.linalg.solve(X.T @ inverse @ X, X.T @ inverse @ y), rtol=1e-9)


def test_a_equals_least_squares_on_whitened_data(coloured):
    """(a) Whitened rows and targets, then ordinary least squares."""
    X, y, noise = coloured
    whiten = Whitening(noise, len(y))
    plain = qed.LinearRegression(fit_intercept=False).fit(whiten(X), whiten(y))
    np.testing.assert_allclose(fitted(X, y, noise), plain.coef_, rtol=1e-10)


def test_b_special_cases(coloured):
    """(b) A diagonal covariance is weighted least squares, sigma² I is ordinary."""
    X, y, noise = coloured
    variance = np.diagonal(noise)
    weighted = qed.LinearRegression(fit_intercept=False).fit(X, y, sample_weight=1 / variance)
    np.testing.assert_allclose(fitted(X, y, np.diag(variance)), weighted.coef_, rtol=1e-10)
    plain = qed.LinearRegression(fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(fitted(X, y, 7 * np.eye(len(y))), plain.coef_, rtol=1e-10)


def test_c_residuals_are_orthogonal_in_the_metric_of_the_noise(coloured):
    """(c) X' Sigma^-1 (y - Xw) = 0, and the certificate says so."""
    X, y, noise = coloured
    w = fitted(X, y, noise)
    assert np.abs(X.T @ np.linalg.solve(noise, y - X @ w)).max() < 1e-10
    model = qed.GeneralizedLeastSquares(noise, fit_intercept=False).fit(X, y)
    assert model.certificate_["whitened: residuals are orthogonal to every column"].holds


def test_d_maximises_the_likelihood(coloured):
    """(d) No step in any direction raises the multivariate normal log-density."""
    X, y, noise = coloured
    w = fitted(X, y, noise)
    best = multivariate_normal(X @ w, noise).logpdf(y)
    for step in np.random.default_rng(0).standard_normal((30, 5)) * 0.01:
        assert multivariate_normal(X @ (w + step), noise).logpdf(y) < best


def test_e_no_more_variance_than_least_squares(coloured):
    """(e) Covariance of least squares minus (X' Sigma^-1 X)^-1 is positive semidefinite."""
    X, y, noise = coloured
    model = qed.GeneralizedLeastSquares(noise, fit_intercept=False, known_scale=True).fit(X, y)
    own = model.inference_.covariance
    np.testing.assert_allclose(own, np.linalg.inv(X.T @ np.linalg.inv(noise) @ X), rtol=1e-8, atol=1e-12)
    pseudo = np.linalg.pinv(X)
    plain = pseudo @ noise @ pseudo.T
    assert np.linalg.eigvalsh(plain - own).min() > -1e-12


def test_fixture_t():
    """Numbers: AR(1) noise with r = 0.5 gives (57/53, 27/53)."""
    noise = ar1_covariance(3, 0.5)
    np.testing.assert_allclose(fitted(T_X, T_Y, noise), [57 / 53, 27 / 53], rtol=1e-12)
    np.testing.assert_allclose(qed.linear_gaussian(T_X, T_Y, noise=noise).mean, [57 / 53, 27 / 53], rtol=1e-12)


def test_slope_varies_less_than_that_of_least_squares():
    """Numbers: n = 50, r = 0.9, a line on [0, 1]: variance of the slope 5.02 against 9.39."""
    X = np.column_stack([np.ones(50), np.linspace(0, 1, 50)])
    noise = ar1_covariance(50, 0.9)
    own = qed.linear_gaussian(X, np.zeros(50), noise=noise).covariance[1, 1]
    pseudo = np.linalg.pinv(X)
    assert own == pytest.approx(5.02, abs=0.005)
    assert (pseudo @ noise @ pseudo.T)[1, 1] == pytest.approx(9.39, abs=0.005)


def test_simulated_slopes_have_these_variances():
    """Figure: the spread of slopes under AR(1) noise, of both methods, is what the formulas say."""
    random = np.random.default_rng(0)
    X = np.column_stack([np.ones(50), np.linspace(0, 1, 50)])
    noise = ar1_covariance(50, 0.9)
    draws = np.linalg.cholesky(noise) @ random.standard_normal((50, 4000))
    whiten = Whitening(noise, 50)
    general = np.linalg.lstsq(whiten(X), whiten(draws))[0][1]
    plain = np.linalg.lstsq(X, draws)[0][1]
    assert general.var() == pytest.approx(5.02, rel=4 * np.sqrt(2 / 4000))
    assert plain.var() == pytest.approx(9.39, rel=4 * np.sqrt(2 / 4000))
