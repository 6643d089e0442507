"""omp: orthogonal matching pursuit. The residual is orthogonal to the span of the chosen *columns*; the text says canonical
basis vectors [ERR 20], and gives the coefficients of the chosen columns the size of all."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import problem

ROOT = np.sqrt(2)


def pursue(X, y, k, **more):
    return qed.OrthogonalMatchingPursuit(n_nonzero_coefs=k, fit_intercept=False, **more).fit(X, y)


def coefficients(model, t):
    """Embed row t of the path in R^d."""
    coef = np.zeros(model.n_features_in_)
    coef[model.active_] = model.path_[t]
    return coef


def test_numbers():
    """Numbers: the fixture of matching pursuit, k = 2: w = (-1, 2 sqrt 2), residual zero."""
    X, y = np.array([[1, 1 / ROOT], [0, 1 / ROOT]]), np.array([1.0, 2.0])
    model = pursue(X, y, 2)
    assert model.active_.tolist() == [1, 0]
    np.testing.assert_allclose(model.coef_, [-1, 2 * ROOT], rtol=1e-14)
    assert model.errors_[-1] <= (8 * 2.0**-53 * np.linalg.norm(y)) ** 2  # a few roundings of y
    np.testing.assert_allclose(coefficients(model, 1), [0, 3 / ROOT], rtol=1e-14)
    assert model.certificate_


@pytest.mark.parametrize("seed", range(3))
def test_every_turn_is_least_squares_on_the_chosen_columns(seed):
    """Theory (a), (c): X_I' r = 0 and w is OLS restricted to I, at every turn."""
    X, y, _ = problem(n=30, p=10, seed=seed)
    model = pursue(X, y, 8)
    for t in range(9):
        coef, chosen = coefficients(model, t), model.active_[:t]
        residual = y - X @ coef
        assert np.abs(X[:, chosen].T @ residual).max(initial=0.0) < 1e-11
        if t:
            np.testing.assert_allclose(coef[chosen], np.linalg.lstsq(X[:, chosen], y)[0], rtol=1e-9)
        assert residual @ residual == pytest.approx(model.errors_[t], rel=1e-10)
        if t < 8:
            near = np.abs(X.T @ residual) / np.linalg.norm(X, axis=0)
            assert near.argmax() == model.active_[t]


def test_no_column_twice_and_never_worse():
    """Theory (b), (d)."""
    X, y, _ = problem(n=40, p=12, seed=3)
    model = pursue(X, y, 12)
    assert len(set(model.active_.tolist())) == 12
    assert (np.diff(model.errors_) <= 0).all()


def test_it_ends_after_as_many_turns_as_the_rank():
    """Theory (e): at most min(k, rank) turns, and when the residual is zero (the loop as printed never ends)."""
    random = np.random.default_rng(0)
    X = random.standard_normal((20, 3)) @ random.standard_normal((3, 8))
    model = pursue(X, random.standard_normal(20), 8)
    assert len(model.active_) == 3 and model.n_iter_ == 3
    exact = pursue(np.eye(2), np.array([2.0, 0.0]), 2)
    assert exact.coef_.tolist() == [2.0, 0.0] and exact.n_iter_ == 1
    assert model.certificate_ and exact.certificate_


@pytest.mark.parametrize("k", [1, 2, 4, 6])
def test_orthonormal_columns_leave_no_doubt(k):
    """Theory (f): MP = OMP = the k largest |x_j' y| = the best subset."""
    random = np.random.default_rng(1)
    X, y = np.linalg.qr(random.standard_normal((15, 6)))[0], random.standard_normal(15)
    largest = np.sort(np.argsort(-np.abs(X.T @ y))[:k])
    expected = np.where(np.isin(np.arange(6), largest), X.T @ y, 0.0)
    kinds = (qed.OrthogonalMatchingPursuit, qed.MatchingPursuit, qed.BestSubset)
    for kind in kinds:
        found = kind(n_nonzero_coefs=k, fit_intercept=False).fit(X, y).coef_
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_subset_is_at_least_as_good(seed):
    """Theory (g): the residual is no smaller than that of the exact solution, size for size."""
    X, y, _ = problem(n=25, p=9, seed=seed)
    greedy = pursue(X, y, 9)
    best = qed.BestSubset(n_nonzero_coefs=9, fit_intercept=False).fit(X, y)
    assert (greedy.errors_ >= best.errors_ - 1e-10).all()


def test_orthogonality_is_to_columns_not_to_unit_vectors():
    """[ERR 20]: the residual is orthogonal to the chosen columns, and its entries at the chosen places are not zero."""
    X, y, _ = problem(n=10, p=10, seed=2)
    model = pursue(X, y, 4)
    residual = y - X @ model.coef_
    assert np.abs(X[:, model.active_].T @ residual).max() < 1e-12
    assert np.abs(residual[model.active_]).min() > 1e-3
