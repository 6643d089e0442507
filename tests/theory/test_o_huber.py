"""O-HUBER: half the square up to delta, linear beyond; robust regression where targets are wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qed
from qed.optim import HuberLoss, SquaredLoss
from tests.theory.fixtures import slope

DELTAS = [0.1, 1.0, 7.0]


@pytest.mark.parametrize("delta", DELTAS)
def test_the_two_pieces(delta):
    r = np.array([0.0, 0.3 * delta, delta, 2.0 * delta, -5.0 * delta])
    expected = np.where(np.abs(r) <= delta, 0.5 * r**2, delta * np.abs(r) - 0.5 * delta**2)
    np.testing.assert_allclose(HuberLoss(delta).each(r, np.zeros(5)), expected, rtol=1e-15)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("sign", [-1, 1])
def test_value_and_derivative_are_continuous_where_the_pieces_meet(delta, sign):
    loss, at = HuberLoss(delta), sign * delta
    below, above = (np.array([at * (1 + step)]) for step in (-1e-12, 1e-12))
    zero = np.zeros(1)
    assert loss.each(below, zero)[0] == pytest.approx(loss.each(above, zero)[0], rel=1e-11)
    assert loss.gradient(below, zero)[0] == pytest.approx(loss.gradient(above, zero)[0], rel=1e-11)
    assert loss.each(np.array([at]), zero)[0] == pytest.approx(0.5 * delta**2, rel=1e-15)
    assert loss.gradient(np.array([at]), zero)[0] == pytest.approx(at, rel=1e-15)


def test_a_delta_without_bound_is_half_the_square():
    r = np.linspace(-50, 50, 101)
    np.testing.assert_array_equal(HuberLoss(1e9).each(r, np.zeros(101)), SquaredLoss().each(r, np.zeros(101)))


@given(st.sampled_from(DELTAS), st.floats(-30, 30), st.floats(-30, 30), st.floats(0, 1))
def test_convex(delta, a, b, t):
    loss = HuberLoss(delta)
    left, right, middle = (float(loss.each(np.float64(r), 0.0)) for r in (a, b, t * a + (1 - t) * b))
    assert middle <= t * left + (1 - t) * right + 1e-10


def test_no_row_pulls_harder_than_delta():
    assert np.abs(HuberLoss(0.5).gradient(np.linspace(-1e6, 1e6, 11), np.zeros(11))).max() == 0.5


def spoiled(seed=0, n=100, wrong=10):
    """A line y = 1 + 2x with small noise; some targets went wrong, upwards."""
    generator = np.random.default_rng(seed)
    x = generator.uniform(0, 10, n)
    y = 1 + 2 * x + 0.3 * generator.standard_normal(n)
    y[:wrong] += generator.uniform(50, 100, wrong)
    return x[:, None], y


def test_robust_regression_where_a_tenth_of_the_targets_are_wrong():
    x, y = spoiled()
    truth = np.array([1.0, 2.0])
    errors = {}
    for model in (qed.LinearRegression(), qed.HuberRegressor(alpha=0.0), qed.LeastAbsoluteDeviations()):
        model.fit(x, y)
        errors[type(model).__name__] = np.abs(np.array([model.intercept_, model.coef_[0]]) - truth).max()
        assert model.certificate_
    assert errors["LinearRegression"] > 3
    assert errors["HuberRegressor"] < 0.25
    assert errors["LeastAbsoluteDeviations"] < 0.25


def test_the_wrong_targets_are_named():
    x, y = spoiled()
    assert qed.HuberRegressor(alpha=0.0).fit(x, y).outliers_[:10].all()


def test_how_far_an_outlier_is_away_does_not_matter_once_it_is_one():
    """The force of an outlier is delta whatever its distance, so with a given scale the fit stays as it is."""
    x, y = spoiled()
    far = np.where(np.arange(100) < 10, y + 1e4, y)
    near, away = (qed.HuberRegressor(alpha=0.0, scale=0.5).fit(x, target).coef_ for target in (y, far))
    np.testing.assert_allclose(near, away, rtol=1e-9)
    squares = [qed.LinearRegression().fit(x, target).intercept_ for target in (y, far)]
    assert abs(squares[0] - squares[1]) > 100


def test_the_gradient_of_the_fit_vanishes():
    x, y = spoiled()
    model = qed.HuberRegressor(alpha=0.0, scale=0.4).fit(x, y)
    loss = HuberLoss(1.35 * 0.4)
    at = slope(lambda w: loss.value(w[0] + x[:, 0] * w[1], y), [model.intercept_, model.coef_[0]])
    np.testing.assert_allclose(at, 0.0, atol=1e-5)
