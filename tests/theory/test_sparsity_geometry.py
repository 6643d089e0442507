"""sparsity-geometry: why a penalty on sizes gives zeros, and one on squares does not."""

import matplotlib
import numpy as np
import pytest

import qed
from qed.plots import tangency
from tests.theory.fixtures import problem, slope

matplotlib.use("Agg")


def draws(count=500, n=10, seed=0):
    generator = np.random.default_rng(seed)
    for _ in range(count):
        X = generator.standard_normal((n, 2))
        yield X, X @ generator.standard_normal(2) + generator.standard_normal(n)


def test_shrinking_always_pays_the_same_for_sizes_and_ever_less_for_squares():
    """By our penalties: the sizes have the slope 3 wherever w is not zero, the squares one that falls with w."""
    sizes, squares = qed.optim.L1(3.0), qed.optim.L2(3.0)
    for w in (2.0, 0.1, 1e-3):
        assert slope(lambda v: float(sizes.value(v)), [w], 1e-6 * w)[0] == pytest.approx(3.0, rel=1e-6)
        steep = slope(lambda v: float(squares.value(v)), [w], 1e-6 * w)[0]
        assert steep == pytest.approx(float(squares.value(np.array([1.0]))) * 2 * w, rel=1e-6)


def test_two_in_five_lassos_have_a_zero_and_no_ridge_has():
    """The catalogue counts 0.43 of 500 at lambda = 5, n = 10; with 500 draws the standard error is 0.02."""
    lasso = [qed.Lasso(5.0 / 20, fit_intercept=False).fit(X, y).coef_ for X, y in draws()]
    ridge = [qed.Ridge(5.0, fit_intercept=False).fit(X, y).coef_ for X, y in draws()]
    assert np.mean([(w == 0).any() for w in lasso]) == pytest.approx(0.43, abs=0.06)
    assert not any((w == 0).any() for w in ridge)


def test_ridge_ends_where_the_gradients_of_error_and_penalty_are_parallel():
    X, y, _ = problem(p=2)
    w = qed.Ridge(3.0, fit_intercept=False).fit(X, y).coef_
    error, penalty = 2 * X.T @ (X @ w - y), 2 * w
    np.testing.assert_allclose(error, -3.0 * penalty, rtol=1e-10)
    assert error[0] * penalty[1] - error[1] * penalty[0] == pytest.approx(0.0, abs=1e-9)


def test_at_a_corner_of_the_diamond_minus_the_gradient_points_into_its_normal_cone():
    corners = 0
    for X, y in draws(100):
        w = qed.constrained_lasso(X, y, 0.4, fit_intercept=False).coef
        pull = 2 * X.T @ (y - X @ w)
        if (w == 0).sum() == 1:
            corners += 1
            kept, gone = (0, 1) if w[1] == 0 else (1, 0)
            assert pull[kept] * np.sign(w[kept]) >= abs(pull[gone]) - 1e-9
        elif (w != 0).all():
            np.testing.assert_allclose(np.abs(pull[0]), np.abs(pull[1]), rtol=1e-8, atol=1e-9)
            assert (pull * np.sign(w) >= -1e-9).all()
    assert corners > 30


def test_the_figure_diamond_and_disc():
    X = np.array([[1.0, 0.4], [0.2, 1.0], [0.5, 0.5]])
    y = X @ [1.6, 0.3]
    sharp, round_ = tangency(X, y, 1.0), tangency(X, y, 1.0, norm=2)
    one, two = (np.ravel([value[0] for value in ax.lines[-1].get_data()]) for ax in (sharp, round_))
    assert np.abs(one).sum() == pytest.approx(1.0) and one[1] == 0.0
    assert np.linalg.norm(two) == pytest.approx(1.0, rel=1e-9) and (two != 0).all()
    assert sharp.collections and round_.collections
    corners = sharp.patches[0].get_xy().round(12)
    assert len(np.unique(corners, axis=0)) == 4 and (np.abs(corners).sum(axis=1) == 1.0).all()
    with pytest.raises(ValueError, match="Two columns"):
        tangency(np.eye(3), np.ones(3), 1.0)
