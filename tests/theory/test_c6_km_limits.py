"""C6-KM-LIMITS: k-means takes clusters for balls and cuts long ones across; a mixture with full covariances does not."""

import numpy as np

import qed


def test_stretched_clusters_are_cut_across():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) * [12.0, 0.5] + np.repeat([[0.0, 0.0], [0.0, 5.0]], 200, axis=0)
    labels = qed.KMeans(2, random_state=0).fit(X).labels_
    right = max((labels == (np.arange(400) >= 200)).mean(), (labels != (np.arange(400) >= 200)).mean())
    assert right < 0.9


def accuracy(labels, truth):
    return max((labels == truth).mean(), (labels != truth).mean())


def test_a_mixture_finds_what_k_means_cuts():
    rng = np.random.default_rng(0)
    truth = np.arange(600) >= 300
    X = rng.normal(size=(600, 2)) * [6.0, 0.5] + np.where(truth[:, None], [0.0, 5.0], [0.0, 0.0])
    X = X @ np.array([[np.cos(0.6), np.sin(0.6)], [-np.sin(0.6), np.cos(0.6)]])
    means = qed.KMeans(2, n_init=10, random_state=0, tol=0).fit(X)
    mixture = qed.GaussianMixture(2, n_init=10, init_params="random_from_data", random_state=0).fit(X)
    assert accuracy(means.labels_, truth) < 0.9 and accuracy(mixture.predict(X), truth) >= 0.98
    # The boundary of two clusters is the plane midway between their means.
    first, second = means.cluster_centers_
    side = (X - (first + second) / 2) @ (second - first) > 0
    assert np.array_equal(side, means.labels_ == 1)


def test_balls_of_equal_weights_are_what_k_means_assumes():
    # Hard EM with round components of one variance and equal weights is k-means.
    X = np.random.default_rng(1).normal(size=(150, 2)) * [3.0, 1.0]
    start = X[:3]
    hard = qed.GaussianMixture(
        3, algorithm="hard", covariance_type="spherical", covariance=1.0, equal_weights=True, means_init=start, tol=0
    ).fit(X)
    means = qed.KMeans(3, init=start, tol=0).fit(X)
    np.testing.assert_allclose(hard.means_, means.cluster_centers_, rtol=1e-12)
