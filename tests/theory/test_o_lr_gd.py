"""O-LR-GD: gradient descent for linear regression, w <- w - eta (2 X X'w - 2 X y), reaches the pseudo-inverse's answer, or runs away.

The columns of the text's X are the examples; here its rows are.
"""

from itertools import islice

import numpy as np
import pytest

from qed.base.running.steps import Reason, Rule, run
from qed.optim import GradientDescent, Objective
from tests.theory.fixtures import problem


def least_squares(X, y):
    return Objective(lambda w: ((X @ w - y) ** 2).sum(), lambda w: 2 * X.T @ (X @ w) - 2 * X.T @ y)


def wide():
    X, y, _ = problem(n=6, p=9)
    return X, y


def deficient():
    X, y, _ = problem(n=30, p=4)
    return np.column_stack([X, X[:, 0] + X[:, 1]]), y


@pytest.mark.parametrize("make", [lambda: problem()[:2], wide, deficient], ids=["tall", "wide", "collinear"])
def test_from_zero_it_reaches_the_shortest_solution(make):
    X, y = make()
    top = np.linalg.eigvalsh(X.T @ X)[-1]
    ending = run(
        GradientDescent(0.5 / top).steps(least_squares(X, y), np.zeros(X.shape[1])), Rule(1e-11, 50_000, patience=500)
    )
    np.testing.assert_allclose(ending.step.point, np.linalg.pinv(X) @ y, atol=1e-7)


def test_from_elsewhere_it_keeps_the_part_that_the_data_do_not_see():
    X, y = wide()
    start = np.arange(9.0)
    top = np.linalg.eigvalsh(X.T @ X)[-1]
    last = run(GradientDescent(0.5 / top).steps(least_squares(X, y), start), Rule(1e-11, 50_000, patience=500)).step
    unseen = start - np.linalg.pinv(X) @ (X @ start)
    np.testing.assert_allclose(last.point, np.linalg.pinv(X) @ y + unseen, atol=1e-7)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.99])
def test_it_falls_monotonically_for_steps_below_one_over_the_top_eigenvalue(share):
    X, y, _ = problem()
    top = np.linalg.eigvalsh(X.T @ X)[-1]
    values = [
        step.objective for step in islice(GradientDescent(share / top).steps(least_squares(X, y), np.zeros(5)), 200)
    ]
    assert all(after <= before * (1 + 1e-14) for before, after in zip(values, values[1:]))


def test_it_runs_away_beyond():
    X, y, _ = problem()
    top = np.linalg.eigvalsh(X.T @ X)[-1]
    ending = run(GradientDescent(1.05 / top).steps(least_squares(X, y), np.zeros(5)), Rule(1e-9, 5000))
    assert ending.reason is Reason.DIVERGED


def test_small_steps_are_slow():
    X, y, _ = problem()
    top = np.linalg.eigvalsh(X.T @ X)[-1]
    needed = [
        run(GradientDescent(share / top).steps(least_squares(X, y), np.zeros(5)), Rule(1e-6, 10_000)).n_iter
        for share in (0.5, 0.05, 0.005)
    ]
    assert needed[1] > 8 * needed[0] and needed[2] > 8 * needed[1]
