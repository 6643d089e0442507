"""tls: total least squares, with errors in the columns too."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import problem


def total(X, y):
    return qed.TotalLeastSquares(fit_intercept=False).fit(X, y)


def test_numbers():
    """Numbers: X = (2, 1)', y = (1, 2)': singular values 3 and 1, w = 1, objective 1; ordinary least squares 0.8."""
    X, y = np.array([[2.0], [1.0]]), np.array([1.0, 2.0])
    model = total(X, y)
    np.testing.assert_allclose(model.singular_values_, [3, 1], rtol=1e-14)
    np.testing.assert_allclose(model.coef_, [1], rtol=1e-14)
    assert model.error_ == pytest.approx(1, rel=1e-14)
    np.testing.assert_allclose(qed.LinearRegression(fit_intercept=False).fit(X, y).coef_, [0.8], rtol=1e-14)
    assert model.certificate_


@pytest.mark.parametrize("seed", range(4))
def test_constraint_optimum_and_null_space(seed):
    """Theory (a), (b), (c), (f)."""
    X, y, _ = problem(n=20, p=4, seed=seed)
    model, d = total(X, y), 4
    left, value, right = np.linalg.svd(np.column_stack([X, y]), full_matrices=False)
    change = -value[d] * np.outer(left[:, d], right[d])
    better, target = X + change[:, :d], y + change[:, d]
    assert np.abs(better @ model.coef_ - target).max() < 1e-10
    assert np.sum(change**2) == pytest.approx(model.error_, rel=1e-10)
    assert model.error_ == pytest.approx(value[d] ** 2, rel=1e-10)
    corrected = np.column_stack([better, target])
    assert np.abs(corrected @ [*model.coef_, -1]).max() < 1e-10
    assert np.linalg.matrix_rank(corrected) == d
    np.testing.assert_allclose(model.coef_, -right[d, :d] / right[d, d], rtol=1e-9)
    assert y @ (y - X @ model.coef_) == pytest.approx(value[d] ** 2, rel=1e-9)


def test_no_smaller_change_makes_the_system_solvable():
    """Theory (b): any w needs a change of at least sigma^2; for given w the least is ||y - Xw||^2 / (1 + ||w||^2)."""
    X, y, _ = problem(n=15, p=3)
    model, random = total(X, y), np.random.default_rng(0)
    for scale in (1e-3, 0.1, 1.0):
        for _ in range(50):
            w = model.coef_ + scale * random.standard_normal(3)
            assert np.sum((y - X @ w) ** 2) / (1 + w @ w) >= model.error_ - 1e-12


def test_consistent_where_least_squares_is_attenuated():
    """Theory (g), numbers [seed]: n = 20000, noise 0.5, w = (1, -2): OLS is near w / 1.25, sigma^2 / n near 0.25."""
    random = np.random.default_rng(0)
    n, w = 20_000, np.array([1.0, -2.0])
    truth = random.standard_normal((n, 2))
    X, y = truth + 0.5 * random.standard_normal((n, 2)), truth @ w + 0.5 * random.standard_normal(n)
    model = total(X, y)
    np.testing.assert_allclose(model.coef_, w, atol=0.05)
    np.testing.assert_allclose(qed.LinearRegression(fit_intercept=False).fit(X, y).coef_, w / 1.25, atol=0.03)
    assert model.error_ / n == pytest.approx(0.25, abs=0.01)


def test_units_matter():
    """Pitfall: not invariant to rescaling a column, unlike ordinary least squares."""
    X, y, _ = problem(n=20, p=2)
    scaled = X * [10, 1]
    assert np.abs(total(scaled, y).coef_ * [10, 1] - total(X, y).coef_).max() > 1e-3


def test_an_intercept_means_centring_first():
    """Pitfall: no intercept in the text: centre first if one is wanted, which is what fit_intercept does."""
    X, y, _ = problem(n=20, p=3)
    X, y = X + [5, 0, -3], y + 7
    model = qed.TotalLeastSquares().fit(X, y)
    np.testing.assert_allclose(model.coef_, total(X - X.mean(axis=0), y - y.mean()).coef_, rtol=1e-9)
    assert model.intercept_ == pytest.approx(y.mean() - X.mean(axis=0) @ model.coef_, rel=1e-12)
