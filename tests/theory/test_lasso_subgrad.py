"""lasso-subgrad: other solvers of the lasso, named by the course: subgradient descent, and line searches.

The best objective so far comes to that of coordinate descent; no coefficient becomes exactly zero.
"""

from itertools import accumulate, islice

import numpy as np
import pytest

import qed
from qed.optim import L1, Composite, Diminishing, SquaredLoss, Subgradient, penalised
from tests.theory.fixtures import problem


def setting(lam=20.0):
    """The objective |Xw - y|^2 / 2 + lambda / 2 |w|_1, and where our coordinate descent finds its minimum."""
    X, y, _ = problem(n=40, p=6, seed=1)
    model = qed.Lasso(alpha=lam / (2 * len(X)), fit_intercept=False, tol=1e-14).fit(X, y)
    assert model.certificate_
    return penalised(X, y, SquaredLoss(), L1(lam / 2)), model.coef_


@pytest.mark.parametrize(
    "rule", [Diminishing(0.02, 0.5), lambda t: 0.02 / t**0.5, None], ids=["rule", "function", "radius"]
)
def test_the_best_objective_comes_to_that_of_coordinate_descent(rule):
    objective, optimum = setting()
    least = objective.value(optimum)
    method = Subgradient(step=rule, radius=None if rule is not None else 2 * np.linalg.norm(optimum))
    steps = islice(method.steps(objective, np.zeros(6)), 5000)
    best = list(accumulate((step.objective for step in steps), min))
    assert all(b <= a for a, b in zip(best, best[1:]))
    assert least * (1 - 1e-12) <= best[-1] <= least * (1 + 1e-3)
    assert best[-1] - least < best[100] - least


def test_no_coefficient_becomes_exactly_zero():
    objective, optimum = setting()
    assert (optimum == 0).any(), "the solution has zeros"
    steps = list(islice(Subgradient(step=Diminishing(0.02, 0.5)).steps(objective, np.full(6, 0.1)), 1500))
    assert all((step.point != 0).all() for step in steps)


def test_a_single_step_may_lead_uphill():
    """The method does not descend in every step, which is why the best point is kept."""
    objective, optimum = setting()
    values = [step.objective for step in islice(Subgradient(step=0.01).steps(objective, np.full(6, 0.1)), 500)]
    assert any(b > a for a, b in zip(values, values[1:]))


def test_the_shortest_subgradient_vanishes_at_the_optimum_and_nowhere_near():
    objective, optimum = setting()
    assert isinstance(objective, Composite)
    assert np.abs(objective.gradient(optimum)).max() < 1e-9
    for e in np.eye(6):
        assert np.abs(objective.gradient(optimum + 0.01 * e)).max() > 1e-3
