"""k-means with a thousand clusters, 1 000 000 x 10, ten iterations from the same start.

``QED_BENCH_ROWS`` asks for fewer rows.
"""

import os

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.kmeans import inertia_of

N, P, K, ITERATIONS = int(os.environ.get("QED_BENCH_ROWS", 1_000_000)), 10, 1000, 10


def workload() -> Workload:
    import faiss
    from sklearn.cluster import KMeans
    from sklearnex.cluster import KMeans as Intel

    generator = np.random.default_rng(0)
    centers = 3 * generator.standard_normal((K, P))
    X = (centers[generator.integers(0, K, N)] + generator.standard_normal((N, P))).astype(np.float32)
    start = X[generator.choice(N, K, replace=False)]
    settings = {"n_clusters": K, "init": start, "n_init": 1, "max_iter": ITERATIONS, "tol": 0.0}

    def judge(centers):
        return inertia_of(centers, X)

    def by_faiss():
        # All rows, no sampling; empty clusters are split by its own rule.
        model = faiss.Kmeans(P, K, niter=ITERATIONS, max_points_per_centroid=N, seed=0)
        model.train(X, init_centroids=start)
        return model.centroids

    return Workload(
        f"KMeans, {N:_} x 10, 1 000 clusters".replace("_", " "),
        f"{ITERATIONS} iterations of Lloyd from the same given start in single precision. Objective: inertia.",
        [
            Contestant("qed", lambda: qed.KMeans(**settings).fit(X).cluster_centers_, judge),
            Contestant("scikit-learn", lambda: KMeans(**settings).fit(X).cluster_centers_, judge),
            Contestant("scikit-learn-intelex", lambda: Intel(**settings).fit(X).cluster_centers_, judge),
            Contestant("faiss", by_faiss, judge),
        ],
        rounds=3,
        tolerance=1e-3,
    )
