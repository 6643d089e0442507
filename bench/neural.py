"""A multi-layer perceptron, 784-256-128-10, 60 000 rows, batches of 128, three epochs, in single precision.

Twice: on pictures that are hard to tell apart, and on some so easy that slopes and their means become tiny, down to numbers with which
a processor calculates a hundred times as slowly. ``QED_BENCH_ROWS`` asks for fewer rows.
"""

import os

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.pytorch import rivals
from qed.neural import Activation, Dense, Network

N, BATCH, EPOCHS = int(os.environ.get("QED_BENCH_ROWS", 60_000)), 128, 3


def images(n: int, noise: float = 2.5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Give noisy pictures of ten shapes."""
    generator = np.random.default_rng(seed)
    shapes = generator.random((10, 784)) * (generator.random((10, 784)) < 0.3)
    y = generator.integers(0, 10, n)
    return (shapes[y] + noise * generator.standard_normal((n, 784)).astype(np.float32)).astype(np.float32), y


def on(name: str, X: np.ndarray, y: np.ndarray, *, flush: bool) -> Workload:
    """Make the workload of one table."""
    from sklearn.neural_network import MLPClassifier

    settings = {
        "hidden_layer_sizes": (256, 128), "alpha": 0.0, "batch_size": BATCH, "max_iter": EPOCHS, "tol": 0.0, "random_state": 0,
    }  # fmt: skip
    layers = [Dense(256), Activation("relu"), Dense(128), Activation("relu"), Dense(10)]
    # The weights that the model draws from the same seed.
    start = Network(layers, X.shape[1], random_state=0)
    return Workload(
        f"MLP 784-256-128-10, {len(X):_} rows, {EPOCHS} epochs{name}".replace("_", " "),
        f"Adam, batches of {BATCH}, float32; PyTorch has the same first weights and batches as qed, scikit-learn its own. "
        "Objective: mean loss of the last epoch.",
        [
            Contestant("qed", lambda: qed.MLPClassifier(**settings).fit(X, y), lambda model: model.loss_),
            *rivals(start, X, y, BATCH, EPOCHS, flush=flush),
            Contestant(
                "scikit-learn", lambda: MLPClassifier(**settings).fit(X, y), lambda model: model.loss_, rounds=1
            ),
        ],
        rounds=3,
        # Rounding in single precision grows from step to step.
        tolerance=0.01,
    )


def workloads() -> list[Workload]:
    return [on("", *images(N), flush=False), on(", tiny slopes", *images(N, noise=0.1), flush=True)]
