"""EPOCH: how many updates pass over the data once. The text is silent where k does not divide n: the last batch is the smaller one."""

from itertools import islice

import numpy as np
import pytest

from qed.optim import StochasticGradient, iterations_per_epoch
from tests.theory.fixtures import problem
from tests.theory.quadratics import squares


def test_the_worked_numbers():
    assert [iterations_per_epoch(1000, k) for k in (1000, 50, 1)] == [1, 20, 1000]
    assert iterations_per_epoch(1000, 300) == 4


@pytest.mark.parametrize("batch", [1, 3, 7, 40])
def test_a_shuffled_epoch_uses_each_row_once(batch):
    method = StochasticGradient(0.1, batch=batch, draw="shuffle", seed=2)
    per = iterations_per_epoch(40, batch)
    orders = []
    for epoch in range(3):
        parts = [np.arange(40)[method.rows(epoch * per + t, 40)] for t in range(1, per + 1)]
        orders.append(np.concatenate(parts))
        assert sorted(orders[-1].tolist()) == list(range(40))
    if batch < 40:
        assert (orders[0] != orders[1]).any(), "each epoch has an order of its own"


@pytest.mark.parametrize("draw", ["subset", "shuffle", "replacement"])
@pytest.mark.parametrize("batch", [1, 7, 40])
def test_steps_count_epochs(draw, batch):
    X, y, _ = problem()
    steps = list(islice(StochasticGradient(0.001, batch=batch, draw=draw).steps(squares(X, y), np.zeros(5)), 4))
    per = iterations_per_epoch(40, batch)
    assert [step.updates for step in steps] == [0, per, 2 * per, 3 * per]
    rows = 40 if draw == "shuffle" else per * batch
    assert [step.epochs for step in steps] == pytest.approx([0, rows / 40, 2 * rows / 40, 3 * rows / 40])
