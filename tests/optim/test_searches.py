"""Searches on a line, and the one-dimensional tools beneath them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import line_search

from qed.base.errors import InputError, ParameterError
from qed.base.running.steps import Step
from qed.optim import Armijo, Exact, GoldenSection, Grid, Objective, Wolfe
from qed.optim.searches.downhill import downhill
from qed.optim.searches.line import Line, golden_section, lowest_bracket, zero_of_slope
from qed.optim.searches.methods import falls_enough

SMOOTH = [
    Objective(lambda w: w @ w, lambda w: 2 * w),
    Objective(lambda w: np.log(np.cosh(w)).sum(), np.tanh),
    Objective(lambda w: np.exp(w).sum() - w.sum(), lambda w: np.exp(w) - 1),
    Objective(lambda w: np.sqrt(1 + w @ w), lambda w: w / np.sqrt(1 + w @ w)),
    Objective(lambda w: (w**4).sum() / 4, lambda w: w**3),
]
SEARCHES = [
    Exact(),
    Grid(1.0, 20),
    GoldenSection(),
    Armijo(),
    Armijo(first=100.0),
    Wolfe(),
    Wolfe(first=1e-3, curvature=0.01),
]


@pytest.mark.parametrize("search", SEARCHES, ids=repr)
@given(seed=st.integers(0, 10**6), which=st.integers(0, len(SMOOTH) - 1), scale=st.sampled_from([1e-3, 1.0, 5.0]))
def test_no_search_goes_up(search, seed, which, scale):
    draws = np.random.default_rng(seed)
    objective = SMOOTH[which]
    step = objective.at(scale * draws.standard_normal(3))
    direction = -step.gradient * draws.uniform(0.1, 2, 3)
    length = search.length(objective, step, direction)
    after = objective.value(step.point + length * direction)
    assert length >= 0 and after <= step.objective + 1e-14 * abs(step.objective)


@given(seed=st.integers(0, 10**6), which=st.integers(0, len(SMOOTH) - 1), curvature=st.sampled_from([0.01, 0.1, 0.9]))
def test_wolfe_finds_what_it_asks_for(seed, which, curvature):
    draws = np.random.default_rng(seed)
    objective = SMOOTH[which]
    step = objective.at(2 * draws.standard_normal(3))
    direction = -step.gradient
    slope = step.gradient @ direction
    length = Wolfe(first=10 ** draws.uniform(-4, 3), curvature=curvature).length(objective, step, direction)
    end = objective.at(step.point + length * direction)
    assert end.objective <= step.objective + 1e-4 * length * slope + 1e-14
    assert abs(end.gradient @ direction) <= curvature * abs(slope)


@given(seed=st.integers(0, 10**6), which=st.integers(0, len(SMOOTH) - 1))
def test_exact_is_where_the_slope_vanishes(seed, which):
    draws = np.random.default_rng(seed)
    objective = SMOOTH[which]
    step = objective.at(2 * draws.standard_normal(3))
    direction = -step.gradient
    length = Exact().length(objective, step, direction)
    slope = objective.gradient(step.point + length * direction) @ direction
    assert abs(slope) <= 1e-8 * abs(step.gradient @ direction)
    golden = GoldenSection().length(objective, step, direction)
    assert Line(objective, step, direction).value(golden) <= Line(objective, step, direction).value(length) + 1e-12


def test_wolfe_where_a_peer_finds_one_too():
    for objective in SMOOTH:
        step = objective.at(np.array([1.0, -2.0, 0.5]))
        peer = line_search(objective.value, objective.gradient, step.point, -step.gradient)[0]
        assert peer is not None and Wolfe(first=1.0).length(objective, step, -step.gradient) > 0


def test_armijo_remembers_the_step_before():
    bowl = SMOOTH[0]
    step = bowl.at(np.ones(2), length=0.001)
    assert Armijo().length(bowl, step, -step.gradient) == 0.002
    assert Armijo(grow=1.0).length(bowl, step, -step.gradient) == 0.001
    assert Armijo(first=0.3).length(bowl, step, -step.gradient) == 0.3


def test_what_is_not_finite_counts_as_high():
    wall = Objective(lambda w: -np.log(1 - w[0]) - 3 * w[0] if w[0] < 1 else np.nan, lambda w: 1 / (1 - w) - 3)
    step = wall.at(np.array([0.0]))
    for search in SEARCHES:
        length = search.length(wall, step, np.ones(1))
        assert 0 < length < 1, search


def test_a_function_without_a_minimum_is_told():
    slide = Objective(lambda w: -w[0], lambda w: -np.ones(1))
    step = slide.at(np.zeros(1))
    for search in (Exact(), GoldenSection()):
        with pytest.raises(InputError, match="keeps falling"):
            search.length(slide, step, np.ones(1))


def test_a_flat_direction_gives_no_step():
    for search in SEARCHES:
        assert search.length(SMOOTH[0], SMOOTH[0].at(np.zeros(2)), np.ones(2)) == 0.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: Armijo(shrink=1.0),
        lambda: Armijo(decrease=0.0),
        lambda: Armijo(first=-1.0),
        lambda: Armijo(grow=0.5),
        lambda: Wolfe(decrease=0.5, curvature=0.1),
        lambda: Grid(points=0),
        lambda: Grid(longest=0.0),
        lambda: GoldenSection(first=0.0),
        lambda: Exact(tol=-1.0),
    ],
)
def test_parameters_that_make_no_sense(make):
    with pytest.raises(ParameterError):
        make()


@given(place=st.floats(0.01, 1e4), first=st.floats(1e-3, 10))
def test_brackets_and_golden_section(place, first):
    def value(a):
        return abs(a - place) ** 1.5

    low, high = lowest_bracket(value, first, value(0.0))
    assert low <= place <= high
    assert golden_section(value, low, high, 1e-9) == pytest.approx(place, rel=1e-6)


@given(place=st.floats(0.01, 1e4), first=st.floats(1e-3, 10), power=st.sampled_from([1, 3, 5]))
def test_zeros_of_slopes(place, first, power):
    found = zero_of_slope(lambda a: (a - place) ** power, first, -(place**power), 1e-30)
    assert found == pytest.approx(place, rel=1e-4)


def test_no_zero():
    assert zero_of_slope(lambda a: -1.0, 1.0, -1.0, 1e-9) is None
    assert lowest_bracket(lambda a: -a, 1.0, 0.0) is None


def test_falling_enough():
    assert falls_enough(1.0, 0.9, -0.1) and not falls_enough(1.0, 0.95, -0.1)
    assert falls_enough(1.0, 1.0, -1e-17) and not falls_enough(1.0, 1.0 + 1e-12, -1e-17)


def test_lines_use_the_gradient_they_are_given():
    calls = []
    objective = Objective(lambda w: w @ w, lambda w: (calls.append(1), 2 * w)[1])
    line = Line(objective, Step(2.0, point=np.ones(2), gradient=2 * np.ones(2)), -np.ones(2))
    assert line.first_slope() == -4.0 and not calls
    assert Line(objective, Step(2.0, point=np.ones(2)), -np.ones(2)).first_slope() == -4.0 and calls


@given(st.floats(0.01, 100), st.floats(0.01, 10), st.floats(0.1, 10))
def test_going_downhill_ends_where_it_is_flat(lowest, bend, kink):
    def slope(t):
        return bend * (t - lowest) + (5.0 if t > lowest + kink else 0.0)

    def rise(t):
        return bend * (t * t / 2 - lowest * t) + 5.0 * max(t - lowest - kink, 0.0)

    found = downhill(lambda t: t, slope, slope(0.0), rise)
    assert abs(slope(found)) <= 0.5 * abs(slope(0.0)) and rise(found) <= 1e-4 * found * slope(0.0)


@given(st.floats(-12, 3), st.floats(0.5, 600))
def test_going_downhill_where_most_of_the_line_overflows(shift, growth):
    """exp(growth * t) - s * t: at the first trial it is up to 1e260, or infinite."""
    s = growth * np.exp(shift)

    def value(t):
        with np.errstate(over="ignore"):
            return np.exp(growth * t + 100 * t**2) - s * t - 1.0

    def slope(t):
        with np.errstate(over="ignore"):
            return (growth + 200 * t) * np.exp(growth * t + 100 * t**2) - s

    found = downhill(lambda t: t, slope, slope(0.0), value, trial=8.0)
    assert (found is None) if slope(0.0) >= 0 else value(found) < 0
    if slope(0.0) < 0:
        assert abs(slope(found)) <= 0.5 * abs(slope(0.0))


def test_downhill_takes_the_whole_step_where_the_function_still_falls():
    assert downhill(lambda t: t, lambda t: -1.0, -1.0, lambda t: -t, longest=1.0) == 1.0
    assert downhill(lambda t: t, lambda t: -1.0, -1.0, lambda t: -t, trials=3) == 100.0


def test_downhill_gives_up_where_the_slope_lied():
    assert downhill(lambda t: t, lambda t: 1.0, -1.0, lambda t: t) is None
    assert downhill(lambda t: t, lambda t: -1.0, -1.0, lambda t: t) is None


def test_downhill_forgives_what_rounding_does_to_values():
    found = downhill(lambda t: t, lambda t: 1e-9 * (t - 1), -1e-9, lambda t: 1e-12, noise=1e-11)
    assert found == 1.0
