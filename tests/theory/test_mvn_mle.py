"""mvn-mle: mean and covariance divided by n. The sums over one class are divided by the count of that class, not by n as printed."""

import numpy as np
import pytest

from qed.base.errors import InputError
from qed.base.sources.open import rows
from qed.stats import Gaussian, Moments
from tests.theory.fixtures import slope

X = np.random.default_rng(0).standard_normal((30, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 2.0]])


def test_one_to_four():
    fit = Gaussian.fit([1.0, 2.0, 3.0, 4.0])
    assert fit.mean[0] == 2.5
    assert fit.covariance[0, 0] == 1.25


def test_divisor_is_n():
    fit = Gaussian.fit(X)
    np.testing.assert_allclose(fit.mean, X.mean(axis=0))
    np.testing.assert_allclose(fit.covariance, np.cov(X.T, bias=True))


def test_gradient_of_the_likelihood_vanishes():
    fit = Gaussian.fit(X)
    lower = np.tril_indices(3)

    def likelihood(parameters):
        sigma = np.zeros((3, 3))
        sigma[lower] = parameters[3:]
        return Gaussian(parameters[:3], sigma + np.tril(sigma, -1).T).log_likelihood(X)

    at = np.concatenate([fit.mean, fit.covariance[lower]])
    assert np.abs(slope(likelihood, at)).max() < 1e-6


def test_any_perturbation_lowers_the_likelihood():
    fit, random = Gaussian.fit(X), np.random.default_rng(1)
    best = fit.log_likelihood(X)
    for _ in range(30):
        step = 0.05 * random.standard_normal((3, 3))
        moved = Gaussian(fit.mean + 0.05 * random.standard_normal(3), fit.covariance + step @ step.T)
        assert moved.log_likelihood(X) < best


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points_give_a_singular_covariance(n):
    fit = Gaussian.fit(X[:n])
    assert np.linalg.matrix_rank(fit.covariance, tol=1e-10) == n - 1
    assert np.linalg.eigvalsh(fit.covariance)[0] > -1e-12
    assert fit.is_degenerate


def test_weights_are_repetitions():
    weight = np.arange(30) % 3
    weighted, repeated = Gaussian.fit(X, weight), Gaussian.fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-12)
    np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-12)


def test_one_class_of_several():
    label = np.arange(30) % 2
    one = Gaussian.of(rows(X[label == 1]).fold(Moments.of_features))
    np.testing.assert_allclose(one.mean, X[label == 1].sum(axis=0) / (label == 1).sum())


def test_from_a_file(tmp_path):
    np.save(tmp_path / "points.npy", X)
    np.testing.assert_allclose(Gaussian.fit(tmp_path / "points.npy").covariance, Gaussian.fit(X).covariance)


def test_missing_values_and_no_rows_are_refused():
    with pytest.raises(InputError, match="missing"):
        Gaussian.fit([[1.0], [np.nan]])
    with pytest.raises(InputError, match="at least one row"):
        Gaussian.fit([[1.0]], [0.0])
