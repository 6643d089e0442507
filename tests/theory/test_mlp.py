"""MLP, ACT: chains of layers, and the functions between them."""

import numpy as np
import pytest

from qed.neural import Activation, Dense, Network
from qed.neural.engine import Node, activation, apply, gradients


def logistic(z):
    return 1 / (1 + np.exp(-z))


def test_the_composition_is_the_nested_product():
    rng = np.random.default_rng(0)
    network = Network([Dense(4), Activation("tanh"), Dense(3), Activation("logistic"), Dense(2)], 5, dtype=np.float64)
    network.vector[:] = rng.normal(size=network.n_parameters)
    W, X = network.parameters, rng.normal(size=(7, 5))
    inner = np.tanh(X @ W["0.weight"] + W["0.bias"])
    by_hand = logistic(inner @ W["2.weight"] + W["2.bias"]) @ W["4.weight"] + W["4.bias"]
    np.testing.assert_allclose(network.forward(X), by_hand, rtol=1e-13, atol=1e-13)


def test_shapes_follow_the_sizes_of_the_layers():
    network = Network([Dense(3, bias=False), Activation("relu"), Dense(2, bias=False)], 4)
    assert [weight.shape for weight in network.parameters.values()] == [(4, 3), (3, 2)]
    assert network.shapes == [(4,), (3,), (3,), (2,)]


@pytest.mark.parametrize("name", ["identity", "tanh", "relu", "leaky_relu", "sign", "step"])
def test_without_offsets_zero_goes_to_zero(name):
    network = Network([Dense(6, bias=False), Activation(name), Dense(2, bias=False)], 4)
    assert not network.forward(np.zeros((1, 4))).any()


def test_a_constant_column_is_an_offset():
    rng = np.random.default_rng(1)
    plain = Network([Dense(3)], 2, dtype=np.float64)
    plain.vector[:] = rng.normal(size=plain.n_parameters)
    wider = Network([Dense(3, bias=False)], 3, dtype=np.float64)
    wider.parameters["0.weight"][:] = np.vstack([plain.parameters["0.weight"], plain.parameters["0.bias"]])
    X = rng.normal(size=(5, 2))
    np.testing.assert_allclose(plain.forward(X), wider.forward(np.column_stack([X, np.ones(5)])), rtol=1e-14)


def test_softmax_gives_shares_in_the_order_of_its_input():
    z = np.random.default_rng(0).normal(size=(5, 4)) * 3
    shares = activation("softmax").forward(z)
    assert ((shares > 0) & (shares < 1)).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-15)
    assert (shares.argsort(axis=1) == z.argsort(axis=1)).all()
    np.testing.assert_allclose(activation("softmax").forward(z + 100), shares, rtol=1e-12)


def test_every_share_depends_on_every_input():
    z = Node(np.random.default_rng(0).normal(size=(1, 4)))
    out = apply(activation("softmax"), z)
    p = out.value[0]
    jacobian = np.array([gradients(out, [z], seed=np.eye(4)[None, i])[0][0] for i in range(4)])
    np.testing.assert_allclose(jacobian, np.diag(p) - np.outer(p, p), atol=1e-16)
    assert (jacobian != 0).all()


def test_the_logistic_function_and_its_slope():
    z = np.linspace(-5, 5, 11)
    s = activation("logistic").forward(z)
    np.testing.assert_allclose(activation("logistic").forward(-z), 1 - s, atol=1e-15)
    node = Node(z)
    slope = gradients(apply(activation("logistic"), node), [node])[0]
    np.testing.assert_allclose(slope, s * (1 - s), rtol=1e-14)


def test_slopes_of_step_and_positive_part():
    z = Node(np.array([-2.0, -0.1, 0.1, 3.0]))
    assert not gradients(apply(activation("step"), z), [z])[0].any()
    np.testing.assert_array_equal(gradients(apply(activation("relu"), z), [z])[0], [0, 0, 1, 1])
