"""A unit of a network, by the name of its layer and its place there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.errors import InputError
from qed.neural.engine.node import Array, Node
from qed.neural.network import Run


@dataclass(frozen=True)
class Unit:
    """One number that a network calculates for each row.

    Examples
    --------
    >>> from qed.neural import Dense, Network
    >>> run = Network([Dense(3)], 2).run(np.zeros((4, 2)))
    >>> Unit("0", (2,)).values(run).shape
    (4,)
    """

    layer: str  # the name of the layer, such as "3", or "4.0.inside.2" inside blocks
    place: tuple[int, ...]  # (channel, row, column) of a map, or the number of a neuron

    def node(self, run: Run) -> Node:
        """Find what came out of the layer."""
        if self.layer not in run.layers:
            raise InputError(f"There is no layer {self.layer!r}: take one of {', '.join(run.layers)}.")
        node = run.layers[self.layer]
        inside = len(self.place) == node.value.ndim - 1 and all(
            0 <= at < size for at, size in zip(self.place, node.shape[1:], strict=True)
        )
        if not inside:
            raise InputError(f"Layer {self.layer} gives {node.shape[1:]} for a row: there is no place {self.place}.")
        return node

    @property
    def _index(self) -> tuple[slice | int, ...]:
        return (slice(None), *self.place)

    def values(self, run: Run) -> Array:
        """Give its activation for each row."""
        return np.asarray(self.node(run).value[self._index])

    def alone(self, run: Run, values: Array | float = 1.0) -> Array:
        """Give an array like what came out of the layer, zero but at this unit."""
        found = np.zeros_like(self.node(run).value)
        found[self._index] = values
        return found
