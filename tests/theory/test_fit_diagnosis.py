"""fit-diagnosis: nine statements about under- and overfitting, each checked on data with a known truth."""

import numpy as np
import pytest

import qed
from qed.base.errors import ParameterError
from qed.data.synthetic import line, sinusoid


def errors(degree, n=15, seed=0, noise=0.3):
    """Training and test error of a polynomial on a sine wave."""
    features = qed.PolynomialFeatures(degree)
    X, y = sinusoid(n, noise=noise, random_state=seed)
    Z, t = sinusoid(2000, noise=noise, random_state=seed + 1000)
    model = qed.LinearRegression(fit_intercept=False).fit(features.fit_transform(X), y)
    return tuple(np.mean((model.predict(features.transform(A)) - b) ** 2) for A, b in ((X, y), (Z, t)))


def test_1_underfitting_is_bias_and_overfitting_is_variance():
    flat = qed.diagnose_fit(*errors(0, n=200), noise_variance=0.09)
    wild = qed.diagnose_fit(*errors(10), noise_variance=0.09)
    assert flat.underfits and not flat.overfits
    assert wild.overfits and not wild.underfits


def test_2_training_error_shows_bias_only():
    """It falls from degree to degree while the test error turns."""
    training, test = zip(*(errors(degree) for degree in (0, 1, 3, 5, 9, 11)))
    assert (np.diff(training) <= 1e-12).all()
    assert test[-1] > 3 * min(test)


def test_3_variance_falls_like_one_over_n():
    variance = {n: qed.polynomial_experiment([1], n=n, repetitions=400)[1].variance.mean() for n in (10, 40, 160)}
    for n, known in ((10, 0.063), (40, 0.0137), (160, 0.0033)):
        # Of four hundred lines a mean variance is known to some five per cent.
        assert variance[n] == pytest.approx(known, rel=0.15)
    assert 0.20 < variance[160] / variance[40] < 0.28


def test_4_more_data_does_not_cure_bias():
    few = qed.polynomial_experiment([0], n=10, repetitions=400)[0].bias_squared.mean()
    many = qed.polynomial_experiment([0], n=1000, repetitions=100)[0].bias_squared.mean()
    # The mean of 400 constants is off by a standard deviation of 0.02 (0.004 for 1 000 points): its square adds next to nothing.
    assert few == pytest.approx(22 / 15, abs=0.01)
    assert many == pytest.approx(22 / 15, abs=0.001)


def test_5_a_good_feature_lowers_bias_and_a_bad_one_rarely_raises_it():
    found = qed.polynomial_experiment([0, 1, 2], repetitions=400)
    assert found[1].bias_squared.mean() < 0.01 * found[0].bias_squared.mean()
    assert found[2].bias_squared.mean() < 0.02


def test_6_a_feature_never_lowers_the_variance_of_a_fixed_design():
    """Pointwise sigma² phi'(Phi'Phi)^-1 phi, as a posterior without a prior has it; averaged over the inputs sigma² rank / n."""
    x = np.random.default_rng(0).uniform(-1, 1, 12)
    grid, before = np.linspace(-1, 1, 21), np.zeros(21)
    for degree in range(5):
        powers = qed.PolynomialFeatures(degree).fit(x[:, None])
        Phi, phi = powers.transform(x[:, None]), powers.transform(grid[:, None])
        spread = qed.linear_gaussian(Phi, x, noise=1.0).covariance
        variance = np.einsum("ij,jk,ik->i", phi, spread, phi)
        assert (variance >= before - 1e-10).all()
        assert np.trace(Phi @ spread @ Phi.T) / 12 == pytest.approx((degree + 1) / 12)
        before = variance


def test_7_irreducible_error_stays():
    found = qed.polynomial_experiment([1], n=400, repetitions=100)[1]
    assert found.error.mean() == pytest.approx(0.25, rel=0.02)
    assert (found.error >= 0.25).all()


def test_8_test_noise_changes_only_the_third_term():
    calm, loud = (qed.polynomial_experiment([1], test_noise=s, repetitions=100)[1] for s in (0.1, 3.0))
    np.testing.assert_array_equal(calm.bias_squared, loud.bias_squared)
    np.testing.assert_array_equal(calm.variance, loud.variance)
    assert loud.noise_variance - calm.noise_variance == pytest.approx(9.0 - 0.01)
    trained = qed.polynomial_experiment([1], noise=3.0, repetitions=100)[1]
    assert trained.variance.mean() > 10 * calm.variance.mean()


def test_9_on_real_data_the_truth_is_not_known():
    X, y = line(60, random_state=0)
    found = qed.bootstrap_bias_variance(qed.LinearRegression(), X[:40], y[:40], X[40:], y[40:], repetitions=20)
    assert not found.truth_known
    assert found.bias_squared.mean() > 0.1  # mostly the noise of 0.25 in the test values


def test_the_threshold_is_a_setting():
    assert qed.diagnose_fit(1.0, 1.4).overfits is False
    assert qed.diagnose_fit(1.0, 1.4, ratio=1.2).overfits is True
    assert "many times" in qed.diagnose_fit(0.0, 1.0).words
    assert str(qed.diagnose_fit(1.0, 1.0)).startswith("Neither")
    with pytest.raises(ParameterError, match="ratio"):
        qed.diagnose_fit(1.0, 1.0, ratio=1.0)
    with pytest.raises(ParameterError, match="test_error"):
        qed.diagnose_fit(1.0, -1.0)
