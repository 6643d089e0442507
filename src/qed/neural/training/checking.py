"""Slopes compared with complex steps.

:math:`\\partial f / \\partial w = \\Im f(w + ih) / h` has no difference in which digits cancel, so :math:`h` may be tiny, and no kink of an
activation lies between two ends.

Squire and Trapp (1998), Using complex variables to estimate derivatives of real functions.
"""

from __future__ import annotations

import numpy as np

from qed.base.random import generator
from qed.neural.engine.node import Array
from qed.neural.network import Network

# How many weights of each layer are compared, and how far they are moved.
COMPARED, STEP = 3, 1e-100


def complex_steps_off(network: Network, X: Array, y: Array, weight: Array) -> float:
    """Give the largest difference between slopes and complex steps in a few weights, over the largest slope of their layer."""
    total = max(float(weight.sum()), 1e-300)
    _, gradient = network.gradient(X, y, weight, total=total)
    worst, at = 0.0, 0
    for name, shape in network.weights.items():
        if not shape.trained:
            continue
        part = gradient[at : at + shape.size]
        scale = max(float(np.abs(part).max(initial=0.0)), 1e-300)
        steepest = int(np.abs(part).argmax())
        for k in {steepest, *generator(0, "compared", name).integers(shape.size, size=COMPARED - 1).tolist()}:
            moved = network.vector.astype(np.complex128)
            moved[at + k] += 1j * STEP
            run = network.run(X.astype(np.complex128), vector=moved)
            slope = float(network.loss_of(run, y, weight, total).value.imag) / STEP
            worst = max(worst, abs(slope - float(part[k])) / scale)
        at += shape.size
    return worst if np.isfinite(network.vector).all() else np.inf
