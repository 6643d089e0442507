"""O-ABSERR: mean squared error against mean absolute error; of a constant predictor one wants the mean, the other the median."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import qed
from qed.optim import AbsoluteLoss, SquaredLoss

values = st.lists(st.floats(-50, 50), min_size=1, max_size=12).map(np.array)


def best(error, y):
    """The best constant by brute force, on a grid that holds all values."""
    grid = np.union1d(np.linspace(y.min(), y.max(), 2001), y)
    return grid[np.argmin([error(y, constant) for constant in grid])]


def squared(y, constant):
    return np.mean((y - constant) ** 2)


def absolute(y, constant):
    return np.mean(np.abs(y - constant))


@given(values)
@settings(max_examples=40, deadline=None)
def test_the_mean_minimises_the_squared_error(y):
    assume(not ((y != 0) & (np.abs(y) < 1e-150)).any())
    mean = qed.MeanRegressor().fit(np.zeros((len(y), 1)), y).predict(np.zeros((1, 1)))[0]
    assert squared(y, mean) <= squared(y, best(squared, y)) + 1e-9


@given(values)
@settings(max_examples=40, deadline=None)
def test_the_median_minimises_the_absolute_error(y):
    """By our own loss, added up over the rows."""
    loss = AbsoluteLoss()
    total = float(np.sum(loss.value(y, np.full(len(y), np.median(y)))))
    least = best(absolute, y)
    assert total <= float(np.sum(loss.value(y, np.full(len(y), least)))) + 1e-9


@given(values)
@settings(max_examples=25, deadline=None)
def test_the_models_of_a_constant_are_mean_and_median(y):
    assume(not ((y != 0) & (np.abs(y) < 1e-150)).any())  # numbers whose squares vanish are refused in a sentence
    nothing = np.zeros((len(y), 1))
    assert qed.MeanRegressor().fit(nothing, y).predict(nothing)[0] == pytest.approx(y.mean(), abs=1e-9)
    model = qed.LeastAbsoluteDeviations().fit(nothing, y)
    proven = model.certificate_.claims[0].bound
    assert proven <= 1e-7 or np.ptp(y) == 0
    assert absolute(y, model.intercept_) <= absolute(y, np.median(y)) * (1 + proven) + 1e-14


def test_numbers():
    y = np.array([1.0, 2.0, 3.0, 4.0, 100.0])
    nothing = np.zeros((5, 1))
    assert qed.MeanRegressor().fit(nothing, y).predict([[0.0]])[0] == pytest.approx(22.0)
    assert qed.LeastAbsoluteDeviations().fit(nothing, y).intercept_ == pytest.approx(3.0, abs=1e-9)
    assert SquaredLoss().value(np.full(5, 22.0), y) * 2 / 5 == pytest.approx(1522.0)
    assert AbsoluteLoss().value(np.full(5, 3.0), y) / 5 == pytest.approx(20.2)


def test_the_squared_error_is_the_sensitive_one():
    """One target moves away without bound: the mean follows, the median stays."""
    y, nothing = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.zeros((5, 1))
    for far in (10.0, 1e3, 1e6):
        moved = np.append(y[:4], far)
        assert qed.LeastAbsoluteDeviations().fit(nothing, moved).intercept_ == pytest.approx(3.0, abs=1e-6)
        assert qed.MeanRegressor().fit(nothing, moved).predict(nothing)[0] == pytest.approx((10 + far) / 5)
