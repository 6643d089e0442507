"""Filters, the share of silent units, and rows as a network sees them before it decides."""

from __future__ import annotations

import numpy as np

from qed.base.errors import InputError
from qed.neural.engine.node import Array
from qed.neural.layers.convolution import Conv2d
from qed.neural.layers.dense import Dense, Flatten
from qed.neural.network import Network

# What is no more than this share of a layer's largest activation counts as silent.
SILENT = 1e-7


def first_filters(network: Network) -> Array:
    """Give the filters of the first layer, which are images themselves: of shape (filters, channels, height, width).

    Filters of later layers look at maps and not at pixels, and are no images.

    Parameters
    ----------
    network : Network
        Its first layer has to be one of filters.
    """
    if not network.layers or not isinstance(network.layers[0], Conv2d):
        raise InputError("The first layer is not one of filters, so there are no images to show: take a Conv2d.")
    return network.parameters["0.weight"].copy()


def sparsity(network: Network, X: Array) -> dict[str, float]:
    """Give the share of units of each layer that are silent, on average over rows; rectified units grow more silent with depth.

    Parameters
    ----------
    network : Network
        The network.
    X : array
        Rows.
    """
    found = {}
    for name, value in network.activations(X).items():
        size = np.abs(value)
        found[name] = float((size <= SILENT * size.max(initial=0.0)).mean())
    return found


def features(network: Network, X: Array, layer: str | None = None) -> Array:
    """Give rows as they come out of a layer, as rows of numbers: what to look for nearest neighbours in.

    Parameters
    ----------
    network : Network
        The network.
    X : array
        Rows.
    layer : str, optional
        The name of a layer; where none is given, the last before the first fully connected one.

    Examples
    --------
    >>> from qed.neural import Activation, Conv2d, MaxPool2d
    >>> network = Network([Conv2d(4, 3), Activation("relu"), MaxPool2d(2), Flatten(), Dense(2)], (1, 8, 8))
    >>> features(network, np.zeros((5, 1, 8, 8))).shape
    (5, 36)
    """
    if layer is None:
        ends = [number for number, one in enumerate(network.layers) if isinstance(one, (Dense, Flatten))]
        if not ends or ends[0] == 0:
            raise InputError("No layer stands before the first fully connected one: say which layer to look at.")
        layer = str(ends[0] - 1)
    activations = network.activations(X)
    if layer not in activations:
        raise InputError(f"There is no layer {layer!r}: take one of {', '.join(activations)}.")
    return activations[layer].reshape(len(activations[layer]), -1)
