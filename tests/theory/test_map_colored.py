"""map-colored: MAP with coloured noise, in dual and primal form."""

import numpy as np
import pytest

import qed
from qed.data.synthetic import ar1_covariance
from tests.theory.fixtures import T_X, T_Y, problem


def covariances(n, d, seed=0):
    random = np.random.default_rng(seed)
    A, B = random.standard_normal((n, n)), random.standard_normal((d, d))
    return A @ A.T / n + np.eye(n), B @ B.T / d + np.eye(d)


@pytest.mark.parametrize(("n", "d"), [(20, 4), (4, 20), (9, 9)])
def test_dual_equals_primal(n, d):
    """Theory: both forms agree to 1e-10, and with both printed formulas."""
    X, y, _ = problem(n, d)
    noise, prior = covariances(n, d)
    dual = qed.linear_gaussian(X, y, noise=noise, prior=prior, form="dual").mean
    primal = qed.linear_gaussian(X, y, noise=noise, prior=prior, form="primal").mean
    assert np.abs(dual - primal).max() < 1e-10 * np.abs(primal).max()
    np.testing.assert_allclose(dual, prior @ X.T @ np.linalg.solve(noise + X @ prior @ X.T, y), rtol=1e-8)
    weights = np.linalg.inv(noise)
    printed = np.linalg.solve(X.T @ weights @ X + np.linalg.inv(prior), X.T @ weights @ y)
    np.testing.assert_allclose(primal, printed, rtol=1e-8)


def test_prior_mean_shifts_the_problem():
    """Computes: mu + the same operator on y - X mu."""
    X, y, _ = problem(10, 3)
    noise, prior = covariances(10, 3)
    mean = np.array([3.0, -1.0, 2.0])
    shifted = qed.linear_gaussian(X, y - X @ mean, noise=noise, prior=prior).mean
    found = qed.linear_gaussian(X, y, noise=noise, prior=prior, prior_mean=mean).mean
    np.testing.assert_allclose(found, mean + shifted, rtol=1e-10)


@pytest.mark.parametrize("form", ["primal", "dual"])
def test_fixture_t(form):
    """Numbers: AR(1) r = 0.5, Sigma_W = diag(4, 1/4), mu = (1, 0): (115/89, 17/89) both ways."""
    found = qed.linear_gaussian(T_X, T_Y, noise=ar1_covariance(3, 0.5), prior=[4, 0.25], prior_mean=[1, 0], form=form)
    np.testing.assert_allclose(found.mean, [115 / 89, 17 / 89], rtol=1e-12)


def test_fixture_t_by_the_model():
    """Numbers: the estimator gives the same, with a certificate."""
    model = qed.GaussianMAP([1, 0], [4, 0.25], ar1_covariance(3, 0.5)).fit(T_X, T_Y)
    np.testing.assert_allclose(model.coef_, [115 / 89, 17 / 89], rtol=1e-12)
    assert qed.certify(model, T_X, T_Y)


def test_the_smaller_system_is_picked():
    """Complexity: dual solves n x n, primal d x d."""
    X, y, _ = problem(20, 4)
    noise, prior = covariances(20, 4)
    assert qed.linear_gaussian(X, y, noise=noise, prior=prior).form == "primal"
    noise, prior = covariances(4, 20)
    assert qed.linear_gaussian(X.T, y[:4], noise=noise, prior=prior).form == "dual"
