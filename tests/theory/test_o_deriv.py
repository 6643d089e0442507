"""O-DERIV: the derivatives of x'Ax and A'x.

The text prints 2Ax for the first; that holds for a symmetric A, in general it is (A + A')x.
"""

import numpy as np
import pytest

from qed.optim import gradient, hessian, jacobian

GENERATOR = np.random.default_rng(4)
A = GENERATOR.standard_normal((4, 4))
X = GENERATOR.standard_normal(4)


@pytest.mark.parametrize("method", ["forward", "central", "complex"])
def test_quadratic_form_of_a_general_matrix(method):
    found = gradient(lambda x: x @ A @ x, X, method)
    np.testing.assert_allclose(found, (A + A.T) @ X, rtol=1e-6)
    assert np.abs(found - 2 * A @ X).max() > 0.1


def test_quadratic_form_of_a_symmetric_matrix():
    S = A + A.T
    np.testing.assert_allclose(gradient(lambda x: x @ S @ x, X), 2 * S @ X, rtol=1e-8)


def test_linear_form_and_linear_map():
    a = A[0]
    np.testing.assert_allclose(gradient(lambda x: a @ x, X), a, rtol=1e-8)
    np.testing.assert_allclose(jacobian(lambda x: A.T @ x, X), A.T, rtol=1e-6, atol=1e-7)


def test_second_derivative_of_the_quadratic_form():
    np.testing.assert_allclose(hessian(lambda x: x @ A @ x, X), A + A.T, atol=1e-6)
