"""Networks like LeNet on the fast way: stages of convolution, positive part and pooling, then dense layers.

What fits no such plan goes through the graph; both give the same gradients, which is tested. A batch is cut into two halves that threads
share, whatever their number, so that the same seed gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.neural.engine.node import Array
from qed.neural.layers.activation import Activation
from qed.neural.layers.convolution import Conv2d
from qed.neural.layers.dense import Dense, Flatten
from qed.neural.layers.pooling import MaxPool2d
from qed.neural.network import Network
from qed.neural.training import dense_kernel
from qed.neural.training.dense_kernel import dense_gradient
from qed.neural.training.image_kernel import as_images, convolve_and_pool, convolve_back


@dataclass(frozen=True)
class Stage:
    """A convolution, the positive part and a pooling of two by two."""

    filters: int
    size: tuple[int, int]
    padding: tuple[int, int]
    given: tuple[int, int, int]  # channels, height and width that come in
    made: tuple[int, int, int]  # and that go out
    start: int  # where its weights begin

    @property
    def pixels(self) -> int:
        """How many pixels a window has."""
        return self.given[0] * self.size[0] * self.size[1]


@dataclass(frozen=True)
class ImagePlan:
    """A network as stages and a dense end."""

    stages: tuple[Stage, ...]
    sizes: Array  # of the dense layers
    start: int  # where their weights begin
    loss: int
    hidden: int

    @classmethod
    def of(cls, network: Network) -> ImagePlan | None:
        """Read a network as such a plan, where it is one."""
        layers, shapes = network.layers, network.shapes
        if len(network.input_shape) != 3 or network.loss not in dense_kernel.LOSSES:
            return None
        stages, at, start = [], 0, 0
        while at + 2 < len(layers) and (found := _stage(layers[at : at + 3], shapes[at], shapes[at + 3], start)):
            stages.append(found)
            start += found.filters * (found.pixels + 1)
            at += 3
        rest = layers[at:]
        if not stages or not rest or not isinstance(rest[0], Flatten) or not isinstance(rest[-1], Dense):
            return None
        names = {layer.name for layer in rest[2::2] if isinstance(layer, Activation)}
        dense = all(isinstance(layer, Dense) and layer.bias for layer in rest[1::2])
        between = all(isinstance(layer, Activation) for layer in rest[2::2])
        if not (dense and between) or len(names) > 1 or not names <= {"relu", "tanh", "logistic", "identity"}:
            return None
        sizes = [shapes[at + 1][0], *(layer.outputs for layer in rest[1::2] if isinstance(layer, Dense))]
        hidden = dense_kernel.ACTIVATIONS.index(names.pop() if names else "identity")
        return cls(tuple(stages), np.array(sizes, np.int64), start, dense_kernel.LOSSES.index(network.loss), hidden)


def _stage(layers: list, given: tuple[int, ...], made: tuple[int, ...], start: int) -> Stage | None:  # type: ignore[type-arg]
    convolution, positive, pool = layers
    fits = (
        isinstance(convolution, Conv2d)
        and (convolution.stride, convolution.groups, convolution.bias) == ((1, 1), 1, True)
        and isinstance(positive, Activation)
        and positive.name == "relu"
        and isinstance(pool, MaxPool2d)
        and (pool.size, pool.stride, pool.padding) == ((2, 2), (2, 2), (0, 0))
    )
    if not fits:
        return None
    channels, height, width = given
    return Stage(convolution.filters, convolution.size, convolution.padding, (channels, height, width), made, start)  # type: ignore[arg-type]


class ImageHalf:
    """Room for one half of a batch of at most `n` images, and the way through it."""

    def __init__(self, plan: ImagePlan, n: int, dtype: np.dtype) -> None:
        self.plan, self.dtype = plan, dtype
        self.gradient: Array = np.zeros(
            plan.start + int((plan.sizes[:-1] * plan.sizes[1:] + plan.sizes[1:]).sum()), dtype
        )
        self.size = -1
        widest = int(plan.sizes.max())
        self.room = np.empty(n * int(plan.sizes[1:].sum()), dtype)
        self.slopes = np.empty(2 * n * widest, dtype)

    def _fit(self, n: int) -> None:
        """Make room for exactly `n` images: the batch is the last axis, so that it has to be that long."""
        if n == self.size:
            return
        self.size, dtype = n, self.dtype
        self.images, self.to_images, self.windows, self.lines, self.pooled, self.largest = [], [], [], [], [], []
        for number, stage in enumerate(self.plan.stages):
            channels, height, width = stage.given
            down, across = stage.padding
            shape = (channels, height + 2 * down, width + 2 * across, n)
            self.images.append(np.zeros(shape, dtype))
            self.to_images.append(np.zeros(shape if number else (0, 1, 1, 1), dtype))
            line = (width + 2 * across - stage.size[1] + 1) * n
            self.windows.append(np.empty((stage.pixels, line), dtype))
            self.lines.append(np.zeros((2, stage.filters, line), dtype))
            self.pooled.append(np.empty((*stage.made, n), dtype))
            self.largest.append(np.empty((*stage.made, n), np.int8))

    def run(self, X: Array, codes: Array, target: Array, weight: Array, vector: Array, share: float) -> float:
        """Write the gradient of some rows; give the sum of their weighted losses."""
        plan, n = self.plan, len(X)
        if n == 0:
            self.gradient[...] = 0
            return 0.0
        self._fit(n)
        self.gradient[: plan.start] = 0
        rows = self._forward(X, vector)
        tail = vector[plan.start :]
        delta = self.dtype.type(0.01)
        lost = dense_gradient(
            rows, codes, target, weight, tail, self.gradient[plan.start :], plan.sizes, plan.hidden, delta,
            plan.loss, self.dtype.type(share), self.room, self.slopes,
        )  # fmt: skip
        self._back(self._tail_slope(n, tail), vector)
        return float(lost)

    def _forward(self, X: Array, vector: Array) -> Array:
        first = self.plan.stages[0]
        as_images(X, self.images[0], *first.padding)
        for number, stage in enumerate(self.plan.stages):
            if number:
                down, across = stage.padding
                height, width = stage.given[1:]
                self.images[number][:, down : down + height, across : across + width] = self.pooled[number - 1]
            filters, offset = self._weights(stage, vector)
            convolve_and_pool(
                self.images[number], filters, offset, *stage.size, self.windows[number], self.lines[number],
                self.pooled[number], self.largest[number],
            )  # fmt: skip
        return np.ascontiguousarray(self.pooled[-1].reshape(-1, self.size).T)

    def _tail_slope(self, n: int, tail: Array) -> Array:
        """Give the slope of what the dense end begins with, the batch last."""
        inputs, outputs = int(self.plan.sizes[0]), int(self.plan.sizes[1])
        # Slopes of the first dense layer are where the compiled pass has left them.
        middle = len(self.slopes) // 2
        slope = self.slopes[middle : middle + n * outputs] if len(self.plan.sizes) > 2 else self.room[: n * outputs]
        return tail[: inputs * outputs].reshape(inputs, outputs) @ slope.reshape(n, outputs).T

    def _back(self, slope: Array, vector: Array) -> None:
        for number in reversed(range(len(self.plan.stages))):
            stage = self.plan.stages[number]
            filters, _ = self._weights(stage, vector)
            self.to_images[number][...] = 0
            convolve_back(
                self.images[number], filters, np.ascontiguousarray(slope).reshape(*stage.made, self.size), self.largest[number],
                *stage.size, self.windows[number], self.lines[number], self._weights(stage, self.gradient),
                np.empty_like(filters), self.to_images[number],
            )  # fmt: skip
            down, across = stage.padding
            height, width = stage.given[1:]
            slope = self.to_images[number][:, down : down + height, across : across + width]

    @staticmethod
    def _weights(stage: Stage, vector: Array) -> tuple[Array, Array]:
        count = stage.filters * stage.pixels
        filters = vector[stage.start : stage.start + count].reshape(stage.filters, stage.pixels)
        return filters, vector[stage.start + count : stage.start + count + stage.filters]
