"""A small multi-layer perceptron, 20-32-32-2, 10 000 rows, batches of 32, twenty epochs, in single precision."""

import numpy as np

from bench.harness import Contestant, Workload
from bench.pytorch import rivals
from qed.neural import Activation, Dense, Network, train

BATCH, EPOCHS = 32, 20


def small() -> Network:
    return Network([Dense(32), Activation("relu"), Dense(32), Activation("relu"), Dense(2)], 20)


def workload() -> Workload:
    from sklearn.neural_network import MLPClassifier

    generator = np.random.default_rng(0)
    X = generator.standard_normal((10_000, 20)).astype(np.float32)
    y = (np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * generator.standard_normal(10_000) > 0).astype(np.int64)
    settings = {
        "hidden_layer_sizes": (32, 32), "alpha": 0.0, "batch_size": BATCH, "max_iter": EPOCHS, "tol": 0.0, "random_state": 0,
        "n_iter_no_change": EPOCHS,
    }  # fmt: skip
    return Workload(
        "MLP 20-32-32-2, 10 000 rows, 20 epochs",
        f"Adam, batches of {BATCH}, float32; PyTorch has the same first weights and batches as qed, scikit-learn its own, and one "
        "output for two classes. Objective: mean loss of the last epoch.",
        [
            Contestant("qed", lambda: train(small(), X, y, batch=BATCH, epochs=EPOCHS).losses[-1], float),
            *rivals(small(), X, y, BATCH, EPOCHS),
            Contestant(
                "scikit-learn", lambda: MLPClassifier(**settings).fit(X, y), lambda model: model.loss_, rounds=1
            ),
        ],
        rounds=3,
        # Rounding in single precision grows from step to step.
        tolerance=0.02,
    )
