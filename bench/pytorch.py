"""PyTorch as a rival: networks with the weights of ours, trained on the same batches, so that losses differ by rounding alone.

PyTorch is no part of the extra ``bench``, because its plain name fetches gigabytes of code for graphics cards; who has the build
for processors gets it measured, and without it a workload goes on with the others.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

import qed
from bench.harness import Contestant
from qed.neural import Activation, Conv2d, Dense, Flatten, MaxPool2d, Network


def twin(network: Network) -> Any:
    """Give the same network of PyTorch, with copies of the weights."""
    import torch
    from torch import nn

    layers = []
    for number, (layer, given) in enumerate(zip(network.layers, network.shapes)):
        if isinstance(layer, Dense):
            made = nn.Linear(given[0], layer.outputs)
        elif isinstance(layer, Conv2d):
            made = nn.Conv2d(given[0], layer.filters, layer.size, layer.stride, layer.padding)
        elif isinstance(layer, MaxPool2d):
            made = nn.MaxPool2d(layer.size, layer.stride)
        elif isinstance(layer, Flatten):
            made = nn.Flatten()
        elif isinstance(layer, Activation) and layer.name == "relu":
            made = nn.ReLU()
        else:
            raise NotImplementedError(f"{layer!r} has no counterpart here.")
        if hasattr(made, "weight"):
            weight = network.parameters[f"{number}.weight"]
            with torch.no_grad():
                # A dense layer of theirs has a row for each output.
                made.weight.copy_(torch.from_numpy((weight.T if weight.ndim == 2 else weight).copy()))
                made.bias.copy_(torch.from_numpy(network.parameters[f"{number}.bias"].copy()))
        layers.append(made)
    return nn.Sequential(*layers)


def orders(n: int, columns: int, epochs: int, seed: int = 0) -> list[np.ndarray]:
    """Give the order of rows in each epoch, as our training has it."""
    numbers, rows = np.arange(n), np.broadcast_to(np.float32(0), (n, columns))
    known = qed.rows(rows, numbers)
    return [np.concatenate([part.y for part in known.stream(seed, epoch, n)]) for epoch in range(1, epochs + 1)]


@contextmanager
def denormals_flushed(wanted: bool) -> Iterator[None]:
    """Have the processor take numbers next to zero for zero, which is a state of this thread."""
    import torch

    torch.set_flush_denormal(wanted)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def trained(model: Any, X: Any, y: Any, batch: int, orders: list[Any], flush: bool = False) -> float:
    """Train with PyTorch's fused Adam, the rows in memory; give the mean loss of the last epoch."""
    import torch

    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    loss_of = torch.nn.CrossEntropyLoss()
    n, total = len(X), 0.0
    with denormals_flushed(flush):
        for order in orders:
            total = 0.0
            for at in range(0, n, batch):
                part = order[at : at + batch]
                optimiser.zero_grad(set_to_none=True)
                loss = loss_of(model(X[part]), y[part])
                loss.backward()
                optimiser.step()
                total += float(loss.detach()) * len(part)
    return total / n


def rivals(
    network: Network, X: np.ndarray, y: np.ndarray, batch: int, epochs: int, *, flush: bool = False
) -> list[Contestant]:
    """Give PyTorch as a contestant that starts from the weights of a network; none where it is not installed."""
    if find_spec("torch") is None:
        return []
    import torch

    start = twin(network)
    images = X.ndim == 4
    rows, classes = torch.from_numpy(X), torch.from_numpy(np.asarray(y, dtype=np.int64))
    if images:
        rows = rows.to(memory_format=torch.channels_last)
    turns = [torch.from_numpy(order) for order in orders(len(X), int(np.prod(X.shape[1:])), epochs)]

    def run(flush: bool = False) -> float:
        model = twin(network)
        model.load_state_dict(start.state_dict())
        if images:
            model = model.to(memory_format=torch.channels_last)
        return trained(model, rows, classes, batch, turns, flush)

    name = "PyTorch, fused Adam, channels last" if images else "PyTorch, fused Adam"
    found = [Contestant(name, run, float)]
    if flush:
        found.append(Contestant(f"{name}, denormals flushed", lambda: run(flush=True), float))
    return found
