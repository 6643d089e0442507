"""k-means, 200 000 x 20, 50 clusters, from the same start."""

import numpy as np

import qed
from bench.harness import Contestant, Workload


def workload() -> Workload:
    from sklearn.cluster import KMeans
    from sklearnex.cluster import KMeans as Intel

    generator = np.random.default_rng(0)
    centers = generator.standard_normal((50, 20))
    X = centers[generator.integers(0, 50, 200_000)] + generator.standard_normal((200_000, 20))
    start = X[generator.choice(len(X), 50, replace=False)]
    settings = {"n_clusters": 50, "init": start, "n_init": 1, "max_iter": 50, "tol": 1e-4}

    def judge(model):
        return float(model.inertia_)

    return Workload(
        "KMeans, 200 000 x 20, 50 clusters",
        "Lloyd from the same given start, at most 50 iterations, tol = 1e-4. Objective: inertia.",
        [
            Contestant("qed", lambda: qed.KMeans(**settings).fit(X), judge),
            Contestant("scikit-learn", lambda: KMeans(**settings).fit(X), judge),
            Contestant("scikit-learn-intelex", lambda: Intel(**settings).fit(X), judge),
        ],
        rounds=5,
        tolerance=1e-4,
    )
