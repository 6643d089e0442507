r"""Receptive fields: how much of the input a unit behind each layer sees.

A unit sees :math:`r` pixels in a row, and its neighbour the same, :math:`j` pixels farther on. A window of :math:`k` units that moves by
:math:`s` sees

.. math:: r' = r + (k - 1)\,j, \qquad j' = s\,j.

Two layers of 3 x 3 filters see 5 x 5 pixels, three of them 7 x 7; the nine times nine that one might count are paths, not pixels, unless
the first of them moves by three. Of branches side by side, the one that sees most counts. Behind a fully connected layer a unit sees all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qed.neural.engine.windows import Pair, Windows
from qed.neural.layers.activation import LocalNorm
from qed.neural.layers.blocks import Chain, Parallel, Residual
from qed.neural.layers.dense import Dense
from qed.neural.layers.layer import Layer, Shape
from qed.neural.layers.pooling import GlobalAvgPool2d


@dataclass(frozen=True)
class Field:
    """What a unit sees: the height and width of its field, and how far the field of its neighbour is from it."""

    size: Pair = (1, 1)
    jump: Pair = (1, 1)

    def through(self, windows: Windows) -> Field:
        """Give the field of units that see these through a window."""
        size = tuple(r + (k - 1) * j for r, k, j in zip(self.size, windows.size, self.jump, strict=True))
        jump = tuple(j * s for j, s in zip(self.jump, windows.stride, strict=True))
        return Field((size[0], size[1]), (jump[0], jump[1]))

    def joined(self, other: Field) -> Field:
        """Give the field of units that see what units of either kind see; both are centred at the same place."""
        return Field((max(self.size[0], other.size[0]), max(self.size[1], other.size[1])), self.jump)


def receptive_fields(layers: Iterable[Layer], input_shape: Shape) -> list[Field]:
    """Give the field of a unit behind each layer.

    Parameters
    ----------
    layers : iterable of Layer
        The layers in order.
    input_shape : tuple of int
        (channels, height, width), or the number of columns, which is an image of one line.

    Examples
    --------
    >>> from qed.neural import Conv2d
    >>> [field.size for field in receptive_fields([Conv2d(8, 3)] * 3, (1, 28, 28))]
    [(3, 3), (5, 5), (7, 7)]
    """
    whole: Pair = (1, input_shape[0]) if len(input_shape) == 1 else (input_shape[1], input_shape[2])
    found, field = [], Field()
    for layer in layers:
        field = _through(field, layer, whole)
        found.append(field)
    return found


def _through(field: Field, layer: Layer, whole: Pair) -> Field:
    if isinstance(layer, (Dense, GlobalAvgPool2d)):
        return Field(whole, whole)
    if isinstance(layer, Chain):
        for inner in layer.layers:
            field = _through(field, inner, whole)
        return field
    if isinstance(layer, (Parallel, Residual)):
        first, *others = (_through(field, inner, whole) for _, inner in layer.parts())
        for other in others:
            first = first.joined(other)
        return first
    windows = getattr(layer, "windows", None)
    return field if windows is None or isinstance(layer, LocalNorm) else field.through(windows)
