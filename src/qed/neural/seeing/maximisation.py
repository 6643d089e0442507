r"""Activation maximisation: the image, of some length at most, that excites a unit most.

.. math:: \max_x\ a(x) \quad \text{such that} \quad \|x\| \le r.

Steps uphill, each brought back to the ball and halved until the activation rises; so the trace never falls. The end is a local
maximum: another start may find a larger one.

Erhan, Bengio, Courville and Vincent (2009), Visualizing higher-layer features of a deep network.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.errors import ParameterError
from qed.base.random import Seed, generator, seed_of
from qed.neural.engine.node import Array, gradients
from qed.neural.network import Network
from qed.neural.seeing.units import Unit

# A step is halved so often at most.
HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Excitation:
    """An image that excites a unit, and the activation after each step."""

    image: Array
    activation: float
    trace: Array


def maximise_activation(
    network: Network,
    unit: Unit,
    *,
    length: float = 1.0,
    start: Array | None = None,
    steps: int = 100,
    random_state: Seed = 0,
) -> Excitation:
    """Walk uphill on the image.

    Parameters
    ----------
    network : Network
        The network.
    unit : Unit
        Which unit.
    length : float, default=1
        The largest length (root of the sum of squares) of the image.
    start : array of the input's shape, optional
        Where to begin; drawn where it is not given.
    steps : int, default=100
        The most steps; fewer are taken where none leads higher.
    random_state : None, int or NumPy generator, default=0
        The seed of the draws.

    Examples
    --------
    >>> from qed.neural import Dense
    >>> network = Network([Dense(1, bias=False)], 3, dtype=np.float64)
    >>> found, weight = maximise_activation(network, Unit("0", (0,))), network.parameters["0.weight"]
    >>> bool(np.isclose(found.activation, np.linalg.norm(weight)))
    True
    """
    if not length > 0:
        raise ParameterError(f"length must be above 0, not {length!r}.")
    if start is None:
        start = generator(seed_of(random_state), "image").standard_normal(network.input_shape)
    image = _inside(np.asarray(start, dtype=np.float64), length)
    value, slope = _climb(network, unit, image)
    trace, step = [value], 1.0
    for _ in range(steps):
        size = float(np.linalg.norm(slope))
        if size == 0:
            break
        for _ in range(HALVINGS):
            other = _inside(image + step * length * slope / size, length)
            there, ahead = _climb(network, unit, other)
            if there > value:
                break
            step /= 2
        else:
            break
        image, value, slope, step = other, there, ahead, min(2 * step, 1e3)
        trace.append(value)
    return Excitation(image, value, np.array(trace))


def _climb(network: Network, unit: Unit, image: Array) -> tuple[float, Array]:
    run = network.run(image[None], wants_input=True)
    slope = gradients(unit.node(run), [run.input], seed=unit.alone(run))[0][0]
    return float(unit.values(run)[0]), slope.astype(np.float64)


def _inside(image: Array, length: float) -> Array:
    size = float(np.linalg.norm(image))
    return image if size <= length else image * (length / size)
