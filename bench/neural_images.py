"""LeNet on 10 000 images of 28 x 28, batches of 64, one epoch, in single precision."""

from bench.harness import Contestant, Workload
from bench.neural import images
from bench.pytorch import rivals
from qed.neural import Activation, Conv2d, Dense, Flatten, MaxPool2d, Network, train

BATCH = 64


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


def workload() -> Workload:
    X, y = images(10_000, noise=0.35)
    X = X.reshape(-1, 1, 28, 28)
    return Workload(
        "LeNet, 10 000 x 28 x 28, 1 epoch",
        f"Adam, batches of {BATCH}, float32; both have the same first weights and batches. Objective: mean loss of the epoch.",
        [
            Contestant("qed", lambda: train(lenet(), X, y, batch=BATCH, epochs=1).losses[-1], float),
            *rivals(lenet(), X, y, BATCH, 1),
        ],
        rounds=5,
        # Rounding in single precision grows from step to step.
        tolerance=0.01,
    )
