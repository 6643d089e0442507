"""Layers of filters that slide over images."""

from __future__ import annotations

import math

from qed.base.errors import InputError
from qed.neural.engine.convolution import Convolve
from qed.neural.engine.node import Node, apply
from qed.neural.engine.windows import Pair, Windows, pair
from qed.neural.layers.layer import Layer, Scope, Shape, Weight, image_of, start_named, whole


class Conv2d(Layer):
    """A stack of filters: an activation map for each of them.

    Parameters
    ----------
    filters : int
        How many filters.
    size : int or pair of int
        Their height and width.
    stride : int or pair of int, default=1
        By how many pixels they move.
    padding : int, pair of int or "same", default=0
        How many zeros stand around the image; "same" keeps its size, for odd sizes and stride 1.
    groups : int, default=1
        Into how many groups channels and filters are cut; a filter sees the channels of its group.
    bias : bool, default=True
        Whether each filter has an offset.
    start : {"glorot", "he", "lecun", "zeros", "ones"}, default="he"
        How the weights begin.

    Examples
    --------
    >>> layer = Conv2d(6, 5)
    >>> layer.shape((3, 32, 32)), sum(weight.size for weight in layer.weights((3, 32, 32)).values())
    ((6, 28, 28), 456)
    """

    def __init__(
        self,
        filters: int,
        size: int | Pair,
        *,
        stride: int | Pair = 1,
        padding: int | Pair | str = 0,
        groups: int = 1,
        bias: bool = True,
        start: str = "he",
    ) -> None:
        self.filters, self.bias, self.start = whole(filters, "filters"), bias, start_named(start)
        self.size, self.stride, self.groups = pair(size, "size"), pair(stride, "stride"), whole(groups, "groups")
        if padding == "same":
            self.padding = (self.size[0] // 2, self.size[1] // 2)
        else:
            self.padding = pair(padding, "padding", 0)  # type: ignore[arg-type]
        if self.filters % self.groups:
            raise InputError(f"{self.filters} filters can not be cut into {self.groups} groups.")

    @property
    def windows(self) -> Windows:
        """How the filters slide."""
        return Windows(self.size, self.stride, self.padding)

    def shape(self, given: Shape) -> Shape:
        channels, height, width = image_of(given, "Conv2d")
        if channels % self.groups:
            raise InputError(f"{channels} channels can not be cut into {self.groups} groups.")
        return (self.filters, *self.windows.positions(height, width))

    def weights(self, given: Shape) -> dict[str, Weight]:
        depth = image_of(given, "Conv2d")[0] // self.groups
        area = math.prod(self.size)
        shape = (self.filters, depth, *self.size)
        found = {"weight": Weight(shape, self.start, depth * area, self.filters * area, decays=True)}
        if self.bias:
            found["bias"] = Weight((self.filters,))
        return found

    def run(self, x: Node, scope: Scope) -> Node:
        return apply(Convolve(self.windows, self.groups), x, scope["weight"], *([scope["bias"]] if self.bias else []))

    def products(self, given: Shape) -> int:
        return self.weights(given)["weight"].size * math.prod(self.shape(given)[1:])
