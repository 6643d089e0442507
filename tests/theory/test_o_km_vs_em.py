"""O-KM-VS-EM: on long clusters EM tells apart what k-means cuts across; on shapes that are not normal neither is better for sure."""

import numpy as np

import qed


def accuracy(found, label):
    agree = max((found == label).mean(), (found != label).mean())
    return float(agree)


def report(X, label):
    clusters = qed.KMeans(2, random_state=0).fit(X)
    mixture = qed.GaussianMixture(2, random_state=0, tol=1e-6, max_iter=500).fit(X)
    return {"k-means": accuracy(clusters.labels_, label), "EM": accuracy(mixture.predict(X), label)}


def test_long_normal_clusters_are_for_em():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((600, 2)) * [8.0, 0.5]
    label = np.repeat([0, 1], 300)
    X[label == 1, 1] += 4.0
    seen = report(X, label)
    assert seen["EM"] >= 0.98 and seen["k-means"] < 0.9


def test_on_round_clusters_of_one_size_both_agree():
    generator = np.random.default_rng(1)
    label = np.repeat([0, 1], 300)
    X = generator.standard_normal((600, 2)) + 8.0 * label[:, None]
    seen = report(X, label)
    assert seen["EM"] == seen["k-means"] == 1.0


def test_squares_with_even_density_need_no_distribution():
    generator = np.random.default_rng(2)
    label = np.repeat([0, 1], 300)
    X = generator.uniform(0, 1, (600, 2)) + 1.2 * label[:, None] * [1.0, 0.0]
    assert report(X, label)["k-means"] == 1.0
