"""Reweighted least squares: never higher, the lasso and least absolute deviations to six digits, and its limits."""

from itertools import islice

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.linear_model import Lasso

from qed.base.errors import ConvergenceWarning, InputError
from qed.optim import L1, AbsoluteSum, Objective, Reweighted, SquaredLoss, minimize, penalised
from tests.theory.fixtures import problem, slope

X, Y, _ = problem(n=40, p=6, seed=5)


def test_the_objective_and_its_gradient():
    lasso = AbsoluteSum.lasso(X, Y, 3.0)
    same = penalised(X, Y, SquaredLoss(), L1(3.0))
    w = np.array([0.5, -0.2, 0.3, 1.0, -1.0, 0.1])
    assert lasso.value(w) == pytest.approx(same.value(w), rel=1e-13)
    np.testing.assert_allclose(lasso.gradient(w), slope(lasso.value, w), atol=1e-5)
    deviations = AbsoluteSum.deviations(X, Y, np.arange(40.0))
    assert deviations.value(w) == pytest.approx(np.arange(40.0) @ np.abs(X @ w - Y), rel=1e-13)
    np.testing.assert_allclose(deviations.gradient(w), slope(deviations.value, w, 1e-7), atol=1e-4)


def test_the_majorant_makes_every_step_a_descent_of_the_rounded_objective():
    """With epsilon held fixed, the sum with Huber's rounding of |r| never rises."""
    lasso, epsilon = AbsoluteSum.lasso(X, Y, 10.0), 1e-3
    steps = list(islice(Reweighted(shrink=1.0).steps(lasso, np.full(6, epsilon)), 40))

    def rounded(w):
        size = np.abs(w)
        return 0.5 * np.sum((X @ w - Y) ** 2) + 10 * np.sum(
            np.where(size < epsilon, size**2 / 2 / epsilon + epsilon / 2, size)
        )

    values = [rounded(step.point) for step in steps]
    assert all(b <= a * (1 + 1e-13) for a, b in zip(values, values[1:]))
    assert steps[-1].epsilon == epsilon


@pytest.mark.parametrize("alpha", [0.5, 10.0, 60.0])
def test_the_lasso_to_six_digits_but_without_zeros(alpha):
    found = minimize(AbsoluteSum.lasso(X, Y, alpha), np.zeros(6), method="reweighted", tol=1e-7, max_iter=3000)
    oracle = Lasso(alpha=alpha / 40, fit_intercept=False, tol=1e-14, max_iter=10**6).fit(X, Y).coef_
    least = 0.5 * np.sum((X @ oracle - Y) ** 2) + alpha * np.abs(oracle).sum()
    assert found.value <= least * (1 + 1e-6)
    assert found.certificate, str(found)
    assert (found.point != 0).all()


def test_least_absolute_deviations():
    found = minimize(AbsoluteSum.deviations(X, Y), np.zeros(6), method="reweighted", tol=1e-6, max_iter=3000)
    program = linprog(
        np.r_[np.zeros(12), np.ones(80)], A_eq=np.hstack([X, -X, np.eye(40), -np.eye(40)]), b_eq=Y, method="highs"
    )
    assert found.value == pytest.approx(program.fun, rel=1e-5)
    assert found.value >= program.fun * (1 - 1e-9)


def test_one_number_is_the_median():
    found = minimize(AbsoluteSum.deviations(np.ones((5, 1)), [1.0, 2.0, 3.0, 10.0, 100.0]), [0.0], method="reweighted")
    assert found.point[0] == pytest.approx(3.0, abs=1e-5)


def test_what_is_hidden_bounds_the_error_of_rounding():
    median = AbsoluteSum.deviations(np.ones((3, 1)), [0.0, 1.0, 3.0])
    assert median.hidden(np.array([1.0]), 0.5) == 0.0
    assert median.hidden(np.array([1.1]), 0.2) == pytest.approx(0.05)


def test_zero_is_left_again_when_it_is_wrong():
    """The start is all zeros, where weights are largest; epsilon is large at first, so that nothing is held there."""
    found = minimize(AbsoluteSum.lasso(np.eye(2), [3.0, 0.5], 1.0), [0.0, 0.0], method="reweighted", tol=1e-7)
    np.testing.assert_allclose(found.point, [2.0, 0.0], atol=1e-6)


def test_too_small_an_epsilon_too_soon_gets_stuck_and_says_so():
    with pytest.warns(ConvergenceWarning):
        found = minimize(
            AbsoluteSum.lasso(np.eye(1), [3.0], 1.0), [1e-30], method=Reweighted(shrink=1.0), tol=1e-7, max_iter=50
        )
    assert not found.certificate


def test_what_is_wrong_is_said():
    with pytest.raises(InputError, match="AbsoluteSum"):
        next(Reweighted().steps(Objective(lambda w: w @ w), [1.0]))
    with pytest.raises(InputError, match="negative"):
        AbsoluteSum(np.eye(2), weight=-1.0)
