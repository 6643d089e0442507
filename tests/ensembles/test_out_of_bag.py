"""Out of bag in the place of folds: the scores are those of rows that members have not seen, and whoever can not be judged so says it."""

import numpy as np
import pytest

import qed
from qed.base.errors import DegenerateWarning, InputError, NotAvailableError, ParameterError
from qed.base.models.out_of_bag import predicted_out_of_bag
from qed.selection.comparing import contenders
from qed.selection.comparing.comparison import compare

X, y = (part[::3] for part in qed.data.load("iris").Xy())


@pytest.mark.parametrize("model", [qed.RandomForestClassifier(random_state=0), qed.BaggingClassifier(random_state=0)])
def test_a_search_out_of_bag_gives_the_score_of_the_fit_for_every_number_of_members(model):
    sizes = [25, 30]
    search = qed.Search(model, {"n_estimators": sizes}, cv="oob", refit=False).fit(X, y, groups=np.zeros(len(y)))
    for size, score in zip(sizes, search.cv_results_["mean_test_score"]):
        alone = model.__class__(n_estimators=size, oob_score=True, random_state=0).fit(X, y)
        assert score == pytest.approx(alone.oob_score_, rel=1e-12)
    assert "out of bag" in search.how_ and search.n_splits_ == 1


def test_parts_give_a_standard_error_and_rows_without_weight_are_not_there():
    model, weight = qed.RandomForestClassifier(30, random_state=0), np.ones(len(y))
    weight[::4] = 0
    search = qed.Search(model, {}, cv="oob").fit(X, y, sample_weight=weight)
    parts = np.array([search.cv_results_[f"split{k}_test_score"][0] for k in range(5)])
    assert search.n_splits_ == 5 and search.standard_error_ == pytest.approx(parts.std(ddof=1) / np.sqrt(5))
    again = qed.Search(model, {}, cv="oob", refit=False).fit(X[weight > 0], y[weight > 0])
    assert abs(again.best_score_ - search.best_score_) < 0.1


def test_predictions_out_of_bag_are_those_that_were_scored():
    model = qed.RandomForestRegressor(30, oob_score=True, random_state=0).fit(X[:, :3], X[:, 3])
    said = predicted_out_of_bag(model, qed.rows(X[:, :3], X[:, 3]))
    error = ((said - X[:, 3]) ** 2).sum() / ((X[:, 3] - X[:, 3].mean()) ** 2).sum()
    assert model.oob_score_ == pytest.approx(1 - error, rel=1e-9)


def test_what_can_not_be_judged_out_of_bag_says_so():
    with pytest.raises(NotAvailableError, match="GaussianNB can not be judged out of bag"):
        qed.Search(qed.GaussianNB(), {}, cv="oob").fit(X, y)
    with pytest.raises(InputError, match="drawn for all 1 members"):
        qed.Search(qed.RandomForestClassifier(1), {}, cv="oob").fit(X, y)
    with pytest.raises(ParameterError, match="bootstrap=True"):
        qed.Search(qed.BaggingClassifier(bootstrap=False), {}, cv="oob").fit(X, y)
    for given in ({"oob_score": True}, {"max_samples": 0.5}):
        with pytest.raises(ParameterError, match="needs bootstrap=True"):
            qed.RandomForestClassifier(2, bootstrap=False, **given).fit(X, y)
    for model in (qed.RandomForestClassifier(1, oob_score=True), qed.BaggingClassifier(None, 1, oob_score=True)):
        with pytest.warns(DegenerateWarning, match="have no out-of-bag"):
            model.fit(X, y)


def test_trees_of_a_forest_are_models():
    model = qed.RandomForestClassifier(5, random_state=0).fit(X, y)
    assert len(model) == 5 and len(list(model)) == 5
    mean = np.mean([tree.predict_proba(X) for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(mean, model.predict_proba(X), rtol=1e-12)
    path, starts = model.decision_path(X)
    depths = [len(tree.tree_.levels) for tree in model]
    assert path.shape == (len(X), starts[-1]) and path.sum(axis=1).max() <= sum(depths) and len(starts) == 6
    assert qed.export_rules(model[0]).startswith("If feature_")
    numbers = qed.RandomForestRegressor(2, random_state=0).fit(X[:, :3], X[:, 3])
    assert numbers[1].get_n_leaves() == numbers.trees_[1].n_leaves


def test_a_comparison_marks_who_was_judged_out_of_bag(monkeypatch):
    monkeypatch.setattr(contenders, "_kinds", lambda task: [qed.GaussianNB, qed.RandomForestClassifier])
    monkeypatch.setattr(qed.RandomForestClassifier, "compare_grid", {"n_estimators": [20]})
    found = {one.contender.name: one for one in compare(X, y, cv=2, out_of_bag=True).entries}
    forest = found["Random forest"]
    assert forest.out_of_bag and forest.name == "Random forest (out of bag)" and forest.scores.shape == (1, 2)
    assert any("judged out of bag" in words for words in forest.notes)
    assert sum(one.out_of_bag for one in found.values()) == 1
