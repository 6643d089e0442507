"""lg-table: six estimators, one function."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import problem

LAMBDA = 1.7
MEAN = np.array([1.0, -0.5, 0.0, 2.0])


@pytest.fixture
def given():
    X, y, _ = problem(15, 4)
    random = np.random.default_rng(11)
    A, B = random.standard_normal((15, 15)), random.standard_normal((4, 4))
    return X, y, A @ A.T / 15 + np.eye(15), B @ B.T / 4 + np.eye(4)


def by_cell(X, y, weights, precision, mean):
    """The bottom-right cell, for any inverse covariances."""
    return mean + np.linalg.solve(X.T @ weights @ X + precision, X.T @ weights @ (y - X @ mean))


def test_least_squares(given):
    """No prior, noise N(0, I)."""
    X, y, _, _ = given
    expected = np.linalg.solve(X.T @ X, X.T @ y)
    np.testing.assert_allclose(qed.linear_gaussian(X, y).mean, expected, rtol=1e-10)


def test_generalised_least_squares(given):
    """No prior, noise N(0, Sigma_Z)."""
    X, y, noise, _ = given
    weights = np.linalg.inv(noise)
    expected = np.linalg.solve(X.T @ weights @ X, X.T @ weights @ y)
    np.testing.assert_allclose(qed.linear_gaussian(X, y, noise=noise).mean, expected, rtol=1e-10)


def test_ridge(given):
    """Prior N(0, I / lambda), noise N(0, I)."""
    X, y, _, _ = given
    expected = np.linalg.solve(X.T @ X + LAMBDA * np.eye(4), X.T @ y)
    np.testing.assert_allclose(qed.linear_gaussian(X, y, prior=1 / LAMBDA).mean, expected, rtol=1e-10)


def test_ridge_with_coloured_noise(given):
    """Prior N(0, I / lambda), noise N(0, Sigma_Z)."""
    X, y, noise, _ = given
    weights = np.linalg.inv(noise)
    expected = np.linalg.solve(X.T @ weights @ X + LAMBDA * np.eye(4), X.T @ weights @ y)
    np.testing.assert_allclose(qed.linear_gaussian(X, y, noise=noise, prior=1 / LAMBDA).mean, expected, rtol=1e-10)


def test_tikhonov(given):
    """Prior N(mu, Sigma_W), noise N(0, I)."""
    X, y, _, prior = given
    expected = MEAN + np.linalg.solve(X.T @ X + np.linalg.inv(prior), X.T @ (y - X @ MEAN))
    np.testing.assert_allclose(qed.linear_gaussian(X, y, prior=prior, prior_mean=MEAN).mean, expected, rtol=1e-10)


def test_tikhonov_with_coloured_noise(given):
    """Prior N(mu, Sigma_W), noise N(0, Sigma_Z)."""
    X, y, noise, prior = given
    expected = by_cell(X, y, np.linalg.inv(noise), np.linalg.inv(prior), MEAN)
    found = qed.linear_gaussian(X, y, noise=noise, prior=prior, prior_mean=MEAN).mean
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("coloured", [False, True])
@pytest.mark.parametrize("prior", ["none", "isotropic", "full"])
def test_every_cell_is_the_last_one_with_something_put_in(given, coloured, prior):
    """Theory: Sigma_Z = I; Sigma_W^-1 = lambda I and mu = 0; Sigma_W^-1 = 0."""
    X, y, noise, full = given
    weights = np.linalg.inv(noise) if coloured else np.eye(15)
    precision = {"none": np.zeros((4, 4)), "isotropic": LAMBDA * np.eye(4), "full": np.linalg.inv(full)}[prior]
    mean = MEAN if prior == "full" else np.zeros(4)
    options = {
        "none": {},
        "isotropic": {"prior": 1 / LAMBDA},
        "full": {"prior": full, "prior_mean": MEAN},
    }[prior]
    found = qed.linear_gaussian(X, y, noise=noise if coloured else None, **options)
    np.testing.assert_allclose(found.mean, by_cell(X, y, weights, precision, mean), rtol=1e-9)
    np.testing.assert_allclose(found.covariance, np.linalg.inv(X.T @ weights @ X + precision), rtol=1e-8, atol=1e-12)


def test_cells_are_the_models(given):
    """The estimators of the library are the cells: their coefficients agree with the function's."""
    X, y, noise, prior = given
    pairs = [
        (qed.LinearRegression(fit_intercept=False), {}),
        (qed.GeneralizedLeastSquares(noise, fit_intercept=False), {"noise": noise}),
        (qed.Ridge(LAMBDA, fit_intercept=False), {"prior": 1 / LAMBDA}),
        (qed.GaussianMAP(0.0, 1 / LAMBDA, noise), {"noise": noise, "prior": 1 / LAMBDA}),
        (qed.GaussianMAP(MEAN, prior), {"prior": prior, "prior_mean": MEAN}),
        (qed.GaussianMAP(MEAN, prior, noise), {"noise": noise, "prior": prior, "prior_mean": MEAN}),
    ]
    for model, options in pairs:
        np.testing.assert_allclose(model.fit(X, y).coef_, qed.linear_gaussian(X, y, **options).mean, rtol=1e-9)
