"""wls: weighted least squares, by optimisation and by probability."""

import numpy as np
import pytest
from scipy import stats

import qed
from qed.base.errors import ParameterError
from tests.theory.fixtures import T_X, T_Y, problem, slope


@pytest.fixture
def weighted():
    X, y, _ = problem()
    return X, y, np.random.default_rng(5).uniform(0.2, 5, len(y))


def fitted(X, y, weight):
    return qed.LinearRegression(fit_intercept=False).fit(X, y, sample_weight=weight).coef_


def test_a_equals_least_squares_on_scaled_rows(weighted):
    """(a) Multiply rows and targets by the root of their weight."""
    X, y, weight = weighted
    root = np.sqrt(weight)
    scaled = qed.LinearRegression(fit_intercept=False).fit(X * root[:, None], y * root).coef_
    np.testing.assert_allclose(fitted(X, y, weight), scaled, rtol=1e-10)
    closed = np.linalg.solve((X.T * weight) @ X, (X.T * weight) @ y)
    np.testing.assert_allclose(fitted(X, y, weight), closed, rtol=1e-10)


def test_b_weighted_residuals_are_orthogonal_to_the_columns(weighted):
    """(b) X' Omega (y - Xw) = 0: the gradient of the weighted sum of squares."""
    X, y, weight = weighted
    w = fitted(X, y, weight)
    assert np.abs((X.T * weight) @ (y - X @ w)).max() < 1e-11
    assert np.abs(slope(lambda v: weight @ (y - X @ v) ** 2, w)).max() < 1e-4


def test_c_equal_weights_are_ordinary_and_scale_is_immaterial(weighted):
    """(c) Equal weights give least squares; a common factor changes nothing."""
    X, y, weight = weighted
    plain = qed.LinearRegression(fit_intercept=False).fit(X, y).coef_
    np.testing.assert_allclose(fitted(X, y, np.full(len(y), 0.3)), plain, rtol=1e-12)
    np.testing.assert_allclose(fitted(X, y, 1e3 * weight), fitted(X, y, weight), rtol=1e-11)


def test_d_probability_and_optimisation_agree(weighted):
    """(d) Weights 1 / sigma_i² are what variances sigma_i² mean: three ways to the same coefficients."""
    X, y, weight = weighted
    expected = fitted(X, y, weight)
    np.testing.assert_allclose(qed.linear_gaussian(X, y, noise=1 / weight).mean, expected, rtol=1e-10)
    model = qed.GeneralizedLeastSquares(1 / weight, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-10)
    matrix = qed.GeneralizedLeastSquares(np.diag(1 / weight), fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(matrix.coef_, expected, rtol=1e-10)


def test_e_scaled_noise_is_standard():
    """(e) Noise of variance 1 / weight, times the root of the weight, is standard: what whitening by its Gaussian does."""
    weight = np.random.default_rng(0).uniform(0.2, 5, 5)
    law = qed.stats.Gaussian(np.zeros(5), np.diag(1 / weight))
    drawn = law.sample(4000, random_state=1)
    scaled = (drawn * np.sqrt(weight)).ravel()
    assert stats.kstest(scaled, "norm").pvalue > 1e-3
    np.testing.assert_allclose(np.abs(law.whiten(drawn)), np.abs(drawn * np.sqrt(weight)), rtol=1e-9)


def test_f_integer_weights_are_repetitions():
    """(f) A weight of three is the row three times."""
    X, y, _ = problem()
    weight = np.arange(len(y)) % 4
    repeated = qed.LinearRegression(fit_intercept=False).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).coef_
    np.testing.assert_allclose(fitted(X, y, weight.astype(float)), repeated, rtol=1e-10)


def test_fixture_t():
    """Numbers: weights (1, 1, 4) give (25/21, 3/7)."""
    expected = [25 / 21, 3 / 7]
    np.testing.assert_allclose(fitted(T_X, T_Y, [1, 1, 4]), expected, rtol=1e-12)
    np.testing.assert_allclose(qed.linear_gaussian(T_X, T_Y, noise=[1, 1, 0.25]).mean, expected, rtol=1e-12)
    model = qed.GeneralizedLeastSquares([1, 1, 0.25]).fit(T_X[:, 1:], T_Y)
    np.testing.assert_allclose([model.intercept_, *model.coef_], expected, rtol=1e-12)


def test_no_deviation_may_be_zero():
    """Pitfall: a row without noise has no finite weight, and is named."""
    with pytest.raises(ParameterError, match="row 1 is 0"):
        qed.linear_gaussian(T_X, T_Y, noise=[1, 0, 1])
    with pytest.raises(ParameterError, match="row 2 is 0"):
        qed.GeneralizedLeastSquares([1, 1, 0]).fit(T_X, T_Y)


def test_larger_variance_means_smaller_weight():
    """Pitfall: doubting a row moves the line away from it."""
    residuals = []
    for variance in (0.01, 1.0, 100.0):
        w = qed.linear_gaussian(T_X, T_Y, noise=[1, variance, 1]).mean
        residuals.append(abs(T_Y[1] - T_X[1] @ w))
    assert residuals[0] < residuals[1] < residuals[2]
