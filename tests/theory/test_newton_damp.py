"""NEWTON-DAMP: a shorter Newton step, constant or searched for, on sqrt(w^2 + 1): w <- w - a (w + w^3)."""

from itertools import islice

import numpy as np
import pytest

from qed.base.running.steps import Reason, Rule, run
from qed.optim import Armijo, Newton, Objective, Wolfe
from tests.theory.functions import hyperbola

OBJECTIVE = Objective(hyperbola.value, **hyperbola.derivatives)


def path(step, start, n):
    return [float(s.point[0]) for s in islice(Newton(step, shift=0.0).steps(OBJECTIVE, [start]), n + 1)]


def test_half_a_step_still_diverges():
    np.testing.assert_allclose(path(0.5, 2.0, 4), [2, -3, 12, -858, 315_813_927], rtol=1e-9)
    ending = run(Newton(0.5, 0.0).steps(OBJECTIVE, [2.0]), Rule())
    assert ending.reason in (Reason.DIVERGED, Reason.DEGENERATE)


def test_a_fifth_lands_on_the_minimum():
    assert path(0.2, 2.0, 1)[1] == pytest.approx(0, abs=1e-15)


def test_a_tenth_converges_linearly():
    np.testing.assert_allclose(path(0.1, 2.0, 4), [2, 1, 0.8, 0.6688, 0.57200466], atol=1e-4)
    late = np.abs(path(0.1, 2.0, 60))[-20:]
    np.testing.assert_allclose(late[1:] / late[:-1], 0.9, atol=1e-3)


@pytest.mark.parametrize(("start", "expected"), [(1.0, 1), (2.0, 5), (10.0, 6)])
def test_halving_makes_it_safe(start, expected):
    method = Newton(Armijo(first=1.0, decrease=1e-4), shift=0.0)
    ending = run(method.steps(OBJECTIVE, [start]), Rule(tol=1e-8, max_iter=20))
    assert ending.reason is Reason.CERTIFIED
    assert abs(ending.n_iter - expected) <= 1
    objectives = [row["objective"] for row in ending.trace]
    assert all(a > b for a, b in zip(objectives, objectives[1:]))


@pytest.mark.parametrize("start", [1.0, 2.0, 10.0, 1e3])
def test_so_does_a_search_for_the_wolfe_conditions(start):
    ending = run(Newton(Wolfe(first=1.0)).steps(OBJECTIVE, [start]), Rule(tol=1e-8, max_iter=20))
    assert ending.reason is Reason.CERTIFIED


def test_a_step_may_be_a_function_of_the_iteration():
    steps = Newton(lambda t: 0.2 if t == 1 else 1.0, shift=0.0).steps(OBJECTIVE, [2.0])
    assert [abs(round(float(s.point[0]), 12)) for s in islice(steps, 3)] == [2, 0, 0]
