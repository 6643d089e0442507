"""Slopes compared with complex steps.

:math:`\\partial f / \\partial w = \\Im f(w + ih) / h` has no difference in which digits cancel, so :math:`h` may be tiny, and no kink of an
activation lies between two ends.

Squire and Trapp (1998), Using complex variables to estimate derivatives of real functions.
"""

from __future__ import annotations

import numpy as np

from qed.base.random import generator
from qed.neural.engine.node import Array, gradients
from qed.neural.network import Network

# How many weights of each layer are compared, and how far they are moved.
COMPARED, STEP = 3, 1e-100
AT_REST = 1e-4


def complex_steps_off(network: Network, X: Array, y: Array, weight: Array) -> float:
    """Give the largest difference between slopes and complex steps in a few weights, over the size of the slopes of their layer.

    Where training has come to rest, slopes are what is left of terms that cancel, and as good as the terms are: a layer's size is that of
    its largest slope, or a share `AT_REST` of what it would be if no term had cancelled.
    """
    total = max(float(weight.sum()), 1e-300)
    _, gradient = network.gradient(X, y, weight, total=total)
    apart = _uncancelled(network, X, y, weight / total)
    worst, at = 0.0, 0
    for name, shape in network.weights.items():
        if not shape.trained:
            continue
        part = gradient[at : at + shape.size]
        scale = max(float(np.abs(part).max(initial=0.0)), AT_REST * float(np.abs(apart[name]).max(initial=0.0)), 1e-300)
        steepest = int(np.abs(part).argmax())
        for k in {steepest, *generator(0, "compared", name).integers(shape.size, size=COMPARED - 1).tolist()}:
            moved = network.vector.astype(np.complex128)
            moved[at + k] += 1j * STEP
            run = network.run(X.astype(np.complex128), vector=moved)
            slope = float(network.loss_of(run, y, weight, total).value.imag) / STEP
            worst = max(worst, abs(slope - float(part[k])) / scale)
        at += shape.size
    return worst if np.isfinite(network.vector).all() else np.inf


def _uncancelled(network: Network, X: Array, y: Array, share: Array) -> dict[str, Array]:
    """Give the slopes that there would be if what comes out were off by its own size, or the target's, to the same side."""
    run = network.run(X)
    out = run.output
    size = float(np.abs(out.value).max(initial=1.0))
    if np.asarray(y).dtype.kind == "f":
        size = max(size, float(np.abs(y).max(initial=0.0)))
    seed = np.broadcast_to((size * share).reshape(-1, *(1,) * (out.value.ndim - 1)), out.shape)
    return dict(zip(run.weights, gradients(out, list(run.weights.values()), seed=seed), strict=True))
