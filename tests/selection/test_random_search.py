"""Random searches: the draws, and that what is done with them is what `Search` does."""

import numpy as np
import pytest
from scipy.stats import loguniform, randint

import qed
from qed.base.errors import ParameterError
from qed.selection.searching.random_search import drawn


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 4))
    return X, X[:, 0] + random.standard_normal(60)


def test_the_same_seed_draws_the_same_settings(data):
    space = {"alpha": loguniform(1e-3, 1e3), "fit_intercept": [True, False]}
    found = [qed.RandomSearch(qed.Ridge(), space, n_iter=6, cv=3, random_state=3).fit(*data) for _ in range(2)]
    assert found[0].cv_results_["params"] == found[1].cv_results_["params"]
    other = qed.RandomSearch(qed.Ridge(), space, n_iter=6, cv=3, random_state=4).fit(*data)
    assert other.cv_results_["params"] != found[0].cv_results_["params"]


def test_it_is_a_search_over_what_was_drawn(data):
    search = qed.RandomSearch(qed.Ridge(), {"alpha": loguniform(1e-3, 1e3)}, n_iter=5, cv=3, random_state=0).fit(*data)
    plain = qed.Search(qed.Ridge(), [{"alpha": [one["alpha"]]} for one in search.cv_results_["params"]], cv=3).fit(
        *data
    )
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    assert search.best_params_ == plain.best_params_ and bool(search.certificate_)
    assert type(search.best_params_["alpha"]) is float


def test_lists_are_drawn_without_repetition():
    found = drawn({"a": [1, 2, 3], "b": ["x", ""][:1]}, 99, seed=0)
    assert sorted(one["a"] for one in found) == [1, 2, 3]
    assert len(drawn({"a": list(range(100))}, 10, seed=0)) == 10


def test_distributions_are_drawn_from_all_tables():
    found = drawn([{"a": randint(0, 5)}, {"b": [7]}], 200, seed=0)
    assert {tuple(one) for one in found} == {("a",), ("b",)}
    assert {one["a"] for one in found if "a" in one} == set(range(5))
    assert all(type(one["a"]) is int for one in found if "a" in one)


def test_what_is_no_distribution_is_refused(data):
    with pytest.raises(ParameterError, match="must be a list, not 3"):
        qed.RandomSearch(qed.Ridge(), {"alpha": 3}).fit(*data)
    with pytest.raises(ParameterError, match="distributions must be a dict"):
        qed.RandomSearch(qed.Ridge(), "alpha").fit(*data)
    with pytest.raises(ParameterError, match="n_iter must be"):
        qed.RandomSearch(qed.Ridge(), {"alpha": [1.0]}, n_iter=0).fit(*data)


def test_it_can_be_saved(data, tmp_path):
    search = qed.RandomSearch(qed.Ridge(), {"alpha": [0.1, 1.0, 10.0]}, n_iter=2, random_state=0).fit(*data)
    qed.save(search, tmp_path / "search.qed")
    again = qed.load(tmp_path / "search.qed")
    assert again.best_params_ == search.best_params_ and bool(qed.certify(again, *data))
