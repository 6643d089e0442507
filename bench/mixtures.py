"""A Gaussian mixture, full covariances, 100 000 x 10, 10 components, 30 iterations from the same start."""

import numpy as np

import qed
from bench.harness import Contestant, Workload

N, P, K, ITERATIONS = 100_000, 10, 10, 30


def table(offset: float = 0.0) -> tuple[np.ndarray, dict]:
    """Give rows of overlapping components, far from zero or not, and settings that begin at the same mixture."""
    generator = np.random.default_rng(0)
    centers = 3 * generator.standard_normal((K, P))
    shapes = np.eye(P) + 0.2 * generator.standard_normal((K, P, P))
    label = generator.integers(0, K, N)
    X = centers[label] + np.einsum("nij,nj->ni", shapes[label], generator.standard_normal((N, P)))
    start = X[generator.choice(N, K, replace=False)]
    settings = {
        "n_components": K,
        "weights_init": np.full(K, 1 / K),
        "means_init": start + offset,
        "precisions_init": np.stack([np.eye(P) / 10] * K),
        "max_iter": ITERATIONS,
        "tol": 0.0,
    }
    return X + offset, settings


def workload(offset: float = 0.0, where: str = "") -> Workload:
    from sklearn.mixture import GaussianMixture

    X, settings = table(offset)

    def judge(model):
        return -float(qed.GaussianMixture.score(mixture(model), X))

    def mixture(model):
        """Judge both by the same density: that of ours, with their parameters."""
        found = qed.GaussianMixture(K).fit(X[: 10 * K])
        for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
            setattr(found, name, getattr(model, name))
        return found

    return Workload(
        f"GaussianMixture, 100 000 x 10, 10 components{where}",
        "30 iterations of EM with full covariances from the same start (tol = 0). Objective: minus the mean log-likelihood.",
        [
            Contestant("qed", lambda: qed.GaussianMixture(**settings).fit(X), judge),
            Contestant("scikit-learn", lambda: GaussianMixture(**settings).fit(X), judge),
        ],
        rounds=3,
        tolerance=1e-6,
    )
