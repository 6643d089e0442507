"""Counts against collections.Counter, for all kinds of values."""

import pickle
from collections import Counter
from datetime import date
from functools import reduce
from operator import add

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qed.base.errors import InputError
from qed.base.sources.block import Block
from qed.base.sources.rows import ArrayRows
from qed.stats import Counts

labels = st.lists(st.sampled_from(["a", "b", "c", None, 1, 2.5, True]), max_size=30)


def as_counter(counts, column=0):
    return Counter({value: rows for value, (rows, _) in counts.columns[column].items()})


@settings(deadline=None, max_examples=30)
@given(labels, st.integers(0, 30))
def test_adds_and_subtracts_like_a_counter(values, cut):
    a, b = Counts.of_columns([values[:cut]]), Counts.of_columns([values[cut:]])
    whole = Counts.of_columns([values])
    assert as_counter(a + b) == as_counter(whole) == Counter(values)
    assert (a + b) - b == a
    assert ((a + b) - (a + b)).columns == ({},)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3)), max_size=20))
def test_whole_weights_are_repetitions(pairs):
    values, weight = np.array([v for v, _ in pairs], dtype=int), np.array([w for _, w in pairs], dtype=int)
    weighted = Counts.of_columns([values], weight.astype(float))
    repeated = Counts.of_columns([values.repeat(weight)])
    assert weighted.values() == repeated.values()
    assert np.array_equal(weighted.weights(), repeated.weights())
    assert weighted.rows().sum() == np.count_nonzero(weight)


@pytest.mark.parametrize(
    "column",
    [
        np.array([3, -1, 3, 3], dtype=np.int8),
        np.array([-128, 127, 127, 0], dtype=np.int8),
        np.array([2**64 - 1, 2**64 - 2, 2**64 - 1, 5], dtype=np.uint64),
        np.array([2**64 - 1, 2**64 - 2, 2**64 - 1, 2**64 - 1], dtype=np.uint64),
        np.array([10**15, 7, 7, 7]),
        np.array([True, False, True, True]),
        np.array([0.5, -0.5, 0.5, 1e300]),
        np.array([1.5, 1.5, 2.5, 1.5], dtype=np.float32),
        np.array(["x", "yy", "x", ""]),
        np.array([1, "one", 1.5, None], dtype=object),
        np.array(["2020-01-01", "2021-01-01", "2020-01-01", "2020-01-01"], dtype="datetime64[ns]"),
        ["plain", "list", "plain", "of text"],
        [1, 2, 2, 2],
        ("a", 1, None, "a"),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', '')}",
)
def test_every_kind_of_value(column):
    counts = Counts.of_columns([column])
    assert as_counter(counts) == Counter(
        column.tolist() if getattr(column, "dtype", np.dtype("M8")).kind != "M" else column
    )
    half = Counts.of_columns([column], np.full(4, 0.5))
    assert np.array_equal(half.weights(), counts.weights() / 2)
    assert counts.rows().sum() == 4
    assert Counts.of_columns([column], np.array([1.0, 0, 0, 0])).rows().tolist() == [1]


def test_missing_values_of_all_kinds_are_one():
    import pandas as pd

    nothing = [None, np.nan, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), np.float32("nan")]
    assert Counts.of_columns([nothing]).columns == ({None: (7, 7.0)},)
    assert Counts.of_columns([np.array([np.nan, 1.0, np.nan])]).values() == [1.0, None]
    assert Counts.of_columns([np.array(["NaT", "2020-01-01"], dtype="M8[s]")]).rows().tolist() == [1, 1]
    one, other = Counts.of_columns([[float("nan")]]), pickle.loads(pickle.dumps(Counts.of_columns([[float("nan")]])))
    assert (one + other).columns == ({None: (2, 2.0)},)


def test_values_come_in_order():
    counts = Counts.of_columns([["b", 10, None, "a", 2.5, True, date(2020, 1, 1)]])
    assert counts.values() == [True, 2.5, 10, date(2020, 1, 1), "a", "b", None]
    assert Counts.empty().values() == []
    assert Counts.empty(2).weights(1).shape == (0,)


@pytest.mark.parametrize("weight", [None, np.array([1.0, 2.0, 0.0, 0.5, 1.0])])
def test_arrow_columns_are_counted_alike(weight):
    table = pa.table(
        {
            "text": pa.chunked_array([["a", "b"], ["a", None, "c"]]),
            "coded": pa.array(["u", "v", "v", None, "u"]).dictionary_encode(),
            "number": pa.array([1.5, float("nan"), None, 1.5, 2.0]),
            "whole": pa.array([3, 3, None, 4, 3]),
        }
    )
    found = Counts.of_features(Block(table, None, weight))
    assert found == Counts.of_columns([column.to_pylist() for column in table.columns], weight)
    assert found.columns[2][None][0] == (1 if weight is not None else 2)


def test_labels_of_blocks():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 5000)
    weight = rng.uniform(0.5, 2, 5000)
    total = ArrayRows(np.zeros((5000, 1)), y, weight, size=700).fold(Counts.of)
    assert total.values() == [0, 1, 2, 3]
    np.testing.assert_allclose(total.weights(), np.bincount(y, weight), rtol=1e-13)
    assert np.array_equal(total.rows(), np.bincount(y))
    both = Counts.of(Block(np.zeros((3, 1)), np.array([[1, 5], [1, 6], [2, 6]])))
    assert (both.values(0), both.values(1)) == ([1, 2], [5, 6])
    features = Counts.of_features(Block(np.array([[1.0, 0.0], [1.0, 2.0]])))
    assert features.columns == ({1.0: (2, 2.0)}, {0.0: (1, 1.0), 2.0: (1, 1.0)})
    with pytest.raises(InputError, match="target"):
        Counts.of(Block(np.zeros((3, 1))))


def test_weights_of_a_forgotten_value_leave_no_dust():
    parts = [Counts.of_columns([["x", "y"]], np.array([w, 1.0])) for w in (0.1, 0.2, 0.3)]
    assert reduce(add, parts).columns[0]["x"][1] != 0.1 + (0.2 + 0.3)
    rest = reduce(add, parts) - Counts.of_columns([["x", "x", "x"]], np.array([0.3, 0.2, 0.1]))
    assert rest.values() == ["y"]


def test_what_does_not_go_together_is_refused():
    counts = Counts.of_columns([["a", "b"]])
    with pytest.raises(InputError, match="2 rows with the value 'a' in column 0: there are 1"):
        counts - Counts.of_columns([["a", "a"]])
    with pytest.raises(InputError, match="'z'"):
        counts - Counts.of_columns([["z"]])
    with pytest.raises(InputError, match="same columns"):
        counts + Counts.empty(2)


def test_counts_travel():
    counts = Counts.of_columns([["a", None, "a"], [1, 2, 2]], np.array([1.0, 0.25, 2.0]))
    assert pickle.loads(pickle.dumps(counts)) == counts
    assert Counts.from_dict(counts.to_dict()) == counts
    with pytest.raises(AttributeError):
        counts.columns = ()
