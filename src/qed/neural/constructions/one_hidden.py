r"""One hidden layer with the weights that one says,

.. math:: h(x) = c_0 + \sum_{j=1}^k c_j\,\sigma(a_j + b_j^\top x).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qed.neural.engine.node import Array
from qed.neural.layers.activation import Activation
from qed.neural.layers.dense import Dense
from qed.neural.network import Network


def hidden_layer(a: Array, b: Array, c: Array, activation: str, constant: float = 0.0) -> Network:
    """Give the network of one hidden layer with these weights, in double precision.

    Parameters
    ----------
    a : array of shape (k,)
        The offsets of the units.
    b : array of shape (k,) or (k, d)
        Their weights for each input.
    c : array of shape (k,)
        What each unit counts.
    activation : str
        What a unit makes of its sum, such as "step", "relu" or "logistic".
    constant : float, default=0
        What is added to the sum.

    Examples
    --------
    >>> network = hidden_layer([0.0, 1.0], [1.0, -1.0], [2.0, 3.0], "relu")
    >>> network.forward(np.array([[2.0]])).ravel()
    array([4.])
    """
    a, c = np.asarray(a, dtype=np.float64), np.asarray(c, dtype=np.float64)
    b = np.asarray(b, dtype=np.float64).reshape(len(a), -1)
    layers = [Dense(len(a)), Activation(activation), Dense(1)]
    network = Network(layers, b.shape[1], loss="squared_error", dtype=np.float64)
    for name, value in (("0.weight", b.T), ("0.bias", a), ("2.weight", c[:, None]), ("2.bias", constant)):
        network.parameters[name][...] = value
    return network


def largest_error(
    network: Network, function: Callable[[Array], Array], low: float = 0.0, high: float = 1.0, points: int = 100_001
) -> float:
    """Give the largest difference of a network of one input from a function, on a dense grid.

    Parameters
    ----------
    network : Network
        One input, one output.
    function : callable
        The function, of an array.
    low, high : float
        The ends of the interval.
    points : int, default=100001
        How many points the grid has.
    """
    x = np.linspace(low, high, points)
    return float(np.abs(network.forward(x[:, None]).ravel() - function(x)).max())
