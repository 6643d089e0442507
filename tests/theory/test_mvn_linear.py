"""mvn-linear: AZ ~ N(A mu, A Sigma A')."""

import numpy as np
import pytest

from qed.base.errors import InputError
from qed.stats import Gaussian

A = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]])
SIGMA = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])


def test_mean_and_covariance():
    mapped = Gaussian([1.0, 2.0, 3.0], SIGMA).map(A, [10.0, 0.0])
    np.testing.assert_allclose(mapped.mean, A @ [1.0, 2.0, 3.0] + [10.0, 0.0])
    np.testing.assert_allclose(mapped.covariance, A @ SIGMA @ A.T, rtol=1e-13)


@pytest.mark.parametrize("law", ["gaussian", "uniform"])
def test_exact_for_sample_moments_of_any_vector(law):
    """Mean and covariance follow the formula whatever the law is."""
    random = np.random.default_rng(0)
    Z = random.standard_normal((50, 3)) if law == "gaussian" else random.random((50, 3))
    of_images, of_points = Gaussian.fit(Z @ A.T), Gaussian.fit(Z)
    np.testing.assert_allclose(of_images.covariance, A @ of_points.covariance @ A.T, rtol=1e-12)
    np.testing.assert_allclose(of_images.mean, A @ of_points.mean, rtol=1e-12)


def test_samples_of_the_map_match_mapped_samples():
    gaussian = Gaussian([1.0, 2.0, 3.0], SIGMA)
    direct, through = gaussian.map(A).sample(50_000, 0), gaussian.sample(50_000, 1) @ A.T
    np.testing.assert_allclose(np.cov(direct.T), np.cov(through.T), rtol=0.05, atol=0.15)


def test_more_images_than_components_are_degenerate():
    assert Gaussian([0.0], 1.0).map([[1.0], [2.0]]).is_degenerate


def test_wrong_shape_is_refused():
    with pytest.raises(InputError, match="3 columns"):
        Gaussian(np.zeros(3), SIGMA).map(np.eye(2))
