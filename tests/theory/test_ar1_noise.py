"""ar1-noise: z_{i+1} = r z_i + u_{i+1}; its covariance, stationary law, and the random walk at |r| = 1."""

import numpy as np
import pytest

import qed
from qed.base.errors import ParameterError
from qed.data.synthetic import ar1_covariance, ar1_noise

MANY = 40_000


def matrix(n, r):
    """R of z = R u."""
    lags = np.subtract.outer(np.arange(n), np.arange(n))
    return np.where(lags >= 0, float(r) ** np.maximum(lags, 0), 0.0)


def sample_covariance(z):
    return z.T @ z / len(z)


def standard_error(covariance):
    """Standard deviation of each entry of a sample covariance of MANY Gaussian rows."""
    variances = np.diag(covariance)
    return np.sqrt((np.outer(variances, variances) + covariance**2) / MANY)


def test_covariance_of_three_at_one_half_is_exact():
    sigma = ar1_covariance(3, 0.5)
    assert sigma.tolist() == [[1, 0.5, 0.25], [0.5, 1.25, 0.625], [0.25, 0.625, 1.3125]]
    assert np.linalg.det(sigma) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("r", [-1.0, -0.7, 0.0, 0.3, 0.95, 1.0])
def test_matrix_form(r):
    R = matrix(8, r)
    np.testing.assert_allclose(ar1_covariance(8, r), R @ R.T, rtol=1e-13, atol=1e-15)
    # R is lower triangular with ones on its diagonal, so it is the Cholesky factor of the covariance; its inverse has two diagonals.
    factor = np.linalg.cholesky(ar1_covariance(8, r))
    np.testing.assert_allclose(np.linalg.inv(factor), np.eye(8) - r * np.eye(8, k=-1), atol=1e-12)
    assert np.linalg.det(ar1_covariance(8, r)) == pytest.approx(1.0)
    u = ar1_noise(8, 0.0, random_state=3)
    np.testing.assert_allclose(ar1_noise(8, r, random_state=3), R @ u, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("r", [-0.8, 0.5, 0.9, 1.0, -1.0])
def test_sample_covariance_tends_to_it(r):
    z, truth = ar1_noise(6, r, scale=2.0, n_series=MANY, random_state=0, return_truth=True)
    sigma = truth["covariance"]
    assert (abs(sample_covariance(z) - sigma) < 5 * standard_error(sigma)).all()


@pytest.mark.parametrize("r", [-0.6, 0.0, 0.9])
def test_stationary_law(r):
    sigma = ar1_covariance(6, r, start="stationary")
    lags = abs(np.subtract.outer(np.arange(6), np.arange(6)))
    np.testing.assert_allclose(sigma, r**lags / (1 - r**2), rtol=1e-13)
    z = ar1_noise(6, r, n_series=MANY, start="stationary", random_state=1)
    assert (abs(sample_covariance(z) - sigma) < 5 * standard_error(sigma)).all()


def test_from_rest_the_variance_grows_to_the_stationary_one():
    variances = np.diag(ar1_covariance(200, 0.9))
    assert (np.diff(variances) >= 0).all()
    assert variances[-1] == pytest.approx(1 / (1 - 0.81), rel=1e-8)


@pytest.mark.parametrize("r", [1.0, -1.0])
def test_random_walk_has_variance_growing_linearly_and_no_stationary_law(r):
    np.testing.assert_array_equal(np.diag(ar1_covariance(50, r, scale=3.0)), 9.0 * np.arange(1, 51))
    for refused in (ar1_noise, ar1_covariance):
        with pytest.raises(ParameterError, match=r"random walk.*start='rest'"):
            refused(5, r, start="stationary")
    assert "random walk" in ar1_noise.__doc__


def test_generalised_least_squares_gains_as_the_catalogue_says():
    """gls: a line on [0, 1] with n = 50, r = 0.9 has slope variance 5.02, against 9.39 for least squares."""
    X = np.column_stack([np.ones(50), np.linspace(0, 1, 50)])
    sigma = ar1_covariance(50, 0.9)
    z = ar1_noise(50, 0.9, random_state=2)
    found = qed.linear_gaussian(X, z, noise=sigma)
    assert found.covariance[1, 1] == pytest.approx(5.02, abs=0.005)
    # The slope is linear in the target: what it is for each unit vector says how noise moves it.
    slope = qed.LinearRegression().fit(X[:, 1:], np.eye(50)).coef_[:, 0]
    assert slope @ sigma @ slope == pytest.approx(9.39, abs=0.005)
    model = qed.GeneralizedLeastSquares(sigma, fit_intercept=False).fit(X, z)
    np.testing.assert_allclose(model.coef_, found.mean, rtol=1e-9)


def test_shapes():
    assert ar1_noise(7, 0.5, random_state=0).shape == (7,)
    assert ar1_noise(7, 0.5, n_series=3, random_state=0).shape == (3, 7)
    assert ar1_noise(1, 0.5, random_state=0).shape == (1,)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ar1_noise(5, 1.01), "r must be a finite number >= -1 and <= 1"),
        (lambda: ar1_noise(5, np.nan), "r must be"),
        (lambda: ar1_noise(0, 0.5), "n must be"),
        (lambda: ar1_noise(5, 0.5, n_series=0), "n_series"),
        (lambda: ar1_noise(5, 0.5, scale=-1), "scale"),
        (lambda: ar1_covariance(5, 0.5, start="warm"), "start must be 'rest' or 'stationary'"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ParameterError, match=name):
        make()
