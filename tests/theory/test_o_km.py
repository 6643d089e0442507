"""C6-TASK, C6-ELBOW, C6-KM-LIMITS, O-KM, O-KM-INIT, O-VORONOI, O-KM-APPS: what clusters are, and what k-means can not do."""

from itertools import pairwise

import numpy as np
import pytest

import qed


def blobs(centers, each=40, spread=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(np.asarray(centers, dtype=float), each, axis=0) + spread * rng.normal(
        size=(each * len(centers), 2)
    )


def test_a_clustering_is_a_partition_and_outliers_are_far_from_their_centre():
    X = np.vstack([blobs([[0, 0], [12, 0], [0, 12]]), [[6.0, 6.0], [-7.0, -7.0]]])
    model = qed.KMeans(3, random_state=0).fit(X)
    assert model.labels_.shape == (122,) and set(model.labels_) == {0, 1, 2}
    distance = model.transform(X).min(axis=1)
    assert set(np.argsort(distance)[-2:]) == {120, 121}
    same = model.labels_[:, None] == model.labels_
    apart = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    assert apart[same].mean() < apart[~same].mean()


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


def test_stretched_clusters_are_cut_across():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) * [12.0, 0.5] + np.repeat([[0.0, 0.0], [0.0, 5.0]], 200, axis=0)
    labels = qed.KMeans(2, random_state=0).fit(X).labels_
    right = max((labels == (np.arange(400) >= 200)).mean(), (labels != (np.arange(400) >= 200)).mean())
    assert right < 0.9


@pytest.mark.parametrize("ties", ["lower", "stay"])
def test_moving_rows_lowers_the_cost_strictly_and_no_clustering_repeats(ties):
    X = np.random.default_rng(1).integers(0, 6, (120, 2)).astype(float)
    walk = qed.steps(qed.KMeans(6, init="random", n_init=1, random_state=0, ties=ties, tol=0), X)
    models = [walk.model_at(step) for step in walk]
    clusterings = [model.labels_.tobytes() for model in models]
    for (before, after), (a, b) in zip(pairwise(models), pairwise(clusterings)):
        if a != b:
            assert after.inertia_ < before.inertia_
    assert len(set(clusterings)) >= len(clusterings) - 1


@pytest.mark.parametrize("init", ["random", "random-domain", "k-means++"])
def test_every_beginning_ends_at_a_fixed_point(init):
    X = blobs([[0, 0], [9, 0], [0, 9]])
    first = next(step for step in qed.steps(qed.KMeans(3, init=init, n_init=4, random_state=0), X) if not step.prepares)
    assert (first.centers >= X.min(axis=0)).all() and (first.centers <= X.max(axis=0)).all()
    if init != "random-domain":
        assert {tuple(center) for center in first.centers} <= {tuple(row) for row in X}
    many = qed.KMeans(3, init=init, n_init=4, random_state=0, tol=0).fit(X)
    one = qed.KMeans(3, init=init, n_init=1, random_state=0, tol=0).fit(X)
    # Clusters with other numbers are added up in another order.
    assert many.certificate_ and one.certificate_ and many.inertia_ <= one.inertia_ * (1 + 1e-12)


def test_cells_are_convex_and_midpoints_lie_on_their_boundary():
    X = np.random.default_rng(4).normal(size=(300, 2))
    model = qed.KMeans(6, random_state=0, tol=0).fit(X)
    rng = np.random.default_rng(5)
    for k in range(6):
        own = X[model.labels_ == k]
        a, b = own[rng.integers(len(own), size=(2, 50))]
        share = rng.random((50, 1))
        assert set(model.predict(share * a + (1 - share) * b)) == {k}
    first, second = model.cluster_centers_[:2]
    distance = model.transform([(first + second) / 2])[0]
    assert distance[0] == pytest.approx(distance[1], rel=1e-12)


def test_rings_are_beyond_it():
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    labels = qed.KMeans(2, random_state=0).fit(np.vstack([ring, 5 * ring])).labels_
    assert len(set(labels[200:])) == 2


def test_an_image_in_few_colours():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (40, 50, 3)).astype(float)
    pixels = image.reshape(-1, 3)
    errors = []
    for k in (4, 16):
        model = qed.KMeans(k, random_state=0, tol=1e-3).fit(pixels)
        quantised = model.cluster_centers_[model.labels_]
        assert len(np.unique(quantised, axis=0)) <= k
        errors.append(((quantised - pixels) ** 2).mean())
        assert errors[-1] == pytest.approx(model.inertia_ / pixels.size, rel=1e-9)
    assert errors[1] < errors[0]
