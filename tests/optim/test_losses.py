"""Losses: derivatives against differences, conjugates against a numeric supremum, the Fenchel-Young inequality."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from qed.base.errors import ParameterError
from qed.optim import AbsoluteLoss, HuberLoss, LogisticLoss, SquaredLoss

LOSSES = [SquaredLoss(), AbsoluteLoss(), HuberLoss(0.5), HuberLoss(2.0), LogisticLoss()]
numbers = st.floats(-20, 20)
losses = st.sampled_from(LOSSES)


def target(loss, y):
    """Labels for the logistic loss, numbers for the others."""
    return (1.0 if y >= 0 else -1.0) if isinstance(loss, LogisticLoss) else y


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
    assert total == pytest.approx(u * z, abs=1e-9)


@given(losses, numbers, st.floats(-0.95, 0.95))
def test_the_conjugate_is_the_supremum(loss, y, share):
    y = target(loss, y)
    if isinstance(loss, LogisticLoss):
        u = -y * (0.5 + 0.5 * share)
    else:
        u = share * getattr(loss, "delta", 1.0)
    best = minimize_scalar(lambda z: one(loss.each(z, y)) - u * z, bounds=(-100, 100), method="bounded")
    assert -best.fun == pytest.approx(one(loss.each_conjugate(u, y)), abs=2e-4)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if not isinstance(loss, SquaredLoss)], ids=repr)
def test_outside_its_domain_the_conjugate_is_infinite(loss):
    beyond = getattr(loss, "delta", 1.0) * (1 + 1e-9)
    assert loss.conjugate([beyond], [1.0]) == np.inf
    assert loss.conjugate([-beyond], [1.0]) == (np.inf)
    assert loss.conjugate([beyond, 0.0], [1.0, 1.0], weight=[0.0, 1.0]) == pytest.approx(0.0)


@given(losses, numbers, numbers)
def test_derivatives_are_those_of_the_value(loss, z, y):
    y, step = target(loss, y), 1e-5
    kinks = {AbsoluteLoss: [0.0], HuberLoss: [-getattr(loss, "delta", 0), getattr(loss, "delta", 0)]}
    assume(all(abs(z - y - kink) > 1e-3 for kink in kinks.get(type(loss), [])))
    slope = (one(loss.each(z + step, y)) - one(loss.each(z - step, y))) / (2 * step)
    bend = (one(loss.gradient(z + step, y)) - one(loss.gradient(z - step, y))) / (2 * step)
    assert one(loss.gradient(z, y)) == pytest.approx(slope, abs=1e-5)
    assert one(loss.curvature(np.float64(z), y)) == pytest.approx(bend, abs=1e-5)
    assert one(loss.curvature(np.float64(z), y)) <= loss.smoothness * (1 + 1e-12)


@given(losses, numbers, numbers, numbers, st.floats(0, 1))
def test_convex(loss, a, b, y, t):
    y = target(loss, y)
    chord = t * one(loss.each(a, y)) + (1 - t) * one(loss.each(b, y))
    assert one(loss.each(t * a + (1 - t) * b, y)) <= chord + 1e-9


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_weight_is_a_repetition(loss):
    generator = np.random.default_rng(0)
    z, y = generator.standard_normal(20), np.sign(generator.standard_normal(20))
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
