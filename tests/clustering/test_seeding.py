"""Drawing centres: what the draw depends on, and what it does not."""

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.base.sources.rows import ArrayRows
from qed.clustering.means.hashing import hashes
from qed.clustering.means.seeding import any_points, any_rows, spread_out


class Streamed(ArrayRows):
    """Rows that may not be taken to be in memory."""

    in_memory = False


def table(n=300, p=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def careful(rows, count, seed, runs=1, **options):
    *_, (centers, _) = spread_out(rows, count, seed, runs, **options)
    return centers


def mixed(bits):
    bits = bits * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(29))


def plain_hash(X, salt):
    """The hash by its formula."""
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(X.astype(np.float32).astype(np.float64) + 0.0).view(np.uint64)
        column = np.arange(1, X.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        parts = np.where(single == 0, np.uint64(0), mixed(single ^ column))
        return mixed(parts.sum(axis=1, dtype=np.uint64) ^ salt)


@pytest.mark.parametrize("n", [50, 20_000])
def test_hashes_are_their_formula_for_dense_and_sparse_rows(n):
    # Halves of units of single precision are rounded away from zero here and to even by NumPy: these values have none.
    X = np.round(table(n) * 1024) / 1024 * (np.random.default_rng(1).random((n, 3)) < 0.7)
    expected = plain_hash(X, np.uint64(12345))
    np.testing.assert_array_equal(hashes(X, np.uint64(12345)), expected)
    np.testing.assert_array_equal(hashes(sparse.csr_array(X), np.uint64(12345)), expected)
    np.testing.assert_array_equal(hashes(X.astype(np.float32), np.uint64(12345)), expected)


def test_hashes_are_spread_evenly():
    grid = np.stack(np.meshgrid(np.arange(64.0), np.arange(64.0)), axis=-1).reshape(-1, 2)
    keys = hashes(grid, np.uint64(7))
    assert len(np.unique(keys)) == len(grid)
    buckets = np.bincount((keys >> np.uint64(58)).astype(int), minlength=64)
    # Chi-squared with 63 degrees of freedom is below 120 but for one in 100 000.
    assert ((buckets - 64) ** 2 / 64).sum() < 120


@pytest.mark.parametrize("draw", [careful, any_rows])
@pytest.mark.parametrize("n", [300, 9000])
def test_order_blocks_and_storage_do_not_matter(draw, n):
    X = table(n)
    expected = draw(qed.rows(X), 6, 4, 2)
    shuffled = X[np.random.default_rng(1).permutation(len(X))]
    for rows in (
        *(qed.rows(shuffled), qed.rows(X, block_size=n // 9), qed.rows(sparse.csr_array(X))),
        *(Streamed(X, size=n // 6), Streamed(np.asfortranarray(X))),
    ):
        np.testing.assert_array_equal(draw(rows, 6, 4, 2), expected)


@pytest.mark.parametrize("draw", [careful, any_rows])
def test_centres_are_rows_and_differ(draw):
    X = np.repeat(table(8), 5, axis=0)
    centers = draw(qed.rows(X), 8, 0)[0]
    assert {tuple(row) for row in centers} == {tuple(row) for row in X}


@pytest.mark.parametrize("draw", [careful, any_rows])
def test_restarts_and_seeds_draw_anew(draw):
    rows = qed.rows(table())
    drawn = [centers for seed in range(3) for centers in draw(rows, 3, seed, 3)]
    assert len({centers.tobytes() for centers in drawn}) == 9


@pytest.mark.parametrize("draw", [careful, any_rows])
def test_restarts_draw_as_if_alone(draw):
    rows = qed.rows(table())
    np.testing.assert_array_equal(draw(rows, 4, 1, 5)[:2], draw(rows, 4, 1, 2))


@pytest.mark.parametrize("sparsely", [False, True])
def test_equal_rows_are_drawn_once_and_then_the_first_again(sparsely):
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [0.1, 0.7], [0.1, 0.7]])
    rows = qed.rows(sparse.csr_array(X) if sparsely else X)
    for draw in (careful, any_rows):
        centers = draw(rows, 3, 0)[0]
        assert len(np.unique(centers, axis=0)) == 2
        np.testing.assert_array_equal(centers[2], centers[0])


def test_rows_without_weight_are_never_drawn():
    X = table(20)
    X[5] = np.nan
    weight = np.zeros(20)
    weight[[3, 11]] = 1
    for seed in range(10):
        for draw in (careful, any_rows):
            centers = draw(qed.rows(X, sample_weight=weight), 2, seed)[0]
            assert {tuple(row) for row in centers} == {tuple(X[3]), tuple(X[11])}


@pytest.mark.parametrize("streamed", [False, True])
def test_going_on_from_any_draw_is_going_on(streamed):
    rows = (Streamed if streamed else ArrayRows)(table(2000), size=300)
    whole = list(spread_out(rows, 7, 0, 2))
    for number, (centers, _) in enumerate(whole[:-1]):
        for (a, b), (c, d) in zip(spread_out(rows, 7, 0, 2, drawn=centers), whole[number + 1 :], strict=True):
            np.testing.assert_array_equal(a, c)
            np.testing.assert_array_equal(b, d)


def test_points_fill_their_box():
    low, high = np.array([-1.0, 5.0]), np.array([1.0, 6.0])
    points = any_points(low, high, 500, 0, 2)
    assert points.shape == (2, 500, 2) and (points >= low).all() and (points <= high).all()
    # The mean of 500 uniform numbers is within five standard errors of the middle.
    np.testing.assert_allclose(points.mean(axis=1), [(low + high) / 2] * 2, atol=5 * 2 / np.sqrt(12 * 500))
    np.testing.assert_array_equal(points[:1], any_points(low, high, 500, 0, 1))
