"""OPT: one interface (function, derivatives, start, stop) runs every method, and says where it went and why it ended.

The text never defines "converged": a method here has converged when its gradient is at most ``tol`` times the first
one, or when a bound proves the value to be within ``tol`` of its minimum.
"""

import numpy as np
import pytest

import qed
from qed.base.running.steps import Reason, Rule
from qed.optim import CoordinateDescent, Exact, GoldenSection, LineSearch, minimize

H = np.array([[3.0, 1.0], [1.0, 2.0]])
B = np.array([5.0, 5.0])
SOLUTION = np.array([1.0, 2.0])


def value(w):
    return w @ H @ w / 2 - B @ w


def gradient(w):
    return H @ w - B


def hessian(w):
    return H


METHODS = [
    "gradient",
    "heavy ball",
    "nesterov",
    "line search",
    "coordinate",
    "newton",
    "lbfgs",
    LineSearch(search=Exact()),
]


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_every_method_runs_behind_one_door(method):
    with qed.watch(states=True) as seen:
        found = minimize(value, [0.0, 0.0], gradient=gradient, hessian=hessian, method=method, tol=1e-9)
    np.testing.assert_allclose(found.point, SOLUTION, atol=1e-7)
    assert found.certificate and found.ending.reason is Reason.CERTIFIED
    np.testing.assert_array_equal(seen.trace.steps[0].point, [0.0, 0.0])
    np.testing.assert_array_equal(seen.trace.steps[-1].point, found.point)


@pytest.mark.parametrize("method", ["gradient", "nesterov", "newton", "lbfgs"])
def test_derivatives_may_be_missing(method):
    found = minimize(value, [0.0, 0.0], method=method)
    np.testing.assert_allclose(found.point, SOLUTION, atol=1e-5)


@pytest.mark.parametrize(
    "method", [CoordinateDescent(), LineSearch("random", GoldenSection())], ids=["coordinate", "random"]
)
def test_values_alone_are_enough_for_some(method):
    with pytest.warns(UserWarning, match="no longer changes"):
        found = minimize(value, [0.0, 0.0], method=method, tol=1e-14)
    np.testing.assert_allclose(found.point, SOLUTION, atol=1e-4)
    assert found.ending.reason is Reason.STALLED, (
        "without a gradient there is no gap, but the certificate looks for itself"
    )
    assert found.certificate["gradient"].value < 1e-6


def test_all_methods_agree():
    points = [
        minimize(value, [9.0, -9.0], gradient=gradient, hessian=hessian, method=m, tol=1e-10).point for m in METHODS
    ]
    for point in points:
        np.testing.assert_allclose(point, points[0], atol=1e-8)


def test_the_stopping_rule_is_the_users():
    found = minimize(value, [0.0, 0.0], gradient=gradient, method="gradient", stop=Rule(tol=1e-2, max_iter=500))
    assert found.ending.step.gap <= 1e-2 and found.ending.n_iter < 50
    with pytest.warns(UserWarning, match="Try max_iter=30"):
        found = minimize(value, [0.0, 0.0], gradient=gradient, method="gradient", max_iter=3)
    assert found.ending.reason is Reason.MAX_ITER and not found.certificate
