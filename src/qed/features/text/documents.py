"""Documents from wherever they come: lists, columns of tables, files."""

from pathlib import PurePath
from typing import Any

import pyarrow as pa

from qed.base.errors import InputError
from qed.base.sources.layout import kind_of
from qed.base.sources.rows import Rows
from qed.features.tables.levels import is_missing


def documents_of(X: Any) -> Any:
    """Give what `qed.rows` takes: documents that came as a list, an iterator or a column as a table of one column.

    >>> documents_of(["a b", "c"]).column(0).to_pylist()
    ['a b', 'c']
    """
    if isinstance(X, str):
        raise InputError(
            "Iterable over raw text documents expected, string object received: give a list of documents, [text]; or a file "
            "by qed.rows('messages.csv', columns=['message'])."
        )
    if isinstance(X, (Rows, PurePath)) or getattr(X, "ndim", 1) == 2 or hasattr(X, "__dask_graph__"):
        return X
    if isinstance(X, (pa.Array, pa.ChunkedArray)):
        return pa.table({"text": X})
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        return X
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], (list, tuple, PurePath)):
        return X
    if hasattr(X, "to_arrow"):
        return pa.table({"text": X.to_arrow()})
    documents = X.tolist() if hasattr(X, "tolist") else list(X)
    strange = [row for row, one in enumerate(documents) if not (isinstance(one, str) or is_missing(one))]
    if strange:
        raise InputError(
            f"The document in row {strange[0]} (counted from 0) is a {type(documents[strange[0]]).__name__}, not text."
        )
    return pa.table({"text": pa.array([None if is_missing(one) else one for one in documents], pa.large_string())})


def texts_of(column: pa.Array, name: str, start: int) -> list[str]:
    """Give documents as a list, or say which row, counted from `start`, is none.

    >>> texts_of(pa.array(["a", "b c"]), "documents", 0)
    ['a', 'b c']
    """
    if kind_of(column.type) != "text" and not pa.types.is_null(column.type):
        raise InputError(f"Words are counted, but the {name} are of the type {column.type}, not text.")
    found: list[str] = column.to_pylist()
    if column.null_count:
        row = start + next(place for place, text in enumerate(found) if text is None)
        raise InputError(f"The {name} miss row {row} (counted from 0): drop the row, or put '' in its place.")
    return found
