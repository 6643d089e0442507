"""Training: the compiled ways find the gradients of the graph, seeds give the same bits, and a broken run goes on as if it were whole."""

import numpy as np
import pytest

import qed
from qed.base.errors import InputError, ParameterError
from qed.neural import (
    Activation,
    BatchNorm,
    Conv2d,
    Dense,
    Dropout,
    Flatten,
    MaxPool2d,
    Network,
    Schedule,
    Update,
    train,
)
from qed.neural.training import passes
from qed.neural.training.dense_kernel import ACTIVATIONS, LOSSES, dense_gradient
from qed.neural.training.dense_way import DenseRoom, dense_shape
from qed.neural.training.image_way import ImageHalf, ImagePlan
from qed.neural.training.updates import KINDS, adam_rows, momentum_rows

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(50, 6)), rng.integers(0, 3, 50)


def network(dtype=np.float64, activation="tanh", loss="cross_entropy", outputs=3):
    layers = [Dense(7), Activation(activation), Dense(4), Activation(activation), Dense(outputs)]
    return Network(layers, 6, loss=loss, dtype=dtype)


def targets(loss):
    return {"cross_entropy": Y, "log_loss": (X[:, :2] > 0) * 1.0, "squared_error": X[:, 1:3] ** 2}[loss]


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_compiled_gradient_of_dense_layers_is_that_of_the_graph(activation, loss):
    net, y, weight = (
        network(activation=activation, loss=loss, outputs=3 if loss == "cross_entropy" else 2),
        targets(loss),
        rng.random(50),
    )
    shape = dense_shape(net)
    codes = y if y.ndim == 1 else np.zeros(50, np.int64)
    target = np.zeros((50, 0)) if y.ndim == 1 else np.ascontiguousarray(y)
    gradient = np.zeros_like(net.vector)
    arrays = DenseRoom(shape.sizes, 50, net.dtype).arrays
    lost = dense_gradient(
        X, codes, target, weight, net.vector, gradient, shape.sizes, shape.hidden, 0.01, shape.loss, 1 / weight.sum(), arrays
    )  # fmt: skip
    expected, wanted = net.gradient(X, y, weight)
    assert lost / weight.sum() == pytest.approx(expected, rel=1e-12)
    # Sums of 50 terms of the same size in another order.
    np.testing.assert_allclose(gradient, wanted, atol=1e-13)


@pytest.mark.parametrize(
    "stages",
    [
        [Conv2d(3, (3, 2), padding=(1, 0)), Activation("relu"), MaxPool2d(2)],
        [
            Conv2d(2, 3, padding=1),
            Activation("relu"),
            MaxPool2d(2),
            Conv2d(4, 2, padding=1),
            Activation("relu"),
            MaxPool2d(2),
        ],
    ],
)
@pytest.mark.parametrize("dense", [[Dense(3)], [Dense(5), Activation("tanh"), Dense(4), Activation("tanh"), Dense(3)]])
def test_the_compiled_gradient_of_images_is_that_of_the_graph(stages, dense):
    net = Network([*stages, Flatten(), *dense], (2, 9, 7), dtype=np.float64)
    net.vector[:] += 0.1 * np.random.default_rng(1).normal(size=net.n_parameters)
    plan = ImagePlan.of(net)
    images, y, weight = rng.normal(size=(8, 126)), rng.integers(0, 3, 8), rng.random(8)
    half = ImageHalf(plan, 8, np.dtype(np.float64))
    for n in (8, 5):
        lost = half.run(images[:n], y[:n], np.zeros((n, 0)), weight[:n], net.vector, 1 / weight[:n].sum())
        expected, wanted = net.gradient(images[:n], y[:n], weight[:n])
        assert lost / weight[:n].sum() == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(half.gradient, wanted, atol=1e-12)


@pytest.mark.parametrize("least", [0.0, np.inf])
def test_shares_of_classes_are_targets_too(least, monkeypatch):
    monkeypatch.setattr(passes, "COMPILED_FROM", least)
    shares = np.eye(3)[Y]
    by_number, by_share = network(), network()
    train(by_number, X, Y, batch=16, epochs=2)
    train(by_share, X, shares, batch=16, epochs=2)
    np.testing.assert_allclose(by_share.vector, by_number.vector, rtol=1e-9, atol=1e-11)


def test_targets_and_weights_that_do_not_fit_are_refused_before_anything_is_compiled():
    for wrong in (Y[:-1], np.where(Y == 2, 3, Y), Y - 1, Y + 0.5, np.full(len(Y), np.nan), np.array(["a"] * len(Y))):
        with pytest.raises(InputError, match="targets|Classes"):
            train(network(), X, wrong)
    with pytest.raises(InputError, match="match"):
        train(network(), X, np.eye(4)[Y])
    for wrong in (np.ones(3), -np.ones(len(X)), np.zeros(len(X)), np.full(len(X), np.nan)):
        with pytest.raises(InputError, match="sample_weight"):
            train(network(), X, Y, sample_weight=wrong)


def test_what_has_no_compiled_way_goes_through_the_graph():
    assert dense_shape(Network([Dense(3), Dropout(0.1), Dense(2)], 4)) is None
    assert dense_shape(Network([Dense(3), Activation("tanh"), Dense(3), Activation("relu"), Dense(2)], 4)) is None
    for slopes, told in (((0.3, 0.3), 0.3), ((0.3, 0.1), None)):
        hidden = [layer for slope in slopes for layer in (Dense(3), Activation("leaky_relu", slope))]
        shape = dense_shape(Network([*hidden, Dense(2)], 4))
        assert (None if shape is None else shape.delta) == told
    assert (
        ImagePlan.of(
            Network([Conv2d(2, 3, stride=2), Activation("relu"), MaxPool2d(2), Flatten(), Dense(2)], (1, 9, 9))
        )
        is None
    )
    assert ImagePlan.of(Network([Conv2d(2, 3), BatchNorm(), Flatten(), Dense(2)], (1, 9, 9))) is None


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_updates_are_those_of_numpy(kind):
    update = Update(kind)
    vector, gradient = rng.normal(size=(2, 40))
    ways = [[vector.copy(), *update.begin(vector)] for _ in range(2)]
    for t in range(1, 4):
        update.step(ways[0][0], gradient, *ways[0][1:], 0.1, t)
        constants = update.constants(0.1, t)
        if kind == "adam":
            adam_rows(ways[1][0], gradient, *ways[1][1:], *constants)
        else:
            momentum_rows(ways[1][0], gradient, *ways[1][1:], *constants, kind == "nesterov")
    np.testing.assert_allclose(ways[0][0], ways[1][0], rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compiled", [False, True])
def test_a_run_that_is_broken_off_goes_on_to_the_same_bits(kind, compiled, monkeypatch):
    if compiled:
        monkeypatch.setattr(passes, "COMPILED_FROM", 0.0)
    whole, broken = network(np.float32), network(np.float32)
    train(whole, X, Y, update=kind, batch=8, epochs=6, random_state=3)
    first = train(broken, X, Y, update=kind, batch=8, epochs=2, random_state=3)
    broken.begin(9)
    found = train(broken, X, Y, update=kind, batch=8, epochs=6, start=first.ending.last)
    np.testing.assert_array_equal(whole.vector, broken.vector)
    assert len(found.losses) == 6


@pytest.mark.parametrize("images", [False, True])
def test_how_many_epochs_there_may_be_changes_no_bit(images, monkeypatch):
    """The way through a batch follows from the work of one epoch: else a run that goes on with more of them would take another."""
    layers = [Conv2d(2, 3), Activation("relu"), MaxPool2d(2), Flatten(), Dense(3)] if images else [Dense(7), Dense(3)]
    rows = rng.normal(size=(50, 36))
    whole, broken = (Network(layers, (1, 6, 6) if images else 36) for _ in range(2))
    work = 50.0 * (whole.chain.products(whole.input_shape) if images else whole.n_parameters + 1000)
    # Between the work of one epoch and that of all.
    monkeypatch.setattr(passes, "IMAGES_FROM" if images else "COMPILED_FROM", 3 * work)
    train(whole, rows, Y, batch=8, epochs=6)
    train(broken, rows, Y, batch=8, epochs=6, start=train(broken, rows, Y, batch=8, epochs=2).ending.last)
    np.testing.assert_array_equal(whole.vector, broken.vector)


def test_dropping_and_normalising_resume_to_the_same_bits():
    def make():
        return Network([Dense(8), BatchNorm(), Activation("relu"), Dropout(0.3), Dense(3)], 6)

    whole, broken = make(), make()
    train(whole, X, Y, batch=10, epochs=4)
    train(broken, X, Y, batch=10, epochs=4, start=train(broken, X, Y, batch=10, epochs=2).ending.last)
    np.testing.assert_array_equal(whole.vector, broken.vector)
    np.testing.assert_array_equal(whole.running["1.mean"], broken.running["1.mean"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_compiled_way_goes_where_the_graph_goes(kind, shuffle, monkeypatch):
    """The last batch has a single row, so that one of the two parts has none."""
    rows, found = X[:49], []
    for least, shared, given in ((np.inf, np.inf, rows), (0.0, 0.0, rows), (0.0, np.inf, rows[:, :].copy(order="F"))):
        monkeypatch.setattr(passes, "COMPILED_FROM", least)
        monkeypatch.setattr(passes, "SHARED_FROM", shared)
        net = network()
        train(net, given, Y[:49], update=kind, batch=16, epochs=2, weight_decay=0.01, shuffle=shuffle)
        found.append(net.vector)
    # Eight updates, each of which takes on a few roundings and passes on those before it.
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-9, atol=1e-11)


def test_rows_that_may_not_be_written_to_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(passes, "COMPILED_FROM", 0.0)
    fixed = X.astype(np.float32)
    fixed.flags.writeable = False
    found = []
    for given in (X.astype(np.float32), fixed):
        net = network(np.float32)
        train(net, given, Y, batch=16, epochs=2)
        found.append(net.vector)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("shared", [False, True])
def test_threads_change_no_bit(shared, monkeypatch):
    monkeypatch.setattr(passes, "COMPILED_FROM", 0.0)
    monkeypatch.setattr(passes, "SHARED_FROM", 0.0 if shared else np.inf)
    found = []
    for threads in (1, 2):
        net = network(np.float32)
        with qed.threads(threads):
            train(net, X, Y, batch=16, epochs=3, weight_decay=0.01)
        found.append(net.vector)
    np.testing.assert_array_equal(*found)


def test_the_ways_agree(monkeypatch):
    """One loop, two halves and the graph: the same steps but for the order of sums."""
    found = []
    for compiled, shared in ((np.inf, np.inf), (0.0, np.inf), (0.0, 0.0)):
        monkeypatch.setattr(passes, "COMPILED_FROM", compiled)
        monkeypatch.setattr(passes, "SHARED_FROM", shared)
        net = network()
        losses = train(net, X, Y, update="nesterov", batch=16, epochs=3, learning_rate=0.1, weight_decay=0.01).losses
        found.append(np.concatenate([net.vector, losses]))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-10, atol=1e-12)


def test_images_on_the_compiled_way_agree_with_the_graph(monkeypatch):
    found = []
    images, y = rng.normal(size=(20, 1, 8, 8)), rng.integers(0, 2, 20)
    for limit in (np.inf, 0.0):
        monkeypatch.setattr(passes, "IMAGES_FROM", limit)
        net = Network(
            [Conv2d(3, 3), Activation("relu"), MaxPool2d(2), Flatten(), Dense(2)], (1, 8, 8), dtype=np.float64
        )
        train(net, images, y, update="momentum", batch=7, epochs=3, learning_rate=0.05)
        found.append(net.vector)
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-12)


def test_numbers_that_vanish_become_zero():
    vector, first, second = np.ones(2, np.float32), np.full(2, 1e-30, np.float32), np.full(2, 1e-44, np.float32)
    adam_rows(
        vector, np.zeros(2, np.float32), first, second, *(np.float32(value) for value in (1e-3, 0.9, 0.999, 1, 1, 1e-8))
    )
    assert not first.any() and not second.any()


def test_the_rate_is_cut_where_training_gets_nowhere():
    assert [Schedule("adaptive", 1.0).rate(0, 0, cuts) for cuts in range(2)] == [1.0, 0.2]
    net = Network([Dense(1)], 1, loss="squared_error", dtype=np.float64)
    still = train(
        net, np.zeros((4, 1)), np.zeros(4), update="sgd", schedule="adaptive", learning_rate=0.1, patience=1, epochs=100
    )
    assert still.ending.step.cuts > 3 and still.ending.n_iter < 60


def test_what_makes_no_sense_is_refused():
    for wrong in (lambda: Update("rmsprop"), lambda: Schedule("linear")):
        with pytest.raises(ParameterError):
            wrong()
    with pytest.raises(InputError, match="rows of shape"):
        train(network(), X[:, :2], Y)
