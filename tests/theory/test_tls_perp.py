"""tls-perp: total least squares takes perpendicular distances, ordinary least squares vertical ones."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import problem


def perpendicular(w, X, y):
    return np.sum((y - X @ w) ** 2) / (1 + w @ w)


@pytest.mark.parametrize("seed", range(4))
def test_each_wins_on_its_own_criterion(seed):
    """Theory: at w_TLS the perpendicular sum is sigma^2 and minimal; the vertical sum is minimal at OLS."""
    X, y, _ = problem(n=20, p=3, seed=seed)
    model = qed.TotalLeastSquares(fit_intercept=False).fit(X, y)
    plain = qed.LinearRegression(fit_intercept=False).fit(X, y).coef_
    total, random = model.coef_, np.random.default_rng(0)
    assert perpendicular(total, X, y) == pytest.approx(model.error_, rel=1e-10)
    assert perpendicular(total, X, y) < perpendicular(plain, X, y)
    assert np.sum((y - X @ plain) ** 2) < np.sum((y - X @ total) ** 2)
    for _ in range(100):
        w = total + 0.1 * random.standard_normal(3)
        assert perpendicular(w, X, y) >= model.error_ - 1e-12
        assert np.sum((y - X @ w) ** 2) >= np.sum((y - X @ plain) ** 2) - 1e-12


def test_distances_are_those_to_the_plane():
    """Computes: the distance of (x, y) to the plane, checked against the nearest point on it."""
    X, y, _ = problem(n=20, p=2)
    model = qed.TotalLeastSquares(fit_intercept=False).fit(X, y)
    distance = model.perpendicular_distances(X, y)
    better, target = model.denoise(X, y)
    np.testing.assert_allclose(distance, np.hypot(np.linalg.norm(better - X, axis=1), target - y), rtol=1e-10)
    np.testing.assert_allclose(
        distance, np.abs(y - X @ model.coef_) / np.sqrt(1 + model.coef_ @ model.coef_), rtol=1e-10
    )
    assert np.sum(distance**2) == pytest.approx(model.error_, rel=1e-10)


def test_the_role_of_columns_and_target_can_be_exchanged():
    """A line by perpendicular distances is the same line whichever coordinate is called y."""
    X, y, _ = problem(n=30, p=1)
    one = qed.TotalLeastSquares().fit(X, y).coef_[0]
    other = qed.TotalLeastSquares().fit(y[:, None], X[:, 0]).coef_[0]
    assert one * other == pytest.approx(1, rel=1e-10)
