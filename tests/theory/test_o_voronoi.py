"""O-VORONOI: clusters of k-means are cells of Voronoi, intersections of half-spaces."""

import numpy as np
import pytest

import qed


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


@pytest.mark.parametrize("p", [1, 2, 5])
def test_every_row_is_on_its_side_of_every_plane(p):
    X = np.random.default_rng(p).normal(size=(200, p))
    model = qed.KMeans(7, random_state=0, tol=0).fit(X)
    centers = model.cluster_centers_
    half = (centers**2).sum(axis=1) / 2
    for label, row in zip(model.labels_, X):
        # x'(mu_j - mu_i) <= (|mu_j|^2 - |mu_i|^2) / 2 for its own i and every j, but for rounding.
        assert (row @ (centers - centers[label]).T <= half - half[label] + 1e-13).all()
