"""O-KM: Lloyd's algorithm lowers the cost whenever a row moves, so no clustering repeats, by both rules for ties."""

from itertools import pairwise

import numpy as np
import pytest

import qed


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


def test_the_five_points_of_the_text():
    X = np.random.default_rng(0).normal(size=(5, 2))
    z = np.array([0, 1, 0, 0, 1])
    means = np.array([(X[0] + X[2] + X[3]) / 3, (X[1] + X[4]) / 2])
    for cluster in (0, 1):
        found = qed.KMeans(1, init=X[:1], tol=0).fit(X, sample_weight=(z == cluster).astype(float))
        np.testing.assert_allclose(found.cluster_centers_[0], means[cluster], rtol=1e-14)


def test_a_row_midway_goes_to_the_lower_number():
    X = np.array([[0.0], [2.0], [4.0]])
    for start, labels in (([[0.0], [4.0]], [0, 0, 1]), ([[4.0], [0.0]], [1, 0, 0])):
        assert qed.KMeans(2, init=start, ties="lower", tol=0).fit(X).labels_.tolist() == labels


def test_who_may_stay_does():
    # Centres 0 and 4 with the row at 2 midway, which was with the second when they moved there.
    X, start = np.array([[0.0], [2.0], [4.0], [6.0]]), np.array([[0.0], [3.5]])
    lower, stay = (qed.KMeans(2, init=start, ties=ties, tol=0).fit(X) for ties in ("lower", "stay"))
    assert stay.labels_.tolist() == [0, 1, 1, 1] and stay.cluster_centers_.ravel().tolist() == [0.0, 4.0]
    assert lower.labels_.tolist() == [0, 0, 1, 1] and lower.cluster_centers_.ravel().tolist() == [1.0, 5.0]
    for model in (lower, stay):
        assert model.certificate_ and qed.certify(model, X)
    assert lower.inertia_ < stay.inertia_ == 8.0


@pytest.mark.parametrize("k", [5, 6])
def test_as_many_clusters_as_rows_cost_nothing(k):
    X = np.random.default_rng(3).normal(size=(k, 2))
    assert qed.KMeans(k, random_state=0).fit(X).inertia_ == 0
