"""C6-KMEANS, O-KM: Lloyd's algorithm does what its theory says."""

from itertools import pairwise, product

import numpy as np
import pytest

import qed
from qed.base.running.steps import Reason
from qed.clustering.means.nearest import Search

RECTANGLE = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]])


def cost(X, labels, centers):
    return float(((X - centers[labels]) ** 2).sum())


def best_partition(X, k):
    """Brute force: the least cost over all partitions."""
    least = np.inf
    for labels in product(range(k), repeat=len(X)):
        labels = np.array(labels)
        least = min(least, sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in set(labels)))
    return least


def test_the_bad_start_stays_and_the_restarts_find_the_optimum():
    stuck = qed.KMeans(2, init=[[2.0, 0.0], [2.0, 1.0]], tol=0).fit(RECTANGLE)
    assert stuck.inertia_ == 16 and stuck.ending_.reason is Reason.CERTIFIED and stuck.certificate_
    assert qed.KMeans(2, init="random", n_init=10, random_state=0).fit(RECTANGLE).inertia_ == 1
    assert stuck.certificate_["no clusters cost less"].value <= 1 / 16 + 1e-12


def test_both_half_steps_lower_the_objective():
    X = np.random.default_rng(0).normal(size=(300, 2))
    steps = list(qed.steps(qed.KMeans(7, init=X[:7], tol=0), X))
    assert len(steps) > 5
    for step, after in pairwise(steps):
        labels, _ = Search.among(step.centers).of(X)
        assert cost(X, labels, step.centers) == pytest.approx(step.objective, rel=1e-12)
        moved = cost(X, labels, after.centers)
        assert moved <= step.objective * (1 + 1e-12)
        assert after.objective <= moved * (1 + 1e-12)
        if step.gap > 0:
            assert after.objective < step.objective


def test_no_partition_comes_back():
    X = np.random.default_rng(1).normal(size=(200, 2))
    steps = list(qed.steps(qed.KMeans(5, init=X[:5], tol=0), X))
    partitions = [Search.among(step.centers).of(X)[0].tobytes() for step in steps]
    assert len(set(partitions[:-1])) == len(partitions) - 1


def test_the_end_is_a_fixed_point():
    X = np.random.default_rng(2).normal(size=(200, 3))
    model = qed.KMeans(5, random_state=0, tol=0).fit(X)
    square = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    np.testing.assert_array_equal(square.argmin(axis=1), model.labels_)
    for k in range(5):
        np.testing.assert_allclose(
            model.cluster_centers_[k], X[model.labels_ == k].mean(axis=0), rtol=1e-12, atol=1e-14
        )


def test_the_mean_is_the_best_centre():
    rng = np.random.default_rng(3)
    X, c = rng.normal(size=(50, 4)), rng.normal(size=4)
    model = qed.KMeans(1, random_state=0).fit(X)
    np.testing.assert_allclose(model.cluster_centers_[0], X.mean(axis=0), atol=1e-12)
    about = ((X - c) ** 2).sum()
    assert about == pytest.approx(model.inertia_ + 50 * ((c - model.cluster_centers_[0]) ** 2).sum())


@pytest.mark.parametrize("seed", range(5))
def test_brute_force_is_a_lower_bound_and_the_spectrum_a_lower_one(seed):
    X = np.random.default_rng(seed).normal(size=(8, 3))
    optimum = best_partition(X, 2)
    model = qed.KMeans(2, random_state=seed).fit(X)
    assert optimum <= model.inertia_ * (1 + 1e-12)
    assert model.certificate_["no clusters cost less"].value * model.inertia_ <= optimum * (1 + 1e-12)


def test_the_worked_means():
    X = np.arange(10.0).reshape(5, 2) ** 2
    start = np.array([X[[0, 2, 3]].mean(axis=0), X[[1, 4]].mean(axis=0)])
    first, second = list(qed.steps(qed.KMeans(2, init=start, tol=0), X))[:2]
    labels, _ = Search.among(first.centers).of(X)
    for k in range(2):
        np.testing.assert_allclose(second.centers[k], X[labels == k].mean(axis=0))
    assert cost(X, labels, second.centers) <= cost(X, labels, second.centers + 0.1)


def test_clusters_are_voronoi_cells():
    X = np.random.default_rng(4).normal(size=(300, 2))
    model = qed.KMeans(6, random_state=0, tol=0).fit(X)
    centers = model.cluster_centers_
    for x, own in zip(X, model.labels_):
        for other in range(6):
            side = x @ (centers[other] - centers[own])
            assert side <= (centers[other] @ centers[other] - centers[own] @ centers[own]) / 2 + 1e-12
