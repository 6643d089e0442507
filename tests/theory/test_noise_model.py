"""noise-model: y_i = f(x_i) + z_i with E z_i = 0 and the asked variance, for three families."""

import numpy as np
import pytest
from scipy import stats

from qed.base.errors import ParameterError
from qed.data.synthetic import noise, noise_model

# the fourth standardised moment gives the standard error of a sample variance
KURTOSIS = {"gaussian": 3.0, "uniform": 1.8, "laplace": 6.0}
LAWS = {
    "gaussian": stats.norm(0, 1),
    "uniform": stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)),
    "laplace": stats.laplace(0, 1 / np.sqrt(2)),
}
N = 20_000


@pytest.fixture(params=KURTOSIS)
def family(request):
    return request.param


@pytest.mark.parametrize("sigma", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(3))
def test_mean_is_zero_and_variance_as_asked(family, sigma, seed):
    z = noise(N, scale=sigma, family=family, random_state=seed)
    assert abs(z.mean()) < 4 * sigma / np.sqrt(N)
    assert abs(z.var() - sigma**2) < 4 * sigma**2 * np.sqrt((KURTOSIS[family] - 1) / N)


def test_law_is_that_of_the_family(family):
    z = noise(N, scale=2.0, family=family, random_state=0)
    assert stats.kstest(z / 2.0, LAWS[family].cdf).pvalue > 1e-3
    for other in set(LAWS) - {family}:
        assert stats.kstest(z / 2.0, LAWS[other].cdf).pvalue < 1e-6


def test_noise_is_independent_from_row_to_row(family):
    z = noise(N, family=family, random_state=0)
    for lag in (1, 2, 5):
        assert abs(np.mean(z[lag:] * z[:-lag])) < 4 / np.sqrt(N)


def test_observations_average_to_the_function(family):
    x = np.linspace(-1, 1, 7)
    random = np.random.default_rng(0)
    y = np.array([noise_model(np.sin, x, noise=0.5, family=family, random_state=random) for _ in range(3000)])
    assert abs(y.mean(axis=0) - np.sin(x)).max() < 4 * 0.5 / np.sqrt(3000)
    assert abs(y.var(axis=0) - 0.25).max() < 4 * 0.25 * np.sqrt((KURTOSIS[family] - 1) / 3000)


def test_default_is_gaussian_with_means_that_differ():
    x = np.linspace(0, 10, N)
    y, truth = noise_model(np.square, x, noise=3.0, random_state=1, return_truth=True)
    np.testing.assert_array_equal(truth["mean"], x**2)
    assert stats.kstest((y - x**2) / 3.0, "norm").pvalue > 1e-3


def test_rows_of_several_values():
    y, truth = noise_model(lambda x: np.column_stack([x, -x]), np.arange(5), random_state=0, return_truth=True)
    assert y.shape == truth["mean"].shape == (5, 2)
    assert np.unique(y - truth["mean"]).size == 10


def test_shapes():
    assert noise((3, 4), random_state=0).shape == (3, 4)
    assert noise(0, random_state=0).shape == (0,)
    assert not noise(5, scale=0.0, random_state=0).any()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: noise(-1), "size"),
        (lambda: noise((2, 2.5)), "size"),
        (lambda: noise(5, scale=-1), "scale"),
        (lambda: noise(5, family="cauchy"), "family must be 'gaussian' or"),
        (lambda: noise_model(np.sum, [1.0, 2.0]), "one value for each point"),
        (lambda: noise_model(np.square, [1.0], noise=-2), "noise"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ParameterError, match=name):
        make()
