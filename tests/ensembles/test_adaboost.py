"""AdaBoost: stumps against the trees they stand for, resuming, searching, members of others, and rounds of numbers."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier as PeerClassifier
from sklearn.linear_model import LogisticRegression as Foreign
from sklearn.neighbors import KNeighborsClassifier as WithoutWeights

import qed
from qed.base.errors import InputError, KindError
from qed.ensembles.adaboost.regressor import weighted_median
from qed.ensembles.adaboost.stumps import Stumps
from qed.ensembles.problem import MemberClasses


def table(n=700, p=5, seed=0, classes=2, ties=False, holes=0.0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    X = np.round(X, 1) if ties else X
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * random.standard_normal(n)
    X[random.random(X.shape) < holes] = np.nan
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


X, Y = table()


def state(model):
    trees = [
        part
        for one in model.estimators_
        for part in (one.tree_.feature, one.tree_.threshold, one.tree_.value, one.tree_.missing_go_to_left)
    ]
    return [model.estimator_weights_, model.estimator_errors_, *trees]


def same(first, second):
    return all(np.array_equal(a, b) for a, b in zip(state(first), state(second), strict=True))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
@pytest.mark.parametrize("given", [{}, {"ties": True}, {"holes": 0.1}, {"classes": 3}, {"n": 12, "p": 3}])
def test_a_stump_is_the_tree_of_one_question(criterion, given):
    features, label = table(**given)
    for dtype in (np.float64, np.float32):
        problem = MemberClasses(qed.rows(features.astype(dtype), label), qed.AdaBoostClassifier())
        tree = qed.DecisionTreeClassifier(criterion=criterion, max_depth=1)
        learner = Stumps(problem, tree, 50)
        for seed in range(3):
            weight = np.exp(2 * np.random.default_rng(seed).standard_normal(len(label)))
            stump, said = learner.fit(weight)
            tree.fit(features.astype(dtype), label, sample_weight=weight)
            for name in ("feature", "threshold", "children_right", "missing_go_to_left", "n_node_samples"):
                np.testing.assert_array_equal(getattr(stump.tree_, name), getattr(tree.tree_, name))
            np.testing.assert_allclose(stump.tree_.value, tree.tree_.value, rtol=len(label) * 2.0**-52)
            np.testing.assert_array_equal(said, tree.predict(features.astype(dtype)))


@pytest.mark.parametrize("classes", [2, 3])
def test_the_model_is_that_of_scikit_learn(classes):
    features, label = table(classes=classes)
    peer = PeerClassifier(n_estimators=15, learning_rate=0.7).fit(features, label)
    model = qed.AdaBoostClassifier(n_estimators=15, learning_rate=0.7).fit(features, label)
    np.testing.assert_allclose(model.estimator_errors_, peer.estimator_errors_, atol=1e-12)
    np.testing.assert_allclose(model.estimator_weights_, peer.estimator_weights_, atol=1e-11)
    np.testing.assert_allclose(model.decision_function(features), peer.decision_function(features), atol=1e-11)
    np.testing.assert_allclose(model.predict_proba(features), peer.predict_proba(features), atol=1e-11)
    np.testing.assert_allclose(model.feature_importances_, peer.feature_importances_, atol=1e-11)


def test_what_is_resumed_goes_on_bit_for_bit(tmp_path):
    for make in (
        lambda n: qed.AdaBoostClassifier(n_estimators=n),
        lambda n: qed.AdaBoostRegressor(n_estimators=n, random_state=3),
    ):
        target = Y if make(1).target == "label" else X[:, 0] * X[:, 1]
        whole = make(12).fit(X, target)
        half = make(5).fit(X, target)
        qed.save(half, tmp_path / "half.qed")
        again = qed.load(tmp_path / "half.qed").set_params(n_estimators=12).resume(X, target)
        assert same(whole, again) and again.certificate_
        walk = qed.steps(make(4), X, target)
        assert [len(next(walk).members) for _ in range(4)] == [1, 2, 3, 4]


def test_threads_and_order_of_rows_change_no_stump():
    features, label = table(9000)
    with qed.threads(1):
        one = qed.AdaBoostClassifier(n_estimators=8).fit(features, label)
    with qed.threads(3):
        three = qed.AdaBoostClassifier(n_estimators=8).fit(features, label)
    assert same(one, three)


def test_a_search_over_rounds_is_one_fit_for_each_fold():
    grid = {"n_estimators": [2, 5, 3]}
    for model, scoring in (
        (qed.AdaBoostClassifier(random_state=0), ["accuracy", "neg_log_loss"]),
        (qed.AdaBoostRegressor(random_state=0), ["r2"]),
    ):
        target = Y if model.target == "label" else X[:, 0] * X[:, 1]
        given = {"cv": 2, "scoring": scoring, "refit": scoring[0], "return_train_score": True}
        quick = qed.Search(model, grid, **given).fit(X, target)
        plain = qed.Search(model, grid, cheap=False, **given).fit(X, target)
        assert "one fit" in quick.how_ and "one fit" not in plain.how_
        for name in scoring:
            for part in ("test", "train"):
                key = f"mean_{part}_{name}"
                np.testing.assert_allclose(quick.cv_results_[key], plain.cv_results_[key], atol=1e-12)


def test_members_of_others_and_of_all_kinds():
    foreign = qed.AdaBoostClassifier(Foreign(), n_estimators=5, random_state=0).fit(X, Y)
    assert foreign.certificate_ and qed.certify(foreign, X, Y) and foreign.score(X, Y) > 0.7
    own = qed.AdaBoostClassifier(qed.LogisticRegression(), n_estimators=5).fit(X, Y)
    assert own.certificate_ and qed.certify(own, X, Y)
    with pytest.raises(KindError, match="does not support sample weights"):
        qed.AdaBoostClassifier(WithoutWeights()).fit(X, Y)
    drawn = qed.AdaBoostClassifier(WithoutWeights(), n_estimators=4, resample=True, random_state=0).fit(X, Y)
    assert drawn.certificate_ and drawn.score(X, Y) > 0.8
    with pytest.raises(InputError, match="should be a classifier"):
        qed.AdaBoostClassifier(qed.Ridge()).fit(X, Y)


def test_a_stump_that_is_not_the_best_is_noticed():
    model = qed.AdaBoostClassifier(n_estimators=6).fit(X, Y)
    weight = np.full(len(X), 1.0)
    for one, say in zip(model.estimators_[:3], model.estimator_weights_):
        weight = weight * np.where(one.predict(X) == Y, np.exp(-say), 1.0)
    other = qed.DecisionTreeClassifier(max_depth=1).fit(X[:, [0, 0, 0, 0, 4]], Y, sample_weight=weight)
    model.estimators_[3] = other
    assert not qed.certify(model, X, Y)


def test_stages_end_where_the_model_does():
    model = qed.AdaBoostClassifier(n_estimators=7).fit(X, Y)
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    np.testing.assert_array_equal(list(model.staged_predict_proba(X))[-1], model.predict_proba(X))
    assert list(model.staged_score(X, Y))[-1] == model.score(X, Y)


def test_a_weighted_median_is_one_of_the_values():
    random = np.random.default_rng(0)
    values, weight = random.standard_normal((50, 7)), random.integers(1, 4, 7).astype(float)
    plain = [np.sort(np.repeat(row, weight.astype(int)))[int(np.ceil(weight.sum() / 2)) - 1] for row in values]
    np.testing.assert_array_equal(weighted_median(values, weight), plain)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_rounds_of_numbers_are_proven_and_told_when_changed(loss):
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    model = qed.AdaBoostRegressor(n_estimators=10, loss=loss, random_state=0).fit(X, y)
    assert model.certificate_ and qed.certify(model, X, y) and model.score(X, y) > 0.7
    assert (model.estimator_errors_ < 0.5).all()
    model.estimator_weights_ = model.estimator_weights_ * np.where(np.arange(10) == 4, 1.01, 1.0)
    assert not qed.certify(model, X, y)


def test_numbers_in_single_precision_are_the_same_numbers():
    single = X[:120].astype(np.float32)
    y = np.sin(2 * single[:, 0]) + single[:, 1].astype(np.float64)
    models = [
        qed.AdaBoostRegressor(n_estimators=4, random_state=0).fit(one, y) for one in (single, single.astype(np.float64))
    ]
    assert same(*models)
