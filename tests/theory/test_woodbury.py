"""woodbury: (A + UCV)^-1 = A^-1 - A^-1 U (C^-1 + V A^-1 U)^-1 V A^-1."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import problem


@pytest.mark.parametrize(("n", "k"), [(8, 3), (3, 8), (5, 5), (6, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_both_sides_agree(n, k, seed):
    """Theory: on random well-conditioned blocks, to 1e-10; the two sides are the primal and the dual form of a posterior."""
    random = np.random.default_rng(seed)
    X, half = random.standard_normal((n, k)), 0.3 * random.standard_normal((k, k))
    prior, noise, y = np.eye(k) * 3 + half @ half.T, 4 * np.eye(n), random.standard_normal(n)
    primal = qed.linear_gaussian(X, y, noise=noise, prior=prior, form="primal")
    dual = qed.linear_gaussian(X, y, noise=noise, prior=prior, form="dual")
    np.testing.assert_allclose(primal.covariance, dual.covariance, atol=1e-10)
    left = np.linalg.inv(np.linalg.inv(prior) + X.T @ X / 4)
    np.testing.assert_allclose(primal.covariance, left, atol=1e-10)


def test_it_is_why_the_two_forms_have_one_covariance():
    """Used for A = Sigma_W^-1, U = X', C = Sigma_Z^-1, V = X: the posterior covariance by d x d and by n x n systems."""
    X, y, _ = problem(6, 4)
    random = np.random.default_rng(1)
    B = random.standard_normal((4, 4))
    prior, noise = B @ B.T + np.eye(4), random.uniform(0.5, 2, 6)
    primal = qed.linear_gaussian(X, y, noise=noise, prior=prior, form="primal").covariance
    dual = qed.linear_gaussian(X, y, noise=noise, prior=prior, form="dual").covariance
    np.testing.assert_allclose(primal, dual, atol=1e-10)
    direct = np.linalg.inv(np.linalg.inv(prior) + X.T @ np.diag(1 / noise) @ X)
    np.testing.assert_allclose(primal, direct, atol=1e-10)
