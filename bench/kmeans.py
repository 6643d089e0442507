"""k-means, 200 000 x 20, 50 clusters, from the same start: clusters that overlap."""

import warnings

import numpy as np

import qed
from bench.harness import Contestant, Workload

N, P, K = 200_000, 20, 50


def table(spread: float, dtype: type = np.float64) -> tuple[np.ndarray, dict]:
    """Give rows about fifty centres, so far apart in units of the noise, and settings that begin at the same rows."""
    generator = np.random.default_rng(0)
    centers = spread * generator.standard_normal((K, P))
    X = centers[generator.integers(0, K, N)] + generator.standard_normal((N, P))
    X = X.astype(dtype)
    start = X[generator.choice(len(X), K, replace=False)]
    return X, {"n_clusters": K, "init": start, "n_init": 1, "max_iter": 50, "tol": 1e-4}


def inertia_of(centers: np.ndarray, X: np.ndarray) -> float:
    """Judge centres of whatever make by the same sum, in double precision."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = qed.KMeans(len(centers), init=X[: len(centers)], max_iter=1).fit(X[: len(centers)])
    model.cluster_centers_ = np.asarray(centers)
    return -model.score(X)


def workload(spread: float = 1.0, dtype: type = np.float64, what: str = "", tolerance: float = 1e-4) -> Workload:
    from sklearn.cluster import KMeans
    from sklearnex.cluster import KMeans as Intel

    X, settings = table(spread, dtype)

    def judge(model):
        return inertia_of(model.cluster_centers_, X)

    return Workload(
        f"KMeans, 200 000 x 20, 50 clusters{what}",
        "Lloyd from the same given start, at most 50 iterations, tol = 1e-4. Objective: inertia.",
        [
            Contestant("qed", lambda: qed.KMeans(**settings).fit(X), judge),
            Contestant("scikit-learn", lambda: KMeans(**settings).fit(X), judge),
            Contestant("scikit-learn-intelex", lambda: Intel(**settings).fit(X), judge),
        ],
        rounds=5,
        tolerance=tolerance,
    )
