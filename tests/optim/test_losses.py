"""Losses: derivatives against differences, conjugates against a numeric supremum, the Fenchel-Young inequality."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from qed.base.errors import InputError, ParameterError
from qed.optim import (
    AbsoluteLoss,
    ExponentialLoss,
    HingeLoss,
    HuberLoss,
    LogisticLoss,
    PoissonLoss,
    QuantileLoss,
    SquaredHingeLoss,
    SquaredLoss,
)
from qed.trees.boosting.losses.gamma import GammaLoss

LOSSES = [
    SquaredLoss(),
    AbsoluteLoss(),
    HuberLoss(0.5),
    HuberLoss(2.0),
    LogisticLoss(),
    PoissonLoss(),
    QuantileLoss(0.25),
    GammaLoss(),
]
MARGINS = [HingeLoss(), SquaredHingeLoss(), ExponentialLoss()]
LOSSES += MARGINS
LABELLED = (LogisticLoss, HingeLoss, SquaredHingeLoss, ExponentialLoss)
numbers = st.floats(-20, 20)
losses = st.sampled_from(LOSSES)


def target(loss, y):
    """Labels for the logistic loss and the hinge, what may be counts for that of Poisson, numbers for the others."""
    if isinstance(loss, LABELLED):
        return 1.0 if y >= 0 else -1.0
    return max(abs(y), 1e-3) if isinstance(loss, GammaLoss) else abs(y) if isinstance(loss, PoissonLoss) else y


def one(values):
    return float(np.asarray(values))


@given(losses, numbers, numbers, st.floats(-3, 3))
def test_fenchel_young(loss, z, y, u):
    y = target(loss, y)
    assert one(loss.each(z, y)) + one(loss.each_conjugate(u, y)) >= u * z - 1e-9


@given(losses, numbers, numbers)
def test_fenchel_young_is_an_equality_at_the_gradient(loss, z, y):
    y = target(loss, y)
    u = one(loss.gradient(z, y))
    total = one(loss.each(z, y)) + one(loss.each_conjugate(u, y))
    assert total == pytest.approx(u * z, rel=1e-12, abs=1e-9)


@given(losses, numbers, st.floats(-0.95, 0.95))
def test_the_conjugate_is_the_supremum(loss, y, share):
    y = target(loss, y)
    if isinstance(loss, LABELLED):
        u = -y * (0.5 + 0.5 * share)
    else:
        u = share * getattr(loss, "delta", 1.0)
    assume(np.isfinite(one(loss.each_conjugate(u, y))))
    best = minimize_scalar(lambda z: one(loss.each(z, y)) - u * z, bounds=(-100, 100), method="bounded")
    assert -best.fun == pytest.approx(one(loss.each_conjugate(u, y)), abs=2e-4)


@pytest.mark.parametrize(
    "loss", [loss for loss in LOSSES if all(np.isfinite(side).all() for side in loss.slopes(np.ones(1)))], ids=repr
)
def test_outside_its_domain_the_conjugate_is_infinite(loss):
    beyond = getattr(loss, "delta", 1.0) * (1 + 1e-9)
    assert loss.conjugate([beyond], [1.0]) == np.inf
    assert loss.conjugate([-beyond], [1.0]) == (np.inf)
    assert loss.conjugate([beyond, 0.0], [1.0, 1.0], weight=[0.0, 1.0]) == pytest.approx(0.0)


@given(losses, numbers, numbers)
def test_derivatives_are_those_of_the_value(loss, z, y):
    y, step = target(loss, y), 1e-5
    kinks = {
        AbsoluteLoss: [0.0],
        QuantileLoss: [0.0],
        HuberLoss: [-getattr(loss, "delta", 0), getattr(loss, "delta", 0)],
    }
    assume(all(abs(z - y - kink) > 1e-3 for kink in kinks.get(type(loss), [])))
    slope = (one(loss.each(z + step, y)) - one(loss.each(z - step, y))) / (2 * step)
    bend = (one(loss.gradient(z + step, y)) - one(loss.gradient(z - step, y))) / (2 * step)
    assert one(loss.gradient(z, y)) == pytest.approx(slope, rel=1e-9, abs=1e-5)
    assert one(loss.curvature(np.float64(z), y)) == pytest.approx(bend, rel=1e-9, abs=1e-5)
    assert one(loss.curvature(np.float64(z), y)) <= loss.smoothness * (1 + 1e-12)


@given(losses, numbers, numbers, numbers, st.floats(0, 1))
def test_convex(loss, a, b, y, t):
    y = target(loss, y)
    chord = t * one(loss.each(a, y)) + (1 - t) * one(loss.each(b, y))
    assert one(loss.each(t * a + (1 - t) * b, y)) <= chord + 1e-9 + 1e-14 * abs(chord)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_weight_is_a_repetition(loss):
    generator = np.random.default_rng(0)
    z, y = generator.standard_normal(20), np.sign(generator.standard_normal(20))
    y = np.abs(y) if isinstance(loss, GammaLoss) else y
    weight = generator.integers(0, 3, 20)
    dual = loss.gradient(z, y)
    again = [np.repeat(part, weight) for part in (z, y, dual)]
    assert loss.value(z, y, weight) == pytest.approx(loss.value(*again[:2]), rel=1e-12)
    assert loss.conjugate(dual, y, weight) == pytest.approx(loss.conjugate(again[2], again[1]), rel=1e-12)


def test_the_conjugate_from_sums_is_that_of_the_rows():
    generator = np.random.default_rng(1)
    residual, y, weight = generator.standard_normal(30), generator.standard_normal(30), generator.uniform(0.5, 2, 30)
    theta = weight * residual
    from_sums = SquaredLoss.conjugate_of_sums(weight @ residual**2, theta @ y)
    for s in (0.0, 0.3, 1.0):
        rows = SquaredLoss().conjugate(-s * theta / weight, y, weight)
        assert from_sums(s) == pytest.approx(rows, rel=1e-12, abs=1e-12)


def test_huber_refuses_a_delta_that_is_not_positive():
    with pytest.raises(ParameterError, match="delta"):
        HuberLoss(0.0)


@given(losses, numbers, numbers, st.floats(-3, 3))
def test_the_gap_of_a_row_is_value_and_conjugate_less_the_product(loss, z, y, u):
    z, y, u = (np.array([value]) for value in (z, target(loss, y), u))
    found, naive = loss.each_gap(z, u, y), loss.each(z, y) + loss.each_conjugate(u, y) - u * z
    size = np.abs(loss.each(z, y)) + np.abs(u * z) + np.abs(u * y) + 1
    assert np.isinf(naive) == np.isinf(found) and (np.isinf(naive) or abs(found - naive) <= 1e-12 * size)
    assert found >= -1e-12 * size


@given(losses, numbers, st.floats(1.0, 1e8))
def test_the_gap_of_a_row_keeps_its_digits_far_from_the_origin(loss, change, size):
    """Half a squared distance in the derivative, whatever the size of the target is."""
    y = np.array([target(loss, size)])
    z = np.log(y) if isinstance(loss, PoissonLoss | GammaLoss) else y.copy()
    u = loss.gradient(z, y) + 1e-3 * np.tanh(change) * (0.0 if isinstance(loss, LABELLED) else 1.0)
    if not loss.has_kinks and np.isfinite(loss.each_conjugate(u, y)).all():
        assert loss.each_gap(z, u, y) <= 1e-6 + 1e-15 * (size * 20 if isinstance(loss, PoissonLoss) else 1.0)


@given(losses, numbers)
def test_slopes_are_where_derivatives_tend_to(loss, y):
    y = np.array([target(loss, y)])
    low, high = (np.broadcast_to(slope, 1) for slope in loss.slopes(y))
    for z, slope in ((y - 600.0, low), (y + 600.0, high)):
        found = loss.gradient(z, y)
        assert np.isinf(slope) or found == pytest.approx(slope, abs=1e-12)
    for u, inside in ((low - 0.1, False), (high + 0.1, False), (np.clip(0.0, low, high), True)):
        assert not np.isfinite(u) or np.isfinite(loss.each_conjugate(u, y)).all() == inside


def test_targets_that_a_loss_does_not_know():
    with pytest.raises(InputError, match="-1 or 1"):
        LogisticLoss().check(np.array([0.0, 1.0]))
    with pytest.raises(InputError, match="not negative"):
        PoissonLoss().check(np.array([0.5, -1.0]))
    with pytest.raises(InputError, match="NaN"):
        SquaredLoss().check(np.array([0.5, np.nan]))
    PoissonLoss().check(np.array([0.5, 3.0]))
