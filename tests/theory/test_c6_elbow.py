"""C6-ELBOW: the objective never rises with the number of clusters, is zero for as many as rows, and bends at the right one."""

from itertools import pairwise

import numpy as np
import pytest

import qed


def blobs(centers, each=40, spread=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(np.asarray(centers, dtype=float), each, axis=0) + spread * rng.normal(
        size=(each * len(centers), 2)
    )


def test_the_curve_over_k_falls_when_each_fit_begins_at_the_last_and_one_row_more():
    X = blobs([[0, 0], [9, 0], [0, 9]], each=10)
    curve, centers = [], X.mean(axis=0, keepdims=True)
    for k in range(1, len(X) + 1):
        model = qed.KMeans(k, init=centers, tol=0).fit(X)
        curve.append(model.inertia_)
        farthest = X[model.transform(X).min(axis=1).argmax()]
        centers = np.vstack([model.cluster_centers_, farthest])
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(curve)) and curve[-1] == 0
    # The elbow: farthest from the chord.
    heights = (np.array(curve) - curve[0]) / (curve[-1] - curve[0]) - np.linspace(0, 1, len(curve))
    assert 1 + heights.argmax() == 3


@pytest.mark.parametrize("seed", range(3))
def test_the_path_falls_for_certain_and_bends_at_three(seed):
    X = blobs([[0, 0], [12, 0], [0, 12]], each=10, seed=seed)
    path = qed.kmeans_path(X, range(1, len(X) + 1), tol=0, random_state=seed)
    assert path.certificate and all(model.certificate_ for model in path.models)
    # Costs are sums of n squares, each rounded.
    assert (np.diff(path.inertia) <= len(X) * 1e-15 * path.inertia[0]).all()
    # A centre with one row is there but for the last digit.
    assert path.inertia[-1] <= len(X) * (2e-15 * np.abs(X).max()) ** 2
    assert path.elbow == 3 == path.best("elbow").n_clusters == path.choices["silhouette"]
    assert path.inertia[0] == pytest.approx(((X - X.mean(axis=0)) ** 2).sum(), rel=1e-13)


def test_without_a_warm_start_it_may_rise():
    # One beginning each, at any rows: some number of clusters ends worse than the one before.
    X = blobs([[i, j] for i in (0, 12, 24) for j in (0, 12, 24)], each=8)
    alone = [
        [qed.KMeans(k, init="random", n_init=1, random_state=seed).fit(X).inertia_ for k in range(6, 12)]
        for seed in range(4)
    ]
    warm = qed.kmeans_path(X, range(1, 12), random_state=2).inertia
    assert np.diff(alone, axis=1).max() > 0 >= np.diff(warm).max()
