"""MINIBATCH: between one row and all rows; the sum runs over the rows that were drawn, with or without replacement.

The text's sum over i = 1..k means the sampled rows, and it does not say how they are sampled: both ways, and shuffled
epochs, are offered.
"""

from itertools import combinations, islice, product

import numpy as np
import pytest

from qed.optim import GradientDescent, StochasticGradient
from tests.theory.fixtures import problem
from tests.theory.quadratics import squares

X, Y, _ = problem(n=8, p=3)
TOTAL = squares(X, Y)
POINT = np.array([0.3, -1.0, 2.0])


@pytest.mark.parametrize("draw", ["subset", "shuffle"])
def test_a_batch_of_all_rows_is_gradient_descent(draw):
    batch = islice(StochasticGradient(0.05, batch=8, draw=draw).steps(TOTAL, POINT), 30)
    for one, other in zip(batch, GradientDescent(0.05).steps(TOTAL, POINT)):
        np.testing.assert_array_equal(one.point, other.point)


def test_a_batch_of_one_row_is_stochastic_gradient_descent_with_the_same_seed():
    method, w = StochasticGradient(0.05, batch=1, every=1, seed=4), POINT
    for t, step in enumerate(islice(method.steps(TOTAL, POINT), 30), start=1):
        np.testing.assert_array_equal(step.iterate, w)
        (row,) = method.rows(t, 8)
        w = w - 0.05 * TOTAL.gradient_of(w, np.array([row]))


def variance(rows_of_all_draws):
    gradients = np.array([TOTAL.gradient_of(POINT, np.array(rows)) for rows in rows_of_all_draws])
    return ((gradients - TOTAL.gradient(POINT)) ** 2).sum(axis=1).mean()


@pytest.mark.parametrize("k", [2, 3])
def test_the_variance_falls_as_one_over_k_with_replacement(k):
    single = variance([[i] for i in range(8)])
    assert variance(product(range(8), repeat=k)) == pytest.approx(single / k, rel=1e-10)


@pytest.mark.parametrize("k", range(1, 9))
def test_and_faster_without(k):
    single = variance([[i] for i in range(8)])
    expected = single / k * (8 - k) / 7
    assert variance(combinations(range(8), k)) == pytest.approx(expected, rel=1e-10, abs=1e-12 * single)


def test_the_draws_are_subsets_of_the_asked_size():
    method = StochasticGradient(0.1, batch=3, seed=1)
    for t in range(1, 600):
        rows = method.rows(t, 8)
        assert len(set(rows.tolist())) == 3 and rows.min() >= 0 and rows.max() < 8


def test_larger_batches_are_steadier():
    X, y, truth = problem(n=400, p=3, noise=2.0)
    total = squares(X, y)
    best = np.linalg.lstsq(X, y)[0]
    spread = []
    for k in (1, 10, 100):
        steps = islice(StochasticGradient(0.02, batch=k, every=50, seed=0).steps(total, np.zeros(3)), 20, 60)
        spread.append(np.mean([((step.point - best) ** 2).sum() for step in steps]))
    assert spread[0] > 3 * spread[1] > 9 * spread[2]
