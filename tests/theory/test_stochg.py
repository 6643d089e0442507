"""STOCHG: a stochastic gradient is right on average, exactly, over all single rows and over all subsets.

The text writes the update as w - alpha grad G(w): G is the estimate of the gradient already, so it is w - alpha G(w).
"""

from itertools import combinations, product

import numpy as np
import pytest

from tests.theory.fixtures import problem
from tests.theory.quadratics import squares

X, Y, _ = problem(n=7, p=3)
TOTAL = squares(X, Y)
POINT = np.array([0.3, -1.0, 2.0])


@pytest.mark.parametrize("k", range(1, 8))
def test_the_mean_over_all_subsets_is_the_gradient(k):
    found = [TOTAL.gradient_of(POINT, np.array(rows)) for rows in combinations(range(7), k)]
    np.testing.assert_allclose(np.mean(found, axis=0), TOTAL.gradient(POINT), rtol=1e-12)


def test_the_mean_over_all_draws_with_replacement_is_the_gradient():
    found = [TOTAL.gradient_of(POINT, np.array(rows)) for rows in product(range(7), repeat=2)]
    np.testing.assert_allclose(np.mean(found, axis=0), TOTAL.gradient(POINT), rtol=1e-12)


def test_the_update_goes_against_the_estimate_itself():
    from itertools import islice

    from qed.optim import StochasticGradient

    method = StochasticGradient(0.01, batch=2, every=1, seed=3)
    first, second = islice(method.steps(TOTAL, POINT), 2)
    rows = method.rows(1, 7)
    np.testing.assert_array_equal(second.iterate, POINT - 0.01 * TOTAL.gradient_of(POINT, rows))
