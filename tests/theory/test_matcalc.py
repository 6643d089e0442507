"""matcalc: the two gradient identities that every least-squares derivation rests on."""

import numpy as np
import pytest

import qed
from qed.optim import SquaredLoss, gradient


@pytest.mark.parametrize("seed", range(3))
def test_gradient_of_a_linear_form(seed):
    """The gradient of a'x is a, by central differences to 1e-6."""
    random = np.random.default_rng(seed)
    a, x = random.standard_normal((2, 6))
    np.testing.assert_allclose(gradient(lambda v: a @ v, x), a, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_of_a_quadratic_form(seed):
    """The gradient of x'Ax is (A + A')x, for a matrix that is not symmetric."""
    random = np.random.default_rng(seed)
    A, x = random.standard_normal((6, 6)), random.standard_normal(6)
    found = gradient(lambda v: v @ A @ v, x)
    assert np.abs(found - (A + A.T) @ x).max() < 1e-6 * np.abs(found).max()


def test_the_short_form_needs_symmetry():
    """Pitfall: 2Ax is the gradient for symmetric A only."""
    random = np.random.default_rng(0)
    A, x = random.standard_normal((6, 6)), random.standard_normal(6)
    assert np.abs(gradient(lambda v: v @ A @ v, x) - 2 * A @ x).max() > 0.1
    S = A + A.T
    np.testing.assert_allclose(gradient(lambda v: v @ S @ v, x), 2 * S @ x, rtol=1e-6)


def test_they_give_the_gradient_of_least_squares():
    """Applied to w'X'Xw - 2w'X'y + y'y they give 2X'Xw - 2X'y."""
    random = np.random.default_rng(1)
    X, y, w = random.standard_normal((9, 4)), random.standard_normal(9), random.standard_normal(4)
    found = gradient(lambda v: v @ (X.T @ X) @ v - 2 * v @ (X.T @ y) + y @ y, w)
    np.testing.assert_allclose(found, 2 * X.T @ (X @ w - y), rtol=1e-6)
    # The loss of ours is half of that.
    np.testing.assert_allclose(found, 2 * X.T @ SquaredLoss().gradient(X @ w, y), rtol=1e-6)
    best = qed.LinearRegression(fit_intercept=False).fit(X, y).coef_
    assert np.abs(gradient(lambda v: ((X @ v - y) ** 2).sum(), best)).max() < 1e-6 * np.abs(found).max()
