"""krr: ridge regression from its rows, w = X'v with v = (XX' + lambda I)^-1 y.

The text prints the Hessian in r as 2I and the normal equations with the sign X'Xw - lambda w; with the penalty's factor they are
2 lambda I and X'Xw + lambda w, which is what is tested.
"""

import numpy as np
import pytest

import qed
from qed.kernels import Linear, Polynomial
from tests.theory.fixtures import problem

SHAPES = [(12, 4), (4, 12), (6, 6)]


@pytest.mark.parametrize("form", ["primal", "dual"])
def test_fixture(form):
    """X = (1, 2)', y = (1, 2), lambda = 1, linear kernel: v = (1/6, 1/3), w = 5/6."""
    X, y = np.array([[1.0], [2.0]]), np.array([1.0, 2.0])
    model = qed.KernelRidge(1.0, form=form).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, [1 / 6, 1 / 3], rtol=1e-14)
    np.testing.assert_allclose(X.T @ model.dual_coef_, [5 / 6], rtol=1e-14)
    np.testing.assert_allclose(model.predict(X), [5 / 6, 10 / 6], rtol=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_primal_and_dual_weights_are_the_same(shape):
    X, y, _ = problem(*shape)
    dual = qed.KernelRidge(0.7, form="dual").fit(X, y)
    ridge = qed.Ridge(0.7, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(X.T @ dual.dual_coef_, ridge.coef_, rtol=1e-10)
    closed = X.T @ np.linalg.solve(X @ X.T + 0.7 * np.eye(len(y)), y)
    np.testing.assert_allclose(X.T @ dual.dual_coef_, closed, rtol=1e-10)


def test_b_the_weights_lie_in_the_span_of_the_rows():
    """The part of w in null(X) is zero; adding one changes no prediction, and costs lambda times its squared length."""
    X, y, _ = problem(4, 12)
    w = qed.Ridge(0.7, fit_intercept=False).fit(X, y).coef_
    null = np.linalg.svd(X)[2][4:]
    np.testing.assert_allclose(null @ w, 0.0, atol=1e-12)

    def objective(v):
        return np.sum((X @ v - y) ** 2) + 0.7 * v @ v

    moved = w + 0.3 * null[0]
    np.testing.assert_allclose(X @ moved, X @ w, atol=1e-12)
    assert objective(moved) - objective(w) == pytest.approx(0.7 * 0.09, rel=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("shape", SHAPES)
def test_c_dual_weights_are_scaled_residuals(kernel, shape):
    X, y, _ = problem(*shape)
    model = qed.KernelRidge(0.3, kernel=kernel).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, (y - model.predict(X)) / 0.3, rtol=1e-8, atol=1e-10)
    assert model.certificate_["dual coefficients are scaled residuals"].value < 1e-13


@pytest.mark.parametrize("shape", SHAPES)
def test_d_the_matrix_is_positive_definite(shape):
    X, _, _ = problem(*shape)
    least = np.linalg.eigvalsh(Linear()(X) + 0.7 * np.eye(len(X))).min()
    assert least >= 0.7 * (1 - 1e-12)


def test_e_the_joint_hessian_is_block_diagonal():
    """With w = X'v + r, r in null(X): 2K² + 2 lambda K for v, 2 lambda I for r, and nothing between them."""
    X, y, _ = problem(3, 5)
    K, null, penalty = Linear()(X), np.linalg.svd(X)[2][3:].T, 0.7
    cost = qed.optim.ridged(qed.optim.Objective(lambda w: float(((X @ w - y) ** 2).sum())), penalty)
    basis = np.hstack([X.T, null])
    found = basis.T @ qed.optim.hessian(cost.value, np.zeros(5)) @ basis
    size = np.abs(found).max()
    np.testing.assert_allclose(found[:3, :3], 2 * K @ K + 2 * penalty * K, atol=1e-5 * size)
    np.testing.assert_allclose(found[3:, 3:], 2 * penalty * np.eye(2), atol=1e-5 * size)
    np.testing.assert_allclose(found[:3, 3:], 0.0, atol=1e-5 * size)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_f_kernel_predictions_are_those_of_the_explicit_features(degree):
    X, y, _ = problem(15, 3)
    new, _, _ = problem(6, 3, seed=1)
    kernel = Polynomial(degree)
    model = qed.KernelRidge(0.5, kernel=kernel, form="dual").fit(X, y)
    ridge = qed.Ridge(0.5, fit_intercept=False).fit(kernel.features(X), y)
    np.testing.assert_allclose(model.predict(new), ridge.predict(kernel.features(new)), rtol=1e-9)
    written_out = kernel(new, X) @ np.linalg.solve(kernel(X) + 0.5 * np.eye(15), y)
    np.testing.assert_allclose(model.predict(new), written_out, rtol=1e-9)


def test_derivation_a_rearranges_the_normal_equations():
    """X'Xw + lambda w = X'y (the sign is plus) gives w = X'(y - Xw)/lambda."""
    X, y, _ = problem(8, 3)
    w = qed.Ridge(0.7, fit_intercept=False).fit(X, y).coef_
    np.testing.assert_allclose(X.T @ X @ w + 0.7 * w, X.T @ y, rtol=1e-12)
    np.testing.assert_allclose(X.T @ (y - X @ w) / 0.7, w, rtol=1e-11)


def test_other_dual_weights_say_the_same_when_the_kernel_matrix_is_singular():
    X, y, _ = problem(12, 4)
    v = qed.KernelRidge(0.7, form="dual").fit(X, y).dual_coef_
    null = np.linalg.svd(X.T)[2][4:]
    np.testing.assert_allclose(X.T @ (v + null[0]), X.T @ v, atol=1e-12)


def test_training_without_a_penalty_says_what_it_did():
    X, y, _ = problem(12, 4)
    with pytest.warns(qed.base.errors.DegenerateWarning, match="4 of 12"):
        model = qed.KernelRidge(0.0, form="dual").fit(X, y)
    assert model.rank_ == 4 and model.certificate_
    np.testing.assert_allclose(
        model.predict(X), qed.LinearRegression(fit_intercept=False).fit(X, y).predict(X), rtol=1e-10
    )
