"""Concepts: which units answer to something that rows have or lack, such as a stroke at the left.

Bau et al. (2017), Network dissection, in its simplest form: the correlation of a unit with a concept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.errors import InputError
from qed.neural.engine.node import Array
from qed.neural.network import Network
from qed.neural.seeing.units import Unit


@dataclass(frozen=True)
class Concept:
    """A unit and its correlation with a concept."""

    unit: Unit
    correlation: float


def concept_units(network: Network, X: Array, concept: Array, layer: str, *, most: int = 5) -> list[Concept]:
    """Give the units of a layer that are correlated most with a concept, the strongest first.

    Parameters
    ----------
    network : Network
        The network.
    X : array
        Rows.
    concept : array of shape (n,)
        What is known of each row: yes or no, or a number.
    layer : str
        The name of the layer. Maps are averaged: a unit is then a channel, at no place in particular.
    most : int, default=5
        How many units.

    Examples
    --------
    >>> from qed.neural import Dense
    >>> X = np.eye(3)
    >>> network = Network([Dense(2)], 3)
    >>> network.parameters["0.weight"][...] = [[0, 1], [0, 0], [1, 0]]
    >>> found, *_ = concept_units(network, X, [True, False, False], "0")
    >>> found.unit.place, round(found.correlation, 6)
    ((1,), 1.0)
    """
    known = np.asarray(concept, dtype=np.float64)
    activations = network.activations(X)
    if layer not in activations:
        raise InputError(f"There is no layer {layer!r}: take one of {', '.join(activations)}.")
    values = activations[layer].astype(np.float64)
    if known.shape != (len(values),):
        raise InputError(f"concept has shape {known.shape}, but there are {len(values)} rows: give one value for each.")
    values = values.mean(axis=tuple(range(2, values.ndim)))
    values, known = values - values.mean(axis=0), known - known.mean()
    size = np.linalg.norm(values, axis=0) * np.linalg.norm(known)
    together = known @ values
    correlation = np.divide(together, size, out=np.zeros_like(together), where=size > 0)
    order = np.argsort(-np.abs(correlation), kind="stable")[:most]
    return [Concept(Unit(layer, (int(unit),)), float(correlation[unit])) for unit in order]
