"""C8-RECEPTIVE: units see more the deeper they are; calculated, and counted as pixels with a derivative."""

import numpy as np
import pytest

from qed.neural import Conv2d, MaxPool2d, Network
from qed.neural.seeing import Unit, seen_pixels
from qed.neural.zoo import inception_module, receptive_fields, residual_block


def pixels(layers, size=21):
    network = Network(layers, (1, size, size), dtype=np.float64, random_state=0)
    rows = np.random.default_rng(0).standard_normal((4, 1, size, size))
    _, height, width = network.shapes[-1]
    seen = seen_pixels(network, rows, Unit(str(len(layers) - 1), (0, height // 2, width // 2)))
    return int(seen.sum())


@pytest.mark.parametrize(
    ("layers", "count"),
    [
        ([Conv2d(3, 3)] * 2, 25),
        ([Conv2d(3, 3)] * 3, 49),
        ([Conv2d(3, 3, stride=3), Conv2d(3, 3, stride=3)], 81),
        ([Conv2d(3, (1, 5)), Conv2d(3, (3, 1))], 15),
    ],
)
def test_fields_are_the_pixels_with_a_derivative(layers, count):
    height, width = receptive_fields(layers, (1, 21, 21))[-1].size
    assert pixels(layers) == height * width == count


def test_pooling_and_blocks():
    layers = [Conv2d(4, 3, padding=1), MaxPool2d(2), Conv2d(4, 3, padding=1)]
    assert [field.size for field in receptive_fields(layers, (1, 28, 28))] == [(3, 3), (4, 4), (8, 8)]
    # 1 + 2 + 2 pixels by two layers of 3 x 3, and by filters of 5 x 5 of a module.
    assert receptive_fields([residual_block(8)], (8, 28, 28))[0].size == (5, 5)
    assert receptive_fields([inception_module(4, 4, 4, 4, 4, 4)], (8, 28, 28))[0].size == (5, 5)
