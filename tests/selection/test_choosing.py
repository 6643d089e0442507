"""The rule of one standard error, successive halving, and what nested cross-validation says of a search."""

import numpy as np
import pytest

import qed
from qed.base.errors import ParameterError


def wave(n=120, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.uniform(-2, 2, size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + 0.4 * generator.standard_normal(n)


ALPHAS = np.logspace(-4, 3, 15).tolist()


@pytest.mark.parametrize(
    ("model", "grid", "simplest"),
    [
        (qed.Ridge(), {"alpha": ALPHAS}, max),
        (qed.KNeighborsRegressor(), {"n_neighbors": [1, 3, 5, 9, 15, 25]}, max),
        (qed.DecisionTreeRegressor(), {"max_depth": [1, 2, 3, 4, 5, 6]}, min),
    ],
)
def test_the_simplest_within_one_standard_error_of_the_best_is_taken(model, grid, simplest):
    X, y = wave()
    (name,) = grid
    plain = qed.Search(model, grid).fit(X, y)
    ruled = qed.Search(model, grid, rule="one standard error").fit(X, y)
    table, best = plain.cv_results_, plain.best_index_
    limit = table["mean_test_score"][best] - table["standard_error_test_score"][best]
    near = [one[name] for one, mean in zip(table["params"], table["mean_test_score"]) if mean >= limit]
    assert ruled.best_params_[name] == simplest(near)
    assert ruled.best_score_ == table["mean_test_score"][ruled.best_index_] >= limit
    assert ruled.best_estimator_.get_params()[name] == simplest(near)
    assert qed.certify(ruled, X, y)


def test_another_choice_than_that_of_the_rule_is_noticed():
    X, y = wave()
    search = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, rule="one standard error").fit(X, y)
    assert search.best_index_ != search.cv_results_["rank_test_score"].argmin()
    search.rule = "best"
    assert not qed.certify(search, X, y)


def test_what_is_simpler_can_be_said_and_has_to_be_where_nobody_knows():
    X, y = wave()
    grid = {"coef0": [0.5, 1.0], "alpha": [0.1, 1.0, 10.0]}
    more = qed.Search(qed.KernelRidge(kernel="poly"), grid, rule={"alpha": "less", "coef0": "more"}).fit(X, y)
    table, best = more.cv_results_, int(np.argmax(more.cv_results_["mean_test_score"]))
    limit = table["mean_test_score"][best] - table["standard_error_test_score"][best]
    near = [one for one, mean in zip(table["params"], table["mean_test_score"]) if mean >= limit]
    assert more.best_params_ == min(near, key=lambda one: (one["alpha"], -one["coef0"]))
    with pytest.raises(ParameterError, match=r"which values of 'p' are simpler is not known.*rule=\{'p': 'less'\}"):
        qed.Search(qed.KNeighborsRegressor(), {"p": [1, 2]}, rule="one standard error").fit(X, y)
    with pytest.raises(ParameterError, match="is no number"):
        rule = {"weights": "less"}
        qed.Search(qed.KNeighborsRegressor(), {"weights": ["uniform", "distance"]}, rule=rule).fit(X, y)
    with pytest.raises(ParameterError, match="rule must be"):
        qed.Search(qed.Ridge(), {"alpha": [1.0]}, rule="simplest").fit(X, y)


@pytest.mark.parametrize("cheap", [True, False])
@pytest.mark.parametrize("model", [qed.Ridge(), qed.Lasso()], ids=["ridge", "lasso"])
def test_halving_with_all_rows_from_the_start_is_the_plain_search(model, cheap):
    X, y = wave()
    grid = {"alpha": ALPHAS[::2]}
    plain = qed.Search(model, grid, cheap=cheap).fit(X, y)
    halving = qed.HalvingSearch(model, grid, min_rows=len(y), cheap=cheap).fit(X, y)
    assert halving.rounds_ == []
    np.testing.assert_array_equal(plain.cv_results_["mean_test_score"], halving.cv_results_["mean_test_score"])
    assert plain.best_params_ == halving.best_params_
    np.testing.assert_array_equal(plain.predict(X), halving.predict(X))


@pytest.mark.parametrize("as_rows", [False, True])
def test_those_that_are_left_have_the_scores_of_the_plain_search(as_rows):
    X, y = wave(270)
    data = (qed.rows(X, y, block_size=64),) if as_rows else (X, y)
    grid = {"max_depth": list(range(1, 10)), "min_samples_leaf": [1, 5, 20]}
    plain = qed.Search(qed.DecisionTreeRegressor(), grid).fit(*data)
    halving = qed.HalvingSearch(qed.DecisionTreeRegressor(), grid).fit(*data)
    assert [len(one["params"]) for one in halving.rounds_] == [27, 9, 3]
    assert [one["rows"] for one in halving.rounds_] == [10, 30, 90]
    scores = {str(one): mean for one, mean in zip(plain.cv_results_["params"], plain.cv_results_["mean_test_score"])}
    for one, mean in zip(halving.cv_results_["params"], halving.cv_results_["mean_test_score"]):
        assert mean == pytest.approx(scores[str(one)], rel=1e-12)
    assert qed.certify(halving, *data)


def test_halving_finds_what_is_clearly_the_best():
    X, y = wave(400)
    grid = {"gamma": [1e-6, 1e-5, 1e-4, 1.0, 1e4, 1e5, 1e6, 1e7, 1e8]}
    model = qed.KernelRidge(0.1, kernel="rbf")
    halving = qed.HalvingSearch(model, grid).fit(X, y)
    assert halving.best_params_ == qed.Search(model, grid).fit(X, y).best_params_ == {"gamma": 1.0}
    again = qed.HalvingSearch(model, grid).fit(X, y)
    np.testing.assert_array_equal(again.rounds_[0]["mean_test_score"], halving.rounds_[0]["mean_test_score"])


def test_rounds_keep_the_shares_of_classes():
    X, y = wave(300)
    labels = np.where(y > 0.8, "rare", "usual")
    search = qed.HalvingSearch(qed.KNeighborsClassifier(), {"n_neighbors": [1, 2, 3, 5]}, factor=2, min_rows=60)
    assert search.fit(X, labels).rounds_[0]["rows"] == 75
    assert search.certificate_


def test_nested_cross_validation_is_the_loop_over_folds_written_out():
    X, y = wave()
    search = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, cv=4)
    found = qed.nested_cross_validate(search, X, y, cv=qed.KFold(3))
    for k, (train, test) in enumerate(qed.KFold(3).split(X)):
        own = qed.Search(qed.Ridge(), {"alpha": ALPHAS}, cv=4).fit(X[train], y[train])
        assert found.chosen[k] == own.best_params_
        assert found.promised[k] == pytest.approx(own.best_score_, rel=1e-12)
        assert found.scores[k] == pytest.approx(own.score(X[test], y[test]), rel=1e-12)
    assert found.optimism == pytest.approx(np.mean(found.promised - found.scores), rel=1e-12)
    assert not hasattr(search, "best_params_")
    assert "<td>" in found._repr_html_() and "optimism" in str(found)


def test_the_promise_of_a_search_in_pure_noise_is_optimistic():
    # The best of 60 settings that all know nothing promises more than zero; what it gives is nothing, or less.
    grid = {"n_neighbors": list(range(1, 31)), "weights": ["uniform", "distance"]}
    gaps = []
    for seed in range(6):
        generator = np.random.default_rng(seed)
        X, y = generator.standard_normal((60, 4)), generator.standard_normal(60)
        search = qed.Search(qed.KNeighborsRegressor(), grid, cv=5, scoring="neg_mean_squared_error")
        gaps.append(qed.nested_cross_validate(search, X, y, cv=5).optimism)
    assert np.mean(gaps) > 0


def test_what_is_no_search_is_sent_to_cross_validate():
    with pytest.raises(ParameterError, match="judges a search, not Ridge"):
        qed.nested_cross_validate(qed.Ridge(), *wave())
    with pytest.raises(ParameterError, match="refit=True"):
        qed.nested_cross_validate(qed.Search(qed.Ridge(), {"alpha": [1.0]}, refit=False), *wave())
