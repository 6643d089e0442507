"""jg-vector: Z = R U + mu; every combination of its components is normal; different roots, the same law."""

import numpy as np
import pytest
from scipy import stats

from qed.base.errors import DegenerateError, ParameterError
from qed.stats import Gaussian

SIGMA = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, -0.5], [0.0, -0.5, 1.0]])
MEAN = np.array([1.0, -2.0, 3.0])


def test_sample_moments_converge_at_root_n():
    errors = []
    for n in (1_000, 100_000):
        draws = Gaussian(MEAN, SIGMA).sample(n, random_state=0)
        error = np.sqrt((np.outer(np.diag(SIGMA), np.diag(SIGMA)) + SIGMA**2) / n)
        assert (abs(draws.mean(axis=0) - MEAN) < 5 * np.sqrt(np.diag(SIGMA) / n)).all()
        assert (abs(np.cov(draws.T, bias=True) - SIGMA) < 5 * error).all()
        errors.append(np.abs(np.cov(draws.T, bias=True) - SIGMA).mean())
    assert errors[1] < errors[0] / 3


@pytest.mark.parametrize("a", [[1.0, 0.0, 0.0], [1.0, -1.0, 2.0], [0.3, 0.3, 0.3]])
def test_combinations_are_normal(a):
    """Definition 2: a'Z has mean a'mu, variance a'Sigma a, and is normal."""
    a = np.array(a)
    combined = Gaussian(MEAN, SIGMA).sample(4_000, random_state=1) @ a
    law = stats.norm(a @ MEAN, np.sqrt(a @ SIGMA @ a))
    assert stats.kstest(combined, law.cdf).pvalue > 1e-3


def test_different_roots_give_the_same_law():
    value, vector = np.linalg.eigh(SIGMA)
    symmetric = (vector * np.sqrt(value)) @ vector.T
    triangular = Gaussian(MEAN, SIGMA).root
    assert np.abs(symmetric - triangular).max() > 0.1
    np.testing.assert_allclose(symmetric @ symmetric.T, triangular @ triangular.T, atol=1e-14)
    u = np.random.default_rng(0).standard_normal((50_000, 3))
    for half in (symmetric, triangular):
        np.testing.assert_allclose(np.cov((u @ half.T).T), SIGMA, atol=0.05)


def test_a_degenerate_vector_is_sampled_but_has_no_density():
    line = Gaussian([0.0, 0.0], [[1.0, 2.0], [2.0, 4.0]])
    draws = line.sample(1_000, random_state=0)
    np.testing.assert_allclose(draws[:, 1], 2 * draws[:, 0], atol=1e-12)
    assert line.is_degenerate
    with pytest.raises(DegenerateError, match="no density"):
        line.density([0.0, 0.0])


def test_scale_is_no_degeneracy():
    assert not Gaussian([0.0, 0.0], [1e-20, 1e20]).is_degenerate


def test_a_rectangular_root():
    """R may be k x l: as a linear map of standard noise."""
    R = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    made = Gaussian(np.zeros(3), 1.0).map(R)
    np.testing.assert_allclose(made.covariance, R @ R.T)


def test_what_is_no_covariance_is_refused():
    with pytest.raises(ParameterError, match="negative eigenvalue"):
        Gaussian([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ParameterError, match="symmetric"):
        Gaussian([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]])
