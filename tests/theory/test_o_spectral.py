"""O-SPECTRAL: cuts of graphs, their Laplacian, and what its eigenvalues say of parts and of cuts."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.linalg.graph.laplacian import Graph, graph_laplacian
from qed.linalg.graph.spectrum import nothing_below, smallest


def agrees(labels, truth):
    same = np.asarray(labels) == np.asarray(truth)
    return same.all() or not same.any()


def random_graph(n, seed, share=0.3):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < share), 1)
    return A + A.T


@pytest.mark.parametrize("seed", range(3))
def test_the_laplacian_is_a_sum_of_squared_differences(seed):
    A, x = random_graph(12, seed), np.random.default_rng(seed).normal(size=12)
    L = graph_laplacian(A, normed=False)
    assert x @ L @ x == pytest.approx((A * (x[:, None] - x) ** 2).sum() / 2, rel=1e-12)
    assert np.abs(L.sum(axis=1)).max() < 1e-13
    symmetric = graph_laplacian(A)
    assert np.linalg.eigvalsh(symmetric)[0] > -1e-14 and np.linalg.eigvalsh(symmetric)[-1] < 2 + 1e-14
    both = graph_laplacian(sparse.csr_array(A))
    assert np.allclose(both.toarray(), symmetric, atol=1e-15)


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_zero_is_an_eigenvalue_as_often_as_there_are_parts(parts):
    A = np.kron(np.eye(parts), np.ones((4, 4)) - np.eye(4)) + 0.0
    A = np.pad(A, (0, 1))  # and a node without edges
    graph = Graph.of(A)
    values = np.linalg.eigvalsh(graph.laplacian())
    assert graph.n_parts == parts + 1 == (np.abs(values) < 1e-12).sum()
    found = smallest(graph, parts + 2)
    assert (found.values[: parts + 1] == 0).all() and found.values[-1] == pytest.approx(4 / 3)


def test_two_rings_are_parted():
    X, ring = qed.data.synthetic.rings(300, noise=0.05, random_state=0)
    for settings in ({"gamma": 30.0}, {"affinity": "nearest_neighbors"}):
        model = qed.SpectralClustering(2, random_state=0, **settings)
        with pytest.warns(qed.base.errors.DegenerateWarning) if "affinity" in settings else np.errstate():
            model.fit(X)
        assert agrees(model.labels_, ring) and bool(model.certificate_)
    assert not agrees(qed.KMeans(2, random_state=0).fit(X).labels_, ring)


@pytest.mark.parametrize("k", [2, 3])
def test_every_cut_is_at_least_the_sum_of_the_smallest_eigenvalues(k):
    A = random_graph(8, 0, share=0.8)
    graph = Graph.of(A)
    least = np.linalg.eigvalsh(graph.laplacian())[:k].sum()
    cuts = [
        graph.normalised_cut(np.array(labels), k) for labels in product(range(k), repeat=8) if len(set(labels)) == k
    ]
    assert least <= min(cuts) + 1e-12
    model = qed.SpectralClustering(k, affinity="precomputed", random_state=0).fit(A)
    assert min(cuts) - 1e-12 <= model.normalized_cut_ and bool(model.certificate_)
    assert model.certificate_["no clusters cut less"].value <= least / model.normalized_cut_


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_an_eigenvector_that_was_left_out_is_missed(kind):
    """The proof by inertia counts: with one of the smallest vectors gone, no level is shown."""
    X, _ = qed.data.synthetic.moons(500, noise=0.08, random_state=0)
    if kind == "dense":
        graph = Graph.of(qed.kernels.RBF(10.0)(X))
    else:
        near = qed.NearestNeighbors(n_neighbors=8).fit(X).kneighbors_graph(X)
        graph = Graph.of((near + near.T) / 2)
    values, vectors = smallest(graph, 5)
    level = nothing_below(graph, vectors, values, 1e-6)
    wanted = np.linalg.eigvalsh(graph.laplacian().toarray() if kind == "sparse" else graph.laplacian())
    # A decomposition of 500 rows is right to 500 roundings.
    assert np.abs(values - wanted[:5]).max() < 1e-12
    assert values[-1] - 2e-6 < level <= wanted[5]
    without = [0, 1, 2, 4]
    assert nothing_below(graph, vectors[:, without], values[without], 1e-9) == -np.inf


def test_a_graph_in_as_many_parts_as_clusters_has_them_for_clusters():
    A = np.kron(np.eye(3), np.ones((5, 5)))
    with pytest.warns(UserWarning, match="not fully connected: it falls into 3 parts. They are the clusters"):
        model = qed.SpectralClustering(3, affinity="precomputed", random_state=0).fit(A)
    assert model.labels_.tolist() == [0] * 5 + [1] * 5 + [2] * 5 and model.normalized_cut_ == 0 and model.n_parts_ == 3
    with pytest.warns(UserWarning, match="the 1 largest are|The 1 largest are"):
        two = qed.SpectralClustering(2, affinity="precomputed", random_state=0).fit(A)
    assert two.normalized_cut_ == 0 and bool(two.certificate_) and len(set(two.labels_)) == 2
    with pytest.warns(UserWarning, match="falls into 3 parts"):
        four = qed.SpectralClustering(4, affinity="precomputed", random_state=0).fit(A)
    assert bool(four.certificate_) and all(len(set(four.labels_[part : part + 5])) <= 2 for part in (0, 5, 10))


def test_the_eigengap_finds_how_many_blobs_there_are():
    X = np.vstack([np.random.default_rng(c).normal(c * 8.0, 1.0, size=(30, 2)) for c in range(4)])
    path = qed.spectral_path(X, range(2, 8), gamma=0.1, random_state=0)
    assert path.best.n_clusters == 4 and all(model.certificate_ for model in path.models)
    alone = qed.SpectralClustering(4, gamma=0.1, random_state=0).fit(X)
    assert (path.models[2].labels_ == alone.labels_).all()
    assert (np.diff(path.eigenvalues) >= 0).all() and len(path.eigenvalues) == 8
    assert path.normalized_cuts[2] == alone.normalized_cut_
