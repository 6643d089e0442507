"""O-MERCER: k is valid if and only if it is symmetric and every Gram matrix is positive semidefinite."""

import numpy as np
import pytest

from qed.base.errors import NotAvailableError
from qed.kernels import RBF, Polynomial, check_mercer

X = np.random.default_rng(0).standard_normal((20, 2))


def test_first_method_exhibit_the_map():
    kernel = Polynomial(3)
    np.testing.assert_allclose(kernel.features(X) @ kernel.features(X).T, kernel(X), rtol=1e-10, atol=1e-12)
    assert np.linalg.matrix_rank(Polynomial(2)(X)) == 6, "the rank is at most the number of features"


def test_second_method_verify_the_condition():
    found = check_mercer(RBF(0.5), X)
    K = RBF(0.5)(X)
    assert found and found.smallest == pytest.approx(np.linalg.eigvalsh(K)[0], abs=1e-12)
    c = np.random.default_rng(1).standard_normal((100, 20))
    assert (np.einsum("ij,jk,ik->i", c, K, c) >= 0).all()


def test_minus_the_squared_distance_yields_a_witness():
    found = check_mercer(lambda x, z: -np.sum((x - z) ** 2), X)
    G = -np.sum((X[:, None] - X[None]) ** 2, axis=2)
    c = found.witness
    assert not found and c @ G @ c < 0 and c @ G @ c == pytest.approx(found.smallest)
    assert "witness" in str(found)


def test_a_function_that_is_not_symmetric_is_no_kernel():
    assert check_mercer(lambda x, z: x @ np.array([[0.0, 1.0], [0.0, 0.0]]) @ z, X).pair is not None


def test_the_gaussian_kernel_has_infinitely_many_features():
    """Any number of different points has a Gram matrix of full rank, so no finite map is enough."""
    for n in (5, 10, 20):
        assert np.linalg.matrix_rank(RBF(20.0)(X[:n])) == n
    assert RBF().n_features(2) is None
    with pytest.raises(NotAvailableError, match="no finite feature map"):
        RBF().features(X)


def test_the_features_of_the_gaussian_in_one_dimension():
    """exp(-g (x - z)^2) = sum_j phi_j(x) phi_j(z), phi_j(x) = exp(-g x^2) sqrt((2 g)^j / j!) x^j."""
    x, gamma = np.linspace(-1, 1, 9), 0.5
    phi, term = [], np.exp(-gamma * x**2)
    for j in range(25):
        phi.append(term)
        term = term * x * np.sqrt(2 * gamma / (j + 1))
    np.testing.assert_allclose(np.transpose(phi) @ phi, RBF(gamma)(x[:, None]), rtol=1e-12)
