"""LINESEARCH: choose a direction of descent, go to the best point along it.

The text minimises f(w + alpha u) and then prints the update w - alpha u: it is w + alpha u.
"""

from itertools import islice

import numpy as np
import pytest

from qed.base.errors import InputError
from qed.base.running.steps import Step
from qed.optim import Armijo, Exact, GoldenSection, Grid, LineSearch, Objective, Wolfe
from tests.theory.quadratics import quadratic

SEARCHES = [Exact(), Grid(0.1, 50), GoldenSection(), Armijo(), Wolfe()]
ROSENBROCK = Objective(
    lambda w: (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2,
    lambda w: np.array([-2 * (1 - w[0]) - 400 * w[0] * (w[1] - w[0] ** 2), 200 * (w[1] - w[0] ** 2)]),
)


def path(method, length, objective, start):
    return list(islice(method.steps(objective, start), length + 1))


@pytest.mark.parametrize("search", SEARCHES, ids=str)
@pytest.mark.parametrize("direction", ["gradient", "random", "coordinate"])
def test_the_function_never_rises(search, direction):
    for objective, start in ((quadratic(), [1.0, 2.0, 3.0]), (ROSENBROCK, [-1.2, 1.0])):
        values = [step.objective for step in path(LineSearch(direction, search), 40, objective, start)]
        assert values == sorted(values, reverse=True) and values[-1] < values[0]


def test_a_direction_that_leads_up_is_rejected():
    for search in SEARCHES:
        with pytest.raises(InputError, match="does not lead down"):
            path(LineSearch(lambda step: step.gradient, search), 1, quadratic(), np.ones(3))
    with pytest.raises(InputError, match="does not lead down"):
        Armijo().length(quadratic(), quadratic().at(np.ones(3)), np.ones(3))


def test_any_direction_of_descent_will_do():
    tilt = np.array([[1.0, 0.5, 0.0], [-0.5, 1.0, 0.0], [0.0, 0.0, 0.2]])
    steps = path(LineSearch(lambda step: -tilt @ step.gradient, Exact()), 300, quadratic(), np.ones(3))
    assert steps[-1].objective < 1e-6 * steps[0].objective


def test_the_update_adds():
    objective = quadratic([2.0])
    first, second = path(LineSearch("gradient", Grid(1.0, 4)), 1, objective, [1.0])
    np.testing.assert_array_equal(second.point, first.point + 0.5 * -first.gradient)
    assert second.objective == 0.0, "subtracting, as printed, would have gone up to w = 2"


@pytest.mark.parametrize("seed", range(5))
def test_the_exact_step_on_a_quadratic(seed):
    draws = np.random.default_rng(seed)
    root, b = draws.standard_normal((4, 4)), draws.standard_normal(4)
    H = root @ root.T + 0.1 * np.eye(4)
    objective = Objective(lambda w: w @ H @ w / 2 - b @ w, lambda w: H @ w - b, lambda w: H)
    step = objective.at(draws.standard_normal(4))
    g = step.gradient
    exact = g @ g / (g @ H @ g)
    assert Exact().length(objective, step, -g) == pytest.approx(exact, rel=1e-10)
    assert GoldenSection().length(objective, step, -g) == pytest.approx(exact, rel=1e-5)
    grid = Grid(longest=3 * exact, points=100)
    assert abs(grid.length(objective, step, -g) - exact) <= 3 * exact / 100
    u = draws.standard_normal(4)
    u *= -np.sign(u @ g)
    assert Exact().length(objective, step, u) == pytest.approx(-g @ u / (u @ H @ u), rel=1e-10)


def test_successive_gradients_are_orthogonal():
    steps = path(LineSearch("gradient", Exact()), 20, quadratic(), [1.0, 2.0, 3.0])
    for before, after in zip(steps, steps[1:]):
        cosine = before.gradient @ after.gradient / np.linalg.norm(before.gradient) / np.linalg.norm(after.gradient)
        assert abs(cosine) < 1e-8


def test_a_grid_costs_its_points_and_no_gradient():
    calls = []

    def kinks(w):
        calls.append(w)
        return abs(w[0] - 0.3) + 2 * abs(w[1] + 0.7)

    steps = LineSearch("coordinate", Grid(1.0, 10)).steps(Objective(kinks), [0.0, 0.0])
    next(steps)
    calls.clear()
    next(steps)
    assert len(calls) <= 20 + 3, "ten lengths in both directions, and the value at the answer"
    assert next(steps).objective == pytest.approx(0.0, abs=1e-12)


def test_a_grid_sees_other_valleys():
    """From the same start, short steps stay in their valley; the best point of a whole line may be in a deeper one."""
    waves = Objective(lambda w: 0.1 * (w[0] - 6) ** 2 - np.cos(2 * w[0]), lambda w: 0.2 * (w - 6) + 2 * np.sin(2 * w))
    near = path(LineSearch("gradient", Armijo(first=0.1)), 200, waves, [0.2])[-1]
    far = path(LineSearch("gradient", Grid(20.0, 1000)), 30, waves, [0.2])[-1]
    assert near.point[0] < 1 and far.point[0] == pytest.approx(6.26, abs=0.05) and far.objective < near.objective - 2


def test_armijo_and_wolfe_keep_their_conditions():
    step = ROSENBROCK.at(np.array([-1.2, 1.0]))
    u = -step.gradient
    slope = step.gradient @ u
    for search in (Armijo(first=1.0), Wolfe(first=1.0), Wolfe(first=1e-6, curvature=0.1)):
        length = search.length(ROSENBROCK, step, u)
        assert ROSENBROCK.value(step.point + length * u) <= step.objective + search.decrease * length * slope
        if isinstance(search, Wolfe):
            assert abs(ROSENBROCK.gradient(step.point + length * u) @ u) <= search.curvature * abs(slope)
    halvings = np.log2(Armijo(first=1.0).length(ROSENBROCK, step, u))
    assert halvings == round(halvings) and halvings < 0
    longer = 2 ** (halvings + 1)
    assert ROSENBROCK.value(step.point + longer * u) > step.objective + 1e-4 * longer * slope, (
        "the first that is short enough"
    )


def test_nothing_lower_means_no_step():
    bottom = Step(0.0, point=np.zeros(3))
    for search in (Grid(), GoldenSection()):
        assert search.length(quadratic(), bottom, np.ones(3)) == 0.0
