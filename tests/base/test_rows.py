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
def test_block_plan_depends_on_the_columns_alone(columns, size):
    assert block_rows(columns) == size


def test_a_sparse_plan_goes_by_the_stored_values():
    thin = sparse.random_array((100, 100_000), density=1e-4, random_state=np.random.default_rng(0), format="csc")
    data = ArrayRows(thin)
    assert data.X.format == "csr" and data.size > block_rows(100_000)


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
