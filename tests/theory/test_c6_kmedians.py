"""C6-KMEDIANS: medians make sums of absolute differences least, and rows far out hardly move them."""

from itertools import pairwise

import numpy as np
import pytest

import qed


def blobs(each=30, seed=0):
    centers = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    return np.repeat(centers, each, axis=0) + np.random.default_rng(seed).normal(size=(3 * each, 2))


def cost(X, centers):
    return np.abs(X[:, None] - centers).sum(axis=2).min(axis=1).sum()


@pytest.mark.parametrize("seed", range(3))
def test_the_objective_never_rises_at_either_half_step(seed):
    X = np.random.default_rng(seed).integers(0, 9, (80, 3)).astype(float)
    steps = list(qed.steps(qed.KMedians(5, init="random", n_init=1, random_state=seed), X))
    assert len(steps) > 2
    for now, after in pairwise(steps):
        labels = np.abs(X[:, None] - now.centers).sum(axis=2).argmin(axis=1)
        between = np.abs(X - after.centers[labels]).sum()
        # Sums of whole and half numbers are exact.
        assert now.objective == cost(X, now.centers)
        assert after.objective <= between <= now.objective


def test_centres_are_the_medians_of_their_rows():
    X = blobs()
    model = qed.KMedians(3, random_state=0).fit(X)
    assert model.certificate_ and qed.certify(model, X)
    for cluster, center in enumerate(model.cluster_centers_):
        own = X[model.labels_ == cluster]
        np.testing.assert_allclose(center, np.median(own, axis=0), rtol=1e-15)
        # Zero lies in the subdifferential of each column: no more weight on one side than on the other and at the centre.
        below, above = (own < center).sum(axis=0), (own > center).sum(axis=0)
        assert (np.abs(below - above) <= len(own) - below - above).all()
        # No other place costs less.
        for move in (-0.5, -1e-3, 1e-3, 0.5):
            assert (np.abs(own - center - move).sum(axis=0) >= np.abs(own - center).sum(axis=0) - 1e-12).all()


def test_the_best_of_all_partitions_is_found_from_the_right_start_and_never_beaten():
    X = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0], [8.0, 8.0], [9.0, 8.0], [8.0, 20.0]])
    best = np.inf
    for code in range(1, 2**5):
        chosen = np.array([code >> i & 1 for i in range(6)], dtype=bool)
        both = np.array([np.median(X[chosen], axis=0), np.median(X[~chosen], axis=0)])
        best = min(best, np.abs(X - both[(~chosen).astype(int)]).sum())
    found = [qed.KMedians(2, init="random", n_init=1, random_state=seed).fit(X).inertia_ for seed in range(20)]
    assert min(found) == best


def test_rows_far_out_move_medians_by_less_than_a_tenth_of_means():
    X = blobs()
    start = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    # Three rows in a hundred, each far out beyond a cluster of its own.
    far = np.vstack([X, [[-60.0, -60.0], [70.0, 0.0], [0.0, 70.0]]])

    def shift(kind):
        return np.abs(kind(3, init=start).fit(far).cluster_centers_ - kind(3, init=start).fit(X).cluster_centers_).max()

    assert shift(qed.KMedians) < 0.1 * shift(qed.KMeans)


def test_the_distance_and_the_centre_go_together():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [900.0]])
    model = qed.KMedians(2, init=[[0.0], [10.0]]).fit(X)
    assert model.cluster_centers_.ravel().tolist() == [1.0, 11.0] and model.inertia_ == 2 + 890
    np.testing.assert_array_equal(model.transform([[3.0]]), [[2.0, 8.0]])
    assert model.score(X) == -892.0


def test_an_even_number_of_rows_has_its_centre_in_the_middle():
    X = np.array([[0.0], [1.0], [4.0], [5.0]])
    model = qed.KMedians(1, init=[[1.0]]).fit(X)
    assert model.cluster_centers_.ravel().tolist() == [2.5] and model.inertia_ == 8.0
