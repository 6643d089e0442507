"""Mini-batches: every row once, in an order that depends on the seed and the epoch, wherever the rows come from."""

import tracemalloc

import dask.dataframe as dask_frame
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import qed
from qed.base.engine import threads
from qed.base.errors import ParameterError
from qed.base.sources import order
from qed.base.sources.block import Block
from qed.base.sources.order import batches, shuffled, window_rows
from qed.stats.parts import Part


def numbered(n, **more):
    """Rows whose features, target and weights all tell their number."""
    number = np.arange(float(n))
    return qed.rows(np.column_stack([number, -number]), number + 0.5, sample_weight=number + 1, **more)


def seen(blocks):
    """Give the numbers of the rows of batches, after a check that all parts of a row travel together."""
    found = []
    for block in blocks:
        X = np.asarray(block.X.toarray() if sparse.issparse(block.X) else block.X)
        np.testing.assert_array_equal(X[:, 0], -X[:, 1])
        if block.y is not None:
            np.testing.assert_array_equal(block.y, X[:, 0] + 0.5)
        if block.weight is not None:
            np.testing.assert_array_equal(block.weight, X[:, 0] + 1)
        assert block.start == sum(map(len, found))
        found.append(X[:, 0].astype(int))
    return found


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 700),
    batch=st.integers(1, 300),
    seed=st.integers(0, 2**40),
    epoch=st.integers(0, 1000),
    window=st.sampled_from([1, 4, 16, 64, 256, 1024]),
)
def test_each_row_comes_once_and_only_the_last_batch_is_short(n, batch, seed, epoch, window):
    found = list(batches(n, window, seed, epoch, batch))
    assert sorted(np.concatenate(found).tolist()) == list(range(n))
    assert [len(part) for part in found] == [batch] * (n // batch) + ([n % batch] if n % batch else [])
    again = np.concatenate(list(batches(n, window, seed, epoch, max(1, batch // 2))))
    np.testing.assert_array_equal(again, np.concatenate(found))
    whole = list(shuffled(n, window, seed, epoch))
    assert all(len(part) <= max(window, order.CHUNKS) for part in whole)


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(2, 400),
    batch=st.integers(1, 100),
    size=st.integers(1, 500),
    seed=st.integers(0, 10**6),
    epoch=st.integers(0, 50),
)
def test_blocks_and_threads_do_not_matter(n, batch, size, seed, epoch):
    with threads(1):
        expected = seen(numbered(n).stream(seed, epoch, batch))
    with threads(2):
        found = seen(numbered(n, block_size=size).stream(seed, epoch, batch))
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]


def test_orders_differ_between_seeds_and_epochs():
    data = numbered(500)
    orders = [tuple(np.concatenate(seen(data.stream(seed, epoch, 64)))) for seed in range(3) for epoch in range(3)]
    assert len(set(orders)) == 9
    assert not any(found == tuple(range(500)) for found in orders)


def _doubled(block: Block) -> Block:
    return Block(2 * block.X, block.y, block.weight, block.start)


def test_every_source_gives_the_same_order(tmp_path, monkeypatch):
    monkeypatch.setenv("QED_CACHE_DIR", str(tmp_path / "cache"))
    # Windows of 64 rows, so that this table takes several of them.
    monkeypatch.setattr(order, "MOST_ROWS", 64)
    n = 300
    number = np.arange(float(n))
    frame = pd.DataFrame({"a": number, "b": -number, "y": number + 0.5, "w": number + 1})
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet", row_group_size=41)
    frame.to_csv(tmp_path / "t.csv", index=False)
    named = {"target": "y", "sample_weight": "w"}
    matrix = sparse.csr_array(frame[["a", "b"]].to_numpy())
    cut = dask_frame.from_pandas(frame, npartitions=7, sort=False)
    sources = {
        "frame": qed.rows(frame, **named),
        "parquet": qed.rows(tmp_path / "t.parquet", block_size=23, **named),
        "csv": qed.rows(tmp_path / "t.csv", **named),
        "dask": qed.rows(cut, **named),
        "part": Part(numbered(n + 50, block_size=31), np.arange(n + 50) < n),
        "part of a file": Part(qed.rows(tmp_path / "t.parquet", block_size=23, **named), np.ones(n, dtype=bool)),
        "cached": qed.rows(tmp_path / "t.parquet", **named).cached(),
    }
    expected = [part.tolist() for part in seen(numbered(n).stream(5, 2, 32))]
    for kind, source in sources.items():
        assert [part.tolist() for part in seen(source.stream(5, 2, 32))] == expected, kind
    rows = qed.rows(matrix, number + 0.5)
    first = [part.tolist() for part in seen(rows.stream(5, 2, 32))]
    spilt = rows.through(_doubled).through(_halved)
    assert [part.tolist() for part in seen(spilt.stream(5, 2, 32))] == first
    assert sorted(number for part in first for number in part) == list(range(n))


def _halved(block: Block) -> Block:
    return Block(0.5 * block.X, block.y, block.weight, block.start)


def test_labels_travel_with_their_rows(tmp_path):
    n = 200
    frame = pd.DataFrame({"a": np.arange(n), "label": [f"row {j}" for j in range(n)]})
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (qed.rows(frame, target="label"), qed.rows(tmp_path / "t.parquet", target="label", block_size=17)):
        for block in source.stream(1, 1, 30):
            assert block.y.tolist() == [f"row {int(j)}" for j in block.X[:, 0]]


def test_a_window_is_bounded_in_memory_and_mixes_far_rows():
    assert window_rows(1) == window_rows(64) == 1 << 16 and window_rows(10**6) == 64
    assert window_rows(4096) * 4096 * 8 <= 32 << 20
    parts = list(shuffled(1 << 18, 1 << 16, seed=0, epoch=0))
    assert [len(part) for part in parts] == [1 << 16] * 4
    # A window of sixteen chunks drawn from sixty-four spans most of the table.
    assert all(np.ptp(part) > 1 << 17 for part in parts)


@pytest.mark.parametrize(
    "wrong", [{"batch": 0}, {"batch": 1.5}, {"batch": True}, {"epoch": -1}, {"seed": None}, {"seed": -3}]
)
def test_what_makes_no_sense(wrong):
    asked = {"seed": 0, "epoch": 0, "batch": 8, **wrong}
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        numbered(10).stream(**asked)


def test_memory_stays_bounded(tmp_path):
    """A table of 61 MiB is streamed with a few batches and one window of row numbers in memory."""
    rng = np.random.default_rng(0)
    table = pa.table({f"x{j}": rng.standard_normal(1_000_000) for j in range(8)})
    pq.write_table(table, tmp_path / "t.parquet", compression="none")
    rows = qed.rows(tmp_path / "t.parquet").cached()
    tracemalloc.start()
    try:
        count = sum(len(block) for block in rows.stream(0, 1, 4096))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 1_000_000 and most < 8 << 20
