"""reparam-whiten: coordinates in which noise is independent and the prior is standard."""

import numpy as np
import pytest

import qed
from qed.base.errors import ParameterError
from qed.data.synthetic import ar1_covariance
from qed.stats.distributions.covariance import Whitening, root
from tests.theory.fixtures import problem


def symmetric_root(matrix, power):
    """Q diag(sigma_i^power) Q' from the spectral theorem."""
    value, vector = np.linalg.eigh(matrix)
    return (vector * value**power) @ vector.T


def covariance(n, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, n))
    return A @ A.T + np.eye(n)


@pytest.mark.parametrize("matrix", [covariance(6), ar1_covariance(8, 0.9), np.diag([1.0, 4.0, 9.0])])
def test_whitening_makes_the_covariance_the_identity(matrix):
    """Sigma^-1/2 Sigma Sigma^-T/2 = I, for the symmetric root and for Cholesky's."""
    n = len(matrix)
    half = symmetric_root(matrix, -0.5)
    np.testing.assert_allclose(half @ matrix @ half.T, np.eye(n), atol=1e-10)
    whiten = Whitening(matrix, n)
    np.testing.assert_allclose(whiten(whiten(matrix).T), np.eye(n), atol=1e-10)


def test_which_root_does_not_matter():
    """Least squares after either change of coordinates gives the same coefficients."""
    X, y, _ = problem(12, 3)
    noise = covariance(12)
    half = symmetric_root(noise, -0.5)
    by_spectrum = np.linalg.lstsq(half @ X, half @ y)[0]
    whiten = Whitening(noise, 12)
    by_cholesky = np.linalg.lstsq(whiten(X), whiten(y))[0]
    np.testing.assert_allclose(by_spectrum, by_cholesky, rtol=1e-10)
    np.testing.assert_allclose(qed.linear_gaussian(X, y, noise=noise).mean, by_spectrum, rtol=1e-10)


def test_which_root_of_the_prior_does_not_matter():
    """W = Sigma^1/2 V + mu with standard V: ridge in V with lambda = 1, mapped back, whichever root is taken."""
    X, y, _ = problem(12, 3)
    prior, mean = covariance(3), np.array([1.0, -1.0, 0.5])
    for half in (symmetric_root(prior, 0.5), np.linalg.cholesky(prior), root("prior", prior, 3)):
        v = np.linalg.solve(half.T @ X.T @ X @ half + np.eye(3), half.T @ X.T @ (y - X @ mean))
        np.testing.assert_allclose(half @ v + mean, qed.linear_gaussian(X, y, prior=prior, prior_mean=mean).mean)


def test_samples_become_standard():
    """Whitened draws from N(0, Sigma) have the identity as covariance; standard draws times the root have Sigma."""
    random = np.random.default_rng(0)
    matrix = covariance(4)
    draws = random.multivariate_normal(np.zeros(4), matrix, size=50_000).T
    np.testing.assert_allclose(np.cov(Whitening(matrix, 4)(draws)), np.eye(4), atol=0.03)
    made = root("prior", matrix, 4) @ random.standard_normal((4, 50_000))
    np.testing.assert_allclose(np.cov(made), matrix, atol=0.03 * np.abs(matrix).max())


def test_singular_noise_is_refused():
    """Pitfall: Sigma must be positive definite."""
    with pytest.raises(ParameterError, match="not positive definite"):
        Whitening(np.ones((3, 3)), 3)
