"""O-KRULES: ten ways to make a kernel of kernels. The text leaves out the conditions; they are needed, and checked here."""

import numpy as np
import pytest

from qed.base.errors import ParameterError
from qed.kernels import (
    RBF,
    Laplace,
    Linear,
    NotAKernelError,
    Polynomial,
    QuadraticForm,
    check_mercer,
    direct_product,
    direct_sum,
    exp,
)

X = np.random.default_rng(0).standard_normal((40, 3))
A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])
K1, K2 = RBF(0.7), Polynomial(2, 0.5)
ONE, TWO = K1(X), K2(X)


def f(X):
    return X[:, 0] ** 2 - X[:, 1]


def phi(X):
    return np.column_stack([np.tanh(X), X[:, 0] * X[:, 2]])


RULES = {
    "c k": (3.0 * K1, 3 * ONE),
    "f k f": (K1.conjugate(f), np.outer(f(X), f(X)) * ONE),
    "q(k)": (K1.polynomial([1.0, 0.0, 2.0, 0.5]), 1 + 2 * ONE**2 + 0.5 * ONE**3),
    "exp(k)": (exp(K1), np.exp(ONE)),
    "k1 + k2": (K1 + K2, ONE + TWO),
    "k1 k2": (K1 * K2, ONE * TWO),
    "k3(phi, phi)": (Laplace(0.3).mapped(phi), Laplace(0.3)(phi(X))),
    "x'Ax'": (QuadraticForm(A), X @ A @ X.T),
    "ka + kb": (direct_sum((K1, [0, 1]), (Linear(), [2])), K1(X[:, :2]) + np.outer(X[:, 2], X[:, 2])),
    "ka kb": (direct_product((K1, [0, 1]), (Linear(), [2])), K1(X[:, :2]) * np.outer(X[:, 2], X[:, 2])),
}


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_gives_a_kernel(rule):
    kernel, expected = RULES[rule]
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-10, atol=1e-12)
    found = check_mercer(kernel, X)
    assert found, str(found)


def test_rules_can_be_put_together():
    kernel = exp(0.5 * (K1 + Linear().on([0]).conjugate(f) ** 2).normalized()) * QuadraticForm(A) + 1
    assert check_mercer(kernel, X)


def test_a_negative_factor_is_rejected():
    with pytest.raises(NotAKernelError, match=">= 0"):
        -0.1 * K1
    assert not check_mercer(lambda x, z: -0.1 * np.exp(-np.sum((x - z) ** 2)), X)


def test_an_indefinite_matrix_is_rejected():
    with pytest.raises(NotAKernelError, match="positive semidefinite") as caught:
        QuadraticForm(A - 2 * np.eye(3))
    v = caught.value.witness
    assert v @ (A - 2 * np.eye(3)) @ v < 0


def test_a_negative_coefficient_is_rejected_and_would_be_wrong():
    with pytest.raises(NotAKernelError, match=">= 0"):
        Linear().polynomial([0.0, 1.0, -1.0])
    assert not check_mercer(lambda x, z: x @ z - (x @ z) ** 2, X)


def test_a_difference_is_rejected_and_would_be_wrong():
    with pytest.raises(ParameterError, match="difference"):
        K1 - K2
    assert not check_mercer(lambda x, z: float(K1([x], [z])[0, 0] - K2([x], [z])[0, 0]), X[:15])


def test_a_negative_constant_in_a_polynomial_is_rejected_and_would_be_wrong():
    with pytest.raises(ParameterError, match="coef0"):
        Polynomial(3, coef0=-1.0)
    assert not check_mercer(lambda x, z: (x @ z - 1) ** 3, X)
