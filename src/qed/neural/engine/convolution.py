r"""Convolution of images with a stack of filters, without flipping them (that is, cross-correlation).

.. math:: L_o[i, j] = b_o + \sum_c \sum_{a, b} I_c[s i + a, s j + b]\, G_{oc}[a, b].

It is a fully connected layer whose weights are zero outside a window and shared by all windows. Written as a product: every window
becomes a row, and the rows are multiplied with the filters. Going back, the slope of a filter is the sum over windows of slope times
pixels, and the slope of the image is the slope spread out by the filter, the full convolution.
"""

from __future__ import annotations

import numpy as np

from qed.base.errors import InputError
from qed.neural.engine.node import Array, Operation, Slopes
from qed.neural.engine.windows import Windows


class Convolve(Operation):
    """Images, filters of shape (filters, channels, height, width), and an offset for each filter where one is given."""

    def __init__(self, windows: Windows, groups: int = 1) -> None:
        self.windows = windows
        self.groups = groups
        self._columns: Array | None = None

    def forward(self, *values: Array) -> Array:
        images, filters, *offset = values
        n, channels, height, width = images.shape
        count, depth = filters.shape[:2]
        if channels != depth * self.groups:
            raise InputError(
                f"Filters for {depth} channels in {self.groups} group(s) do not fit images of {channels} channels."
            )
        down, across = self.windows.positions(height, width)
        columns = self._as_columns(images)
        kernels = filters.reshape(self.groups, count // self.groups, -1)
        product = np.matmul(kernels, columns).reshape(n, count, down, across)
        if offset:
            product += offset[0][:, None, None]
        self._columns = columns
        return product

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        images, filters, *offset = values
        count = len(filters)
        n, _, down, across = slope.shape
        inner = slope.reshape(n, self.groups, count // self.groups, down * across)
        images_needed, filters_needed, *_ = self.needed
        found: list[Array | None] = [
            self._to_images(inner, images.shape, filters) if images_needed else None,
            self._to_filters(inner, images, filters) if filters_needed else None,
        ]
        if offset:
            found.append(slope.sum(axis=(0, 2, 3)))
        return tuple(found)

    def _as_columns(self, images: Array) -> Array:
        """Give the windows as columns: of shape (n, groups, pixels of a window in a group, positions)."""
        n, channels = images.shape[:2]
        views = self.windows.views(self.windows.padded(images))
        down, across, rows, columns = views.shape[2:]
        flat = views.transpose(0, 1, 4, 5, 2, 3).reshape(n, channels * rows * columns, down * across)
        return flat.reshape(n, self.groups, -1, down * across)

    def _to_filters(self, slope: Array, images: Array, filters: Array) -> Array:
        columns = self._as_columns(images) if self._columns is None else self._columns
        return np.matmul(slope, columns.swapaxes(2, 3)).sum(axis=0).reshape(filters.shape)

    def _to_images(self, slope: Array, shape: tuple[int, ...], filters: Array) -> Array:
        n, channels, height, width = shape
        down, across = self.windows.positions(height, width)
        kernels = filters.reshape(self.groups, len(filters) // self.groups, -1)
        columns = np.matmul(kernels.swapaxes(1, 2), slope)
        parts = columns.reshape(n, channels, *self.windows.size, down, across).transpose(0, 1, 4, 5, 2, 3)
        border = self.windows.padding
        padded = (n, channels, height + 2 * border[0], width + 2 * border[1])
        return self.windows.unpadded(self.windows.scattered(parts, padded))
