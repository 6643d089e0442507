"""What kernels are given: two tables of numbers with the same columns, checked once, worked on in float64."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from qed.base.errors import InputError
from qed.base.models.checks import is_finite
from qed.base.sources.block import as_dense, is_sparse


class Pair(NamedTuple):
    """Two checked tables."""

    # The rows on both sides, in float64; the same object when a table is compared with itself.
    X: Any
    Z: Any
    dtype: np.dtype[Any]  # what the result has to be: float32 when both tables are, else float64
    held: int  # bytes of memory that their conversion took


def check_pair(X: Any, Z: Any = None) -> Pair:
    """Check two tables; `Z` stands for `X` itself where it is None.

    >>> check_pair([[1, 2], [3, 4]]).X.dtype
    dtype('float64')
    >>> check_pair([[1.0, 2.0]], [[1.0]])
    Traceback (most recent call last):
        ...
    qed.base.errors.InputError: X has 2 columns and Z has 1: a kernel compares rows of the same columns.
    """
    left = check_table(X, "X")
    right = left if Z is None else check_table(Z, "Z")
    if left.shape[1] != right.shape[1]:
        raise InputError(
            f"X has {left.shape[1]} columns and Z has {right.shape[1]}: a kernel compares rows of the same columns."
        )
    dtype = np.result_type(left.dtype, right.dtype)
    if is_sparse(left) != is_sparse(right):
        left, right = as_csr(left), as_csr(right)
    first = as_double(left)
    second = first if Z is None else as_double(right)
    held = sum(size_of(new) for new, old in ((first, X), (second, X if Z is None else Z)) if new is not old)
    return Pair(first, second, dtype, held)


def check_table(X: Any, name: str = "X") -> Any:
    """Give a table as an ndarray or CSR array of float64 or float32, or say why it is none."""
    if is_sparse(X):
        table = as_csr(X)
    else:
        table = np.asarray(X)
        if table.dtype.kind == "O":
            table = _numbers(table, name)
    if table.dtype.kind not in "biuf":
        raise InputError(f"{name} holds values of type {table.dtype}, not real numbers: encode or convert them first.")
    if table.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {table.ndim}D array instead: {name} has the shape {table.shape}, and a kernel compares "
            "the rows of a table. Use X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row."
        )
    if table.shape[1] == 0:
        raise InputError(f"{name} has no columns (0 feature(s)): there is nothing to compare rows by.")
    if not is_finite(table):
        _refuse_missing(table, name)
    return table if table.dtype in (np.float32, np.float64) else table.astype(np.float64)


def _numbers(table: np.ndarray, name: str) -> np.ndarray:
    try:
        return table.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} holds values that are not numbers: encode or convert them first.") from None


def _refuse_missing(table: Any, name: str) -> None:
    if is_sparse(table):
        place = int(np.flatnonzero(~np.isfinite(table.data))[0])
        row, column = int(np.searchsorted(table.indptr, place, side="right")) - 1, int(table.indices[place])
        value = table.data[place]
    else:
        row, column = (int(number) for number in np.argwhere(~np.isfinite(table))[0])
        value = table[row, column]
    what = "NaN" if np.isnan(value) else "infinity"
    raise InputError(
        f"{name} contains {what}: row {row}, column {column} (counted from 0). Fill the hole or drop the row."
    )


def as_csr(table: Any) -> Any:
    """Give a table as a CSR array; one that is a CSR array stays what it is."""
    return table if isinstance(table, sparse.csr_array) else sparse.csr_array(table)


def as_double(table: Any) -> Any:
    """Give a table as float64; one that is float64 stays what it is."""
    return table if table.dtype == np.float64 else table.astype(np.float64)


def dense(table: Any) -> np.ndarray:
    """Give a table as an ndarray."""
    return as_dense(table)


def size_of(table: Any) -> int:
    """Give the bytes that a table takes."""
    if is_sparse(table):
        return int(table.data.nbytes + table.indices.nbytes + table.indptr.nbytes)
    return int(table.nbytes)
