r"""Slopes compared with complex steps.

.. math:: \langle \nabla f(w), d\rangle = \Im f(w + i h d) / h

has no difference in which digits cancel, so :math:`h` may be tiny, and no kink of an activation lies between two ends. Along a direction
:math:`d` of signs, drawn for each array of weights, all its slopes count alike: one that is wrong shows, whichever it is. What comes
before that array stays real, so the last layers cost little.

Squire and Trapp (1998), Using complex variables to estimate derivatives of real functions.
"""

from __future__ import annotations

import numpy as np

from qed.base.random import generator
from qed.neural.engine.node import Array, gradients
from qed.neural.network import Network

# How far weights are moved.
STEP = 1e-100
AT_REST = 1e-4


def complex_steps_off(network: Network, X: Array, y: Array, weight: Array) -> float:
    """Give the largest difference between slopes and complex steps along a direction of each array, over the length of its slopes.

    Where training has come to rest, slopes are what is left of terms that cancel, and as good as the terms are: the length is that of
    the slopes, or a share `AT_REST` of what it would be if no term had cancelled.
    """
    if not np.isfinite(network.vector).all():
        return np.inf
    total = max(float(weight.sum()), 1e-300)
    found = network.views(network.gradient(X, y, weight, total=total)[1])
    apart, worst = _uncancelled(network, X, y, weight / total), 0.0
    for name, slopes in found.items():
        signs = generator(0, "compared", name).choice([-1.0, 1.0], slopes.shape)
        run = network.run(X, weights=_moved(network.parameters, name, STEP * signs))
        slope = float(network.loss_of(run, y, weight, total).value.imag) / STEP
        length = max(float(np.linalg.norm(slopes)), AT_REST * float(np.linalg.norm(apart[name])), 1e-300)
        worst = max(worst, abs(slope - float((signs * slopes).sum())) / length)
    return worst


def _moved(arrays: dict[str, Array], name: str, by: Array) -> dict[str, Array]:
    """Move one array along the imaginary axis; those of its layer, which are added to what it makes, become complex with it."""
    layer = name.rpartition(".")[0]
    made = {key: value + 0j if key.rpartition(".")[0] == layer else value for key, value in arrays.items()}
    made[name] = made[name] + 1j * by
    return made


def _uncancelled(network: Network, X: Array, y: Array, share: Array) -> dict[str, Array]:
    """Give the slopes that there would be if what comes out were off by its own size, or the target's, to the same side."""
    run = network.run(X)
    out = run.output
    size = float(np.abs(out.value).max(initial=1.0))
    if np.asarray(y).dtype.kind == "f":
        size = max(size, float(np.abs(y).max(initial=0.0)))
    seed = np.broadcast_to((size * share).reshape(-1, *(1,) * (out.value.ndim - 1)), out.shape)
    return dict(zip(run.weights, gradients(out, list(run.weights.values()), seed=seed), strict=True))
