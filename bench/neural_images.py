"""LeNet on 10 000 images of 28 x 28, batches of 64, one epoch, in single precision."""

from bench.harness import Contestant, Workload
from bench.neural import images, torch_fit
from qed.neural import Activation, Conv2d, Dense, Flatten, MaxPool2d, Network, train


def lenet() -> Network:
    stages = [
        Conv2d(6, 5, padding=2),
        Activation("relu"),
        MaxPool2d(2),
        Conv2d(16, 5),
        Activation("relu"),
        MaxPool2d(2),
    ]
    dense = [Flatten(), Dense(120), Activation("relu"), Dense(84), Activation("relu"), Dense(10)]
    return Network([*stages, *dense], (1, 28, 28))


def torch_lenet():
    import torch
    from torch import nn

    torch.manual_seed(0)
    stages = nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)
    dense = nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)
    return nn.Sequential(*stages, *dense).to(memory_format=torch.channels_last)


def workload() -> Workload:
    import torch

    X, y = images(10_000, noise=0.35)
    X = X.reshape(-1, 1, 28, 28)
    tensors = torch.from_numpy(X).to(memory_format=torch.channels_last), torch.from_numpy(y)

    def ours() -> float:
        return train(lenet(), X, y, batch=64, epochs=1).losses[-1]

    return Workload(
        "LeNet, 10 000 x 28 x 28, 1 epoch",
        "Adam, batches of 64, float32, from weights of one's own. Objective: mean loss of the epoch.",
        [
            Contestant("qed", ours, float),
            Contestant("PyTorch, channels last", lambda: torch_fit(torch_lenet(), *tensors, 64, 1), float),
        ],
        rounds=5,
        tolerance=0.25,
    )
