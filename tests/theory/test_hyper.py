"""HYPER: the plane w'x = b, what is at right angles to it, and distances from it."""

import numpy as np
import pytest

import qed


def test_the_worked_number():
    assert qed.plane_distance([[5.0, 5.0]], [3.0, 4.0], -5.0)[0] == pytest.approx(6.0, rel=1e-15)


@pytest.mark.parametrize("p", [1, 2, 7])
def test_the_distance_is_that_of_the_projection(p):
    random = np.random.default_rng(p)
    w, b, Z = random.standard_normal(p), random.standard_normal(), random.standard_normal((20, p))
    distance = qed.plane_distance(Z, w, -b)
    feet = Z - np.outer(distance, w / np.linalg.norm(w))
    np.testing.assert_allclose(feet @ w, b, atol=1e-14 * p)
    np.testing.assert_allclose(np.abs(distance), np.linalg.norm(Z - feet, axis=1), atol=1e-14 * p)
    np.testing.assert_allclose((feet[1:] - feet[0]) @ w, 0, atol=1e-13 * p, err_msg="w is at right angles to the plane")


def test_scaling_the_plane_changes_nothing():
    Z = np.random.default_rng(0).standard_normal((5, 3))
    plain = qed.plane_distance(Z, [1.0, -2.0, 3.0], 0.7)
    np.testing.assert_allclose(qed.plane_distance(Z, [10.0, -20.0, 30.0], 7.0), plain, rtol=1e-14)
    np.testing.assert_allclose(qed.plane_distance(Z, [-1.0, 2.0, -3.0], -0.7), -plain, rtol=1e-14)


def test_nothing_is_at_right_angles_to_zero():
    with pytest.raises(qed.base.errors.InputError, match="not all zero"):
        qed.plane_distance([[1.0]], [0.0])
