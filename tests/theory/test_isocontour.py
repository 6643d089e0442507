"""isocontour: level sets of a Gaussian are ellipsoids along the eigenvectors. They need a positive definite covariance."""

import numpy as np
import pytest
from scipy import stats

from qed.base.errors import DegenerateError, InputError, ParameterError
from qed.stats import Gaussian

PAIR = Gaussian([0.0, 0.0], [[2.0, 1.0], [1.0, 2.0]])


def test_semi_axes_of_the_fixture():
    ellipse = PAIR.contour(distance=1.0)
    np.testing.assert_allclose(ellipse.radii, [np.sqrt(3), 1.0])
    np.testing.assert_allclose(abs(ellipse.directions), np.full((2, 2), np.sqrt(0.5)))
    assert ellipse.directions[0, 0] * ellipse.directions[0, 1] > 0 > ellipse.directions[1, 0] * ellipse.directions[1, 1]


def test_level_of_the_fixture():
    radii = PAIR.contour(density=0.05).radii
    np.testing.assert_allclose(radii**2 / [3.0, 1.0], 1.2170981, rtol=1e-7)


def test_axes_have_distance_one():
    sigma = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 1.0]])
    for axis in Gaussian(np.zeros(3), sigma).contour(distance=1.0).axes:
        assert axis @ np.linalg.solve(sigma, axis) == pytest.approx(1.0, rel=1e-12)


def test_density_is_constant_along_the_curve():
    gaussian = Gaussian([3.0, -1.0], [[2.0, 0.9], [0.9, 0.5]])
    values = gaussian.density(gaussian.contour(density=0.02).points(300))
    assert np.ptp(values) / values.mean() < 1e-12
    assert values.mean() == pytest.approx(0.02)


def test_mass_inside():
    draws = PAIR.sample(20_000, random_state=0)
    inside = (PAIR.whiten(draws) ** 2).sum(axis=1) < stats.chi2.ppf(0.9, 2)
    assert inside.mean() == pytest.approx(0.9, abs=0.01)
    np.testing.assert_allclose(PAIR.contour(mass=0.9).radii, np.sqrt(stats.chi2.ppf(0.9, 2) * np.array([3.0, 1.0])))


def test_isotropic_is_a_circle():
    assert Gaussian([0.0, 0.0], 4.0).contour(distance=1.0).is_sphere
    assert not PAIR.contour(distance=1.0).is_sphere


def test_what_has_no_contour():
    with pytest.raises(ParameterError, match="the highest is"):
        PAIR.contour(density=1.0)
    with pytest.raises(DegenerateError, match="singular"):
        Gaussian([0.0, 0.0], np.ones((2, 2))).contour(distance=1.0)
    with pytest.raises(ParameterError, match="one of"):
        PAIR.contour(density=0.05, mass=0.5)
    with pytest.raises(InputError, match="3 dimensions"):
        Gaussian(np.zeros(3), 1.0).contour(mass=0.5).points()
