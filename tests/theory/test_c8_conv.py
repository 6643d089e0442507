"""C8-FC, C8-CONV, C8-CONV-FC, C8-CONV-MULTI, C8-STRIDE, C8-BP-CONV: filters that slide over images."""

import numpy as np
import pytest

from qed.neural import Conv2d, Dense, Network
from qed.neural.engine import Convolve, Node, Windows, apply, gradients

rng = np.random.default_rng(0)


def convolve(images, filters, **how):
    return Convolve(Windows(filters.shape[2:], **how)).forward(images, filters)


def test_a_dense_layer_between_images_has_too_many_weights():
    assert Network([Dense(3072, bias=False)], 3072).n_parameters == 9_437_184
    assert Dense(1).weights((784,))["weight"].size == 784


def test_nine_weights_in_the_place_of_1225():
    network = Network([Conv2d(1, 3, bias=False)], (1, 7, 7))
    assert network.n_parameters == 9 and network.shapes[1] == (1, 5, 5)
    assert Network([Dense(25, bias=False)], 49).n_parameters == 1225


def test_it_is_the_sum_of_the_formula_without_a_flip():
    images, filters = rng.normal(size=(1, 2, 5, 4)), rng.normal(size=(1, 2, 3, 2))
    found = convolve(images, filters)[0, 0]
    for y, x in np.ndindex(3, 3):
        assert found[y, x] == pytest.approx((images[0, :, y : y + 3, x : x + 2] * filters[0]).sum(), rel=1e-12)


def test_it_is_linear_in_the_image_and_in_the_filter():
    a, b = rng.normal(size=(2, 1, 2, 6, 6))
    f, g = rng.normal(size=(2, 3, 2, 3, 3))
    np.testing.assert_allclose(convolve(2 * a - b, f), 2 * convolve(a, f) - convolve(b, f), atol=1e-12)
    np.testing.assert_allclose(convolve(a, 3 * f + g), 3 * convolve(a, f) + convolve(a, g), atol=1e-12)


def test_a_moved_image_gives_moved_maps():
    image, filters = np.zeros((1, 1, 9, 9)), rng.normal(size=(2, 1, 3, 3))
    image[0, 0, 2:5, 2:5] = rng.normal(size=(3, 3))
    moved = np.roll(image, (2, 1), axis=(2, 3))
    np.testing.assert_allclose(
        convolve(moved, filters), np.roll(convolve(image, filters), (2, 1), axis=(2, 3)), atol=1e-14
    )


def test_a_solid_filter_is_a_sum_of_flat_ones():
    """An operator on three axes that has no room to move along the depth, or one for each channel, summed."""
    images, filters = rng.normal(size=(2, 3, 6, 6)), rng.normal(size=(1, 3, 3, 3))
    flat = sum(convolve(images[:, [c]], filters[:, [c]]) for c in range(3))
    np.testing.assert_allclose(convolve(images, filters), flat, atol=1e-12)


def test_it_is_a_dense_layer_with_zeros_and_shared_weights():
    filters = rng.normal(size=(1, 2, 3, 3))
    basis = np.eye(2 * 5 * 5).reshape(50, 2, 5, 5)
    matrix = convolve(basis, filters).reshape(50, 9).T
    images = rng.normal(size=(4, 2, 5, 5))
    np.testing.assert_allclose(images.reshape(4, 50) @ matrix.T, convolve(images, filters).reshape(4, 9), atol=1e-12)
    assert len(np.unique(matrix[matrix != 0])) == 2 * 3 * 3
    assert ((matrix != 0).sum(axis=1) == 18).all()


def test_six_filters_give_six_maps():
    network = Network([Conv2d(6, 5)], (3, 32, 32))
    assert network.shapes[1] == (6, 28, 28)
    assert network.parameters["0.weight"].size == 450 and network.n_parameters == 456


@pytest.mark.parametrize("stride", [2, 3])
def test_a_stride_leaves_positions_out(stride):
    images, filters = rng.normal(size=(2, 2, 9, 8)), rng.normal(size=(3, 2, 3, 2))
    whole = convolve(images, filters)
    np.testing.assert_allclose(
        convolve(images, filters, stride=(stride, stride)), whole[:, :, ::stride, ::stride], atol=1e-12
    )


@pytest.mark.parametrize(
    ("width", "size", "padding", "stride"), [(7, 3, 0, 1), (7, 3, 1, 2), (32, 5, 2, 1), (10, 4, 1, 3)]
)
def test_the_number_of_positions(width, size, padding, stride):
    shape = Conv2d(1, size, stride=stride, padding=padding).shape((1, width, width))
    assert shape[1] == (width - size + 2 * padding) // stride + 1
    if stride == 1 and size % 2 and padding == (size - 1) // 2:
        assert shape[1] == width


def slopes(images, filters, upstream):
    nodes = Node(images), Node(filters)
    out = apply(Convolve(Windows(filters.shape[2:])), *nodes)
    return out.value, *gradients(out, nodes, seed=upstream)


def test_slopes_are_the_sums_of_the_text():
    images, filters, upstream = (
        rng.normal(size=(1, 2, 5, 5)),
        rng.normal(size=(1, 2, 3, 3)),
        rng.normal(size=(1, 1, 3, 3)),
    )
    _, to_images, to_filters = slopes(images, filters, upstream)
    for c, a, b in np.ndindex(2, 3, 3):
        assert to_filters[0, c, a, b] == pytest.approx((upstream[0, 0] * images[0, c, a : a + 3, b : b + 3]).sum())
    # The slope of the image is the full convolution: every window that saw a pixel, with the filter's weight for it.
    for c, y, x in np.ndindex(2, 5, 5):
        total = sum(
            upstream[0, 0, i, j] * filters[0, c, y - i, x - j]
            for i, j in np.ndindex(3, 3)
            if 0 <= y - i < 3 and 0 <= x - j < 3
        )
        assert to_images[0, c, y, x] == pytest.approx(total)


def test_backward_is_the_adjoint_of_forward():
    images, filters, upstream = (
        rng.normal(size=(2, 3, 6, 5)),
        rng.normal(size=(4, 3, 3, 2)),
        rng.normal(size=(2, 4, 4, 4)),
    )
    out, to_images, to_filters = slopes(images, filters, upstream)
    inner = (out * upstream).sum()
    assert (images * to_images).sum() == pytest.approx(inner, rel=1e-12)
    assert (filters * to_filters).sum() == pytest.approx(inner, rel=1e-12)
