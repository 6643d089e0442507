"""More images from those there are: moved, mirrored, brighter or darker; the class stays.

Each gives a function of a batch of images, of shape (n, channels, height, width), and of random draws; `train` calls it anew in every
epoch, so that no image comes twice in the same way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qed.neural.engine.node import Array
from qed.neural.layers.layer import whole

Augment = Callable[[Array, np.random.Generator], Array]


def shifted(most: int = 1) -> Augment:
    """Move each image by up to `most` pixels in both directions; what comes in from outside is zero.

    >>> image = np.arange(4.0).reshape(1, 1, 2, 2)
    >>> shifted(1)(image, np.random.default_rng(0)).shape
    (1, 1, 2, 2)
    """
    most = whole(most, "most")

    def change(images: Array, draws: np.random.Generator) -> Array:
        n, channels, height, width = images.shape
        room = np.zeros((n, channels, height + 2 * most, width + 2 * most), images.dtype)
        room[:, :, most : most + height, most : most + width] = images
        down, across = draws.integers(0, 2 * most + 1, (2, n))
        rows = down[:, None] + np.arange(height)
        columns = across[:, None] + np.arange(width)
        return room[np.arange(n)[:, None, None], :, rows[:, :, None], columns[:, None, :]].transpose(0, 3, 1, 2)

    return change


def reflected(share: float = 0.5) -> Augment:
    """Mirror a share of the images, left and right."""

    def change(images: Array, draws: np.random.Generator) -> Array:
        chosen = draws.random(len(images)) < share
        made = images.copy()
        made[chosen] = images[chosen][..., ::-1]
        return made

    return change


def brightened(spread: float = 0.1) -> Augment:
    """Multiply each channel of each image with a factor around one, normal with such a standard deviation."""

    def change(images: Array, draws: np.random.Generator) -> Array:
        factor = 1 + spread * draws.standard_normal((*images.shape[:2], 1, 1))
        return np.asarray(images * factor.astype(images.dtype))

    return change


def several(*changes: Augment) -> Augment:
    """Do one after the other."""

    def change(images: Array, draws: np.random.Generator) -> Array:
        for each in changes:
            images = each(images, draws)
        return images

    return change
