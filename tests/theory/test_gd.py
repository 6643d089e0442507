"""GD: gradient descent goes the steepest way, converges exactly for steps below 2/M, and repeats itself to the last bit.

The text says of a step that is too small that it "never converges", and calls -grad f the steepest direction: any
step in (0, 2/M) converges, if slowly, and the direction is -grad f / ||grad f||.
"""

from itertools import islice

import numpy as np
import pytest

from qed.base.running.steps import Reason, Rule, run
from qed.optim import GradientDescent, Objective
from tests.theory.quadratics import RAVINE, quadratic


def path(step, length, start=(1.0, 1.0, 1.0), objective=None):
    return list(islice(GradientDescent(step).steps(objective or quadratic(), start), length + 1))


def test_the_negative_gradient_is_the_steepest_way_down():
    gradient = quadratic().gradient([1.0, -2.0, 0.5])
    size = np.linalg.norm(gradient)
    u = np.random.default_rng(0).standard_normal((10_000, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    assert ((u @ gradient) >= -size * (1 + 1e-12)).all()
    assert gradient @ (-gradient / size) == pytest.approx(-size, rel=1e-12)


def test_the_update_is_the_formula():
    for before, after in zip(path(0.003, 20), path(0.003, 20)[1:]):
        np.testing.assert_allclose(after.point, before.point - 0.003 * RAVINE * before.point, rtol=1e-14)


def test_a_run_repeats_itself_to_the_last_bit():
    for one, other in zip(path(0.019, 200), path(0.019, 200)):
        np.testing.assert_array_equal(one.point, other.point)


@pytest.mark.parametrize("share", [0.05, 1.0, 1.9])
def test_steps_below_two_over_M_converge(share):
    objectives = [step.objective for step in path(share / 100, 500)]
    assert objectives == sorted(objectives, reverse=True)
    if share == 1.9:
        assert objectives[-1] == pytest.approx(2.3e-9, rel=0.05)
    if share == 0.05:
        # A small step is slow, and converges.
        assert run(GradientDescent(5e-4).steps(quadratic(), np.ones(3)), Rule(1e-6, 50_000)).reason is Reason.CERTIFIED


def test_the_limiting_step_oscillates_for_ever():
    last = path(0.02, 2000)[-1]
    assert last.objective == pytest.approx(50.0, rel=1e-12) and abs(last.point[2]) == pytest.approx(1.0, rel=1e-12)


def test_longer_steps_run_away():
    assert path(2.1 / 100, 500)[-1].objective > 1e43
    assert run(GradientDescent(0.021).steps(quadratic(), np.ones(3)), Rule(1e-6, 2000)).reason is Reason.DIVERGED


def test_it_stops_at_stationary_points_that_depend_on_the_start():
    valleys = Objective(lambda w: (w[0] ** 2 - 1) ** 2, lambda w: 4 * w * (w**2 - 1))
    ends = {start: path(0.05, 300, [start], valleys)[-1].point[0] for start in (-2.0, -0.1, 0.0, 0.1, 2.0)}
    assert ends[-2.0] == pytest.approx(-1) and ends[-0.1] == pytest.approx(-1)
    assert ends[0.1] == pytest.approx(1) and ends[2.0] == pytest.approx(1)
    assert ends[0.0] == 0.0, "a maximum is stationary too"


def test_the_gradient_of_a_mean_is_the_mean_of_the_gradients():
    from tests.theory.fixtures import problem
    from tests.theory.quadratics import squares

    X, y, _ = problem()
    total, w = squares(X, y), np.arange(5.0)
    parts = [total.gradient_of(w, np.array([i])) for i in range(len(y))]
    np.testing.assert_allclose(np.mean(parts, axis=0), total.gradient(w), rtol=1e-12)
