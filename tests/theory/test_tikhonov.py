"""tikhonov: ridge with a full Gaussian prior on the coefficients."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import T_X, T_Y, problem

MEAN = np.array([1.0, -1.0, 0.5, 0.0, 2.0])


def prior():
    A = np.random.default_rng(4).standard_normal((5, 5))
    return A @ A.T + 0.5 * np.eye(5)


def fitted(X, y, mean=MEAN, covariance=None):
    return qed.GaussianMAP(mean, prior() if covariance is None else covariance, 1.0).fit(X, y).coef_


def test_a_both_formulas_agree():
    """(a) Ridge with lambda = 1 in the coordinates of the prior, and the formula with its inverse."""
    X, y, _ = problem()
    half = np.linalg.cholesky(prior())
    v = np.linalg.solve(half.T @ X.T @ X @ half + np.eye(5), half.T @ X.T @ (y - X @ MEAN))
    second = MEAN + np.linalg.solve(X.T @ X + np.linalg.inv(prior()), X.T @ (y - X @ MEAN))
    np.testing.assert_allclose(fitted(X, y), half @ v + MEAN, rtol=1e-9)
    np.testing.assert_allclose(fitted(X, y), second, rtol=1e-9)


def test_substitution_is_ridge_with_lambda_one():
    """Computes: in v, with X R and y - X mu, qed's own ridge gives the same."""
    X, y, _ = problem()
    half = np.linalg.cholesky(prior())
    v = qed.Ridge(1.0, fit_intercept=False).fit(X @ half, y - X @ MEAN).coef_
    np.testing.assert_allclose(half @ v + MEAN, fitted(X, y), rtol=1e-9)


@pytest.mark.parametrize("lam", [0.01, 1.0, 50.0])
def test_b_isotropic_prior_about_zero_is_ridge(lam):
    """(b) Sigma_W = I / lambda and mu = 0."""
    X, y, _ = problem()
    ridge = qed.Ridge(lam, fit_intercept=False).fit(X, y).coef_
    np.testing.assert_allclose(fitted(X, y, 0.0, np.eye(5) / lam), ridge, rtol=1e-10)


def test_c_equal_variances_are_ridge():
    """(c) A diagonal of equal entries is the same prior."""
    X, y, _ = problem()
    ridge = qed.Ridge(4.0, fit_intercept=False).fit(X, y).coef_
    np.testing.assert_allclose(fitted(X, y, 0.0, np.full(5, 0.25)), ridge, rtol=1e-10)


def test_d_minimises_the_penalised_error():
    """(d) ||Xw - y||² + (w - mu)' Sigma_W^-1 (w - mu) rises in every direction, by the quadratic form of its Hessian."""
    X, y, _ = problem()
    precision = np.linalg.inv(prior())

    def objective(w):
        return np.sum((X @ w - y) ** 2) + (w - MEAN) @ precision @ (w - MEAN)

    best = fitted(X, y)
    for step in np.random.default_rng(0).standard_normal((20, 5)):
        rise = objective(best + step) - objective(best)
        assert rise == pytest.approx(step @ (X.T @ X + precision) @ step, rel=1e-9)


def test_e_variance_zero_pins_and_infinite_variance_frees():
    """(e) sigma_j² -> 0 leaves w_j at mu_j; sigma_j² -> infinity takes the penalty off it."""
    X, y, _ = problem()
    variances = np.array([1.0, 1e-14, 1.0, 1.0, 1.0])
    assert fitted(X, y, MEAN, variances)[1] == pytest.approx(MEAN[1], abs=1e-10)
    free = fitted(X, y, 0.0, np.array([1.0, 1e12, 1.0, 1.0, 1.0]))
    penalty = np.diag([1.0, 0.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(free, np.linalg.solve(X.T @ X + penalty, X.T @ y), rtol=1e-8)


def test_large_prior_variance_means_little_penalty():
    """Hyperparameters: the wider its prior, the nearer a coefficient comes to the unpenalised one."""
    X, y, _ = problem()
    gaps = []
    for variance in (0.01, 1.0, 100.0):
        w = fitted(X, y, 0.0, np.array([variance, 1e6, 1e6, 1e6, 1e6]))
        gaps.append(abs(w[0] - np.linalg.lstsq(X, y)[0][0]))
    assert gaps[0] > gaps[1] > gaps[2]


def test_fixture_t():
    """Numbers: Sigma_W = diag(4, 1/4) and mu = (1, 0) give (13/9, 5/27)."""
    expected = [13 / 9, 5 / 27]
    np.testing.assert_allclose(fitted(T_X, T_Y, [1, 0], [4, 0.25]), expected, rtol=1e-12)
    for form in ("primal", "dual"):
        found = qed.linear_gaussian(T_X, T_Y, prior=np.diag([4, 0.25]), prior_mean=[1, 0], form=form)
        np.testing.assert_allclose(found.mean, expected, rtol=1e-12)


def test_first_form_takes_a_singular_prior():
    """Pitfall: the form with the inverse does not exist there; ours is the first, and the limit of nearly singular ones."""
    X, y, _ = problem()
    direction = np.array([1.0, 2.0, 0.0, -1.0, 0.5])
    singular = np.outer(direction, direction)
    found = fitted(X, y, MEAN, singular)
    near = fitted(X, y, MEAN, singular + 1e-10 * np.eye(5))
    np.testing.assert_allclose(found, near, atol=1e-6)
    step = found - MEAN
    np.testing.assert_allclose(step, direction * (step @ direction) / (direction @ direction), atol=1e-12)
