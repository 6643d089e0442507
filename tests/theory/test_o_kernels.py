"""O-KERNELS: linear, polynomial, homogeneous polynomial, Gaussian and Laplace kernels, and the checker-board."""

import numpy as np
import pytest

import qed
from qed.data.synthetic import checkerboard
from qed.kernels import RBF, Gaussian, Laplace, Linear, Polynomial

X = np.random.default_rng(0).standard_normal((50, 3))
x, z = X[0], X[1]
DISTANCE = float(np.linalg.norm(x - z))


@pytest.mark.parametrize(
    "kernel, value",
    [
        (Linear(), x @ z),
        (Polynomial(3), (1 + x @ z) ** 3),
        (Polynomial(3, coef0=0), (x @ z) ** 3),
        (Gaussian(sigma=0.7), np.exp(-(DISTANCE**2) / (2 * 0.7**2))),
        (RBF(gamma=0.7), np.exp(-0.7 * DISTANCE**2)),
        (Laplace(sigma=0.7), np.exp(-DISTANCE / (2 * 0.7))),
    ],
    ids=repr,
)
def test_formulas_symmetry_and_positive_semidefinite(kernel, value):
    K = kernel(X)
    assert K[0, 1] == pytest.approx(value, rel=1e-12)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-10 * np.abs(K).max()


@pytest.mark.parametrize("kernel", [RBF(3.0), Gaussian(sigma=0.1), Laplace(sigma=2.0), Laplace(1.0, norm=1)], ids=repr)
def test_every_point_is_like_itself(kernel):
    assert (np.diagonal(kernel(X)) == 1).all() and (kernel.diagonal(X) == 1).all()


def test_gamma_and_sigma_are_the_same_parameter():
    for sigma in (0.1, 1.0, 5.0):
        np.testing.assert_allclose(RBF(sigma=sigma)(X), RBF(gamma=1 / (2 * sigma**2))(X), rtol=1e-11, atol=1e-300)
        np.testing.assert_allclose(Laplace(sigma=sigma)(X), Laplace(gamma=1 / (2 * sigma))(X), rtol=1e-11)


def test_small_sigma_is_narrow_and_small_gamma_is_flat():
    apart = ~np.eye(len(X), dtype=bool)
    assert RBF(sigma=0.01)(X)[apart].max() < 1e-10
    assert RBF(gamma=1e-6)(X).min() > 0.999
    wide, narrow = RBF(gamma=0.1)(X), RBF(gamma=1.0)(X)
    assert (wide >= narrow).all()


def test_the_checker_board_suits_the_gaussian_kernel_and_no_polynomial_of_low_degree():
    """Ridge regression on the signs of the classes, validated on other points; the width chosen among a few."""
    X, label = checkerboard(800, random_state=0)
    y = np.where(label == label[0], 1.0, -1.0)
    half = len(X) // 2

    def accuracy(kernel):
        model = qed.KernelRidge(alpha=1e-2, kernel=kernel).fit(X[:half], y[:half])
        return np.mean(np.sign(model.predict(X[half:])) == y[half:])

    size = np.ptp(X)
    gaussian = max(accuracy(RBF(sigma=size * share)) for share in (0.02, 0.05, 0.1, 0.2))
    polynomial = max(accuracy(Polynomial(degree, gamma=1 / size**2)) for degree in (1, 2, 3, 4))
    assert gaussian > 0.9 > polynomial + 0.1
