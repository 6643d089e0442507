"""mvn-pdf: the density of a Gaussian vector. The covariance is R R', not its inverse as printed once."""

import numpy as np
import pytest
from scipy import stats

from qed.base.errors import DegenerateError, InputError
from qed.stats import Gaussian

SIGMA = np.array([[2.0, 0.6], [0.6, 1.0]])
MEAN = np.array([1.0, -1.0])
POINTS = np.random.default_rng(0).standard_normal((5, 4, 2))


def test_product_of_univariate_normals():
    R = np.linalg.cholesky(SIGMA)
    u = np.linalg.solve(R, (POINTS - MEAN).reshape(-1, 2).T).T.reshape(POINTS.shape)
    by_product = stats.norm.logpdf(u).sum(axis=-1) - np.log(abs(np.linalg.det(R)))
    np.testing.assert_allclose(Gaussian(MEAN, SIGMA).log_density(POINTS), by_product, rtol=1e-12)
    # At the mean nothing is left but |det R|, the root of the determinant of the covariance.
    top = Gaussian(MEAN, SIGMA).density(MEAN) * (2 * np.pi) ** (len(MEAN) / 2)
    assert float(top) == pytest.approx(1 / np.linalg.det(R), rel=1e-12)


def test_against_a_reference():
    np.testing.assert_allclose(
        Gaussian(MEAN, SIGMA).density(POINTS), stats.multivariate_normal(MEAN, SIGMA).pdf(POINTS), rtol=1e-12
    )


def test_integral_is_one_and_the_maximum_is_at_the_mean():
    gaussian = Gaussian(MEAN, SIGMA)
    grid = np.linspace(-12, 12, 401)
    values = gaussian.density(np.stack(np.meshgrid(grid, grid), axis=-1))
    assert values.sum() * (grid[1] - grid[0]) ** 2 == pytest.approx(1.0, abs=1e-10)
    assert gaussian.density(MEAN) == pytest.approx(((2 * np.pi) ** 2 * np.linalg.det(SIGMA)) ** -0.5)
    assert values.max() <= gaussian.density(MEAN)


def test_log_density_far_out_does_not_underflow():
    assert Gaussian([0.0], 1.0).log_density([1e6]) == pytest.approx(-0.5e12, rel=1e-10)


def test_singular_covariance_and_wrong_shapes_are_refused():
    with pytest.raises(DegenerateError, match="singular"):
        Gaussian([0.0, 0.0], np.ones((2, 2))).log_density([0.0, 0.0])
    with pytest.raises(InputError, match="2 components"):
        Gaussian(MEAN, SIGMA).density([1.0, 2.0, 3.0])
