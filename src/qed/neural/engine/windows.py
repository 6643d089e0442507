"""Windows that slide over images: what convolution and pooling share.

Images are arrays of shape (n, channels, height, width). A window of some height and width moves by a stride over the image, around which
a border of zeros may be added; ``(size - window + 2 * padding) // stride + 1`` positions fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.neural.engine.node import Array

Pair = tuple[int, int]


def pair(value: int | Pair, what: str, least: int = 1) -> Pair:
    """Read a number of pixels, or one for the height and one for the width."""
    both = (value, value) if isinstance(value, int) else tuple(value)
    if len(both) != 2 or any(isinstance(one, bool) or not isinstance(one, int) or one < least for one in both):
        raise ParameterError(f"{what} must be a whole number from {least} on, or a pair of them, not {value!r}.")
    return both[0], both[1]


@dataclass(frozen=True)
class Windows:
    """How a window slides: its height and width, by how much it moves, and the border around the image."""

    size: Pair
    stride: Pair = (1, 1)
    padding: Pair = (0, 0)

    def positions(self, height: int, width: int) -> Pair:
        """Say how many positions the window has, down and across."""
        found = tuple(
            (length - window + 2 * border) // step + 1
            for length, window, step, border in zip((height, width), self.size, self.stride, self.padding, strict=True)
        )
        if min(found) < 1:
            raise InputError(
                f"A window of {self.size} does not fit into an image of {(height, width)} with padding {self.padding}: "
                "make it smaller, or the padding larger."
            )
        return found[0], found[1]

    def padded(self, images: Array, value: float = 0.0) -> Array:
        """Give the images with their border."""
        down, across = self.padding
        if down == across == 0:
            return images
        return np.pad(images, ((0, 0), (0, 0), (down, down), (across, across)), constant_values=value)

    def unpadded(self, images: Array) -> Array:
        """Take the border off again."""
        down, across = self.padding
        height, width = images.shape[2:]
        return images[:, :, down : height - down, across : width - across]

    def views(self, padded: Array) -> Array:
        """Give all windows, without a copy: of shape (n, channels, down, across, height, width of the window)."""
        every = np.lib.stride_tricks.sliding_window_view(padded, self.size, axis=(2, 3))
        return every[:, :, :: self.stride[0], :: self.stride[1]]

    def scattered(self, parts: Array, padded_shape: tuple[int, ...]) -> Array:
        """Add what belongs to the pixels of windows, shaped as `views`, to the pixels of padded images."""
        images = np.zeros(padded_shape, dtype=parts.dtype)
        down, across = parts.shape[2:4]
        for row in range(self.size[0]):
            for column in range(self.size[1]):
                images[
                    :,
                    :,
                    row : row + self.stride[0] * down : self.stride[0],
                    column : column + self.stride[1] * across : self.stride[1],
                ] += parts[:, :, :, :, row, column]
        return images
