"""Drawing centres: what the draw depends on, and what it does not."""

import numpy as np
import pytest

import qed
from qed.base.sources.rows import ArrayRows
from qed.clustering.seeding import draw_centers, stir


class Streamed(ArrayRows):
    """Rows that may not be taken to be in memory."""

    in_memory = False


def table(n=300, p=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def mix(rows, salt):
    """The hash in NumPy."""
    key = np.full(len(rows), salt, dtype=np.uint64)
    for column in np.ascontiguousarray(rows.T).view(np.uint64):
        key = (key ^ column) * np.uint64(0xBF58476D1CE4E5B9)
        key = (key ^ (key >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
        key = key ^ (key >> np.uint64(29))
    return key


def test_the_kernel_is_its_formula():
    X = table(500)
    keys = np.full(500, 12345, dtype=np.uint64)
    stir(np.ascontiguousarray(X.T).view(np.uint64), keys)
    np.testing.assert_array_equal(keys, mix(X, 12345))


def test_hashes_are_spread_evenly():
    grid = np.stack(np.meshgrid(np.arange(64.0), np.arange(64.0)), axis=-1).reshape(-1, 2)
    keys = mix(grid, 7)
    assert len(np.unique(keys)) == len(grid)
    buckets = np.bincount((keys >> np.uint64(58)).astype(int), minlength=64)
    assert ((buckets - 64) ** 2 / 64).sum() < 120


@pytest.mark.parametrize("uniform", [False, True])
def test_order_blocks_and_storage_do_not_matter(uniform):
    X = table()
    expected, _ = draw_centers(qed.rows(X), 6, seed=4, uniform=uniform)
    shuffled = X[np.random.default_rng(1).permutation(len(X))]
    for rows in (qed.rows(shuffled), qed.rows(X, block_size=32), Streamed(X, size=50), Streamed(np.asfortranarray(X))):
        found, distinct = draw_centers(rows, 6, seed=4, uniform=uniform)
        np.testing.assert_array_equal(found, expected)
        assert distinct == 6


def test_centres_are_rows_and_differ():
    X = np.repeat(table(8), 5, axis=0)
    centers, distinct = draw_centers(qed.rows(X), 8, seed=0)
    assert distinct == 8
    assert {tuple(row) for row in centers} == {tuple(row) for row in X}


def test_restarts_and_seeds_draw_anew():
    rows = qed.rows(table())
    drawn = [draw_centers(rows, 3, seed, restart)[0] for seed in range(3) for restart in range(3)]
    assert len({centers.tobytes() for centers in drawn}) == 9


def test_negative_zero_is_zero():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 3.0]])
    assert draw_centers(qed.rows(X), 3, seed=0)[1] == 2


def test_rows_without_weight_are_never_drawn():
    X = table(20)
    weight = np.zeros(20)
    weight[[3, 11]] = 1
    for seed in range(10):
        centers, _ = draw_centers(qed.rows(X, sample_weight=weight), 2, seed)
        assert {tuple(row) for row in centers} == {tuple(X[3]), tuple(X[11])}
