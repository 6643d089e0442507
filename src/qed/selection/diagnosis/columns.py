"""Tables of any kind with one column changed: its values in another order, or one value in every row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from qed.base.errors import InputError
from qed.base.sources.block import is_sparse
from qed.base.sources.layout import did_you_mean
from qed.base.sources.open import is_dask, is_path, rows
from qed.base.sources.rows import Rows


def opened(X: Any, y: Any = None) -> tuple[Any, Any]:
    """Give a table in memory with its target: rows and files as an Arrow table where columns have names, all else as it is.

    >>> opened([[1.0], [2.0]])[0].shape
    (2, 1)
    """
    if isinstance(X, Rows) or is_path(X) or is_dask(X):
        source = X if isinstance(X, Rows) else rows(X, y)
        block = (source.table() if source.feature_names else source).array()
        return block.X, block.y if y is None or not isinstance(X, Rows) else y
    return (X if hasattr(X, "shape") else np.asarray(X)), y


def names_of(X: Any) -> list[str]:
    """Name the columns of a table; "x0", "x1" and so on where they have no names.

    >>> names_of(np.zeros((2, 2))), names_of(pa.table({"a": [1]}))
    (['x0', 'x1'], ['a'])
    """
    if isinstance(X, pa.Table):
        return list(X.column_names)
    found = getattr(X, "columns", None)
    return [f"x{j}" for j in range(X.shape[1])] if found is None else [str(name) for name in found]


def places_of(X: Any, columns: Any) -> list[int]:
    """Find columns by their names or numbers; all of them where none is given."""
    names = names_of(X)
    if columns is None:
        return list(range(len(names)))
    given = [columns] if isinstance(columns, (str, int, np.integer)) else list(columns)
    found = []
    for one in given:
        if isinstance(one, str) and one not in names:
            raise InputError(f"There is no column {one!r}. {did_you_mean(one, names)}")
        place = names.index(one) if isinstance(one, str) else int(one)
        if not -len(names) <= place < len(names):
            raise InputError(f"There is no column {place}: there are {len(names)}.")
        found.append(place % len(names))
    return found


def column_at(X: Any, place: int) -> Any:
    """Give one column: an Arrow array of an Arrow table, a series of a frame, an array of an array."""
    if isinstance(X, pa.Table):
        return X.column(place).combine_chunks()
    if hasattr(X, "iloc"):
        return X.iloc[:, place]
    if hasattr(X, "to_series"):
        return X.to_series(place)
    return X[:, [place]].toarray().ravel() if is_sparse(X) else X[:, place]


def with_column(X: Any, place: int, values: Any) -> Any:
    """Give the table with other values in one of its columns, which are of its own kind; the table itself stays as it is.

    >>> with_column(np.zeros((2, 2)), 1, np.array([5.0, 6.0]))
    array([[0., 5.],
           [0., 6.]])
    """
    if isinstance(X, pa.Table):
        return X.set_column(place, X.schema.field(place), values)
    if hasattr(X, "iloc"):
        found = X.copy(deep=False)
        found.isetitem(place, values)
        return found
    if hasattr(X, "to_series"):
        return X.with_columns(values.alias(X.columns[place]))
    if is_sparse(X):
        kept, last = X.tocsc(), X.shape[1]
        parts = [kept[:, :place], sparse.csc_array(np.asarray(values)[:, None]), kept[:, place + 1 : last]]
        return sparse.csr_array(sparse.hstack(parts))
    found = np.array(X)
    found[:, place] = values
    return found


def reordered(column: Any, order: np.ndarray) -> Any:
    """Give the values of a column in another order, or some of them."""
    if isinstance(column, pa.Array):
        return column.take(pa.array(order))
    if hasattr(column, "iloc"):
        return column.iloc[order].array
    return column[order]
