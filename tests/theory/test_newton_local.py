"""NEWTON-LOCAL: quadratic convergence near a minimum.

The text writes the rate as O(exp(-exp(t))); what follows from its conditions is error <= alpha 2^(-2^t), within the radius
alpha / 2 and for a Hessian whose Lipschitz constant is 1. With the constant L the radius is alpha / (2L).
"""

from itertools import islice

import numpy as np
import pytest

from qed.optim import GradientDescent, Newton, Objective

PURE = Newton(step=1.0, shift=0.0)


def objective(alpha, lipschitz=1.0):
    return Objective(
        lambda w: alpha * w[0] ** 2 / 2 + lipschitz * w[0] ** 3 / 6,
        lambda w: alpha * w + lipschitz * w**2 / 2,
        lambda w: alpha + lipschitz * w[:, None],
    )


def errors(method, f, start, n):
    return np.array([abs(step.point[0]) for step in islice(method.steps(f, [start]), n + 1)])


def test_worked_numbers():
    found = errors(PURE, objective(1.0), -0.5, 5)
    np.testing.assert_allclose(found, [0.5, 0.25, 0.025, 3.05e-4, 4.65e-8, 1.08e-15], rtol=5e-2)
    np.testing.assert_allclose(found[:5], [0.5, 0.25, 1 / 40, 1 / 3280, 1 / 21_523_360], rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 7.0])
def test_the_bound_holds_at_every_step_and_is_tight_in_the_first_two(alpha):
    found = errors(PURE, objective(alpha), -alpha / 2, 5)
    bounds = alpha * 2.0 ** -(2.0 ** np.arange(6))
    assert (found <= bounds * (1 + 1e-9)).all()
    np.testing.assert_allclose(found[:2], bounds[:2] * [1, 1], rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
@pytest.mark.parametrize("lipschitz", [0.2, 1.0, 10.0])
def test_each_error_is_at_most_the_last_one_squared(alpha, lipschitz):
    for start in np.linspace(-1, 1, 9) * alpha / (2 * lipschitz):
        found = errors(PURE, objective(alpha, lipschitz), start, 5)
        assert (found[1:] <= lipschitz / alpha * found[:-1] ** 2 * (1 + 1e-9) + 1e-16).all()


def test_beyond_the_radius_nothing_is_promised():
    """At w = -alpha the Hessian vanishes, and beyond it the pure method goes to the other critical point, a maximum."""
    found = [step.point[0] for step in islice(PURE.steps(objective(1.0), [-1.5]), 8)]
    assert found[-1] == pytest.approx(-2.0)


def test_digits_double_while_gradient_descent_adds_as_many_each_time():
    newton = -np.log10(errors(PURE, objective(1.0), -0.5, 4))
    descent = -np.log10(errors(GradientDescent(0.5), objective(1.0), -0.5, 30))
    ratios = newton[3:] / newton[2:-1]
    assert (ratios > 1.9).all()
    np.testing.assert_allclose(np.diff(descent)[-10:], np.log10(2), atol=1e-3)
