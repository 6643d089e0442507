"""C6-TASK: a clustering is a partition, rows are more alike within clusters than across, and outliers fit badly."""

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


@pytest.mark.parametrize("kind", [qed.KMeans, qed.KMedians, qed.SoftKMeans, qed.GaussianMixture])
def test_planted_outliers_rank_first(kind):
    rng = np.random.default_rng(0)
    # Clusters that are no balls, and three rows that belong to none of them.
    long = rng.normal(size=(120, 2)) * [3.0, 0.5]
    X = np.vstack([long, long[:, ::-1] + [14.0, 0.0], [[7.0, 9.0], [0.0, 12.0], [-2.0, -12.0]]])
    model = kind(2, random_state=0).fit(X)
    scores = model.outlier_scores(X)
    assert set(np.argsort(scores)[-3:]) == {240, 241, 242}


def test_every_row_has_one_label_of_those_there_are():
    X = blobs([[0, 0], [9, 0]], each=20)
    for model in (qed.KMeans(2), qed.KMedians(2), qed.SoftKMeans(2), qed.KernelKMeans(2), qed.SpectralClustering(2)):
        labels = model.set_params(random_state=0).fit(X).labels_
        parts = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        assert sorted(np.concatenate(parts).tolist()) == list(range(40)) and len(parts) == 2
