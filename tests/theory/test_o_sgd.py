"""O-SGD: mini-batches give unbiased gradients, and with a constant step the averaged iterate is closer than the last."""

from itertools import combinations, islice

import numpy as np

from qed.optim import StochasticGradient
from tests.theory.fixtures import problem
from tests.theory.quadratics import squares


def test_the_scaled_mini_batch_gradient_is_unbiased():
    """2 (X'Xw - X'y) over k of n rows, times n / k, has the mean of the whole; means over the rows, as here, need no scaling."""
    X, y, _ = problem(n=6, p=2)
    w = np.array([1.0, -1.0])
    whole = 2 * (X.T @ X @ w - X.T @ y)
    total = squares(X, y)
    parts = [6 * total.gradient_of(w, np.array(rows)) for rows in combinations(range(6), 3)]
    np.testing.assert_allclose(np.mean(parts, axis=0), whole, rtol=1e-12)
    np.testing.assert_allclose(6 * total.gradient(w), whole, rtol=1e-12)


def test_the_average_is_closer_than_the_last_in_repeated_runs():
    X, y, _ = problem(n=200, p=3, noise=1.0)
    total, best = squares(X, y), np.linalg.lstsq(X, y)[0]
    closer = 0
    for seed in range(20):
        method = StochasticGradient(0.05, batch=2, average=True, skip=200, every=1500, seed=seed)
        step = next(islice(method.steps(total, np.zeros(3)), 1, 2))
        np.testing.assert_array_equal(step.point, step.mean)
        closer += np.linalg.norm(step.mean - best) < np.linalg.norm(step.iterate - best)
    assert closer >= 18


def test_the_average_is_the_mean_of_the_iterates():
    X, y, _ = problem(n=20, p=3)
    total = squares(X, y)
    iterates = [
        step.iterate for step in islice(StochasticGradient(0.02, every=1, seed=1).steps(total, np.zeros(3)), 31)
    ]
    averaged = next(islice(StochasticGradient(0.02, average=True, every=30, seed=1).steps(total, np.zeros(3)), 1, 2))
    np.testing.assert_allclose(averaged.point, np.mean(iterates[1:], axis=0), rtol=1e-12)
    np.testing.assert_array_equal(averaged.iterate, iterates[30])
    later = next(
        islice(StochasticGradient(0.02, average=True, skip=10, every=30, seed=1).steps(total, np.zeros(3)), 1, 2)
    )
    np.testing.assert_allclose(later.point, np.mean(iterates[11:], axis=0), rtol=1e-12)


def test_noise_helps_to_leave_a_local_minimum():
    """Two kinds of terms whose mean has a shallow and a deep valley: the batch method stays, single terms jump."""
    from qed.optim import FiniteSum, GradientDescent

    pull = np.array([6.0, -6.0])
    total = FiniteSum(
        lambda w, rows: float(((w[0] ** 2 - 1) ** 2 / 4 - 0.2 * w[0]) + pull[rows].mean() * w[0]),
        lambda w, rows: w**3 - w - 0.2 + pull[rows].mean(),
        n=2,
    )
    stays = next(islice(GradientDescent(0.05).steps(total, [-1.0]), 400, 401))
    assert stays.point[0] < 0 < stays.objective - (-0.2)
    best = [
        min(s.objective for s in islice(StochasticGradient(0.05, seed=seed).steps(total, [-1.0]), 400))
        for seed in range(5)
    ]
    assert all(value < -0.19 for value in best)
