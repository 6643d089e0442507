"""GoogLeNet (2014): modules whose filters of several sizes stand side by side, and no fully connected layer but the last.

A module puts the maps of 1 x 1, 3 x 3 and 5 x 5 filters and of a pooling together. Filters of 1 x 1, a linear map at each pixel, make the
channels fewer before the costly ones. The outputs on the way that helped to train the first of these networks are left out.

Szegedy et al. (2015), Going deeper with convolutions.
"""

from __future__ import annotations

from qed.neural.layers.activation import Activation, Dropout, LocalNorm
from qed.neural.layers.blocks import Parallel
from qed.neural.layers.convolution import Conv2d
from qed.neural.layers.dense import Dense
from qed.neural.layers.layer import Layer, Shape
from qed.neural.layers.pooling import GlobalAvgPool2d, MaxPool2d
from qed.neural.zoo.architecture import Architecture

# Filters of 1 x 1; before and in 3 x 3; before and in 5 x 5; behind the pooling. Nothing stands for a pooling between stages.
MODULES: tuple[tuple[int, int, int, int, int, int] | None, ...] = (
    (64, 96, 128, 16, 32, 32),
    (128, 128, 192, 32, 96, 64),
    None,
    (192, 96, 208, 16, 48, 64),
    (160, 112, 224, 24, 64, 64),
    (128, 128, 256, 24, 64, 64),
    (112, 144, 288, 32, 64, 64),
    (256, 160, 320, 32, 128, 128),
    None,
    (256, 160, 320, 32, 128, 128),
    (384, 192, 384, 48, 128, 128),
)


def inception_module(
    one: int, before_three: int | None, three: int, before_five: int | None, five: int, pooled: int | None
) -> Parallel:
    """Give a module: branches side by side, whose channels are put together.

    Parameters
    ----------
    one, three, five : int
        How many filters of 1 x 1, 3 x 3 and 5 x 5.
    before_three, before_five, pooled : int or None
        How many filters of 1 x 1 stand before the others, and behind the pooling; None for the naive module without them.

    Examples
    --------
    >>> cheap, naive = inception_module(64, 96, 128, 16, 32, 32), inception_module(64, None, 128, None, 32, None)
    >>> [sum(w.size for name, w in m.weights((192, 28, 28)).items() if "weight" in name) for m in (cheap, naive)]
    [163328, 387072]
    """
    narrowed_three = [] if before_three is None else _filters(before_three, 1)
    narrowed_five = [] if before_five is None else _filters(before_five, 1)
    return Parallel(
        [
            _filters(one, 1),
            narrowed_three + _filters(three, 3),
            narrowed_five + _filters(five, 5),
            [MaxPool2d(3, stride=1, padding=1), *([] if pooled is None else _filters(pooled, 1))],
        ]
    )


def _filters(count: int, size: int) -> list[Layer]:
    return [Conv2d(count, size, padding=size // 2), Activation("relu")]


def googlenet(classes: int = 1000) -> Architecture:
    """Give GoogLeNet for pictures of 224 x 224 pixels: 22 layers with weights one behind the other.

    Parameters
    ----------
    classes : int, default=1000
        How many classes.

    Examples
    --------
    >>> googlenet().n_parameters
    6998552
    """
    pool = MaxPool2d(3, stride=2, padding=1)
    layers: list[Layer] = [
        *(Conv2d(64, 7, stride=2, padding=3), Activation("relu"), pool, LocalNorm()),
        *(*_filters(64, 1), *_filters(192, 3), LocalNorm(), pool),
        *(pool if module is None else inception_module(*module) for module in MODULES),
        *(GlobalAvgPool2d(), Dropout(0.4), Dense(classes)),
    ]
    return Architecture("GoogLeNet", 2014, (3, 224, 224), tuple(layers))


def small_googlenet(input_shape: Shape = (1, 28, 28), classes: int = 10) -> Architecture:
    """Give a network of its kind for small images: two modules.

    Parameters
    ----------
    input_shape : tuple of int, default=(1, 28, 28)
        Channels, height and width.
    classes : int, default=10
        How many classes.
    """
    layers: list[Layer] = [
        *_filters(16, 3),
        inception_module(8, 8, 16, 4, 8, 8),
        MaxPool2d(2),
        inception_module(16, 16, 32, 8, 16, 16),
        *(GlobalAvgPool2d(), Dropout(0.2), Dense(classes)),
    ]
    return Architecture("small GoogLeNet", 2014, tuple(input_shape), tuple(layers))
