"""Fully connected layers, and what stands before them."""

from __future__ import annotations

import math

from qed.base.errors import InputError
from qed.neural.engine.dense import Affine
from qed.neural.engine.node import Node, apply
from qed.neural.engine.shaping import Reshape
from qed.neural.layers.layer import Layer, Scope, Shape, Weight, columns_of, start_named, whole


class Dense(Layer):
    """Every output sees every input: ``X @ weight + bias``.

    Parameters
    ----------
    outputs : int
        How many neurons.
    bias : bool, default=True
        Whether each has an offset.
    start : {"glorot", "he", "lecun", "zeros", "ones"}, default="glorot"
        How the weights begin.

    Examples
    --------
    >>> layer = Dense(3)
    >>> layer.shape((4,)), sum(weight.size for weight in layer.weights((4,)).values())
    ((3,), 15)
    """

    def __init__(self, outputs: int, *, bias: bool = True, start: str = "glorot") -> None:
        self.outputs, self.bias, self.start = whole(outputs, "outputs"), bias, start_named(start)

    def shape(self, given: Shape) -> Shape:
        columns_of(given, "Dense")
        return (self.outputs,)

    def weights(self, given: Shape) -> dict[str, Weight]:
        inputs = columns_of(given, "Dense")
        found = {"weight": Weight((inputs, self.outputs), self.start, inputs, self.outputs, decays=True)}
        if self.bias:
            found["bias"] = Weight((self.outputs,))
        return found

    def run(self, x: Node, scope: Scope) -> Node:
        return apply(Affine(), x, scope["weight"], *([scope["bias"]] if self.bias else []))

    def products(self, given: Shape) -> int:
        return columns_of(given, "Dense") * self.outputs


class Flatten(Layer):
    """Images as rows of numbers: channel by channel, line by line."""

    def shape(self, given: Shape) -> Shape:
        return (math.prod(given),)

    def run(self, x: Node, scope: Scope) -> Node:
        return apply(Reshape((math.prod(x.shape[1:]),)), x)


class Unflatten(Layer):
    """Rows of numbers as images.

    Parameters
    ----------
    image : tuple of int
        The shape, such as ``(1, 8, 8)``.
    """

    def __init__(self, image: Shape) -> None:
        self.image = tuple(whole(size, "image") for size in image)

    def shape(self, given: Shape) -> Shape:
        if math.prod(given) != math.prod(self.image):
            raise InputError(f"{math.prod(given)} numbers do not fill an image of shape {self.image}.")
        return self.image

    def run(self, x: Node, scope: Scope) -> Node:
        return apply(Reshape(self.image), x)
