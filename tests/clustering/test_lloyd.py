"""Lloyd's algorithm with bounds and scores in single precision is plain Lloyd, to the bit."""

import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import qed
from qed.base.errors import ConvergenceWarning
from qed.base.running.steps import Reason
from qed.clustering.means.assignment import Assignment, Memory
from qed.clustering.means.distances import few_squares, squares
from qed.clustering.means.nearest import Search, UnitScaling


def plain(X, centers, weight):
    """One pass of Lloyd's algorithm without any trick, row after row: labels, means, cost."""
    found = few_squares(X, centers)
    labels, sums = found.argmin(axis=1), np.zeros(centers.shape)
    for x, label, w in zip(X, labels, weight):
        sums[label] += w * (x - centers[label])
    total, cost = (np.bincount(labels, values, len(centers)) for values in (weight, weight * found.min(axis=1)))
    return labels, centers + np.divide(sums, total[:, None], out=np.zeros_like(sums), where=total[:, None] > 0), cost


@settings(max_examples=12, deadline=None)
@given(
    p=st.sampled_from([1, 2, 3, 5, 9]),
    k=st.sampled_from([1, 2, 7, 20, 130]),
    kind=st.sampled_from(["normal", "grid", "far", "outlier", "tiny", "single"]),
    seed=st.integers(0, 10**6),
)
def test_bounds_change_no_bit(p, k, kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (2500, p)).astype(float) if kind == "grid" else rng.normal(size=(2500, p))
    X = {"far": X + 2.0**40, "outlier": np.where(np.arange(2500)[:, None] == 7, 1e9, X), "tiny": X * 1e-120}.get(
        kind, X
    )
    X = X.astype(np.float32) if kind == "single" else X
    weight = rng.integers(0, 3, 2500).astype(float)
    rows, runs = qed.rows(X, sample_weight=weight, block_size=2100), X[:k].astype(np.float64)[None]
    memory = Memory(rows, 1, UnitScaling.around(X.min(axis=0).astype(float), X.max(axis=0).astype(float)))
    for _ in range(8):
        found = rows.fold(Assignment.following, memory.searches(runs, np.array([True])), memory)
        labels, means, cost = plain(X[:2100], runs[0], weight[:2100])
        np.testing.assert_array_equal(memory.labels[0, :2100], labels)
        rest = plain(X[2100:], runs[0], weight[2100:])
        np.testing.assert_array_equal(memory.labels[0, 2100:], rest[0])
        np.testing.assert_array_equal(found.cost[0], cost + rest[2])
        fresh = rows.fold(Assignment.of, runs)
        np.testing.assert_array_equal(fresh.means, found.means)
        # Means of two blocks, merged: each is right to the last digits of its sums.
        whole = plain(X, runs[0], weight)[1]
        np.testing.assert_allclose(found.means[0], whole, rtol=1e-12, atol=1e-12 * float(np.ptp(X)))
        runs = found.means


@pytest.mark.parametrize("kind", ["normal", "grid", "far", "single"])
def test_labels_to_begin_with_change_no_bit_right_or_wrong(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (2000, 3)).astype(float) if kind == "grid" else rng.normal(size=(2000, 3))
    X = {"far": X + 2.0**40, "single": X.astype(np.float32)}.get(kind, X)
    rows, centers = qed.rows(X, block_size=1500), X[:150].astype(np.float64)
    fresh = rows.fold(Assignment.of, centers[None])
    search = Search.among(centers, before=centers)
    # Right labels, those of a few centres moved, and any.
    right = np.concatenate(fresh.labels)
    for labels in (right, np.where(rng.random(2000) < 0.3, (right + 1) % 150, right), rng.integers(0, 150, 2000)):
        found = rows.fold(Assignment.near, search, labels)
        np.testing.assert_array_equal(np.concatenate(found.labels), right)
        np.testing.assert_array_equal(found.cost, fresh.cost)
        np.testing.assert_array_equal(found.sums, fresh.sums)


def test_scores_are_right_where_centres_are_far_or_rows_missing():
    X = np.random.default_rng(0).normal(size=(3000, 4))
    X[5] = np.nan
    X[6] = 1e200
    centers = np.vstack([X[:6:2], [[1e30, 0, 0, 0]], [[3.0, 0, 0, 0]]])
    labels, square = Search.among(centers).of(X)
    expected = np.where(np.isnan(few_squares(X, centers)), np.inf, few_squares(X, centers))
    np.testing.assert_array_equal(labels, expected.argmin(axis=1))
    np.testing.assert_array_equal(square[7:], expected.min(axis=1)[7:])


class TestTies:
    """Both rules of the course: the lower number wins, or the row stays where it is."""

    X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])

    def test_the_rules(self):
        # The row at 0 begins with the second centre, at 0.5. After the first step the centres are -2 and 2: a tie.
        X, start = np.array([[-2.0], [0.0], [6.0]]), [[-3.0], [0.5]]
        tied = np.array([[-3.0], [-1.0], [0.0], [1.0], [3.0]])
        for ties, own in (("lower", 0), ("stay", 1)):
            model = qed.KMeans(2, init=[[-2.5], [2.0]], ties=ties, tol=0).fit(tied)
            assert model.certificate_ and qed.certify(model, tied)
            walk = qed.steps(qed.KMeans(2, init=start, ties=ties, tol=0), X[[0, 1, 1, 2]])
            next(walk)
            assert walk.model_at(next(walk)).labels_.tolist() == [0, own, own, 1]
        centers = np.array([[-1.5], [1.5]])
        for rows in (self.X, np.repeat(self.X, 2000, axis=0)):
            labels = np.ones(len(rows), np.int32)
            square, lower = np.empty(len(rows)), np.zeros(len(rows), np.float32)
            for stay, own in ((False, 0), (True, 1)):
                labels[:] = 1
                Search.among(centers).settle(rows, labels, lower, square, stay=stay)
                assert set(labels[rows[:, 0] == 0]) == {own}
                assert set(labels[rows[:, 0] < 0]) == {0}

    def test_staying_resumes_to_the_same_bits(self):
        X = np.random.default_rng(0).integers(0, 4, (400, 2)).astype(float)
        model = qed.KMeans(5, ties="stay", tol=0, random_state=0)
        steps = list(qed.steps(model, X))
        for start in steps[:-1]:
            *_, last = qed.steps(model, X, start=start)
            np.testing.assert_array_equal(last.labels, steps[-1].labels)
        assert model.fit(X).certificate_ and qed.certify(model, X)


class TestSparse:
    X = np.random.default_rng(0).normal(size=(600, 40)) * (np.random.default_rng(1).random((600, 40)) < 0.1)

    def test_distances(self):
        centers = np.random.default_rng(2).normal(size=(7, 40))
        exact = ((self.X[:, None] - centers) ** 2).sum(axis=2)
        np.testing.assert_allclose(squares(sparse.csr_array(self.X), centers), exact, rtol=1e-12)
        assert squares(sparse.csr_array(self.X), self.X[3:4])[3, 0] == 0

    @pytest.mark.parametrize("init", ["k-means++", "random", "random-domain"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_sparse_is_dense(self, init, weighted):
        weight = np.random.default_rng(3).integers(0, 3, 600) if weighted else None
        blocks = qed.rows(sparse.csr_matrix(self.X), sample_weight=weight, block_size=90)
        sources = (qed.rows(X, sample_weight=weight) for X in (self.X, sparse.csr_array(self.X)))
        made = [qed.KMeans(5, init=init, n_init=2, random_state=0, tol=0).fit(rows) for rows in (*sources, blocks)]
        for other in made[1:]:
            np.testing.assert_allclose(other.cluster_centers_, made[0].cluster_centers_, rtol=1e-9, atol=1e-12)
            np.testing.assert_array_equal(other.labels_, made[0].labels_)
            assert other.certificate_ and qed.certify(other, sparse.csr_array(self.X), sample_weight=weight)
            np.testing.assert_array_equal(other.predict(sparse.csr_array(self.X)), other.predict(self.X))
            np.testing.assert_allclose(other.transform(sparse.csr_array(self.X)), other.transform(self.X), rtol=1e-9)


class TestSeedingIsPartOfTheFit:
    X = np.random.default_rng(0).normal(size=(3000, 3))

    @pytest.mark.usefixtures("interruptible")
    def test_an_interrupt_leaves_a_model_that_resumes(self):
        whole = qed.KMeans(9, random_state=0).fit(self.X)
        part, seen = qed.KMeans(9, random_state=0), []

        def third(step):
            seen.append(step)
            if len(seen) == 3:
                signal.raise_signal(signal.SIGINT)

        with qed.watch(call=third), pytest.warns(ConvergenceWarning, match="no cluster is empty"):
            part.fit(self.X)
        assert part.ending_.reason is Reason.INTERRUPTED and all(step.prepares for step in seen)
        assert part.cluster_centers_.shape == (9, 3) and len(np.unique(part.cluster_centers_, axis=0)) == 3
        assert len(part.predict(self.X)) == 3000 and not part.certificate_
        part.resume(self.X)
        np.testing.assert_array_equal(part.cluster_centers_, whole.cluster_centers_)
        assert part.n_iter_ == whole.n_iter_ and part.certificate_

    def test_a_time_budget_ends_it(self):
        with qed.watch(seconds=1e-9), pytest.warns(ConvergenceWarning):
            model = qed.KMeans(9, random_state=0).fit(self.X)
        assert model.ending_.reason is Reason.TIME and model.ending_.step.prepares

    def test_draws_are_not_counted_and_lower_the_objective(self):
        model = qed.KMeans(9, random_state=0, max_iter=2, tol=0)
        steps = list(qed.steps(model, self.X))
        draws = [step for step in steps if step.prepares]
        assert len(draws) == 8 and {step.number for step in draws} == {-1}
        assert steps[8].number == 0
        objectives = [step.objective for step in steps]
        assert objectives == sorted(objectives, reverse=True)
        with pytest.warns(ConvergenceWarning):
            assert model.fit(self.X).n_iter_ == 2

    def test_labelling_and_proof_take_one_pass(self, monkeypatch):
        rows = qed.rows(self.X)
        folds, fold = [], type(rows).fold
        monkeypatch.setattr(type(rows), "fold", lambda self, *args: folds.append(args[0]) or fold(self, *args))
        model = qed.KMeans(4, init=self.X[:4], tol=0).fit(rows)
        # One to look at the rows, one for each step, and one to label and to prove.
        assert len(folds) == 1 + len(model.ending_.trace) + 1
