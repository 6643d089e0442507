"""KMeans as a model: its contract, its proof, and that the answer is the same whichever way the rows come."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans as Peer
from sklearn.utils.estimator_checks import parametrize_with_checks

import qed
from qed.base.errors import DegenerateWarning, InputError, ParameterError
from qed.base.running.steps import Reason
from qed.clustering.means.assignment import Assignment, Farthest
from qed.clustering.means.distances import few_squares, squares
from qed.clustering.means.nearest import Search
from tests.conformance.checks import run_check

SIZES = {"n": st.integers(12, 60), "p": st.integers(1, 4), "k": st.integers(1, 5), "seed": st.integers(0, 10**6)}


def blobs(n=200, p=3, k=4, seed=0, apart=4.0):
    rng = np.random.default_rng(seed)
    return apart * rng.normal(size=(k, p))[rng.integers(k, size=n)] + rng.normal(size=(n, p))


@parametrize_with_checks([qed.KMeans(init="random", n_init=2)])
def test_scikit_learn_checks(estimator, check):
    run_check(estimator, check)


def test_equals_the_peer_from_the_same_start():
    X = blobs(500)
    start = X[:4]
    ours = qed.KMeans(4, init=start, tol=0).fit(X)
    theirs = Peer(4, init=start, n_init=1, tol=0).fit(X)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-10)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.ending_.reason is Reason.CERTIFIED


def test_predict_transform_and_score_go_together():
    X = blobs()
    model = qed.KMeans(4, random_state=0).fit(X)
    distance = model.transform(X)
    assert distance.shape == (200, 4)
    np.testing.assert_array_equal(distance.argmin(axis=1), model.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-12)
    assert (distance.min(axis=1) ** 2).sum() == pytest.approx(model.inertia_, rel=1e-12)
    weight = np.random.default_rng(0).uniform(0, 2, 200)
    assert model.score(X, sample_weight=weight) == pytest.approx(-weight @ distance.min(axis=1) ** 2, rel=1e-12)
    np.testing.assert_array_equal(model.fit_predict(X), model.labels_)
    assert list(model.get_feature_names_out()) == ["kmeans0", "kmeans1", "kmeans2", "kmeans3"]
    assert list(model.set_output(transform="pandas").transform(X).columns) == list(model.get_feature_names_out())


def test_float32_stays_float32_and_is_certified():
    X = blobs(300).astype(np.float32)
    model = qed.KMeans(4, random_state=0).fit(X)
    assert model.cluster_centers_.dtype == np.float32
    assert model.transform(X).dtype == np.float32
    assert model.certificate_
    wide = qed.KMeans(4, random_state=0).fit(X.astype(np.float64))
    assert model.inertia_ == pytest.approx(wide.inertia_, rel=1e-5)


class TestCertificate:
    X = blobs(300, apart=2.0)

    def fitted(self):
        return qed.KMeans(4, random_state=0, tol=0).fit(self.X)

    def test_holds(self):
        model = self.fitted()
        assert model.certificate_ and qed.certify(model, self.X)
        assert model.certificate_["centres are the means"].value < 1e-25

    def test_says_how_far_from_the_best_it_may_be(self):
        model = qed.KMeans(3, random_state=0).fit(self.X)
        assert 0 < model.certificate_["no clusters cost less"].value <= 1

    def test_a_centre_moved_by_a_thousandth_breaks_it(self):
        for k, j in np.ndindex(4, 3):
            model = self.fitted()
            model.cluster_centers_[k, j] *= 1.001
            assert not qed.certify(model, self.X)

    def test_a_wrong_label_breaks_it(self):
        model = self.fitted()
        model.labels_[7] = (model.labels_[7] + 1) % 4
        assert not qed.certify(model, self.X)["rows are with their nearest centre"].holds

    def test_a_wrong_inertia_breaks_it(self):
        model = self.fitted()
        model.inertia_ *= 1 + 1e-8
        assert not qed.certify(model, self.X)["inertia_"].holds

    def test_other_rows_break_it(self):
        assert not qed.certify(self.fitted(), self.X[:-1])

    def test_stopping_early_is_said(self):
        with pytest.warns(qed.base.errors.ConvergenceWarning, match="max_iter=10"):
            model = qed.KMeans(4, init=self.X[:4], tol=0, max_iter=1).fit(self.X)
        assert not model.certificate_ and model.ending_.reason is Reason.MAX_ITER


@settings(max_examples=25, deadline=None)
@given(**SIZES)
def test_weights_are_repetitions_in_any_order(n, p, k, seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(n, p)), rng.integers(0, 4, size=n)
    weight[:k] += 1
    weighted = qed.KMeans(k, random_state=seed).fit(X, sample_weight=weight)
    order = rng.permutation(int(weight.sum()))
    repeated = qed.KMeans(k, random_state=seed).fit(np.repeat(X, weight, axis=0)[order])
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-9, atol=1e-12)
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-9, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(**SIZES)
def test_objective_never_rises_and_the_end_is_proven(n, p, k, seed):
    X = np.random.default_rng(seed).integers(0, 5, size=(n, p)).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)
        model = qed.KMeans(k, random_state=seed, tol=0).fit(X)
    objectives = np.array([record["objective"] for record in model.ending_.trace])
    assert (np.diff(objectives) <= 1e-12 * objectives[:-1]).all()
    assert model.certificate_, str(model.certificate_)


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_threads_change_nothing(init):
    rows = qed.rows(blobs(700), block_size=64)
    fits = []
    for count in (1, 2, 5):
        with qed.threads(count):
            fits.append(qed.KMeans(5, init=init, n_init=2, random_state=3).fit(rows))
    for other in fits[1:]:
        np.testing.assert_array_equal(other.cluster_centers_, fits[0].cluster_centers_)
        assert other.inertia_ == fits[0].inertia_


def test_blocks_change_rounding_only():
    X = blobs(700)
    whole = qed.KMeans(5, random_state=3).fit(X)
    pieces = qed.KMeans(5, random_state=3).fit(qed.rows(X, block_size=50))
    np.testing.assert_allclose(pieces.cluster_centers_, whole.cluster_centers_, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(pieces.labels_, whole.labels_)


def test_files_and_clusters_give_the_same(tmp_path):
    import dask.array as da
    import pyarrow as pa
    import pyarrow.parquet as pq

    X = blobs(500)
    whole = qed.KMeans(4, random_state=1).fit(X)
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(3)}), tmp_path / "x.parquet", row_group_size=90)
    for source in (qed.rows(tmp_path / "x.parquet", block_size=70), da.from_array(X, chunks=(130, 3))):
        model = qed.KMeans(4, random_state=1).fit(source)
        np.testing.assert_allclose(model.cluster_centers_, whole.cluster_centers_, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(model.labels_, whole.labels_)
        assert model.certificate_ and qed.certify(model, source)


def same(a, b):
    assert a.objective == b.objective and a.gap == b.gap and a.number == b.number
    for name, value in a.state.items():
        np.testing.assert_array_equal(value, b.state[name])


def test_going_on_from_any_step_is_going_on():
    X = blobs(400, apart=1.0)
    model = qed.KMeans(6, random_state=2, n_init=3, tol=0)
    steps = list(qed.steps(model, X))
    assert len(steps) > 4
    for place in (0, 3, 7, len(steps) - 2):
        rest = list(qed.steps(model, X, start=steps[place]))
        for a, b in zip(rest, steps[place + 1 :], strict=True):
            same(a, b)


def test_an_interrupted_fit_resumes():
    X = blobs(400, apart=1.0)
    whole = qed.KMeans(6, random_state=2, tol=0).fit(X)
    part = qed.KMeans(6, random_state=2, tol=0)
    with qed.watch(call=lambda step: step.number == 2), pytest.warns(qed.base.errors.ConvergenceWarning):
        part.fit(X)
    assert part.ending_.reason is Reason.INTERRUPTED and part.n_iter_ == 2
    part.resume(X)
    np.testing.assert_array_equal(part.cluster_centers_, whole.cluster_centers_)
    assert part.inertia_ == whole.inertia_ and part.n_iter_ == whole.n_iter_ and part.certificate_


def test_a_step_is_a_model():
    X = blobs()
    walk = qed.steps(qed.KMeans(3, random_state=0), X)
    model = walk.model_at(next(walk))
    assert model.cluster_centers_.shape == (3, 3) and len(model.predict(X)) == 200


class TestHardData:
    def test_fewer_rows_than_clusters(self):
        with pytest.raises(InputError, match=r"n_samples=3.*n_clusters=4"):
            qed.KMeans(4).fit(np.eye(3))
        with pytest.raises(InputError, match="n_samples=2"):
            qed.KMeans(3).fit(np.eye(4), sample_weight=[1, 1, 0, 0])

    @pytest.mark.parametrize("init", ["k-means++", "random"])
    def test_fewer_different_rows_than_clusters(self, init):
        X = np.repeat(np.eye(3), 5, axis=0)
        with pytest.warns(DegenerateWarning, match="only 3 different rows.*n_clusters=3"):
            model = qed.KMeans(5, init=init, n_init=1, random_state=0).fit(X)
        assert model.inertia_ == 0 and model.certificate_ and len(np.unique(model.labels_)) == 3

    def test_all_rows_equal(self):
        model = qed.KMeans(1, random_state=0).fit(np.full((9, 2), 0.1))
        np.testing.assert_allclose(model.cluster_centers_, [[0.1, 0.1]])
        assert model.inertia_ == pytest.approx(0, abs=1e-30) and model.certificate_

    def test_k_equals_n(self):
        X = blobs(12)
        model = qed.KMeans(12, random_state=0).fit(X)
        assert model.inertia_ == 0 and sorted(model.labels_) == list(range(12))

    def test_empty_clusters_are_filled_from_far_away(self):
        X = np.array([[0.0], [1.0], [2.0], [10.0], [30.0]])
        model = qed.KMeans(3, init=[[1.0], [500.0], [900.0]], tol=0).fit(X)
        assert model.labels_.tolist() == [2, 2, 2, 0, 1]
        assert model.certificate_
        objectives = [record["objective"] for record in model.ending_.trace]
        assert objectives == sorted(objectives, reverse=True)

    def test_constant_columns_and_duplicates(self):
        X = np.repeat(blobs(60, k=3), 3, axis=0)
        padded = np.column_stack([X, np.full(len(X), 7.0)])
        plain, more = (qed.KMeans(3, random_state=0, init=x[:3]).fit(x) for x in (X, padded))
        assert more.inertia_ == pytest.approx(plain.inertia_, rel=1e-12) and more.certificate_

    def test_far_from_zero(self):
        X = blobs(300, k=3)
        near = qed.KMeans(3, init=X[:3], tol=0).fit(X)
        far = qed.KMeans(3, init=X[:3] + 2.0**30, tol=0).fit(X + 2.0**30)
        assert far.inertia_ == pytest.approx(near.inertia_, rel=1e-6) and far.certificate_
        np.testing.assert_array_equal(far.labels_, near.labels_)

    @pytest.mark.parametrize("scale", [1e-100, 1e100])
    def test_any_scale(self, scale):
        X = blobs(100)
        model = qed.KMeans(4, init=X[:4] * scale).fit(X * scale)
        assert model.certificate_
        np.testing.assert_array_equal(model.labels_, qed.KMeans(4, init=X[:4]).fit(X).labels_)

    def test_beyond_floating_point(self):
        with pytest.raises(InputError, match="overflow"):
            qed.KMeans(2).fit(blobs(20) * 1e200)
        with pytest.raises(InputError, match="vanish"):
            qed.KMeans(2).fit(blobs(20) * 1e-200)

    def test_missing_values_are_named(self):
        X = blobs(30)
        X[4, 1] = np.nan
        with pytest.raises(InputError, match="column number 1, row 4"):
            qed.KMeans(2).fit(X)
        weight = np.ones(30)
        weight[4] = 0
        assert qed.KMeans(2, random_state=0).fit(X, sample_weight=weight).certificate_


class TestParameters:
    @pytest.mark.parametrize(
        "wrong", [{"n_clusters": 0}, {"tol": -1}, {"max_iter": 0}, {"n_init": "many"}, {"init": "best"}]
    )
    def test_wrong_ones_are_named(self, wrong):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            qed.KMeans(**wrong).fit(blobs(20))

    def test_wrong_centres(self):
        with pytest.raises(ParameterError, match=r"shape \(2, 3\), not \(3, 3\)"):
            qed.KMeans(2, init=np.eye(3)).fit(blobs(20))
        with pytest.raises(ParameterError, match="NaN"):
            qed.KMeans(2, init=[[0, 0, np.nan], [0, 0, 0]]).fit(blobs(20))

    def test_a_callable_is_asked(self):
        X = blobs(50)
        asked = []

        def last_rows(X, k, random_state):
            asked.append(random_state.random())
            return X[-k:]

        model = qed.KMeans(3, init=last_rows, random_state=0).fit(X)
        assert len(set(asked)) == 10
        np.testing.assert_array_equal(model.cluster_centers_, qed.KMeans(3, init=X[-3:]).fit(X).cluster_centers_)

    def test_seeds(self):
        X = blobs(200, apart=0.0)
        first, again = (qed.KMeans(8, random_state=5).fit(X) for _ in range(2))
        np.testing.assert_array_equal(first.cluster_centers_, again.cluster_centers_)
        assert len({qed.KMeans(8, random_state=seed).fit(X).inertia_ for seed in range(5)}) > 1


class TestKernels:
    """The compiled kernels against NumPy."""

    X = blobs(1000, p=5)
    C = blobs(7, p=5, seed=1)

    def test_nearest(self):
        square = ((self.X[:, None] - self.C) ** 2).sum(axis=2)
        labels, best = Search.among(self.C).of(self.X)
        np.testing.assert_array_equal(labels, square.argmin(axis=1))
        np.testing.assert_allclose(best, square.min(axis=1), rtol=1e-14)
        np.testing.assert_allclose(squares(self.X, self.C), square, rtol=1e-14)
        np.testing.assert_array_equal(squares(self.X, self.C), few_squares(self.X, self.C))

    def test_ties_go_to_the_lower_number(self):
        labels, _ = Search.among(np.array([[2.0], [0.0], [2.0], [4.0]])).of(np.array([[1.0], [3.0]]))
        assert labels.tolist() == [0, 0]

    def test_input_is_left_alone(self):
        for X in (-np.zeros((5, 1)), np.asfortranarray(-np.zeros((5, 2)))):
            X.setflags(write=False)
            qed.KMeans(1, random_state=0).fit(X)
            assert np.signbit(X).all()

    def test_assignment(self):
        weight = np.random.default_rng(0).uniform(size=1000)
        found = qed.rows(self.X, sample_weight=weight, block_size=90).fold(
            Assignment.of, np.stack([self.C, self.C + 1])
        )
        for run, centers in enumerate((self.C, self.C + 1)):
            labels = ((self.X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
            for k in np.unique(labels):
                chosen = labels == k
                mean = np.average(self.X[chosen], axis=0, weights=weight[chosen])
                np.testing.assert_allclose(found.means[run, k], mean, rtol=1e-12)
                assert found.weight[run, k] == pytest.approx(weight[chosen].sum())
                cost = weight[chosen] @ ((self.X[chosen] - centers[k]) ** 2).sum(axis=1)
                assert found.cost[run, k] == pytest.approx(cost, rel=1e-12)

    def test_farthest(self):
        square, row = qed.rows(self.X, block_size=90).fold(Farthest.of, self.C)
        apart = ((self.X[:, None] - self.C) ** 2).sum(axis=2).min(axis=1)
        assert square == pytest.approx(apart.max()) and row == tuple(self.X[apart.argmax()])
        tied = qed.rows(np.array([[1.0, 5.0], [3.0, 2.0], [1.0, 9.0]]), block_size=1)
        assert tied.fold(Farthest.of, np.array([[2.0, 7.0]])) == (26.0, (3.0, 2.0))
        assert tied.fold(Farthest.of, np.array([[1.0, 7.0]]))[1] == (3.0, 2.0)


def test_centres_given_twice_are_said():
    with pytest.warns(DegenerateWarning, match="only 1 of the 2 centres given as init are different"):
        model = qed.KMeans(2, init=[[0.0], [0.0]]).fit([[0.0], [1.0], [5.0]])
    assert sorted(np.bincount(model.labels_).tolist()) == [1, 2]
