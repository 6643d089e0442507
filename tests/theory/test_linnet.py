"""LINNET: a network of identity activations is one matrix, of a rank no larger than its narrowest layer."""

import numpy as np
import pytest

from qed.base.errors import InputError
from qed.neural import Activation, Dense, Network
from qed.neural.constructions import collapse
from qed.optim import minimize

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0.0, 1.0, 1.0, 0.0])


@pytest.mark.parametrize("widths", [(3, 10), (7, 2, 6, 10), (10, 10)])
def test_the_layers_multiply_out(widths):
    layers = [layer for width in widths for layer in (Dense(width), Activation("identity"))]
    network = Network(layers, 10, loss="squared_error", dtype=np.float64, random_state=1)
    for name in network.parameters:
        network.parameters[name][...] += 0.1
    found, X = collapse(network), np.random.default_rng(0).standard_normal((20, 10))
    # Sums of ten products, as many times as there are layers.
    assert np.allclose(found(X), network.forward(X), rtol=1e-12, atol=1e-12)
    assert found.rank == min(10, *widths) == found.narrowest


def test_ten_to_three_to_ten_has_rank_three():
    assert collapse(Network([Dense(3), Dense(10)], 10, loss="squared_error", dtype=np.float64)).rank == 3


def test_the_rank_is_no_larger_than_that_of_any_layer():
    """Here the narrowest layer has six neurons, and one of the wide ones two independent columns."""
    network = Network([Dense(8), Dense(6), Dense(10)], 10, loss="squared_error", dtype=np.float64, random_state=2)
    weight = network.parameters["0.weight"]
    weight[:, 2:] = weight[:, :2] @ np.random.default_rng(0).standard_normal((2, 6))
    ranks = [np.linalg.matrix_rank(value) for name, value in network.parameters.items() if name.endswith("weight")]
    found = collapse(network)
    assert ranks == [2, 6, 6] and found.rank == 2 < found.narrowest == 6


def trained(hidden):
    """Give the least mean squared error that training finds on an exclusive or."""
    X, y = XOR
    network = Network(
        [Dense(4), Activation(hidden), Dense(1)], 2, loss="squared_error", dtype=np.float64, random_state=3
    )

    def value(w):
        return network.gradient(X, y, vector=w)[0]

    found = minimize(value, network.vector.copy(), gradient=lambda w: network.gradient(X, y, vector=w)[1], tol=1e-7)
    return 2 * found.value


def test_no_linear_network_learns_an_exclusive_or_and_a_bent_one_does():
    # The best plane is the constant 1/2, a quarter off everywhere.
    assert trained("identity") == pytest.approx(0.25, abs=1e-6)
    assert trained("tanh") < 1e-6


def test_a_bent_network_does_not_collapse():
    with pytest.raises(InputError, match="not linear"):
        collapse(Network([Dense(3), Activation("relu"), Dense(1)], 2))
