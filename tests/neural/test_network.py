"""Networks: shapes, weights in one vector, gradients of whole networks by central differences."""

import numpy as np
import pytest

from qed.base.errors import InputError, ParameterError
from qed.neural import (
    Activation,
    AvgPool2d,
    BatchNorm,
    Chain,
    ChannelPool2d,
    Conv2d,
    Dense,
    Dropout,
    Flatten,
    GlobalAvgPool2d,
    LocalNorm,
    MaxPool2d,
    Network,
    Parallel,
    Residual,
    Unflatten,
)


def everything():
    return [
        Unflatten((1, 6, 6)),
        Conv2d(4, 3, padding="same"),
        BatchNorm(),
        Activation("tanh"),
        Residual([Conv2d(4, 3, padding=1, groups=2), LocalNorm(3), Activation("logistic")]),
        Parallel(
            [[Conv2d(2, 1)], [Conv2d(3, 3, padding=1), Activation("leaky_relu")], [AvgPool2d(3, stride=1, padding=1)]]
        ),
        MaxPool2d(2),
        ChannelPool2d(3, "mean"),
        Residual([Conv2d(2, 3, stride=2, padding=1, bias=False)], [Conv2d(2, 1, stride=2)]),
        Chain([Activation("identity"), GlobalAvgPool2d()]),
        Dense(5, bias=False, start="lecun"),
        Activation("piecewise_linear"),
        Dropout(0.25),
        Dense(3, start="he"),
    ]


@pytest.mark.parametrize("training", [False, True])
def test_gradients_of_everything_are_those_of_central_differences(training):
    network = Network(everything(), 36, dtype=np.float64, random_state=3)
    rng = np.random.default_rng(0)
    network.vector[:] += 0.1 * rng.normal(size=network.n_parameters)
    X, y, weight = rng.normal(size=(5, 36)), rng.integers(0, 3, 5), rng.random(5)

    def loss(vector):
        draws = np.random.default_rng(7)
        return network.gradient(X, y, weight, training=training, draws=draws, vector=vector)

    value, gradient = loss(None)
    step = 1e-6
    for i in rng.choice(network.n_parameters, 40, replace=False):
        ends = []
        for sign in (1, -1):
            moved = network.vector.copy()
            moved[i] += sign * step
            ends.append(loss(moved)[0])
        # The network is smooth here but for a few kinks that are farther away than the step.
        assert gradient[i] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=2e-8 + 1e-6 * abs(gradient[i]))
    assert value == loss(network.vector)[0]


def test_shapes_and_counts():
    network = Network(everything(), 36)
    assert network.shapes[1:3] == [(1, 6, 6), (4, 6, 6)]
    assert network.shapes[6] == (9, 6, 6) and network.shapes[-1] == (3,)
    assert network.vector.dtype == np.float32
    assert sum(line.parameters for line in network.summary()) == network.n_parameters == len(network.vector)
    assert network.summary()[1].products == 4 * 9 * 36
    assert set(network.running) == {"2.mean", "2.variance"}
    assert network.parameters["4.inside.0.weight"].shape == (4, 2, 3, 3)
    assert "Conv2d" in repr(network)


def test_parameters_are_views():
    network = Network([Dense(2)], 3)
    network.parameters["0.weight"][:] = 0
    network.parameters["0.bias"][:] = [1, 2]
    np.testing.assert_array_equal(network.forward(np.ones((1, 3))), [[1, 2]])
    assert network.vector.sum() == 3


def test_seeds_draw_the_same_weights():
    one, same, other = (Network([Dense(5), Dense(2)], 3, random_state=seed) for seed in (1, 1, 2))
    assert (one.vector == same.vector).all() and (one.vector != other.vector).any()
    assert np.abs(one.parameters["0.weight"]).max() <= np.sqrt(6 / 8)


def test_images_and_their_numbers_are_the_same():
    network = Network([Conv2d(2, 3), Flatten(), Dense(2)], (1, 5, 5))
    X = np.random.default_rng(0).normal(size=(4, 25))
    np.testing.assert_array_equal(network.forward(X), network.forward(X.reshape(4, 1, 5, 5)))
    np.testing.assert_allclose(network.forward(np.tile(X, (3, 1)), block=5)[:4], network.forward(X), rtol=1e-5)
    assert network.activations(X)["0"].shape == (4, 2, 3, 3)
    assert network.run(X, until=1).output.shape == (4, 2, 3, 3)
    assert network.gradients(X, [0, 1, 1, 0])["2.bias"].shape == (2,)


def test_dropout_keeps_the_mean_and_sleeps_in_prediction():
    network = Network([Dropout(0.3)], 20000)
    X = np.ones((1, 20000))
    np.testing.assert_array_equal(network.forward(X), X)
    dropped = network.forward(X, training=True, draws=np.random.default_rng(0))
    assert set(np.unique(dropped)) == {0, np.float32(1 / 0.7)}
    # Five standard deviations of a mean of 20000 draws with variance 0.3 / 0.7.
    assert dropped.mean() == pytest.approx(1, abs=5 * np.sqrt(0.3 / 0.7 / 20000))
    with pytest.raises(InputError, match="draws"):
        network.forward(X, training=True)


def test_batch_normalisation_collects_running_means():
    network = Network([BatchNorm(momentum=1.0)], 3, dtype=np.float64)
    X = np.random.default_rng(0).normal(2, 3, size=(50, 3))
    seen = network.forward(X, training=True)
    np.testing.assert_allclose(seen.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(network.running["0.mean"], X.mean(axis=0))
    np.testing.assert_allclose(network.running["0.variance"], X.var(axis=0, ddof=1))
    # Means and variances collected in full: prediction then differs by n / (n - 1) only.
    np.testing.assert_allclose(network.forward(X) * np.sqrt(50 / 49), seen, rtol=1e-4)


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="Flatten"):
        Network([Dense(2)], (1, 4, 4))
    with pytest.raises(InputError, match="images"):
        Network([Conv2d(2, 2)], 4)
    with pytest.raises(InputError, match="fit"):
        Network([Conv2d(2, 5)], (1, 4, 4))
    with pytest.raises(InputError, match="same shape"):
        Network([Residual([Conv2d(2, 1)])], (1, 4, 4))
    with pytest.raises(InputError, match="equally large"):
        Network([Parallel([[Conv2d(2, 1)], [Conv2d(2, 3)]])], (1, 4, 4))
    with pytest.raises(InputError, match="no layer"):
        Network(["relu"], 4)
    with pytest.raises(InputError, match="rows of shape"):
        Network([Dense(2)], 4).forward(np.zeros((2, 3)))
    with pytest.raises(InputError, match="fill"):
        Network([Unflatten((1, 2, 2))], 5)
    with pytest.raises(InputError, match="groups"):
        Network([Conv2d(2, 1, groups=2)], (3, 4, 4))
    with pytest.raises(InputError, match="branch"):
        Parallel([])
    for wrong in (
        lambda: Dense(0),
        lambda: Conv2d(1, (1, 2, 3)),
        lambda: Dropout(1.0),
        lambda: ChannelPool2d(2, "sum"),
    ):
        with pytest.raises(ParameterError):
            wrong()
    with pytest.raises(ParameterError, match="start"):
        Dense(2, start="orthogonal")


def test_convolution_is_that_of_plain_loops():
    rng = np.random.default_rng(0)
    network = Network([Conv2d(4, (3, 2), stride=(2, 1), padding=(1, 2), groups=2)], (4, 7, 6), dtype=np.float64)
    X = rng.normal(size=(2, 4, 7, 6))
    filters, padded = network.parameters["0.weight"], np.pad(X, ((0, 0), (0, 0), (1, 1), (2, 2)))
    found = network.forward(X)
    expected = np.zeros_like(found)
    for n, o, i, j in np.ndindex(*found.shape):
        first = 0 if o < 2 else 2
        window = padded[n, first : first + 2, 2 * i : 2 * i + 3, j : j + 2]
        expected[n, o, i, j] = (window * filters[o]).sum()
    np.testing.assert_allclose(found, expected, atol=1e-12)
