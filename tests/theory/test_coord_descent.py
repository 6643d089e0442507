"""coord-descent, with the example of convexity-check: what exact coordinate updates reach, and where they get stuck.

The text promises the global minimum for every jointly convex function. That is false for functions with kinks that
are not separable: |x + y| + 3 |x - y| is stuck at (1, 1).
"""

from itertools import islice

import numpy as np
import pytest

from qed.base.errors import ConvergenceWarning
from qed.base.running.steps import Reason
from qed.optim import CoordinateDescent, Objective, minimize

STUCK = Objective(lambda w: abs(w[0] + w[1]) + 3 * abs(w[0] - w[1]))


@pytest.mark.parametrize("order", ["cyclic", "random"])
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_never_rises_and_the_optimum_of_a_convex_quadratic_is_reached(order, seed):
    draws = np.random.default_rng(seed)
    A, y = draws.standard_normal((20, 4)), draws.standard_normal(20)
    objective = Objective(lambda w: ((A @ w - y) ** 2).sum(), lambda w: 2 * A.T @ (A @ w - y))
    steps = list(islice(CoordinateDescent(order, every=1, seed=seed).steps(objective, np.zeros(4)), 200))
    values = [step.objective for step in steps]
    assert all(after <= before * (1 + 1e-14) for before, after in zip(values, values[1:]))
    np.testing.assert_allclose(steps[-1].point, np.linalg.lstsq(A, y)[0], atol=1e-7)


def test_smooth_plus_separable_kinks_reaches_the_global_minimum():
    """The lasso: soft thresholding is the exact update, in closed form."""
    draws = np.random.default_rng(3)
    A, y = draws.standard_normal((30, 5)), draws.standard_normal(30)
    square = (A**2).sum(axis=0)

    def update(w, j):
        a = A[:, j] @ (y - A @ w + A[:, j] * w[j])
        return np.sign(a) * max(abs(a) - 5.0, 0) / square[j]

    objective = Objective(lambda w: ((A @ w - y) ** 2).sum() / 2 + 5 * abs(w).sum())
    closed = list(islice(CoordinateDescent(update=update).steps(objective, np.zeros(5)), 200))[-1]
    slope = A.T @ (A @ closed.point - y)
    assert (np.abs(slope) <= 5 + 1e-9).all()
    assert (np.abs(slope + 5 * np.sign(closed.point))[closed.point != 0] < 1e-9).all()
    searched = list(islice(CoordinateDescent().steps(objective, np.ones(5)), 30))[-1]
    assert searched.objective == pytest.approx(closed.objective, rel=1e-9)


def test_it_is_stuck_at_a_kink_that_is_not_separable_and_the_certificate_says_so():
    steps = list(islice(CoordinateDescent().steps(STUCK, [1.0, 1.0]), 10))
    assert all(step.objective == pytest.approx(2.0, abs=1e-9) for step in steps)
    np.testing.assert_allclose(steps[-1].point, [1.0, 1.0], atol=1e-9)
    assert STUCK.value([0.0, 0.0]) == 0.0
    with pytest.warns(ConvergenceWarning, match="no longer changes"):
        found = minimize(STUCK, [1.0, 1.0], method="coordinate")
    assert found.value == pytest.approx(2.0) and not found.certificate


def test_convexity_in_each_coordinate_is_not_enough():
    """x^2 + y^2 - 4xy: the updates x <- 2y, y <- 2x run away along a saddle."""
    saddle = Objective(
        lambda w: w[0] ** 2 + w[1] ** 2 - 4 * w[0] * w[1],
        lambda w: np.array([2 * w[0] - 4 * w[1], 2 * w[1] - 4 * w[0]]),
    )
    for update in (None, lambda w, j: 2 * w[1 - j]):
        last = list(islice(CoordinateDescent(update=update).steps(saddle, [1.0, 1.0]), 6))[-1]
        np.testing.assert_allclose(last.point, [512.0, 1024.0], rtol=1e-9)
        assert last.objective == pytest.approx(-786432, rel=1e-9)
    np.testing.assert_allclose(np.linalg.eigvalsh(saddle.hessian([0.0, 0.0])), [-2, 6], atol=1e-6)


def test_a_random_coordinate_is_the_texts_choice():
    objective = Objective(lambda w: w @ w, lambda w: 2 * w)
    drawn = [
        s.coordinate for s in islice(CoordinateDescent("random", every=1, seed=4).steps(objective, np.ones(4)), 1, 401)
    ]
    assert sorted(set(drawn)) == [0, 1, 2, 3] and min(np.bincount(drawn)) > 60


def test_the_reason_is_given():
    found = minimize(lambda w: (w[0] - 1) ** 2, [0.0], gradient=lambda w: 2 * (w - 1), method="coordinate")
    assert found.ending.reason is Reason.CERTIFIED
