"""What each column of a table is for, and Arrow columns as NumPy arrays.

A `Layout` says which columns of a table are features, which are the target and which one is the weight; it is settled
once, from the names and types alone, before any row is read. It then turns any slice of the table into a `Block`, in two
ways: the features as a matrix of numbers, for models, or as the table they came in, for encoders. Frames in memory, files
and the partitions of a cluster all go through it, which is why they give the same numbers.

Matrices are row-major, like those that most people make in NumPy: then a fold over a file rounds exactly as a fold over
the array does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from qed.base.errors import InputError, ParameterError
from qed.base.sources.block import Block, block_rows

STRIP = 2048
# Squares of weights above this, times squares of values, overflow.
HEAVIEST = 1e100
# What becomes a number when it is asked to, and is none.
NO_NUMBERS = (str, bytes, np.datetime64, np.timedelta64)
WORDS = {"text": "text", "category": "categories", "time": "dates or times", "other": "nested or binary values"}


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Give a sentence with the nearest of `words`, or with the first few of them.

    >>> did_you_mean("prize", ["price", "area"])
    "Did you mean 'price'?"
    >>> did_you_mean("prog", ["price", "progression"])
    "Did you mean 'progression'?"
    >>> did_you_mean("colour", ["price", "area"])
    "There are: 'price', 'area'."
    """
    known = list(words)
    plain = {name.casefold(): name for name in reversed(known)}
    given = word.casefold()
    begun = [name for name in plain if len(given) > 2 and name.startswith(given)][:3]
    # Short words are near to nearly everything: more than one letter of three must be the same.
    near = begun or get_close_matches(given, plain, n=3, cutoff=0.7)
    if near:
        return f"Did you mean {' or '.join(repr(plain[name]) for name in near)}?"
    return f"There are: {_listed(known)}."


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more


def kind_of(type: pa.DataType) -> str:
    """Sort an Arrow type: number, text, category, time or other.

    >>> kind_of(pa.bool_()), kind_of(pa.string()), kind_of(pa.date32())
    ('number', 'text', 'time')
    """
    if isinstance(type, pa.BaseExtensionType):
        return "other"
    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    if any(test(type) for test in numbers):
        return "number"
    if types.is_string(type) or types.is_large_string(type) or types.is_string_view(type):
        return "text"
    if types.is_dictionary(type):
        return "category"
    return "time" if types.is_temporal(type) else "other"


def is_short(type: pa.DataType) -> bool:
    """Say whether float32 holds all values of an Arrow type that has floating-point numbers."""
    return bool(types.is_float16(type) or types.is_float32(type))


@dataclass(frozen=True)
class Layout:
    """Which columns are features, target and weight.

    >>> layout = Layout.of(pa.schema({"area": pa.float32(), "price": pa.int64()}), target="price")
    >>> layout.features, layout.targets, layout.dtype
    (('area',), ('price',), dtype('float32'))
    """

    schema: pa.Schema
    features: tuple[str, ...]
    targets: tuple[str, ...] = ()
    weight: str | None = None

    @classmethod
    def of(
        cls,
        schema: pa.Schema,
        *,
        target: str | Sequence[str] | None = None,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
    ) -> Layout:
        """Settle the parts of the columns, or say which name is wrong."""
        targets = (target,) if isinstance(target, str) else tuple(target or ())
        if isinstance(columns, str):
            raise InputError(f"columns must be a list of names, not one name: columns=[{columns!r}].")
        taken = {*targets, weight}
        features = tuple(name for name in schema.names if name not in taken) if columns is None else tuple(columns)
        used = (*features, *targets, *(() if weight is None else (weight,)))
        _check_names(used, schema.names)
        if not features:
            raise InputError(
                f"Found 0 feature(s) (shape=(n, 0)) while a minimum of 1 is required: "
                f"the table has the columns {_listed(schema.names) or 'none'}, and none is left as a feature."
            )
        check_target_types(schema, targets)
        if weight is not None and kind_of(schema.field(weight).type) != "number":
            raise InputError(f"The weights {weight!r} hold {_words(schema.field(weight).type)}: they must be numbers.")
        return cls(pa.schema([schema.field(name) for name in used]), features, targets, weight)

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 when all features are that short or shorter, otherwise float64."""
        short = all(is_short(self.schema.field(name).type) for name in self.features)
        return np.dtype(np.float32 if short else np.float64)

    @property
    def feature_schema(self) -> pa.Schema:
        """The names and types of the features."""
        return pa.schema([self.schema.field(name) for name in self.features])

    @property
    def target_dtype(self) -> np.dtype[Any] | None:
        """What the target is as an array, if no value is missing; None where there is no target."""
        if not self.targets:
            return None
        return np.result_type(*(_array_dtype(self.schema.field(name).type) for name in self.targets))

    @property
    def target_shape(self) -> tuple[int, ...]:
        """The shape of the target of one row: one column makes a vector."""
        return (len(self.targets),) if len(self.targets) > 1 else ()

    def refuse_text(self) -> None:
        """Raise an `InputError` that names every feature that is not a number."""
        types = {name: self.schema.field(name).type for name in self.features}
        bad = [f"{name!r} holds {_words(type)}" for name, type in types.items() if kind_of(type) != "number"]
        if bad:
            more = f" (and {len(bad) - 4} more)" if len(bad) > 4 else ""
            raise InputError(
                f"Column {', '.join(bad[:4])}{more}, not numbers: encode the table with qed.ColumnEncoder, "
                "or leave the column out with columns=[...]."
            )

    def block(self, table: pa.Table, start: int = 0, *, numbers: bool = True) -> Block:
        """Give the rows of `table`, the first of which has the number `start`, as a block."""
        X = matrix_of(table, self.features, self.dtype) if numbers else table.select(self.features)
        y = target_of(table, self.targets) if self.targets else None
        weight = None if self.weight is None else weight_of(values_of(table.column(self.weight)), start)
        return Block(X, y, weight, start)


def check_target_types(schema: pa.Schema, targets: Sequence[str]) -> None:
    """Refuse a target that is neither numbers nor labels."""
    for name in targets:
        type = schema.field(name).type
        if kind_of(type.value_type if types.is_dictionary(type) else type) not in ("number", "text"):
            raise InputError(f"The target {name!r} holds {_words(type)}: it must be numbers or labels.")


def _array_dtype(type: pa.DataType) -> np.dtype[Any]:
    """Give the type of the array that `values_of` makes of a column in which nothing is missing."""
    type = type.value_type if types.is_dictionary(type) else type
    if types.is_decimal(type) or types.is_null(type):
        return np.dtype(np.float64)
    return np.dtype(type.to_pandas_dtype() if kind_of(type) == "number" else object)


def _words(type: pa.DataType) -> str:
    return f"{WORDS.get(kind_of(type), 'numbers')} ({type})"


def refuse_twice(names: Sequence[str], path: str = "") -> None:
    """Refuse names that do not tell the columns apart."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        where = f" in {path!r}" if path else ""
        raise InputError(f"The column name {twice[0]!r} occurs more than once{where}: rename the columns.")


def _check_names(used: Sequence[str], names: Sequence[str]) -> None:
    refuse_twice(names)
    for name in used:
        if name not in names:
            raise InputError(f"There is no column {name!r}. {did_you_mean(str(name), names)}")
    twice = [name for name, times in Counter(used).items() if times > 1]
    if twice:
        raise InputError(
            f"Column {twice[0]!r} is asked for twice: a column is a feature, the target or the weight, and once only."
        )


def plan(size: int | None, n_features: int, count: int | None = None) -> int:
    """Give the rows per block: what was asked for, or what suits the number of columns, and of rows where that is known."""
    if size is None:
        return block_rows(n_features, count)
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
        raise ParameterError(f"block_size must be a positive whole number, not {size!r}.")
    return int(size)


def matrix_of(table: pa.Table, columns: Sequence[str], dtype: Any, out: np.ndarray | None = None) -> np.ndarray:
    """Copy columns of numbers into a row-major matrix (into `out` where given), missing values as NaN.

    >>> matrix_of(pa.table({"a": [1, None], "b": [True, False]}), ["a", "b"], np.float64)
    array([[ 1.,  1.],
           [nan,  0.]])
    """
    matrix = np.empty((table.num_rows, len(columns)), dtype) if out is None else out
    start = 0
    for batch in table.select(list(columns)).to_batches():
        stop = start + batch.num_rows
        fill(matrix[start:stop], [values_of(column) for column in batch.columns])
        start = stop
    return matrix


def numbers_of(table: pa.Table) -> np.ndarray:
    """Give a table as a matrix, or refuse what is not a number by the name of its column."""
    layout = Layout.of(table.schema)
    layout.refuse_text()
    return matrix_of(table, layout.features, layout.dtype)


def table_of(matrix: np.ndarray, names: Sequence[str] | None) -> pa.Table:
    """Give a matrix as a table, NaN as missing values; columns without names are called ``x0``, ``x1`` and so on.

    >>> table_of(np.array([[1.0, np.nan]]), None).to_pydict()
    {'x0': [1.0], 'x1': [None]}
    """
    native = matrix.dtype.newbyteorder("=")
    if native.kind == "f" and native.itemsize > 8:  # Arrow knows none wider than doubles
        native = np.dtype(np.float64)
    columns = [pa.array(np.ascontiguousarray(column, native), from_pandas=True) for column in matrix.T]
    return pa.table(columns, names=list(names or (f"x{j}" for j in range(len(columns)))))


def fill(matrix: np.ndarray, columns: Sequence[np.ndarray]) -> None:
    """Write columns into a row-major matrix, by strips of rows that stay in the cache until they are complete."""
    for start in range(0, len(matrix), STRIP):
        strip = matrix[start : start + STRIP]
        for j, column in enumerate(columns):
            strip[:, j] = column[start : start + STRIP]


def values_of(column: Any) -> np.ndarray:
    """Give an Arrow column as an array: numbers as they are (floats where some are missing), text as objects."""
    type = column.type
    if types.is_dictionary(type):
        column, type = column.cast(type.value_type), type.value_type
    if types.is_decimal(type) or types.is_null(type) or (types.is_boolean(type) and column.null_count):
        column = column.cast(pa.float64())
    return column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)


def target_of(table: pa.Table, columns: Sequence[str]) -> np.ndarray:
    """Give the target: one column as a vector, several as a matrix.

    >>> target_of(pa.table({"a": [1, 2], "b": ["u", "v"]}), ["b"])
    array(['u', 'v'], dtype=object)
    """
    found = [values_of(table.column(name)) for name in columns]
    return found[0] if len(found) == 1 else np.column_stack(found)


def unmasked(values: object) -> object:
    """Give a masked array as a plain one in which what is masked is missing: NaN among numbers, None among all else.

    Examples
    --------
    >>> unmasked(np.ma.masked_array([1, 2], [False, True]))
    array([ 1., nan])
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return values.data
    if values.dtype.kind in "biuf":
        kind = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
        return np.ma.filled(values.astype(kind), np.nan)
    if values.dtype.kind not in "OUST":
        return values.data
    found = values.data.astype(object)
    found[np.ma.getmaskarray(values)] = None
    return found


def floats_of(values: np.ndarray) -> np.ndarray:
    """Give numbers of any kind as float64; what is none, such as text or a date among objects, is a TypeError."""
    if values.dtype.kind not in "biufO":
        raise TypeError
    if values.dtype.kind == "O" and any(isinstance(value, NO_NUMBERS) for value in values.ravel().tolist()):
        raise TypeError
    return np.asarray(values, dtype=np.float64)


def weight_of(values: Any, start: int = 0) -> np.ndarray:
    """Give weights as float64, or say which row has one that can not be.

    >>> weight_of([1, 0, 2])
    array([1., 0., 2.])
    """
    try:
        weight = floats_of(np.asarray(unmasked(values)))
    except (TypeError, ValueError, OverflowError):
        raise InputError("The weights must be numbers, one for each row.") from None
    if weight.ndim != 1:
        raise InputError(f"The weights must be a vector, one number for each row, not of shape {weight.shape}.")
    bad = np.flatnonzero(~((weight >= 0) & (weight < np.inf)))
    if len(bad):
        raise InputError(
            f"The weight of row {start + int(bad[0])} (counted from 0) is {weight[bad[0]]}: "
            "weights must be finite and not negative. Give the row the weight 0 to leave it out."
        )
    if len(weight) and weight.max() > HEAVIEST:
        row = int(weight.argmax())
        raise InputError(
            f"The weight of row {start + row} (counted from 0) is {weight[row]:g}, and sums of what is multiplied by weights above "
            f"{HEAVIEST:g} overflow: divide all weights by the largest."
        )
    return weight
