"""Voting and stacking: votes counted again, names, dropped members, passed columns, folds, and proofs of all parts."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as Foreign

import qed
from qed.base.errors import InputError, ParameterError

X, LABEL = qed.data.load("iris").Xy()
NUMBER = X[:, 0] * 2 - X[:, 3] ** 2
CLASSIFIERS = [
    ("bayes", qed.GaussianNB()),
    ("tree", qed.DecisionTreeClassifier(max_depth=2)),
    ("other", Foreign(max_iter=500)),
]
REGRESSORS = [("line", qed.Ridge()), ("near", qed.KNeighborsRegressor(5))]


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("weights", [None, [1.0, 3.0, 1.5]])
def test_votes_are_what_members_say(voting, weights):
    model = qed.VotingClassifier(CLASSIFIERS, voting=voting, weights=weights).fit(X, LABEL)
    say = np.ones(3) if weights is None else np.array(weights)
    own = [type(one)(**one.get_params()).fit(X, LABEL) for _, one in CLASSIFIERS]
    if voting == "soft":
        total = sum(w * one.predict_proba(X) for w, one in zip(say, own))
        np.testing.assert_allclose(model.predict_proba(X), total / say.sum(), rtol=1e-12)
    else:
        total = sum(w * (one.predict(X)[:, None] == model.classes_) for w, one in zip(say, own))
        assert not hasattr(model, "predict_proba")
    np.testing.assert_array_equal(model.predict(X), model.classes_[total.argmax(axis=1)])
    assert model.certificate_ and qed.certify(model, X, LABEL)


def test_members_have_names_and_can_be_dropped():
    model = qed.VotingRegressor(REGRESSORS, weights=[1, 2]).set_params(near="drop", line__alpha=3.0).fit(X, NUMBER)
    plain = qed.Ridge(alpha=3.0).fit(X, NUMBER)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-12)
    assert model.named_estimators_["near"] == "drop" and model.named_estimators_.line.alpha == 3.0
    assert model.get_feature_names_out().tolist() == ["votingregressor_line"]
    with pytest.raises(ParameterError, match="equal"):
        qed.VotingRegressor(REGRESSORS, weights=[1.0]).fit(X, NUMBER)
    with pytest.raises(ParameterError, match="dropped"):
        qed.VotingRegressor([("a", "drop")]).fit(X, NUMBER)
    with pytest.raises(ParameterError, match="should be a classifier"):
        qed.VotingClassifier(REGRESSORS).fit(X, LABEL)


@pytest.mark.parametrize("passthrough", [False, True])
def test_the_stack_sees_members_and_perhaps_the_rows(passthrough):
    model = qed.StackingClassifier(CLASSIFIERS, passthrough=passthrough, cv=3).fit(X, LABEL)
    assert model.transform(X).shape == (150, 9 + 4 * passthrough) == (150, len(model.get_feature_names_out()))
    assert model.certificate_ and qed.certify(model, X, LABEL) and model.score(X, LABEL) > 0.95
    model.final_estimator_.coef_[0, 0] *= 1.001
    assert not qed.certify(model, X, LABEL)


def test_copies_of_a_row_stay_in_its_fold():
    twice = np.repeat(np.arange(150), 2)
    once = qed.StackingRegressor(REGRESSORS[:1], cv=4).fit(X, NUMBER, sample_weight=np.full(150, 2.0))
    double = qed.StackingRegressor(REGRESSORS[:1], cv=4).fit(X[twice], NUMBER[twice])
    np.testing.assert_allclose(once.final_estimator_.coef_, double.final_estimator_.coef_, rtol=1e-9)


def test_folds_are_a_partition_and_splitters_are_taken():
    splitter = qed.KFold(4, random_state=3)
    model = qed.StackingRegressor(REGRESSORS, cv=splitter).fit(X, NUMBER)
    assert model.certificate_ and qed.certify(model, X, NUMBER)
    with pytest.raises(InputError, match="every row once"):
        qed.StackingRegressor(REGRESSORS, cv=[(np.arange(100), np.arange(100, 140))]).fit(X, NUMBER)
    with pytest.raises(InputError, match="n_samples=4"):
        qed.StackingRegressor(REGRESSORS).fit(X[[0, 1, 60, 110]], NUMBER[[0, 1, 60, 110]])


def test_a_stack_is_searched_saved_and_loaded(tmp_path):
    search = qed.Search(qed.StackingRegressor(REGRESSORS), {"line__alpha": [0.1, 10.0], "near__n_neighbors": [3]}, cv=3)
    best = search.fit(X, NUMBER).best_estimator_
    qed.save(best, tmp_path / "stack.qed")
    again = qed.load(tmp_path / "stack.qed")
    np.testing.assert_array_equal(again.predict(X), best.predict(X))
    assert qed.certify(again, X, NUMBER)
