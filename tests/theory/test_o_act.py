"""O-ACT, O-NEURON: activations with their values, and the rule of a single neuron."""

import numpy as np
import pytest

from qed.neural import Dense, Network, train
from qed.neural.engine import Node, activation, apply, gradients

Z = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
VALUES = {
    "heaviside": [0, 0, 0.5, 1, 1],
    "step": [0, 0, 0, 1, 1],
    "sign": [-1, -1, 0, 1, 1],
    "identity": Z,
    "piecewise_linear": [0, 0, 0.5, 1, 1],
    "logistic": 1 / (1 + np.exp(-Z)),
    "tanh": np.tanh(Z),
    "relu": [0, 0, 0, 0.5, 1],
    "leaky_relu": [-0.01, -0.005, 0, 0.5, 1],
}
SLOPES = {
    "heaviside": [0, 0],
    "step": [0, 0],
    "sign": [0, 0],
    "identity": [1, 1],
    "piecewise_linear": [1, 1],
    "logistic": [VALUES["logistic"][1] * VALUES["logistic"][3]] * 2,
    "tanh": [1 - np.tanh(0.25) ** 2] * 2,
    "relu": [0, 1],
    "leaky_relu": [0.01, 1],
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    np.testing.assert_allclose(activation(name).forward(Z), VALUES[name], atol=1e-15)


@pytest.mark.parametrize("name", SLOPES)
def test_slopes(name):
    z = Node(np.array([-0.25, 0.25]))
    if name == "logistic":
        s = 1 / (1 + np.exp(-0.25))
        expected = [s * (1 - s)] * 2
    else:
        expected = SLOPES[name]
    np.testing.assert_allclose(gradients(apply(activation(name), z), [z])[0], expected, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("heaviside", 0, 1), ("sign", -1, 1), ("piecewise_linear", 0, 1), ("logistic", 0, 1), ("tanh", -1, 1)],
)
def test_ranges(name, low, high):
    found = activation(name).forward(np.linspace(-50, 50, 1001))
    assert found.min() >= low and found.max() <= high


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_one_rule_for_a_line_with_squares_and_a_curve_with_cross_entropy(loss):
    """The slope of row i is (y - r) x_i in both cases."""
    rng = np.random.default_rng(0)
    X, r = rng.normal(size=(6, 3)), rng.integers(0, 2, 6).astype(float)
    neuron = Network([Dense(1)], 3, loss=loss, dtype=np.float64)
    neuron.vector[:] = rng.normal(size=4)
    out = neuron.forward(X)[:, 0]
    y = out if loss == "squared_error" else 1 / (1 + np.exp(-out))
    slopes = neuron.gradients(X, r)
    np.testing.assert_allclose(slopes["0.weight"][:, 0], X.T @ (y - r) / 6, rtol=1e-12)
    np.testing.assert_allclose(slopes["0.bias"][0], (y - r).mean(), rtol=1e-12)


def test_a_step_of_all_rows_is_the_sum_of_steps_of_single_rows_from_the_same_weights():
    rng = np.random.default_rng(0)
    X, r = rng.normal(size=(5, 2)), rng.normal(size=5)
    neuron = Network([Dense(1)], 2, loss="squared_error", dtype=np.float64)
    whole = 5 * neuron.gradient(X, r)[1]
    each = sum(neuron.gradient(X[[i]], r[[i]])[1] for i in range(5))
    np.testing.assert_allclose(whole, each, rtol=1e-12)


@pytest.mark.parametrize("batch", [1, 4, 20])
def test_an_epoch_visits_each_row_once(batch):
    """On-line, in batches or all at once: as many updates as there are batches."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    neuron = Network([Dense(1)], 2, loss="squared_error", dtype=np.float64)
    found = train(neuron, X, X @ [1.0, -2.0], update="sgd", batch=batch, epochs=3, learning_rate=0.05)
    assert found.ending.step.updates == 3 * 20 // batch and found.ending.step.visited == 60
