"""Cross-validation: every row judged once by a model that has not seen it, and scikit-learn's numbers."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection as peer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression as PeerLinearRegression
from sklearn.linear_model import LogisticRegression as PeerLogisticRegression
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.metrics import get_scorer as peer_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler as PeerScaler

import qed
from qed.base.errors import InputError, ParameterError


def problem(seed=0, n=103, p=5, q=1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    Y = X @ random.normal(size=(p, q)) + random.normal(size=(n, q)) + 3
    return X, Y if q > 1 else Y[:, 0]


MODELS = [(qed.LinearRegression(), PeerLinearRegression()), (qed.Ridge(2.0), PeerRidge(2.0))]


# The two libraries define the weighted median differently, so that score is compared without weights.
SCORINGS = [None, "neg_mean_squared_error"]


@pytest.mark.parametrize(("model", "other"), MODELS)
@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize(
    ("scoring", "weighted"),
    [
        *((scoring, weighted) for scoring in SCORINGS for weighted in (False, True)),
        ("neg_median_absolute_error", False),
    ],
)
def test_scores_are_those_of_scikit_learn(model, other, weighted, q, scoring):
    X, y = problem(q=q)
    weight = np.random.default_rng(1).uniform(0.1, 2, len(X)) if weighted else None
    ours = qed.cross_validate(model, X, y, scoring=scoring, sample_weight=weight, return_train_score=True)
    scorer = peer.GridSearchCV(other, {}, cv=5, scoring=scoring, return_train_score=True).fit(
        X, y, sample_weight=weight
    )
    for part in ("test", "train"):
        theirs = [scorer.cv_results_[f"split{fold}_{part}_score"][0] for fold in range(5)]
        np.testing.assert_allclose(ours[f"{part}_score"], theirs, rtol=1e-9, atol=1e-12)
    assert ours.mean == pytest.approx(np.mean(ours["test_score"]), rel=1e-12)
    assert ours.standard_error == pytest.approx(np.std(ours["test_score"], ddof=1) / np.sqrt(5), rel=1e-12)


def test_rows_without_weight_leave_no_group_without_classes():
    X, y = qed.data.load("iris").Xy()
    weight = np.tile([0.0, 1.0, 2.0], 50)
    found = [
        qed.Search(
            qed.RidgeClassifier(),
            {"alpha": [0.1, 1.0]},
            cv=3,
            scoring=["accuracy", "f1_macro"],
            refit=False,
            cheap=cheap,
        )
        .fit(X, y, sample_weight=weight)
        .cv_results_["mean_test_f1_macro"]
        for cheap in (True, False)
    ]
    np.testing.assert_allclose(*found, rtol=1e-12)
    with pytest.raises(ParameterError, match="needs predict_proba"):
        qed.Search(qed.RidgeClassifier(), {"alpha": [0.1, 1.0]}, cv=3, scoring=["neg_log_loss"], refit=False).fit(
            X, y, sample_weight=weight
        )


def test_labels_in_a_column_are_stratified_as_they_are_in_a_vector():
    X, y = qed.data.load("iris").Xy()
    for column in (y[:, None], pd.DataFrame({"kind": y})):
        for search in (
            lambda t: qed.cross_validate(qed.GaussianNB(), X, t, cv=3)["test_score"].tolist(),
            lambda t: [test.tolist() for _, test in qed.StratifiedKFold(3).split(X, t)],
        ):
            assert search(column) == search(y)


def test_the_result_is_the_plain_mean_of_the_folds_also_where_their_sizes_differ():
    X, y = problem(n=10, p=1)
    found = qed.cross_validate(qed.LinearRegression(), X, y, cv=3, scoring="neg_mean_squared_error")
    errors, sizes = [], []
    for train, test in qed.KFold(3, shuffle=False).split(X):
        model = qed.LinearRegression().fit(X[train], y[train])
        errors.append(np.mean((y[test] - model.predict(X[test])) ** 2))
        sizes.append(len(test))
    assert sizes == [4, 3, 3]
    assert found.mean == pytest.approx(-np.mean(errors), rel=1e-10)
    assert abs(found.mean + np.average(errors, weights=sizes)) > 1e-6


def test_it_is_a_dict_with_scikit_learns_names():
    X, y = problem()
    several = ["r2", "neg_mean_absolute_error"]
    ours = qed.cross_validate(qed.Ridge(), X, y, scoring=several, return_train_score=True, return_estimator=True)
    theirs = peer.cross_validate(PeerRidge(), X, y, scoring=several, return_train_score=True, return_estimator=True)
    assert isinstance(ours, dict) and set(ours) == set(theirs) and len(ours) == len(theirs)
    for name in theirs:
        assert len(ours[name]) == 5
        if name.startswith(("test", "train")):
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-9)
    assert set(ours.mean) == set(several) == set(ours.standard_error)
    assert [model.predict(X).shape for model in ours["estimator"]] == [(103,)] * 5
    assert "r2" in repr(ours) and "± " in repr(ours)
    again = pickle.loads(pickle.dumps(qed.cross_validate(qed.Ridge(), X, y)))
    assert isinstance(again, dict) and again.mean == pytest.approx(again["test_score"].mean())
    single = qed.cross_validate(qed.Ridge(), X, y)
    assert set(single) == {"fit_time", "score_time", "test_score"} and isinstance(single.mean, float)
    named = qed.cross_validate(
        qed.Ridge(), X, y, scoring={"squares": "neg_mean_squared_error", "mine": lambda m, X, y: 1.0}
    )
    assert named.mean["mine"] == 1.0 and "test_squares" in named


def test_several_scores_need_one_pass_and_one_fit_of_each_fold():
    X, y = problem()
    both = qed.cross_validate(qed.Ridge(), X, y, scoring=["r2", "neg_mean_squared_error"])
    assert both.how == "5 folds from the sums of 1 pass"
    fits = []

    class Counting(PeerRidge):
        def fit(self, X, y):
            fits.append(len(X))
            return super().fit(X, y)

    qed.cross_validate(Counting(), X, y, scoring=["r2", "neg_max_error"])
    assert sorted(fits) == [82, 82, 82, 83, 83]


def test_leaving_one_out_lists_every_row():
    X, y = problem(n=30)
    found = qed.cross_validate(qed.LinearRegression(), X, y, cv="loo")
    theirs = peer.cross_val_score(PeerLinearRegression(), X, y, cv=peer.LeaveOneOut(), scoring="neg_mean_squared_error")
    np.testing.assert_allclose(found["test_score"], theirs, rtol=1e-9)
    np.testing.assert_allclose(qed.cross_val_score(qed.LinearRegression(), X, y, cv="loo"), theirs, rtol=1e-9)


def test_too_many_folds_to_list(monkeypatch):
    from qed.optim.least_squares import search as linear_search

    monkeypatch.setattr(linear_search, "KEPT", 10)
    X, y = problem(n=30)
    assert "test_score" not in qed.cross_validate(qed.Ridge(), X, y, cv="loo")
    with pytest.raises(InputError, match="too many folds"):
        qed.cross_val_score(qed.Ridge(), X, y, cv="loo")


def test_classifiers_pipelines_and_frames():
    X, y = problem()
    labels = np.where(y > np.median(y), "high", "low")
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = make_pipeline(PeerScaler(), PeerLogisticRegression())
    for scoring in (None, "neg_log_loss", "roc_auc"):
        ours = qed.cross_val_score(model, frame, labels, scoring=scoring, cv=4)
        np.testing.assert_allclose(ours, peer.cross_val_score(model, frame, labels, scoring=scoring, cv=4), rtol=1e-12)


@pytest.mark.parametrize("cv", [4, qed.KFold(5), peer.KFold(3, shuffle=True, random_state=0)])
def test_every_row_is_predicted_by_a_model_that_has_not_seen_it(cv):
    X, y = problem()
    ours = qed.cross_val_predict(qed.Ridge(), X, y, cv=cv)
    splits = list(cv.split(X)) if hasattr(cv, "split") else cv
    np.testing.assert_allclose(ours, peer.cross_val_predict(PeerRidge(), X, y, cv=splits), rtol=1e-10)


def test_predictions_of_probabilities_and_of_streamed_rows():
    X, y = problem()
    labels = np.where(y > np.median(y), "high", "low")
    for method in ("predict", "predict_proba", "decision_function"):
        ours = qed.cross_val_predict(PeerLogisticRegression(), X, labels, method=method)
        theirs = peer.cross_val_predict(PeerLogisticRegression(), X, labels, method=method, cv=5)
        np.testing.assert_array_equal(ours, theirs)
    weight = np.random.default_rng(0).uniform(size=103)
    streamed = qed.cross_val_predict(qed.Ridge(), qed.rows(X, y, sample_weight=weight, block_size=16))
    np.testing.assert_allclose(streamed, qed.cross_val_predict(qed.Ridge(), X, y, sample_weight=weight), rtol=1e-12)


def test_what_can_not_be_done_is_said():
    X, y = problem(n=30)
    labels = np.array(["a"] * 14 + ["b"] * 14 + ["c"] * 2)
    with pytest.raises(InputError, match="every row exactly once"):
        qed.cross_val_predict(qed.Ridge(), X, y, cv=qed.HoldOut())
    with pytest.raises(InputError, match="lack a class"):
        qed.cross_val_predict(
            PeerLogisticRegression(), X, labels, cv=qed.KFold(3, shuffle=False), method="decision_function"
        )
    with pytest.raises(ParameterError, match="no method 'transform'"):
        qed.cross_val_predict(qed.Ridge(), X, y, method="transform")
    with pytest.raises(ParameterError, match="scoring is empty"):
        qed.cross_validate(qed.Ridge(), X, y, scoring=[])
    with pytest.raises(ParameterError, match="twice"):
        qed.cross_validate(qed.Ridge(), X, y, scoring=["r2", "r2"])


def test_answers_of_folds_that_lack_a_class_and_of_several_outputs_fit_together():
    X, _ = problem(n=30)
    labels = np.array(["a"] * 14 + ["b"] * 14 + ["c"] * 2)
    given = {"cv": [(np.arange(15), np.arange(15, 30)), (np.arange(15, 30), np.arange(15))], "method": "predict_proba"}
    for model in (PeerLogisticRegression(), qed.LogisticRegression()):
        with pytest.warns(RuntimeWarning, match="lack a class"):
            found = qed.cross_val_predict(model, X, labels, **given)
        assert found.shape == (30, 3) and (found[15:, 2] == 0).all() and (found[:15, 0] == 0).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    several = np.column_stack([np.arange(30) % 2, np.arange(30) % 3 == 0]).astype(int)
    forest = RandomForestClassifier(n_estimators=3, random_state=0)
    ours = qed.cross_val_predict(forest, X, several, cv=3, method="predict_proba")
    theirs = peer.cross_val_predict(forest, X, several, cv=3, method="predict_proba")
    assert isinstance(ours, list) and all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))
    score = qed.get_scorer("roc_auc")(forest.fit(X, several), X, several)
    assert score == pytest.approx(peer_scorer("roc_auc")(forest, X, several), rel=1e-12)


def test_texts_are_a_column_of_documents_to_strangers():
    texts, y = ["red fish", "blue fish", "old shoe", "new shoe"] * 5, [0, 0, 1, 1] * 5
    model = make_pipeline(CountVectorizer(), PeerLogisticRegression())
    assert qed.cross_val_score(model, texts, y).shape == (5,)
    assert qed.Search(model, {"logisticregression__C": [0.1, 1.0]}).fit(texts, y).predict(["red shoe"]).shape == (1,)


def test_a_metric_of_several_numbers_is_no_score():
    X, y = problem(n=30)
    with pytest.raises(ParameterError, match="gives 2 numbers, not one"):
        qed.make_scorer(qed.f1_score, average=None)(qed.LogisticRegression().fit(X, y > 3), X, y > 3)
    found = qed.Search(qed.LogisticRegression(), {"C": [0.1, 1.0]}, scoring="recall", refit="recall").fit(X, y > 3)
    assert found.best_score_ == found.cv_results_["mean_test_score"].max()


def test_names_stay_what_they_are():
    """The file is called like the function: importing the one must not hide the other."""
    import qed.selection.cross_validate

    assert callable(qed.cross_validate) and callable(qed.selection.cross_validate) and callable(qed.ridge_path)


def test_scorers_of_models_without_a_target():
    X = np.random.default_rng(0).standard_normal((20, 2))
    model = qed.KMeans(2, random_state=0)
    plain = qed.cross_val_score(model, X)
    assert (qed.cross_val_score(model, X, scoring=lambda model, X: model.score(X)) == plain).all()
    assert (qed.cross_val_score(model, X, scoring=lambda model, X, y: model.score(X)) == plain).all()
    with pytest.raises(InputError, match="Scorer 'r2' compares the model with a target: give y"):
        qed.get_scorer("r2")(qed.Ridge().fit([[0.0], [1.0]], [0.0, 1.0]), [[0.0], [1.0]])


def test_scorers_in_a_list_are_named_by_their_names():
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10.0)

    def worst(model, X, y):
        return -np.abs(model.predict(X) - y).max()

    found = qed.cross_validate(qed.Ridge(), X, y, cv=2, scoring=[worst, qed.get_scorer("r2")])
    assert {"test_worst", "test_r2"} <= found.keys()
    with pytest.raises(ParameterError, match="a callable without a name"):
        qed.cross_validate(qed.Ridge(), X, y, scoring=[lambda model, X, y: 1.0])


@pytest.mark.parametrize("name", ["SVC", "SVR", "KernelRidge", "KernelLogisticRegression"])
def test_a_kernel_matrix_is_cut_in_rows_and_columns(name):
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:, 0] += np.sign(X[:, 0])  # no row lies near the boundary
    y = X[:, 0] if name in ("SVR", "KernelRidge") else (X[:, 0] > 0).astype(int)
    kind, folds = getattr(qed, name), qed.KFold(3)
    strength = {"alpha" if name == "KernelRidge" else "C": [0.1, 1.0]}
    given, made = kind(kernel="precomputed"), kind(kernel="linear")
    # Both are solved to a relative gap of at most 1e-4 by default, and scores of this size move by its root at most.
    close = {"atol": 1e-2}
    np.testing.assert_allclose(
        qed.cross_val_score(given, X @ X.T, y, cv=folds), qed.cross_val_score(made, X, y, cv=folds), **close
    )
    searches = [qed.Search(one, strength, cv=folds).fit(table, y) for one, table in ((given, X @ X.T), (made, X))]
    np.testing.assert_allclose(*(one.cv_results_["mean_test_score"] for one in searches), **close)
