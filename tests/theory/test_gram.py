"""gram: kernel functions, Gram matrices, and what a finite sample can say about validity."""

import numpy as np
import pytest

from qed.kernels import RBF, Laplace, Linear, Polynomial, QuadraticForm, check_mercer

X = np.random.default_rng(0).standard_normal((40, 3))
KERNELS = [Linear(), Polynomial(2), Polynomial(3, coef0=0), RBF(0.5), Laplace(0.5), RBF(1) * Linear() + 2]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_entries_are_the_kernel_of_pairs(kernel):
    K = kernel(X)
    for i, j in ((0, 0), (3, 7), (39, 1)):
        assert K[i, j] == pytest.approx(kernel(X[[i]], X[[j]])[0, 0], rel=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_symmetric_and_positive_semidefinite(kernel):
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-10 * np.trace(K)
    assert check_mercer(kernel, X)


@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(2), Polynomial(3, coef0=0), QuadraticForm(np.diag([1.0, 2, 0]))]
)
def test_the_gram_matrix_is_phi_phi_transposed(kernel):
    Phi = kernel.features(X)
    np.testing.assert_allclose(kernel(X), Phi @ Phi.T, atol=1e-10)


def test_minus_the_inner_product_is_rejected_with_a_witness():
    found = check_mercer(lambda x, z: -x @ z, X)
    v = found.witness
    assert not found and v @ (-X @ X.T) @ v < 0


def test_a_finite_sample_can_refute_validity_but_never_prove_it():
    """The indicator of a distance below 1 is no kernel; two rows do not show it, three in a line do."""

    def near(x, z):
        return float(np.linalg.norm(x - z) <= 1)

    line = np.array([[0.0], [0.8], [1.6]])
    passed = check_mercer(near, line[:2])
    assert passed and "never prove it" in str(passed)
    refuted = check_mercer(near, line)
    assert not refuted
    K = np.array([[near(x, z) for z in line] for x in line])
    assert refuted.witness @ K @ refuted.witness == pytest.approx(1 - np.sqrt(2))
