"""convexity-check: convex in each coordinate is less than convex in all of them together."""

import numpy as np
import pytest

from qed.optim import CoordinateDescent, Objective, check_convexity, classify, hessian, minimize
from tests.theory.functions import least_squares, quadratic

H = np.array([[2.0, -4.0], [-4.0, 2.0]])
BOX = [-2.0, -2.0], [2.0, 2.0]


def f(w):
    return w[0] ** 2 + w[1] ** 2 - 4 * w[0] * w[1]


def test_the_counterexample():
    np.testing.assert_allclose(np.linalg.eigvalsh(hessian(f, np.zeros(2))), [-2, 6], atol=1e-4)
    assert check_convexity(f, *BOX, elementwise=True)
    assert check_convexity(f, *BOX, hessian=lambda w: H, elementwise=True, tests=("Hessian",))
    found = check_convexity(f, *BOX)
    assert set(found.witnesses) == {"chord", "tangent", "monotone gradient", "Hessian"}
    assert found.witnesses["Hessian"].violation == pytest.approx(2, rel=1e-4)


def test_joint_convexity_implies_convexity_in_each_coordinate():
    for function in (least_squares(), quadratic(np.diag([1.0, 2.0, 3.0]))):
        box = [-2.0] * 3, [2.0] * 3
        assert check_convexity(function.value, *box, **function.derivatives)
        assert check_convexity(function.value, *box, **function.derivatives, elementwise=True)


def test_an_elementwise_violation_is_one_of_a_single_coordinate():
    found = check_convexity(lambda w: w[0] ** 2 - w[1] ** 2, *BOX, elementwise=True)
    assert found.held_for == "convex in each coordinate"
    for witness in found.witnesses.values():
        assert np.count_nonzero(np.abs(witness.first - witness.second) > 1e-12) == 1
        assert witness.first[0] == witness.second[0]


def test_exact_coordinate_descent_runs_away():
    """Each coordinate has a minimum, at twice the other: five rounds from (1, 1) give (512, 1024), of value -786432."""
    rounds = CoordinateDescent(update=lambda w, j: 2 * w[1 - j], every=2).steps(Objective(f), [1.0, 1.0])
    for _ in range(6):
        step = next(rounds)
    np.testing.assert_array_equal(step.point, [512, 1024])
    assert step.objective == -786432


def test_vanishing_partials_are_enough_only_under_joint_convexity():
    assert classify([0.0, 0.0], lambda w: H @ w, lambda w: H).kind == "saddle"


def test_nested_minima_are_the_joint_minimum():
    def joint(w):
        return (w[0] - 1) ** 2 + (w[1] + w[0]) ** 2

    def inner(x):
        return minimize(lambda y: joint([x[0], y[0]]), [0.0], tol=1e-10).value

    outer, whole = minimize(inner, [0.3], tol=1e-6), minimize(joint, [0.3, 0.0], tol=1e-8)
    assert outer.value == pytest.approx(whole.value, abs=1e-6)
    assert outer.point[0] == pytest.approx(whole.point[0], abs=1e-3)
