r"""Universal approximation, written down: weights of one hidden layer that come as near to a continuous function as one likes.

Cut the interval into k equal pieces, at :math:`t_0 < t_1 < \dots`.

* **Steps**: on each piece the middle between the least and the largest value of f; every unit is a step at an edge and counts the jump
  there. The error is half the range of f on a piece, at most :math:`K (t_1 - t_0) / 2` where the slope of f is at most K.
* **Sigmoids**: the same steps, rounded: :math:`s(4k(x - t_j) / (t_k - t_0))`.
* **Hinges**: the straight lines between the values at the edges; every unit is a rectified one that counts the change of slope at an edge.
  The error is at most :math:`\max |f''| (t_1 - t_0)^2 / 8`.

The theorem says that weights exist for every error above zero. It says neither how many units are needed in more dimensions nor that
training finds them. Its usual proof asks for a bounded activation, which the rectified one is not: two of them make one that is.

Cybenko (1989), Approximation by superpositions of a sigmoidal function; Hornik (1991).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qed.base.errors import ParameterError
from qed.neural.constructions.one_hidden import hidden_layer
from qed.neural.engine.node import Array
from qed.neural.network import Network

Function = Callable[[Array], Array]
# So many points of a piece are looked at for its least and largest value.
LOOKED_AT = 1025


def step_network(function: Function, pieces: int, low: float = 0.0, high: float = 1.0) -> Network:
    """Give the network of steps.

    Parameters
    ----------
    function : callable
        The function, of an array.
    pieces : int
        Into how many pieces the interval is cut; there is a unit for each edge inside.
    low, high : float
        The ends of the interval.

    Examples
    --------
    >>> from qed.neural.constructions import largest_error
    >>> wave = lambda x: np.sin(2 * np.pi * x)
    >>> round(largest_error(step_network(wave, 10), wave), 4)
    0.2939
    """
    edges, levels = _levels(function, pieces, low, high)
    return hidden_layer(-edges[1:-1], np.ones(pieces - 1), np.diff(levels), "step", levels[0])


def sigmoid_network(function: Function, pieces: int, low: float = 0.0, high: float = 1.0) -> Network:
    """Give the network of rounded steps.

    Parameters
    ----------
    function : callable
        The function, of an array.
    pieces : int
        Into how many pieces the interval is cut; there is a unit for each edge inside.
    low, high : float
        The ends of the interval.
    """
    edges, levels = _levels(function, pieces, low, high)
    steepness = 4 * pieces / (high - low)
    return hidden_layer(
        -steepness * edges[1:-1], np.full(pieces - 1, steepness), np.diff(levels), "logistic", levels[0]
    )


def relu_network(function: Function, pieces: int, low: float = 0.0, high: float = 1.0) -> Network:
    """Give the network of hinges, which is the function at every edge and straight between them.

    Parameters
    ----------
    function : callable
        The function, of an array.
    pieces : int
        Into how many pieces the interval is cut; there is a unit for each of them.
    low, high : float
        The ends of the interval.

    Examples
    --------
    >>> from qed.neural.constructions import largest_error
    >>> round(largest_error(relu_network(np.square, 10), np.square), 6)
    0.0025
    """
    edges = _edges(pieces, low, high)
    values = np.asarray(function(edges), dtype=np.float64)
    slopes = np.diff(values) / np.diff(edges)
    return hidden_layer(-edges[:-1], np.ones(pieces), np.diff(slopes, prepend=0.0), "relu", values[0])


def _edges(pieces: int, low: float, high: float) -> Array:
    if pieces < 1 or not low < high:
        raise ParameterError(f"pieces={pieces!r} of [{low!r}, {high!r}]: ask for at least one, of an interval.")
    return np.linspace(low, high, pieces + 1)


def _levels(function: Function, pieces: int, low: float, high: float) -> tuple[Array, Array]:
    """Give the edges, and the middle between the least and largest value of each piece."""
    edges = _edges(pieces, low, high)
    inside = edges[:-1, None] + np.diff(edges)[:, None] * np.linspace(0.0, 1.0, LOOKED_AT)
    values = np.asarray(function(inside.ravel()), dtype=np.float64).reshape(inside.shape)
    return edges, (values.min(axis=1) + values.max(axis=1)) / 2
