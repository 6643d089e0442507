"""NEWTON-REG: regularising the Hessian, in the objective or in the step only.

The text adds lambda ||w||^2 to shift the eigenvalues; the shift is 2 lambda, and the minimum moves. Both ways are here: `ridged`
changes the objective, `Newton(shift=...)` only the Hessian of the step.
"""

import numpy as np
import pytest

from qed.optim import Newton, Objective, minimize, ridged
from qed.optim.solvers.newton import positive_factor
from tests.theory.functions import quadratic

INDEFINITE = np.array([[1.0, 2.0, 0.0], [2.0, -3.0, 1.0], [0.0, 1.0, 0.5]])
LOWEST = np.linalg.eigvalsh(INDEFINITE)[0]
B = np.array([1.0, -1.0, 2.0])
F = quadratic(INDEFINITE, B)
OBJECTIVE = Objective(F.value, **F.derivatives)
RIDGE = np.linalg.solve(INDEFINITE, B) + np.linalg.eigh(INDEFINITE)[1][:, 0]


@pytest.mark.parametrize("weight", [0.1, -LOWEST / 2 + 0.1, 10.0])
def test_the_objective_way_shifts_eigenvalues_by_twice_the_weight(weight):
    changed = ridged(OBJECTIVE, weight)
    w = np.array([0.3, 0.2, -1.0])
    assert np.linalg.eigvalsh(changed.hessian(w))[0] == pytest.approx(LOWEST + 2 * weight)
    np.testing.assert_allclose(changed.gradient(w), OBJECTIVE.gradient(w) + 2 * weight * w)
    assert changed.value(w) == pytest.approx(OBJECTIVE.value(w) + weight * (w @ w))


def test_with_enough_weight_the_parabola_has_one_minimum_that_newton_finds_in_one_step():
    weight = -LOWEST / 2 + 0.1
    changed = ridged(OBJECTIVE, weight)
    found = minimize(changed, [5.0, 5.0, 5.0], method=Newton(step=1.0, shift=0.0))
    assert found.ending.n_iter == 1
    np.testing.assert_allclose(found.point, np.linalg.solve(INDEFINITE + 2 * weight * np.eye(3), B))


def test_the_objective_way_moves_the_minimum_and_the_step_way_does_not():
    f = quadratic(np.diag([1.0, 10.0]), [1.0, 10.0])
    start = [7.0, -3.0]
    held = minimize(ridged(Objective(f.value, **f.derivatives), 0.5), start, method="newton", tol=1e-12).point
    np.testing.assert_allclose(held, [0.5, 10 / 11])
    free = minimize(f.value, start, **f.derivatives, method=Newton(shift=1.0), tol=1e-10).point
    np.testing.assert_allclose(free, [1.0, 1.0], atol=1e-8)


def test_the_shifted_step_leads_down_where_the_pure_one_leads_up():
    gradient = OBJECTIVE.gradient(RIDGE)
    pure = Newton(shift=0.0)._by_factor(INDEFINITE, gradient)
    held = Newton(shift=-LOWEST + 0.2)._by_factor(INDEFINITE, gradient)
    safe = Newton()._by_factor(INDEFINITE, gradient)
    assert gradient @ pure > 0
    assert gradient @ held < 0
    assert gradient @ safe < 0


@pytest.mark.parametrize("seed", range(10))
def test_the_shift_chosen_by_cholesky_is_enough_and_not_far_too_much(seed):
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((5, 5))
    H = A + A.T
    lower, shift = positive_factor(H)
    lowest = np.linalg.eigvalsh(H)[0]
    assert lowest + shift > 0
    assert shift <= -2 * lowest + 4e-3 * np.abs(H).max()
    np.testing.assert_allclose(lower @ lower.T, H + shift * np.eye(5), atol=1e-12)


def test_a_positive_definite_hessian_is_left_alone():
    assert positive_factor(np.diag([1e-8, 1.0]))[1] == 0
    assert positive_factor(np.zeros((2, 2)))[1] == 1


def test_a_search_with_the_pure_step_ends_in_words_where_that_leads_up():
    with pytest.warns(match="The Newton step leads up"):
        found = minimize(F.value, RIDGE, **F.derivatives, method=Newton(shift=0.0))
    assert 'shift="auto"' in str(found.ending)
