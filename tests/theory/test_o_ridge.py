"""O-RIDGE: limits and monotonicity of ridge, and the scalings of the texts."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import problem


def ridge(X, y, alpha):
    return qed.Ridge(alpha=alpha, fit_intercept=False).fit(X, y).coef_


def test_eigenvalues_shift_by_lambda():
    X, _, _ = problem()
    plain = np.linalg.eigvalsh(X.T @ X)
    for penalty, condition in zip((0.0, 3.0), qed.optim.ridge_condition(X, [0.0, 3.0])):
        assert condition == pytest.approx((plain[-1] + penalty) / (plain[0] + penalty), rel=1e-8)


def test_vanishing_lambda_gives_the_pseudo_inverse():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((20, 2)) @ generator.standard_normal((2, 4))
    y = generator.standard_normal(20)
    np.testing.assert_allclose(ridge(X, y, 1e-8), np.linalg.pinv(X) @ y, atol=1e-6)


def test_length_decreases_and_no_coefficient_is_exactly_zero():
    X, y, _ = problem()
    path = [ridge(X, y, alpha) for alpha in np.logspace(-2, 4, 20)]
    lengths = [np.linalg.norm(w) for w in path]
    assert all(a > b for a, b in zip(lengths, lengths[1:]))
    assert all((w != 0).all() for w in path)


def test_scaling_of_the_text_that_divides_the_error_by_2n():
    """S25: (1/2N)||Xw - y||^2 + lambda ||w||^2 is ridge with alpha = 2 N lambda."""
    X, y, _ = problem()
    lam, n = 0.05, len(y)
    w = ridge(X, y, 2 * n * lam)
    gradient = X.T @ (X @ w - y) / n + 2 * lam * w
    assert np.abs(gradient).max() < 1e-12
