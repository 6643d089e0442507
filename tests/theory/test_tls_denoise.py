"""tls-denoise: the corrected data matrix is X + E_X; the text prints X - E_X, against its own constraint [ERR 23]."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import problem


def plain(X, y):
    return qed.LinearRegression(fit_intercept=False).fit(X, y).coef_


@pytest.mark.parametrize("seed", range(5))
def test_least_squares_on_corrected_data_is_total_least_squares(seed):
    """Theory: for y and for y + E_y alike, to 1e-12; with the sign as printed it is not."""
    X, y, _ = problem(n=20, p=3, seed=seed)
    model = qed.TotalLeastSquares(fit_intercept=False).fit(X, y)
    better, target = model.denoise(X, y)
    np.testing.assert_allclose(plain(better, y), model.coef_, atol=1e-12)
    np.testing.assert_allclose(plain(better, target), model.coef_, atol=1e-12)
    assert np.abs(plain(2 * X - better, y) - model.coef_).max() > 1e-4


def test_the_corrections_are_those_of_the_smallest_singular_direction():
    """Computes: [E_X E_y] = -sigma u v'."""
    X, y, _ = problem(n=20, p=3)
    model = qed.TotalLeastSquares(fit_intercept=False).fit(X, y)
    better, target = model.denoise(X, y)
    left, value, right = np.linalg.svd(np.column_stack([X, y]), full_matrices=False)
    change = -value[3] * np.outer(left[:, 3], right[3])
    np.testing.assert_allclose(better - X, change[:, :3], atol=1e-12)
    np.testing.assert_allclose(target - y, change[:, 3], atol=1e-12)


def test_with_an_intercept_and_several_targets():
    X, y, truth = problem(n=30, p=3)
    Y = np.column_stack([y, X @ truth[::-1] + 1])
    model = qed.TotalLeastSquares().fit(X + 4, Y)
    better, target = model.denoise(X + 4, Y)
    np.testing.assert_allclose(model.predict(better), target, atol=1e-10)
    assert np.sum((better - X - 4) ** 2) + np.sum((target - Y) ** 2) == pytest.approx(model.error_, rel=1e-9)
