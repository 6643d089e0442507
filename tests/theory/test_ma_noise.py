"""ma-noise: z_i = sum_j r_j u_{i-j}. The bold Sigma printed in the text is a summation sign, not a covariance matrix."""

import numpy as np
import pytest

from qed.base.errors import ParameterError
from qed.data.synthetic import ma_covariance, ma_noise

MANY = 40_000
WINDOW = [1.0, -0.5, 0.25]


def autocovariance(window, lag):
    return sum(window[j] * window[j + lag] for j in range(len(window) - lag)) if lag < len(window) else 0.0


def test_autocovariance_is_a_sum_of_products_and_zero_beyond_the_window():
    sigma = ma_covariance(7, WINDOW)
    for i in range(7):
        for j in range(7):
            assert sigma[i, j] == pytest.approx(autocovariance(WINDOW, abs(i - j)), abs=1e-15)
    assert sigma[0, 3] == 0.0


def test_banded_toeplitz_of_shape_k_by_k_plus_q():
    """The matrix form with the terms before the first included."""
    n, q = 6, len(WINDOW) - 1
    R = np.zeros((n, n + q))
    for i in range(n):
        R[i, i : i + q + 1] = WINDOW[::-1]
    np.testing.assert_allclose(ma_covariance(n, WINDOW), R @ R.T, atol=1e-15)


def test_from_rest_the_first_value_hears_no_echo():
    sigma = ma_covariance(4, WINDOW, start="rest")
    R = np.array([[1, 0, 0, 0], [-0.5, 1, 0, 0], [0.25, -0.5, 1, 0], [0, 0.25, -0.5, 1]])
    np.testing.assert_allclose(sigma, R @ R.T)
    u = ma_noise(4, [1.0], random_state=5)
    np.testing.assert_allclose(ma_noise(4, WINDOW, start="rest", random_state=5), R @ u, atol=1e-15)


@pytest.mark.parametrize("start", ["stationary", "rest"])
def test_sample_covariance_tends_to_it(start):
    z, truth = ma_noise(6, WINDOW, scale=2.0, n_series=MANY, start=start, random_state=0, return_truth=True)
    sigma = truth["covariance"]
    error = np.sqrt((np.outer(np.diag(sigma), np.diag(sigma)) + sigma**2) / MANY)
    assert (abs(z.T @ z / MANY - sigma) < 5 * error).all()


def test_window_longer_than_the_series():
    np.testing.assert_allclose(ma_covariance(2, [1.0, 2.0, 3.0, 4.0]), [[30.0, 20.0], [20.0, 30.0]])


@pytest.mark.parametrize("window", [[], [np.nan], [[1.0, 2.0]]])
def test_bad_windows_are_refused(window):
    with pytest.raises(ParameterError, match="window"):
        ma_noise(3, window)
