"""Files as rows: the same blocks, the same bits as the table in memory."""

import gc
import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qed.base.engine import threads
from qed.base.errors import InputError
from qed.base.sources import readers, spill
from qed.base.sources.files import FileRows, cut
from qed.base.sources.open import rows
from qed.base.sources.paths import suffix_of
from qed.base.sources.rows import ArrayRows
from qed.base.sources.spill import Pages

N = 1000
NAMES = ["a", "b", "c"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    columns = {name: rng.standard_normal(N) for name in NAMES}
    return pa.table({**columns, "price": rng.standard_normal(N), "weight": rng.random(N)})


def matrix(table):
    return np.column_stack([table[name].to_numpy() for name in NAMES])


def write(table, path):
    """Write a table in the format that the path asks for, in pieces of odd sizes."""
    kind = suffix_of(str(path))
    if kind in (".parquet", ".pq"):
        pa.parquet.write_table(table, path, row_group_size=77)
    elif kind == ".feather":
        pa.feather.write_feather(table, path, chunksize=77)
    elif kind == ".arrow":
        with pa.ipc.new_stream(path, table.schema) as sink:
            sink.write_table(table, max_chunksize=77)
    else:
        options = pa.csv.WriteOptions(delimiter="\t" if kind == ".tsv" else ",")
        with (
            pa.CompressedOutputStream(path, "gzip") if str(path).endswith("gz") else pa.OSFile(str(path), "wb") as sink
        ):
            pa.csv.write_csv(table, sink, options)
    return str(path)


def gram(block):
    return block.X.T @ block.X


def starts(block):
    return [(block.start, len(block))]


FORMATS = ["t.parquet", "t.pq", "t.csv", "t.tsv", "t.csv.gz", "t.feather", "t.arrow"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_is_the_table(name, table, tmp_path):
    found = rows(write(table, tmp_path / name), target="price", sample_weight="weight", block_size=128)
    X = matrix(table)
    assert isinstance(found, FileRows) and not found.in_memory
    assert (found.count(), found.n_features, found.dtype) == (N, 3, np.float64)
    assert found.feature_names == ("a", "b", "c") and found.target_names == ("price",) and found.target_is_number
    for block in found.blocks():
        stop = block.start + len(block)
        assert np.array_equal(block.X, X[block.start : stop]) and block.X.flags.c_contiguous
        assert np.array_equal(block.y, table["price"].to_numpy()[block.start : stop])
        assert np.array_equal(block.weight, table["weight"].to_numpy()[block.start : stop])
    assert found.fold(starts) == [(i, min(128, N - i)) for i in range(0, N, 128)]
    whole = found.array()
    assert np.array_equal(whole.X, X) and np.array_equal(whole.y, table["price"].to_numpy())
    view = found.table()
    assert view.dtype == object and view.numbers().dtype == np.float64
    assert view.array().X.equals(table.select(NAMES)) and view.fold(starts) == found.fold(starts)


@pytest.mark.parametrize("name", FORMATS)
def test_same_bits_as_in_memory_on_any_threads(name, table, tmp_path):
    path = write(table, tmp_path / name)
    expected = rows(matrix(table), block_size=64).fold(gram)
    for count in (1, 2, 3):
        with threads(count):
            found = rows(path, columns=NAMES, block_size=64)
            assert np.array_equal(found.fold(gram), expected)
            assert np.array_equal(found.cached().fold(gram), expected)


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_blocks_cross_files(name, table, tmp_path):
    for i, (start, stop) in enumerate([(0, 300), (300, 301), (301, 1000)]):
        write(table.slice(start, stop - start), tmp_path / f"part-{i}-{name}")
    expected = rows(matrix(table), block_size=64).fold(gram)
    for source in (
        str(tmp_path / f"part-*-{name}"),
        tmp_path,
        [tmp_path / f"part-{i}-{name}" for i in range(3)],
        [str(tmp_path / f"part-0-{name}"), str(tmp_path / f"part-[12]-{name}")],
    ):
        found = rows(source, columns=NAMES, block_size=64)
        assert found.count() == N and np.array_equal(found.fold(gram), expected)
    turned = rows([tmp_path / f"part-{i}-{name}" for i in (2, 0, 1)], columns=NAMES)
    assert np.array_equal(turned.array().X[:3], matrix(table)[301:304])


def test_target_and_weights_as_arrays(table, tmp_path):
    path = write(table, tmp_path / "t.parquet")
    y, w = np.arange(N), np.linspace(0, 1, N)
    found = rows(path, y, sample_weight=w, columns=NAMES, block_size=100)
    assert found.has_target and found.has_weight and found.target_names == ()
    assert found.fold(lambda block: block.y.sum()) == y.sum()
    assert np.array_equal(found.array().weight, w) and np.array_equal(found.cached().y, y)
    labelled = rows(path, ["u"] * N, columns=NAMES)
    assert not labelled.target_is_number and labelled.cached().target_names == ()
    with pytest.raises(InputError, match="inconsistent numbers of samples: 1000 and 3"):
        rows(path, [1, 2, 3])
    named = rows(path, "price")
    assert named.target_names == ("price",) and named.fold(len) == N
    with pytest.raises(InputError, match="no column 'prize'. Did you mean 'price'"):
        rows(path, "prize")
    with pytest.raises(InputError, match="is a path: give the name"):
        rows(path, tmp_path / "y.npy")
    with pytest.raises(InputError, match="given twice"):
        rows(path, y, target="price")


def test_types(tmp_path):
    table = pa.table(
        {
            "half": pa.array([1, 2, 3], pa.float32()),
            "single": pa.array([1, None, 3], pa.float32()),
            "whole": [1, None, 3],
            "label": [3, 1, 2],
            "flag": [True, False, None],
            "text": ["u", None, "v"],
        }
    )
    for name in ("t.parquet", "t.feather"):
        path = write(table, tmp_path / name)
        found = rows(path, columns=["half", "single"], target="label")
        assert found.dtype == np.float32 and found.array().X.dtype == np.float32
        assert found.cached().dtype == np.float32
        assert found.array().y.dtype.kind == "i"
        found = rows(path, columns=["whole", "flag"], target=["label", "single"])
        np.testing.assert_array_equal(found.array().X, [[1, 1], [np.nan, 0], [3, np.nan]])
        np.testing.assert_array_equal(found.array().y, [[3, 1], [1, np.nan], [2, 3]])
        assert rows(path, columns=["half"], target="text").array().y.tolist() == ["u", None, "v"]
        assert not rows(path, columns=["half"], target="text").target_is_number
        with pytest.raises(InputError, match=r"'text' holds text"):
            rows(path).numbers()
        with pytest.raises(InputError, match=r"'text' holds text"):
            rows(path).fold(gram)
        with pytest.raises(InputError, match=r"'text' holds text"):
            rows(path).cached()
        assert rows(path).table().array().X.equals(table)


def test_types_of_csv(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "\ufeffday,time,number,missing,text,flag\r\n"
        '2020-01-31,2020-01-31 10:00:00,1,?,"a, b",true\r\n'
        "\r\n"
        ',,NA,,"two\nlines",\r\n'
        "2020-02-01,2020-01-31T10:00:00.5,2.5,null,,false\r\n"
    )
    found = rows(path)
    data = found.table().array().X
    assert found.count() == 3
    assert pa.types.is_timestamp(data.schema.field("day").type) and pa.types.is_timestamp(
        data.schema.field("time").type
    )
    assert data["day"].to_pylist()[0].isoformat() == "2020-01-31T00:00:00"
    assert data["number"].to_pylist() == [1.0, None, 2.5]
    assert data["text"].to_pylist() == ["a, b", "two\nlines", None]
    assert data["flag"].to_pylist() == [True, None, False]
    numbers = rows(path, columns=["number", "missing", "flag"]).array().X
    np.testing.assert_array_equal(numbers, [[1, np.nan, 1], [np.nan] * 3, [2.5, np.nan, 0]])
    with pytest.raises(InputError, match="'day' holds dates or times"):
        found.numbers()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_and_row_names(delimiter, tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}, index=[5, 6])
    path = tmp_path / "t.csv"
    frame.to_csv(path, sep=delimiter)
    assert rows(path).feature_names == ("a", "b")
    assert rows(path).array().X.tolist() == [[1.0, 3.0], [2.0, 4.0]] and rows(path).count() == 2
    frame.to_parquet(tmp_path / "t.parquet")
    assert rows(tmp_path / "t.parquet").feature_names == ("a", "b")


def test_whole_numbers_that_get_a_fraction_later(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "SAMPLE_BYTES", 400)
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "1,,7\n" * 500 + "1.5,2,7\n")
    found = rows(path, target="c")
    assert found.count() == 501
    np.testing.assert_array_equal(found.array().X[[0, 500]], [[1, np.nan], [1.5, 2]])
    monkeypatch.undo()
    assert rows(path, target="c").array().y.dtype.kind == "i"


def test_files_may_differ_in_width_of_numbers_and_order_of_columns(tmp_path):
    write(pa.table({"a": pa.array([1, 2], pa.int32()), "b": pa.array([1, 2], pa.float32())}), tmp_path / "0.parquet")
    write(pa.table({"b": pa.array([3.5], pa.float64()), "a": pa.array([0.5], pa.float32())}), tmp_path / "1.parquet")
    write(pa.table({"a": pa.nulls(1), "b": pa.nulls(1, pa.float64())}), tmp_path / "2.parquet")
    found = rows(tmp_path / "*.parquet")
    np.testing.assert_array_equal(found.array().X, [[1, 1], [2, 2], [0.5, 3.5], [np.nan, np.nan]])
    assert found.table().array().X.schema.types == [pa.float64(), pa.float64()]
    for i, values in enumerate((["u", "v"], ["w", "u"])):
        write(pa.table({"k": pa.array(values).dictionary_encode()}), tmp_path / f"k{i}.parquet")
    assert rows(tmp_path / "k*.parquet").table().array().X["k"].to_pylist() == ["u", "v", "w", "u"]
    write(pa.table({"x": [1.0]}).slice(0, 0), tmp_path / "e0.parquet")
    write(pa.table({"x": [1.0]}), tmp_path / "e1.parquet")
    assert rows(tmp_path / "e*.parquet").array().X.tolist() == [[1.0]]


def test_cached_blocks_live_in_a_file_as_long_as_the_rows(table, tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("QED_CACHE_DIR", str(folder))
    source = write(table, tmp_path / "t.parquet")
    found = rows(source, target="price", sample_weight="weight", block_size=64)
    kept = found.cached()
    assert isinstance(kept, ArrayRows) and isinstance(kept.X, np.memmap) and kept is found.cached()
    assert kept.fold(starts) == found.fold(starts) and kept.feature_names == found.feature_names
    assert np.array_equal(kept.X, matrix(table)) and np.array_equal(kept.y, found.array().y)
    assert kept.target_names == ("price",) and kept.cached() is kept
    files = list(folder.glob("*/*"))
    assert {file.name for file in files} == {"X.npy", "y.bin", "weight.bin"}
    assert np.array_equal(np.load(next(folder.glob("*/X.npy"))), matrix(table))
    os.remove(source)
    assert np.array_equal(kept.fold(gram), rows(matrix(table), block_size=64).fold(gram))
    del found, kept
    gc.collect()
    assert list(folder.iterdir()) == []


def test_default_plan_is_that_of_the_array(tmp_path):
    X = np.random.default_rng(1).standard_normal((300_000, 2))
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), path, row_group_size=100_000)
    assert rows(path).fold(starts) == rows(X).fold(starts) == [(75_000 * k, 75_000) for k in range(4)]
    assert np.array_equal(rows(path).fold(gram), rows(X).fold(gram))
    assert np.array_equal(rows(path).cached().fold(gram), rows(X).fold(gram))


def test_the_plan_of_a_csv_file_does_not_depend_on_having_been_counted(tmp_path):
    X = np.random.default_rng(1).integers(0, 10, (140_000, 2))
    path = tmp_path / "t.csv"
    pa.csv.write_csv(pa.table({"a": X[:, 0], "b": X[:, 1]}), path)
    expected = [(0, 131_072), (131_072, 140_000 - 131_072)]
    fresh, counted = rows(path), rows(path)
    assert fresh.fold(starts) == expected and fresh.fold(starts) == expected
    assert counted.count() == len(X) and counted.fold(starts) == expected


def test_npy(tmp_path):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((500, 4)), rng.standard_normal(500)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    np.save(tmp_path / "w.npy", np.ones(500))
    found = rows(tmp_path / "X.npy", tmp_path / "y.npy", sample_weight=str(tmp_path / "w.npy"), block_size=64)
    assert type(found) is ArrayRows and isinstance(found.X, np.memmap) and found.has_weight
    assert np.array_equal(found.fold(gram), rows(X, block_size=64).fold(gram)) and np.array_equal(found.y, y)
    np.save(tmp_path / "part-0.npy", X[:123].astype(np.float32))
    np.save(tmp_path / "part-1.npy", X[123:])
    joined = rows(tmp_path / "part-*.npy", y, block_size=64)
    expected = np.concatenate([X[:123].astype(np.float32), X[123:]])
    assert joined.dtype == np.float64 and joined.count() == 500 and np.array_equal(joined.array().X, expected)
    assert np.array_equal(joined.fold(gram), rows(expected, block_size=64).fold(gram))
    assert joined.table().array().X.num_rows == 500
    np.save(tmp_path / "i.npy", np.arange(6).reshape(3, 2))
    whole = rows(tmp_path / "i.npy", ["u", "v", "u"])
    assert whole.dtype == np.float64 and whole.array().X.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert whole.array().X.dtype == np.float64 and not whole.target_is_number


def test_home_folder_and_upper_case(table, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    pa.csv.write_csv(table, tmp_path / "T.CSV")
    with gzip.open(tmp_path / "u.csv.gz", "wb") as packed:
        packed.write(Path(tmp_path / "T.CSV").read_bytes())
    assert np.array_equal(rows("~/T.CSV").fold(gram), rows("~/u.csv.gz").fold(gram))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 12), max_size=12), st.integers(1, 9))
def test_cut_keeps_rows_and_sizes(lengths, size):
    ends = np.cumsum(lengths, dtype=int).tolist()
    batches = [
        pa.record_batch({"a": list(range(end - n, end))}, schema=pa.schema({"a": pa.int64()}))
        for n, end in zip(lengths, ends)
    ]
    found = [part["a"].to_pylist() for part in cut(batches, size)]
    n = ends[-1] if ends else 0
    assert found == [list(range(i, min(i + size, n))) for i in range(0, n, size)]


MEMORY = """
import resource, sys
from qed.base.engine import threads
from qed.base.sources.open import rows

def total(block):
    return block.X.sum(axis=0)

with threads(2):
    rows(sys.argv[1]).fold(total)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows(sys.argv[2]).fold(total)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_memory_does_not_grow_with_the_file(tmp_path):
    """A file of one row group, the worst case, of 153 MiB needs no more memory than one of an eighth of it, give or take."""
    rng = np.random.default_rng(3)
    large = pa.table({f"x{j}": rng.standard_normal(2_500_000) for j in range(8)})
    for name, part in (("small", large.slice(0, 312_500)), ("large", large)):
        pa.parquet.write_table(part, tmp_path / f"{name}.parquet", row_group_size=10**7, compression="none")
    script = [sys.executable, "-c", MEMORY, str(tmp_path / "small.parquet"), str(tmp_path / "large.parquet")]
    grown = int(subprocess.run(script, capture_output=True, text=True, check=True).stdout)
    assert grown < 100


def held_of(path):
    """Say how many bytes of a mapped file are in the memory of this process."""
    found, inside = 0, False
    with open("/proc/self/smaps") as file:
        for line in file:
            if "-" in line.split()[0] and not line.split()[0].endswith(":"):
                inside = line.rstrip().endswith(str(path))
            elif inside and line.startswith("Rss:"):
                found += 1024 * int(line.split()[1])
    return found


@pytest.mark.parametrize("way", ["matrix", "several", "target"])
def test_pages_of_mapped_files_are_given_back(way, tmp_path, monkeypatch):
    """Of 32 MiB no more than a quarter stays, and the sum is that of the array."""
    monkeypatch.setattr(spill, "MOST_PAGES", 1 << 22)
    values, path = np.random.default_rng(0).standard_normal((1 << 20, 4)), tmp_path / "values.npy"
    np.save(path, values)
    if way == "target":
        np.save(path, values.ravel())
        X = np.arange(float(values.size))[:, None]
        sources = [rows(X, y, block_size=1 << 15) for y in (np.load(path, mmap_mode="r"), values.ravel())]
    else:
        twice = np.concatenate([values, values])
        given = ([path, path], twice) if way == "several" else (path, values)
        sources = [rows(X, block_size=1 << 15) for X in given]
    with threads(1):
        sums = [rows.fold(lambda block: (block.X if block.y is None else block.y).sum()) for rows in sources]
    assert sums[0] == sums[1] and held_of(path) <= 1 << 23


def test_pages_of_rows_that_are_taken_one_by_one_are_given_back(tmp_path, monkeypatch):
    monkeypatch.setattr(spill, "MOST_PAGES", 1 << 22)
    path, values = tmp_path / "values.npy", np.random.default_rng(0).standard_normal((1 << 20, 4))
    np.save(path, values)
    source = rows(path)
    assert source.X.sum() == values.sum() and held_of(path) >= values.nbytes
    batches = source.stream(seed=0, epoch=0, batch=1 << 18)
    for batch, expected in zip(batches, rows(values).stream(seed=0, epoch=0, batch=1 << 18)):
        np.testing.assert_array_equal(batch.X, expected.X)
    source.pages.taken(np.arange(1 << 20))
    assert held_of(path) <= 1 << 20


def test_pages_that_are_not_the_files_alone_are_kept(tmp_path, monkeypatch):
    """What was written to a copy of a file in memory is not lost."""
    monkeypatch.setattr(spill, "MOST_PAGES", 1 << 16)
    np.save(tmp_path / "X.npy", np.zeros((1 << 16, 4)))
    X = np.load(tmp_path / "X.npy", mmap_mode="c")
    X[:] = 1.0
    assert rows(X, block_size=1 << 10).fold(lambda block: block.X.sum()) == X.size == X.sum()
    assert len(Pages.of(np.load(tmp_path / "X.npy", mmap_mode="r")).maps) == 1
