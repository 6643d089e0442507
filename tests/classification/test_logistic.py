"""LogisticRegression as a model: its contract, its proof, and that the answer is the same whichever way the rows come."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression as Peer

import qed
from qed.base.errors import ConvergenceWarning, InputError, NotAvailableError, ParameterError
from qed.base.running.steps import Reason, Step


def labelled(n=200, p=4, k=2, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X @ rng.normal(size=(p, k)) + noise * rng.gumbel(size=(n, k))).argmax(axis=1)


def objective(model, X, y, C=1.0, weight=1.0):
    """The objective by its definition, from what the model has made public."""
    scores = X @ model.coef_.T + model.intercept_
    if scores.shape[1] == 1:
        scores = np.hstack([0 * scores, scores])
    codes = np.searchsorted(model.classes_, y)
    loss = logsumexp(scores, axis=1) - scores[np.arange(len(y)), codes]
    return C * (weight * loss).sum() + 0.5 * (model.coef_**2).sum()


class TestAgainstPeers:
    @pytest.mark.parametrize("k", [2, 3, 5])
    @pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
    def test_scikit_learn(self, k, C):
        X, y = labelled(k=k)
        ours = qed.LogisticRegression(C).fit(X, y)
        theirs = Peer(C=C, tol=1e-10, max_iter=10000).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-5)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-5)
        assert objective(ours, X, y, C) <= objective(theirs, X, y, C) * (1 + 1e-14)
        assert ours.ending_.step.objective == pytest.approx(objective(ours, X, y, C), rel=1e-12)

    @pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 1: 0.5}])
    def test_class_weight_and_no_intercept(self, class_weight):
        X, y = labelled()
        weight = np.random.default_rng(1).uniform(0, 2, len(y))
        for intercept in (True, False):
            settings = {"class_weight": class_weight, "fit_intercept": intercept}
            ours = qed.LogisticRegression(**settings).fit(X, y, sample_weight=weight)
            theirs = Peer(**settings, tol=1e-10, max_iter=10000)
            if class_weight == "balanced":
                share = np.bincount(y, weight)
                theirs.set_params(class_weight=dict(enumerate(weight.sum() / (2 * share))))
            theirs.fit(X, y, sample_weight=weight)
            np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-5)
            assert ours.certificate_

    @pytest.mark.parametrize("k", [2, 3])
    def test_statsmodels_inference(self, k):
        import statsmodels.discrete.discrete_model as discrete

        X, y = labelled(300, k=k)
        model = qed.LogisticRegression(C=None, tol=1e-10).fit(X, y)
        seen = model.inference_
        design = np.column_stack([np.ones(len(X)), X])
        peer = discrete.MNLogit(y, design).fit(disp=0, tol=1e-14, maxiter=200)
        assert seen.log_likelihood == pytest.approx(peer.llf, rel=1e-12)
        if k == 2:
            np.testing.assert_allclose(seen.standard_errors, peer.bse.ravel(), rtol=1e-6)
            np.testing.assert_allclose(seen.p_values, peer.pvalues.ravel(), rtol=1e-5)
            return
        contrast = np.kron(np.array([[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]), np.eye(5))
        np.testing.assert_allclose(contrast @ seen.coefficients, peer.params.T.ravel(), rtol=1e-6)
        covariance = contrast @ seen.covariance @ contrast.T
        np.testing.assert_allclose(covariance, np.asarray(peer.cov_params()), rtol=1e-5, atol=1e-9)
        assert seen.names[:2] == ("0: intercept", "0: x0")


class TestPredictions:
    def test_probabilities(self):
        for k in (2, 4):
            X, y = labelled(k=k)
            model = qed.LogisticRegression().fit(X, np.array(list("abcd"))[y])
            chance = model.predict_proba(X)
            assert chance.shape == (200, k)
            np.testing.assert_allclose(chance.sum(axis=1), 1, rtol=1e-14)
            np.testing.assert_allclose(np.log(chance), model.predict_log_proba(X), rtol=1e-12)
            np.testing.assert_array_equal(model.classes_[chance.argmax(axis=1)], model.predict(X))
            scores = model.decision_function(X)
            assert scores.shape == ((200,) if k == 2 else (200, 4))
            assert model.score(X, model.predict(X)) == 1.0

    def test_nothing_overflows_and_small_chances_keep_their_digits(self):
        X, y = labelled(p=1)
        model = qed.LogisticRegression().fit(X, y)
        model.coef_[:], model.intercept_[:] = 1.0, 0.0
        far = np.array([[-1000.0], [-50.0], [50.0], [1000.0]])
        assert np.isfinite(model.predict_proba(far)).all()
        np.testing.assert_allclose(model.predict_log_proba(far)[:, 1], [-1000, -50, -np.exp(-50.0), 0], rtol=1e-12)

    def test_float32(self):
        X, y = labelled(k=3)
        narrow = qed.LogisticRegression().fit(X.astype(np.float32), y)
        assert narrow.predict_proba(X.astype(np.float32)).dtype == np.float32
        assert narrow.coef_.dtype == np.float64
        np.testing.assert_allclose(narrow.coef_, qed.LogisticRegression().fit(X, y).coef_, rtol=1e-4, atol=1e-5)
        assert narrow.certificate_


class TestCertificate:
    @pytest.mark.parametrize("k", [2, 3])
    @pytest.mark.parametrize("C", [None, 1.0, 50.0])
    def test_holds_and_breaks(self, k, C):
        X, y = labelled(k=k)
        model = qed.LogisticRegression(C).fit(X, y)
        assert model.certificate_ and qed.certify(model, X, y)
        assert model.ending_.reason is Reason.CERTIFIED
        for place in np.ndindex(model.coef_.shape):
            before = model.coef_[place]
            model.coef_[place] *= 1.001
            assert not qed.certify(model, X, y)
            model.coef_[place] = before
        model.intercept_[0] *= 1.001
        assert not qed.certify(model, X, y)

    def test_classes_are_predicted_as_often_as_they_occur(self):
        X, y = labelled(k=3)
        weight = np.random.default_rng(0).uniform(0, 2, len(y))
        model = qed.LogisticRegression(0.1).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(weight @ model.predict_proba(X), np.bincount(y, weight), rtol=1e-7)
        assert model.certificate_["classes are predicted as often"].holds

    def test_coefficients_sum_to_zero(self):
        X, y = labelled(k=4)
        model = qed.LogisticRegression().fit(X, y)
        np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-14)
        model.coef_ += 0.01
        assert not qed.certify(model, X, y)["coefficients of all classes sum to zero"].holds

    def test_stopping_early_is_said(self):
        X, y = labelled()
        with pytest.warns(ConvergenceWarning, match="max_iter=20"):
            model = qed.LogisticRegression(max_iter=2).fit(X, y)
        assert not model.certificate_ and model.ending_.reason is Reason.MAX_ITER


class TestSeparation:
    @pytest.mark.parametrize(
        "X, y, words",
        [
            ([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"], "Class 'b' is separated by a hyperplane"),
            ([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1], "hyperplane on which some rows lie"),
            (np.eye(4), [0, 1, 2, 0], "Class 2 is separated"),
        ],
    )
    def test_no_finite_maximum_is_said(self, X, y, words):
        with pytest.warns(ConvergenceWarning, match="C=1.0"):
            model = qed.LogisticRegression(C=None).fit(X, y)
        assert model.ending_.reason is Reason.DEGENERATE
        assert words in model.ending_.because and "no finite maximum" in model.ending_.because
        assert np.isfinite(model.coef_).all() and np.isfinite(model.predict_proba(X)).all()
        assert not model.certificate_
        with pytest.raises(NotAvailableError, match="separated"):
            _ = model.inference_

    def test_a_rare_mark_of_one_class_is_noticed(self):
        X, y = labelled(300)
        mark = (y == 1) & (np.random.default_rng(0).random(300) < 0.2)
        with pytest.warns(ConvergenceWarning, match="hyperplane"):
            model = qed.LogisticRegression(C=None).fit(np.column_stack([X, mark]), y)
        assert model.ending_.reason is Reason.DEGENERATE

    def test_one_of_three_classes_apart(self):
        X, y = labelled(200, k=3)
        X[y == 2, 0] += 50
        with pytest.warns(ConvergenceWarning, match="Class 2 is separated"):
            qed.LogisticRegression(C=None).fit(X, y)

    def test_a_penalty_helps(self):
        for C in (1.0, 1e8):
            model = qed.LogisticRegression(C).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
            assert model.certificate_ and model.ending_.reason is Reason.CERTIFIED

    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), n=st.integers(4, 14), k=st.integers(2, 3))
    def test_found_exactly_where_linear_programming_finds_it(self, seed, n, k):
        from scipy.optimize import linprog

        rng = np.random.default_rng(seed)
        X, y = rng.integers(-3, 4, size=(n, 2)).astype(float), rng.integers(k, size=n)
        y[:k] = np.arange(k)
        leads = []
        for x, own in zip(np.column_stack([X, np.ones(n)]), y):
            for other in set(range(k)) - {own}:
                lead = np.zeros((k, 3))
                lead[own], lead[other] = x, -x
                leads.append(lead.ravel())
        leads = np.array(leads)
        found = linprog(-leads.sum(axis=0), A_ub=-leads, b_ub=np.zeros(len(leads)), bounds=(-1, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = qed.LogisticRegression(C=None).fit(X, y)
        assert (model.ending_.reason is Reason.DEGENERATE) == (-found.fun > 1e-7)
        assert bool(model.certificate_) == (model.ending_.reason is Reason.CERTIFIED)


class TestSameWhicheverWay:
    @settings(max_examples=25, deadline=None)
    @given(n=st.integers(6, 60), p=st.integers(1, 5), k=st.integers(2, 4), seed=st.integers(0, 10**6))
    def test_weights_are_repetitions(self, n, p, k, seed):
        rng = np.random.default_rng(seed)
        X, y, weight = rng.normal(size=(n, p)), rng.integers(k, size=n), rng.integers(0, 4, size=n)
        y[:k], weight[:k] = np.arange(k), 1
        weighted = qed.LogisticRegression().fit(X, y, sample_weight=weight)
        repeated = qed.LogisticRegression().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6, atol=1e-7)
        assert weighted.certificate_

    def test_a_class_without_weight_is_absent(self):
        X, y = labelled(k=3)
        model = qed.LogisticRegression().fit(X, y, sample_weight=(y != 1).astype(float))
        assert model.classes_.tolist() == [0, 2] and model.coef_.shape == (1, 4)
        only = qed.LogisticRegression().fit(X[y != 1], y[y != 1])
        np.testing.assert_allclose(model.coef_, only.coef_, rtol=1e-8)

    def test_missing_values_without_weight_do_not_matter(self):
        X, y = labelled()
        expected = qed.LogisticRegression().fit(X[1:], y[1:]).coef_
        X[0, 0] = np.nan
        weight = np.ones(len(y))
        with pytest.raises(InputError, match="column number 0, row 0"):
            qed.LogisticRegression().fit(X, y)
        weight[0] = 0
        np.testing.assert_allclose(qed.LogisticRegression().fit(X, y, weight).coef_, expected, rtol=1e-8)

    @pytest.mark.parametrize("k, p", [(2, 5), (3, 5), (6, 60)])
    def test_threads_change_nothing(self, k, p):
        X, y = labelled(700, p, k)
        rows = qed.rows(X, y, block_size=64)
        fits = []
        for count in (1, 2, 5):
            with qed.threads(count):
                fits.append(qed.LogisticRegression().fit(rows))
        for other in fits[1:]:
            np.testing.assert_array_equal(other.coef_, fits[0].coef_)
            np.testing.assert_array_equal(other.intercept_, fits[0].intercept_)

    @pytest.mark.parametrize("k, p", [(2, 30), (3, 30), (6, 80)])
    def test_sparse_equals_dense(self, k, p):
        rng = np.random.default_rng(0)
        X = sparse.random_array((400, p), density=0.1, rng=rng, format="csr")
        y = (X @ rng.normal(size=(p, k)) + rng.gumbel(size=(400, k))).argmax(axis=1)
        for intercept in (True, False):
            dense = qed.LogisticRegression(fit_intercept=intercept).fit(X.toarray(), y)
            for form in (X, sparse.csc_matrix(X)):
                model = qed.LogisticRegression(fit_intercept=intercept).fit(form, y)
                np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-6)
                np.testing.assert_allclose(model.predict_proba(form), dense.predict_proba(X.toarray()), atol=1e-6)
                assert model.certificate_ and qed.certify(model, form, y)

    def test_files_and_clusters(self, tmp_path):
        import dask.array as da
        import pyarrow as pa
        import pyarrow.parquet as pq

        X, y = labelled(500, 3, 3)
        names = np.array(["low", "mid", "top"])[y]
        whole = qed.LogisticRegression().fit(X, names)
        table = pa.table({**{f"x{j}": X[:, j] for j in range(3)}, "level": names})
        pq.write_table(table, tmp_path / "x.parquet", row_group_size=90)
        rows = qed.rows(tmp_path / "x.parquet", target="level", block_size=70)
        model = qed.LogisticRegression().fit(rows)
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
        assert model.classes_.tolist() == ["low", "mid", "top"]
        assert qed.certify(model, rows) and model.score(rows) == whole.score(X, names)
        cluster = qed.rows(da.from_array(X, chunks=(130, 3)), da.from_array(y, chunks=130))
        model = qed.LogisticRegression().fit(cluster)
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
        assert qed.certify(model, cluster)

    @pytest.mark.parametrize("kind", [int, float, str, bool, object])
    def test_labels_of_any_kind(self, kind):
        X, y = labelled()
        labels = y.astype(str).astype(object) if kind is object else y.astype(kind)
        model = qed.LogisticRegression().fit(X, labels)
        np.testing.assert_array_equal(model.classes_, np.unique(labels))
        assert model.predict(X).dtype == labels.dtype
        np.testing.assert_array_equal(model.coef_, qed.LogisticRegression().fit(X, y).coef_)


class TestSteps:
    @pytest.mark.parametrize("k, p, C", [(2, 4, 1.0), (3, 4, None), (6, 60, 1.0)])
    def test_going_on_from_any_step_is_going_on(self, k, p, C):
        X, y = labelled(400, p, k)
        model = qed.LogisticRegression(C)
        walk = qed.steps(model, X, y)
        steps = [next(walk) for _ in range(7)]
        for start in steps[:5]:
            rest = qed.steps(model, X, y, start=start)
            for expected in steps[start.number + 1 :]:
                step = next(rest)
                assert (step.number, step.objective, step.gap) == (expected.number, expected.objective, expected.gap)
                np.testing.assert_array_equal(step.coef, expected.coef)
                np.testing.assert_array_equal(step.intercept, expected.intercept)

    def test_an_interrupted_fit_resumes(self):
        X, y = labelled(k=3)
        whole = qed.LogisticRegression().fit(X, y)
        part = qed.LogisticRegression()
        with qed.watch(call=lambda step: step.number == 2), pytest.warns(ConvergenceWarning, match="resume"):
            part.fit(X, y)
        assert part.ending_.reason is Reason.INTERRUPTED and not part.certificate_
        part.resume(X, y)
        np.testing.assert_array_equal(part.coef_, whole.coef_)
        assert part.n_iter_ == whole.n_iter_ and part.certificate_

    def test_warm_start_from_another_penalty(self):
        X, y = labelled(k=3)
        near = qed.LogisticRegression(C=1.0).fit(X, y).ending_.step
        walk = qed.steps(qed.LogisticRegression(C=1.1), X, y, start=near)
        gaps = [next(walk).gap for _ in range(3)]
        assert min(gaps) < 1e-14
        cold = qed.steps(qed.LogisticRegression(C=1.1), X, y)
        assert [next(cold).gap for _ in range(3)][-1] > gaps[-1]
        with pytest.raises(InputError, match="shape"):
            next(qed.steps(qed.LogisticRegression(), X[:, :2], y, start=near))

    def test_the_objective_falls_and_the_gap_is_true(self):
        for k, C in ((2, 1.0), (3, 10.0), (3, None)):
            X, y = labelled(k=k)
            least = qed.LogisticRegression(C, tol=1e-10).fit(X, y).ending_.step.objective
            walk = qed.steps(qed.LogisticRegression(C), X, y)
            before = np.inf
            for _ in range(8):
                step = next(walk)
                assert step.objective <= before * (1 + 1e-14)
                assert step.objective - least <= step.gap * step.objective + 1e-13 * least
                before = step.objective


class TestHardData:
    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), size=st.integers(-60, 60), offset=st.integers(0, 6), k=st.integers(2, 3))
    def test_scales_and_offsets(self, seed, size, offset, k):
        X, y = labelled(60, 3, k, seed)
        y[:k] = np.arange(k)
        scaled = X * [10.0**size, 1.0, 1e-3] + 10.0**offset
        model = qed.LogisticRegression(C=10.0).fit(scaled, y)
        assert model.certificate_, str(model.certificate_)

    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), k=st.integers(2, 3), C=st.sampled_from([1e-6, 1.0, 1e6]))
    def test_duplicates_constants_and_collinear_columns(self, seed, k, C):
        X, y = labelled(50, 3, k, seed)
        y[:k] = np.arange(k)
        hard = np.column_stack([X, X[:, 0], X.sum(axis=1), np.full(50, 0.1), np.zeros(50)])
        model = qed.LogisticRegression(C).fit(np.repeat(hard, 2, axis=0), np.repeat(y, 2))
        assert model.certificate_, str(model.certificate_)
        np.testing.assert_allclose(model.coef_[:, 0], model.coef_[:, 3], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(model.coef_[:, -2:], 0, atol=1e-9)

    def test_collinear_columns_without_a_penalty(self):
        X, y = labelled(100)
        plain = qed.LogisticRegression(C=None).fit(X, y)
        twice = qed.LogisticRegression(C=None).fit(np.column_stack([X, X[:, 0]]), y)
        assert twice.certificate_
        np.testing.assert_allclose(
            twice.decision_function(np.column_stack([X, X[:, 0]])), plain.decision_function(X), rtol=1e-6
        )
        with pytest.raises(NotAvailableError, match="undetermined"):
            _ = twice.inference_

    @pytest.mark.parametrize("k", [2, 3])
    def test_more_columns_than_rows(self, k):
        X, y = labelled(20, 50, k)
        assert qed.LogisticRegression().fit(X, y).certificate_
        with pytest.warns(ConvergenceWarning, match="separated"):
            qed.LogisticRegression(C=None).fit(X, y)

    def test_many_columns(self):
        X, y = labelled(100, 2100)
        model = qed.LogisticRegression().fit(X, y)
        assert model.certificate_
        theirs = Peer(tol=1e-10, max_iter=10000).fit(X, y)
        np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-5)

    def test_one_class(self):
        with pytest.raises(InputError, match="only one class, 'a'"):
            qed.LogisticRegression().fit(np.eye(3), ["a", "a", "a"])

    def test_columns_without_information(self):
        model = qed.LogisticRegression().fit(np.ones((6, 2)), [0, 1, 1, 0, 1, 1])
        np.testing.assert_allclose(model.predict_proba([[1.0, 1.0]]), [[1 / 3, 2 / 3]], rtol=1e-7)
        np.testing.assert_array_equal(model.coef_, 0)

    def test_beyond_floating_point(self):
        X, y = labelled(30)
        with pytest.raises(InputError, match="overflow"):
            qed.LogisticRegression().fit(X * 1e200, y)


class TestParameters:
    @pytest.mark.parametrize(
        "wrong", [{"C": 0}, {"C": -1.0}, {"C": "none"}, {"class_weight": "even"}, {"tol": -1}, {"max_iter": 0}]
    )
    def test_wrong_ones_are_named(self, wrong):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            qed.LogisticRegression(**wrong).fit(*labelled(20))

    def test_class_weight(self):
        X, y = labelled(50)
        with pytest.raises(ParameterError, match="the class 7"):
            qed.LogisticRegression(class_weight={7: 1.0}).fit(X, y)
        with pytest.raises(ParameterError, match=">= 0"):
            qed.LogisticRegression(class_weight={0: -1.0}).fit(X, y)
        model = qed.LogisticRegression(class_weight={0: 2.0}).fit(X, y)
        weighted = qed.LogisticRegression().fit(X, y, sample_weight=np.where(y == 0, 2.0, 1.0))
        np.testing.assert_allclose(model.coef_, weighted.coef_, rtol=1e-7)

    def test_no_penalty_has_two_names(self):
        X, y = labelled(50)
        none, infinite = (qed.LogisticRegression(C).fit(X, y) for C in (None, np.inf))
        np.testing.assert_array_equal(none.coef_, infinite.coef_)

    def test_inference_is_refused_with_reasons(self):
        X, y = labelled(50)
        with pytest.raises(NotAvailableError, match="penalty biases"):
            _ = qed.LogisticRegression().fit(X, y).inference_
        with pytest.raises(NotAvailableError, match="class_weight"):
            _ = qed.LogisticRegression(C=None, class_weight="balanced").fit(X, y).inference_

    def test_labels_of_other_data_are_refused(self):
        X, y = labelled(50)
        model = qed.LogisticRegression().fit(X, y)
        with pytest.raises(InputError, match="label 5 is not among the classes"):
            qed.certify(model, X, np.where(y == 1, 5, 0))

    def test_a_hand_made_step(self):
        X, y = labelled(50)
        start = Step(np.inf, coef=np.zeros((1, 4)), intercept=np.zeros(1))
        walk = qed.steps(qed.LogisticRegression(), X, y, start=start)
        steps = [next(walk) for _ in range(8)]
        np.testing.assert_allclose(steps[-1].coef, qed.LogisticRegression().fit(X, y).coef_, rtol=1e-6)
