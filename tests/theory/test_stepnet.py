"""STEPNET: steps make any piecewise constant function, and gradient descent never moves them."""

import numpy as np
import pytest

from qed.neural.constructions import hidden_layer, largest_error, step_network


def test_slopes_of_the_example():
    network = hidden_layer([0.0, 1.0], [1.0, -1.0], [2.0, 3.0], "step")
    X, y = np.array([[2.0]]), np.array([5.0])
    assert network.forward(X) == 2.0
    # The network's loss is half a mean of squares, the text's a sum.
    found = {name: 2 * slope.ravel() for name, slope in network.gradients(X, y).items()}
    assert found["2.weight"].tolist() == [-6.0, 0.0]
    assert not found["0.bias"].any() and not found["0.weight"].any()


@pytest.mark.parametrize(("a", "b", "c"), [(-0.5, 1.0, 1.0), (0.5, -1.0, 1.0), (1.0, 2.0, -3.0)])
def test_a_unit_is_a_step_that_is_moved_flipped_and_scaled(a, b, c):
    x = np.array([-2.0, -0.6, -0.4, 0.4, 0.6, 2.0])
    found = hidden_layer([a], [b], [c], "step").forward(x[:, None]).ravel()
    assert found.tolist() == [c if (v > -a / b if b > 0 else v < -a / b) else 0.0 for v in x]


def test_training_leaves_the_steps_bit_for_bit_and_silent_units_alone():
    draws = np.random.default_rng(0)
    a, b = draws.standard_normal(6), draws.standard_normal(6)
    a[0], b[0] = -9.0, 1.0  # silent on all rows
    network, X = hidden_layer(a, b, draws.standard_normal(6), "step"), draws.uniform(-1, 1, (40, 1))
    y, before = np.sin(3 * X[:, 0]), network.vector.copy()
    losses = []
    for _ in range(50):
        loss, slope = network.gradient(X, y)
        network.vector -= 0.1 * slope
        losses.append(loss)
    inner = network.views(before)
    assert losses[-1] < losses[0]
    assert np.array_equal(network.parameters["0.weight"], inner["0.weight"])
    assert np.array_equal(network.parameters["0.bias"], inner["0.bias"])
    assert network.parameters["2.weight"][0] == inner["2.weight"][0]


@pytest.mark.parametrize("pieces", [3, 10, 40])
def test_the_error_of_a_function_of_bounded_slope_is_half_of_what_it_moves_on_a_piece(pieces):
    def wave(x):
        return np.abs(x - 0.4) + np.sin(5 * x)

    steepest, width = 6.0, 1 / pieces
    assert largest_error(step_network(wave, pieces), wave) <= steepest * width / 2


def test_units_are_jumps_at_the_edges():
    network = step_network(np.square, 4)
    edges = -network.parameters["0.bias"] / network.parameters["0.weight"][0]
    assert edges.tolist() == [0.25, 0.5, 0.75]
    # Middles of the ranges of x^2 on the quarters.
    assert network.forward(np.array([[0.1], [0.3], [0.6], [0.9]])).ravel().tolist() == [
        1 / 32,
        5 / 32,
        13 / 32,
        25 / 32,
    ]
