"""gauss1d-nested: minimise over the mean inside, over the deviation outside. The stray "+ ln sigma" of the last formula is none."""

import numpy as np
import pytest

from qed.base.errors import DegenerateError
from qed.stats import Gaussian, fit_nested, gaussian_cost

X = np.array([1.0, 2.0, 3.0, 4.0, 7.0])


def test_nested_optimum_is_the_closed_form():
    fit = fit_nested(X)
    assert fit.mean[0] == pytest.approx(X.mean())
    assert fit.covariance[0, 0] == pytest.approx(X.var())
    np.testing.assert_allclose(fit.covariance, Gaussian.fit(X).covariance)


def test_joint_minimum_is_the_nested_minimum():
    means, deviations = np.linspace(0, 7, 701), np.linspace(0.5, 6, 551)
    cost = gaussian_cost(X, means[:, None], deviations[None, :])
    assert cost.min() == pytest.approx(cost.min(axis=0).min())
    assert gaussian_cost(X, X.mean(), X.std()) <= cost.min()
    assert gaussian_cost(X, X.mean(), X.std()) == pytest.approx(cost.min(), abs=1e-3)


@pytest.mark.parametrize("deviation", [0.1, 1.0, 30.0])
def test_inner_minimiser_does_not_depend_on_the_deviation(deviation):
    means = np.linspace(0, 7, 7001)
    cost = gaussian_cost(X, means, np.full_like(means, deviation))
    assert means[cost.argmin()] == pytest.approx(X.mean(), abs=1e-9)


def test_large_at_both_ends():
    best = gaussian_cost(X, X.mean(), X.std())
    assert gaussian_cost(X, X.mean(), 1e-4) > 1e6 + best
    assert gaussian_cost(X, X.mean(), 1e8) > best + 50


def test_the_hessian_is_indefinite_somewhere():
    """A witness that J is not jointly convex: far from the mean with a large deviation."""
    mean, deviation, n = X.mean() + 5.0, 6.0, len(X)
    offset = mean - X
    curvature = np.array(
        [
            [n / deviation**2, -2 * offset.sum() / deviation**3],
            [-2 * offset.sum() / deviation**3, 3 * (offset**2).sum() / deviation**4 - n / deviation**2],
        ]
    )
    step = 1e-4
    numeric = np.empty((2, 2))
    for i, a in enumerate(np.eye(2) * step):
        for j, b in enumerate(np.eye(2) * step):
            at = np.array([mean, deviation])
            corners = [gaussian_cost(X, *(at + s * a + t * b)) * s * t for s in (1, -1) for t in (1, -1)]
            numeric[i, j] = sum(corners) / (4 * step**2)
    np.testing.assert_allclose(numeric, curvature, rtol=1e-4, atol=1e-5)
    low, high = np.linalg.eigvalsh(numeric)
    assert low < 0 < high


def test_equal_values_are_reported():
    with pytest.raises(DegenerateError, match="no maximum"):
        fit_nested([2.0, 2.0, 2.0])
    with pytest.raises(DegenerateError, match="no maximum"):
        fit_nested([2.0, 5.0], [1.0, 0.0])


def test_weights_are_repetitions():
    weighted = fit_nested(X, [1, 2, 0, 1, 3])
    repeated = fit_nested(np.repeat(X, [1, 2, 0, 1, 3]))
    np.testing.assert_allclose(weighted.covariance, repeated.covariance)
