"""HESS: the Hessian is symmetric and is what differences of the gradient give."""

import numpy as np
import pytest

from qed.optim import LogisticLoss, SquaredLoss, check_gradient, hessian, jacobian
from tests.theory.fixtures import problem

X, Y, TRUTH = problem()
LABELS = np.sign(Y)


def objective(loss, target, penalty=0.0):
    """Value, gradient and Hessian of a sum of losses of ours, with a ridge penalty."""
    ones = np.ones(len(target))
    return (
        lambda w: loss.value(X @ w, target, ones) + penalty * (w @ w),
        lambda w: X.T @ loss.gradient(X @ w, target) + 2 * penalty * w,
        lambda w: X.T @ (loss.curvature(X @ w, target)[:, None] * X) + 2 * penalty * np.eye(5),
    )


CASES = {
    "ols": objective(SquaredLoss(), Y),
    "ridge": objective(SquaredLoss(), Y, 0.7),
    "logistic": objective(LogisticLoss(), LABELS),
}


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
