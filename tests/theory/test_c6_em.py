"""C6-EM: a bound that touches the likelihood is raised in turn by its two arguments, for any model with hidden values."""

import numpy as np
import pytest

from qed.base.errors import ConvergenceWarning
from qed.clustering import em, log_likelihood, lower_bound, posterior
from qed.stats import kl_divergence


def coins(x, theta):
    """Give the log-likelihood of heads in ten throws with one of two coins."""
    return x[:, None] * np.log(theta) + (10 - x[:, None]) * np.log(1 - theta) + np.log(0.5)


def best_coins(x, q, theta):
    return q.T @ x / (10 * q.sum(axis=0))


HEADS = np.array([5, 9, 8, 4, 7, 2, 9])


def test_the_bound_is_below_the_likelihood_and_the_gap_is_the_divergence_from_the_posterior():
    generator = np.random.default_rng(0)
    logs = np.log(generator.dirichlet(np.ones(4), 30)) + generator.standard_normal((30, 1))
    exact = log_likelihood(logs)
    for _ in range(50):
        q = generator.dirichlet(np.ones(4), 30)
        gap = exact - lower_bound(logs, q)
        assert gap >= 0
        assert gap == pytest.approx(float(kl_divergence(q, posterior(logs)).sum()), rel=1e-10)
    assert exact == pytest.approx(lower_bound(logs, posterior(logs)), abs=1e-10)


def test_a_model_of_ones_own_never_falls_and_is_certified():
    found = em(HEADS, coins, best_coins, np.array([0.6, 0.5]), tol=1e-10)
    objective = [record["objective"] for record in found.ending.trace]
    assert (np.diff(objective) <= 1e-14).all()
    assert found.certificate and found.shares.shape == (7, 2)
    # At the end the gradient of the likelihood vanishes, by Fisher's identity.
    q, theta = found.shares, found.parameters
    slope = (q * (HEADS[:, None] / theta - (10 - HEADS[:, None]) / (1 - theta))).sum(axis=0)
    assert np.abs(slope).max() <= 1e-3


def test_maximising_the_bound_is_maximising_the_expected_log_likelihood():
    theta = np.array([0.6, 0.5])
    q = posterior(coins(HEADS, theta))
    best = best_coins(HEADS, q, theta)
    for other in np.random.default_rng(0).uniform(0.05, 0.95, (100, 2)):
        assert lower_bound(coins(HEADS, other), q) <= lower_bound(coins(HEADS, best), q) + 1e-12


def test_an_m_step_that_lowers_the_bound_is_found_out():
    with pytest.warns(ConvergenceWarning):
        found = em(HEADS, coins, lambda x, q, theta: 0.9 * best_coins(x, q, theta), np.array([0.8, 0.5]), max_iter=5)
    assert not found.certificate


def test_going_on_from_the_last_step_is_the_same_as_never_having_stopped():
    start = np.array([0.6, 0.5])
    whole = em(HEADS, coins, best_coins, start, tol=1e-9)
    with pytest.warns(ConvergenceWarning):
        part = em(HEADS, coins, best_coins, start, tol=1e-9, max_iter=3)
    rest = em(HEADS, coins, best_coins, part.ending.last, tol=1e-9)
    assert np.array_equal(whole.parameters, rest.parameters)


def test_weights_are_repetitions():
    weighted = em(HEADS, coins, best_coins, np.array([0.6, 0.5]), sample_weight=[2, 1, 1, 0, 1, 1, 3], tol=1e-12)
    repeated = em(np.repeat(HEADS, [2, 1, 1, 0, 1, 1, 3]), coins, best_coins, np.array([0.6, 0.5]), tol=1e-12)
    assert np.allclose(weighted.parameters, repeated.parameters, rtol=1e-9)
