"""What people hold data in, as Arrow tables and NumPy arrays.

A frame is anything with named columns in memory: pandas, polars, Arrow, a dictionary of columns, or an object that speaks
Arrow's stream protocol. All become Arrow tables, mostly without copying; only a pandas frame of plain numbers stays what
it is, since its memory may serve as a matrix. A target or weights may come as a column of any of them, or as an array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any

import numpy as np
import pyarrow as pa

from qed.base.errors import InputError, KindError
from qed.base.sources.block import aligned, is_sparse
from qed.base.sources.layout import check_target_types, refuse_twice, target_of, unmasked, values_of, weight_of


def frame_of(X: Any) -> Any:
    """Give a frame as an Arrow table, or as pandas where that is plain numbers; None for what is no frame."""
    if isinstance(X, pa.Table):
        return X
    if isinstance(X, (np.ndarray, list, tuple)) or len(getattr(X, "shape", (0, 0))) != 2 or is_sparse(X):
        return None
    if isinstance(X, (pa.Array, pa.ChunkedArray)):
        return None
    try:
        return _convert(X)
    except InputError:
        raise
    except OverflowError as error:
        raise too_large(str(error)) from None
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        words = "; ".join(str(part) for part in error.args)
        if "too large" in words:
            raise too_large(words) from None
        raise InputError(
            f"The table can not be read: {words}. A column must hold values of one type: convert that one, or drop it."
        ) from error


def too_large(words: str) -> InputError:
    """Give the error for a whole number that no column can hold."""
    return InputError(f"A number is too large for 64 bits ({words}): give it as a float, or divide the column.")


def _convert(X: Any) -> Any:
    if isinstance(X, pa.RecordBatch):
        return pa.Table.from_batches([X])
    if isinstance(X, Mapping):
        return pa.table({str(name): values for name, values in X.items()})
    import narwhals as nw

    if nw.dependencies.is_pandas_dataframe(X):
        return _of_pandas(X)
    if hasattr(X, "__arrow_c_stream__"):
        return pa.table(X)
    if type(X).__module__ == "pyarrow._dataset":
        return X.to_table()
    native = nw.from_native(X, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    return native.to_arrow() if isinstance(native, nw.DataFrame) else None


def _of_pandas(X: Any) -> Any:
    has_names(X)
    # Before its third version pandas copies all values when it is asked for other names.
    frame = X.copy(deep=False)
    frame.columns = [str(name) for name in X.columns]
    refuse_twice(list(frame.columns))
    packed = {name: kind.subtype for name, kind in frame.dtypes.items() if _is_packed(kind)}
    if packed:
        frame = frame.astype(packed)
    kinds = [kind.kind if isinstance(kind, np.dtype) else "" for kind in frame.dtypes]
    if "c" in kinds:
        raise complex_error()
    if all(kind and kind in "biuf" for kind in kinds):
        return frame
    return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata()


def _is_packed(kind: object) -> bool:
    """Say whether a column of pandas stores only what differs from one value."""
    return str(kind).startswith("Sparse[")


def sparse_of(X: Any) -> Any:
    """Give the sparse matrix that a pandas frame of nothing but sparse columns stands for; None for all else."""
    if not hasattr(X, "iloc") or getattr(X, "ndim", 0) != 2 or not len(X.columns) or not all(map(_is_packed, X.dtypes)):
        return None
    return X.sparse.to_coo().tocsr()


def complex_error() -> InputError:
    """Give the error for complex numbers."""
    return InputError("Complex data not supported: give the real and the imaginary part as columns of their own.")


def has_names(X: Any) -> bool:
    """Say whether the columns of a frame are named by strings: pandas numbers those that nobody named."""
    if not hasattr(X, "iloc"):
        return True
    kinds = sorted({type(name).__name__ for name in X.columns})
    strings = [isinstance(name, str) for name in X.columns]
    if any(strings) and not all(strings):
        raise KindError(
            f"Feature names are only supported if all are strings, but these are of the types {kinds}: "
            "convert them, X.columns = X.columns.astype(str)."
        )
    return all(strings)


def schema_of(frame: Any) -> pa.Schema:
    """Give the names and types of the columns of what `frame_of` gave."""
    if isinstance(frame, pa.Table):
        return frame.schema
    kinds = zip(frame.columns, frame.dtypes)
    return pa.schema([(name, pa.from_numpy_dtype(kind.newbyteorder("="))) for name, kind in kinds])


def arrow_of(frame: Any, names: Sequence[str]) -> pa.Table:
    """Give columns of what `frame_of` gave as an Arrow table."""
    if isinstance(frame, pa.Table):
        return frame.select(list(names))
    return pa.Table.from_pandas(frame[list(names)], preserve_index=False).replace_schema_metadata()


def read_weight(weight: object, start: int = 0) -> np.ndarray:
    """Give weights that came by themselves as an array; the number of the first row is `start`."""
    return weight_of(read_target(weight, "weight")[0], start)


def read_target(y: Any, what: str = "target") -> tuple[np.ndarray, tuple[str, ...]]:
    """Give a target (or weights) that came by itself as an array with the names of its columns, if they have names.

    >>> read_target([0, 1, 1])
    (array([0, 1, 1]), ())
    """
    names: tuple[str, ...] = ()
    if is_sparse(y):
        raise InputError(f"The {what} is a sparse matrix: give it as an array, with toarray().")
    if not isinstance(y, (np.ndarray, list, tuple)):
        y, names = _read_frame_target(y)
    try:
        values = aligned(np.asarray(unmasked(y)))
    except ValueError:
        raise InputError(f"The {what}'s rows differ in length: give one value for each row.") from None
    except OverflowError as error:
        raise too_large(str(error)) from None
    refuse_kind(values.dtype, what)
    if values.ndim not in (1, 2) or values.shape[1:] == (0,):
        raise InputError(
            f"The {what} must be a vector or a matrix, one row for each row of X, not of shape {values.shape}."
        )
    return values, names


def refuse_kind(dtype: np.dtype[np.generic], what: str) -> None:
    """Refuse a target or weights that are dates, times or records."""
    if dtype.kind in "mMV":
        words = "numbers" if what == "weight" else "numbers or labels"
        raise InputError(f"The {what} holds values of type {dtype}: it must be {words}.")


def _read_frame_target(y: Any) -> tuple[Any, tuple[str, ...]]:
    """Read a target that may be a column or a frame."""
    if isinstance(y, pa.Array):
        y = pa.chunked_array([y])
    frame = None if isinstance(y, pa.ChunkedArray) else frame_of(y)
    if frame is not None:
        table = arrow_of(frame, schema_of(frame).names)
        check_target_types(table.schema, table.schema.names)
        return target_of(table, table.schema.names), tuple(table.schema.names)
    import narwhals as nw

    native = nw.from_native(y, series_only=True, pass_through=True)
    if not isinstance(native, nw.Series):
        return y, ()
    names = (str(native.name),) if native.name else ()
    if native.dtype.is_numeric() and isinstance(getattr(y, "dtype", None), np.dtype):
        return native.to_numpy(), names
    try:
        return values_of(native.to_arrow()), names
    except (pa.ArrowException, TypeError):
        return native.to_numpy(), names


def check_lengths(n: int, y: Sized | None, weight: Sized | None) -> None:
    """Refuse a target or weights of another length than the table."""
    for what, values in (("y", y), ("sample_weight", weight)):
        if values is not None and len(values) != n:
            raise length_error(n, what, len(values))


def length_error(n: int, what: str, found: int) -> InputError:
    """Give the error for `found` values in the place of `n`."""
    return InputError(
        f"X and {what} have inconsistent numbers of samples: {n} and {found}. Give {what} one value for each row of X."
    )
