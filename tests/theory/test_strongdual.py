"""STRONGDUAL and KKT: a strictly feasible point closes the gap of a convex problem, and five conditions say where."""

from dataclasses import fields

import numpy as np
import pytest

import qed
from qed.optim import ConstrainedProblem, solve_qp

POINTS, SIDES = np.array([[2.0, 2.0], [2.0, 0.0], [0.0, 0.0], [-1.0, 1.0]]), np.array([1.0, 1.0, -1.0, -1.0])
# Half of the differences of central steps: the cube root of the spacing of numbers, squared, times third derivatives of about one.
DIFFERENCES = 1e-8


def hard_margin():
    """The hard-margin problem in w and b, for planes w'x - b."""
    G = -SIDES[:, None] * np.column_stack([POINTS, -np.ones(4)])
    return np.diag([1.0, 1.0, 0.0]), np.zeros(3), G, -np.ones(4)


def test_the_gap_closes():
    square = solve_qp([[2.0]], [0.0], [[-1.0]], [-1.0])
    assert abs(square.value - square.dual_value) <= 1e-10 and square.value == pytest.approx(1.0)
    margin = solve_qp(*hard_margin())
    assert abs(margin.value - margin.dual_value) <= 1e-8 and margin.value == pytest.approx(0.5)


def test_the_hard_margin_of_four_points():
    found = solve_qp(*hard_margin())
    np.testing.assert_allclose(found.point, [1.0, 0.0, 1.0], atol=1e-10)
    np.testing.assert_allclose(found.multipliers, [0.0, 0.5, 0.5, 0.0], atol=1e-10)
    assert found.certificate
    plane = qed.separating_plane(POINTS, SIDES)
    assert plane.margin == pytest.approx(1.0) and plane.intercept == pytest.approx(-1.0)


def test_crossed_classes_have_no_hard_margin():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    found = solve_qp(
        np.diag([1.0, 1.0, 0.0]), np.zeros(3), -y[:, None] * np.column_stack([X, -np.ones(4)]), -np.ones(4)
    )
    assert found.status == "infeasible" and found.certificate
    np.testing.assert_allclose(found.multipliers, 0.25, atol=1e-6)
    proof = qed.separating_plane(X, y)
    assert proof.is_separable is False and proof.is_exact
    np.testing.assert_array_equal(proof.multipliers * y @ X, 0.0)


def test_slater():
    """E37: strict inequalities are needed where they are not affine only; equalities have to be affine."""
    disc = ConstrainedProblem(lambda x: x[0], [lambda x: x @ x - 1, lambda x: -x[0]], lambda x: x[0] - x[1])
    assert disc.slater([0.5, 0.5])
    assert not disc.slater([0.0, 0.0]) and disc.slater([0.0, 0.0], affine=[1])
    assert not disc.slater([np.sqrt(0.5), np.sqrt(0.5)]) and not disc.slater([0.5, 0.4])


def test_without_slater_a_convex_problem_may_keep_a_gap():
    """min e^-x where x^2 / y <= 0 and y > 0: only x = 0 is feasible, and no multiplier lifts the dual above zero."""
    problem = ConstrainedProblem(
        lambda v: np.exp(-v[0]), lambda v: v[0] ** 2 / v[1], inner=lambda a, _: np.array([40.0, 1e30])
    )
    for a in (0.0, 1.0, 1e4):
        far = min(problem.lagrangian([x, x**4], [a]) for x in (10.0, 20.0, 1e3))
        assert far < 1e-3 + a * 1e-2
        assert problem.lagrangian([40.0, 1e30], [a]) < 1e-12
    assert problem.value([0.0, 1.0]) == 1.0 and problem.worst([0.0, 1.0]) == 1.0
    assert problem.dual([3.0]) < 1e-12 and not problem.slater([0.0, 1.0])


def margin_problem():
    P, q, G, h = hard_margin()
    return ConstrainedProblem(lambda x: x @ P @ x / 2 + q @ x, lambda x: G @ x - h)


def test_all_five_vanish_at_the_optimum():
    found = solve_qp(*hard_margin())
    residuals = margin_problem().kkt(found.point, found.multipliers)
    assert residuals.certificate(1e-6)
    assert max(getattr(residuals, field.name) for field in fields(residuals)) <= DIFFERENCES + 1e-9


@pytest.mark.parametrize(
    "change, which",
    [
        (lambda x, a: (x * 0.9, a), "inequality"),
        (lambda x, a: (x, a - [0.0, 0.6, 0.0, 0.0]), "sign"),
        (lambda x, a: (x, a + [0.0, 0.0, 0.0, 0.3]), "slackness"),
        (lambda x, a: (x + [0.0, 0.1, 0.0], a), "stationarity"),
    ],
)
def test_each_change_is_seen_by_its_condition(change, which):
    found = solve_qp(*hard_margin())
    residuals = margin_problem().kkt(*change(found.point, found.multipliers))
    assert getattr(residuals, which) > 1e-2 and not residuals.certificate(1e-6)


def test_an_equality_that_is_missed_is_seen():
    problem = ConstrainedProblem(lambda x: x @ x, equalities=lambda x: x[0] + x[1] - 1)
    assert problem.kkt([0.5, 0.5], (), [-1.0]).certificate(1e-6)
    assert problem.kkt([0.5, 0.4], (), [-1.0]).equality == pytest.approx(0.1)


def test_a_zero_gap_is_needed_for_optimality_of_convex_problems_only():
    """Theorem 2 asks for convexity: at a saddle of x^4 - 2 x^2 all five conditions hold, and it is no minimum."""
    problem = ConstrainedProblem(lambda x: x[0] ** 4 - 2 * x[0] ** 2)
    assert problem.kkt([0.0]).certificate(1e-6) and problem.value([1.0]) < problem.value([0.0])
