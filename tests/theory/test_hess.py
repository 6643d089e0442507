"""HESS: the Hessian is symmetric and is what differences of the gradient give."""

import numpy as np
import pytest

from qed.optim import LogisticLoss, Objective, SquaredLoss, check_gradient, hessian, jacobian, ridged
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
    """X'X has no negative eigenvalue, and a penalty of w'w raises the least by two, as `ridged` does."""
    deficient, loss, ones = np.hstack([X, X[:, :1]]), SquaredLoss(), np.ones(len(Y))
    plain = Objective(
        lambda w: loss.value(deficient @ w, Y, ones),
        lambda w: deficient.T @ loss.gradient(deficient @ w, Y),
        lambda w: deficient.T @ (loss.curvature(deficient @ w, Y)[:, None] * deficient),
    )
    for penalty, objective in ((0.0, plain), (0.7, ridged(plain, 0.7))):
        exact = objective.hessian(np.zeros(6))
        assert np.linalg.eigvalsh(exact)[0] == pytest.approx(2 * penalty, abs=1e-12 * np.trace(exact))
        found = hessian(objective.value, np.zeros(6), objective.gradient)
        np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-6)
        assert np.linalg.eigvalsh(found)[0] == pytest.approx(2 * penalty, abs=1e-6)
