r"""ResNet (2015): blocks that add what they have learned to what they were given, :math:`Y = F(x) + x`.

Their derivative is :math:`\partial F / \partial x + I`: however small the first part, a slope arrives at the first layer, which it does not
in a plain stack where it is a product of many small factors. With zero weights a block is the identity. So 152 layers can be trained.

He, Zhang, Ren and Sun (2016), Deep residual learning for image recognition.
"""

from __future__ import annotations

from qed.base.errors import ParameterError
from qed.neural.layers.activation import Activation, BatchNorm
from qed.neural.layers.blocks import Chain, Residual
from qed.neural.layers.convolution import Conv2d
from qed.neural.layers.dense import Dense
from qed.neural.layers.layer import Layer, Shape
from qed.neural.layers.pooling import GlobalAvgPool2d, MaxPool2d
from qed.neural.zoo.architecture import Architecture

# How many blocks the four stages have, and whether these are narrowed by 1 x 1 filters, by the number of layers with weights.
STAGES = {
    18: ((2, 2, 2, 2), False),
    34: ((3, 4, 6, 3), False),
    50: ((3, 4, 6, 3), True),
    101: ((3, 4, 23, 3), True),
    152: ((3, 8, 36, 3), True),
}


def residual_block(width: int, *, stride: int = 1, given: int | None = None, narrowed: bool = False) -> Chain:
    """Give a block: two layers of 3 x 3, or 1 x 1, 3 x 3 and 1 x 1 with four times as many maps at the end, and the way around them.

    Parameters
    ----------
    width : int
        How many filters.
    stride : int, default=1
        By how much the first 3 x 3 filters move.
    given : int, optional
        How many channels come in; where these are not as many as come out, or the stride is not one, 1 x 1 filters stand on the way around.
    narrowed : bool, default=False
        Whether it has three layers.
    """
    out = 4 * width if narrowed else width
    inside = (
        [*_normed(width, 1), Activation("relu"), *_normed(width, 3, stride), Activation("relu"), *_normed(out, 1)]
        if narrowed
        else [*_normed(width, 3, stride), Activation("relu"), *_normed(out, 3)]
    )
    changes = stride != 1 or (given is not None and given != out)
    return Chain([Residual(inside, _normed(out, 1, stride) if changes else []), Activation("relu")])


def _normed(count: int, size: int, stride: int = 1) -> list[Layer]:
    return [Conv2d(count, size, stride=stride, padding=size // 2, bias=False), BatchNorm()]


def resnet(depth: int = 50, classes: int = 1000) -> Architecture:
    """Give ResNet for pictures of 224 x 224 pixels.

    Parameters
    ----------
    depth : {18, 34, 50, 101, 152}, default=50
        How many layers with weights stand one behind the other.
    classes : int, default=1000
        How many classes.

    Examples
    --------
    >>> resnet(18).n_parameters, resnet(152).n_parameters
    (11689512, 60192808)
    """
    if depth not in STAGES:
        raise ParameterError(f"depth must be one of {', '.join(map(str, STAGES))}, not {depth!r}.")
    counts, narrowed = STAGES[depth]
    layers: list[Layer] = [*_normed(64, 7, 2), Activation("relu"), MaxPool2d(3, stride=2, padding=1)]
    given = 64
    for stage, count in enumerate(counts):
        width = 64 << stage
        for number in range(count):
            stride = 2 if stage and not number else 1
            layers.append(residual_block(width, stride=stride, given=given, narrowed=narrowed))
            given = 4 * width if narrowed else width
    return Architecture(f"ResNet-{depth}", 2015, (3, 224, 224), (*layers, GlobalAvgPool2d(), Dense(classes)))


def small_resnet(input_shape: Shape = (1, 28, 28), classes: int = 10, *, blocks: int = 1) -> Architecture:
    """Give a network of its kind for small images: two stages.

    Parameters
    ----------
    input_shape : tuple of int, default=(1, 28, 28)
        Channels, height and width.
    classes : int, default=10
        How many classes.
    blocks : int, default=1
        How many blocks a stage has.
    """
    layers: list[Layer] = [*_normed(16, 3), Activation("relu")]
    given = 16
    for width, stride in ((16, 1), (32, 2)):
        for number in range(blocks):
            layers.append(residual_block(width, stride=1 if number else stride, given=given))
            given = width
    return Architecture("small ResNet", 2015, tuple(input_shape), (*layers, GlobalAvgPool2d(), Dense(classes)))
