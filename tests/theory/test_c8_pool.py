"""C8-POOL, C8-POOL-KIND, C8-BP-POOL, C8-DROPOUT, C8-AUG: pooling, dropping, and more images from those there are."""

import numpy as np
import pytest

from qed.neural import Activation, AvgPool2d, ChannelPool2d, Conv2d, Dense, Dropout, Flatten, MaxPool2d, Network, train
from qed.neural.engine import AveragePool, MaxPool, Node, Windows, apply, gradients
from qed.neural.training.augment import brightened, reflected, several, shifted

rng = np.random.default_rng(0)
PAIRS = Windows((2, 2), (2, 2))


def test_pooling_has_no_weights_and_halves_the_image():
    for layer in (MaxPool2d(2), AvgPool2d(2)):
        network = Network([layer], (3, 8, 6))
        assert network.n_parameters == 0 and network.shapes[1] == (3, 4, 3)


@pytest.mark.parametrize(("operation", "of"), [(MaxPool, np.max), (AveragePool, np.mean)])
def test_each_value_is_that_of_its_window(operation, of):
    images = rng.normal(size=(2, 3, 6, 7))
    windows = Windows((3, 2), (1, 2))
    found = operation(windows).forward(images)
    for n, c, y, x in np.ndindex(*found.shape):
        assert found[n, c, y, x] == pytest.approx(of(images[n, c, y : y + 3, 2 * x : 2 * x + 2]))
    assert (MaxPool(windows).forward(images) >= AveragePool(windows).forward(images)).all()


def test_a_shift_by_a_window_shifts_the_pooled_map_by_one_cell():
    image = np.zeros((1, 1, 8, 8))
    image[0, 0, 2:5, 2:5] = rng.random((3, 3))
    moved = np.roll(image, 2, axis=3)
    pool = MaxPool(PAIRS)
    np.testing.assert_array_equal(pool.forward(moved), np.roll(pool.forward(image), 1, axis=3))


def test_a_shift_inside_the_window_changes_nothing():
    image = np.zeros((1, 1, 4, 4))
    image[0, 0, 0, 0] = 1
    moved = np.roll(image, 1, axis=3)
    np.testing.assert_array_equal(MaxPool(PAIRS).forward(image), MaxPool(PAIRS).forward(moved))


def test_pooling_over_channels_answers_to_each_of_three_turned_templates():
    template = rng.normal(size=(3, 3))
    turned = np.array([np.rot90(template, k) for k in range(3)])
    network = Network([Conv2d(3, 3, bias=False), ChannelPool2d(3)], (1, 3, 3), dtype=np.float64)
    network.parameters["0.weight"][:] = turned[:, None]
    best = (template**2).sum()
    np.testing.assert_allclose(network.forward(turned[:, None])[:, 0, 0, 0], best, rtol=1e-12)
    noise = rng.normal(size=(50, 1, 3, 3))
    noise *= np.linalg.norm(template) / np.linalg.norm(noise, axis=(2, 3), keepdims=True)
    assert (network.forward(noise) < best).all(), "of patches of the same length the template itself answers most"


def test_slopes_go_to_the_largest_or_in_equal_shares():
    image, upstream = (
        Node(rng.permutation(16.0 * np.ones(16) + np.arange(16)).reshape(1, 1, 4, 4)),
        rng.normal(size=(1, 1, 2, 2)),
    )
    largest = gradients(apply(MaxPool(PAIRS), image), [image], seed=upstream)[0]
    assert (largest != 0).sum() == 4 and largest.sum() == pytest.approx(upstream.sum())
    for y, x in np.ndindex(2, 2):
        window = image.value[0, 0, 2 * y : 2 * y + 2, 2 * x : 2 * x + 2]
        np.testing.assert_array_equal(
            largest[0, 0, 2 * y : 2 * y + 2, 2 * x : 2 * x + 2], upstream[0, 0, y, x] * (window == window.max())
        )
    mean = gradients(apply(AveragePool(PAIRS), image), [image], seed=upstream)[0]
    np.testing.assert_allclose(mean, np.repeat(np.repeat(upstream, 2, 2), 2, 3) / 4)


def test_of_equal_values_the_first_gets_the_slope():
    image = Node(np.ones((1, 1, 2, 2)))
    slope = gradients(apply(MaxPool(PAIRS), image), [image])[0]
    np.testing.assert_array_equal(slope[0, 0], [[1, 0], [0, 0]])


def test_dropping_keeps_the_expected_activation():
    network = Network([Dropout(0.5)], 10_000, dtype=np.float64)
    x = rng.random((1, 10_000))
    dropped = network.forward(x, training=True, draws=np.random.default_rng(1))
    # The variance of the sum is that of x itself: sum of x^2 (1/q - 1).
    assert dropped.sum() == pytest.approx(x.sum(), abs=5 * np.sqrt((x**2).sum()))
    np.testing.assert_array_equal(network.forward(x), x)


def test_a_reflection_twice_is_none_and_shapes_stay():
    images = rng.random((5, 3, 6, 7))
    always = reflected(1.0)
    draws = np.random.default_rng(0)
    np.testing.assert_array_equal(always(always(images, draws), draws), images)
    np.testing.assert_array_equal(always(images, draws), images[..., ::-1])
    for change in (shifted(2), reflected(), brightened(), several(shifted(1), brightened())):
        assert change(images, draws).shape == images.shape
    factor = brightened(0.2)(images, draws) / images
    np.testing.assert_allclose(factor, factor[:, :, :1, :1] * np.ones((1, 1, 6, 7)), rtol=1e-12)


def test_a_shift_moves_the_image_and_fills_with_zeros():
    image = np.zeros((200, 1, 5, 5))
    image[:, 0, 2, 2] = 1
    moved = shifted(1)(image, np.random.default_rng(0))
    assert (moved.sum(axis=(1, 2, 3)) == 1).all()
    assert (moved.sum(axis=0)[0] > 0).tolist() == [[1 <= y <= 3 and 1 <= x <= 3 for x in range(5)] for y in range(5)]


def test_moved_images_in_training_help_with_moved_images():
    """Two shapes that are always in the middle, asked for at the border."""
    shapes = np.array([[[1, 1, 0], [1, 1, 0], [0, 0, 0]], [[1, 0, 1], [0, 1, 0], [1, 0, 1]]], dtype=np.float32)
    y = np.arange(60) % 2
    draws = np.random.default_rng(0)
    X = 0.1 * draws.standard_normal((60, 1, 9, 9)).astype(np.float32)
    far = X.copy()
    X[:, 0, 3:6, 3:6] += shapes[y]
    far[:, 0, 1:4, 5:8] += shapes[y]
    accuracy = []
    for augment in (None, shifted(3)):
        network = Network([Flatten(), Dense(32), Activation("relu"), Dense(2)], (1, 9, 9), random_state=1)
        train(network, X, y, epochs=60, batch=10, learning_rate=0.01, augment=augment)
        accuracy.append((network.forward(far).argmax(axis=1) == y).mean())
    assert accuracy[1] > accuracy[0]
