"""bias-variance: error = bias² + variance + noise, against noisy test values. The labels of the second derivation are garbled."""

import numpy as np
import pytest

import qed
from qed.base.errors import InputError, ParameterError
from qed.data.synthetic import line, noise_model

GRID = np.linspace(-1, 1, 11)[:, None]
TRUTH = 2 * GRID[:, 0] + 1


def draw(random):
    return line(10, random_state=random)


@pytest.fixture(scope="module")
def found():
    return qed.bias_variance(qed.Ridge(alpha=2.0), draw, GRID, TRUTH, noise_variance=0.25, repetitions=300)


def test_noise_has_mean_zero_so_the_mean_of_y_is_the_truth():
    Y = noise_model(lambda x: 3.0 + 0 * x, np.zeros(40_000), noise=0.5, random_state=0)
    assert Y.mean() == pytest.approx(3.0, abs=4 * 0.5 / 200)
    assert Y.var() == pytest.approx(0.25, rel=0.05)
    assert (Y**2).mean() == pytest.approx(Y.var() + Y.mean() ** 2, rel=1e-12)


def test_identity_is_exact_for_any_sample(found):
    distance = ((found.predictions - TRUTH) ** 2).mean(axis=0)
    np.testing.assert_allclose(distance, found.bias_squared + found.variance, rtol=1e-12)
    assert found.certificate


def test_the_certificate_objects_to_wrong_predictions(found):
    class Wrong(type(found)):
        variance = property(lambda self: self.predictions.var(axis=0, ddof=1))

    wrong = Wrong(found.predictions[:5], found.truth, 0.0, GRID)
    assert not wrong.certificate


def test_fresh_noise_adds_its_variance(found):
    """With fresh test noise the mean squared error is the sum of three terms, within Monte-Carlo error."""
    random = np.random.default_rng(5)
    repeats = 200
    fresh = TRUTH + 0.5 * random.standard_normal((repeats, *found.predictions.shape))
    error = ((found.predictions - fresh) ** 2).mean(axis=(0, 1))
    spread = ((found.predictions - fresh) ** 2).std(axis=(0, 1)) / np.sqrt(repeats * len(found.predictions))
    assert (abs(error - found.error) < 5 * spread).all()


def test_tower_rule(found):
    """Averaging over the noise first and over training sets afterwards is the same as doing both at once."""
    given_set = (found.predictions - TRUTH) ** 2 + 0.25
    np.testing.assert_allclose(given_set.mean(axis=0), found.error, rtol=1e-12)


def test_result_does_not_depend_on_threads():
    with qed.threads(1):
        one = qed.bias_variance(qed.Ridge(), draw, GRID, TRUTH, repetitions=20)
    with qed.threads(2):
        two = qed.bias_variance(qed.Ridge(), draw, GRID, TRUTH, repetitions=20)
    np.testing.assert_array_equal(one.predictions, two.predictions)


def test_on_real_data_bias_contains_the_noise():
    X, y = qed.data.load("diabetes").Xy()
    found = qed.bootstrap_bias_variance(qed.LinearRegression(), X[:300], y[:300], X[300:], y[300:], repetitions=30)
    assert found.certificate
    assert not found.truth_known
    np.testing.assert_allclose(found.error.mean(), ((found.predictions - y[300:]) ** 2).mean(), rtol=1e-10)
    assert "and noise" in str(found)


def test_bad_input_is_refused():
    with pytest.raises(ParameterError, match="repetitions"):
        qed.bias_variance(qed.Ridge(), draw, GRID, TRUTH, repetitions=1)
    with pytest.raises(ParameterError, match="noise_variance"):
        qed.bias_variance(qed.Ridge(), draw, GRID, TRUTH, noise_variance=-1.0)
    with pytest.raises(InputError, match="true values"):
        qed.bias_variance(qed.Ridge(), draw, GRID, TRUTH[:3], repetitions=2)
    with pytest.raises(InputError, match="3 rows"):
        qed.bootstrap_bias_variance(qed.Ridge(), np.ones((3, 1)), [1.0, 2.0], GRID, TRUTH)
