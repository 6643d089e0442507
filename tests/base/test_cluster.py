"""Dask collections as rows: the same answer wherever the partitions are, even when a worker dies."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import qed
from qed.base.engine import add_pairwise, threads
from qed.base.errors import InputError, SourceError
from qed.base.sources.block import Block
from qed.base.sources.open import rows
from qed.stats.parts import Part

cloudpickle.register_pickle_by_value(sys.modules[__name__])
NAMES = ["a", "b", "c"]


class Spread:
    """Weight, mean and scatter, merged about the mean: a sum whose last bits show the order of addition."""

    def __init__(self, weight, mean, scatter):
        self.weight, self.mean, self.scatter = weight, mean, scatter

    @classmethod
    def of(cls, block):
        mean = block.X.mean(axis=0)
        centred = block.X - mean
        return cls(len(block), mean, centred.T @ centred)

    def __add__(self, other):
        weight = self.weight + other.weight
        gap = other.mean - self.mean
        scatter = self.scatter + other.scatter + np.outer(gap, gap) * (self.weight * other.weight / weight)
        return Spread(weight, self.mean + gap * (other.weight / weight), scatter)

    def same(self, other):
        return np.array_equal(self.mean, other.mean) and np.array_equal(self.scatter, other.scatter)


def starts(block):
    return [(block.start, len(block))]


def predict(block, slope):
    return block.X @ slope


def interrupted(block, folder):
    """Say which process works on the block, and do not end before one of them was killed."""
    Path(folder, f"{os.getpid()}-{block.start}").touch()
    for _ in range(1500):
        if Path(folder, "killed").exists():
            return Spread.of(block)
        time.sleep(0.01)
    raise TimeoutError("no worker was killed")


def make(n=1000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3)) + 100
    return X, rng.standard_normal(n), rng.random(n)


def frame(X, y=None, w=None):
    found = pd.DataFrame(X, columns=NAMES)
    if y is not None:
        found["price"] = y
    if w is not None:
        found["weight"] = w
    return found


@pytest.fixture(params=["here", "cluster"])
def place(request):
    """Run a test with Dask's scheduler in this process, and on a cluster of two worker processes."""
    if request.param == "cluster":
        yield request.getfixturevalue("cluster")
    else:
        with dask.config.set(scheduler="threads"):
            yield None


def test_array(place):
    X, y, w = make()
    found = rows(
        da.from_array(X, chunks=(256, 2)),
        da.from_array(y, chunks=300),
        sample_weight=da.from_array(w, chunks=1000),
        block_size=64,
    )
    assert (found.count(), found.n_features, found.dtype) == (1000, 3, np.float64)
    assert found.has_target and found.has_weight and found.target_names == () and found.target_is_number
    assert found.fold(Spread.of).same(rows(X, block_size=64).fold(Spread.of))
    assert found.fold(starts) == rows(X, block_size=64).fold(starts)
    slope = np.array([1.0, 2.0, 3.0])
    assert np.array_equal(found.map(predict, slope), rows(X, block_size=64).map(predict, slope))
    whole = found.array()
    assert np.array_equal(whole.X, X) and np.array_equal(whole.y, y) and np.array_equal(whole.weight, w)
    assert found.fold(lambda block: (block.y * block.weight).sum()) == pytest.approx(y @ w)


def test_frame(place):
    X, y, w = make()
    collection = dd.from_pandas(frame(X, y, w), npartitions=4, sort=False)
    found = rows(collection, target="price", sample_weight="weight", block_size=64)
    assert found.feature_names == ("a", "b", "c") and found.target_names == ("price",)
    assert found.numbers() is found and found.count() == 1000
    whole = found.array()
    assert np.array_equal(whole.X, X) and np.array_equal(whole.y, y) and np.array_equal(whole.weight, w)
    assert [block.start for block in found.blocks()] == [start for start, _ in found.fold(starts)]
    assert rows(collection, columns=["c", "a"]).array().X.tolist() == X[:, [2, 0]].tolist()
    both = rows(collection, target=["price", "weight"])
    assert np.array_equal(both.array().y, np.column_stack([y, w]))
    table = found.table()
    assert isinstance(table.array().X, pa.Table) and table.numbers().fold(Spread.of).same(found.fold(Spread.of))


def test_frame_with_target_beside_it(place):
    X, y, w = make()
    collection = dd.from_pandas(frame(X, y, w), npartitions=3, sort=False)
    found = rows(collection[NAMES], collection["price"], sample_weight=collection["weight"])
    assert found.feature_names == ("a", "b", "c") and found.target_names == ("price",)
    whole = found.array()
    assert np.array_equal(whole.X, X) and np.array_equal(whole.y, y) and np.array_equal(whole.weight, w)
    several = rows(collection[NAMES], collection[["price", "weight"]])
    assert several.target_names == ("price", "weight") and several.array().y.shape == (1000, 2)


def test_target_goes_by_position(tmp_path):
    """Neither the index nor the way in which Dask joins small files may move a target to another row."""
    X, y, _ = make()
    for i, part in enumerate(np.array_split(np.arange(1000), 10)):
        frame(X[part], y[part]).to_parquet(tmp_path / f"{i}.parquet")
    collection = dd.read_parquet(tmp_path)
    for found in (
        rows(collection, target="price"),
        rows(collection[NAMES], collection["price"]),
        rows(
            collection[["a", "b", "c"]],
            dd.from_pandas(pd.Series(y, index=range(1000, 0, -1)), npartitions=10, sort=False),
        ),
    ):
        whole = found.array()
        assert np.array_equal(whole.X, X) and np.array_equal(whole.y, y) and found.count() == 1000
    with pytest.raises(InputError, match="X has 10 partitions but y has 5"):
        rows(collection[NAMES], dd.from_pandas(pd.Series(y), npartitions=5))
    uneven = dd.from_map(lambda n: pd.Series(np.ones(n)), [99, 101] * 5, meta=pd.Series(dtype=float))
    with pytest.raises(InputError, match=r"partition of X has 100 rows but that of y has (99|101)"):
        rows(collection[NAMES], uneven).fold(starts)


@pytest.mark.parametrize("blocks", [1, 4])
def test_same_bits_as_one_table(blocks, place):
    """Partitions of a power of two of blocks, the last one shorter: the tree of additions is the same."""
    X, _, _ = make(3000)
    expected = rows(X, block_size=64).fold(Spread.of)
    assert rows(da.from_array(X, chunks=(64 * blocks, 3)), block_size=64).fold(Spread.of).same(expected)
    assert (
        rows(dd.from_pandas(frame(X), chunksize=64 * blocks, sort=False), block_size=64).fold(Spread.of).same(expected)
    )


def test_same_bits_on_any_threads_and_workers(cluster):
    X, _, _ = make(3000)
    collection = da.from_array(X, chunks=(700, 3))
    found = [rows(collection, block_size=64).fold(Spread.of)]
    for scheduler in ("sync", "threads"):
        for count in (1, 2, 5):
            with dask.config.set(scheduler=scheduler), threads(count):
                found.append(rows(collection, block_size=64).fold(Spread.of))
    assert all(other.same(found[0]) for other in found)


def test_same_bits_whether_partitions_have_travelled_or_not():
    """A part of columns that stand one after another has gaps between them, and none any more on another worker."""
    generator = np.random.default_rng(0)
    columns, y = 3 + generator.standard_normal((37, 600)), da.from_array(generator.standard_normal(600), chunks=150)
    stayed = da.from_array(columns, chunks=(37, 150)).T, y
    travelled = da.from_array(columns.T.copy(), chunks=(150, 37)), y
    found = [qed.GradientRidge(alpha=1.0).fit(*pair).coef_ for pair in (stayed, travelled)]
    np.testing.assert_array_equal(*found)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 700), st.sampled_from([1, 2, 4, 8]), st.integers(0, 99))
def test_adding_by_groups_is_adding_pairwise(n, blocks, seed):
    values = np.random.default_rng(seed).standard_normal(n).tolist()
    found = [add_pairwise(values[i : i + blocks]) for i in range(0, n, blocks)]
    while len(found) > 1:
        found = [add_pairwise(found[i : i + 8]) for i in range(0, len(found), 8)]
    assert found[0] == add_pairwise(values)


def test_types(place):
    table = pd.DataFrame(
        {
            "half": np.arange(4, dtype=np.float32),
            "whole": [1, 2, 3, 4],
            "nullable": pd.array([1, None, 3, 4], dtype="Int64"),
            "text": ["u", "v", None, "u"],
            "kind": pd.Categorical(["u", "v", "u", "u"]),
            "day": pd.to_datetime(["2020-01-01"] * 4),
        }
    )
    collection = dd.from_pandas(table, npartitions=2)
    assert rows(collection, columns=["half"]).dtype == np.float32
    assert rows(collection, columns=["half"]).array().X.dtype == np.float32
    found = rows(collection, columns=["half", "nullable"], target="whole")
    np.testing.assert_array_equal(found.array().X, [[0, 1], [1, np.nan], [2, 3], [3, 4]])
    assert found.array().y.dtype.kind == "i"
    labels = rows(collection, columns=["half"], target="kind")
    assert labels.array().y.tolist() == ["u", "v", "u", "u"] and not labels.target_is_number
    for name, words in {"text": "text", "kind": "categories", "day": "dates or times"}.items():
        with pytest.raises(InputError, match=f"'{name}' holds {words}"):
            rows(collection, columns=["half", name]).numbers()
        with pytest.raises(InputError, match=f"'{name}' holds {words}"):
            rows(collection, columns=["half", name]).fold(starts)
    assert rows(collection).table().array().X["text"].to_pylist() == ["u", "v", None, "u"]
    assert rows(da.ones((4, 2), dtype=np.float16, chunks=2)).array().X.dtype == np.float32
    assert rows(da.ones((4, 2), dtype=int, chunks=2)).array().X.dtype == np.float64


def test_empty_partitions(place):
    X, y, _ = make(1000)
    collection = dd.from_pandas(frame(X, y).assign(number=range(1000)), npartitions=10, sort=False)
    chosen = collection[collection["number"] >= 450]
    found = rows(chosen[[*NAMES, "price"]], target="price", block_size=64)
    assert found.count() == 550 and found.fold(starts)[0] == (0, 50)
    assert np.array_equal(found.array().X, X[450:])
    with pytest.raises(InputError, match="all partitions are empty"):
        rows(collection[collection["number"] < 0], target="price").fold(starts)
    kept = da.from_array(X, chunks=(100, 3))
    kept = kept[da.from_array(X[:, 0], chunks=100) > 100]
    assert np.array_equal(rows(kept).array().X, X[X[:, 0] > 100])


def test_cached_partitions_stay_on_the_cluster(place):
    X, y, _ = make(1000)
    found = rows(dd.from_pandas(frame(X, y), npartitions=4, sort=False), target="price", block_size=64)
    kept = found.cached()
    assert (kept is found) == (place is None)
    assert kept.fold(Spread.of).same(found.fold(Spread.of)) and kept.fold(starts) == found.fold(starts)
    assert kept.count() == 1000 and np.array_equal(kept.array().y, y) and kept.has_target


def shifted(block, by):
    return Block(block.X + by if by else block.X, block.y, block.weight, block.start)


class Where:
    """The sum of the features, and the processes that worked it out."""

    def __init__(self, total, places):
        self.total, self.places = total, places

    @classmethod
    def of(cls, block):
        return cls(block.X.sum(axis=0), {os.getpid()})

    def __add__(self, other):
        return Where(self.total + other.total, self.places | other.places)


@pytest.mark.parametrize("chosen", [slice(0, 200), slice(450, None), slice(7, 8), slice(0, None, 3)])
@pytest.mark.sampled(3)
def test_views_are_folded_where_the_partitions_are(chosen, place):
    X = np.random.default_rng(0).standard_normal((500, 3))
    mask = np.zeros(500, dtype=bool)
    mask[chosen] = True
    source = rows(da.from_array(X, chunks=(90, 3)), da.from_array(X[:, 0], chunks=90), block_size=32)
    views = [
        (source.through(shifted, 3.0), X + 3),
        (Part(source, mask), X[mask]),
        (Part(source, mask).through(shifted, 1.0), X[mask] + 1),
        (Part(source.through(shifted, 1.0), mask), X[mask] + 1),
    ]
    for view, expected in views:
        for found in (view, view.cached()):
            seen = found.fold(Where.of)
            np.testing.assert_allclose(seen.total, expected.sum(axis=0), atol=1e-12)
            assert place is None or os.getpid() not in seen.places
            assert found.count() == len(expected) == sum(found.each(len))
            assert found.fold(starts)[0][0] == 0 and sum(found.fold(starts)[-1]) == len(expected)
            np.testing.assert_array_equal(found.array().X, expected)
            assert (found.n_features, found.is_sparse, found.target_dtype) == (3, False, np.float64)


def test_sparse_chunks_stay_sparse(place):
    X = sparse.random_array((90, 5), density=0.3, format="csr", rng=np.random.default_rng(0))
    chunks = [da.from_delayed(dask.delayed(X[k : k + 30]), (30, 5), meta=X[:0]) for k in (0, 30, 60)]
    found = rows(da.concatenate(chunks))
    assert found.is_sparse and found.through(shifted, 0).is_sparse
    assert found.through(shifted, 0).fold(lambda block: float(block.X.sum())) == pytest.approx(X.sum())


def test_one_partition_and_one_row():
    found = rows(da.ones((1, 2), chunks=1), da.zeros(1, chunks=1))
    assert found.fold(len) == 1 and isinstance(next(iter(found.blocks())), Block)


def test_streaming_keeps_few_partitions_here():
    """Whoever stops after the first block has not asked for the others."""
    read = []

    def piece(block_info=None):
        read.append(1)
        return np.ones((10, 2))

    collection = da.map_blocks(piece, chunks=((10,) * 50, (2,)), dtype=float, meta=np.ones((0, 2)))
    with dask.config.set(scheduler="threads"), threads(2):
        assert len(next(iter(rows(collection).blocks()))) == 10
    assert len(read) < 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a, f: rows(a, target="y"), "no names"),
        (lambda a, f: rows(a, sample_weight="w"), "no names"),
        (lambda a, f: rows(a[:, 0]), "A Dask Array is no table.*two dimensions"),
        (lambda a, f: rows(a.astype(str)), "holds no numbers"),
        (lambda a, f: rows(a, np.ones(4)), "y is no Dask array.*from_array"),
        (lambda a, f: rows(a, da.ones(5)), "inconsistent numbers of samples: 4 and 5"),
        (lambda a, f: rows(a[:0]), "0 sample"),
        (lambda a, f: rows(f, np.ones(4)), "y is no Dask collection"),
        (lambda a, f: rows(f, f["a"], target="a"), "given twice"),
        (lambda a, f: rows(f["a"]), "is no table"),
        (lambda a, f: rows(f, target="prise"), "no column 'prise'. Did you mean 'price'"),
        (lambda a, f: rows(f, target=["a", "price"]), "none is left as a feature"),
        (lambda a, f: rows(dask.delayed(1)), "is no table"),
        (lambda a, f: rows(f, sample_weight="a").fold(starts), "weight of row 2 .* is -1.0"),
        (
            lambda a, f: rows(a, sample_weight=da.from_array([1.0, 1, 1, np.nan], chunks=1)).fold(starts),
            "weight of row 3",
        ),
    ],
)
def test_bad_collections(call, message):
    table = pd.DataFrame({"a": [1.0, 2.0, -1.0, 3.0], "price": [1.0, 2.0, 3.0, 4.0]})
    with dask.config.set(scheduler="sync"), pytest.raises(InputError, match=message):
        call(da.ones((4, 2), chunks=2), dd.from_pandas(table, npartitions=2, sort=False))


def test_errors_of_the_work_pass_through(place):
    def fail(block):
        raise ZeroDivisionError(f"row {block.start}")

    with pytest.raises(ZeroDivisionError, match="row 0"):
        rows(da.ones((4, 2), chunks=4)).fold(fail)
    mixed = dd.from_map(lambda i: pd.DataFrame({"a": [[1.0], ["u"]][i]}), [0, 1], meta={"a": float})
    with pytest.raises(InputError, match="'a' differs between partitions"):
        rows(mixed).fold(starts)


def kill_one_at_work(client, folder, killed):
    """Kill the first worker that is seen inside a block."""
    workers = set(client.run(os.getpid).values())
    for _ in range(1000):
        busy = {int(name.split("-")[0]) for name in os.listdir(folder)} & workers
        if busy:
            killed.append(min(busy))
            os.kill(killed[0], signal.SIGKILL)
            Path(folder, "killed").touch()
            return
        time.sleep(0.01)


def test_a_worker_is_killed_in_the_middle_of_a_fold(cluster, tmp_path):
    X, _, _ = make(1024)
    source = dd.from_pandas(frame(X), chunksize=128, sort=False)
    found = rows(source, block_size=128)
    assert found.count() == 1024
    killed: list[int] = []
    killer = threading.Thread(target=kill_one_at_work, args=(cluster, tmp_path, killed))
    killer.start()
    total = found.fold(interrupted, str(tmp_path))
    killer.join()
    assert len(killed) == 1 and killed[0] not in cluster.run(os.getpid).values()
    blocks = [name.split("-")[1] for name in os.listdir(tmp_path) if "-" in name]
    assert len(set(blocks)) == 8 and len(blocks) > 8
    assert total.same(rows(X, block_size=128).fold(Spread.of))


def test_work_that_kills_every_worker(cluster, monkeypatch):
    monkeypatch.setattr(cluster.cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(SourceError, match=r"cluster could not finish the work \(KilledWorker"):
        rows(da.ones((4, 2), chunks=4)).fold(lambda block: os._exit(1))
    assert rows(da.ones((4, 2), chunks=4)).fold(len) == 4
