"""lasso: least squares with a penalty on sizes, in its constrained and its penalised form.

The course's objective is |y - Xw|^2 + lambda |w|_1, without means; the library's alpha is lambda / (2 n).
"""

import matplotlib
import numpy as np
import pytest

import qed
from tests.theory.fixtures import problem

matplotlib.use("Agg")
LAMBDAS = [0.5, 2.0, 10.0, 30.0, 80.0]


def lasso(X, y, lam, **settings):
    return qed.Lasso(alpha=lam / (2 * len(y)), fit_intercept=False, **settings).fit(X, y).coef_


def gap(X, y, w, lam):
    """The catalogue's certificate, relative to the objective: a lower bound from the residual, scaled until it is feasible."""
    r = y - X @ w
    s = min(1.0, lam / np.abs(2 * X.T @ r).max())
    u = 2 * s * r
    primal = r @ r + lam * np.abs(w).sum()
    return (primal - (u @ y - u @ u / 4)) / primal


def test_fixture_of_the_identity():
    X, y = np.eye(2), np.array([3.0, 0.5])
    np.testing.assert_allclose(lasso(X, y, 2.0), [2.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(qed.Ridge(2.0, fit_intercept=False).fit(X, y).coef_, [1.0, 1 / 6], rtol=1e-12)


@pytest.mark.parametrize("lam", LAMBDAS)
def test_a_optimality_conditions(lam):
    X, y, _ = problem(n=40, p=8)
    w = lasso(X, y, lam)
    slope = 2 * X.T @ (y - X @ w)
    inside = w != 0
    np.testing.assert_allclose(slope[inside], lam * np.sign(w[inside]), atol=1e-8)
    assert (np.abs(slope[~inside]) <= lam + 1e-8).all()


def test_b_all_coefficients_are_zero_exactly_from_the_largest_correlation_on():
    X, y, _ = problem(n=40, p=8)
    largest = np.abs(2 * X.T @ y).max()
    model = qed.Lasso(alpha=largest / 80, fit_intercept=False).fit(X, y)
    assert model.alpha_max_ == pytest.approx(largest / 80, rel=1e-12)
    for share in (1.0 + 1e-12, 1.5, 100.0):
        assert not lasso(X, y, share * largest).any()
    for share in (0.999, 0.5):
        assert lasso(X, y, share * largest).any()


@pytest.mark.parametrize("lam", LAMBDAS)
def test_c_the_duality_gap_proves_the_solution_and_is_never_negative(lam):
    X, y, _ = problem(n=40, p=8)
    assert -1e-14 <= gap(X, y, lasso(X, y, lam), lam) <= 1e-8
    generator = np.random.default_rng(1)
    best = lasso(X, y, lam)
    lowest = np.sum((y - X @ best) ** 2) + lam * np.abs(best).sum()
    for _ in range(50):
        w = best + generator.standard_normal(8) * 10.0 ** generator.integers(-6, 1)
        value = np.sum((y - X @ w) ** 2) + lam * np.abs(w).sum()
        assert gap(X, y, w, lam) * value >= value - lowest - 1e-9 * value


def test_c_without_a_penalty_the_gap_says_nothing_and_the_normal_equations_do():
    X, y, _ = problem()
    w = lasso(X, y, 0.0)
    assert gap(X, y, w * 1.0, 0.0) > 0.1
    np.testing.assert_allclose(X.T @ X @ w, X.T @ y, rtol=1e-10)
    np.testing.assert_allclose(w, qed.LinearRegression(fit_intercept=False).fit(X, y).coef_, rtol=1e-10)
    model = qed.Lasso(alpha=0.0).fit(X, y)
    assert model.certificate_["gradient"] and "LinearRegression" in model.solver_


@pytest.mark.parametrize("lam", LAMBDAS[:4])
def test_d_penalised_and_constrained_form_agree(lam):
    X, y, _ = problem(n=40, p=8)
    w = lasso(X, y, lam)
    found = qed.constrained_lasso(X, y, np.abs(w).sum(), fit_intercept=False)
    np.testing.assert_allclose(found.coef, w, atol=1e-6 * np.abs(w).max())
    assert found.alpha * 2 * len(y) == pytest.approx(lam, rel=1e-6)
    assert found.certificate


def test_d_the_constrained_solution_is_the_best_in_its_ball():
    X, y, _ = problem(n=40, p=3)
    found = qed.constrained_lasso(X, y, 0.7, fit_intercept=False)
    assert np.abs(found.coef).sum() == pytest.approx(0.7, rel=1e-12)
    best = np.sum((y - X @ found.coef) ** 2)
    points = np.random.default_rng(0).laplace(size=(20000, 3))
    points *= 0.7 / np.abs(points).sum(axis=1, keepdims=True)
    assert np.sum((y - points @ X.T) ** 2, axis=1).min() >= best * (1 - 1e-12)


def test_e_the_norm_falls_and_the_error_rises_with_lambda():
    X, y, _ = problem(n=60, p=12)
    path = qed.lasso_path(X, y, fit_intercept=False, alphas=60)
    norms, errors = np.abs(path.coef).sum(axis=1), path.training_error
    assert (np.diff(path.alphas) < 0).all()
    assert (np.diff(norms) >= -1e-12).all() and (np.diff(errors) <= 1e-12).all()
    assert path.gaps.max() <= 1e-8 and path.certificate


@pytest.mark.parametrize("lam", [0.3, 1.0, 4.0])
def test_f_orthonormal_columns_are_soft_thresholded_and_ridge_shrinks_them(lam):
    Q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 6)))
    y = np.random.default_rng(1).standard_normal(30) * 2
    ols = Q.T @ y
    soft = np.sign(ols) * np.maximum(np.abs(ols) - lam / 2, 0.0)
    np.testing.assert_allclose(lasso(Q, y, lam), soft, atol=1e-12)
    np.testing.assert_allclose(qed.Ridge(lam, fit_intercept=False).fit(Q, y).coef_, ols / (1 + lam), rtol=1e-10)


def test_predictions_are_unique_where_coefficients_are_not():
    X, y, _ = problem(n=40, p=4)
    twice = np.column_stack([X, X[:, 0]])
    w = lasso(twice, y, 5.0)
    moved = w.copy()
    moved[0], moved[4] = 0.3 * (w[0] + w[4]), 0.7 * (w[0] + w[4])
    np.testing.assert_allclose(twice @ w, twice @ moved, atol=1e-12)
    np.testing.assert_allclose(twice @ w, X @ lasso(X, y, 5.0), atol=1e-9)
    assert gap(twice, y, moved, 5.0) <= 1e-8


def test_more_penalty_means_fewer_coefficients_on_this_table():
    X, y = qed.data.load("diabetes").Xy()
    path = qed.lasso_path(X, y)
    assert path.n_nonzero[0] == 0 and path.n_nonzero[-1] >= 8
    axes = path.plot()
    assert len(axes[0].lines) == len(np.flatnonzero(path.coef.any(axis=0)))


def test_validation_chooses_lambda():
    X, y = qed.data.load("diabetes").Xy()
    search = qed.Search(qed.Lasso(), {"alpha": qed.lasso_path(X, y, alphas=30).alphas}, cv=5).fit(X, y)
    assert 0 < search.best_params_["alpha"] < search.best_estimator_.alpha_max_ and search.certificate_
