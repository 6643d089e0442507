"""A small multi-layer perceptron, 20-32-32-2, 10 000 rows, batches of 32, twenty epochs, in single precision."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.neural import torch_fit, torch_layers


def workload() -> Workload:
    import torch
    from sklearn.neural_network import MLPClassifier

    generator = np.random.default_rng(0)
    X = generator.standard_normal((10_000, 20)).astype(np.float32)
    y = (np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * generator.standard_normal(10_000) > 0).astype(np.int64)
    tensors = torch.from_numpy(X), torch.from_numpy(y)
    settings = {
        "hidden_layer_sizes": (32, 32), "alpha": 0.0, "batch_size": 32, "max_iter": 20, "tol": 0.0, "random_state": 0,
        "n_iter_no_change": 20,
    }  # fmt: skip
    return Workload(
        "MLP 20-32-32-2, 10 000 rows, 20 epochs",
        "Adam, batches of 32, float32, from weights of one's own. Objective: mean loss of the last epoch.",
        [
            Contestant("qed", lambda: qed.MLPClassifier(**settings).fit(X, y), lambda model: model.loss_),
            Contestant(
                "PyTorch, fused Adam", lambda: torch_fit(torch_layers((20, 32, 32, 2)), *tensors, 32, 20), float
            ),
            Contestant("scikit-learn", lambda: MLPClassifier(**settings).fit(X, y), lambda model: model.loss_),
        ],
        rounds=3,
        tolerance=0.1,
    )
