"""KNN-BV: bias and variance of a mean over neighbours."""

import numpy as np
import pytest

import qed

x = np.arange(-20, 21)[:, None] / 10


def square(x):
    return x[:, 0] ** 2


@pytest.mark.parametrize(
    ("k", "bias", "variance"), [(1, 0, 1), (5, 0.0004, 0.2), (21, 0.1344444, 0.0476190), (41, 1.96, 0.0243902)]
)
def test_the_worked_numbers(k, bias, variance):
    model = qed.KNeighborsRegressor(k).fit(x, square(x))
    found = qed.neighbor_bias_variance(model, [[0.0]], square, 1.0)
    assert found[0][0] == pytest.approx(bias, abs=1e-7) and found[1][0] == pytest.approx(variance, abs=1e-7)


def test_variance_falls_to_zero():
    found = [
        qed.neighbor_bias_variance(qed.KNeighborsRegressor(k).fit(x, square(x)), [[0.3]], square, 2.0)[1][0]
        for k in range(1, 42)
    ]
    np.testing.assert_allclose(found, 4 / np.arange(1, 42), rtol=1e-13)


@pytest.mark.parametrize("k", [1, 5, 21])
def test_drawing_targets_gives_both(k):
    generator = np.random.default_rng(k)
    draws = 4000
    noise = generator.standard_normal((41, draws))
    # Each column of the target is another draw.
    said = qed.KNeighborsRegressor(k).fit(x, square(x)[:, None] + noise).predict([[0.0]])[0]
    bias, variance = qed.neighbor_bias_variance(qed.KNeighborsRegressor(k).fit(x, square(x)), [[0.0]], square, 1.0)
    # Four standard errors of a mean and of a variance of so many normal draws.
    assert abs(said.mean() - np.sqrt(bias[0])) < 4 * np.sqrt(variance[0] / draws)
    assert abs(said.var() - variance[0]) < 4 * variance[0] * np.sqrt(2 / draws)
