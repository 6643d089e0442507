"""kernel-prior: the polynomial kernel as a prior, seen in two ways.

The text prints Sigma = Diag(1, 1, 2, 2, 1) and a prior of five ones; six features need six entries, Diag(1, 1, 2, 2, 2, 1).
"""

import numpy as np
import pytest

import qed
from qed.kernels import Polynomial, QuadraticForm
from tests.theory.fixtures import problem

SIGMA = np.array([1.0, 1.0, 2.0, 2.0, 2.0, 1.0])
PENALTY = 0.4


def plain(X):
    """The unscaled features (x1², x2², x1 x2, x1, x2, 1)."""
    a, b = X.T
    return np.column_stack([a**2, b**2, a * b, a, b, np.ones(len(X))])


def scaled(X):
    return plain(X) * np.sqrt(SIGMA)


@pytest.fixture
def data():
    X, y, _ = problem(20, 2)
    return X, y, problem(7, 2, seed=1)[0]


def test_the_quadratic_form_is_the_kernel(data):
    X, _, new = data
    K = Polynomial(2)(X, new)
    np.testing.assert_allclose(plain(X) * SIGMA @ plain(new).T, K, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(scaled(X) @ scaled(new).T, K, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(QuadraticForm(np.diag(SIGMA)).mapped(plain)(X, new), K, rtol=1e-12, atol=1e-13)
    assert len(SIGMA) == Polynomial(2).n_features(2) == 6


def test_three_routes_coincide(data):
    """Kernel ridge, ridge on the scaled features, and Tikhonov on the plain ones with precision lambda Sigma^-1."""
    X, y, new = data
    kernel = qed.KernelRidge(PENALTY, kernel=Polynomial(2), form="dual").fit(X, y).predict(new)
    ridge = qed.Ridge(PENALTY, fit_intercept=False).fit(scaled(X), y).predict(scaled(new))
    tikhonov = qed.GaussianMAP(prior_covariance=SIGMA, noise_variance=PENALTY).fit(plain(X), y).predict(plain(new))
    written_out = plain(new) @ np.linalg.solve(plain(X).T @ plain(X) + PENALTY * np.diag(1 / SIGMA), plain(X).T @ y)
    for other in (ridge, tikhonov, written_out):
        np.testing.assert_allclose(other, kernel, rtol=1e-9)


def test_plain_ridge_on_the_unscaled_features_is_another_model(data):
    X, y, new = data
    kernel = qed.KernelRidge(PENALTY, kernel=Polynomial(2)).fit(X, y).predict(new)
    other = qed.Ridge(PENALTY, fit_intercept=False).fit(plain(X), y).predict(plain(new))
    assert np.abs(other - kernel).max() > 1e-3


def test_the_trick_works_for_this_sigma_only(data):
    X, _, new = data
    other = SIGMA.copy()
    other[2] = 1.0
    assert np.abs(plain(X) * other @ plain(new).T - Polynomial(2)(X, new)).max() > 1e-3
