"""Arrays, sparse matrices and frames in memory as `Rows`.

An array of floats is taken as it is. A frame (pandas, polars, Arrow, or whatever speaks Arrow's stream protocol) may
hold text and dates beside numbers, so it becomes `TableRows` with two views: ``numbers()`` for models, a matrix made once
(or the very memory of a pandas frame that is one block of floats), and ``table()`` for encoders, Arrow columns that
mostly share the frame's memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from qed.base.engine import work
from qed.base.errors import InputError, KindError
from qed.base.numbers import no_memory, room
from qed.base.sources.block import Block, Piece, aligned, is_sparse
from qed.base.sources.compressed import sound
from qed.base.sources.facts import FLOATS, Facts
from qed.base.sources.frames import (
    arrow_of,
    check_lengths,
    complex_error,
    frame_of,
    has_names,
    read_target,
    read_weight,
    schema_of,
    sparse_of,
    too_large,
)
from qed.base.sources.layout import Layout, fill, matrix_of, plan, target_of, unmasked, values_of, weight_of
from qed.base.sources.rows import ArrayRows, Rows


def open_table(
    X: Any,
    y: Any = None,
    *,
    target: str | Sequence[str] | None = None,
    weight: Any = None,
    columns: Sequence[str] | None = None,
    size: int | None = None,
) -> Rows:
    """Make `Rows` of something in memory; see :func:`qed.base.sources.open.rows`.

    >>> found = open_table(pa.table({"area": [50, 80], "price": [1.5, 2.5]}), target="price")
    >>> found.array().X, found.array().y
    (array([[50.],
           [80.]]), array([1.5, 2.5]))
    """
    if type(X) is np.ndarray:
        return _open_array(X, y, target, weight, columns, size, None)
    packed = sparse_of(X) if target is None and columns is None and not isinstance(weight, str) else None
    frame = None if packed is not None else frame_of(X)
    if frame is None:
        names = tuple(X.columns) if packed is not None and has_names(X) else None
        return _open_array(X if packed is None else packed, y, target, weight, columns, size, names)
    if not isinstance(weight, str) and weight is not None:
        weight = _weights(weight, len(frame))
        name = None
    else:
        name, weight = weight, None
    layout = Layout.of(schema_of(frame), target=target, weight=name, columns=columns)
    n = len(frame)
    _refuse_empty((n, len(layout.features)))
    target_names: tuple[str, ...] = layout.targets
    if layout.targets:
        y = target_of(arrow_of(frame, layout.targets), layout.targets)
    elif y is not None:
        y, target_names = read_target(y)
    if name is not None:
        weight = weight_of(values_of(arrow_of(frame, [name]).column(name)))
    check_lengths(n, y, weight)
    blocks = plan(size, len(layout.features), n)
    return TableRows(frame, layout, y, weight, target_names, blocks, named=has_names(X))


class TableRows(Rows):
    """Rows of a frame in memory, not yet decoded.

    The frame is an Arrow table, or one of pandas with plain numbers; it is `named` where the names of the columns are
    the user's, and not numbers that we gave.
    """

    def __init__(
        self,
        frame: Any,
        layout: Layout,
        y: np.ndarray | None,
        weight: np.ndarray | None,
        target_names: tuple[str, ...],
        size: int,
        *,
        named: bool = True,
    ) -> None:
        self.frame, self.layout, self.y, self.weight, self.size = frame, layout, y, weight, size
        self.facts = Facts(
            n_features=len(layout.features),
            dtype=layout.dtype,
            feature_names=layout.features if named else None,
            schema=layout.feature_schema,
            target_names=target_names,
            target_dtype=None if y is None else y.dtype,
            target_shape=() if y is None else tuple(y.shape[1:]),
            has_weight=weight is not None,
            in_memory=True,
        )

    def count(self) -> int:
        return len(self.frame)

    def pieces(self) -> Iterator[Piece]:
        return self.numbers().pieces()

    def array(self) -> Block:
        return self.numbers().array()

    def numbers(self) -> Rows:
        return self._numbers

    def cached(self) -> Rows:
        return self._numbers

    def table(self) -> Rows:
        return self._rows(arrow_of(self.frame, self.layout.features))

    @cached_property
    def _numbers(self) -> Rows:
        self.layout.refuse_text()
        if isinstance(self.frame, pa.Table):
            return self._rows(_matrix_in_parallel(self.frame, self.layout, self.size))
        return self._rows(_matrix_of_pandas(self.frame, self.layout))

    def _rows(self, X: Any) -> ArrayRows:
        names = self.target_names
        return ArrayRows(X, self.y, self.weight, self.feature_names, self.size, target_names=names)


def _matrix_in_parallel(table: pa.Table, layout: Layout, size: int) -> np.ndarray:
    matrix = room((table.num_rows, len(layout.features)), layout.dtype)
    for _ in work(partial(_copy, table, layout, matrix, start, size) for start in range(0, len(matrix), size)):
        continue
    return matrix


def _copy(table: pa.Table, layout: Layout, matrix: np.ndarray, start: int, size: int) -> None:
    matrix_of(table.slice(start, size), layout.features, layout.dtype, out=matrix[start : start + size])


def _matrix_of_pandas(frame: Any, layout: Layout) -> np.ndarray:
    """Give the memory of a frame that is one block of floats, or a row-major copy of its columns."""
    kinds = set(frame.dtypes)
    if tuple(frame.columns) == layout.features and len(kinds) == 1 and kinds <= set(FLOATS):
        return frame.to_numpy()
    matrix = room((len(frame), len(layout.features)), layout.dtype)
    fill(matrix, [frame[name].to_numpy() for name in layout.features])
    return matrix


def _open_array(
    X: Any, y: Any, target: Any, weight: Any, columns: Any, size: int | None, names: Sequence[str] | None
) -> Rows:
    if target is not None or columns is not None or isinstance(weight, str):
        _refuse_names(target=target, columns=columns, sample_weight=weight)
    given = to_array(X)
    matrix = _numbers(given)
    _refuse_empty(matrix.shape)
    target_names: tuple[str, ...] = ()
    if y is not None:
        y, target_names = read_target(y)
    if weight is not None:
        weight = _weights(weight, matrix.shape[0])
    check_lengths(matrix.shape[0], y, weight)
    if matrix.dtype.kind == "O":
        table = _table_of_objects(matrix)
        layout = Layout.of(table.schema)
        return TableRows(table, layout, y, weight, target_names, plan(size, table.num_columns, len(table)), named=False)
    blocks = None if size is None else plan(size, matrix.shape[1])
    found = ArrayRows(matrix, y, weight, names, blocks, target_names=target_names)
    # Arrow knows no floats longer than ours.
    found.given = matrix if given.dtype.kind == "f" and given.dtype.itemsize > 8 else given
    return found


def _refuse_names(**given: object) -> None:
    for name, value in given.items():
        if isinstance(value, str) or (value is not None and name != "sample_weight"):
            raise InputError(
                f"{name}={value!r} names columns, but the columns of this data have no names: give y and sample_weight as "
                "arrays, choose columns by X[:, [0, 2]], or give a table such as a pandas or polars frame."
            )


def _weights(weight: object, n: int) -> np.ndarray:
    """Read weights that came by themselves: one for each row, or one number for all of them."""
    if isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool):
        return weight_of(np.full(n, float(weight)))
    return read_weight(weight)


def as_matrix(X: Any) -> Any:
    """Give a matrix of floats or objects, dense or sparse: the very one given where it is such a matrix already."""
    return _numbers(to_array(X))


def _numbers(matrix: Any) -> Any:
    if matrix.dtype.names:
        raise InputError("An array of records is no matrix: make a table of it, for example with pandas.DataFrame(X).")
    if len(matrix.shape) != 2:
        raise InputError(
            f"Expected 2D array, got {len(matrix.shape)}D array instead, of shape {matrix.shape}. "
            "Reshape your data, with X.reshape(-1, 1) for a single column or X.reshape(1, -1) for a single row."
        )
    if matrix.dtype in FLOATS and matrix.dtype.isnative:
        return matrix if is_sparse(matrix) else aligned(matrix)
    kind = matrix.dtype.kind
    if kind == "c":
        raise complex_error()
    if kind in "biuf":
        return _as_floats(matrix, np.float32 if kind == "f" and matrix.dtype.itemsize <= 4 else np.float64)
    if kind in "OUST" and not is_sparse(matrix):
        return matrix.astype(object)
    raise InputError(f"An array of {matrix.dtype} holds no numbers: give floats, integers or a table of mixed columns.")


def _as_floats(matrix: Any, dtype: type) -> Any:
    try:
        return matrix.astype(dtype)
    except MemoryError:
        raise no_memory(
            int(np.prod(matrix.shape)) * np.dtype(dtype).itemsize, " x ".join(map(str, matrix.shape))
        ) from None


def to_array(X: Any) -> Any:
    """Give whatever can be one as an array of any type, dense or sparse."""
    if type(X) in (np.ndarray, np.memmap):
        return X
    _refuse_parts(X)
    if is_sparse(X):
        # The formats with a fixed number of axes do not know a vector; only some of the others know how to become CSR.
        return sound(X) if X.ndim == 2 else X
    try:
        X = unmasked(X)
        matrix = np.asarray(X)
        # NumPy makes text of numbers that stand beside text.
        return np.asarray(X, dtype=object) if matrix.dtype.kind in "US" and isinstance(X, (list, tuple)) else matrix
    except OverflowError as error:
        raise too_large(str(error)) from None
    except ValueError:
        raise InputError("The rows differ in length: every row must have one value for each column.") from None


def _refuse_parts(X: object) -> None:
    """Refuse what gives one part of a table after another, and say how to put them together."""
    if isinstance(X, Iterator):
        raise InputError(
            f"A {type(X).__name__} can be gone through only once: give a list of its rows, or batches of Arrow as "
            "pyarrow.RecordBatchReader.from_batches(schema, X)."
        )
    first = X[0] if isinstance(X, (list, tuple)) and X else None
    if isinstance(first, Mapping):
        raise InputError("These rows are dictionaries: make a table of them, for example with pandas.DataFrame(X).")
    if hasattr(first, "schema") or (hasattr(first, "columns") and len(getattr(first, "shape", ())) == 2):
        raise InputError(
            f"A list of tables is no table: join these {len(X)} first, for example with pandas.concat or pyarrow.concat_tables."  # type: ignore[arg-type]
        )


def _table_of_objects(matrix: np.ndarray) -> pa.Table:
    columns = []
    for j in range(matrix.shape[1]):
        try:
            columns.append(pa.array(matrix[:, j], from_pandas=True))
        except OverflowError as error:
            raise too_large(f"in column number {j}: {error}") from None
        except (pa.ArrowException, TypeError) as error:
            if "too large" in str(error):
                raise too_large(f"in column number {j}: {error}") from None
            if any(isinstance(value, complex) for value in matrix[:, j]):
                raise complex_error() from None
            raise KindError(
                f"Column number {j} holds values of several types: argument must be a string or a number ({error})."
            ) from None
    return pa.table(columns, names=[f"x{j}" for j in range(len(columns))])


def _refuse_empty(shape: tuple[int, ...]) -> None:
    if shape[0] == 0:
        raise InputError("Found array with 0 sample(s) while a minimum of 1 is required: the table has no rows.")
    if shape[1] == 0:
        raise InputError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required: the table has no columns."
        )
