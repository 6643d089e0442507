"""Deconvolution: from one activation back to the pixels that it stands for.

All other units of the layer are set to zero. On the way back filters are transposed, pooling puts each value where the largest one was, and
rectified units let pass what is positive. What comes out lies inside the receptive field of the unit.

Zeiler and Fergus (2014), Visualizing and understanding convolutional networks.
"""

from __future__ import annotations

import numpy as np

from qed.neural.engine.activations import ReLU
from qed.neural.engine.node import Array, Slopes, gradients, in_order
from qed.neural.network import Network
from qed.neural.seeing.units import Unit


class Rectified(ReLU):
    """A rectified unit that, going back, looks at what comes back and not at what went forward."""

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        return (np.maximum(slope, 0),)


def deconvolve(network: Network, X: Array, unit: Unit) -> Array:
    """Give, for every row, the image that the activation of one unit stands for.

    Parameters
    ----------
    network : Network
        Filters, rectified units and pooling before the unit.
    X : array
        Rows.
    unit : Unit
        Which unit.
    """
    run = network.run(X, wants_input=True)
    last = unit.node(run)
    for node in in_order(last):
        if isinstance(node.operation, ReLU):
            node.operation = Rectified()
    return gradients(last, [run.input], seed=unit.alone(run, unit.values(run)))[0]
