"""Spectral clustering: two rings by nearest neighbours, apart and nearly touching, and blobs by a Gaussian kernel."""

import warnings

import numpy as np

import qed
from bench.harness import Contestant, Workload
from qed.linalg.graph.laplacian import Graph


def workloads() -> list[Workload]:
    apart = qed.data.synthetic.rings(5000, radii=(1.0, 2.0), noise=0.12, random_state=0)[0]
    touching = qed.data.synthetic.rings(5000, radii=(1.0, 1.8), noise=0.17, random_state=0)[0]
    neighbors = {"n_clusters": 2, "affinity": "nearest_neighbors", "n_neighbors": 10, "random_state": 0}
    return [
        _workload("two rings, 5 000 rows, 10 neighbours", apart, neighbors),
        _workload("two rings that touch, 5 000 rows, 10 neighbours", touching, neighbors),
        _workload("6 blobs, 2 000 x 5, rbf", _blobs(), {"n_clusters": 6, "gamma": 2.0, "random_state": 0}),
    ]


def _blobs() -> np.ndarray:
    generator = np.random.default_rng(0)
    X = 5 * generator.standard_normal((6, 5))[generator.integers(0, 6, 2000)] + 2 * generator.standard_normal((2000, 5))
    return np.asarray(X / X.std())


def _workload(name: str, X: np.ndarray, settings: dict) -> Workload:
    from sklearn.cluster import SpectralClustering

    def fit(kind):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a graph in parts is said by both
            return kind(**settings).fit(X)

    def judge(model):
        similar = model.affinity_matrix_
        return Graph.of((similar + similar.T) / 2).normalised_cut(model.labels_, settings["n_clusters"])

    return Workload(
        f"SpectralClustering, {name}",
        "scikit-learn's defaults otherwise. Objective: the normalised cut of the labels, in the same graph.",
        [
            Contestant("qed", lambda: fit(qed.SpectralClustering), judge),
            Contestant("scikit-learn", lambda: fit(SpectralClustering), judge),
        ],
        rounds=5,
        tolerance=1e-6,
    )
