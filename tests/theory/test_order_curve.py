"""Error against the order of a model: with nested features the training error never rises, the validation error does."""

import warnings

import numpy as np
import pytest

import qed
from qed.base.errors import DegenerateWarning

ORDERS = range(13)


def curve_data(seed=0, n=40):
    random = np.random.default_rng(seed)
    x = np.sort(random.uniform(-1, 1, n))
    return x, np.sin(4 * x) + 0.2 * random.normal(size=n)


def powers(x, order):
    """Powers of inputs that are scaled to [-1, 1] already; a useless column of zeros stands for the empty set."""
    return np.column_stack([x**k for k in range(1, order + 1)]) if order else np.zeros((len(x), 1))


def training_error(x, y, order):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)
        model = qed.LinearRegression().fit(powers(x, order), y)
    return np.mean((y - model.predict(powers(x, order))) ** 2)


@pytest.mark.parametrize("seed", range(4))
def test_the_training_error_never_rises_with_nested_features(seed):
    x, y = curve_data(seed)
    errors = np.array([training_error(x, y, order) for order in ORDERS])
    assert errors[0] == pytest.approx(np.var(y), rel=1e-12)
    assert (np.diff(errors) <= 1e-12 * errors[0]).all()


def test_an_appended_column_never_raises_the_training_error():
    random = np.random.default_rng(1)
    X, y = random.normal(size=(50, 20)), random.normal(size=50)
    errors = [1 - qed.LinearRegression().fit(X[:, :k], y).score(X[:, :k], y) for k in range(1, 21)]
    assert (np.diff(errors) <= 1e-14).all()


def test_the_polynomial_map_gives_the_same_curve():
    x, y = curve_data()
    for order in range(1, 7):
        features = qed.PolynomialFeatures(order, include_bias=False).fit_transform(x[:, None])
        error = np.mean((y - qed.LinearRegression().fit(features, y).predict(features)) ** 2)
        assert error == pytest.approx(training_error(x, y, order), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_validation_error_falls_and_rises(seed):
    x, y = curve_data(seed, n=20)
    errors = []
    for order in range(1, 13):
        found = qed.cross_validate(
            qed.LinearRegression(),
            powers(x, order),
            y,
            cv=qed.KFold(5, random_state=0),
            scoring="neg_mean_squared_error",
        )
        errors.append(-found.mean)
    best = int(np.argmin(errors))
    assert 0 < best < 11
    assert errors[0] > 2 * errors[best] and errors[-1] > 2 * errors[best]
