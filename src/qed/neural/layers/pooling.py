"""Pooling layers: the largest or the mean value of windows, of channels, or of whole images."""

from __future__ import annotations

from abc import abstractmethod

from qed.base.errors import InputError, ParameterError
from qed.neural.engine.node import Node, Operation, apply
from qed.neural.engine.pooling import AveragePool, ChannelPool, MaxPool
from qed.neural.engine.shaping import Reshape
from qed.neural.engine.windows import Pair, Windows, pair
from qed.neural.layers.layer import Layer, Scope, Shape, image_of, whole


class _Pool(Layer):
    """Pooling over windows."""

    def __init__(self, size: int | Pair = 2, *, stride: int | Pair | None = None, padding: int | Pair = 0) -> None:
        self.size = pair(size, "size")
        self.stride = self.size if stride is None else pair(stride, "stride")
        self.padding = pair(padding, "padding", 0)

    @property
    def windows(self) -> Windows:
        """How the window slides."""
        return Windows(self.size, self.stride, self.padding)

    def shape(self, given: Shape) -> Shape:
        channels, height, width = image_of(given, type(self).__name__)
        return (channels, *self.windows.positions(height, width))

    def run(self, x: Node, scope: Scope) -> Node:
        return apply(self._operation(), x)

    @abstractmethod
    def _operation(self) -> Operation:
        """Give what is done to the windows."""


class MaxPool2d(_Pool):
    """The largest value of each window.

    Parameters
    ----------
    size : int or pair of int, default=2
        Height and width of the window.
    stride : int or pair of int, optional
        By how much it moves; as much as it is large where not given.
    padding : int or pair of int, default=0
        The border around the image, which is never the largest.
    """

    def _operation(self) -> Operation:
        return MaxPool(self.windows)


class AvgPool2d(_Pool):
    """The mean of each window.

    Parameters
    ----------
    size : int or pair of int, default=2
        Height and width of the window.
    stride : int or pair of int, optional
        By how much it moves; as much as it is large where not given.
    padding : int or pair of int, default=0
        The border of zeros around the image, which is counted.
    """

    def _operation(self) -> Operation:
        return AveragePool(self.windows)


class ChannelPool2d(Layer):
    """The largest or mean value of channels that follow each other, at each place.

    Parameters
    ----------
    group : int
        How many channels become one.
    kind : {"max", "mean"}, default="max"
        What is made of them.
    """

    def __init__(self, group: int, kind: str = "max") -> None:
        if kind not in ("max", "mean"):
            raise ParameterError(f"kind must be 'max' or 'mean', not {kind!r}.")
        self.group, self.kind = whole(group, "group"), kind

    def shape(self, given: Shape) -> Shape:
        channels, height, width = image_of(given, "ChannelPool2d")
        if channels % self.group:
            raise InputError(f"{channels} channels can not be cut into groups of {self.group}.")
        return channels // self.group, height, width

    def run(self, x: Node, scope: Scope) -> Node:
        return apply(ChannelPool(self.group, self.kind), x)


class GlobalAvgPool2d(Layer):
    """The mean of each channel over the whole image: a row of as many numbers as there are channels."""

    def shape(self, given: Shape) -> Shape:
        return (image_of(given, "GlobalAvgPool2d")[0],)

    def run(self, x: Node, scope: Scope) -> Node:
        size = x.shape[2], x.shape[3]
        return apply(Reshape((x.shape[1],)), apply(AveragePool(Windows(size, size)), x))
