"""C6-SOFTKM: shares sum to one, weighted means are stationary, and the hardness leads from one cluster to k-means."""

from itertools import islice

import numpy as np
import pytest

import qed
from qed.base.errors import DegenerateWarning


def blobs(each=40, spread=1.0, seed=0):
    centers = np.array([[0.0, 0.0], [7.0, 0.0], [0.0, 7.0]])
    return np.repeat(centers, each, axis=0) + spread * np.random.default_rng(seed).normal(size=(3 * each, 2))


@pytest.mark.parametrize("beta", [0.0, 0.1, 1.0, 1e6])
def test_shares_are_none_below_zero_and_sum_to_one(beta):
    X = blobs()
    shares = qed.SoftKMeans(3, beta=beta, random_state=0).fit(X).predict_proba(X)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)


def test_shares_are_the_softmax_and_centres_their_means():
    X, beta = blobs(), 0.3
    model = qed.SoftKMeans(3, beta=beta, random_state=0, tol=1e-20).fit(X)
    logits = -beta * ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), shares, atol=1e-12)
    # Stationary: the moves asked for are the root of tol times the mean variance, 1e-10 of a standard deviation or so.
    away = shares.T @ X - shares.sum(axis=0)[:, None] * model.cluster_centers_
    assert np.abs(away).max() <= 1e-9 * len(X)
    assert model.certificate_


def test_hard_shares_are_those_of_k_means():
    X = blobs(spread=2.0)
    start = X[[0, 50, 100]]
    soft, hard = qed.SoftKMeans(3, beta=1e6, init=start).fit(X), qed.KMeans(3, init=start, tol=0).fit(X)
    assert np.array_equal(soft.labels_, hard.labels_)
    np.testing.assert_allclose(soft.cluster_centers_, hard.cluster_centers_, atol=1e-10)
    # The free energy adds log(k) / beta for each row to the inertia.
    assert soft.free_energy_ == pytest.approx(hard.inertia_ + len(X) * np.log(3) / 1e6, rel=1e-9)


def test_without_hardness_all_centres_are_the_mean():
    X = blobs()
    model = qed.SoftKMeans(3, beta=0.0, random_state=0).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, np.tile(X.mean(axis=0), (3, 1)), atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), 1 / 3, atol=1e-15)


def test_centres_fall_together_below_half_of_one_over_the_largest_eigenvalue():
    X = blobs()
    critical = 1 / (2 * np.linalg.eigvalsh(np.cov(X.T, bias=True)).max())
    start = X.mean(axis=0) + 0.01 * np.array([[1.0, 0.3], [-1.0, 0.2], [0.1, -1.0]])
    together = qed.SoftKMeans(3, beta=0.8 * critical, init=start, tol=1e-16).fit(X).cluster_centers_
    assert np.ptp(together, axis=0).max() < 1e-5
    apart = qed.SoftKMeans(3, beta=1.5 * critical, init=start, tol=1e-16).fit(X).cluster_centers_
    assert np.ptp(apart, axis=0).max() > 0.5


def test_centres_that_begin_equal_stay_equal():
    X = blobs()
    with pytest.warns(DegenerateWarning):
        model = qed.SoftKMeans(2, beta=0.5, init=np.tile(X[0], (2, 1))).fit(X)
    np.testing.assert_allclose(*model.cluster_centers_, rtol=1e-12)


def test_the_surrogate_likelihood_never_falls_and_is_that_of_a_mixture():
    X, beta, start = blobs(spread=2.5), 0.15, blobs(spread=2.5)[[0, 1, 2]]
    walk = qed.steps(qed.SoftKMeans(3, beta=beta, init=start), X)
    steps = list(islice(walk, 40))
    surrogate = [
        np.log(np.exp(-beta * ((X[:, None] - step.centers) ** 2).sum(axis=2)).sum(axis=1)).sum() for step in steps
    ]
    # A sum of n logarithms, each rounded: n times epsilon of its size.
    assert (np.diff(surrogate) >= -len(X) * 1e-16 * abs(surrogate[0])).all() and len(steps) > 5
    energies = [-(value - len(X) * np.log(3)) / beta for value in surrogate]
    np.testing.assert_allclose([step.objective for step in steps], energies, rtol=1e-11)
    # A step of EM for a mixture of equal weights whose covariance is known makes the same move.
    mixture = qed.steps(
        qed.GaussianMixture(
            3, covariance=1 / (2 * beta), covariance_type="spherical", equal_weights=True, means_init=start
        ),
        X,
    )
    for soft, em in zip(steps[:5], mixture):
        np.testing.assert_allclose(soft.centers, em.means, atol=1e-9)


def test_a_row_between_two_centres_is_shared_and_hard_clusters_jump():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    model = qed.SoftKMeans(2, beta=0.1, init=[[0.0], [10.0]]).fit(X)
    np.testing.assert_allclose(model.predict_proba([[5.0]]), [[0.5, 0.5]], atol=1e-9)
    close = model.predict_proba([[5.0 - 1e-6], [5.0 + 1e-6]])
    assert np.abs(close[0] - close[1]).max() < 1e-5 and len(set(model.predict([[5.0 - 1e-6], [5.0 + 1e-6]]))) == 2
