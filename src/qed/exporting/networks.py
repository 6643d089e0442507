"""Networks as ONNX operations, layer by layer, as they predict: nothing is dropped, and normalising is by the running means.

A network calculates in its own precision. Convolutions, means of windows and response normalisation know single precision only in the
runtimes that people have, so a network with one of them is written in single precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import NotAvailableError
from qed.exporting.graph import Graph, onnx
from qed.neural.layers.activation import Activation, BatchNorm, Dropout, LocalNorm
from qed.neural.layers.blocks import Chain, Parallel, Residual
from qed.neural.layers.convolution import Conv2d
from qed.neural.layers.dense import Dense, Flatten, Unflatten
from qed.neural.layers.layer import Layer, Shape
from qed.neural.layers.pooling import AvgPool2d, ChannelPool2d, GlobalAvgPool2d, MaxPool2d
from qed.neural.network import Network

# What has no way in double precision.
SINGLE = (Conv2d, AvgPool2d, GlobalAvgPool2d, LocalNorm)


@dataclass(frozen=True)
class Writer:
    """Writes layers into a graph."""

    graph: Graph
    arrays: Mapping[str, np.ndarray]  # weights and running means by name
    dtype: np.dtype

    def constant(self, value: object) -> str:
        """Add a constant in the precision of the network."""
        return self.graph.constant(np.asarray(value, dtype=self.dtype))

    def whole(self, *values: int) -> str:
        """Add whole numbers, such as a shape."""
        return self.graph.constant(np.array(values, dtype=np.int64))

    def chain(self, chain: Chain, x: str, given: Shape, prefix: str) -> str:
        """Write layers one after the other."""
        for number, layer in enumerate(chain.layers):
            x = self.layer(layer, x, given, f"{prefix}{number}.")
            given = layer.shape(given)
        return x

    def layer(self, layer: Layer, x: str, given: Shape, prefix: str) -> str:
        """Write one layer."""
        if isinstance(layer, Chain):
            return self.chain(layer, x, given, prefix)
        if isinstance(layer, Residual):
            parts = [self.chain(part, x, given, f"{prefix}{name}.") for name, part in _chains(layer)]
            return self.graph.add("Add", *parts)
        if isinstance(layer, Parallel):
            parts = [self.chain(part, x, given, f"{prefix}{name}.") for name, part in _chains(layer)]
            return self.graph.add("Concat", *parts, axis=1)
        if type(layer) not in WRITERS:
            raise NotAvailableError(
                f"The layer {type(layer).__name__} is not translated to ONNX: take the layers of qed.neural."
            )
        return WRITERS[type(layer)](self, layer, x, given, prefix)

    def dense(self, layer: Dense, x: str, given: Shape, prefix: str) -> str:
        made = self.graph.add("MatMul", x, self.constant(self.arrays[f"{prefix}weight"]))
        return self.graph.add("Add", made, self.constant(self.arrays[f"{prefix}bias"])) if layer.bias else made

    def convolution(self, layer: Conv2d, x: str, given: Shape, prefix: str) -> str:
        weights = [self.constant(self.arrays[f"{prefix}weight"])]
        if layer.bias:
            weights.append(self.constant(self.arrays[f"{prefix}bias"]))
        return self.graph.add("Conv", x, *weights, group=layer.groups, **_sliding(layer))

    def largest(self, layer: MaxPool2d, x: str, given: Shape, prefix: str) -> str:
        return self.graph.add("MaxPool", x, **_sliding(layer))

    def mean(self, layer: AvgPool2d, x: str, given: Shape, prefix: str) -> str:
        return self.graph.add("AveragePool", x, count_include_pad=1, **_sliding(layer))

    def mean_of_all(self, layer: GlobalAvgPool2d, x: str, given: Shape, prefix: str) -> str:
        return self.reshape(layer, self.graph.add("GlobalAveragePool", x), given, prefix)

    def of_channels(self, layer: ChannelPool2d, x: str, given: Shape, prefix: str) -> str:
        channels, height, width = given
        groups = self.whole(-1, channels // layer.group, layer.group, height, width)
        parts = self.graph.add("Reshape", x, groups)
        return self.graph.add("ReduceMax" if layer.kind == "max" else "ReduceMean", parts, self.whole(2), keepdims=0)

    def reshape(self, layer: Layer, x: str, given: Shape, prefix: str) -> str:
        return self.graph.add("Reshape", x, self.whole(-1, *layer.shape(given)))

    def same(self, layer: Layer, x: str, given: Shape, prefix: str) -> str:
        return x

    def normalise(self, layer: BatchNorm, x: str, given: Shape, prefix: str) -> str:
        scale, bias, mean, variance = (
            np.asarray(self.arrays[prefix + name], dtype=np.float64).reshape(-1, *(1,) * (len(given) - 1))
            for name in ("scale", "bias", "mean", "variance")
        )
        centred = self.graph.add("Sub", x, self.constant(mean))
        scaled = self.graph.add("Mul", centred, self.constant(scale / np.sqrt(variance + layer.epsilon)))
        return self.graph.add("Add", scaled, self.constant(bias))

    def respond(self, layer: LocalNorm, x: str, given: Shape, prefix: str) -> str:
        # There the window has so many channels as it says; here half of them on either side, and the one between.
        size = 2 * (layer.size // 2) + 1
        alpha = float(layer.alpha * size / layer.size)
        return self.graph.add("LRN", x, size=size, alpha=alpha, beta=float(layer.beta), bias=float(layer.k))

    def activate(self, layer: Activation, x: str, given: Shape, prefix: str) -> str:
        add, name = self.graph.add, layer.name
        if name in SIMPLE:
            return add(SIMPLE[name], x)
        if name == "softmax":
            return add("Softmax", x, axis=-1)
        if name == "piecewise_linear":
            return add("Clip", add("Add", x, self.constant(0.5)), self.constant(0.0), self.constant(1.0))
        if name == "heaviside":
            return add("Mul", add("Add", add("Sign", x), self.constant(1.0)), self.constant(0.5))
        positive = add("Greater", x, self.constant(0.0))
        below = self.constant(0.0) if name == "step" else add("Mul", x, self.constant(layer.delta))
        return add("Where", positive, self.constant(1.0) if name == "step" else x, below)


SIMPLE = {
    "identity": "Identity",
    "logistic": "Sigmoid",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
    "relu": "Relu",
    "sign": "Sign",
}
WRITERS: dict[type[Layer], Callable[..., str]] = {
    Dense: Writer.dense,
    Conv2d: Writer.convolution,
    MaxPool2d: Writer.largest,
    AvgPool2d: Writer.mean,
    GlobalAvgPool2d: Writer.mean_of_all,
    ChannelPool2d: Writer.of_channels,
    Flatten: Writer.reshape,
    Unflatten: Writer.reshape,
    Dropout: Writer.same,
    BatchNorm: Writer.normalise,
    LocalNorm: Writer.respond,
    Activation: Writer.activate,
}


def add_network(graph: Graph, network: Network, rows: str) -> tuple[str, str]:
    """Add a network to a graph; give the name of what it makes of rows of numbers, and the kind of number that it is."""
    single = network.dtype == np.float32 or any(isinstance(layer, SINGLE) for layer in _all(network.chain))
    kind, dtype = ("FLOAT", np.float32) if single else ("DOUBLE", np.float64)
    writer = Writer(graph, {**network.parameters, **network.running}, np.dtype(dtype))
    if single:
        rows = graph.add("Cast", rows, to=onnx().TensorProto.FLOAT)
    if len(network.input_shape) > 1:
        rows = graph.add("Reshape", rows, writer.whole(-1, *network.input_shape))
    return writer.chain(network.chain, rows, network.input_shape, ""), kind


def columns_of_network(network: Network) -> int:
    """Count the numbers of a row that a network takes."""
    return math.prod(network.input_shape)


def _sliding(layer: Conv2d | MaxPool2d | AvgPool2d) -> dict[str, Any]:
    down, across = layer.padding
    return {"kernel_shape": list(layer.size), "strides": list(layer.stride), "pads": [down, across, down, across]}


def _chains(layer: Layer) -> Iterator[tuple[str, Chain]]:
    return ((name, part) for name, part in layer.parts() if isinstance(part, Chain))


def _all(layer: Layer) -> Iterator[Layer]:
    yield layer
    for _, part in layer.parts():
        yield from _all(part)
