"""Spectral clustering: the same cut as scikit-learn's, new rows, and graphs that go wrong."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import SpectralClustering as Peer
from sklearn.metrics import adjusted_rand_score

import qed
from qed.base.errors import InputError, NotAvailableError, ParameterError
from qed.clustering.spectral.labelling import by_pivots, discretised
from qed.linalg.graph.laplacian import Graph
from qed.linalg.graph.spectrum import smallest


def blobs(n=90, spread=0.6, seed=0):
    random = np.random.default_rng(seed)
    return np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])[np.arange(n) % 3] + spread * random.normal(size=(n, 2))


@pytest.mark.parametrize("assign", ["kmeans", "discretize", "cluster_qr"])
@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors", "laplacian"])
def test_clusters_are_those_of_the_peer(affinity, assign):
    X = blobs()
    settings = {"affinity": affinity, "assign_labels": assign, "random_state": 0, "gamma": 1.5, "n_neighbors": 15}
    ours, peer = (kind(3, **settings).fit(X) for kind in (qed.SpectralClustering, Peer))
    assert adjusted_rand_score(ours.labels_, peer.labels_) == 1 and bool(ours.certificate_)
    graph = Graph.of(ours.affinity_matrix_)
    assert ours.normalized_cut_ == pytest.approx(graph.normalised_cut(peer.labels_, 3), rel=1e-12)
    new = blobs(60, seed=5)
    assert (ours.predict(new) == ours.labels_[:3][np.arange(60) % 3]).mean() > 0.95


@pytest.mark.parametrize("n", [450, 700])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_large_graph_has_the_spectrum_of_the_whole_matrix(n, kind):
    X, _ = qed.data.synthetic.moons(n, noise=0.1, random_state=1)
    if kind == "dense":
        graph = Graph.of(qed.kernels.RBF(5.0)(X))
    else:
        near = qed.NearestNeighbors(n_neighbors=7).fit(X).kneighbors_graph(X)
        graph = Graph.of(sparse.coo_matrix((near + near.T) / 2))
    values, vectors = smallest(graph, 6)
    laplacian = graph.laplacian()
    whole = np.linalg.eigvalsh(laplacian.toarray() if kind == "sparse" else laplacian)
    # Values are right to a few roundings of n terms; vectors are as good as the residual allows.
    assert np.abs(values - whole[:6]).max() < 1e-12
    assert np.abs(vectors.T @ vectors - np.eye(6)).max() < 1e-12
    assert np.abs(graph.laplacian_times(vectors) - vectors * values).max() < 1e-11


def test_public_numbers_of_a_sparse_graph_are_noticed_when_they_move():
    X = blobs(60)
    model = qed.SpectralClustering(3, affinity="nearest_neighbors", n_neighbors=20, random_state=0).fit(X)
    assert bool(qed.certify(model, X))
    for name in ("eigenvalues_", "embedding_", "cluster_centers_", "normalized_cut_", "affinity_matrix_"):
        kept = getattr(model, name)
        moved = kept * 1.001
        setattr(model, name, moved)
        assert not qed.certify(model, X), name
        setattr(model, name, kept)
    model.labels_ = np.roll(model.labels_, 1)
    assert not qed.certify(model, X)


def test_similarities_that_are_given_do_what_their_kernel_does():
    X, new = blobs(), blobs(12, seed=3)
    kernel = qed.kernels.RBF(1.5)
    made = qed.SpectralClustering(3, affinity=kernel, random_state=0).fit(X)
    given = qed.SpectralClustering(3, affinity="precomputed", random_state=0).fit(kernel(X))
    assert (made.labels_ == given.labels_).all() and (made.predict(new) == given.predict(kernel(new, X))).all()


def test_what_is_no_graph_is_refused_in_a_sentence():
    X = blobs(12)
    with pytest.raises(InputError, match="must not be negative"):
        qed.SpectralClustering(2, affinity="linear").fit(X - 5 * np.sign(X))
    with pytest.raises(InputError, match="square matrix"):
        qed.SpectralClustering(2, affinity="precomputed").fit(X)
    with pytest.raises(InputError, match="2 rows can not make n_clusters=3"):
        qed.SpectralClustering(3).fit(X[:2])
    with pytest.raises(ParameterError, match="n_neighbors=10 is more than the 4 rows"):
        qed.SpectralClustering(2, affinity="nearest_neighbors").fit(X[:4])
    with pytest.raises(ParameterError, match="as many components as clusters"):
        qed.SpectralClustering(2, n_components=3, assign_labels="discretize").fit(X)
    with pytest.raises(ParameterError, match="kernel_params are for"):
        qed.SpectralClustering(2, kernel_params={"a": 1}).fit(X)
    with pytest.raises(ParameterError, match="n_components out"):
        qed.spectral_path(X, [2, 3], n_components=2)
    with pytest.warns(UserWarning, match="not symmetric"):
        qed.SpectralClustering(2, affinity="precomputed", random_state=0).fit(np.triu(np.ones((6, 6))))
    near = qed.NearestNeighbors(n_neighbors=5).fit(X).kneighbors_graph(X, mode="distance")
    model = qed.SpectralClustering(2, affinity="precomputed_nearest_neighbors", n_neighbors=4, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(near)
    with pytest.raises(NotAvailableError):
        model.predict(near)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 5),
    st.integers(1, 3),
    st.sampled_from([1.0, 1e-6, 1e3]),
    st.sampled_from(["kmeans", "discretize", "cluster_qr"]),
    st.integers(0, 2**16),
)
@pytest.mark.filterwarnings("ignore")
def test_rows_that_repeat_or_lie_alone_are_clustered_and_proven(distinct, times, scale, assign, seed):
    """Duplicates, constant columns, rows too far from all others to be similar to any."""
    random = np.random.default_rng(seed)
    X = np.repeat(random.integers(-2, 3, (distinct, 2)) * scale, times, axis=0)
    X = np.column_stack([X, np.full(len(X), 7.0)])
    k = int(random.integers(1, min(3, len(X)) + 1))
    model = qed.SpectralClustering(k, assign_labels=assign, random_state=0).fit(X)
    assert bool(model.certificate_), str(model.certificate_)
    assert model.normalized_cut_ >= 0 and model.labels_.shape == (len(X),) and set(model.predict(X)) <= set(range(k))


def test_as_many_clusters_as_rows():
    X = blobs(6)
    model = qed.SpectralClustering(6, random_state=0).fit(X)
    assert sorted(model.labels_) == list(range(6)) and bool(model.certificate_)


def test_rows_that_are_similar_to_none_are_labelled_like_the_nearest():
    X = blobs(30, spread=0.1)
    model = qed.SpectralClustering(3, gamma=1.0, random_state=0).fit(X)
    assert model.predict([[100.0, 0.0]]).item() == model.labels_[1]


def test_labels_from_vectors_need_no_more_than_a_rotation():
    random = np.random.default_rng(0)
    truth = random.integers(0, 4, 200)
    turn = np.linalg.qr(random.normal(size=(4, 4)))[0]
    vectors = (np.eye(4)[truth] + 0.1 * random.normal(size=(200, 4))) @ turn
    assert adjusted_rand_score(truth, by_pivots(vectors)) == 1
    assert adjusted_rand_score(truth, discretised(vectors, 0)) == 1


def test_saved_and_loaded_it_predicts_the_same(tmp_path):
    X = blobs()
    for affinity in ("rbf", "nearest_neighbors"):
        model = qed.SpectralClustering(3, affinity=affinity, n_neighbors=20, random_state=0).fit(X)
        qed.save(model, tmp_path / "model.qed")
        again = qed.load(tmp_path / "model.qed")
        assert (again.predict(X) == model.predict(X)).all() and bool(qed.certify(again, X))
