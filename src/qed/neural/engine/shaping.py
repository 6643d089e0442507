"""Operations that move values or leave some out: reshaping, putting side by side, dropping."""

from __future__ import annotations

import numpy as np

from qed.neural.engine.node import Array, Operation, Slopes


class Reshape(Operation):
    """The same values in another shape, row by row of the batch."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def forward(self, *values: Array) -> Array:
        return values[0].reshape(len(values[0]), *self.shape)

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        return (slope.reshape(values[0].shape),)


class Concatenate(Operation):
    """Several values side by side, along their second axis: channels of images, or columns."""

    def forward(self, *values: Array) -> Array:
        return np.concatenate(values, axis=1)

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        return tuple(np.split(slope, np.cumsum([part.shape[1] for part in values])[:-1], axis=1))


class Keep(Operation):
    """Values of which some are dropped and the others raised, so that the expected value stays: dropout."""

    def __init__(self, keep: Array) -> None:
        self.keep = keep

    def forward(self, *values: Array) -> Array:
        return values[0] * self.keep

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        return (slope * self.keep,)
