"""kernel-closure: the three rules of the course, each with the feature map that it builds."""

import numpy as np
import pytest

from qed.kernels import RBF, Linear, NotAKernelError, Polynomial, QuadraticForm, check_mercer

X = np.random.default_rng(0).standard_normal((30, 2))


def phi(X):
    return np.column_stack([X[:, 0], X[:, 1] ** 2, np.sin(X[:, 0] * X[:, 1])])


def f(X):
    return X[:, 0] - 0.5


@pytest.mark.parametrize("alpha, beta", [(2.0, 0.5), (0.0, 1.0), (3.0, 0.0)])
def test_i_sums_with_factors_that_are_not_negative(alpha, beta):
    kernel = alpha * Polynomial(2) + beta * Linear()
    Phi = np.hstack([np.sqrt(alpha) * Polynomial(2).features(X), np.sqrt(beta) * X])
    np.testing.assert_allclose(kernel(X), Phi @ Phi.T, atol=1e-10)
    np.testing.assert_allclose(kernel.features(X), Phi, atol=1e-12)
    assert check_mercer(kernel, X) and check_mercer(alpha * RBF(1) + beta * Linear(), X)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_ii_a_positive_semidefinite_matrix_between_the_features(rank):
    root = np.random.default_rng(rank).standard_normal((3, rank))
    sigma = root @ root.T
    kernel = QuadraticForm(sigma).mapped(phi)
    np.testing.assert_allclose(kernel(X), phi(X) @ sigma @ phi(X).T, atol=1e-12)
    values, vectors = np.linalg.eigh(sigma)
    half = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    constructed = phi(X) @ half
    np.testing.assert_allclose(kernel(X), constructed @ constructed.T, atol=1e-10)
    np.testing.assert_allclose(kernel.features(X) @ kernel.features(X).T, kernel(X), atol=1e-12)
    assert kernel.n_features(2) == rank and check_mercer(kernel, X)


@pytest.mark.parametrize("inner", [Linear(), Polynomial(3), RBF(0.5)], ids=repr)
def test_iii_any_real_function_on_both_sides(inner):
    kernel = inner.conjugate(f)
    np.testing.assert_allclose(kernel(X), np.outer(f(X), f(X)) * inner(X), atol=1e-12)
    assert check_mercer(kernel, X)
    if inner.n_features(2) is not None:
        np.testing.assert_allclose(kernel.features(X), f(X)[:, None] * inner.features(X), atol=1e-12)


def test_a_negative_factor_raises_an_error():
    with pytest.raises(NotAKernelError, match="must be a number >= 0, not -1") as caught:
        -1 * Linear()
    v = caught.value.witness
    assert v @ (-Linear()(X[:1])) @ v < 0


def test_a_matrix_that_is_not_positive_semidefinite_raises_an_error():
    sigma = np.diag([1.0, 1.0, -0.1])
    with pytest.raises(NotAKernelError, match="-0.1") as caught:
        QuadraticForm(sigma).mapped(phi)
    assert caught.value.witness @ sigma @ caught.value.witness < 0
