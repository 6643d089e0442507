"""k-means, 200 000 x 20, 60 clusters, each from its own k-means++."""

import numpy as np

import qed
from bench.harness import Contestant, Workload


def workload() -> Workload:
    from sklearn.cluster import KMeans
    from sklearnex.cluster import KMeans as Intel

    generator = np.random.default_rng(0)
    centers = generator.standard_normal((60, 20))
    X = centers[generator.integers(0, 60, 200_000)] + generator.standard_normal((200_000, 20))
    settings = {"n_clusters": 60, "n_init": 1, "max_iter": 20, "random_state": 0}

    def judge(model):
        return float(model.inertia_)

    return Workload(
        "KMeans, 200 000 x 20, 60 clusters, own seeding",
        "k-means++ with 6 candidates for each centre, then at most 20 iterations. Objective: inertia, which the draw decides: "
        "over many seeds the means agree, single fits differ by a few percent.",
        [
            Contestant("qed", lambda: qed.KMeans(**settings).fit(X), judge),
            Contestant("scikit-learn", lambda: KMeans(**settings).fit(X), judge),
            Contestant("scikit-learn-intelex", lambda: Intel(**settings).fit(X), judge),
        ],
        rounds=3,
        tolerance=3e-2,
    )
