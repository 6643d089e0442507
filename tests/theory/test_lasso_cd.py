"""lasso-cd: the coordinate update of the lasso, a soft threshold.

With r the prediction of all other columns minus the target, a = -2 x_i' r and b = 2 |x_i|^2; the kernel works with halves of both.
"""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import qed
from qed.optim.sparse.sweeps import descend, soft_threshold
from tests.theory.fixtures import problem


def update(a, b, lam):
    """The three cases of the course."""
    if abs(a) <= lam:
        return 0.0
    return (a - lam) / b if (a - lam) / b > 0 else (a + lam) / b


def sweep(X, y, w, lam):
    """One sweep over all coordinates, as the library makes it."""
    w = np.array(w, dtype=float)
    gram = X.T @ X
    descend(gram, X.T @ y - gram @ w, w, lam / 2, 0.0, False, 1, 0.0)
    return w


def objective(X, y, w, lam):
    return np.sum((X @ w - y) ** 2) + lam * np.abs(w).sum()


@pytest.mark.parametrize(("lam", "expected"), [(2.0, 1.5), (8.0, 0.0)])
def test_fixture_single_step(lam, expected):
    x, y = np.array([[1.0], [1.0]]), np.array([3.0, 1.0])
    assert sweep(x, y, [0.0], lam)[0] == expected
    assert soft_threshold(8.0 / 2, lam / 2, False) / (4.0 / 2) == expected


@pytest.mark.parametrize("lam", [0.0, 0.5, 3.0, 50.0])
def test_every_update_is_the_exact_minimiser_along_its_coordinate(lam):
    X, y, _ = problem(n=20, p=4)
    w = np.random.default_rng(2).standard_normal(4)
    for i in range(4):
        others = w.copy()
        others[i] = 0.0
        r = X @ others - y
        value = soft_threshold(-X[:, i] @ r, lam / 2, False) / (X[:, i] @ X[:, i])
        along = [objective(X, y, np.where(np.arange(4) == i, t, w), lam) for t in np.linspace(-3, 3, 601)]
        w[i] = value
        assert objective(X, y, w, lam) <= min(along) + 1e-12

        def line(t, i=i):
            return objective(X, y, np.where(np.arange(4) == i, t, w), lam)

        assert minimize_scalar(line, bracket=(-3, 3), method="golden").x == pytest.approx(value, abs=1e-6)
    np.testing.assert_allclose(sweep(X, y, np.random.default_rng(2).standard_normal(4), lam), w, rtol=1e-12)


def test_the_fourth_case_never_occurs():
    generator = np.random.default_rng(0)
    a, lam = 10 * generator.standard_normal((2, 20000))
    b, lam = 2 * generator.random(20000) + 1e-9, np.abs(lam)
    halves = [soft_threshold(x / 2, l / 2, False) / (z / 2) for x, l, z in zip(a, lam, b)]
    np.testing.assert_allclose(halves, [update(*three) for three in zip(a, b, lam)], rtol=1e-12)


def test_without_a_penalty_sweeps_tend_to_least_squares():
    X, y, _ = problem()
    w = np.zeros(5)
    for _ in range(300):
        w = sweep(X, y, w, 0.0)
    np.testing.assert_allclose(w, qed.LinearRegression(fit_intercept=False).fit(X, y).coef_, rtol=1e-8)


def test_a_coefficient_that_became_zero_can_come_back():
    X = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 1.0, -1.0]])
    y = np.array([-4.0, -2.0, 0.0])
    w = np.array([-2.0, 0.0, -1.0])
    history = []
    for _ in range(40):
        w = sweep(X, y, w, 2.0)
        history.append(w[0])
    assert history[0] == 0.0 and history[1] == -0.5
    np.testing.assert_allclose(w, [-1.0, 0.0, -2.0], atol=1e-6)


def test_a_zero_column_is_left_alone_and_zeros_are_exact():
    X, y, _ = problem()
    X[:, 2] = 0.0
    for solver in ("auto", "coordinate"):
        model = qed.Lasso(alpha=0.3, fit_intercept=False, solver=solver).fit(X, y)
        assert model.coef_[2] == 0.0 and not np.signbit(model.coef_[2])
        assert np.isfinite(model.coef_).all() and model.certificate_
        assert set(model.coef_[np.abs(model.coef_) < 1e-3].tolist()) <= {0.0}


def test_the_objective_never_rises_and_the_end_is_certified():
    X, y, _ = problem(n=50, p=20)
    model = qed.Lasso(alpha=0.1, solver="coordinate", tol=1e-10).fit(X, y)
    trace = [record["objective"] for record in model.ending_.trace]
    assert all(a >= b * (1 - 1e-14) for a, b in zip(trace, trace[1:]))
    assert model.ending_.reason is qed.Reason.CERTIFIED and model.certificate_
    exact = qed.Lasso(alpha=0.1).fit(X, y)
    assert exact.ending_.step.objective <= trace[-1] * (1 + 1e-14)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-6)


def test_updates_of_the_library_cost_nothing_where_nothing_moves():
    """A coordinate that stays where it is leaves the slope alone: a second sweep at the minimum changes no bit."""
    X, y, _ = problem(n=30, p=6)
    gram, right = X.T @ X, X.T @ y
    w, slope = np.zeros(6), right.copy()
    descend(gram, slope, w, 8.0, 0.0, False, 10_000, 0.0)
    before = slope.copy()
    assert descend(gram, slope, w, 8.0, 0.0, False, 5, 1e-20) <= 2
    np.testing.assert_allclose(slope, before, atol=1e-10)
