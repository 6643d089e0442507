"""erm-framework: a parametric class, a cost, and a minimiser at which the gradient vanishes."""

import numpy as np

import qed
from qed.optim import HuberLoss
from tests.theory.fixtures import problem, slope


def test_gradient_of_the_cost_vanishes_at_the_fitted_hypothesis():
    X, y, _ = problem()
    model = qed.LinearRegression(fit_intercept=False).fit(X, y)
    gradient = slope(lambda w: np.sum((X @ w - y) ** 2), model.coef_)
    assert np.abs(gradient).max() < 1e-5


def test_gradients_of_other_smooth_costs_vanish_too():
    """Each model has a class and a cost of its own; where the cost is smooth its slope at what was fitted is next to nothing."""
    X, y, _ = problem()
    sign = np.where(y > 0, 1.0, -1.0)
    ridge = qed.Ridge(alpha=2.0, fit_intercept=False).fit(X, y).coef_
    odds = qed.LogisticRegression(C=0.5, fit_intercept=False, tol=1e-9).fit(X, sign).coef_.ravel()
    huber = qed.HuberRegressor(epsilon=1.5, scale=1.0, alpha=0.0, fit_intercept=False, tol=1e-12).fit(X, y).coef_
    costs = {
        "huber": (lambda w: HuberLoss(1.5).value(X @ w, y, np.ones(len(y))), huber),
        "ridge": (lambda w: np.sum((X @ w - y) ** 2) + 2.0 * (w @ w), ridge),
        "logistic": (lambda w: w @ w / 2 + 0.5 * np.logaddexp(0, -sign * (X @ w)).sum(), odds),
    }
    for name, (cost, found) in costs.items():
        away = np.abs(slope(cost, found + 0.1)).max()
        # Differences are good to about ten digits of the slopes nearby.
        assert np.abs(slope(cost, found)).max() < 1e-5 * max(away, 1.0), name


def test_a_vanishing_gradient_is_necessary_but_not_sufficient():
    """x^2 - y^2 has a critical point that is no minimum."""

    def saddle(w):
        return w[0] ** 2 - w[1] ** 2

    found = qed.optim.classify([0.0, 0.0], lambda w: np.array([2 * w[0], -2 * w[1]]))
    assert found.kind == "saddle" and saddle([0.0, 0.1]) < saddle([0.0, 0.0]) < saddle([0.1, 0.0])
