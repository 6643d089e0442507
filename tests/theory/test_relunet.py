"""RELUNET: hinges make any piecewise linear function, and their edges do move in training."""

import numpy as np
import pytest

from qed.neural.constructions import hidden_layer, largest_error, relu_network


def test_slopes_of_the_example():
    network = hidden_layer([0.0, 1.0], [1.0, -1.0], [2.0, 3.0], "relu")
    X, y = np.array([[2.0]]), np.array([5.0])
    loss, found = network.gradient(X, y)[0], network.gradients(X, y)
    assert network.forward(X) == 4.0 and 2 * loss == 1.0
    assert (2 * found["2.weight"]).ravel().tolist() == [-4.0, 0.0]
    assert (2 * found["0.bias"]).tolist() == [-4.0, 0.0]
    assert (2 * found["0.weight"]).ravel().tolist() == [-8.0, 0.0]


@pytest.mark.parametrize(("pieces", "error"), [(10, 0.0025), (20, 0.000625)])
def test_squares_between_straight_lines(pieces, error):
    # The grid has the middle of every piece, where the error is largest.
    assert largest_error(relu_network(np.square, pieces), np.square) == pytest.approx(error, rel=1e-9)


def test_slopes_are_those_of_differences_away_from_the_kinks():
    draws = np.random.default_rng(2)
    network = hidden_layer(draws.standard_normal(5), draws.standard_normal(5), draws.standard_normal(5), "relu")
    X = draws.standard_normal((30, 1))
    y, slope, h = np.cos(X[:, 0]), None, 1e-6
    sums = X * network.parameters["0.weight"] + network.parameters["0.bias"]
    assert np.abs(sums).min() > 10 * h  # no difference steps over a kink
    slope = network.gradient(X, y)[1]
    for place in range(len(slope)):
        ends = []
        for sign in (1, -1):
            moved = network.vector.copy()
            moved[place] += sign * h
            ends.append(network.gradient(X, y, vector=moved)[0])
        # Central differences of a quadratic are exact but for rounding, some 1e-16 / h of the loss.
        assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(slope[place], abs=1e-8)


def test_training_moves_kinks_and_leaves_at_most_one_for_each_unit():
    draws = np.random.default_rng(0)
    network = hidden_layer(draws.uniform(-1, 1, 6), draws.choice([-1.0, 1.0], 6), draws.standard_normal(6), "relu")
    X = np.linspace(-1, 1, 60)[:, None]
    y, before = np.abs(X[:, 0]), network.vector.copy()
    for _ in range(200):
        network.vector -= 0.05 * network.gradient(X, y)[1]
    assert not np.array_equal(network.parameters["0.bias"], network.views(before)["0.bias"])
    grid = np.linspace(-1.5, 1.5, 3001)
    bends = np.abs(np.diff(network.forward(grid[:, None]).ravel(), 2)) > 1e-9
    kinks = -network.parameters["0.bias"] / network.parameters["0.weight"][0]
    nearest = np.abs(grid[1:-1][bends][:, None] - kinks).min(axis=1)
    assert nearest.max(initial=0.0) <= 2e-3 and np.flatnonzero(np.diff(np.flatnonzero(bends)) > 1).size + 1 <= 6
