"""Objectives: missing derivatives are found by differences, wrong shapes are named where they arise."""

import numpy as np
import pytest

from qed.base.errors import InputError, ParameterError
from qed.optim import FiniteSum, Objective


def value(w):
    return float(np.sin(w[0]) * w[1] + w[1] ** 3)


def gradient(w):
    return np.array([np.cos(w[0]) * w[1], np.sin(w[0]) + 3 * w[1] ** 2])


def hessian(w):
    return np.array([[-np.sin(w[0]) * w[1], np.cos(w[0])], [np.cos(w[0]), 6 * w[1]]])


POINT, VECTOR = np.array([0.7, -1.3]), np.array([2.0, 1.0])


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"gradient": gradient},
        {"hessian": hessian},
        {"gradient": gradient, "hessian": hessian},
        {"product": lambda w, v: hessian(w) @ v},
        {"gradient": gradient, "product": lambda w, v: hessian(w) @ v},
    ],
    ids=lambda given: "+".join(given) or "nothing",
)
def test_what_is_missing_is_filled_in(given):
    objective = Objective(value, **given)
    assert objective.value(POINT) == value(POINT)
    np.testing.assert_allclose(objective.gradient(POINT), gradient(POINT), rtol=1e-7)
    np.testing.assert_allclose(objective.hessian(POINT), hessian(POINT), atol=1e-5)
    np.testing.assert_allclose(objective.product(POINT, VECTOR), hessian(POINT) @ VECTOR, atol=1e-5)
    assert {name for name in ("gradient", "hessian", "product") if objective.knows(name)} == set(given)


def test_of_passes_an_objective_through():
    objective = Objective(value)
    assert Objective.of(objective) is objective
    assert Objective.of(value).value(POINT) == value(POINT)


def test_numbers_and_lists_are_points():
    square = Objective(lambda w: w**2, lambda w: 2 * w)
    assert square.value(3) == 9.0 and square.gradient(3).tolist() == [6.0]
    assert Objective(lambda w: w @ w).value([1, 2]) == 5.0


def test_a_function_that_works_in_place_harms_nothing():
    def destructive(w):
        w *= 0
        return 1.0

    point = np.ones(3)
    Objective(destructive, destructive_gradient).value(point)
    Objective(destructive, destructive_gradient).gradient(point)
    np.testing.assert_array_equal(point, np.ones(3))


def destructive_gradient(w):
    w += 1
    return w


def test_the_same_point_is_not_asked_twice_in_a_row():
    calls = []
    objective = Objective(lambda w: (calls.append(1), float(w @ w))[1])
    point = np.ones(2)
    assert objective.value(point) == objective.value(point.copy()) == 2.0
    assert len(calls) == 1
    point[0] = 5.0
    assert objective.value(point) == 26.0
    first = Objective(lambda w: w @ w, lambda w: 2 * w).gradient(point)
    first[:] = 0
    assert Objective(lambda w: w @ w, lambda w: 2 * w).gradient(point).tolist() == [10.0, 2.0]


@pytest.mark.parametrize("bad", [[[1.0, 2.0]], [], "text", [None], [1j], np.zeros((2, 2))], ids=repr)
def test_points_must_be_vectors(bad):
    with pytest.raises(InputError, match="vector of real numbers"):
        Objective(value).value(bad)


def test_answers_of_the_wrong_shape_are_named():
    with pytest.raises(InputError, match=r"one real number; it gave an array of shape \(2,\)"):
        Objective(lambda w: w).value(POINT)
    with pytest.raises(InputError, match="one real number"):
        Objective(lambda w: None).value(POINT)
    with pytest.raises(InputError, match=r"gradient must give real numbers of shape \(2,\)"):
        Objective(value, lambda w: np.zeros((2, 1))).gradient(POINT)
    with pytest.raises(InputError, match=r"gradient must give real numbers"):
        Objective(value, lambda w: np.zeros(3)).gradient(POINT)
    with pytest.raises(InputError, match=r"hessian must give real numbers of shape \(2, 2\)"):
        Objective(value, hessian=lambda w: np.zeros(2)).hessian(POINT)
    with pytest.raises(InputError, match=r"product must give real numbers of shape \(2,\)"):
        Objective(value, product=lambda w, v: 1.0).product(POINT, VECTOR)


def test_what_is_no_function_is_refused():
    with pytest.raises(InputError, match="value of an objective must be a function"):
        Objective(3.0)
    with pytest.raises(InputError, match="gradient of an objective must be a function"):
        Objective(value, gradient=np.zeros(2))
    with pytest.raises(ParameterError, match="smoothness"):
        Objective(value, smoothness=-1.0)
    with pytest.raises(InputError, match="least curvature can not be above the largest"):
        Objective(value, smoothness=1.0, strong_convexity=2.0)


def test_the_gap():
    bowl = Objective(lambda w: w @ w / 2 + 1, lambda w: w)
    assert bowl.at(np.zeros(2)).gap == 0.0
    first = bowl.at(np.array([4.0, 0.0]))
    assert first.gap == 1.0 and bowl.at(np.array([1.0, 0.0]), first).gap == 0.25
    known = Objective(lambda w: w @ w / 2 + 1, lambda w: w, strong_convexity=1.0)
    step = known.at(np.array([1.0, 0.0]))
    assert step.gap == pytest.approx(0.5 / 1.5), "the bound is exact on a quadratic of curvature m"
    centred = Objective(lambda w: w @ w / 2, lambda w: w, strong_convexity=1.0)
    start = centred.at(np.array([1.0]))
    assert centred.at(np.array([1e-9]), start).gap < 1e-9, "a minimum of zero can be reached"


def test_a_gradient_that_rounding_left_counts_as_none():
    """A start at the minimum, where rounding leaves a gradient that will not get smaller."""
    step = Objective(lambda w: 1e8 + w @ w, lambda w: np.full(2, 1e-7)).at(np.ones(2))
    assert step.gap < 1e-6


def test_far_out_nothing_is_raised():
    with np.errstate(all="raise"):
        step = Objective(lambda w: np.exp(w).sum(), lambda w: np.exp(w)).at(np.array([1e4]))
    assert step.objective == np.inf and np.isnan(step.gradient).all()


def test_finite_sums():
    X, y = np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0, 4.0])
    total = FiniteSum(
        lambda w, rows: ((X[rows] @ w - y[rows]) ** 2).mean(),
        lambda w, rows: 2 * X[rows].T @ (X[rows] @ w - y[rows]) / len(y[rows]),
        3,
    )
    w = np.array([1.0, -1.0])
    np.testing.assert_allclose(total.gradient(w), Objective(total.value).gradient(w), rtol=1e-6)
    np.testing.assert_allclose(total.gradient_of(w, np.array([0, 0, 1, 1, 2, 2])), total.gradient(w), rtol=1e-12)
    with pytest.raises(InputError, match="gradient must give"):
        FiniteSum(lambda w, rows: 0.0, lambda w, rows: np.zeros(1), 3).gradient_of(w, np.array([0]))
    with pytest.raises(ParameterError, match="n must be a whole number >= 1"):
        FiniteSum(lambda w, rows: 0.0, lambda w, rows: w, 0)
