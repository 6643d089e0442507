"""AlexNet (2012): five layers of filters and three fully connected ones, which hold most of its sixty million weights.

Rectified units instead of saturating ones, normalisation across channels, filters in two groups (there were two graphics cards that spoke
with each other now and then), dropout before the first two fully connected layers, and pictures shifted, mirrored and recoloured.

Krizhevsky, Sutskever and Hinton (2012), ImageNet classification with deep convolutional neural networks.
"""

from __future__ import annotations

from qed.neural.layers.activation import Activation, Dropout, LocalNorm
from qed.neural.layers.convolution import Conv2d
from qed.neural.layers.dense import Dense, Flatten
from qed.neural.layers.layer import Layer, Shape
from qed.neural.layers.pooling import MaxPool2d
from qed.neural.zoo.architecture import Architecture


def alexnet(classes: int = 1000) -> Architecture:
    """Give AlexNet for pictures of 227 x 227 pixels.

    Parameters
    ----------
    classes : int, default=1000
        How many classes.

    Examples
    --------
    >>> plan = alexnet()
    >>> plan.n_parameters, max(line.parameters for line in plan.summary())
    (60965224, 37752832)
    """
    relu, pool = Activation("relu"), MaxPool2d(3, stride=2)
    layers: list[Layer] = [
        *(Conv2d(96, 11, stride=4), relu, LocalNorm(), pool),
        *(Conv2d(256, 5, padding=2, groups=2), relu, LocalNorm(), pool),
        *(Conv2d(384, 3, padding=1), relu),
        *(Conv2d(384, 3, padding=1, groups=2), relu),
        *(Conv2d(256, 3, padding=1, groups=2), relu, pool),
        *(Flatten(), Dropout(), Dense(4096), relu, Dropout(), Dense(4096), relu, Dense(classes)),
    ]
    return Architecture("AlexNet", 2012, (3, 227, 227), tuple(layers))


def small_alexnet(input_shape: Shape = (1, 28, 28), classes: int = 10) -> Architecture:
    """Give a network of its kind for small images: wide filters first, normalisation, groups, dropout.

    Parameters
    ----------
    input_shape : tuple of int, default=(1, 28, 28)
        Channels, height and width.
    classes : int, default=10
        How many classes.
    """
    relu, pool = Activation("relu"), MaxPool2d(2)
    layers: list[Layer] = [
        *(Conv2d(16, 5, padding="same"), relu, LocalNorm(), pool),
        *(Conv2d(32, 3, padding="same", groups=2), relu, LocalNorm(), pool),
        *(Flatten(), Dropout(), Dense(64), relu, Dropout(), Dense(64), relu, Dense(classes)),
    ]
    return Architecture("small AlexNet", 2012, tuple(input_shape), tuple(layers))
