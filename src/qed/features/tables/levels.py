"""The values of categorical columns: counted, put in order, and looked up.

Columns are Arrow arrays. They are counted by `Counts`, block by block, so the levels of a file or a cluster are found
without having it in memory; and since a column of identifiers has as many levels as rows, a column is given up once it
has more than a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qed.base.counts import Counts
from qed.base.errors import InputError
from qed.base.sources.block import Block
from qed.base.sources.layout import kind_of


def column_of(table: pa.Table, place: int | str) -> pa.Array:
    """Give a column in one piece and in one of few types: categories as what they stand for, NaN as missing, one zero.

    >>> column_of(pa.table({"a": [1.5, float("nan"), -0.0]}), "a").to_pylist()
    [1.5, None, 0.0]
    """
    found = table.column(place if isinstance(place, str) else int(place))
    column = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    if pa.types.is_dictionary(column.type):
        values = column.dictionary
        values = values.cast(pa.large_string()) if pa.types.is_string_view(values.type) else values
        column = pc.take(values, column.indices)
    if pa.types.is_decimal(column.type) or pa.types.is_float16(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    if pa.types.is_floating(column.type):
        zero = pa.scalar(0.0, column.type)
        column = pc.add(pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column), zero)
    return column


@dataclass(frozen=True)
class Levels:
    """How often each value of some columns occurs.

    >>> found = Levels.of(Block(pa.table({"a": ["x", "y", "x"], "b": [1, 2, 3]})), [0, 1], most=2)
    >>> found.values(0), found.weights(0), found.full
    (['x', 'y'], array([2., 1.]), frozenset({1}))
    """

    counts: Counts  # the number of rows and the weight of each value
    most: int  # the limit on the number of values
    full: frozenset[int] = frozenset()  # the columns that have more values than that, and are not counted any more

    @classmethod
    def of(cls, block: Block, places: Sequence[int], most: int) -> Levels:
        columns = [column_of(block.X, place) for place in places]
        return cls.within(Counts.of_columns(columns, block.weight), most)

    @classmethod
    def within(cls, counts: Counts, most: int, full: frozenset[int] = frozenset()) -> Levels:
        """Keep the counts of the columns that have at most `most` values."""
        over = {j for j, table in enumerate(counts.columns) if len(table) - (None in table) > most}
        full = full | over
        return cls(Counts(tuple({} if j in full else t for j, t in enumerate(counts.columns))), most, full)

    def __add__(self, other: Levels) -> Levels:
        return self.within(self.counts + other.counts, self.most, self.full | other.full)

    def values(self, column: int) -> list[Any]:
        """Give the values of a column in order, None (where values are missing) last."""
        return self.counts.values(column)

    def weights(self, column: int) -> np.ndarray:
        """Give the weight of each of the values."""
        return self.counts.weights(column)


def array_of(values: Sequence[Any]) -> np.ndarray:
    """Give levels as an array: numbers as numbers (a missing one as NaN), anything else as objects.

    >>> array_of([1, 2]), array_of([1.5, None]), array_of(["a", None])
    (array([1, 2]), array([1.5, nan]), array(['a', None], dtype=object))
    """
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} and kinds:
        return np.array([np.nan if value is None else value for value in values])
    if kinds == {bool} and None not in values:
        return np.array(values)
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def kind_of_levels(levels: np.ndarray) -> str:
    """Say of what kind levels are: number, text, time, or nothing where all are missing.

    >>> kind_of_levels(np.array([1, 2])), kind_of_levels(np.array(["a", None], dtype=object))
    ('number', 'text')
    """
    if levels.dtype.kind in "biuf":
        return "number"
    there = [level for level in levels.tolist() if not is_missing(level)]
    return kind_of(pa.array(there[:1]).type) if there else "nothing"


def is_missing(value: Any) -> bool:
    """Say whether a level stands for missing values."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def codes_of(column: pa.Array, levels: np.ndarray, name: str, start: int) -> np.ndarray:
    """Give for each value the number of its level, and -1 where it is none of them.

    >>> codes_of(pa.array(["b", None, "z"]), np.array(["a", "b"], dtype=object), "'letter'", 0)
    array([ 1, -1, -1])
    """
    missing = np.array([is_missing(level) for level in levels.tolist()], dtype=bool)
    if pa.types.is_null(column.type):
        return np.full(len(column), int(missing.argmax()) if missing.any() else -1)
    learned, given = kind_of_levels(levels), kind_of(column.type)
    if learned not in (given, "nothing"):
        raise strange_kind(column, given, learned, name, start)
    known = [None if gone else level for level, gone in zip(levels.tolist(), missing)]
    if given == "number" and (pa.types.is_floating(column.type) or levels.dtype.kind == "f" or learned == "nothing"):
        column = column.cast(pa.float64())
        known = [None if level is None else float(level) for level in known]
    elif given == "number" and (levels.dtype.kind == "b") != pa.types.is_boolean(column.type):
        column = column.cast(pa.int64())
        known = [None if level is None else int(level) for level in known]
    found = pc.index_in(column, value_set=pa.array(known, type=column.type)).fill_null(-1)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)


KINDS = {
    "number": "numbers",
    "text": "text",
    "time": "dates or times",
    "date": "dates",
    "other": "values of another kind",
}


def strange_kind(column: pa.Array, given: str, learned: str, name: str, start: int) -> InputError:
    """Give the error for a column that holds, say, text where numbers were learned; it names the first value that shows it."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    wrong = pc.is_valid(column)
    if (given, learned) == ("text", "number"):
        digits = pc.match_substring_regex(column, r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$").fill_null(True)
        wrong = pc.invert(digits) if not pc.all(digits).as_py() else wrong
    row = int(wrong.to_numpy(zero_copy_only=False).argmax())
    return InputError(
        f"Column {name} holds {KINDS.get(given, given)} where the model learned {KINDS.get(learned, learned)}: "
        f"row {start + row} (counted from 0) is {column[row].as_py()!r}."
    )
