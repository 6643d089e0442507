"""Saliency: which pixels a unit answers to, by the derivative of its activation.

Simonyan, Vedaldi and Zisserman (2014), Deep inside convolutional networks.
"""

from __future__ import annotations

import numpy as np

from qed.neural.engine.node import Array, gradients
from qed.neural.network import Network
from qed.neural.seeing.units import Unit


def saliency(network: Network, X: Array, unit: Unit) -> Array:
    """Give the derivative of a unit by every pixel of every row.

    Parameters
    ----------
    network : Network
        The network.
    X : array
        Rows.
    unit : Unit
        Which unit.

    Examples
    --------
    >>> from qed.neural import Dense
    >>> network = Network([Dense(2)], 3)
    >>> bool(np.allclose(saliency(network, np.ones((1, 3)), Unit("0", (1,))), network.parameters["0.weight"][:, 1]))
    True
    """
    run = network.run(X, wants_input=True)
    return gradients(unit.node(run), [run.input], seed=unit.alone(run))[0]


def seen_pixels(network: Network, X: Array, unit: Unit) -> Array:
    """Say which pixels move a unit for any of the rows: its receptive field, found and not calculated.

    Parameters
    ----------
    network : Network
        The network.
    X : array
        Rows. With weights and rows that are nothing special, no derivative inside the field vanishes.
    unit : Unit
        Which unit.

    Returns
    -------
    ndarray of bool
        Of the shape of one row, all channels taken together for images.
    """
    moved = (saliency(network, X, unit) != 0).any(axis=0)
    return np.asarray(moved.any(axis=0) if moved.ndim == 3 else moved)
