"""NEWTON-ROOT: Newton's method for roots.

The text expands with phi'(w) where phi'(w^t) is meant, calls the root's estimate phi(w^t) where it is w^t, and says that the Hessian
corresponds to the inverse Jacobian: it is the Jacobian of the gradient. The root of the linearised gradient is a minimum of the
parabola only where the Hessian is positive semidefinite.
"""

from itertools import islice

import numpy as np
import pytest

from qed.optim import Newton, Objective, RootNewton, find_root
from tests.theory.functions import logistic, quadratic


def scalar_path(f, slope, start, n):
    steps = RootNewton(damped=False).steps(f, lambda w: np.reshape(slope(w), (1, 1)), np.array([start]))
    return [step.point[0] for step in islice(steps, n + 1)]


def test_square_root_of_two():
    found = scalar_path(lambda w: w**2 - 2, lambda w: 2 * w, 1.0, 4)
    np.testing.assert_allclose(found, [1, 1.5, 1.4166666667, 1.4142156863, 1.4142135624], atol=5e-11)


def test_each_iterate_is_where_the_tangent_at_the_last_one_crosses_zero():
    f, slope = lambda w: np.exp(w) - 3, np.exp
    points = scalar_path(f, slope, 2.0, 4)
    for before, after in zip(points, points[1:]):
        assert f(before) + slope(before) * (after - before) == pytest.approx(0, abs=1e-12)


def test_minimising_is_finding_a_root_of_the_gradient_to_the_last_bit():
    g, H = logistic.derivatives["gradient"], logistic.derivatives["hessian"]
    start = np.array([0.1, -0.2, 0.3])
    roots = [step.point for step in islice(RootNewton(damped=False).steps(g, H, start), 8)]
    minima = [step.point for step in islice(Newton(1.0, 0.0).steps(Objective(logistic.value, g, H), start), 8)]
    assert np.array_equal(roots, minima)


def test_systems():
    def spheres(w):
        x, y, z = w
        return np.array([x * x + y * y + z * z - 14, x * y * z - 6, x + y - z])

    for jacobian in (None, lambda w: np.array([2 * w, [w[1] * w[2], w[0] * w[2], w[0] * w[1]], [1, 1, -1]])):
        root = find_root(spheres, [0.5, 1.5, 3.5], jacobian)
        np.testing.assert_allclose(root.point, [1, 2, 3], rtol=1e-10)
        assert root.certificate


def test_a_root_of_the_gradient_need_not_be_a_minimum():
    f = quadratic(np.diag([1.0, -1.0]), [1.0, 1.0])
    saddle = find_root(f.derivatives["gradient"], [5.0, 5.0], f.derivatives["hessian"]).point
    np.testing.assert_allclose(saddle, [1.0, -1.0])
    assert f.value(saddle + [0, 1]) < f.value(saddle) < f.value(saddle + [1, 0])
