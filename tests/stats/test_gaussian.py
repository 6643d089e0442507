"""Properties of Gaussian vectors: any covariance, any scale, any split into known and unknown."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from qed.base.errors import InputError, ParameterError
from qed.stats import Gaussian

SEEDS = st.integers(0, 10**6)


def gaussian(seed, k, rank, scale):
    random = np.random.default_rng(seed)
    half = random.standard_normal((k, rank)) * scale
    return Gaussian(scale * random.standard_normal(k), half @ half.T), random


@given(SEEDS, st.integers(2, 5), st.sampled_from([1e-8, 1.0, 1e8]))
def test_law_of_total_variance(seed, k, scale):
    """Cov X = Cov(X given Y) + Cov(E[X given Y])."""
    joint, random = gaussian(seed, k, k + 2, scale)
    known = random.permutation(k)[: random.integers(1, k)]
    rest = np.setdiff1d(np.arange(k), known)
    given_part = joint.conditional({int(i): 0.0 for i in known})
    gain = np.linalg.solve(joint.covariance[np.ix_(known, known)], joint.covariance[np.ix_(known, rest)])
    explained = gain.T @ joint.covariance[np.ix_(known, known)] @ gain
    np.testing.assert_allclose(
        given_part.covariance + explained, joint.covariance[np.ix_(rest, rest)], atol=1e-8 * scale**2
    )


@given(SEEDS, st.integers(2, 5), st.sampled_from([1e-8, 1.0, 1e8]))
def test_conditioning_one_by_one_is_conditioning_at_once(seed, k, scale):
    joint, random = gaussian(seed, k + 1, k + 3, scale)
    values = scale * random.standard_normal(2)
    once = joint.conditional({0: values[0], 1: values[1]})
    twice = joint.conditional({0: values[0]}).conditional({0: values[1]})
    np.testing.assert_allclose(twice.mean, once.mean, atol=1e-6 * scale)
    np.testing.assert_allclose(twice.covariance, once.covariance, atol=1e-6 * scale**2)


@given(SEEDS, st.integers(1, 5), st.integers(1, 5))
def test_samples_of_any_rank_lie_in_the_range(seed, k, rank):
    joint, _ = gaussian(seed, k, rank, 1.0)
    draws = joint.sample(20, random_state=seed) - joint.mean
    kernel = np.eye(k) - joint.covariance @ np.linalg.pinv(joint.covariance, rcond=1e-10)
    assert np.abs(draws @ kernel).max() < 1e-5
    assert joint.is_degenerate == (rank < k)


@given(SEEDS, st.integers(1, 4), st.sampled_from([1e-6, 1.0, 1e6]))
def test_density_agrees_with_the_reference(seed, k, scale):
    joint, random = gaussian(seed, k, k + 3, scale)
    z = joint.mean + scale * random.standard_normal((3, k))
    expected = stats.multivariate_normal(joint.mean, joint.covariance, allow_singular=True).logpdf(z)
    np.testing.assert_allclose(joint.log_density(z), expected, rtol=1e-6, atol=1e-6)


def test_seeds_reproduce():
    one = Gaussian([0.0], 1.0)
    np.testing.assert_array_equal(one.sample(3, random_state=4), one.sample(3, random_state=4))
    assert one.sample(0).shape == (0, 1)


def test_weights_in_the_likelihood():
    one = Gaussian([0.0], 1.0)
    assert one.log_likelihood([[1.0], [2.0]], [2.0, 0.0]) == pytest.approx(2 * one.log_likelihood([[1.0]]))


def test_one_component_takes_plain_numbers():
    one = Gaussian([1.0], 4.0)
    assert one.density(1.0) == pytest.approx(one.density([[1.0]])[0])
    assert one.density([0.0, 1.0, 2.0]).shape == (3,)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Gaussian([[1.0]], 1.0), "must be a vector"),
        (lambda: Gaussian([0.0], -1.0), "negative"),
        (lambda: Gaussian([0.0, np.nan], 1.0), "finite"),
        (lambda: Gaussian([0.0, 0.0], np.eye(3)), "shape"),
        (lambda: Gaussian([0.0, 0.0], 1.0).contour(mass=1.5), "between 0 and 1"),
        (lambda: Gaussian([0.0, 0.0], 1.0).contour(distance=-1.0), "not negative"),
        (lambda: Gaussian([0.0, 0.0], 1.0).contour(density=0.0), "positive"),
    ],
)
def test_bad_input_is_refused(make, words):
    with pytest.raises((ParameterError, InputError), match=words):
        make()
