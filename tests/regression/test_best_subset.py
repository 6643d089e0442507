"""Best subset: the search against brute force, parts and unlearning, and what it refuses."""

import warnings
from itertools import combinations

import numpy as np
import pytest

import qed
from qed.regression.greedy.subset_search import best_subsets
from tests.proof import truth
from tests.proof.attempts import data_of


def brute(A, b, size):
    """The least squared residual over all subsets of one size."""
    errors = []
    for chosen in combinations(range(A.shape[1]), size):
        part = A[:, list(chosen)]
        errors.append(np.sum((b - part @ np.linalg.lstsq(part, b)[0]) ** 2))
    return min(errors)


@pytest.mark.parametrize("seed", range(12))
def test_search_equals_brute_force(seed):
    random = np.random.default_rng(seed)
    n, p = random.integers(2, 12), random.integers(1, 8)
    A, b = random.standard_normal((n, p)), random.standard_normal(n)
    if seed % 3 == 0 and p > 1:
        A[:, -1] = -2 * A[:, 0]
    if seed % 4 == 0:
        A[:, p // 2] = 0.0
    most = int(random.integers(1, p + 1))
    errors, subsets, nodes = best_subsets(A, b, most)
    for size in range(1, most + 1):
        assert errors[size] == pytest.approx(brute(A, b, size), abs=1e-9 * (b @ b))
        assert (subsets[size] >= 0).sum() == size and len(set(subsets[size, :size].tolist())) == size
    assert nodes <= 2**p
    again, _, _ = best_subsets(A, b, most, errors - 1e-9 * (b @ b))
    assert (again[1:] <= errors[1:]).all()


def test_most_subsets_are_never_looked_at():
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 24))
    y = X[:, :6] @ np.arange(1.0, 7.0) + random.standard_normal(200)
    model = qed.BestSubset(n_nonzero_coefs=8).fit(X, y)
    assert model.n_visited_ < model.n_subsets_ / 100
    assert model.subsets_[6].tolist() == [0, 1, 2, 3, 4, 5, -1, -1]
    assert model.certificate_


def test_intercept_weights_and_parts():
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 6)) * [1, 10, 0.1, 1, 1, 1] + 3
    y = X[:, 1] - 4 * X[:, 4] + random.standard_normal(60)
    weight = random.integers(0, 3, 60)
    weighted = qed.BestSubset(n_nonzero_coefs=2).fit(X, y, weight)
    repeated = qed.BestSubset(n_nonzero_coefs=2).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    assert weighted.subsets_[2].tolist() == [1, 4]
    parts = qed.BestSubset(n_nonzero_coefs=2).partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    whole = qed.BestSubset(n_nonzero_coefs=2).fit(X, y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)
    parts.forget(X[50:], y[50:])
    np.testing.assert_allclose(parts.coef_, qed.BestSubset(n_nonzero_coefs=2).fit(X[:50], y[:50]).coef_, rtol=1e-8)


def test_dependent_columns_explain_nothing_twice():
    random = np.random.default_rng(1)
    X = random.standard_normal((40, 4))
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.full(40, 7.0)])
    y = X[:, 0] + X[:, 1] + 0.5 * X[:, 2] + 0.1 * random.standard_normal(40)
    model = qed.BestSubset(n_nonzero_coefs=6).fit(X, y)
    assert model.subsets_[1, 0] == 4
    assert model.subsets_[2, :2].tolist() == [2, 4]
    assert model.certificate_, f"{model.certificate_}"
    assert model.errors_[-1] == pytest.approx(np.sum((qed.Ridge(alpha=1e-10).fit(X, y).predict(X) - y) ** 2), rel=1e-6)


def test_searches_score_sizes_from_statistics():
    random = np.random.default_rng(2)
    X = random.standard_normal((90, 7))
    y = X[:, 0] + X[:, 3] + random.standard_normal(90)
    search = qed.Search(qed.BestSubset(), {"n_nonzero_coefs": [1, 2, 3]}, cv=3).fit(X, y)
    assert "1 pass" in search.how_
    assert search.best_params_["n_nonzero_coefs"] in (2, 3)


def test_refusals():
    X, y = np.eye(4), np.arange(4.0)
    with pytest.raises(ValueError, match="more columns than there are"):
        qed.BestSubset(n_nonzero_coefs=5).fit(X, y)
    with pytest.raises(ValueError, match="there are 10 subsets of up to 2 of 4 columns"):
        qed.BestSubset(n_nonzero_coefs=2, max_subsets=9).fit(X, y)
    with pytest.raises(ValueError, match="predicts one column"):
        qed.BestSubset().fit(X, np.eye(4))


@pytest.mark.parametrize("size", [1e3, 1e7, 1e9, 1e11, 1e13])
def test_a_wrong_subset_is_not_proven_however_far_a_row_is_away(size):
    proven = 0
    for seed in range(7):
        X, y, _ = data_of("plain", seed, n=20, p=4)
        X[0] *= size
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = qed.BestSubset(n_nonzero_coefs=2).fit(X, y)
        missed, _ = truth.subset(model, truth.Data(X, y, None))
        held = model.certificate_ and qed.certify(model, X, y)
        assert missed < 1e-8 or not held
        proven += bool(held)
    assert proven == 7 or size > 1e7
