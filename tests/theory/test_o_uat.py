"""O-UAT: the squared error falls at least as one over the number of units, and units that are trained beat drawn ones."""

import numpy as np
import pytest

from qed.neural.constructions import random_feature_network
from qed.optim import minimize

X = np.random.default_rng(0).uniform(-1, 1, (400, 2))
Y = np.exp(-((X - 0.2) ** 2).sum(axis=1) * 2)


def error(network):
    return float(((network.forward(X).ravel() - Y) ** 2).mean())


def test_the_error_of_drawn_units_falls_faster_than_one_over_their_number():
    units = np.array([8, 16, 32, 64, 128])
    errors = [np.mean([error(random_feature_network(X, Y, m, random_state=s)) for s in range(5)]) for m in units]
    assert np.polyfit(np.log(units), np.log(errors), 1)[0] <= -1


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")  # it may end before its minimum
def test_training_the_units_helps():
    for units in (4, 8):
        drawn = random_feature_network(X, Y, units, activation="tanh", random_state=1)
        before = error(drawn)
        found = minimize(
            lambda w, net=drawn: net.gradient(X, Y, vector=w)[0],
            drawn.vector.copy(),
            gradient=lambda w, net=drawn: net.gradient(X, Y, vector=w)[1],
            max_iter=100,
            tol=1e-4,
        )
        assert 2 * found.value < before / 4
