"""O-ESTBIAS: bias and variance of three estimators of a mean. The text prints m2 = 11/5 for {6, 1, 5}; it is 11/2."""

import numpy as np
import pytest

ESTIMATORS = {
    "mean": lambda X: X.mean(axis=-1),
    "ends": lambda X: (X[..., 0] + X[..., -1]) / 2,
    "five": lambda X: np.full(X.shape[:-1], 5.0),
}
MU, SIGMA, N, MANY = 3.0, 2.0, 8, 100_000
DRAWS = np.random.default_rng(0).normal(MU, SIGMA, (MANY, N))


def test_the_numbers():
    X = np.array([6.0, 1.0, 5.0])
    assert [float(estimate(X)) for estimate in ESTIMATORS.values()] == [4.0, 5.5, 5.0]


@pytest.mark.parametrize(("name", "bias"), [("mean", 0.0), ("ends", 0.0), ("five", 5.0 - MU)])
def test_bias(name, bias):
    found = ESTIMATORS[name](DRAWS).mean() - MU
    assert found == pytest.approx(bias, abs=5 * SIGMA / np.sqrt(2 * MANY))


def test_variances():
    variance = {name: estimate(DRAWS).var() for name, estimate in ESTIMATORS.items()}
    assert variance["five"] == 0.0
    assert variance["mean"] == pytest.approx(SIGMA**2 / N, rel=0.03)
    assert variance["ends"] == pytest.approx(SIGMA**2 / 2, rel=0.03)
    assert variance["five"] < variance["mean"] < variance["ends"]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_decomposition(name):
    values = ESTIMATORS[name](DRAWS)
    squared = ((values - MU) ** 2).mean()
    assert squared == pytest.approx((values.mean() - MU) ** 2 + values.var(), rel=1e-12)


def test_averaging_reduces_variance():
    """One value against the mean of eight: the idea behind bagging."""
    assert DRAWS[:, 0].var() / DRAWS.mean(axis=1).var() == pytest.approx(N, rel=0.05)


def test_the_constant_is_unbiased_only_where_it_is_right():
    assert ESTIMATORS["five"](np.full((10, 3), 5.0)).mean() - 5.0 == 0.0
