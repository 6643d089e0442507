"""C8-ARCH-LENET, C8-ARCH-ALEX, C8-ARCH-VGG, C8-ARCH-INCEPTION, C8-ARCH-RESNET, C8-DEPTH, O-DLMENTION: networks that won, counted."""

import numpy as np
import pytest

import qed
from qed.neural import Chain, Conv2d, Dense, Network, zoo
from qed.neural.layers.activation import Activation


def digits():
    X, y = qed.data.load("digits").Xy()
    return (np.asarray(X).reshape(-1, 1, 8, 8) / 16)[:600], np.asarray(y, dtype=int)[:600]


class TestLenet:
    def test_counts(self):
        plan = zoo.lenet()
        assert plan.n_parameters == 61_706
        assert [shape for shape in plan.shapes if len(shape) == 3][-1] == (16, 5, 5)

    def test_the_first_stage_sees_five_pixels_and_the_last_all(self):
        sizes = [field.size for field in zoo.lenet().receptive_fields]
        assert sizes[0] == (5, 5) and sizes[2] == (6, 6) and sizes[3] == (14, 14) and sizes[-1] == (32, 32)


class TestAlexnet:
    def test_counts(self):
        lines = zoo.alexnet().summary()
        total, largest = sum(line.parameters for line in lines), max(line.parameters for line in lines)
        assert total == 60_965_224 and largest == 37_752_832 and round(largest / total, 3) == 0.619

    def test_fully_connected_layers_hold_most_and_filters_multiply_most(self):
        lines = zoo.alexnet().summary()
        dense = [line for line in lines if line.layer.startswith("Dense")]
        assert sum(line.parameters for line in dense) > 0.9 * zoo.alexnet().n_parameters
        assert sum(line.products for line in dense) < 0.1 * zoo.alexnet().n_products


class TestVgg:
    def test_counts(self):
        assert zoo.vgg(16).n_parameters == 138_357_544 and zoo.vgg(19).n_parameters == 143_667_240

    def test_three_small_filters_against_a_large_one(self):
        channels = 8
        stacked = sum(w.size for w in Chain([Conv2d(channels, 3, bias=False)] * 3).weights((channels, 7, 7)).values())
        wide = sum(w.size for w in Conv2d(channels, 7, bias=False).weights((channels, 7, 7)).values())
        assert stacked == 27 * channels**2 and wide == 49 * channels**2 and round(stacked / wide, 3) == 0.551

    def test_without_activations_three_small_filters_are_one_large_one(self):
        three = Network([Conv2d(1, 3, bias=False)] * 3, (1, 7, 7), dtype=np.float64, random_state=0)
        one = Network([Conv2d(1, 7, bias=False)], (1, 7, 7), dtype=np.float64)
        assert three.shapes[-1] == one.shapes[-1] == (1, 1, 1)
        # The filter of a linear map is what it makes of each pixel alone.
        one.parameters["0.weight"][...] = three.forward(np.eye(49).reshape(49, 1, 7, 7)).reshape(1, 1, 7, 7)
        images = np.random.default_rng(0).standard_normal((5, 1, 7, 7))
        assert np.allclose(three.forward(images), one.forward(images), rtol=0, atol=1e-12)


class TestInception:
    def test_counts(self):
        plan = zoo.googlenet()
        assert plan.n_parameters == 6_998_552
        assert sum(isinstance(layer, Dense) for layer in plan.layers) == 1
        assert zoo.alexnet().n_parameters / plan.n_parameters > 8

    def test_channels_add_up_and_narrowing_is_cheaper(self):
        cheap = zoo.inception_module(64, 96, 128, 16, 32, 32)
        naive = zoo.inception_module(64, None, 128, None, 32, None)
        shape = (192, 28, 28)
        assert cheap.shape(shape) == (64 + 128 + 32 + 32, 28, 28) and naive.shape(shape) == (
            64 + 128 + 32 + 192,
            28,
            28,
        )
        counts = [sum(w.size for n, w in m.weights(shape).items() if n.endswith("weight")) for m in (cheap, naive)]
        assert counts == [163_328, 387_072] and cheap.products(shape) < naive.products(shape)

    def test_filters_of_one_pixel_are_a_linear_map_at_each(self):
        network = Network([Conv2d(2, 1, bias=False)], (3, 4, 4), dtype=np.float64, random_state=0)
        images = np.random.default_rng(0).standard_normal((2, 3, 4, 4))
        by_hand = np.einsum("oc,nchw->nohw", network.parameters["0.weight"][:, :, 0, 0], images)
        assert np.allclose(network.forward(images), by_hand, rtol=0, atol=1e-14)


class TestResnet:
    def test_counts(self):
        found = {depth: zoo.resnet(depth).n_parameters for depth in (18, 34, 50, 152)}
        assert found == {18: 11_689_512, 34: 21_797_672, 50: 25_557_032, 152: 60_192_808}

    def test_a_block_without_weights_is_the_identity_and_so_is_its_derivative(self):
        block = zoo.residual_block(2).layers[0]  # without the activation behind the sum
        network = Network([block], (2, 3, 3), dtype=np.float64)
        for name, value in network.parameters.items():
            if name.endswith("weight"):
                value[...] = 0
        image = np.random.default_rng(0).standard_normal((1, 2, 3, 3))
        assert np.array_equal(network.forward(image), image)
        for place in ((0, 1, 1), (1, 0, 2)):
            slope = network.input_gradient(image, lambda run, at=place: _one(run.output, at))
            assert slope[(0, *place)] == 1 and np.count_nonzero(slope) == 1

    def test_slopes_vanish_in_a_deep_plain_stack_and_not_around_shortcuts(self):
        """The first layer of a plain stack of logistic units gets less and less to learn from, the deeper the stack."""
        plain, residual = ([_first_slope(depth, around) for depth in (2, 10, 20)] for around in (False, True))
        assert plain[0] > 1e2 * plain[1] > 1e4 * plain[2]
        assert residual[2] > 0.1 * residual[0]


def _one(node, place):
    mask = np.zeros(node.shape)
    mask[(slice(None), *place)] = 1
    return (node * mask).sum()


def _first_slope(depth, around):
    inner = [Dense(8), Activation("logistic")]
    blocks = [qed.neural.Residual(inner) if around else Chain(inner) for _ in range(depth)]
    network = Network([*blocks, Dense(2)], 8, dtype=np.float64, random_state=0)
    draws = np.random.default_rng(1)
    slopes = network.gradients(draws.standard_normal((50, 8)), draws.integers(2, size=50))
    return np.linalg.norm(slopes["0.inside.0.weight" if around else "0.0.weight"])


SMALL = [zoo.small_alexnet, zoo.small_vgg, zoo.small_googlenet, zoo.small_resnet]


@pytest.mark.parametrize("plan", [zoo.lenet, *SMALL], ids=lambda plan: plan.__name__)
def test_small_ones_learn(plan):
    """Some steps downhill on the same batch of digits: the loss falls to a fraction of that of guessing, log 10."""
    X, y = digits()
    X, y, network = X[:32], y[:32], plan((1, 8, 8)).network(random_state=0)
    draws, mean, square = np.random.default_rng(0), 0.0, 0.0
    for step in range(1, 41):
        slope = network.gradient(X, y, training=True, draws=draws)[1]
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        network.vector -= 0.02 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    assert network.gradient(X, y)[0] < np.log(10) / 2


def test_depth():
    """C8-DEPTH: the winners grew deeper, and not larger."""
    plans = [zoo.alexnet(), zoo.vgg(19), zoo.googlenet(), zoo.resnet(152)]
    depths = [8, 19, 22, 152]
    assert [plan.year for plan in plans] == sorted(plan.year for plan in plans)
    assert [_depth(Chain(plan.layers)) for plan in plans] == depths
    assert plans[2].n_parameters < plans[0].n_parameters and plans[3].n_parameters < plans[0].n_parameters


def _depth(layer):
    """Count the layers with weights one behind the other, along the longest way."""
    if isinstance(layer, (Conv2d, Dense)):
        return 1
    depths = [_depth(inner) for _, inner in layer.parts()]
    return sum(depths) if isinstance(layer, Chain) else max(depths, default=0)
