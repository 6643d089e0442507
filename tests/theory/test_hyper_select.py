"""Grid selection: the configuration returned has the least recorded error, and the same seed returns the same."""

import numpy as np
import pytest

import qed


def problem(seed=0, n=120):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    return X, X[:, 0] - 2 * X[:, 1] + 3 * random.normal(size=n)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cv", [5, qed.KFold(5, random_state=4), qed.HoldOut(random_state=2), "loo"])
def test_the_configuration_returned_attains_the_minimum_of_the_table(seed, cv):
    grid = {"alpha": np.geomspace(1e-2, 1e4, 13), "fit_intercept": [True, False]}
    search = qed.Search(qed.Ridge(), grid, cv=cv, scoring="neg_mean_squared_error").fit(*problem(seed))
    errors = -search.cv_results_["mean_test_score"]
    assert len(errors) == 26
    assert -search.best_score_ == errors.min() == errors[search.best_index_]
    assert search.cv_results_["params"][search.best_index_] == search.best_params_
    assert search.best_estimator_.get_params() == qed.Ridge(**search.best_params_).get_params()
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1


def test_of_equal_configurations_the_first_is_returned():
    search = qed.Search(qed.Ridge(), {"alpha": [5.0, 5.0, 5.0]}).fit(*problem())
    assert search.best_index_ == 0 and search.cv_results_["rank_test_score"].tolist() == [1, 1, 1]


def test_the_same_seed_selects_the_same():
    X, y = problem()
    grid = {"alpha": np.geomspace(1e-2, 1e4, 13)}
    first, second = (qed.Search(qed.Ridge(), grid, cv=qed.KFold(5, random_state=1)).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.cv_results_["mean_test_score"], second.cv_results_["mean_test_score"])
    other = qed.Search(qed.Ridge(), grid, cv=qed.KFold(5, random_state=2)).fit(X, y)
    assert (first.cv_results_["mean_test_score"] != other.cv_results_["mean_test_score"]).any()


def test_all_configurations_share_one_partition():
    X, y = problem(n=60)
    search = qed.Search(qed.Ridge(), {"alpha": [1.0, 100.0]}, cv=qed.KFold(3, random_state=None), refit=False).fit(X, y)
    table = np.array([search.cv_results_[f"split{fold}_test_score"] for fold in range(3)])
    again = qed.Search(qed.Ridge(), {"alpha": [100.0, 100.0]}, cv=qed.KFold(3, random_state=None), refit=False).fit(
        X, y
    )
    same = np.array([again.cv_results_[f"split{fold}_test_score"] for fold in range(3)])
    np.testing.assert_array_equal(same[:, 0], same[:, 1])
    assert (table[:, 0] != table[:, 1]).all()


def test_the_selected_error_is_optimistic():
    """Of many useless configurations the best looks better than it is: the reason for a separate test set."""
    random = np.random.default_rng(0)
    gap = []
    for _ in range(30):
        X, y = random.normal(size=(40, 30)), random.normal(size=40)
        found = qed.Search(qed.Ridge(), {"alpha": np.geomspace(1e-2, 1e4, 25)}, scoring="neg_mean_squared_error").fit(
            X, y
        )
        fresh, target = random.normal(size=(2000, 30)), random.normal(size=2000)
        gap.append(np.mean((target - found.predict(fresh)) ** 2) + found.best_score_)
    assert np.mean(gap) > 0
