"""Networks like LeNet on the fast way: stages of convolution, positive part and pooling, then dense layers.

What fits no such plan goes through the graph; both give the same gradients, which is tested. A batch is cut into two halves that threads
share, whatever their number, so that the same seed gives the same bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from qed.base.threads.team import Team
from qed.linalg.registers.tiles import ACROSS, tile_columns
from qed.neural.engine.node import Array
from qed.neural.layers.activation import Activation
from qed.neural.layers.convolution import Conv2d
from qed.neural.layers.dense import Dense, Flatten
from qed.neural.layers.pooling import MaxPool2d
from qed.neural.network import Network
from qed.neural.training import dense_kernel
from qed.neural.training.dense_kernel import dense_gradient
from qed.neural.training.dense_way import DenseRoom, Terms, targets_of
from qed.neural.training.image_kernel import as_images, convolve_and_pool, convolve_back
from qed.neural.training.updates import Moving


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


class StageRoom:
    """Room for one stage and `n` images, the batch being the last axis."""

    def __init__(self, stage: Stage, n: int, dtype: np.dtype, first: bool) -> None:
        channels, height, width = stage.given
        (down, across), wide = stage.padding, tile_columns(dtype)
        self.shape = (channels, height + 2 * down, width + 2 * across, n)
        self.line, size = self.shape[2] * n, math.prod(self.shape)
        self.plane = self.line * self.shape[1]
        # Tiles may begin with the last value, and end behind it.
        self.images, self.to_images = (np.zeros(count, dtype) for count in (size + wide, 0 if first else size + wide))
        length = -(-(self.shape[2] - stage.size[1] + 1) * n // wide) * wide
        self.lines, self.slopes = (np.zeros((2, stage.filters, length), dtype) for _ in range(2))
        self.sums = np.zeros((stage.filters, stage.pixels, wide // ACROSS), dtype)
        self.pooled, self.largest = np.empty((*stage.made, n), dtype), np.empty((*stage.made, n), np.int8)
        c, a, b = np.indices((channels, *stage.size)).reshape(3, -1)
        self.places = c * self.plane + a * self.line + b * n
        self.numbers = np.arange(stage.filters)
        self.inside = (slice(None), slice(down, down + height), slice(across, across + width))

    def view(self, flat: Array) -> Array:
        """Give images or their slopes with all their axes."""
        return flat[: math.prod(self.shape)].reshape(self.shape)


class ImageHalf:
    """Room for one half of a batch of at most `n` images, and the way through it."""

    def __init__(self, plan: ImagePlan, n: int, dtype: np.dtype) -> None:
        self.plan, self.dtype = plan, dtype
        self.gradient: Array = np.zeros(
            plan.start + int((plan.sizes[:-1] * plan.sizes[1:] + plan.sizes[1:]).sum()), dtype
        )
        self.size = -1
        self.dense = DenseRoom(plan.sizes, n, dtype)

    def _fit(self, n: int) -> None:
        """Make room for exactly `n` images: the batch is the last axis, so that it has to be that long."""
        if n != self.size:
            self.size = n
            self.rooms = [StageRoom(stage, n, self.dtype, k == 0) for k, stage in enumerate(self.plan.stages)]

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
        lost = dense_gradient(
            rows, codes, target, weight, tail, self.gradient[plan.start :], plan.sizes, plan.hidden, self.dtype.type(0.01),
            plan.loss, self.dtype.type(share), self.dense.arrays,
        )  # fmt: skip
        self._back(self._tail_slope(n, tail), vector)
        return float(lost)

    def _forward(self, X: Array, vector: Array) -> Array:
        for number, (stage, room) in enumerate(zip(self.plan.stages, self.rooms, strict=True)):
            if number:
                room.view(room.images)[room.inside] = self.rooms[number - 1].pooled
            else:
                as_images(X, room.view(room.images), *stage.padding)
            filters, offset = self._weights(stage, vector)
            convolve_and_pool(
                room.images, room.line, filters.ravel(), offset, room.places, room.lines, room.pooled, room.largest
            )
        return np.ascontiguousarray(self.rooms[-1].pooled.reshape(-1, self.size).T)

    def _tail_slope(self, n: int, tail: Array) -> Array:
        """Give the slope of what the dense end begins with, the batch last."""
        inputs, outputs = int(self.plan.sizes[0]), int(self.plan.sizes[1])
        slope = self.dense.first_slopes(n)
        return tail[: inputs * outputs].reshape(inputs, outputs) @ slope.T

    def _back(self, slope: Array, vector: Array) -> None:
        for number in reversed(range(len(self.plan.stages))):
            stage, room = self.plan.stages[number], self.rooms[number]
            filters, _ = self._weights(stage, vector)
            room.to_images[...] = 0
            convolve_back(
                room.images, room.line, room.plane, filters.ravel(), (stage.given[0], *stage.size, self.size),
                np.ascontiguousarray(slope).reshape(*stage.made, self.size), room.largest, room.places, room.numbers,
                room.slopes, room.sums, self._weights(stage, self.gradient), room.to_images,
            )  # fmt: skip
            if number:
                slope = room.view(room.to_images)[room.inside]

    @staticmethod
    def _weights(stage: Stage, vector: Array) -> tuple[Array, Array]:
        count = stage.filters * stage.pixels
        filters = vector[stage.start : stage.start + count].reshape(stage.filters, stage.pixels)
        return filters, vector[stage.start + count : stage.start + count + stage.filters]


class ImageWay:
    """The pass through a network like LeNet, by threads that share each batch: two halves, and then two halves of the weights."""

    def __init__(self, terms: Terms, plan: ImagePlan, moving: Moving, rate: float, crew: Team) -> None:
        self.terms, self.moving, self.rate, self.crew = terms, moving, rate, crew
        self.plan, self.dtype = plan, moving.vector.dtype
        self.halves = [ImageHalf(plan, terms.batch - terms.batch // 2, self.dtype) for _ in range(2)]

    def go(self, X: Array, y: Array, weight: Array | None, start: int) -> float:
        """Go through a stretch of rows batch by batch."""
        terms, moving = self.terms, self.moving
        targets, lost = targets_of(y, weight, terms.network.loss, int(self.plan.sizes[-1]), self.dtype), 0.0
        penalty = self.dtype.type(terms.penalty_share)
        for at in range(0, len(X), terms.batch):
            part = slice(at, min(at + terms.batch, len(X)))
            share = self.dtype.type(1 / ((part.stop - at) * terms.mean_weight))
            lost += sum(self.crew.run(self._half, 2, X[part], *(values[part] for values in targets), share))
            moving.updates += 1
            self.crew.run(self._update, 2, penalty)
        return float(lost)

    def _half(self, part: int, parts: int, X: Array, codes: Array, target: Array, weight: Array, share: float) -> float:
        cut = slice(len(X) // 2) if part == 0 else slice(len(X) // 2, len(X))
        return self.halves[part].run(X[cut], codes[cut], target[cut], weight[cut], self.moving.vector, share)

    def _update(self, part: int, parts: int, penalty: float) -> None:
        moving, middle = self.moving, len(self.moving.vector) // 2
        cut = slice(middle) if part == 0 else slice(middle, None)
        both = self.halves[0].gradient[cut]
        both += self.halves[1].gradient[cut]
        if penalty > 0:
            both += penalty * self.terms.decays[cut] * moving.vector[cut]
        second = moving.second[cut] if len(moving.second) else moving.second
        self.terms.update.step(moving.vector[cut], both, moving.first[cut], second, self.rate, moving.updates)
