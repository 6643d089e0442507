"""COORD: coordinate descent as a line search along +e_j and -e_j."""

from itertools import islice

import numpy as np
import pytest

from qed.optim import CoordinateDescent, GoldenSection, Grid, LineSearch, Objective, minimize


def spd(seed, d=5):
    draws = np.random.default_rng(seed)
    root, b = draws.standard_normal((d, d)), draws.standard_normal(d)
    H = root @ root.T + 0.5 * np.eye(d)
    return H, b, Objective(lambda w: w @ H @ w / 2 - b @ w, lambda w: H @ w - b, lambda w: H)


@pytest.mark.parametrize("seed", range(3))
def test_a_cyclic_sweep_is_gauss_seidel(seed):
    H, b, objective = spd(seed)
    lower, upper = np.tril(H), np.triu(H, 1)
    w = np.zeros(5)
    for step in islice(CoordinateDescent().steps(objective, w), 1, 30):
        w = np.linalg.solve(lower, b - upper @ w)
        np.testing.assert_allclose(step.point, w, atol=1e-9)


@pytest.mark.parametrize("order", ["cyclic", "random"])
def test_it_reaches_the_solution(order):
    H, b, objective = spd(1)
    found = minimize(objective, np.zeros(5), method=CoordinateDescent(order), tol=1e-11, max_iter=5000)
    np.testing.assert_allclose(found.point, np.linalg.solve(H, b), atol=1e-8)
    assert found.certificate


@pytest.mark.parametrize("order", ["cyclic", "random"])
def test_the_updated_partial_derivative_is_zero_and_the_value_falls(order):
    _, _, objective = spd(2)
    first = np.abs(objective.gradient(np.ones(5))).max()
    steps = list(islice(CoordinateDescent(order, every=1).steps(objective, np.ones(5)), 60))
    for before, after in zip(steps, steps[1:]):
        assert abs(after.gradient[after.coordinate]) <= 1e-9 * first
        assert after.objective <= before.objective + 1e-14 * abs(before.objective)
        assert (np.delete(after.point, after.coordinate) == np.delete(before.point, after.coordinate)).all()


def test_smooth_functions_that_are_not_quadratic():
    objective = Objective(
        lambda w: np.exp(w[0] + w[1]) + np.exp(-w[0]) + w[1] ** 2,
        lambda w: np.array([np.exp(w[0] + w[1]) - np.exp(-w[0]), np.exp(w[0] + w[1]) + 2 * w[1]]),
    )
    steps = list(islice(CoordinateDescent(every=1).steps(objective, [1.0, 1.0]), 30))
    assert all(abs(step.gradient[step.coordinate]) < 1e-9 for step in steps[1:])
    assert np.abs(steps[-1].gradient).max() < 1e-6


def test_both_signs_are_tried():
    bowl = Objective(lambda w: (w[0] - 0.5) ** 2 + (w[1] + 0.5) ** 2)
    for method in (LineSearch("coordinate", Grid(1.0, 10)), CoordinateDescent(search=Grid(1.0, 10), every=1)):
        last = list(islice(method.steps(bowl, [0.0, 0.0]), 3))[-1]
        np.testing.assert_allclose(last.point, [0.5, -0.5], atol=1e-12)


def test_no_gradient_is_needed():
    calls = []
    values = Objective(lambda w: (calls.append(1), abs(w[0] - 1) + (w[1] - 2) ** 2)[1])
    last = list(islice(CoordinateDescent(search=GoldenSection()).steps(values, [5.0, 5.0]), 3))[-1]
    np.testing.assert_allclose(last.point, [1.0, 2.0], atol=1e-6)
    assert "gradient" not in last.state and last.gap is None
