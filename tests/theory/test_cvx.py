"""CVX: four equivalent tests of convexity, each with a counterexample where it fails."""

import numpy as np
import pytest

from qed.optim import check_convexity, check_gradient
from tests.theory.functions import cube, hyperbola, least_squares, logistic, quadratic, sigmoid_squared

BOX = [-3.0] * 3, [3.0] * 3
CONVEX = {
    "quadratic": (quadratic(np.diag([1.0, 2.0, 5.0])), *BOX),
    "ols": (least_squares(), *BOX),
    "ridge": (least_squares(penalty=0.5), *BOX),
    "logistic": (logistic, *BOX),
    "hyperbola": (hyperbola, -np.inf, np.inf),
}
NOT_CONVEX = {
    "cube": (cube, -2.0, 2.0),
    "sigmoid squared": (sigmoid_squared, -6.0, 6.0),
    "indefinite": (quadratic([[1.0, 2.0], [2.0, 1.0]]), [-1.0, -1.0], [1.0, 1.0]),
}
TESTS = {"chord", "tangent", "monotone gradient", "Hessian"}


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "differences"])
@pytest.mark.parametrize("name", CONVEX)
def test_no_test_finds_a_violation_in_a_convex_function(name, exact):
    function, low, high = CONVEX[name]
    found = check_convexity(function.value, low, high, **(function.derivatives if exact else {}), n_samples=200)
    assert found
    assert found.witnesses == {}
    assert {claim.says.split(": ")[1] for claim in found.certificate} == TESTS
    assert "not refuted, and not proven" in found.verdict


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "differences"])
@pytest.mark.parametrize("name", NOT_CONVEX)
def test_all_four_tests_find_a_witness_where_there_is_none(name, exact):
    function, low, high = NOT_CONVEX[name]
    found = check_convexity(function.value, low, high, **(function.derivatives if exact else {}))
    assert not found
    assert set(found.witnesses) == TESTS
    assert found.verdict == "Refuted: the function is not convex."


@pytest.mark.parametrize("name", NOT_CONVEX)
def test_a_witness_can_be_checked_by_hand(name):
    function, low, high = NOT_CONVEX[name]
    f, g, H = function.value, function.derivatives["gradient"], function.derivatives["hessian"]
    seen = check_convexity(f, low, high, **function.derivatives).witnesses
    w = seen["chord"]
    assert 0 < w.t < 1
    chord = w.t * f(w.first) + (1 - w.t) * f(w.second)
    assert f(w.t * w.first + (1 - w.t) * w.second) - chord == pytest.approx(w.violation)
    w = seen["tangent"]
    assert f(w.first) + g(w.first) @ (w.second - w.first) - f(w.second) == pytest.approx(w.violation)
    w = seen["monotone gradient"]
    assert -(g(w.second) - g(w.first)) @ (w.second - w.first) == pytest.approx(w.violation)
    w = seen["Hessian"]
    bend = w.second - w.first
    assert -bend @ np.reshape(H(w.first), (len(bend), -1)) @ bend == pytest.approx(w.violation)
    assert all(witness.violation > 0 for witness in seen.values())


def test_the_hinge_has_a_kink_and_is_tested_by_its_chord():
    hinge = lambda w: max(0.0, 1 - w[0])  # noqa: E731
    assert check_convexity(hinge, -3, 3, tests=("chord",))
    assert not check_convexity(lambda w: -hinge(w), -3, 3, tests=("chord",))


def test_the_derivatives_of_the_examples_are_right():
    for function, low, _ in [*CONVEX.values(), *NOT_CONVEX.values()]:
        point = np.full(np.size(low), 0.7)
        assert check_gradient(function.value, function.derivatives["gradient"], point).holds
