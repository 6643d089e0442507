"""mvn-independence: inside one Gaussian vector, uncorrelated parts are independent. The factors keep their means."""

import numpy as np

from qed.stats import Gaussian

SIGMA = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 3.0]])
JOINT = Gaussian([1.0, -1.0, 2.0], SIGMA)
POINTS = np.random.default_rng(0).standard_normal((20, 3))


def test_block_diagonal_densities_factorise():
    product = JOINT.marginal([0, 1]).density(POINTS[:, :2]) * JOINT.marginal([2]).density(POINTS[:, 2:])
    np.testing.assert_allclose(JOINT.density(POINTS), product, rtol=1e-12)


def test_the_conditional_is_the_marginal():
    given, alone = JOINT.conditional({2: 17.0}), JOINT.marginal([0, 1])
    np.testing.assert_allclose(given.mean, alone.mean)
    np.testing.assert_allclose(given.covariance, alone.covariance)


def test_correlated_parts_do_not_factorise():
    pair = JOINT.marginal([0, 1])
    product = pair.marginal([0]).density(POINTS[:, :1]) * pair.marginal([1]).density(POINTS[:, 1:2])
    assert np.abs(pair.density(POINTS[:, :2]) / product - 1).max() > 0.1


def test_it_fails_outside_gaussian_vectors():
    """Y = SX is uncorrelated with X, but |Y| = |X|: the Gaussian of the same moments says something else."""
    random = np.random.default_rng(0)
    X = random.standard_normal(50_000)
    Y = X * random.choice([-1.0, 1.0], X.size)
    pair = np.column_stack([X, Y])
    fitted = Gaussian(pair.mean(axis=0), np.cov(pair.T))
    assert abs(fitted.covariance[0, 1]) < 0.03
    both = np.mean((abs(X) > 1) & (abs(Y) > 1))
    drawn = fitted.sample(50_000, random_state=1)
    apart = np.mean((abs(drawn) > 1).all(axis=1))
    assert abs(apart - np.mean(abs(X) > 1) ** 2) < 0.02 and both - apart > 0.2
