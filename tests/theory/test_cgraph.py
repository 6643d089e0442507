"""CGRAPH, BACKPROP, BP-FC, BP-ELEM, O-BPEX, O-DNN: derivatives along paths and by back-propagation."""

import numpy as np
import pytest

from qed.neural import Activation, Dense, Network
from qed.neural.engine import Affine, Node, Tally, activation, apply, gradients, path_sum
from qed.neural.engine.node import in_order


def test_two_w_times_w_plus_three():
    w = Node(np.array(1.0))
    loss = (2.0 * w) * (w + 3.0)
    assert loss.value == 8
    assert gradients(loss, [w])[0] == 10
    found = path_sum(loss, w)
    assert found.derivative[0, 0] == 10 and found.paths == 2
    ends = [(2 * v) * (v + 3) for v in (1 + 1e-6, 1 - 1e-6)]
    assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(found.derivative[0, 0], rel=1e-9)


def test_a_chain_of_scalars():
    """y = v w1 w0 x and L = (x2 - y)^2, at x = 2, w0 = 3, w1 = -1, v = 1/2 and a target of one."""
    w0, w1, v = (Node(np.array(value)) for value in (3.0, -1.0, 0.5))
    x1 = w0 * 2.0
    x2 = v * (w1 * x1)
    loss = (x2 - 1.0) ** 2.0
    assert x1.value == 6 and x2.value == -3 and loss.value == 16
    assert [float(slope) for slope in gradients(loss, [v, w1, w0])] == [48, -24, 8]


@pytest.mark.parametrize("depth", [2, 4, 6])
def test_paths_grow_with_the_power_of_the_depth_and_visits_do_not(depth):
    width = 3
    weight = Node(np.array(0.5))
    layer = [weight * 1.0] * width
    for k in range(depth):
        layer = [
            sum((node * (0.1 * (i + j + k) - 0.3) for i, node in enumerate(layer[1:])), layer[0]) for j in range(width)
        ]
    loss = sum(layer[1:], layer[0])
    tally = Tally()
    (slope,) = gradients(loss, [weight], tally=tally)
    found = path_sum(loss, weight)
    assert found.paths == width ** (depth + 1)
    assert found.derivative[0, 0] == pytest.approx(float(slope), rel=1e-12)
    visited = [node for node in in_order(loss) if node.operation is not None and node.trained]
    assert tally.nodes == len(visited), "each node is visited once"
    assert tally.edges <= 2 * len(visited)


def test_backward_of_a_dense_layer():
    rng = np.random.default_rng(0)
    a, W, delta = Node(rng.normal(size=(1, 4))), Node(rng.normal(size=(4, 3))), rng.normal(size=(1, 3))
    to_a, to_W = gradients(apply(Affine(), a, W), [a, W], seed=delta)
    np.testing.assert_allclose(to_W, np.outer(a.value, delta), rtol=1e-14)
    np.testing.assert_allclose(to_a, delta @ W.value.T, rtol=1e-14)
    assert to_W.shape == W.shape


@pytest.mark.parametrize("name", ["logistic", "tanh", "relu"])
def test_backward_of_an_activation(name):
    """What comes back is what came, times the slope there, as central differences have it; no entry is near the kink at zero."""
    rng = np.random.default_rng(0)
    z, upstream = Node(rng.choice([-1, 1], size=8) * rng.uniform(0.1, 3.0, size=8)), rng.normal(size=8)
    operation = activation(name)
    (slope,) = gradients(apply(operation, z), [z], seed=upstream)
    differences = (operation.of(z.value + 1e-5) - operation.of(z.value - 1e-5)) / 2e-5
    # Of third order in the step, and a rounding divided by it: some 1e-10 of numbers near one.
    np.testing.assert_allclose(slope, upstream * differences, rtol=1e-6, atol=1e-9)


def deep():
    layers = [Dense(2), Activation("relu"), Dense(3), Activation("relu"), Dense(1, bias=False)]
    network = Network(layers, 2, loss="squared_error", dtype=np.float64)
    network.vector[:] = np.random.default_rng(4).normal(size=network.n_parameters) + 0.2
    return network


def test_the_network_of_two_two_three_one_has_eighteen_weights():
    network = deep()
    assert network.n_parameters == 18
    assert network.parameters["0.weight"].shape == (2, 2) and network.parameters["2.weight"].shape == (2, 3)


def test_all_slopes_are_those_of_central_differences():
    network = deep()
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    _, gradient = network.gradient(X, y)
    for i in range(18):
        ends = []
        for sign in (1, -1):
            moved = network.vector.copy()
            moved[i] += sign * 1e-6
            ends.append(network.gradient(X, y, vector=moved)[0])
        # A rounding of the loss, some 1e-16, divided by the step.
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(gradient[i], rel=1e-6, abs=1e-9)


def test_the_way_back_reaches_the_first_layer_and_costs_about_what_the_way_forward_costs():
    """The recursion p_t = W_t' (p_(t+1) * slope) goes down to t = 0, whose slopes are those of the first weights."""
    network = deep()
    X, y = np.array([[1.0, 2.0]]), np.array([0.5])
    run = network.run(X)
    loss = network.loss_of(run, y)
    tally = Tally()
    slopes = gradients(loss, list(run.weights.values()), tally=tally)
    assert tally.nodes == sum(node.operation is not None for node in in_order(loss))
    p = (run.output.value - y) @ network.parameters["4.weight"].T
    p = (p * (run.layers["2"].value > 0)) @ network.parameters["2.weight"].T
    p = p * (run.layers["0"].value > 0)
    np.testing.assert_allclose(slopes[0], X.T @ p, rtol=1e-12, atol=1e-14)
