"""O-KREG: kernel regression without a penalty, K²a = Ky."""

import numpy as np
import pytest

import qed
from qed.base.errors import DegenerateWarning
from qed.kernels import RBF, Linear
from tests.theory.fixtures import problem


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_interpolates_where_the_matrix_is_invertible(kernel):
    X, y, _ = problem(15, 3)
    model = qed.KernelInterpolator(kernel, gamma=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-10)
    assert model.rank_ == 15 and model.certificate_ and qed.certify(model, X, y)
    K = qed.kernels.as_kernel(kernel, gamma=1.0)(X)
    np.testing.assert_allclose(model.dual_coef_, np.linalg.solve(K, y), rtol=1e-8)
    np.testing.assert_allclose(K @ K @ model.dual_coef_, K @ y, rtol=1e-8)
    assert model.condition_ == pytest.approx(np.linalg.cond(K, 1), rel=3)


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_linear_kernel_is_least_squares(form):
    X, y, _ = problem(15, 3)
    new, _, _ = problem(6, 3, seed=1)
    model = qed.KernelInterpolator(form=form).fit(X, y)
    ols = qed.LinearRegression(fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.predict(new), ols.predict(new), rtol=1e-10)
    np.testing.assert_allclose(X.T @ model.dual_coef_, ols.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.dual_coef_, np.linalg.pinv(X @ X.T, rcond=1e-12) @ y, atol=1e-10)
    assert model.rank_ == 3 and model.certificate_ and qed.certify(model, X, y)
    spectrum = np.linalg.eigvalsh(X.T @ X)
    assert model.condition_ == pytest.approx(spectrum[-1] / spectrum[0], rel=1e-6)


def test_what_is_orthogonal_to_the_rows_changes_nothing():
    """w* lies in the span of the data: its orthogonal part changes no prediction on the rows, and makes it only longer."""
    X, y, _ = problem(4, 9)
    model = qed.KernelInterpolator().fit(X, y)
    w = X.T @ model.dual_coef_
    other = np.linalg.svd(X)[2][-1]
    np.testing.assert_allclose(X @ (w + other), X @ w, atol=1e-12)
    np.testing.assert_allclose(X @ w, y, atol=1e-12)
    assert np.linalg.norm(w + other) > np.linalg.norm(w)


def test_an_ill_conditioned_matrix_is_reported_and_ridge_is_the_cure():
    x = np.linspace(0, 1, 40)[:, None]
    y = np.sin(6 * x[:, 0])
    with pytest.warns(DegenerateWarning, match="KernelRidge"):
        model = qed.KernelInterpolator(RBF(1.0)).fit(x, y)
    assert model.rank_ < 40 and model.certificate_
    K = RBF(1.0)(x)
    value, vector = np.linalg.eigh(K)
    kept = value > 4 * 40 * np.finfo(float).eps * value[-1]
    np.testing.assert_allclose(model.predict(x), vector[:, kept] @ vector[:, kept].T @ y, atol=1e-6)
    ridge = qed.KernelRidge(1e-6, kernel=RBF(1.0)).fit(x, y)
    assert np.abs(ridge.dual_coef_).max() < np.abs(model.dual_coef_).max() and ridge.certificate_


def test_a_large_condition_number_is_said():
    x = np.linspace(0, 1, 7)[:, None]
    with pytest.warns(DegenerateWarning, match="condition number"):
        model = qed.KernelInterpolator(RBF(0.5)).fit(x, x[:, 0])
    assert model.condition_ > 1e10 and model.rank_ == 7


def test_moving_a_coefficient_breaks_the_proof():
    X, y, _ = problem(15, 3)
    for kernel in (Linear(), RBF(1.0)):
        model = qed.KernelInterpolator(kernel).fit(X, y)
        model.dual_coef_[2] *= 1.001
        assert not qed.certify(model, X, y)
