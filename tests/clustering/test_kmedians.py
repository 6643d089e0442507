"""k-medians: the same answer from any source, exact medians, weights as repetitions, and clusters without rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from qed.base.errors import ConvergenceWarning, DegenerateWarning, InputError, ParameterError
from qed.clustering.means.cityblock import city_distances, nearest_by_city


def blobs(n=300, p=3, k=4, seed=0):
    rng = np.random.default_rng(seed)
    return 8 * rng.normal(size=(k, p))[rng.integers(k, size=n)] + rng.normal(size=(n, p))


@settings(max_examples=15, deadline=None)
@given(n=st.integers(4, 40), p=st.integers(1, 4), k=st.integers(1, 4), seed=st.integers(0, 9999))
@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_weights_are_repetitions_in_any_order(n, p, k, seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.integers(0, 5, (n, p)).astype(float), rng.integers(0, 4, n)
    weight[:k] = 1
    model = qed.KMedians(k, random_state=0).fit(X, sample_weight=weight.astype(float))
    again = qed.KMedians(k, random_state=0).fit(rng.permutation(np.repeat(X, weight, axis=0)))
    np.testing.assert_array_equal(model.cluster_centers_, again.cluster_centers_)
    assert model.certificate_ and again.certificate_ and model.inertia_ == again.inertia_


@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_have_the_medians_of_numpy_s_sorting(weighted, tmp_path):
    # More values than are sorted in one go: medians by counting bits.
    X = blobs(12_000, 4)
    weight = np.random.default_rng(1).random(len(X)) if weighted else None
    model = qed.KMedians(4, random_state=0).fit(X, sample_weight=weight)
    assert model.certificate_ and qed.certify(model, X, sample_weight=weight)
    for cluster, center in enumerate(model.cluster_centers_):
        mine = model.labels_ == cluster
        own, w = X[mine], np.ones(mine.sum()) if weight is None else weight[mine]
        for column, value in zip(own.T, center):
            # Weights are added in another order, which may decide which of two neighbours has half of them below.
            order = np.argsort(column)
            half = np.searchsorted(np.cumsum(w[order]), w.sum() / 2)
            assert column[order][max(half - 1, 0)] <= value <= column[order][min(half + 1, len(order) - 1)]
    np.save(tmp_path / "rows.npy", X)
    if not weighted:
        stored = qed.KMedians(4, random_state=0).fit(qed.rows(str(tmp_path / "rows.npy")))
        np.testing.assert_array_equal(stored.cluster_centers_, model.cluster_centers_)


def test_single_precision_stays_and_is_proven():
    X = blobs().astype(np.float32)
    model = qed.KMedians(4, random_state=0).fit(X)
    assert model.cluster_centers_.dtype == model.transform(X).dtype == np.float32
    assert model.certificate_ and qed.certify(model, X)


@pytest.mark.parametrize("offset", [1e5, 1e8, 1e12])
def test_an_offset_moves_the_centres_and_nothing_else(offset):
    X = np.random.default_rng(0).integers(0, 9, (60, 2)).astype(float)
    near, far = qed.KMedians(3, init=X[:3]).fit(X), qed.KMedians(3, init=X[:3] + offset).fit(X + offset)
    assert near.inertia_ == far.inertia_ and np.array_equal(near.labels_, far.labels_)
    np.testing.assert_array_equal(far.cluster_centers_ - offset, near.cluster_centers_)


def test_stopped_and_resumed_is_the_same(tmp_path):
    X = np.random.default_rng(3).normal(size=(400, 2))
    whole = qed.KMedians(9, init="random", n_init=3, random_state=0).fit(X)
    part = qed.KMedians(9, init="random", n_init=3, random_state=0, max_iter=2)
    with pytest.warns(ConvergenceWarning):
        part.fit(X)
    part.set_params(max_iter=300).resume(X)
    np.testing.assert_array_equal(part.cluster_centers_, whole.cluster_centers_)
    assert part.n_iter_ == whole.n_iter_ > 2 and part.certificate_
    qed.save(whole, tmp_path / "model.qed")
    np.testing.assert_array_equal(qed.load(tmp_path / "model.qed").predict(X), whole.labels_)


def test_clusters_without_rows_are_filled_or_said():
    X = np.array([[0.0], [1.0], [8.0], [9.0]])
    model = qed.KMedians(3, init=[[0.5], [100.0], [8.5]]).fit(X)
    assert set(model.labels_) == {0, 1, 2} and model.certificate_
    twice = np.repeat([[0.0], [5.0]], 3, axis=0)
    with pytest.warns(DegenerateWarning, match="Ask for n_clusters=2"):
        model = qed.KMedians(3, init=[[0.0], [5.0], [77.0]]).fit(twice)
    assert model.inertia_ == 0 and model.cluster_centers_.ravel().tolist() == [0.0, 5.0, 0.0]
    assert model.certificate_ and qed.certify(model, twice)
    model.cluster_centers_[2] += 0.001
    assert not qed.certify(model, twice)


def test_a_tolerance_ends_earlier():
    X = np.random.default_rng(5).normal(size=(500, 3))
    exact, loose = qed.KMedians(8, random_state=0).fit(X), qed.KMedians(8, tol=0.2, random_state=0).fit(X)
    assert loose.n_iter_ < exact.n_iter_ and loose.certificate_ and qed.certify(loose, X)


def test_both_ways_to_the_distances_give_the_same_bits():
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(2000, 7)), rng.normal(size=(30, 7))
    whole = city_distances(X, centers)
    parts = np.concatenate([city_distances(X[i : i + 10], centers) for i in range(0, 2000, 10)])
    np.testing.assert_array_equal(whole, parts)
    # A sum of seven terms, each rounded.
    np.testing.assert_allclose(whole, np.abs(X[:, None] - centers).sum(axis=2), rtol=8 * 2.3e-16)
    labels, away = nearest_by_city(X, centers)
    assert np.array_equal(labels, whole.argmin(axis=1)) and np.array_equal(away, whole.min(axis=1))


def test_what_it_does_not_take_is_said():
    X = blobs(20)
    with pytest.raises(ParameterError, match="init"):
        qed.KMedians(2, init="nearby").fit(X)
    with pytest.raises(InputError, match="n_clusters=30"):
        qed.KMedians(30).fit(X)
