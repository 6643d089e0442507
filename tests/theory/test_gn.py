"""GN: Gauss-Newton. The printed update calls the new iterate v; it is w."""

from itertools import islice

import numpy as np
import pytest

import qed
from qed.base.errors import InputError
from qed.optim import GaussNewton, LevenbergMarquardt, Residuals
from tests.theory.fixtures import problem

x = np.linspace(0.1, 3, 20)
Y = 3 * np.exp(-1.2 * x) + 0.1 * np.cos(7 * x)


def residuals(w):
    return w[0] * np.exp(-w[1] * x) - Y


def slopes(w):
    return np.column_stack([np.exp(-w[1] * x), -w[0] * x * np.exp(-w[1] * x)])


def test_a_step_solves_the_normal_equations():
    objective = Residuals(residuals)
    for w in np.random.default_rng(0).uniform(0.5, 3, (10, 2)):
        step, J = objective.tangent(w).step(), slopes(w)
        np.testing.assert_allclose(J.T @ J @ step, -J.T @ residuals(w), atol=1e-10)
        np.testing.assert_allclose(J.T @ (residuals(w) + J @ step), 0, atol=1e-12)


def test_one_step_on_a_linear_model():
    A, b, _ = problem()
    first, second, third = islice(GaussNewton().steps(Residuals(lambda w: A @ w - b), np.zeros(5)), 3)
    exact = qed.LinearRegression(fit_intercept=False).fit(A, b).coef_
    np.testing.assert_allclose(second.point, exact, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(third.point, second.point, rtol=1e-12, atol=1e-12)
    assert second.gap < 1e-14


def test_fixed_points_are_stationary_points():
    objective = Residuals(residuals)
    point = list(islice(GaussNewton().steps(objective, [2.0, 1.0]), 60))[-1].point
    np.testing.assert_allclose(objective.tangent(point).step(), 0, atol=1e-12)
    np.testing.assert_allclose(slopes(point).T @ residuals(point), 0, atol=1e-13)
    assert np.abs(objective.tangent(point + 0.01).step()).max() > 1e-3


def test_the_hessian_is_j_transposed_j_plus_the_residuals_curvature():
    objective = Residuals(residuals)
    w = np.array([2.0, 1.5])
    e = np.exp(-w[1] * x)
    bends = np.array([[np.zeros(20), -x * e], [-x * e, w[0] * x**2 * e]])
    J = slopes(w)
    np.testing.assert_allclose(objective.hessian(w), J.T @ J + bends @ residuals(w), rtol=1e-8)


def test_gauss_newton_is_newton_where_residuals_vanish():
    exact = Residuals(lambda w: w[0] * np.exp(-w[1] * x) - 3 * np.exp(-1.2 * x))
    J = slopes(np.array([3.0, 1.2]))
    np.testing.assert_allclose(exact.hessian(np.array([3.0, 1.2])), J.T @ J, rtol=1e-8)


def test_the_share_of_curvature_lost_is_that_of_the_exact_second_derivatives():
    objective = Residuals(residuals)
    w = list(islice(LevenbergMarquardt().steps(objective, [2.0, 1.0]), 30))[-1].point
    e = np.exp(-w[1] * x)
    bends = np.array([[np.zeros(20), -x * e], [-x * e, w[0] * x**2 * e]]) @ residuals(w)
    root = np.linalg.inv(np.linalg.cholesky(slopes(w).T @ slopes(w)))
    wanted = np.linalg.eigvalsh(-root @ bends @ root.T)[-1]
    assert objective.curvature_lost(w) == pytest.approx(wanted, abs=1e-5)


def test_gauss_newton_may_climb_and_levenberg_marquardt_does_not():
    far = Residuals(lambda w: np.arctan(w))
    pure = [step.objective for step in islice(GaussNewton().steps(far, [2.0]), 4)]
    damped = [step.objective for step in islice(LevenbergMarquardt().steps(far, [2.0]), 6)]
    assert pure[1] > pure[0]
    assert all(after < before for before, after in zip(damped, damped[1:])) and damped[-1] < 1e-6


def test_dependent_columns_give_the_shortest_step():
    same = Residuals(lambda w: (w[0] + w[1]) * x - 2 * x)
    plane = same.tangent(np.zeros(2))
    assert plane.spread < 1e-15 and plane.undetermined(np.zeros(2)).all()
    np.testing.assert_allclose(plane.step(), [1, 1], rtol=1e-10)


def test_a_plain_function_is_refused_with_the_way_out():
    with pytest.raises(InputError, match="Residuals"):
        next(GaussNewton().steps(lambda w: w @ w, [1.0]))
