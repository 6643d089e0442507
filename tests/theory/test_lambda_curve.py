"""Training error against the weight of the penalty: least squares at zero, never falling, the size of y in the limit."""

import numpy as np
import pytest

import qed

LAMBDAS = np.r_[0.0, np.geomspace(1e-6, 1e12, 60)]


def problem(seed=0, n=50, p=5, scale=1.0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p)) * np.geomspace(1, scale, p)
    return X, X @ random.normal(size=p) + random.normal(size=n) + 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_training_error_never_falls(seed, scale, fit_intercept):
    X, y = problem(seed, scale=scale)
    path = qed.ridge_path(X, y, LAMBDAS, fit_intercept=fit_intercept)
    assert (np.diff(path.training_error) >= -1e-12 * path.training_error[-1]).all()
    least = qed.LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    assert path.training_error[0] == pytest.approx(np.mean((y - least.predict(X)) ** 2), rel=1e-10)
    # The error is at least (lambda / (s + lambda))^2 of its limit, s being the largest eigenvalue.
    limit = np.var(y) if fit_intercept else np.mean(y**2)
    largest = np.linalg.norm(X - X.mean(axis=0) if fit_intercept else X, 2) ** 2
    assert 0 <= 1 - path.training_error[-1] / limit <= 2 * largest / LAMBDAS[-1] + 1e-14


def test_the_length_of_the_coefficients_falls_to_zero_and_so_do_the_degrees_of_freedom():
    X, y = problem()
    path = qed.ridge_path(X, y, LAMBDAS)
    length = np.linalg.norm(path.coef, axis=1)
    assert (np.diff(length) <= 1e-14).all() and length[-1] < 1e-9
    assert (np.diff(path.degrees_of_freedom) <= 1e-12).all()
    assert path.degrees_of_freedom[0] == pytest.approx(5) and path.degrees_of_freedom[-1] < 1e-9
    np.testing.assert_allclose(path.intercept[-1], y.mean(), rtol=1e-9)


def test_a_perfect_fit_keeps_its_order():
    """Near interpolation the error from moments would be rounding alone; the path goes back to the rows there."""
    X, _ = problem()
    path = qed.ridge_path(X, X @ np.arange(1.0, 6.0), np.geomspace(1e-9, 1e3, 30))
    assert (np.diff(path.training_error) > 0).all()
    # As long as the penalty is small, the error grows with its square: here from 1e-20 on, residuals being 1e-10.
    growth = path.training_error[1:8] / path.training_error[:7]
    np.testing.assert_allclose(growth, (path.alphas[1] / path.alphas[0]) ** 2, rtol=1e-3)


def test_the_curve_is_the_validation_curves_training_half():
    X, y = problem(n=60)
    values = np.geomspace(1e-3, 1e5, 12).tolist()
    curve = qed.validation_curve(qed.Ridge(), X, y, name="alpha", values=values, scoring="neg_mean_squared_error")
    assert (np.diff(-curve.train_scores, axis=0) >= 0).all()
    for fold, (train, _) in enumerate(qed.KFold(5, shuffle=False).split(X)):
        path = qed.ridge_path(X[train], y[train], values)
        np.testing.assert_allclose(-curve.train_scores[:, fold], path.training_error, rtol=1e-10)


def test_weights_mean_repetition():
    X, y = problem(n=20)
    weight = np.random.default_rng(0).integers(0, 4, 20)
    twice = np.repeat(np.arange(20), weight)
    weighted, repeated = (
        qed.ridge_path(X, y, LAMBDAS[1:], sample_weight=weight),
        qed.ridge_path(X[twice], y[twice], LAMBDAS[1:]),
    )
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(weighted.training_error, repeated.training_error, rtol=1e-9)
    np.testing.assert_allclose(weighted.degrees_of_freedom, repeated.degrees_of_freedom, rtol=1e-9)
