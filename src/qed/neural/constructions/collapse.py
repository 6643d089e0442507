r"""A network without activations is one linear map, however deep.

.. math:: W_L(\cdots(W_1 x + b_1)\cdots) + b_L = \tilde W x + \tilde b, \qquad \tilde W = W_L \cdots W_1.

Its rank is at most the width of the narrowest layer: depth adds nothing but a bottleneck, and no such network tells the two
classes of an exclusive or apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.errors import InputError
from qed.neural.engine.node import Array
from qed.neural.layers.activation import Activation, Dropout
from qed.neural.layers.dense import Dense, Flatten
from qed.neural.network import Network


@dataclass(frozen=True, eq=False)
class Collapsed:
    """The one linear map that a network is: ``X @ weight + bias``."""

    weight: Array  # (inputs, outputs)
    bias: Array  # (outputs,)
    narrowest: int  # the least number of units in a layer, input and output included

    def __call__(self, X: Array) -> Array:
        return np.asarray(np.asarray(X).reshape(len(X), -1) @ self.weight + self.bias)

    @property
    def rank(self) -> int:
        """The rank of the weights, which is at most `narrowest`."""
        return int(np.linalg.matrix_rank(self.weight))


def collapse(network: Network) -> Collapsed:
    """Multiply the layers of a linear network out.

    Parameters
    ----------
    network : Network
        Fully connected layers; activations between them must be the identity.

    Examples
    --------
    >>> network = Network([Dense(3), Dense(10)], 10, loss="squared_error", dtype=np.float64)
    >>> collapse(network).rank
    3
    """
    inputs = int(np.prod(network.input_shape))
    weight, bias, narrowest = np.eye(inputs), np.zeros(inputs), inputs
    for number, layer in enumerate(network.layers):
        if isinstance(layer, (Flatten, Dropout)) or (isinstance(layer, Activation) and layer.name == "identity"):
            continue
        if not isinstance(layer, Dense):
            raise InputError(
                f"Layer {number}, {layer!r}, is not linear: only fully connected layers collapse into one."
            )
        own = network.parameters[f"{number}.weight"].astype(np.float64)
        weight, bias = weight @ own, bias @ own
        if layer.bias:
            bias = bias + network.parameters[f"{number}.bias"]
        narrowest = min(narrowest, layer.outputs)
    return Collapsed(weight, bias, narrowest)
