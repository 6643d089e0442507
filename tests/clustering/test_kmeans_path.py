"""k-means over the number of clusters: one path, any source, and rules that agree with their definitions."""

import numpy as np
import pytest
import scipy.sparse as sp

import qed
from qed.base.errors import ParameterError
from qed.clustering.means.path import elbow_of


def blobs(each=30, seed=0):
    centers = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0]])
    return np.repeat(centers, each, axis=0) + np.random.default_rng(seed).normal(size=(4 * each, 3))


def test_every_rule_finds_four():
    path = qed.kmeans_path(blobs(), range(1, 9), random_state=0)
    # BIC and the shape agree; Akaike's may take more.
    assert path.certificate and path.choices["elbow"] == path.choices["bic"] == path.choices["silhouette"] == 4
    assert path.choices["aic"] >= 4 and [model.n_clusters for model in path.models] == list(range(1, 9))


def test_files_sparse_rows_and_weights_give_the_same_path(tmp_path):
    X = np.round(blobs(), 3)
    weight = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    path = qed.kmeans_path(X, range(1, 6), random_state=0, sample_weight=weight)
    repeated = qed.kmeans_path(np.repeat(X, weight.astype(int), axis=0), range(1, 6), random_state=0)
    sparse = qed.kmeans_path(sp.csr_matrix(X), range(1, 6), random_state=0, sample_weight=weight)
    np.save(tmp_path / "rows.npy", np.repeat(X, weight.astype(int), axis=0))
    stored = qed.kmeans_path(qed.rows(str(tmp_path / "rows.npy")), range(1, 6), random_state=0)
    for other in (repeated, sparse, stored):
        # Sums are added in another order, and sparse distances by lengths and products.
        np.testing.assert_allclose(other.inertia, path.inertia, rtol=1e-9)
        for rule in ("silhouette", "aic", "bic"):
            np.testing.assert_allclose(getattr(other, rule), getattr(path, rule), rtol=1e-9)
        assert other.choices == path.choices


def test_the_silhouette_is_its_definition_with_rows_alone_counting_zero():
    X = np.array([[0.0], [1.0], [10.0], [30.0]])
    path = qed.kmeans_path(X, [2, 3], tol=0, random_state=0)
    for model, found in zip(path.models, path.silhouette):
        away = np.sort(np.abs(X - model.cluster_centers_.ravel()), axis=1)
        alone = np.bincount(model.labels_)[model.labels_] == 1
        assert found == pytest.approx(np.where(alone, 0.0, 1 - away[:, 0] / away[:, 1]).mean(), rel=1e-14)


def test_a_gap_in_the_numbers_is_no_matter():
    X = blobs()
    path = qed.kmeans_path(X, [2, 8, 4], random_state=0)
    assert path.n_clusters.tolist() == [2, 4, 8] and (np.diff(path.inertia) < 0).all()


def test_what_can_not_be_asked_is_said():
    X = blobs(3)
    for wrong in ([], [0, 2], [1.5]):
        with pytest.raises(ParameterError, match="whole numbers"):
            qed.kmeans_path(X, wrong)
    with pytest.raises(ParameterError, match="rule"):
        qed.kmeans_path(X, [1, 2]).best("taste")


def test_a_straight_curve_has_its_elbow_at_the_first():
    assert elbow_of(np.array([1, 2, 3]), np.array([3.0, 2.0, 1.0])) == 0
    assert elbow_of(np.array([4]), np.array([3.0])) == 0
