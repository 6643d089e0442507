"""A multi-layer perceptron, 784-256-128-10, 60 000 rows, batches of 128, three epochs, in single precision."""

from itertools import pairwise

import numpy as np

import qed
from bench.harness import Contestant, Workload

SIZES = (784, 256, 128, 10)


def images(n: int, noise: float = 2.5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Give noisy pictures of ten shapes."""
    generator = np.random.default_rng(seed)
    shapes = generator.random((10, 784)) * (generator.random((10, 784)) < 0.3)
    y = generator.integers(0, 10, n)
    return (shapes[y] + noise * generator.standard_normal((n, 784)).astype(np.float32)).astype(np.float32), y


def torch_fit(model, X, y, batch: int, epochs: int, seed: int = 0):
    """Train with PyTorch's fused Adam, the rows in memory."""
    import torch

    torch.manual_seed(seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    loss_of = torch.nn.CrossEntropyLoss()
    n, mean = len(X), 0.0
    for _ in range(epochs):
        order, total = torch.randperm(n), 0.0
        for at in range(0, n, batch):
            part = order[at : at + batch]
            optimiser.zero_grad(set_to_none=True)
            loss = loss_of(model(X[part]), y[part])
            loss.backward()
            optimiser.step()
            total += float(loss.detach()) * len(part)
        mean = total / n
    return mean


def torch_layers(sizes):
    import torch

    torch.manual_seed(0)
    layers = []
    for inputs, outputs in pairwise(sizes[:-1]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-2], sizes[-1]))


def workload() -> Workload:
    import torch
    from sklearn.neural_network import MLPClassifier

    X, y = images(60_000)
    tensors = torch.from_numpy(X), torch.from_numpy(y)
    settings = {
        "hidden_layer_sizes": SIZES[1:-1], "alpha": 0.0, "batch_size": 128, "max_iter": 3, "tol": 0.0, "random_state": 0,
    }  # fmt: skip
    return Workload(
        "MLP 784-256-128-10, 60 000 rows, 3 epochs",
        "Adam, batches of 128, float32, from weights of one's own. Objective: mean loss of the last epoch.",
        [
            Contestant("qed", lambda: qed.MLPClassifier(**settings).fit(X, y), lambda model: model.loss_),
            Contestant("PyTorch, fused Adam", lambda: torch_fit(torch_layers(SIZES), *tensors, 128, 3), float),
            Contestant("scikit-learn", lambda: MLPClassifier(**settings).fit(X, y), lambda model: model.loss_),
        ],
        rounds=3,
        tolerance=0.05,
    )
