"""LeNet (1998): two stages of filters and pooling, then three fully connected layers, for characters written by hand.

LeCun, Bottou, Bengio and Haffner (1998), Gradient-based learning applied to document recognition. Every filter of the second stage sees all
maps of the first, which the paper saved on; its trained coefficients of pooling are left out, as nowadays.
"""

from __future__ import annotations

from qed.neural.layers.activation import Activation
from qed.neural.layers.convolution import Conv2d
from qed.neural.layers.dense import Dense, Flatten
from qed.neural.layers.layer import Layer, Shape
from qed.neural.layers.pooling import AvgPool2d, MaxPool2d
from qed.neural.zoo.architecture import Architecture


def lenet(
    input_shape: Shape = (1, 32, 32), classes: int = 10, *, activation: str = "tanh", pooling: str = "mean"
) -> Architecture:
    """Give LeNet-5, or one of its kind for other images.

    Parameters
    ----------
    input_shape : tuple of int, default=(1, 32, 32)
        Channels, height and width. Images of fewer than 28 pixels get a border, and filters of 3 x 3 in the second stage.
    classes : int, default=10
        How many classes.
    activation : str, default="tanh"
        What neurons make of their sums; "relu" is what one takes today.
    pooling : {"mean", "max"}, default="mean"
        What is made of each 2 x 2 pixels.

    Examples
    --------
    >>> lenet().n_parameters
    61706
    >>> lenet((1, 8, 8), activation="relu", pooling="max").shapes[-1]
    (10,)
    """
    few = min(input_shape[1:]) < 28
    pool = MaxPool2d if pooling == "max" else AvgPool2d
    stages: list[Layer] = [
        Conv2d(6, 3 if few else 5, padding="same" if few else 0),
        Activation(activation),
        pool(2),
        Conv2d(16, 3 if few else 5, padding="same" if few else 0),
        Activation(activation),
        pool(2),
        Flatten(),
    ]
    for width in (120, 84):
        stages += [Dense(width), Activation(activation)]
    return Architecture("LeNet-5", 1998, tuple(input_shape), (*stages, Dense(classes)))
