r"""Pooling: the largest or the mean value of a window (spatial), or of channels that follow each other (cross-channel).

Pooling has no weights. Going back, the mean hands every pixel its share, and the maximum hands all to the first pixel that
attains it: of equals, one is chosen, so that the slopes that arrive sum to those that were sent.
"""

from __future__ import annotations

import numpy as np

from qed.base.errors import InputError
from qed.neural.engine.node import Array, Operation, Slopes
from qed.neural.engine.windows import Windows


class MaxPool(Operation):
    """The largest value of each window; the border counts as minus infinity."""

    def __init__(self, windows: Windows) -> None:
        self.windows = windows
        self._which: Array | None = None

    def forward(self, *values: Array) -> Array:
        views = self.windows.views(self.windows.padded(values[0], -np.inf))
        flat = views.reshape(*views.shape[:4], -1)
        self._which = flat.argmax(axis=-1)
        return np.take_along_axis(flat, self._which[..., None], axis=-1)[..., 0]

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        assert self._which is not None
        n, channels, height, width = values[0].shape
        (down, across), (rows, columns) = slope.shape[2:], self.windows.size
        border = self.windows.padding
        padded = np.zeros((n, channels, height + 2 * border[0], width + 2 * border[1]), dtype=slope.dtype)
        row = np.arange(down)[:, None] * self.windows.stride[0] + self._which // columns
        column = np.arange(across) * self.windows.stride[1] + self._which % columns
        place = np.arange(n)[:, None, None, None], np.arange(channels)[:, None, None], row, column
        if rows <= self.windows.stride[0] and columns <= self.windows.stride[1]:
            padded[place] = slope
        else:
            np.add.at(padded, place, slope)
        return (self.windows.unpadded(padded),)


class AveragePool(Operation):
    """The mean of each window, the zeros of the border included."""

    def __init__(self, windows: Windows) -> None:
        self.windows = windows

    def forward(self, *values: Array) -> Array:
        views = self.windows.views(self.windows.padded(values[0]))
        return np.asarray(views.mean(axis=(4, 5), dtype=values[0].dtype))

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        n, channels, height, width = values[0].shape
        rows, columns = self.windows.size
        share = slope / slope.dtype.type(rows * columns)
        parts = np.broadcast_to(share[..., None, None], (*slope.shape, rows, columns))
        border = self.windows.padding
        padded = (n, channels, height + 2 * border[0], width + 2 * border[1])
        return (self.windows.unpadded(self.windows.scattered(parts, padded)),)


class ChannelPool(Operation):
    """The largest or mean value of every `group` channels that follow each other, at each place."""

    def __init__(self, group: int, kind: str = "max") -> None:
        self.group, self.kind = group, kind
        self._which: Array | None = None

    def forward(self, *values: Array) -> Array:
        parts = self._parts(values[0])
        if self.kind == "mean":
            return np.asarray(parts.mean(axis=2, dtype=parts.dtype))
        self._which = parts.argmax(axis=2)[:, :, None]
        return np.take_along_axis(parts, self._which, axis=2)[:, :, 0]

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        parts = np.zeros_like(self._parts(values[0]))
        if self._which is None:
            parts += slope[:, :, None] / slope.dtype.type(self.group)
        else:
            np.put_along_axis(parts, self._which, slope[:, :, None], axis=2)
        return (parts.reshape(values[0].shape),)

    def _parts(self, images: Array) -> Array:
        n, channels = images.shape[:2]
        if channels % self.group:
            raise InputError(f"{channels} channels can not be cut into groups of {self.group}.")
        return images.reshape(n, channels // self.group, self.group, *images.shape[2:])
