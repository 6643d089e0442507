"""joint-conditioning: MAP by conditioning the jointly Gaussian coefficients and observations."""

import numpy as np
import pytest

import qed
from qed.data.synthetic import ar1_covariance
from qed.stats import Gaussian
from tests.theory.fixtures import T_X, T_Y, problem


@pytest.fixture
def parts():
    """X, y, the two given covariances and the three that follow."""
    X, y, _ = problem(7, 3)
    random = np.random.default_rng(2)
    A, B = random.standard_normal((7, 7)), random.standard_normal((3, 3))
    noise, prior = A @ A.T + np.eye(7), B @ B.T + np.eye(3)
    return X, y, noise, prior, noise + X @ prior @ X.T, prior @ X.T


def refactored(prior, of_y, cross):
    """A, B, D of [W; Y] = [[A, B], [0, D]] [U'; V']."""
    D = np.linalg.cholesky(of_y)
    B = np.linalg.solve(D, cross.T).T
    A = np.linalg.cholesky(prior - B @ B.T)
    return A, B, D


def test_first_factorisation_has_these_covariances(parts):
    """Computes: [Y; W] = [[R_Z, X R_W], [0, R_W]] [U; V] has the blocks Sigma_Z + X Sigma_W X', X Sigma_W, Sigma_W."""
    X, _, noise, prior, of_y, cross = parts
    half = np.linalg.cholesky(prior)
    R = np.block([[np.linalg.cholesky(noise), X @ half], [np.zeros((3, 7)), half]])
    joint = Gaussian(np.zeros(10), np.eye(10)).map(R).covariance
    np.testing.assert_allclose(joint[:7, :7], of_y, rtol=1e-10)
    np.testing.assert_allclose(joint[:7, 7:], cross.T, rtol=1e-10)
    np.testing.assert_allclose(joint[7:, 7:], prior, rtol=1e-10)


def test_block_products_of_the_second(parts):
    """Theory: AA' + BB' = Sigma_W, BD' = Sigma_WY, DD' = Sigma_Y, and A A' is the covariance of the posterior."""
    X, y, noise, prior, of_y, cross = parts
    A, B, D = refactored(prior, of_y, cross)
    # The image of independent numbers under these parts is the law of (W, Y) that the first factorisation has.
    second = Gaussian(np.zeros(10), np.eye(10)).map(np.block([[A, B], [np.zeros((7, 3)), D]])).covariance
    np.testing.assert_allclose(second[:3, :3], prior, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(second[:3, 3:], cross, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(second[3:, 3:], of_y, rtol=1e-10, atol=1e-12)
    posterior = qed.linear_gaussian(X, y, noise=noise, prior=prior)
    np.testing.assert_allclose(A @ A.T, posterior.covariance, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(B @ np.linalg.solve(D, y), posterior.mean, rtol=1e-8, atol=1e-10)


def test_posterior_is_the_conditional_law(parts):
    """Theory: N(B D^-1 y, AA'), the same as conditioning the joint Gaussian, and what the function gives."""
    X, y, noise, prior, of_y, cross = parts
    A, B, D = refactored(prior, of_y, cross)
    found = qed.linear_gaussian(X, y, noise=noise, prior=prior)
    np.testing.assert_allclose(found.mean, B @ np.linalg.solve(D, y), rtol=1e-9)
    np.testing.assert_allclose(found.covariance, A @ A.T, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.mean, cross @ np.linalg.solve(of_y, y), rtol=1e-9)
    conditional = prior - cross @ np.linalg.solve(of_y, cross.T)
    np.testing.assert_allclose(found.covariance, conditional, rtol=1e-8, atol=1e-12)


def test_posterior_covariance_is_an_inverse_and_ignores_y(parts):
    """Theory: (X' Sigma_Z^-1 X + Sigma_W^-1)^-1, whatever y is."""
    X, y, noise, prior, _, _ = parts
    expected = np.linalg.inv(X.T @ np.linalg.inv(noise) @ X + np.linalg.inv(prior))
    for target in (y, -3 * y, np.zeros(7)):
        found = qed.linear_gaussian(X, target, noise=noise, prior=prior)
        np.testing.assert_allclose(found.covariance, expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("form", ["primal", "dual"])
def test_fixture_t(form):
    """Numbers: AR(1) noise r = 0.5, Sigma_W = diag(4, 1/4): posterior covariance [[58, -10], [-10, 14]] / 89."""
    found = qed.linear_gaussian(T_X, T_Y, noise=ar1_covariance(3, 0.5), prior=[4, 0.25], form=form)
    np.testing.assert_allclose(89 * found.covariance, [[58, -10], [-10, 14]], rtol=1e-10)
    model = qed.GaussianMAP(0.0, [4, 0.25], ar1_covariance(3, 0.5)).fit(T_X, T_Y)
    np.testing.assert_allclose(89 * model.covariance_, [[58, -10], [-10, 14]], rtol=1e-10)


def test_simulated_joint_draws_obey_the_regression(parts):
    """Drawing (W, Y) together, W - Sigma_WY Sigma_Y^-1 Y is uncorrelated with Y and has the posterior's covariance."""
    X, y, noise, prior, of_y, cross = parts
    W = Gaussian(np.zeros(3), prior).sample(100_000, random_state=0).T
    Y = X @ W + Gaussian(np.zeros(7), noise).sample(100_000, random_state=1).T
    rest = W - cross @ np.linalg.solve(of_y, Y)
    joint = np.cov(rest, Y)
    scale = np.sqrt(np.outer(np.diagonal(joint), np.diagonal(joint)))
    assert np.abs(joint[:3, 3:] / scale[:3, 3:]).max() < 4.5 / np.sqrt(100_000)
    expected = qed.linear_gaussian(X, y, noise=noise, prior=prior).covariance
    assert np.abs((joint[:3, :3] - expected) / scale[:3, :3]).max() < 6 / np.sqrt(100_000)
