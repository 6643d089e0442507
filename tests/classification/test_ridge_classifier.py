"""RidgeClassifier: ridge regressions on signs, the same in every shape of table, and searched at the price of one."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import RidgeClassifier as Peer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold

import qed
from qed.base.errors import InputError, ParameterError
from tests.regression.exact import Exact

LETTERS = np.array(["a", "b", "c", "d"])


def table(n=120, p=4, k=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p)) + np.arange(p)
    score = X @ random.standard_normal((p, k)) + random.standard_normal((n, k))
    y = LETTERS[(score - score.mean(axis=0)).argmax(axis=1)]
    return X, y, random.integers(0, 3, n).astype(float) + 0.5


SETTINGS = [
    {},
    {"alpha": 0.1, "fit_intercept": False},
    {"class_weight": "balanced"},
    {"class_weight": {"a": 3.0}},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize(("n", "p", "k"), [(120, 4, 2), (120, 4, 4), (30, 80, 3)])
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_it_is_scikit_learns(n, p, k, settings, is_sparse):
    X, y, _ = table(n, p, k)
    given = sparse.csr_array(X) if is_sparse else X
    model, peer = qed.RidgeClassifier(**settings).fit(given, y), Peer(**settings, solver="svd").fit(X, y)
    # The penalty bounds the condition number of the equations by some 1e5, which costs as many digits.
    np.testing.assert_allclose(model.coef_, np.atleast_2d(peer.coef_), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, peer.intercept_ * np.ones(len(model.coef_)), rtol=1e-8, atol=1e-9)
    assert model.predict(given).tolist() == peer.predict(X).tolist()
    assert model.certificate_ and qed.certify(model, given, y)
    assert model.coef_.shape == (1 if k == 2 else k, p) and model.decision_function(given).shape == (
        (n,) if k == 2 else (n, k)
    )


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_each_plane_is_the_exact_ridge_regression_on_the_signs_of_its_class(alpha):
    X, y, weight = table(20, 3)
    model = qed.RidgeClassifier(alpha).fit(X, y, weight)
    for label, coef in zip(model.classes_, model.coef_):
        truth = Exact(X, np.where(y == label, 1.0, -1.0), alpha, weight, True).solution()
        # Twenty rows of unit spread: a condition number of some tens, and sixteen digits.
        np.testing.assert_allclose(coef, [float(value) for value in truth], rtol=1e-11)


def test_weights_are_repetitions_and_class_weights_are_weights():
    X, y, _ = table()
    times = 1 + (np.arange(len(y)) % 3)
    repeated = qed.RidgeClassifier().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    weighted = qed.RidgeClassifier().fit(X, y, sample_weight=times)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-11)
    by_class = qed.RidgeClassifier(class_weight={"b": 2.0, "c": 0.5}).fit(X, y)
    by_row = qed.RidgeClassifier().fit(X, y, sample_weight=np.select([y == "b", y == "c"], [2.0, 0.5], 1.0))
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, rtol=1e-12)
    counts = {label: int((y == label).sum()) for label in "abc"}
    given = {label: len(y) / (3 * count) for label, count in counts.items()}
    balanced = qed.RidgeClassifier(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.coef_, qed.RidgeClassifier(class_weight=given).fit(X, y).coef_, rtol=1e-12)


def test_coefficients_that_must_not_be_negative_are_not():
    X, y, _ = table(k=2)
    model = qed.RidgeClassifier(positive=True).fit(X, y)
    free = qed.RidgeClassifier().fit(X, y)
    assert (free.coef_ < 0).any() and (model.coef_ >= 0).all() and model.certificate_


def test_the_certificate_objects_to_other_classes_and_other_labels():
    X, y, _ = table()
    model = qed.RidgeClassifier().fit(X, y)
    other = y.copy()
    other[np.flatnonzero(y == "a")[0]] = "b"
    assert not qed.certify(model, X, other)
    assert not qed.certify(model, X, np.where(y == "a", "z", y))
    model.classes_ = model.classes_[[1, 0, 2]]
    assert not qed.certify(model, X, y)


def test_one_class_and_amounts_are_refused():
    with pytest.raises(InputError, match="only one class"):
        qed.RidgeClassifier().fit(np.eye(3), ["a"] * 3)
    with pytest.raises(InputError):
        qed.RidgeClassifier().fit(np.eye(3), [0.5, 1.25, 2.125])


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "f1_macro"])
@pytest.mark.parametrize(("n", "p", "k"), [(90, 4, 2), (90, 4, 3), (40, 70, 3)])
def test_a_search_has_the_scores_of_fitting_everything(n, p, k, scoring):
    X, y, _ = table(n, p, k)
    grid, folds = {"alpha": [0.01, 1.0, 100.0], "fit_intercept": [True, False]}, KFold(3, shuffle=True, random_state=0)
    cheap = qed.Search(qed.RidgeClassifier(), grid, cv=folds, scoring=scoring, return_train_score=True).fit(X, y)
    plain = GridSearchCV(qed.RidgeClassifier(), grid, cv=folds, scoring=scoring, return_train_score=True).fit(X, y)
    assert "3 alphas from one eigendecomposition each" in cheap.how_
    for name in ("mean_test_score", "mean_train_score"):
        np.testing.assert_allclose(cheap.cv_results_[name], plain.cv_results_[name], rtol=1e-12)
    assert cheap.best_params_ == plain.best_params_


def test_a_search_with_weights_without_a_penalty_and_by_scores():
    X, y, weight = table(90, 4, 2)
    grid, folds = {"alpha": [0.0, 10.0]}, KFold(3, shuffle=True, random_state=0)
    search = qed.Search(qed.RidgeClassifier(), grid, cv=folds, scoring="roc_auc").fit(X, y, sample_weight=weight)
    assert "eigendecomposition" in search.how_
    for alpha, found in zip(grid["alpha"], search.cv_results_["mean_test_score"]):
        plain = []
        for train, test in folds.split(X):
            scores = qed.RidgeClassifier(alpha).fit(X[train], y[train], weight[train]).decision_function(X[test])
            plain.append(roc_auc_score(y[test] == "b", scores, sample_weight=weight[test]))
        np.testing.assert_allclose(found, np.mean(plain), rtol=1e-12)


@pytest.mark.parametrize("settings", [{"class_weight": "balanced"}, {"positive": True}], ids=str)
def test_what_sums_do_not_tell_is_fitted(settings):
    X, y, _ = table()
    grid = {"alpha": [0.1, 10.0]}
    search = qed.Search(qed.RidgeClassifier(**settings), grid, cv=3).fit(X, y)
    plain = GridSearchCV(qed.RidgeClassifier(**settings), grid, cv=3).fit(X, y)
    assert "eigendecomposition" not in search.how_
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-12)


def test_a_training_set_without_some_class_is_fitted_by_itself():
    X, y, _ = table(60, 3, 3)
    y = np.sort(np.where(y == "c", "b", y))
    y[-15:] = "c"
    search = qed.Search(qed.RidgeClassifier(), {"alpha": [0.1, 1.0]}, cv=KFold(4)).fit(X, y)
    plain = GridSearchCV(qed.RidgeClassifier(), {"alpha": [0.1, 1.0]}, cv=KFold(4)).fit(X, y)
    assert "eigendecomposition" not in search.how_
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-12)


def test_few_scores_are_held_at_a_time(monkeypatch):
    X, y, _ = table()
    grid = {"alpha": [0.1, 1.0, 10.0, 100.0]}
    whole = qed.Search(qed.RidgeClassifier(), grid, cv=3).fit(X, y).cv_results_["mean_test_score"]
    monkeypatch.setattr("qed.classification.ridge.MOST_SCORES", 1)
    parts = qed.Search(qed.RidgeClassifier(), grid, cv=3).fit(X, y).cv_results_["mean_test_score"]
    assert whole.tolist() == parts.tolist()


def labelled(n=80, p=4, k=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p)) + np.arange(p)
    score = X @ random.standard_normal((p, k)) + random.standard_normal((n, k))
    return X, (score > score.mean(axis=0)).astype(int)


@pytest.mark.parametrize("settings", SETTINGS[:3], ids=str)
@pytest.mark.parametrize(("n", "p", "k"), [(80, 4, 2), (80, 4, 3), (20, 30, 3)])
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_a_row_may_have_several_labels_as_in_scikit_learn(n, p, k, settings, is_sparse):
    X, Y = labelled(n, p, k)
    given = sparse.csr_array(X) if is_sparse else X
    model, peer = qed.RidgeClassifier(**settings).fit(given, Y), Peer(**settings, solver="svd").fit(X, Y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, peer.intercept_ * np.ones(k), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(given), peer.decision_function(X), rtol=1e-7, atol=1e-8)
    assert model.predict(given).tolist() == peer.predict(X).tolist() and model.predict(given).shape == (n, k)
    assert model.classes_.tolist() == peer.classes_.tolist() == list(range(k))
    assert model.score(given, Y) == pytest.approx(peer.score(X, Y), rel=1e-15)
    assert model.certificate_ and qed.certify(model, given, Y)
    other = Y.copy()
    other[0, 0] = 1 - other[0, 0]
    assert not qed.certify(model, given, other)


@pytest.mark.parametrize("kind", [bool, np.float32, np.int8])
def test_labels_of_any_type_of_zeros_and_ones_are_the_same(kind):
    X, Y = labelled()
    model, plain = qed.RidgeClassifier().fit(X, Y.astype(kind)), qed.RidgeClassifier().fit(X, Y)
    assert model.coef_.tolist() == plain.coef_.tolist() and model.multilabel_
    assert (
        qed.RidgeClassifier().fit(X.astype(np.float32), Y).decision_function(X.astype(np.float32)).dtype == np.float32
    )


def test_labels_that_all_rows_have_and_weights_are_repetitions():
    X, Y = labelled()
    Y = np.column_stack([Y, np.ones(len(Y), dtype=int), np.zeros(len(Y), dtype=int)])
    model = qed.RidgeClassifier(class_weight="balanced").fit(X, Y)
    assert (model.predict(X)[:, 3:] == [1, 0]).all() and model.certificate_
    times = 1 + (np.arange(len(Y)) % 3)
    repeated = qed.RidgeClassifier().fit(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
    # Rows of unit spread and a penalty of one: a condition number of some hundreds.
    np.testing.assert_allclose(qed.RidgeClassifier().fit(X, Y, times).coef_, repeated.coef_, rtol=1e-11, atol=1e-13)


def test_what_no_labels_are_and_other_shapes_are_refused():
    X, Y = labelled()
    with pytest.raises(InputError, match="zeros and ones"):
        qed.RidgeClassifier().fit(X, Y + 1)
    with pytest.raises(InputError, match="zeros and ones"):
        qed.RidgeClassifier().fit(X, np.where(Y == 1, "yes", "no"))
    with pytest.raises(ParameterError, match="several labels"):
        qed.RidgeClassifier(class_weight={0: 2.0}).fit(X, Y)
    for target in (Y[:, 0], Y[:, :2]):
        with pytest.raises(InputError, match="as in fit"):
            qed.RidgeClassifier().fit(X, Y).score(X, target)
    with pytest.raises(InputError, match="predicts one column"):
        qed.LogisticRegression().fit(X, Y)
    model = qed.RidgeClassifier().fit(X, Y)
    model.multilabel_ = False
    with pytest.raises(InputError, match="as in fit"):
        qed.certify(model, X, Y)


def test_models_of_several_labels_are_searched_and_saved(tmp_path):
    X, Y = labelled()
    grid, folds = {"alpha": [0.1, 10.0]}, KFold(3)
    search = qed.Search(qed.RidgeClassifier(), grid, cv=folds).fit(X, Y)
    plain = GridSearchCV(qed.RidgeClassifier(), grid, cv=folds).fit(X, Y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-12)
    qed.save(search.best_estimator_, tmp_path / "labels.qed")
    loaded = qed.load(tmp_path / "labels.qed")
    assert loaded.predict(X).tolist() == search.best_estimator_.predict(X).tolist()


# Rows of unit spread near the origin and a penalty of at least a tenth: a condition number of some thousands, and sixteen digits.
SAME = {"rtol": 1e-10, "atol": 1e-11}


def assert_same_planes(one, other):
    assert one.classes_.tolist() == other.classes_.tolist() and one.classes_.dtype == other.classes_.dtype
    np.testing.assert_allclose(one.coef_, other.coef_, **SAME)
    np.testing.assert_allclose(one.intercept_, other.intercept_, **SAME)


@pytest.mark.parametrize("settings", [{}, SETTINGS[1], {"class_weight": {"a": 3.0}}, {"positive": True}], ids=str)
@pytest.mark.parametrize(("n", "p"), [(120, 4), (30, 80)], ids=str)
@pytest.mark.parametrize("kind", ["dense", "sparse", "float32"])
def test_learning_in_parts_and_forgetting_are_fits_on_the_rows_that_are_left(n, p, settings, kind):
    X, y, weight = table(n, p, 4)
    X = {"dense": X, "sparse": sparse.csr_array(X), "float32": X.astype(np.float32)}[kind]
    # Two classes, then three, then four.
    order = np.argsort(["acbd".index(label) for label in y], kind="stable")
    X, y, weight = X[order], y[order], weight[order]
    model, start = qed.RidgeClassifier(**settings), 0
    ends = [int(np.isin(y, list(known)).sum()) for known in ("ac", "acb", "acbd")]
    for stop in ends:
        model.partial_fit(X[start:stop], y[start:stop], sample_weight=weight[start:stop])
        assert_same_planes(model, qed.RidgeClassifier(**settings).fit(X[:stop], y[:stop], weight[:stop]))
        assert model.certificate_ and qed.certify(model, X[:stop], y[:stop], weight[:stop])
        start = stop
    model.forget(X[ends[0] :], y[ends[0] :], weight[ends[0] :])
    left = X[: ends[0]], y[: ends[0]], weight[: ends[0]]
    assert model.classes_.tolist() == ["a", "c"] and len(model.coef_) == 1
    assert_same_planes(model, qed.RidgeClassifier(**settings).fit(*left))
    assert model.certificate_ and qed.certify(model, *left)


def test_a_part_may_have_a_single_class_but_not_all_rows():
    X, y, _ = table(k=2)
    first, second = y == "a", y == "b"
    with pytest.raises(InputError, match="only one class"):
        qed.RidgeClassifier().partial_fit(X[first], y[first])
    model = qed.RidgeClassifier().fit(X[:20], y[:20])
    for own in (first, second):
        own = own & (np.arange(len(y)) >= 20)
        model.partial_fit(X[own], y[own], classes=["a", "b"])
    assert_same_planes(model, qed.RidgeClassifier().fit(X, y))
    with pytest.raises(InputError, match="only one class"):
        model.forget(X[first], y[first])
    assert_same_planes(model, qed.RidgeClassifier().fit(X, y))
    for labels, said in ((np.full(len(y), "a"), "Not that many rows of class 'a'"), (np.full(3, "z"), "class 'z'")):
        with pytest.raises(InputError, match=said):
            model.forget(X[: len(labels) - 1], labels[:-1])


def test_balanced_classes_are_learned_at_once_and_say_so():
    X, y, _ = table()
    model = qed.RidgeClassifier(class_weight="balanced").fit(X, y)
    for door in ("partial_fit", "forget"):
        with pytest.raises(ParameterError, match=f"no {door} with these parameters: class_weight='balanced' weighs"):
            getattr(model, door)(X[:5], y[:5])
    grid, folds = {"class_weight": ["balanced", None, {"a": 2.0}]}, KFold(3, shuffle=True, random_state=0)
    search = qed.Search(qed.RidgeClassifier(), grid, cv=folds).fit(X, y)
    plain = GridSearchCV(qed.RidgeClassifier(), grid, cv=folds).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-12)


def test_rows_with_several_labels_are_learned_in_parts(tmp_path):
    X, Y = labelled()
    model = qed.RidgeClassifier().partial_fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])
    assert_same_planes(model, qed.RidgeClassifier().fit(X, Y))
    qed.save(model, tmp_path / "labels.qed")
    left = qed.load(tmp_path / "labels.qed").forget(X[:30], Y[:30])
    assert_same_planes(left, qed.RidgeClassifier().fit(X[30:], Y[30:]))
    assert left.certificate_ and qed.certify(left, X[30:], Y[30:])
