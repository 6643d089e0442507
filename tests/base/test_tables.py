"""Arrays, frames and sparse matrices as rows."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from qed.base.engine import threads
from qed.base.errors import InputError, ParameterError
from qed.base.sources.layout import Layout, did_you_mean, matrix_of, weight_of
from qed.base.sources.open import rows
from qed.base.sources.rows import ArrayRows


def make(n=1000, p=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)), rng.standard_normal(n), rng.random(n)


def gram(block):
    return block.X.T @ block.X


def first_rows(block):
    return [(block.start, len(block))]


NAMES = ["a", "b", "c"]
FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas by columns": lambda X: pd.DataFrame({name: X[:, j].copy() for j, name in enumerate(NAMES)}),
    "pandas nullable": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(),
    "pandas on arrow": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "polars lazy": lambda X: pl.DataFrame(X, schema=NAMES).lazy(),
    "arrow": lambda X: pa.table(dict(zip(NAMES, X.T))),
    "arrow in chunks": lambda X: pa.concat_tables(
        [pa.table(dict(zip(NAMES, part.T))) for part in np.array_split(X, 7)]
    ),
    "record batch": lambda X: pa.record_batch(dict(zip(NAMES, X.T))),
    "stream": lambda X: pa.table(dict(zip(NAMES, X.T))).to_reader(),
    "dictionary": lambda X: dict(zip(NAMES, X.T)),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_gives_the_same_numbers(kind):
    X, y, w = make()
    found = rows(FRAMES[kind](X), y, sample_weight=w, block_size=256)
    assert found.feature_names == ("a", "b", "c")
    assert (found.count(), found.n_features, found.dtype) == (1000, 3, np.float64)
    assert found.has_target and found.has_weight
    whole = found.numbers().array()
    assert np.array_equal(whole.X, X) and np.array_equal(whole.y, y) and np.array_equal(whole.weight, w)
    np.testing.assert_allclose(found.fold(gram), X.T @ X, rtol=1e-12)
    assert found.fold(first_rows) == [(0, 256), (256, 256), (512, 256), (768, 232)]
    table = found.table()
    assert isinstance(table.array().X, pa.Table) and table.count() == 1000
    assert np.array_equal(matrix_of(table.array().X, NAMES, np.float64), X)


@pytest.mark.parametrize("kind", FRAMES)
def test_target_weight_and_columns_by_name(kind):
    X, _, _ = make()
    X = np.abs(X)
    found = rows(FRAMES[kind](X), target="b", sample_weight="c")
    whole = found.array()
    assert found.feature_names == ("a",) and found.target_names == ("b",) and found.target_is_number
    assert (
        np.array_equal(whole.X, X[:, :1]) and np.array_equal(whole.y, X[:, 1]) and np.array_equal(whole.weight, X[:, 2])
    )
    again = rows(FRAMES[kind](X), columns=["c", "a"])
    assert again.feature_names == ("c", "a") and np.array_equal(again.array().X, X[:, [2, 0]])
    assert not again.has_target and again.target_names == ()
    several = rows(FRAMES[kind](X), target=["c", "b"])
    assert several.target_names == ("c", "b") and np.array_equal(several.array().y, X[:, [2, 1]])


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow in chunks"])
def test_bits_do_not_depend_on_threads(kind):
    X, _, _ = make(5000)
    with threads(1):
        one = rows(FRAMES[kind](X), block_size=512).fold(gram)
    with threads(2):
        two = rows(FRAMES[kind](X), block_size=512).fold(gram)
    assert np.array_equal(one, two)


def test_copied_frames_round_like_the_array():
    X, _, _ = make(5000)
    array = rows(X, block_size=512).fold(gram)
    for kind in ("polars", "arrow", "pandas nullable"):
        assert np.array_equal(rows(FRAMES[kind](X), block_size=512).fold(gram), array)


def test_nothing_is_copied_without_need():
    X, y, w = make()
    found = rows(X, y, sample_weight=w)
    assert isinstance(found, ArrayRows) and found.X is X and found.y is y and found.weight is w
    wide = np.asfortranarray(X)
    assert rows(wide).X is wide
    frame = pd.DataFrame(X, columns=NAMES, copy=False)
    assert np.shares_memory(rows(frame).array().X, X)
    consolidated = pd.DataFrame({name: X[:, j] for j, name in enumerate(NAMES)})
    assert np.shares_memory(rows(consolidated).array().X, consolidated.to_numpy())
    series = pd.Series(y, name="price")
    assert np.shares_memory(rows(X, series).y, series.to_numpy())
    narrow = X.astype(np.float32)
    assert rows(narrow).X is narrow and rows(narrow).dtype == np.float32
    matrix = sparse.csr_array(X)
    assert rows(matrix).X.data is matrix.data


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (">f8", np.float64),
        (np.longdouble, np.float64),
        (np.int8, np.float64),
        (np.uint64, np.float64),
        (bool, np.float64),
    ],
)
def test_types_of_arrays(given, dtype):
    X = np.array([[1, 0], [0, 1]]).astype(given)
    for source in (X, X.tolist() if given in (np.int8, bool) else X, np.asfortranarray(X)):
        found = rows(source)
        assert found.dtype == dtype and found.X.dtype == dtype and found.X.dtype.isnative
        assert np.array_equal(found.X, [[1, 0], [0, 1]])


def test_types_of_columns():
    table = pa.table(
        {
            "half": pa.array(np.array([1, 2], np.float16)),
            "single": pa.array([1, None], pa.float32()),
            "whole": pa.array([1, None], pa.int64()),
            "small": pa.array([1, 2], pa.uint8()),
            "flag": pa.array([True, None]),
            "money": pa.array([decimal.Decimal("1.25"), None]),
            "void": pa.nulls(2),
        }
    )
    assert rows(table, columns=["half", "single"]).dtype == np.float32
    found = rows(table)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(
        found.array().X, [[1, 1, 1, 1, 1, 1.25, np.nan], [2, np.nan, np.nan, 2, np.nan, np.nan, np.nan]]
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.Series([3, 1, 2]), np.array([3, 1, 2])),
        (pd.Series([3, None, 2], dtype="Int64"), np.array([3.0, np.nan, 2.0])),
        (pd.Series(["u", "v", None]), np.array(["u", "v", None], dtype=object)),
        (pd.Series(["u", "v", "u"], dtype="category"), np.array(["u", "v", "u"], dtype=object)),
        (pd.Series([True, False, True]), np.array([True, False, True])),
        (pl.Series("t", [1.5, None, 2.0]), np.array([1.5, np.nan, 2.0])),
        (pl.Series("t", ["u", "v", "u"]), np.array(["u", "v", "u"], dtype=object)),
        (pa.array([1, 2, 3]), np.array([1, 2, 3])),
        (pa.chunked_array([["u"], ["v", "w"]]), np.array(["u", "v", "w"], dtype=object)),
        (["u", "v", "u"], np.array(["u", "v", "u"])),
        ([1, 0, 1], np.array([1, 0, 1])),
        (pd.DataFrame({"s": [1, 2, 3], "t": [4.0, 5.0, 6.0]}), np.array([[1, 4.0], [2, 5.0], [3, 6.0]])),
    ],
)
def test_targets_come_as_they_are(values, expected):
    found = rows(np.ones((3, 1)), values).array().y
    assert found.dtype.kind == expected.dtype.kind
    np.testing.assert_array_equal(found, expected)


def test_names_and_kinds_of_targets():
    X = np.ones((2, 1))
    assert rows(X, pd.Series([1, 2], name="price")).target_names == ("price",)
    assert rows(X, [1, 2]).target_names == ()
    assert rows(X, [[1, 2], [3, 4]]).target_names == ()
    assert rows(X, pl.DataFrame({"s": [1, 2], "t": [3, 4]})).target_names == ("s", "t")
    assert rows(X, [1, 2]).target_is_number and rows(X, [True, False]).target_is_number
    assert not rows(X, ["u", "v"]).target_is_number
    frame = pl.DataFrame({"x": [1.0, 2.0], "kind": ["u", None]})
    found = rows(frame, target="kind")
    assert not found.target_is_number and not found.numbers().target_is_number
    assert found.array().y.tolist() == ["u", None]


def test_sparse():
    dense = np.diag(np.arange(1.0, 6.0))
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        found = rows(form(dense), block_size=2)
        assert found.X.format == "csr" and np.array_equal(found.X.toarray(), dense)
        assert found.fold(lambda block: block.X.sum()) == 15
    assert rows(sparse.csr_array(dense.astype(int))).dtype == np.float64
    with pytest.raises(InputError, match="sparse matrix"):
        rows(dense, sparse.csr_array(dense))


def test_objects_are_read_column_by_column():
    found = rows(np.array([[1, 2.5], [None, True]], dtype=object)[:, :1])
    np.testing.assert_array_equal(found.array().X, [[1], [np.nan]])
    assert found.feature_names is None
    mixed = rows(np.array([["u", 1.0], ["v", 2.0]], dtype=object))
    assert mixed.table().array().X.to_pydict() == {"x0": ["u", "v"], "x1": [1.0, 2.0]}
    with pytest.raises(InputError, match=r"'x0' holds text \(string\)"):
        mixed.numbers()
    with pytest.raises(InputError, match="Column number 1 holds values of several types"):
        rows(np.array([[1.0, 2.0], [1.0, {"a": 1}]], dtype=object))
    with pytest.raises(InputError, match="'x1' holds text"):
        rows([["1", "2"], ["3", "4"]], block_size=1).fold(gram)


def test_masked_values_are_missing():
    found = rows(np.ma.masked_equal(np.array([[1, 2], [3, 4]]), 3))
    np.testing.assert_array_equal(found.X, [[1, 2], [np.nan, 4]])


def test_numbered_columns_of_pandas_are_no_names():
    X, _, _ = make()
    found = rows(pd.DataFrame(X))
    assert found.feature_names is None and np.array_equal(found.array().X, X)


def test_index_of_pandas_is_no_column():
    frame = pd.DataFrame({"a": [1.0, 2.0], "s": ["u", "v"]}, index=[7, 9])
    assert rows(frame).table().feature_names == ("a", "s")


def test_text_dates_and_categories_are_refused_by_name():
    table = pa.table(
        {
            "x": [1.0],
            "city": ["Bern"],
            "day": [datetime.date(2020, 1, 1)],
            "kind": pa.array(["u"]).dictionary_encode(),
            "list": [[1, 2]],
        }
    )
    for column, words in {
        "city": r"text \(string\)",
        "day": r"dates or times \(date32\[day\]\)",
        "kind": r"categories \(dictionary",
        "list": r"nested or binary values \(list",
    }.items():
        found = rows(table, columns=["x", column])
        with pytest.raises(InputError, match=f"'{column}' holds {words}.*qed.ColumnEncoder.*columns="):
            found.numbers()
        with pytest.raises(InputError, match=column):
            found.fold(gram)
        assert found.table().array().X.column_names == ["x", column]
    with pytest.raises(InputError, match=r"'city' holds text .*, 'day' holds dates .*, 'kind'.*, 'list'"):
        rows(table).numbers()
    with pytest.raises(InputError, match="target 'day' holds dates"):
        rows(table, target="day")
    with pytest.raises(InputError, match="weights 'city' hold text"):
        rows(table, sample_weight="city")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: rows(f, target="prize"), "no column 'prize'. Did you mean 'price'"),
        (lambda f: rows(f, columns=["Area"]), "no column 'Area'. Did you mean 'area'"),
        (lambda f: rows(f, sample_weight="zzz"), "no column 'zzz'. There are: 'area', 'price'"),
        (lambda f: rows(f, [1, 2], target="price"), "given twice"),
        (lambda f: rows(f, columns="area"), "list of names"),
        (lambda f: rows(f, target="area", columns=["area"]), "'area' is asked for twice"),
        (lambda f: rows(f, target=["area", "price"]), "none is left as a feature"),
        (lambda f: rows(f, [1, 2, 3]), "inconsistent numbers of samples: 2 and 3"),
        (lambda f: rows(f, sample_weight=[1.0]), "X and sample_weight have inconsistent"),
        (lambda f: rows(f, sample_weight=[1.0, -1.0]), r"weight of row 1 .* is -1.0"),
        (lambda f: rows(f, sample_weight=[np.nan, 1.0]), r"weight of row 0 .* is nan"),
        (lambda f: rows(f, sample_weight=[1.0, np.inf]), r"weight of row 1 .* is inf"),
        (lambda f: rows(f, sample_weight=["u", "v"]), "must be numbers"),
        (lambda f: rows(f, sample_weight=[[1.0], [1.0]]), "must be a vector"),
        (lambda f: rows(f, np.ones((2, 2, 2))), "vector or a matrix"),
        (lambda f: rows(f.iloc[:0]), "0 sample"),
        (lambda f: rows(f[[]]), "0 feature"),
        (lambda f: rows(f.set_axis(["a", "a"], axis=1)), "'a' occurs more than once"),
        (lambda f: rows(f.assign(m=[1, "u"])), "can not be read.*column m"),
        (lambda f: rows(f["area"]), "Expected 2D array, got 1D.*Reshape your data"),
    ],
)
def test_bad_frames(call, message):
    with pytest.raises(InputError, match=message):
        call(pd.DataFrame({"area": [50.0, 80.0], "price": [1.0, 2.0]}))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rows(np.ones(3)), "Expected 2D array, got 1D.*Reshape your data"),
        (lambda: rows(np.ones((2, 2, 2))), "got 3D"),
        (lambda: rows(np.ones((0, 2))), "0 sample"),
        (lambda: rows(np.ones((2, 0))), r"0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1 is required"),
        (lambda: rows(np.ones((2, 2), complex)), "Complex data not supported"),
        (lambda: rows(np.ones((2, 2)), target="price"), "no names"),
        (lambda: rows(np.ones((2, 2)), columns=["a"]), "no names"),
        (lambda: rows(np.ones((2, 2)), sample_weight="w"), "no names"),
        (lambda: rows([[1, 2], [3]]), "differ in length"),
        (lambda: rows(np.ones((2, 1)), [[1, 2], [3]]), "differ in length"),
        (lambda: rows(np.ones((2, 1), "datetime64[D]")), "holds no numbers"),
        (lambda: rows(None), "got 0D"),
        (lambda: rows(np.ones((2, 1)), [1, 2, 3]), "inconsistent numbers of samples: 2 and 3"),
    ],
)
def test_bad_arrays(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_bad_block_size():
    for size in (0, -1, 1.5, True):
        with pytest.raises(ParameterError, match="block_size"):
            rows(np.ones((2, 2)), block_size=size)


def test_rows_of_rows():
    found = rows(np.ones((2, 2)))
    assert rows(found) is found
    with pytest.raises(InputError, match="rows already"):
        rows(found, [1, 2])


def test_did_you_mean():
    assert did_you_mean("AREA", ["area"]) == "Did you mean 'area'?"
    assert did_you_mean("x", [f"column {j}" for j in range(20)]).endswith("and 12 more.")


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.none() | st.floats(-5, 5), st.none() | st.integers(-9, 9), st.none() | st.booleans()), min_size=1
    ),
    st.integers(1, 9),
)
def test_matrix_of_any_chunks(records, size):
    names = ["f", "i", "b"]
    kinds = [pa.float64(), pa.int64(), pa.bool_()]
    columns = [pa.array([record[j] for record in records], kind) for j, kind in enumerate(kinds)]
    whole = pa.table(columns, names=names)
    parts = pa.Table.from_batches(whole.to_batches(max_chunksize=size))
    expected = np.array([[np.nan if v is None else float(v) for v in record] for record in records])
    np.testing.assert_array_equal(matrix_of(parts, names, np.float64), expected)
    np.testing.assert_array_equal(matrix_of(parts.slice(1), names, np.float64), expected[1:])
    np.testing.assert_array_equal(rows(parts, block_size=size).array().X, expected)


def test_layout_blocks():
    table = pa.table({"x": [1, 2], "y": ["u", "v"], "w": [1, 0]})
    layout = Layout.of(table.schema, target="y", weight="w")
    block = layout.block(table, start=5)
    assert block.start == 5 and block.X.tolist() == [[1.0], [2.0]] and block.weight.dtype == np.float64
    assert layout.block(table, numbers=False).X.column_names == ["x"]
    with pytest.raises(InputError, match="row 7"):
        weight_of([1.0, 2.0, -3.0], start=5)
