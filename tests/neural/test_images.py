"""Networks like LeNet on real images: how many they tell right that they have not seen, and how long that takes.

Fashion-MNIST is the Debian package ``dataset-fashion-mnist``; where it is not installed its test is left out.
"""

import gzip
from pathlib import Path

import numpy as np
import pytest

import qed
from qed.neural import train, zoo

pytestmark = pytest.mark.slow
FASHION = Path("/usr/share/datasets/fashion-mnist")


def accuracy(network, images, labels):
    return (network.forward(images).argmax(axis=1) == labels).mean()


def test_digits_of_eight_by_eight_pixels():
    """Takes about three seconds of a core."""
    digits, target = qed.data.load("digits").Xy()
    images, labels = digits.reshape(-1, 1, 8, 8) / 16, target.astype(int)
    test = np.arange(len(images)) % 4 == 0
    network = zoo.lenet((1, 8, 8), activation="relu", pooling="max").network(random_state=0)
    found = train(network, images[~test], labels[~test], epochs=30, batch=32, learning_rate=0.003, schedule="cosine")
    assert accuracy(network, images[test], labels[test]) >= 0.97 and found.certificate


def fashion(which):
    images, labels = (
        np.frombuffer(gzip.decompress((FASHION / f"{which}-{name}-ubyte.gz").read_bytes()), np.uint8)
        for name in ("images-idx3", "labels-idx1")
    )
    return (images[16:].reshape(-1, 1, 28, 28) / np.float32(255)), labels[8:].astype(int)


@pytest.mark.skipif(not FASHION.is_dir(), reason="needs the Debian package dataset-fashion-mnist")
def test_clothes_of_fashion_mnist():
    """Takes about twenty seconds of a core."""
    network = zoo.lenet((1, 28, 28), activation="relu", pooling="max").network(random_state=0)
    found = train(network, *fashion("train"), epochs=10, batch=64, learning_rate=0.003, schedule="cosine")
    images, labels = fashion("t10k")
    assert len(images) == 10_000 and accuracy(network, images, labels) >= 0.89 and found.certificate
