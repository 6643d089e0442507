"""krr-noniid: kernel ridge regression with the kernel X Sigma_W X' and the noise Sigma_Z in the place of lambda I."""

import numpy as np
import pytest

import qed
from qed.data.synthetic import ar1_covariance
from qed.kernels import QuadraticForm
from tests.theory.fixtures import T_X, T_Y, problem


@pytest.fixture
def setting():
    random = np.random.default_rng(3)
    X, y, _ = problem(9, 4)
    A, B = random.standard_normal((4, 4)), random.standard_normal((9, 9))
    return X, y, A @ A.T + 0.3 * np.eye(4), B @ B.T / 9 + 0.2 * np.eye(9)


def test_primal_and_dual_are_the_same(setting):
    X, y, prior, noise = setting
    model = qed.GeneralizedKernelRidge(noise, kernel=QuadraticForm(prior)).fit(X, y)
    w = prior @ X.T @ model.dual_coef_
    for form in ("primal", "dual"):
        expected = qed.linear_gaussian(X, y, noise=noise, prior=prior, form=form).mean
        np.testing.assert_allclose(w, expected, rtol=1e-9)
    written_out = np.linalg.solve(
        X.T @ np.linalg.solve(noise, X) + np.linalg.inv(prior), X.T @ np.linalg.solve(noise, y)
    )
    np.testing.assert_allclose(w, written_out, rtol=1e-9)
    assert model.certificate_ and qed.certify(model, X, y)


def test_prediction(setting):
    """k_z'(K + Sigma_Z)^-1 y with K = X Sigma_W X' and k_z = X Sigma_W z."""
    X, y, prior, noise = setting
    new, _, _ = problem(5, 4, seed=8)
    model = qed.GeneralizedKernelRidge(noise, kernel=QuadraticForm(prior)).fit(X, y)
    expected = new @ prior @ X.T @ np.linalg.solve(X @ prior @ X.T + noise, y)
    np.testing.assert_allclose(model.predict(new), expected, rtol=1e-10)


def test_the_fixture_of_map_colored():
    """T with AR(1) noise of r = 1/2 and the prior N(0, diag(4, 1/4)), without a mean: as by both forms of the MAP."""
    noise, prior = ar1_covariance(3, 0.5), np.diag([4.0, 0.25])
    model = qed.GeneralizedKernelRidge(noise, kernel=QuadraticForm(prior)).fit(T_X, T_Y)
    expected = qed.linear_gaussian(T_X, T_Y, noise=noise, prior=prior).mean
    np.testing.assert_allclose(prior @ T_X.T @ model.dual_coef_, expected, rtol=1e-12)


@pytest.mark.parametrize(("sigma", "sigma_h"), [(1.0, 1.0), (0.5, 2.0), (3.0, 0.1)])
def test_isotropic_case_is_ridge(sigma, sigma_h):
    X, y, _ = problem(9, 4)
    model = qed.GeneralizedKernelRidge(sigma**2, kernel=QuadraticForm(sigma_h**2 * np.eye(4))).fit(X, y)
    ridge = qed.Ridge(sigma**2 / sigma_h**2, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), rtol=1e-10)


def test_identity_noise_is_kernel_ridge_with_a_unit_penalty():
    X, y, _ = problem(9, 4)
    plain = qed.KernelRidge(1.0, kernel="rbf").fit(X, y)
    np.testing.assert_allclose(
        qed.GeneralizedKernelRidge(kernel="rbf").fit(X, y).dual_coef_, plain.dual_coef_, rtol=1e-12
    )
