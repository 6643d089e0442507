"""l0-ls: least squares with at most k coefficients that are not zero, by an exact search."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

import qed
from tests.theory.fixtures import problem


def best(X, y, k, **more):
    return qed.BestSubset(n_nonzero_coefs=k, fit_intercept=False, **more).fit(X, y)


def error(X, y, chosen):
    """The squared residual of least squares on some columns."""
    chosen = list(chosen)
    return float(np.sum((y - X[:, chosen] @ np.linalg.lstsq(X[:, chosen], y)[0]) ** 2))


def test_the_number_of_non_zeros_is_no_norm_and_not_convex():
    """Halfway between two sparse vectors there are more non-zeros than on average; ||2w||_0 = ||w||_0: the best subset knows no units."""

    def count(w):
        return float(np.count_nonzero(np.abs(w) > 1e-12))

    X, y, _ = problem()
    one, twice = (qed.BestSubset(n_nonzero_coefs=2, fit_intercept=False).fit(X, factor * y).coef_ for factor in (1, 2))
    np.testing.assert_allclose(twice, 2 * one, rtol=1e-10)
    assert count(twice) == count(one) == 2
    found = qed.optim.check_convexity(lambda w: count(np.round(w)), [-1.0, -1.0], [1.0, 1.0], tests=("chord",))
    assert not found and "chord" in found.witnesses


@pytest.mark.parametrize("seed", range(4))
def test_no_other_subset_is_better(seed):
    """Computes: the minimum over all subsets, for every size up to k."""
    X, y, _ = problem(n=14, p=7, seed=seed)
    model = best(X, y, 7)
    for size in range(1, 8):
        every = {chosen: error(X, y, chosen) for chosen in combinations(range(7), size)}
        winner = min(every, key=every.get)
        assert model.subsets_[size, :size].tolist() == list(winner)
        assert model.errors_[size] == pytest.approx(every[winner], rel=1e-9)
        assert np.count_nonzero(model.path_[size]) == size
    assert model.certificate_ and qed.certify(model, X, y)


def test_more_coefficients_never_hurt():
    """Theory: RSS is non-increasing in k."""
    X, y, _ = problem(n=30, p=10)
    assert (np.diff(best(X, y, 10).errors_) <= 1e-12).all()


@pytest.mark.parametrize("k", [1, 3, 5])
def test_no_greedy_method_does_better(k):
    """Theory: oracle RSS <= RSS of OMP, of MP, and of least squares on the columns that the lasso keeps."""
    from sklearn import linear_model

    X, y, _ = problem(n=20, p=9, seed=7)
    oracle = best(X, y, 9).errors_
    assert (
        oracle[k] <= qed.OrthogonalMatchingPursuit(n_nonzero_coefs=k, fit_intercept=False).fit(X, y).errors_[-1] + 1e-10
    )
    assert oracle[k] <= qed.MatchingPursuit(n_nonzero_coefs=k, fit_intercept=False).fit(X, y).errors_[-1] + 1e-10
    _, _, path = linear_model.lars_path(X, y, method="lasso")
    for kept in {tuple(np.flatnonzero(w)) for w in path.T if w.any()}:
        assert oracle[len(kept)] <= error(X, y, kept) + 1e-10


def test_large_problems_are_refused_with_the_count():
    """Complexity: there are C(d, k) subsets; the count is said before anything starts."""
    X, y, _ = problem(n=10, p=60)
    total = sum(comb(60, size) for size in range(1, 31))
    with pytest.raises(ValueError, match=f"{total:.3g} subsets of up to 30 of 60 columns".replace("+", r"\+")):
        best(X, y, 30)
    model = best(X[:, :12], y, 3)
    assert model.n_subsets_ == comb(12, 1) + comb(12, 2) + comb(12, 3)
    assert model.n_visited_ <= model.n_subsets_
