r"""VGG (2014): filters of 3 x 3 only, one behind the other, then pooling; blocks of them, and three fully connected layers.

Three such layers see 7 x 7 pixels like one of 7 x 7, with :math:`27 C^2` weights instead of :math:`49 C^2` for C channels in and out, and
two more activations between them.

Simonyan and Zisserman (2015), Very deep convolutional networks for large-scale image recognition.
"""

from __future__ import annotations

from collections.abc import Sequence

from qed.base.errors import ParameterError
from qed.neural.layers.activation import Activation, Dropout
from qed.neural.layers.convolution import Conv2d
from qed.neural.layers.dense import Dense, Flatten
from qed.neural.layers.layer import Layer, Shape
from qed.neural.layers.pooling import MaxPool2d
from qed.neural.zoo.architecture import Architecture

# How many layers of filters the five blocks have, by the number of layers with weights.
BLOCKS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


def vgg(depth: int = 16, classes: int = 1000) -> Architecture:
    """Give VGG for pictures of 224 x 224 pixels.

    Parameters
    ----------
    depth : {11, 13, 16, 19}, default=16
        How many layers have weights.
    classes : int, default=1000
        How many classes.

    Examples
    --------
    >>> vgg().n_parameters
    138357544
    """
    if depth not in BLOCKS:
        raise ParameterError(f"depth must be one of {', '.join(map(str, BLOCKS))}, not {depth!r}.")
    layers: list[Layer] = [*_blocks(BLOCKS[depth], (64, 128, 256, 512, 512)), Flatten()]
    for _ in range(2):
        layers += [Dense(4096), Activation("relu"), Dropout()]
    return Architecture(f"VGG-{depth}", 2014, (3, 224, 224), (*layers, Dense(classes)))


def small_vgg(input_shape: Shape = (1, 28, 28), classes: int = 10) -> Architecture:
    """Give a network of its kind for small images: two blocks of two layers.

    Parameters
    ----------
    input_shape : tuple of int, default=(1, 28, 28)
        Channels, height and width.
    classes : int, default=10
        How many classes.
    """
    layers = [*_blocks((2, 2), (16, 32)), Flatten(), Dense(64), Activation("relu"), Dropout(), Dense(classes)]
    return Architecture("small VGG", 2014, tuple(input_shape), tuple(layers))


def _blocks(counts: Sequence[int], widths: Sequence[int]) -> list[Layer]:
    layers: list[Layer] = []
    for count, width in zip(counts, widths, strict=True):
        for _ in range(count):
            layers += [Conv2d(width, 3, padding=1), Activation("relu")]
        layers.append(MaxPool2d(2))
    return layers
