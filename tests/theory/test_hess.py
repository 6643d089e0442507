"""HESS: the Hessian is symmetric and is what differences of the gradient give."""

import numpy as np
import pytest

from qed.optim import check_gradient, hessian, jacobian
from tests.theory.fixtures import problem

X, Y, TRUTH = problem()
LABELS = np.sign(Y)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def least_squares(penalty):
    return (
        lambda w: ((X @ w - Y) ** 2).sum() + penalty * (w @ w),
        lambda w: 2 * X.T @ (X @ w - Y) + 2 * penalty * w,
        lambda w: 2 * X.T @ X + 2 * penalty * np.eye(5),
    )


def logistic():
    def curvature(w):
        p = sigmoid(X @ w)
        return (X * (p * (1 - p))[:, None]).T @ X

    return (
        lambda w: np.logaddexp(0, -LABELS * (X @ w)).sum(),
        lambda w: -X.T @ (LABELS * sigmoid(-LABELS * (X @ w))),
        curvature,
    )


CASES = {"ols": least_squares(0.0), "ridge": least_squares(0.7), "logistic": logistic()}


@pytest.mark.parametrize("name", CASES)
def test_hessian_is_symmetric_and_agrees_with_differences(name):
    function, gradient, curvature = CASES[name]
    exact = curvature(TRUTH)
    size = np.sqrt(np.diag(exact))
    assert (np.abs(exact - exact.T) <= len(X) * 2.0**-53 * np.outer(size, size)).all()  # sums of n products
    assert check_gradient(function, gradient, TRUTH).holds
    np.testing.assert_allclose(jacobian(gradient, TRUTH, "central"), exact, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(hessian(function, TRUTH, gradient), exact, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(hessian(function, TRUTH), exact, rtol=1e-5, atol=1e-4)


def test_least_squares_is_semidefinite_and_ridge_definite_for_any_rank():
    deficient = np.hstack([X, X[:, :1]])
    for penalty in (0.0, 0.7):
        H = hessian(
            lambda w: 0.0,
            np.zeros(6),
            lambda w, penalty=penalty: 2 * deficient.T @ (deficient @ w - Y) + 2 * penalty * w,
        )
        lowest = np.linalg.eigvalsh(H)[0]
        assert lowest == pytest.approx(2 * penalty, abs=1e-7)
