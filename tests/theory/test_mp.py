"""mp: matching pursuit. The derivation writes x_i where the column j over which it minimises is meant [ERR 19]."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import problem

ROOT = np.sqrt(2)
X = np.array([[1, 1 / ROOT], [0, 1 / ROOT]])
Y = np.array([1.0, 2.0])


def pursue(X, y, k, **more):
    return qed.MatchingPursuit(n_nonzero_coefs=k, fit_intercept=False, **more).fit(X, y)


def replay(model, X, y):
    """Give the residual before the first turn and after each, from the moves."""
    coef, residuals = np.zeros(X.shape[1]), [y.copy()]
    for atom, move in zip(model.picks_, model.moves_):
        coef[atom] += move
        residuals.append(y - X @ coef)
    return residuals


def test_numbers():
    """Numbers: x2 first, w = (0, 3/sqrt 2), squared residual 0.5; then x1, w = (-0.5, 3/sqrt 2), squared residual 0.25; stop."""
    model = pursue(X, Y, 2)
    assert model.picks_.tolist() == [1, 0]
    np.testing.assert_allclose(model.moves_, [3 / ROOT, -0.5], rtol=1e-14)
    np.testing.assert_allclose(model.errors_, [5, 0.5, 0.25], rtol=1e-14)
    np.testing.assert_allclose(model.coef_, [-0.5, 3 / ROOT], rtol=1e-14)
    np.testing.assert_allclose(pursue(X, Y, 1).coef_, [0, 3 / ROOT], rtol=1e-14)
    assert model.certificate_


def test_the_two_rules_for_choosing_agree():
    """Theory (a), (b): the largest |<r, x>|/||x|| is the smallest ||r - v x|| with v = <r, x>/||x||^2."""
    X, y, _ = problem(n=20, p=7, seed=1)
    X = X * np.arange(1, 8)
    model = pursue(X, y, 5)
    for atom, move, residual in zip(model.picks_, model.moves_, replay(model, X, y)):
        best = residual @ X / (X**2).sum(axis=0)
        left = np.linalg.norm(residual[:, None] - X * best, axis=0)
        assert atom == left.argmin() == np.argmax(np.abs(residual @ X) / np.linalg.norm(X, axis=0))
        assert move == pytest.approx(best[atom], rel=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_pythagoras_and_the_right_angle(seed):
    """Theory (c), (d), (f): what is gained is <r, x>^2/||x||^2, and the new residual is orthogonal to the column just taken."""
    X, y, _ = problem(n=30, p=8, seed=seed)
    model = pursue(X, y, 8)
    residuals = replay(model, X, y)
    for atom, move, before, after in zip(model.picks_, model.moves_, residuals, residuals[1:]):
        x = X[:, atom]
        np.testing.assert_allclose(after, before - move * x, atol=1e-12)
        assert after @ after == pytest.approx(before @ before - (before @ x) ** 2 / (x @ x), rel=1e-10)
        assert abs(after @ x) < 1e-11
    assert (np.diff(model.errors_) < 0).all()
    np.testing.assert_allclose(model.errors_, [r @ r for r in residuals], rtol=1e-10)


def test_never_more_coefficients_than_asked_for():
    """Theory (e)."""
    X, y, _ = problem(n=30, p=8)
    for k in range(1, 9):
        assert np.count_nonzero(pursue(X, y, k).coef_) <= k


def test_a_column_can_come_again():
    """Pitfall: turns can be many more than coefficients."""
    random = np.random.default_rng(0)
    X = random.standard_normal((10, 3)) + 5
    model = pursue(X, random.standard_normal(10), 3)
    assert model.n_iter_ > 3 and len(set(model.picks_.tolist())) == 3


def test_it_ends_when_nothing_is_left():
    """Pitfall: X = I, y = 2 e1, k = 2 leaves a residual of zero after one turn: the loop as printed never ends."""
    model = pursue(np.eye(2), np.array([2.0, 0.0]), 2)
    assert model.coef_.tolist() == [2.0, 0.0]
    assert model.n_iter_ == 1 and model.errors_[-1] == 0
    assert model.certificate_ and "No column can explain more" in str(model.ending_)


def test_columns_of_zeros_are_never_taken():
    """Pitfall: zero columns have no direction."""
    X, y, _ = problem(n=12, p=3)
    X[:, 1] = 0
    model = pursue(X, y, 2)
    assert model.coef_[1] == 0 and np.isfinite(model.coef_).all()


def test_not_always_the_best():
    """Pitfall: greedy is not optimal."""
    X, y, _ = problem(n=15, p=8, seed=4)
    best = qed.BestSubset(n_nonzero_coefs=3, fit_intercept=False).fit(X, y)
    assert pursue(X, y, 3).errors_[-1] > best.errors_[-1] + 1e-3
