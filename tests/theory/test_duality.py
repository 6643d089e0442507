"""DUALITY and WEAKDUAL: the Lagrangian from both sides, for convex problems and others."""

import numpy as np
import pytest

from qed.optim import ConstrainedProblem, solve_qp

SQUARE = ConstrainedProblem(lambda x: x[0] ** 2, lambda x: 1 - x, inner=lambda a, _: a / 2)
CIRCLE = ConstrainedProblem(
    lambda x: x @ x, equalities=[lambda x: x[0] + x[1] - 1], inner=lambda _, v: np.full(2, -v[0] / 2)
)
WELLS = ConstrainedProblem(lambda x: x[0] ** 4 - 2 * x[0] ** 2, equalities=lambda x: x, starts=[[-1.5], [1.5]])


def test_the_largest_lagrangian_is_the_objective_where_a_point_is_feasible():
    """E25: one multiplier for each inequality, one for each equality."""
    assert SQUARE.worst([2.0]) == 4.0 and SQUARE.worst([0.5]) == np.inf
    assert CIRCLE.worst([0.5, 0.5]) == 0.5 and CIRCLE.worst([1.0, 1.0]) == np.inf
    for multiplier in (0.0, 1.0, 1e3):
        assert SQUARE.lagrangian([2.0], [multiplier]) <= SQUARE.worst([2.0])
    assert SQUARE.lagrangian([0.5], [1e9]) > 1e8, "multipliers punish what is not feasible without end"
    with pytest.raises(ValueError, match="give one for each"):
        CIRCLE.lagrangian([0.5, 0.5], [1.0], [1.0])


@pytest.mark.parametrize("problem, kind", [(SQUARE, "above"), (CIRCLE, "equal"), (WELLS, "equal")])
def test_the_dual_function_is_concave(problem, kind):
    random = np.random.default_rng(0)

    def dual(value):
        return problem.dual([abs(value)]) if kind == "above" else problem.dual((), [value])

    for a, b in random.uniform(0.0, 4.0, (8, 2)) * ([1, 1] if kind == "above" else [1, -1]):
        t = random.random()
        # Minima of the wells are found to about the square of the root of the tolerance.
        assert dual(t * a + (1 - t) * b) >= t * dual(a) + (1 - t) * dual(b) - 1e-7


def test_the_worked_numbers():
    for a in (0.0, 0.5, 2.0, 3.0):
        assert SQUARE.dual([a]) == pytest.approx(a - a**2 / 4)
    assert SQUARE.dual([2.0]) == 1.0 == SQUARE.value([1.0])
    assert CIRCLE.dual((), [-1.0]) == 0.5 == CIRCLE.value([0.5, 0.5])
    assert WELLS.value([0.0]) == 0.0
    best = max(WELLS.dual((), [v]) for v in np.linspace(-1, 1, 9))
    assert best == pytest.approx(-1.0, abs=1e-8), "a gap of one that no multiplier closes"
    assert WELLS.gap([0.0], (), [0.0]) == pytest.approx(1.0, abs=1e-8)


def test_weak_duality_holds_for_any_feasible_pair():
    random = np.random.default_rng(1)
    for _ in range(50):
        assert SQUARE.gap([1 + random.exponential()], [random.exponential()]) >= 0
        t = random.standard_normal()
        assert CIRCLE.gap([t, 1 - t], (), [random.standard_normal()]) >= -1e-12
        assert WELLS.gap([0.0], (), [random.standard_normal()]) >= 0
    assert SQUARE.dual([-1.0]) == -np.inf


def test_a_quadratic_program_finds_the_multipliers():
    square = solve_qp([[2.0]], [0.0], [[-1.0]], [-1.0])
    np.testing.assert_allclose([square.value, square.dual_value, square.multipliers[0]], [1.0, 1.0, 2.0], rtol=1e-10)
    circle = solve_qp(2 * np.eye(2), [0.0, 0.0], A=[[1.0, 1.0]], b=[1.0])
    np.testing.assert_allclose([*circle.point, circle.equality_multipliers[0]], [0.5, 0.5, -1.0], rtol=1e-12)
