"""convexity-check: convex in each coordinate is less than convex in all of them together."""

import numpy as np
import pytest

from qed.optim import check_convexity, classify
from tests.theory.functions import least_squares, quadratic

H = np.array([[2.0, -4.0], [-4.0, 2.0]])
BOX = [-2.0, -2.0], [2.0, 2.0]


def f(w):
    return w[0] ** 2 + w[1] ** 2 - 4 * w[0] * w[1]


def test_the_counterexample():
    np.testing.assert_allclose(np.linalg.eigvalsh(H), [-2, 6])
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
    x, y = 1.0, 1.0
    for _ in range(5):
        x = 2 * y
        y = 2 * x
    assert (x, y) == (512, 1024)
    assert f([x, y]) == -786432


def test_vanishing_partials_are_enough_only_under_joint_convexity():
    slopes = lambda w: H @ w  # noqa: E731
    assert not slopes(np.zeros(2)).any()
    assert classify([0.0, 0.0], slopes, lambda w: H).kind == "saddle"
    assert f([1.0, 1.0]) < f([0.0, 0.0])


def test_nested_minima_are_the_joint_minimum():
    grid = np.linspace(-3, 3, 61)
    values = np.array([[(x - 1) ** 2 + (y + x) ** 2 - np.cos(3 * y) for y in grid] for x in grid])
    assert values.min(axis=1).min() == values.min() == values.min(axis=0).min()
