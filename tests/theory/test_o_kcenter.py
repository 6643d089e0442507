"""O-KCENTER: centring a kernel matrix is HKH, and is centring the features."""

import numpy as np
import pytest

from qed.kernels import RBF, KernelCenterer, Linear, Polynomial, centred

X = np.random.default_rng(0).standard_normal((25, 3)) + 2
KERNELS = [Linear(), Polynomial(2), RBF(0.3)]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_formula_and_hkh(kernel):
    K, n = kernel(X), len(X)
    theta, rho = K.mean(axis=1), K.mean()
    H = np.eye(n) - np.ones((n, n)) / n
    for found in (centred(K), KernelCenterer().fit_transform(K)):
        np.testing.assert_allclose(found, K - theta[:, None] - theta + rho, atol=1e-10)
        np.testing.assert_allclose(found, H @ K @ H, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_rows_and_columns_sum_to_zero(kernel):
    found = centred(kernel(X))
    scale = np.abs(kernel(X)).max()
    assert np.abs(found.sum(axis=0)).max() < 1e-11 * scale
    assert np.abs(found.sum(axis=1)).max() < 1e-11 * scale
    assert np.linalg.eigvalsh(found).min() > -1e-10 * np.trace(found), "it is a Gram matrix still"


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2)], ids=repr)
def test_it_is_the_gram_matrix_of_centred_features(kernel):
    Phi = kernel.features(X)
    Phi = Phi - Phi.mean(axis=0)
    np.testing.assert_allclose(centred(kernel(X)), Phi @ Phi.T, atol=1e-9)


def test_centring_twice_changes_nothing():
    once = centred(RBF(0.3)(X))
    np.testing.assert_allclose(centred(once), once, atol=1e-14)
