"""O-KRR: the push-through identity, and kernel ridge regression as ridge regression on features."""

import numpy as np
import pytest

import qed
from qed.kernels import Linear, Polynomial
from tests.theory.fixtures import problem


@pytest.mark.parametrize(("n", "m"), [(10, 4), (4, 10), (7, 7), (1, 5), (5, 1)])
@pytest.mark.parametrize("penalty", [1e-2, 1.0, 50.0])
def test_push_through_identity(n, m, penalty):
    """(F'F + lambda I_M)^-1 F' y = F'(FF' + lambda I_N)^-1 y: ridge, and kernel ridge with the linear kernel."""
    F, y, _ = problem(n, m)
    left = qed.Ridge(penalty, fit_intercept=False).fit(F, y).coef_
    right = F.T @ qed.KernelRidge(penalty, kernel=Linear()).fit(F, y).dual_coef_
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Polynomial(3, gamma=0.5, coef0=2.0)])
@pytest.mark.parametrize("n", [6, 40])
def test_it_is_ridge_on_the_explicit_features(kernel, n):
    X, y, _ = problem(n, 3)
    new, _, _ = problem(8, 3, seed=1)
    model = qed.KernelRidge(0.8, kernel=kernel, form="dual").fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, np.linalg.solve(kernel(X) + 0.8 * np.eye(n), y), rtol=1e-8, atol=1e-10)
    explicit = qed.Ridge(0.8, fit_intercept=False).fit(kernel.features(X), y)
    np.testing.assert_allclose(model.predict(new), explicit.predict(kernel.features(new)), rtol=1e-8, atol=1e-10)
    by_hand = sum(a * kernel(x[None], new)[0] for a, x in zip(model.dual_coef_, X))
    np.testing.assert_allclose(model.predict(new), by_hand, rtol=1e-10, atol=1e-12)
