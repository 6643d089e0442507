"""The slopes of every operation, and whole trainings, are those of PyTorch, where it is installed."""

import os

import numpy as np
import pytest

from bench.pytorch import orders, twin
from qed.neural import (
    Activation,
    AvgPool2d,
    BatchNorm,
    ChannelPool2d,
    Conv2d,
    Dense,
    Flatten,
    GlobalAvgPool2d,
    LocalNorm,
    MaxPool2d,
    Network,
    Parallel,
    Residual,
    train,
)

pytestmark = pytest.mark.slow
rng = np.random.default_rng(0)
IMAGES, TABLE = rng.normal(size=(5, 4, 7, 6)), rng.normal(size=(9, 4))


@pytest.fixture(scope="module")
def torch():
    """Give PyTorch, which is imported for these tests alone; it writes to the environment when it first trains."""
    found, before = pytest.importorskip("torch"), dict(os.environ)
    found.optim.SGD([found.zeros(1, requires_grad=True)]).step()
    yield found
    os.environ.clear()
    os.environ.update(before)


def conv(t, x, w, name, **how):
    return t.nn.functional.conv2d(x, w[f"{name}.weight"], w.get(f"{name}.bias"), **how)


def dense(x, w, name):
    return x @ w[f"{name}.weight"] + w[f"{name}.bias"]


# The layers, and the same in PyTorch as a function of the rows and of the weights by name.
CASES = {
    "dense": ([Dense(3)], lambda t, x, w: dense(x, w, "0")),
    "tanh": ([Dense(3), Activation("tanh")], lambda t, x, w: t.tanh(dense(x, w, "0"))),
    "logistic": ([Dense(3), Activation("logistic")], lambda t, x, w: t.sigmoid(dense(x, w, "0"))),
    "relu": ([Dense(3), Activation("relu")], lambda t, x, w: t.relu(dense(x, w, "0"))),
    "leaky_relu": (
        [Dense(3), Activation("leaky_relu", 0.2)],
        lambda t, x, w: t.nn.functional.leaky_relu(dense(x, w, "0"), 0.2),
    ),
    "piecewise_linear": (
        [Dense(3), Activation("piecewise_linear")],
        lambda t, x, w: t.clamp(dense(x, w, "0") + 0.5, 0, 1),
    ),
    "softmax": ([Dense(3), Activation("softmax")], lambda t, x, w: t.softmax(dense(x, w, "0"), 1)),
    "batch norm": (
        [Dense(3), BatchNorm()],
        lambda t, x, w: t.nn.functional.batch_norm(
            dense(x, w, "0"), None, None, w["1.scale"], w["1.bias"], training=True
        ),
    ),
    "convolution": (
        [Conv2d(6, (3, 2), stride=(2, 1), padding=1, groups=2)],
        lambda t, x, w: conv(t, x, w, "0", stride=(2, 1), padding=1, groups=2),
    ),
    "largest": (
        [Conv2d(3, 3), MaxPool2d(3, stride=2, padding=1)],
        lambda t, x, w: t.nn.functional.max_pool2d(conv(t, x, w, "0"), 3, 2, 1),
    ),
    "mean": (
        [Conv2d(3, 3), AvgPool2d(2, stride=1, padding=1)],
        lambda t, x, w: t.nn.functional.avg_pool2d(conv(t, x, w, "0"), 2, 1, 1),
    ),
    "mean of all": ([Conv2d(3, 3), GlobalAvgPool2d()], lambda t, x, w: conv(t, x, w, "0").mean(dim=(2, 3))),
    "channels": (
        [Conv2d(4, 3), ChannelPool2d(2)],
        lambda t, x, w: conv(t, x, w, "0").reshape(5, 2, 2, 5, 4).amax(dim=2),
    ),
    "response": (
        [Conv2d(6, 3), LocalNorm(3, alpha=0.5)],
        lambda t, x, w: t.nn.functional.local_response_norm(conv(t, x, w, "0"), 3, alpha=0.5, beta=0.75, k=2.0),
    ),
    "images by channel": (
        [Conv2d(3, 3), BatchNorm(), Flatten()],
        lambda t, x, w: t.nn.functional.batch_norm(
            conv(t, x, w, "0"), None, None, w["1.scale"], w["1.bias"], training=True
        ).flatten(1),
    ),
    "shortcut": (
        [Residual([Conv2d(5, 3, padding=1), Activation("tanh")], [Conv2d(5, 1, bias=False)])],
        lambda t, x, w: t.tanh(conv(t, x, w, "0.inside.0", padding=1)) + conv(t, x, w, "0.shortcut.0"),
    ),
    "branches": (
        [Parallel([[Conv2d(2, 1)], [MaxPool2d(3, stride=1, padding=1)]])],
        lambda t, x, w: t.cat([conv(t, x, w, BRANCH), t.nn.functional.max_pool2d(x, 3, 1, 1)], dim=1),
    ),
}
BRANCH = next(iter(Network([Parallel([[Conv2d(2, 1)]])], (4, 7, 6)).parameters)).removesuffix(".weight")
LOSSES = {
    "cross_entropy": lambda t, z, y: t.nn.functional.cross_entropy(z, y),
    "log_loss": lambda t, z, y: t.nn.functional.binary_cross_entropy_with_logits(z, y, reduction="sum") / len(y),
    "squared_error": lambda t, z, y: t.nn.functional.mse_loss(z, y) / 2,
    "absolute_error": lambda t, z, y: t.nn.functional.l1_loss(z, y),
    "poisson": lambda t, z, y: t.nn.functional.poisson_nll_loss(z, y),
}


def compared(torch, network, rows, model, loss, target):
    """Compare loss and slopes of a network with those of a function of tensors."""
    network.vector[:] += 0.1 * rng.normal(size=network.n_parameters)
    weights = {name: torch.tensor(value, requires_grad=True) for name, value in network.parameters.items()}
    theirs = loss(torch, model(torch, torch.from_numpy(rows), weights), torch.from_numpy(target))
    theirs.backward()
    ours, gradient = network.gradient(rows, target, training=True)
    # Sums of at most some thousand terms in double precision.
    assert ours == pytest.approx(float(theirs.detach()), rel=1e-12)
    for name, slope in network.views(gradient).items():
        found = weights[name].grad.numpy()
        np.testing.assert_allclose(slope, found, rtol=1e-9, atol=1e-11 * max(1.0, np.abs(gradient).max()), err_msg=name)


@pytest.mark.parametrize("case", CASES)
def test_the_slopes_of_every_layer(case, torch):
    layers, model = CASES[case]
    rows = IMAGES if any(isinstance(layer, (Conv2d, Residual, Parallel)) for layer in layers) else TABLE
    network = Network(layers, rows.shape[1:], loss="squared_error", dtype=np.float64)
    target = rng.normal(size=network.forward(rows).shape)
    if target.ndim == 4:
        # The loss is that of rows of numbers.
        network = Network([*layers, Flatten()], rows.shape[1:], loss="squared_error", dtype=np.float64)
        target, inner = target.reshape(len(target), -1), model

        def model(torch, x, w):
            return inner(torch, x, w).flatten(1)

    compared(torch, network, rows, model, LOSSES["squared_error"], target)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_slopes_of_every_loss(loss, torch):
    network = Network([Dense(3)], 4, loss=loss, dtype=np.float64)
    target = rng.integers(0, 3, 9) if loss == "cross_entropy" else rng.integers(0, 2, (9, 3)).astype(float)
    compared(torch, network, TABLE, CASES["dense"][1], LOSSES[loss], target)


@pytest.mark.parametrize("update", ["sgd", "momentum", "adam"])
def test_whole_trainings(update, torch):
    """Three epochs from the same weights through the same batches end at the same weights, in double precision."""
    stages = [Conv2d(3, 3, padding=1), Activation("relu"), MaxPool2d(2)]
    network = Network([*stages, Flatten(), Dense(5), Activation("relu"), Dense(2)], (1, 6, 6), dtype=np.float64)
    X, y = rng.normal(size=(40, 1, 6, 6)), rng.integers(0, 2, 40)
    model = twin(network).double()
    with torch.no_grad():
        for name, value in model.named_parameters():
            ours = network.parameters[name]
            value.copy_(torch.from_numpy((ours.T if ours.ndim == 2 else ours).copy()))
    rule = torch.optim.Adam if update == "adam" else torch.optim.SGD
    how = {"momentum": 0.9} if update == "momentum" else {}
    optimiser = rule(model.parameters(), lr=0.01, **how)
    for order in orders(40, 36, 3):
        for at in range(0, 40, 16):
            part = order[at : at + 16]
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(model(torch.from_numpy(X[part])), torch.from_numpy(y[part])).backward()
            optimiser.step()
    train(network, X, y, update=update, learning_rate=0.01, batch=16, epochs=3)
    for name, value in model.named_parameters():
        theirs = value.detach().numpy()
        ours = network.parameters[name]
        # Rounding of the last digit, which at most a thousandfold grows in nine steps.
        np.testing.assert_allclose(ours.T if ours.ndim == 2 else ours, theirs, rtol=1e-9, atol=1e-11, err_msg=name)
