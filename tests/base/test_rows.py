"""Rows of arrays: blocks are views, the plan depends on the data alone."""

import numpy as np
import pytest
from scipy import sparse

from qed.base.errors import InputError
from qed.base.sources.block import Block, block_rows
from qed.base.sources.open import rows
from qed.base.sources.rows import ArrayRows


def test_blocks_are_views_and_cover_all_rows_once():
    X, y, w = np.arange(46.0).reshape(23, 2), np.arange(23), np.ones(23)
    data = ArrayRows(X, y, w, size=5)
    blocks = list(data.blocks())
    assert [block.start for block in blocks] == [0, 5, 10, 15, 20]
    assert all(np.shares_memory(block.X, X) for block in blocks)
    np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), y)
    assert data.count() == 23 and data.has_target and data.has_weight


@pytest.mark.parametrize(("columns", "size"), [(1, 1 << 17), (100, 16384), (10**6, 256)])
def test_the_plan_of_uncounted_rows_depends_on_the_columns_alone(columns, size):
    assert block_rows(columns) == size


@pytest.mark.parametrize("columns", [1, 3, 12, 50, 100, 500, 3000])
@pytest.mark.parametrize("count", [1, 2000, 20_000, 100_001, 800_000, 3_000_000])
def test_counted_rows_are_cut_into_equal_blocks(columns, count):
    size = block_rows(columns, count)
    blocks = -(-count // size)
    assert size <= block_rows(columns)
    assert blocks in (1, 2, 4, 8) or blocks % 8 == 0
    assert 0 <= blocks * size - count < blocks
    assert blocks == 1 or size >= 512 or size > block_rows(columns) // 2


def test_small_tables_are_one_block_and_larger_ones_feed_several_threads():
    assert block_rows(3, 5000) == 5000 and block_rows(2000, 1000) == 1000 and block_rows(2000, 3000) == 1500
    data = ArrayRows(np.zeros((20_000, 50)))
    assert [piece.count for piece in data.pieces()] == [20_000 // 8] * 8


def test_a_sparse_plan_goes_by_the_stored_values():
    thin = sparse.random_array((100, 100_000), density=1e-4, random_state=np.random.default_rng(0), format="csc")
    data = ArrayRows(thin)
    assert data.X.format == "csr" and data.size == 100
    many = sparse.random_array((4000, 100_000), density=1e-4, random_state=np.random.default_rng(0), format="csr")
    assert ArrayRows(many).size == 4000 > block_rows(100_000)


def test_map_joins_in_order():
    X = np.arange(30.0)[:, None]
    np.testing.assert_array_equal(ArrayRows(X, size=7).map(lambda block: block.X[:, 0] * 2), np.arange(30.0) * 2)


def test_take_by_mask_and_by_index():
    block = Block(np.arange(8.0).reshape(4, 2), np.arange(4), np.arange(4.0), 10)
    assert block.take(np.array([True, False, False, True])).y.tolist() == [0, 3]
    assert block.take(np.array([2, 1])).X[:, 0].tolist() == [4.0, 2.0]


def test_names_for_messages():
    assert ArrayRows(np.ones((1, 2)), feature_names=["a", "b"]).name_of(1) == "'b'"
    assert ArrayRows(np.ones((1, 2))).name_of(1) == "number 1"


def test_rows_of_rows_take_no_second_target():
    data = rows(np.ones((3, 1)), [1, 2, 3])
    assert rows(data) is data
    with pytest.raises(InputError, match="rows already"):
        rows(data, [1, 2, 3])


def test_all_rows_as_one_block():
    X = np.arange(20.0).reshape(10, 2)
    whole = ArrayRows(X, np.arange(10), size=3).array()
    assert whole.X is X and len(whole) == 10
