"""O-ESTBIAS: bias and variance of three estimators of a mean. The text prints m2 = 11/5 for {6, 1, 5}; it is 11/2."""

import numpy as np
import pytest

import qed

ESTIMATORS = {
    "mean": lambda X: X.mean(axis=-1),
    "ends": lambda X: (X[..., 0] + X[..., -1]) / 2,
    "five": lambda X: np.full(X.shape[:-1], 5.0),
}
CENTER, SCALE, N = 3.0, np.sqrt(2.0), 8
NOISE = qed.stats.LaplaceDistribution(CENTER, SCALE)


def assess(name, distribution=NOISE, truth=CENTER, n=N):
    return qed.stats.assess_estimator(ESTIMATORS[name], distribution, truth, n, repeats=40_000, random_state=0)


def test_the_numbers():
    X = np.array([6.0, 1.0, 5.0])

    class Seen:
        @staticmethod
        def sample(count, seed):
            return np.tile(X, count // 3)

    # Of a sample that is always the same, the bias against zero is the estimate.
    assert [assess(name, Seen, 0.0, 3).bias for name in ESTIMATORS] == [4.0, 5.5, 5.0]
    assert qed.MeanRegressor().fit(np.zeros((3, 1)), X).predict(np.zeros((1, 1)))[0] == pytest.approx(4.0)


@pytest.mark.parametrize(("name", "bias"), [("mean", 0.0), ("ends", 0.0), ("five", 5.0 - CENTER)])
def test_bias(name, bias):
    found = assess(name)
    assert found.bias == pytest.approx(bias, abs=5 * found.bias_error)
    assert found.seems_unbiased == (bias == 0)


def test_variances():
    variance = {name: assess(name).variance for name in ESTIMATORS}
    assert variance["five"] == 0.0
    assert variance["mean"] == pytest.approx(NOISE.variance / N, rel=0.05)
    assert variance["ends"] == pytest.approx(NOISE.variance / 2, rel=0.05)
    assert variance["five"] < variance["mean"] < variance["ends"]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_decomposition(name):
    found = assess(name)
    errors = []

    def keep(X):
        estimate = ESTIMATORS[name](X)
        errors.append(((estimate - CENTER) ** 2).mean())
        return estimate

    again = qed.stats.assess_estimator(keep, NOISE, CENTER, N, repeats=40_000, random_state=0)
    assert again == found
    assert found.squared_error == pytest.approx(errors[0], rel=1e-10)


def test_averaging_reduces_variance():
    """One value against the mean of eight: the idea behind bagging."""
    one = qed.stats.assess_estimator(lambda X: X[:, 0], NOISE, CENTER, N, repeats=40_000, random_state=0)
    assert one.variance / assess("mean").variance == pytest.approx(N, rel=0.1)


def test_the_constant_is_unbiased_only_where_it_is_right():
    assert assess("five", qed.stats.LaplaceDistribution(5.0, 1.0), truth=5.0).seems_unbiased
