"""O-POLYMAP: the explicit feature map of (x'z + 1)^p, for p = 2, 3, 4."""

import math

import numpy as np
import pytest

from qed.kernels import Polynomial

R = np.sqrt


def second(x, y):
    return [x**2, y**2, 1, R(2) * x * y, R(2) * x, R(2) * y]


def third(x, y):
    return [
        *(x**3, y**3, 1, R(3) * x**2 * y, R(3) * x * y**2),
        *(R(3) * x**2, R(6) * x * y, R(3) * y**2, R(3) * x, R(3) * y),
    ]


def fourth(x, y):
    return [
        *(x**4, y**4, 1, 2 * x**3 * y, R(6) * x**2 * y**2, 2 * x * y**3, 2 * x**3, R(12) * x**2 * y),
        *(R(12) * x * y**2, 2 * y**3, R(6) * x**2, R(12) * x * y, R(6) * y**2, 2 * x, 2 * y),
    ]


@pytest.mark.parametrize("p, by_hand, dimension", [(2, second, 6), (3, third, 10), (4, fourth, 15)])
def test_maps_by_hand_and_ours_have_the_same_features(p, by_hand, dimension):
    generator = np.random.default_rng(p)
    for _ in range(5):
        a, b = generator.standard_normal((2, 2))
        value = (a @ b + 1) ** p
        kernel = Polynomial(p)(np.array([a]), np.array([b]))[0, 0]
        assert np.dot(by_hand(*a), by_hand(*b)) == pytest.approx(kernel, rel=1e-11, abs=1e-12)
        ours = Polynomial(p).features([a, b])
        assert ours.shape[1] == len(by_hand(*a)) == dimension
        assert ours[0] @ ours[1] == pytest.approx(value, rel=1e-11, abs=1e-12)
        np.testing.assert_allclose(np.sort(ours[0]), np.sort(by_hand(*a)), rtol=1e-12)


def test_the_number_of_features_grows_as_the_degreeth_power():
    """binom(d + p, p) / d^p tends to 1 / p!."""
    for p in (2, 3, 4):
        shares = [Polynomial(p).n_features(d) / d**p * math.factorial(p) for d in (10, 100, 10_000)]
        assert shares[0] > shares[1] > shares[2] > 1
        assert shares[2] == pytest.approx(1, abs=0.002)
