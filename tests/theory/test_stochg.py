"""STOCHG: a stochastic gradient is right on average, exactly, over all single rows and over all subsets.

The text writes the update as w - alpha grad G(w): G is the estimate of the gradient already, so it is w - alpha G(w).
"""

from itertools import combinations, islice, product

import numpy as np
import pytest

import qed
from qed.optim import HuberLoss, LogisticLoss, PoissonLoss, StochasticGradient, check_gradient, gradient
from tests.theory.fixtures import problem
from tests.theory.quadratics import losses, squares

X, Y, _ = problem(n=7, p=3)
TOTAL = squares(X, Y)
POINT = np.array([0.3, -1.0, 2.0])
TOTALS = {
    "squares": TOTAL,
    "logistic": losses(X, np.sign(Y), LogisticLoss()),
    "Huber": losses(X, Y, HuberLoss(1.0)),
    "Poisson": losses(X, np.arange(7.0), PoissonLoss()),
}


@pytest.mark.parametrize("name", TOTALS)
@pytest.mark.parametrize("k", range(1, 8))
def test_the_mean_over_all_subsets_is_the_gradient(name, k):
    total = TOTALS[name]
    found = [total.gradient_of(POINT, np.array(rows)) for rows in combinations(range(7), k)]
    np.testing.assert_allclose(np.mean(found, axis=0), total.gradient(POINT), rtol=1e-12)
    assert check_gradient(total.value, total.gradient, POINT).holds
    np.testing.assert_allclose(gradient(total.value, POINT), total.gradient(POINT), rtol=1e-6)


@pytest.mark.parametrize("draw", ["subset", "replacement"])
def test_what_is_drawn_is_right_on_average(draw):
    """Two of seven rows: the estimates of three thousand seeds have the gradient as their mean, to four standard errors."""
    found = np.array(
        [
            TOTAL.gradient_of(POINT, StochasticGradient(0.1, batch=2, draw=draw, seed=seed).rows(1, 7))
            for seed in range(3000)
        ]
    )
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - TOTAL.gradient(POINT)) <= 4 * error).all()


def test_the_mean_vanishes_at_what_was_fitted():
    """At the least squares of the model the single rows pull, and their mean does not."""
    best = qed.LinearRegression(fit_intercept=False).fit(X, Y).coef_
    pulls = np.array([TOTAL.gradient_of(best, np.array([row])) for row in range(7)])
    assert np.abs(pulls).max() > 0.1 and np.abs(pulls.mean(axis=0)).max() < 1e-12 * np.abs(pulls).max() * 7


def test_the_mean_over_all_draws_with_replacement_is_the_gradient():
    found = [TOTAL.gradient_of(POINT, np.array(rows)) for rows in product(range(7), repeat=2)]
    np.testing.assert_allclose(np.mean(found, axis=0), TOTAL.gradient(POINT), rtol=1e-12)


def test_the_update_goes_against_the_estimate_itself():
    method = StochasticGradient(0.01, batch=2, every=1, seed=3)
    first, second = islice(method.steps(TOTAL, POINT), 2)
    rows = method.rows(1, 7)
    np.testing.assert_array_equal(second.iterate, POINT - 0.01 * TOTAL.gradient_of(POINT, rows))
