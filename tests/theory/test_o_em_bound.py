"""O-EM-BOUND: Jensen's bound of the likelihood of a mixture on the line, with closed forms for both of its arguments."""

import numpy as np

from qed.clustering import LineMixture, log_likelihood, lower_bound, posterior

X = np.concatenate([np.random.default_rng(0).standard_normal(40), np.random.default_rng(1).standard_normal(60) * 2 + 5])


def joint(line):
    first = np.log(line.weights) - 0.5 * np.log(2 * np.pi * line.variances)
    return first - (X[:, None] - line.means) ** 2 / (2 * line.variances)


def best(shares):
    weight = shares.sum(axis=0)
    means = X @ shares / weight
    return LineMixture(weight / len(X), means, ((X[:, None] - means) ** 2 * shares).sum(axis=0) / weight)


def test_the_bound_holds_for_any_shares_and_touches_at_the_posterior():
    line = LineMixture([0.5, 0.5], [0.0, 4.0], [1.0, 3.0])
    exact = line.log_likelihood(X)
    for shares in np.random.default_rng(2).dirichlet([1, 1], (200, len(X))):
        assert lower_bound(joint(line), shares) <= exact
    # Two sums of a hundred terms, each rounded.
    assert abs(lower_bound(joint(line), posterior(joint(line))) - exact) <= 1e-10
    assert abs(log_likelihood(joint(line)) - exact) <= 1e-10
    assert np.allclose(posterior(joint(line)), line.posterior(X), rtol=1e-12)


def test_both_halves_raise_the_bound():
    line, bound = LineMixture([0.5, 0.5], [-1.0, 1.0], [4.0, 4.0]), -np.inf
    for _ in range(30):
        shares = posterior(joint(line))
        after_e = lower_bound(joint(line), shares)
        line = best(shares)
        after_m = lower_bound(joint(line), shares)
        assert bound - 1e-10 <= after_e <= after_m + 1e-10
        bound = after_m
