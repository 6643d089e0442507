"""Soft k-means: the same answer from any source and for weights or repetitions, its hardness, and resuming."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from qed.base.errors import ConvergenceWarning, DegenerateWarning
from qed.clustering.means.soft import shares_of


def blobs(n=300, p=3, k=4, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    return 6 * rng.normal(size=(k, p))[rng.integers(k, size=n)] + spread * rng.normal(size=(n, p))


@settings(max_examples=10, deadline=None)
@given(n=st.integers(6, 40), p=st.integers(1, 4), k=st.integers(1, 4), seed=st.integers(0, 9999))
@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_weights_are_repetitions_in_any_order(n, p, k, seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(n, p)), rng.integers(0, 4, n)
    weight[:k] = 1
    start = X[:k]
    model = qed.SoftKMeans(k, beta=0.5, init=start, tol=1e-14).fit(X, sample_weight=weight.astype(float))
    again = qed.SoftKMeans(k, beta=0.5, init=start, tol=1e-14).fit(rng.permutation(np.repeat(X, weight, axis=0)))
    # Both end within the root of tol of a fixed point; near a place where centres fall together that is far from it itself.
    assert model.free_energy_ == pytest.approx(again.free_energy_, rel=1e-6)
    np.testing.assert_allclose(model.cluster_weight_.sum(), weight.sum(), rtol=1e-12)


def test_files_threads_and_blocks_give_the_same(tmp_path):
    X = blobs(40_000)
    model = qed.SoftKMeans(4, random_state=0).fit(X)
    np.save(tmp_path / "rows.npy", X)
    stored = qed.SoftKMeans(4, random_state=0).fit(qed.rows(str(tmp_path / "rows.npy")))
    np.testing.assert_allclose(stored.cluster_centers_, model.cluster_centers_, rtol=1e-9)
    assert model.certificate_ and qed.certify(model, X) and stored.beta_ == pytest.approx(model.beta_, rel=1e-12)


def test_the_hardness_of_its_own_is_that_of_the_clusters_it_begins_with():
    X = blobs()
    model = qed.SoftKMeans(4, init=X[:4]).fit(X)
    within = ((X[:, None] - X[:4]) ** 2).sum(axis=2).min(axis=1).sum() / X.size
    assert model.beta_ == pytest.approx(1 / (2 * within), rel=1e-12)


def test_single_precision_stays_and_is_proven():
    X = blobs().astype(np.float32)
    model = qed.SoftKMeans(4, random_state=0).fit(X)
    assert model.cluster_centers_.dtype == model.predict_proba(X).dtype == np.float32
    assert model.certificate_ and qed.certify(model, X)


@pytest.mark.parametrize("offset", [1e4, 1e7])
def test_an_offset_costs_no_more_than_its_digits(offset):
    X = blobs()
    near = qed.SoftKMeans(4, beta=0.3, init=X[:4], tol=1e-12).fit(X)
    far = qed.SoftKMeans(4, beta=0.3, init=X[:4] + offset, tol=1e-12).fit(X + offset)
    assert far.certificate_
    np.testing.assert_allclose(far.cluster_centers_ - offset, near.cluster_centers_, atol=1e-5)
    assert far.free_energy_ == pytest.approx(near.free_energy_, rel=1e-6)


def test_stopped_and_resumed_is_the_same(tmp_path):
    X = blobs(spread=3.0)
    whole = qed.SoftKMeans(4, random_state=0).fit(X)
    part = qed.SoftKMeans(4, random_state=0, max_iter=2)
    with pytest.warns(ConvergenceWarning):
        part.fit(X)
    part.set_params(max_iter=1000).resume(X)
    np.testing.assert_array_equal(part.cluster_centers_, whole.cluster_centers_)
    assert part.n_iter_ == whole.n_iter_ > 2 and part.certificate_
    qed.save(whole, tmp_path / "model.qed")
    np.testing.assert_array_equal(qed.load(tmp_path / "model.qed").predict_proba(X), whole.predict_proba(X))


def test_the_largest_share_is_that_of_the_nearest():
    X = blobs(spread=3.0)
    model = qed.SoftKMeans(4, random_state=0).fit(X)
    assert np.array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
    assert np.array_equal(model.labels_, model.predict(X)) and model.score(X) == pytest.approx(-model.free_energy_)


def test_shares_far_from_all_centres_are_numbers():
    shares, energy = shares_of(np.array([[1e300, 2e300], [1e8, 1e8 + 1.0]]), 10.0)
    assert np.isfinite(shares).all() and np.isfinite(energy).all() and shares[0].tolist() == [1.0, 0.0]
    # Of two terms that differ by exp(-10).
    assert shares[1, 1] == pytest.approx(np.exp(-10) / (1 + np.exp(-10)), rel=1e-12)


def test_one_cluster_is_the_mean():
    X = blobs()
    model = qed.SoftKMeans(1, beta=2.0, random_state=0).fit(X)
    np.testing.assert_allclose(model.cluster_centers_[0], X.mean(axis=0), rtol=1e-12)
    assert model.free_energy_ == pytest.approx(((X - X.mean(axis=0)) ** 2).sum(), rel=1e-12)


def test_rows_that_are_all_alike_are_proven():
    model = qed.SoftKMeans(2, random_state=0)
    with pytest.warns(DegenerateWarning):
        model.fit(np.ones((30, 3)))
    assert model.free_energy_ == 0 and model.certificate_
    model.free_energy_ = 1e-3
    assert not qed.certify(model, np.ones((30, 3)))


@pytest.mark.parametrize("beta", [1e-9, 1.5, 1e9])
def test_the_free_energy_of_rows_that_hardly_differ_keeps_its_digits(beta):
    """The mean of the exponentials is one but for the last digits, or nothing but its largest: the logarithm loses neither."""
    X = 1.0 + 2.0**-30 * np.arange(12.0).reshape(6, 2) ** 2
    model = qed.SoftKMeans(2, beta=beta, init=X[[0, 5]], max_iter=3).fit(X)
    with mpmath.workdps(60):
        away = [
            [sum((mpmath.mpf(a) - mpmath.mpf(b)) ** 2 for a, b in zip(x, c)) for c in model.cluster_centers_] for x in X
        ]
        energy = -mpmath.fsum(mpmath.log(sum(mpmath.exp(-beta * d) for d in row) / 2) for row in away) / beta
        assert abs(mpmath.mpf(model.free_energy_) / energy - 1) < 1e-14


def test_rows_without_weight_may_hold_anything():
    X = blobs(30)
    weight = np.r_[np.ones(30), 0.0]
    model = qed.SoftKMeans(3, random_state=0).fit(
        np.vstack([X, np.full((1, X.shape[1]), np.nan)]), sample_weight=weight
    )
    alone = qed.SoftKMeans(3, random_state=0).fit(X, sample_weight=weight[:30])
    np.testing.assert_array_equal(model.cluster_centers_, alone.cluster_centers_)
    assert model.certificate_
