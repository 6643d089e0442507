r"""Code inversion: an image whose features are those of another one.

.. math:: \min_x\ \frac{\|\phi(x) - \phi_0\|^2}{\|\phi_0\|^2} + \lambda\,\frac{\|x\|^2}{\|\phi_0\|^2}.

What the image that is found lacks is what the layer has forgotten. It is found by L-BFGS, whose objective never rises.

Mahendran and Vedaldi (2015), Understanding deep image representations by inverting them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from qed.base.errors import ConvergenceWarning, InputError
from qed.base.random import Seed, generator, seed_of
from qed.neural.engine.node import Array, gradients
from qed.neural.network import Network
from qed.optim.minimize import minimize


@dataclass(frozen=True, eq=False)
class Inversion:
    """An image, the share of its features' squared length that is still off, and the objective after each step."""

    image: Array
    distance: float
    trace: Array


def invert_code(
    network: Network,
    code: Array,
    layer: str,
    *,
    penalty: float = 1e-6,
    start: Array | None = None,
    steps: int = 200,
    random_state: Seed = 0,
) -> Inversion:
    """Look for an image with given features.

    Parameters
    ----------
    network : Network
        The network.
    code : array
        What should come out of the layer, for one row.
    layer : str
        The name of the layer.
    penalty : float, default=1e-6
        The weight of the image's own length.
    start : array of the input's shape, optional
        Where to begin; small draws where it is not given.
    steps : int, default=200
        The most steps.
    random_state : None, int or NumPy generator, default=0
        The seed of the draws.
    """
    code = np.asarray(code, dtype=np.float64).ravel()
    size = float(code @ code)
    if size == 0:
        raise InputError("The code is zero everywhere, as is that of many images: give the features of one.")
    if start is None:
        start = 0.01 * generator(seed_of(random_state), "image").standard_normal(network.input_shape)

    def both(x: Array) -> tuple[float, float, Array]:
        run = network.run(x.reshape(1, *network.input_shape), wants_input=True)
        if layer not in run.layers:
            raise InputError(f"There is no layer {layer!r}: take one of {', '.join(run.layers)}.")
        node = run.layers[layer]
        off = node.value.astype(np.float64).ravel() - code
        back = gradients(node, [run.input], seed=2 * off.reshape(node.shape) / size)[0].astype(np.float64).ravel()
        distance = float(off @ off) / size
        return distance, distance + penalty * float(x @ x) / size, back + 2 * penalty * x / size

    with warnings.catch_warnings():
        # That more steps would bring it nearer is no news, and said by `distance`.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = minimize(lambda x: both(x)[1], np.ravel(start), gradient=lambda x: both(x)[2], max_iter=steps)
    trace = np.array([record["objective"] for record in found.ending.trace])
    return Inversion(found.point.reshape(network.input_shape), both(found.point)[0], trace)
