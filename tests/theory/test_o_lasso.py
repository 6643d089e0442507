"""O-LASSO: the lasso of the other texts, sum (w'x - y)^2 + lambda |w|_1, without a penalty on the bias."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import problem

GENERATOR = np.random.default_rng(0)
HEIGHT, WEIGHT = GENERATOR.uniform(1, 2, 30), GENERATOR.uniform(50, 90, 30)
REDUNDANT = np.column_stack([HEIGHT, WEIGHT, 2 * HEIGHT + 3 * WEIGHT])
LABEL = 3 * HEIGHT + 4 * WEIGHT


@pytest.mark.parametrize("lam", [1.0, 20.0, 60.0])
def test_penalty_and_constraint_are_equivalent(lam):
    X, y, _ = problem(n=50, p=6)
    model = qed.Lasso(lam / 100).fit(X, y)
    found = qed.constrained_lasso(X, y, np.abs(model.coef_).sum())
    np.testing.assert_allclose(found.coef, model.coef_, atol=1e-8)
    assert found.intercept == pytest.approx(model.intercept_, abs=1e-8)


@pytest.mark.parametrize("lam", [0.5, 10.0, 40.0])
def test_optimality_and_gap(lam):
    X, y, _ = problem(n=50, p=6)
    model = qed.Lasso(lam / 100, fit_intercept=False).fit(X, y)
    slope = 2 * X.T @ (y - X @ model.coef_)
    assert (np.abs(slope) <= lam + 1e-9).all()
    active = model.coef_ != 0
    np.testing.assert_allclose(slope[active], lam * np.sign(model.coef_[active]), rtol=1e-9)
    assert model.certificate_["duality gap"].value <= 1e-9


def test_all_zero_from_twice_the_largest_correlation():
    X, y, _ = problem(n=50, p=6)
    largest = 2 * np.abs(X.T @ y).max()
    assert not qed.Lasso(largest / 100, fit_intercept=False).fit(X, y).coef_.any()
    assert qed.Lasso(0.99 * largest / 100, fit_intercept=False).fit(X, y).coef_.any()


def test_the_bias_is_not_penalised():
    X, y, _ = problem(n=50, p=6)
    near, far = qed.Lasso(0.2).fit(X, y), qed.Lasso(0.2).fit(X, y + 1e4)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-8)
    assert far.intercept_ - near.intercept_ == pytest.approx(1e4, rel=1e-12)


def test_lambda_by_default_or_by_cross_validation():
    X, y, _ = problem(n=200, p=6)
    assert qed.Lasso().alpha == 1.0
    search = qed.Search(qed.Lasso(), {"alpha": [0.001, 0.01, 0.1, 1.0]}, cv=5).fit(X, y)
    assert search.best_params_["alpha"] < 1.0 and search.how_.endswith("along one path each")


@pytest.mark.parametrize(("solver", "tol", "close"), [("irls", 1e-6, 1e-6), ("proximal", 1e-9, 1e-9)])
def test_the_methods_named_reach_the_same_objective(solver, tol, close):
    X, y, _ = problem(n=50, p=6)
    exact = qed.Lasso(0.2).fit(X, y).ending_.step.objective
    found = qed.Lasso(0.2, solver=solver, tol=tol).fit(X, y)
    assert found.ending_.step.objective == pytest.approx(exact, rel=close) and found.certificate_


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
def test_subgradients_come_near_and_give_no_zeros():
    X, y, _ = problem(n=50, p=6)
    exact = qed.Lasso(0.5).fit(X, y)
    found = qed.Lasso(0.5, solver="subgradient", max_iter=3000).fit(X, y)
    assert found.ending_.step.objective == pytest.approx(exact.ending_.step.objective, rel=1e-3)
    assert (exact.coef_ == 0).any() and (found.coef_ != 0).all()


def test_of_redundant_features_the_least_sizes_are_chosen():
    for lam in (1e-3, 1e-5):
        model = qed.Lasso(lam / 60, fit_intercept=False).fit(REDUNDANT, LABEL)
        np.testing.assert_allclose(model.coef_, [1 / 3, 0, 4 / 3], atol=0.2 * lam)
        assert model.coef_[1] == 0.0 and model.certificate_
    assert np.abs(model.coef_).sum() == pytest.approx(5 / 3, rel=1e-5)


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
def test_plain_coordinate_descent_crawls_on_redundant_features_and_says_so():
    model = qed.Lasso(1e-3 / 60, fit_intercept=False, solver="coordinate", max_iter=2000).fit(REDUNDANT, LABEL)
    assert np.abs(model.coef_).sum() > 2.0
    assert not model.certificate_ and model.ending_.reason is not qed.Reason.CERTIFIED
