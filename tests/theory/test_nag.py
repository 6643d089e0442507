"""NAG: Nesterov takes the gradient where the momentum is about to lead.

The text writes beta in the look-ahead and beta_t in the momentum: both are beta_t.
"""

from itertools import islice

import numpy as np
import pytest

from qed.optim import GradientDescent, HeavyBall, Nesterov
from tests.theory.quadratics import RAVINE, iterations_to, quadratic


def path(method, length, objective=None, start=(1.0, 1.0, 1.0)):
    return [step.point for step in islice(method.steps(objective or quadratic(), start), length + 1)]


@pytest.mark.parametrize("beta", [lambda t: 0.8, lambda t: (t - 1) / (t + 2)], ids=["constant", "rising"])
def test_one_line_is_two_lines(beta):
    points = path(Nesterov(0.005, beta), 100)
    before, now = points[0], points[0]
    for t, point in enumerate(points[1:], 1):
        ahead = now + beta(t) * (now - before)
        before, now = now, now - 0.005 * RAVINE * ahead + beta(t) * (now - before)
        np.testing.assert_allclose(point, now, atol=1e-12)


def test_without_momentum_it_is_gradient_descent():
    np.testing.assert_array_equal(path(Nesterov(0.01, 0.0), 50), path(GradientDescent(0.01), 50))


def test_it_differs_from_the_heavy_ball_only_in_where_the_gradient_is_taken():
    np.testing.assert_array_equal(path(Nesterov(0.01, 0.5), 1), path(HeavyBall(0.01, 0.5), 1))
    one, other = path(Nesterov(0.01, 0.5), 2)[2], path(HeavyBall(0.01, 0.5), 2)[2]
    velocity = path(HeavyBall(0.01, 0.5), 1)[1] - 1
    np.testing.assert_allclose(other - one, 0.01 * RAVINE * 0.5 * velocity, atol=1e-14)


def test_the_iterations_of_the_ravine():
    assert iterations_to(Nesterov(0.01, 9 / 11), quadratic(), np.ones(3), 1e-10) == 111
    known = quadratic(strong_convexity=1.0, smoothness=100.0)
    assert iterations_to(Nesterov(), known, np.ones(3), 1e-10) == 111


def test_the_accelerated_rates():
    """Convex and smooth: 2 M R^2 / (t + 1)^2. Strongly convex: (1 - 1/sqrt(kappa))^t (f0 + m/2 R^2)."""
    smooth = quadratic(np.linspace(0.001, 1, 50))
    steps = list(islice(Nesterov(1.0, lambda t: (t - 1) / (t + 2)).steps(smooth, np.ones(50)), 400))
    assert all(step.objective <= 2 * 50 / (t + 1) ** 2 for t, step in enumerate(steps))
    strong = list(islice(Nesterov(0.01, 9 / 11).steps(quadratic(), np.ones(3)), 200))
    excess = strong[0].objective + 1 / 2 * 3
    assert all(step.objective <= 0.9**t * excess * (1 + 1e-9) + 1e-15 for t, step in enumerate(strong))
