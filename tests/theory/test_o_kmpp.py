"""O-KMPP: k-means++ draws with the probabilities of its definition, and keeps its guarantee."""

from itertools import product

import numpy as np
import pytest

import qed
from qed.clustering.means.seeding import Lottery, any_rows, spread_out

POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0], [5.0, 5.0], [6.0, 1.0]])


def place(center):
    return int(np.flatnonzero((center == POINTS).all(axis=1))[0])


def drawn_by(rows, count, seed, trials=1):
    *_, (centers, _) = spread_out(rows, count, seed, trials=trials)
    return centers[0]


def shares_of(lottery, size=2000):
    """How often each point is met by evenly spaced positions: its probability, to within one in `size`."""
    found = [place(row) for row in lottery.rows_at((np.arange(size)[None] + 0.5) / size)[0]]
    return np.bincount(found, minlength=5) / size


@pytest.mark.parametrize("seed", range(3))
def test_the_first_is_drawn_by_weight(seed):
    weight = np.array([1.0, 2.0, 0.0, 4.0, 1.0])
    lottery = Lottery(qed.rows(POINTS, sample_weight=weight), seed)
    np.testing.assert_allclose(shares_of(lottery), weight / weight.sum(), atol=1e-3)


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_others_are_drawn_by_squared_distance(seed, uniform):
    lottery = Lottery(qed.rows(POINTS), seed, uniform=uniform)
    for number in range(4):
        lottery.draw(np.array([[0.3 + 0.1 * number]]))
        mass = ((POINTS[:, None] - lottery.centers[0]) ** 2).sum(axis=2).min(axis=1)
        mass = (mass > 0).astype(float) if uniform else mass
        shares = shares_of(lottery)
        np.testing.assert_allclose(shares, mass / mass.sum(), atol=1e-3)
        assert all(shares[place(center)] == 0 for center in lottery.centers[0])


def test_frequencies_over_seeds():
    rows = qed.rows(POINTS)
    counts = np.zeros(5)
    for seed in range(300):
        first, second = drawn_by(rows, 2, seed)
        assert place(first) != place(second)
        counts[place(first)] += 1
    assert ((counts - 60) ** 2 / 60).sum() < 18.5


def test_the_mass_is_the_cost_of_the_centres():
    X = np.random.default_rng(0).normal(size=(100, 3))
    lottery = Lottery(qed.rows(X), 0)
    assert lottery.mass.sum() == pytest.approx(100)
    for number in range(4):
        lottery.draw(np.array([[0.37]]))
        cost = ((X[:, None] - lottery.centers[0]) ** 2).sum(axis=2).min(axis=1).sum()
        assert lottery.mass.sum() == pytest.approx(cost)
        assert lottery.centers.shape[1] == number + 1


def test_candidates_lower_the_cost():
    X = np.random.default_rng(1).normal(size=(100, 2))
    rows = qed.rows(X)

    def mean_cost(trials):
        drawn = [drawn_by(rows, 6, seed, trials) for seed in range(60)]
        return np.mean([((X[:, None] - centers) ** 2).sum(axis=2).min(axis=1).sum() for centers in drawn])

    assert mean_cost(4) < mean_cost(1)


def test_the_expected_cost_keeps_its_bound():
    X = np.concatenate([np.random.default_rng(2).normal(size=(4, 2)) + shift for shift in ([0, 0], [9, 0])])
    k = 3
    optimum = np.inf
    for labels in product(range(k), repeat=len(X)):
        parts = [X[np.array(labels) == c] for c in set(labels)]
        optimum = min(optimum, sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts))
    rows = qed.rows(X)
    drawn = [drawn_by(rows, k, seed) for seed in range(300)]
    costs = [((X[:, None] - centers) ** 2).sum(axis=2).min(axis=1).sum() for centers in drawn]
    assert optimum <= min(costs)
    assert np.mean(costs) <= 8 * (np.log(k) + 2) * optimum


def test_careful_seeding_beats_any_rows_on_separated_blobs():
    rng = np.random.default_rng(3)
    X = np.repeat(30 * rng.normal(size=(6, 2)), 15, axis=0) + rng.normal(size=(90, 2))
    rows = qed.rows(X)

    def cost(centers):
        return ((X[:, None] - centers) ** 2).sum(axis=2).min(axis=1).sum()

    careful = np.mean([cost(drawn_by(rows, 6, seed)) for seed in range(40)])
    careless = np.mean([cost(any_rows(rows, 6, seed)[0]) for seed in range(40)])
    assert careful < careless / 2
