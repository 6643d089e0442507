"""HB: Polyak's heavy ball, in two lines, in one, and unrolled.

The text initialises v^0 and does not say where the loop begins: from v^-1 = 0 (here), the literal alternative applies
v^0 twice. It also calls the velocity an exponential moving average; its weights sum to alpha (1 - beta^(t+1)) / (1 -
beta), not to one.
"""

from itertools import islice

import numpy as np

from qed.base.running.steps import Rule, run
from qed.optim import GradientDescent, HeavyBall, Objective
from tests.theory.quadratics import RAVINE, iterations_to, quadratic

ALPHA, BETA = 4 / (10 + 1) ** 2, ((10 - 1) / (10 + 1)) ** 2


def path(method, length, objective=None, start=(1.0, 1.0, 1.0)):
    return list(islice(method.steps(objective or quadratic(), start), length + 1))


def test_the_printed_path():
    end = path(HeavyBall(0.05, 0.8), 10, quadratic([1.0, 25.0]), [1.0, 1.0])[-1].point
    np.testing.assert_allclose(end, [-0.04681655, 0.32432663], atol=5e-9)


def test_the_literal_reading_is_another_path():
    """With v^0 used twice the loop begins one step of the plain gradient late; ours from the same start does not pass there."""
    literal = [-0.10826394, 0.31802292]
    ours = path(HeavyBall(0.05, 0.8), 10, quadratic([1.0, 25.0]), [1.0, 1.0])
    assert min(np.abs(step.point - literal).max() for step in ours) > 5e-3


def test_one_line_is_two_lines():
    steps = path(HeavyBall(0.01, 0.7), 100)
    before, now = steps[0].point, steps[0].point
    for step in steps[1:]:
        before, now = now, now - 0.01 * RAVINE * now + 0.7 * (now - before)
        np.testing.assert_allclose(step.point, now, atol=1e-12)


def test_unrolled_with_momentum_that_changes():
    beta, alpha = (lambda t: 0.9 * t / (t + 1)), (lambda t: 0.01 / t)
    steps = path(HeavyBall(alpha, beta), 30)
    for t in (0, 1, 7, 29):
        total = np.zeros(3)
        for s in range(t + 1):
            weight = np.prod([beta(r + 1) for r in range(s + 1, t + 1)])
            total -= weight * alpha(s + 1) * RAVINE * steps[s].point
        np.testing.assert_allclose(steps[t + 1].velocity, total, atol=1e-12)


def test_unrolled_with_constants_and_its_weights():
    steps = path(HeavyBall(0.005, 0.6), 20)
    weights = 0.005 * 0.6 ** np.arange(20)[::-1]
    total = -sum(weight * RAVINE * step.point for weight, step in zip(weights, steps))
    np.testing.assert_allclose(steps[20].velocity, total, atol=1e-12)
    # Down a plane of slope one the velocity is minus the sum of the weights.
    plane = Objective(lambda w: float(w[0]), lambda w: np.ones(1))
    rolled = path(HeavyBall(0.005, 0.6), 20, plane, [0.0])[20].velocity
    np.testing.assert_allclose(rolled, -0.005 * (1 - 0.6**20) / (1 - 0.6), rtol=1e-12)


def test_without_momentum_it_is_gradient_descent():
    for one, other in zip(path(HeavyBall(0.01, 0.0), 50), path(GradientDescent(0.01), 50)):
        np.testing.assert_array_equal(one.point, other.point)


def test_the_iterations_of_the_ravine():
    assert iterations_to(GradientDescent(0.01), quadratic(), np.ones(3), 1e-10) == 912
    assert iterations_to(HeavyBall(0.0330578512, 0.6694214876), quadratic(), np.ones(3), 1e-10) == 83


def test_the_best_constants_are_the_default_where_the_condition_is_known():
    known = quadratic(strong_convexity=1.0, smoothness=100.0)
    for one, other in zip(path(HeavyBall(), 20, known), path(HeavyBall(ALPHA, BETA), 20)):
        np.testing.assert_allclose(one.point, other.point, rtol=1e-13)


def test_it_converges_without_constants_too():
    assert run(HeavyBall().steps(quadratic(), np.ones(3)), Rule(1e-6)).reason.name == "CERTIFIED"
