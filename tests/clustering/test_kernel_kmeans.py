"""Kernel k-means on tables that go wrong: weights, repetitions, resumes, rows that are all alike, and too few of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import qed
from qed.base.errors import DegenerateWarning, InputError, ParameterError
from qed.kernels import RBF


def table(n=60, p=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def test_weights_are_repetitions_and_zero_is_absence():
    X = table(40)
    weight = np.random.default_rng(1).integers(0, 4, 40)
    weight[:6] = 1
    weighted = qed.KernelKMeans(3, gamma=0.4, random_state=0).fit(X, sample_weight=weight)
    repeated = qed.KernelKMeans(3, gamma=0.4, random_state=0).fit(np.repeat(X, weight, axis=0))
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-12)
    assert (np.repeat(weighted.labels_, weight) == repeated.labels_).all()
    assert (weighted.weights_ == repeated.weights_).all() and bool(qed.certify(weighted, X, sample_weight=weight))
    new = table(30, seed=2)
    assert (weighted.predict(new) == repeated.predict(new)).all()
    assert (weighted.labels_[weight == 0] == repeated.predict(X[weight == 0])).all()


def test_rows_without_weight_may_hold_anything():
    X, weight = table(20), np.ones(20)
    X[3], weight[3] = np.nan, 0.0
    for rows in (X, sparse.csr_array(X)):
        model = qed.KernelKMeans(2, random_state=0).fit(rows, sample_weight=weight)
        assert qed.certify(model, rows, sample_weight=weight)
        assert (model.predict(rows[:3]) == model.labels_[:3]).all()
        assert qed.certify(qed.KernelPCA(2).fit(rows, sample_weight=weight), rows, sample_weight=weight)


def test_the_order_of_rows_does_not_matter():
    X, order = table(50), np.random.default_rng(3).permutation(50)
    one, other = (qed.KernelKMeans(4, gamma=0.5, random_state=0).fit(rows) for rows in (X, X[order]))
    assert (one.labels_[order] == other.labels_).all()


def test_a_resume_ends_where_one_run_does():
    X = table(120, 2)
    whole = qed.KernelKMeans(5, gamma=2.0, n_init=2, random_state=0).fit(X)
    assert whole.n_iter_ > 2
    part = qed.KernelKMeans(5, gamma=2.0, n_init=2, random_state=0, max_iter=1)
    with pytest.warns(UserWarning):
        part.fit(X)
    assert not part.certificate_
    part.set_params(max_iter=300).resume(X)
    assert (part.labels_ == whole.labels_).all() and part.inertia_ == whole.inertia_ and bool(part.certificate_)


def test_similarities_that_are_given_do_what_their_kernel_does():
    X, new = table(), table(15, seed=9)
    kernel = RBF(0.3)
    given = qed.KernelKMeans(3, kernel="precomputed", init=np.arange(60) % 3).fit(kernel(X))
    made = qed.KernelKMeans(3, kernel=kernel, init=np.arange(60) % 3).fit(X)
    assert (given.labels_ == made.labels_).all()
    assert (given.predict(kernel(new, X)) == made.predict(new)).all()


def test_sparse_rows_are_rows():
    X = table() * (np.random.default_rng(4).random((60, 3)) < 0.4)
    dense, thin = (qed.KernelKMeans(3, gamma=0.5, random_state=0).fit(rows) for rows in (X, sparse.csr_array(X)))
    assert (dense.labels_ == thin.labels_).all() and (dense.predict(sparse.csr_array(X)) == thin.predict(X)).all()
    assert bool(qed.certify(thin, sparse.csr_array(X)))


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 6), st.integers(1, 3), st.integers(1, 4), st.sampled_from([1.0, 1e-6, 1e6]), st.integers(0, 2**16)
)
@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_rows_that_repeat_are_clustered_and_proven(distinct, times, p, scale, seed):
    X = np.repeat(np.random.default_rng(seed).integers(-2, 3, (distinct, p)) * scale, times, axis=0)
    k = min(3, len(X))
    model = qed.KernelKMeans(k, random_state=0).fit(X)
    assert bool(model.certificate_) and model.inertia_ >= 0
    _, group = np.unique(X, axis=0, return_inverse=True)
    assert all(len(set(model.labels_[group.ravel() == one])) == 1 for one in set(group.ravel()))


def test_as_many_clusters_as_rows_cost_nothing():
    X = table(7)
    model = qed.KernelKMeans(7, random_state=0).fit(X)
    assert sorted(model.labels_) == list(range(7)) and model.inertia_ == 0 and bool(model.certificate_)


def test_fewer_rows_or_fewer_different_ones_than_clusters_are_said():
    with pytest.raises(InputError, match="3 rows can not make n_clusters=4"):
        qed.KernelKMeans(4).fit(table(3))
    with pytest.warns(DegenerateWarning, match="only 2 rows differ"):
        model = qed.KernelKMeans(3, random_state=0).fit(np.repeat([[0.0], [1.0]], 5, axis=0))
    assert (model.weights_ > 0).sum() == 2 and bool(model.certificate_)
    assert set(model.predict([[0.1], [0.9]])) == set(model.labels_)
    with pytest.raises(ParameterError, match="one label for each of the 3 rows"):
        qed.KernelKMeans(2, init=[0, 1]).fit(table(3))
    with pytest.raises(ParameterError, match="from 0 to 1"):
        qed.KernelKMeans(2, init=[0, 1, 2]).fit(table(3))
    with pytest.raises(ParameterError, match="init must be 'k-means"):
        qed.KernelKMeans(2, init="farthest").fit(table(3))


def test_saved_and_loaded_it_predicts_the_same(tmp_path):
    X = table()
    model = qed.KernelKMeans(3, random_state=0).fit(X)
    qed.save(model, tmp_path / "model.qed")
    again = qed.load(tmp_path / "model.qed")
    assert (again.predict(X) == model.labels_).all() and bool(qed.certify(again, X))
