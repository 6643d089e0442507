"""Holes in blocks: found, counted, and filled, in matrices of numbers (NaN) and in Arrow tables (null)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from qed.base.errors import InputError
from qed.base.sources.block import Block, is_sparse
from qed.base.sources.layout import kind_of
from qed.features.tables.levels import column_of, is_missing

Matrix = np.ndarray | sparse.csr_array


@dataclass(frozen=True)
class Holes:
    """Gives the features of a block with a hole wherever a certain value is.

    >>> Holes(-1, ("'age'",))(Block(np.array([[30.0], [-1.0]])))
    array([[30.],
           [nan]])
    """

    missing: Any  # what stands for a missing value; NaN and None are the same
    names: tuple[str, ...]  # the columns as they are called in messages

    def __call__(self, block: Block) -> Any:
        if hasattr(block.X, "num_rows"):
            return self._of_table(block.X)
        if not is_sparse(block.X):
            return self._of_numbers(block.X, block)
        if self.missing == 0:
            raise InputError(
                "missing_values=0 can not be told from values that a sparse matrix does not store. Provide a dense array instead."
            )
        return _with_data(block.X, self._of_numbers(block.X.data, block))

    def _of_numbers(self, X: np.ndarray, block: Block) -> np.ndarray:
        if not is_missing(self.missing):
            self._refuse(np.isnan(X), "NaN", f"but missing_values={self.missing!r}. Give missing_values=nan.", block)
            X = np.where(self.missing == X, np.nan, X).astype(X.dtype, copy=False)
        self._refuse(np.isinf(X), "infinity", "Correct or drop the row.", block)
        return X

    def _refuse(self, bad: np.ndarray, what: str, advice: str, block: Block) -> None:
        if bad.any():
            start, places = block.start, np.argwhere(bad if bad.ndim == 2 else _with_data(block.X, bad).toarray())
            row, column = (int(place) for place in places[0])
            raise InputError(
                f"Input X contains {what}: column {self.names[column]}, row {start + row} (counted from 0). {advice}"
            )

    def _of_table(self, table: pa.Table) -> pa.Table:
        columns = [column_of(table, j) for j in range(table.num_columns)]
        if not is_missing(self.missing):
            kind = kind_of(pa.scalar(self.missing).type)
            columns = [_emptied(column, self.missing) if kind_of(column.type) == kind else column for column in columns]
        return pa.table(columns, names=table.column_names)


def _with_data(X: sparse.csr_array, data: np.ndarray) -> sparse.csr_array:
    """Give a sparse matrix with other values in the same places."""
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def _emptied(column: pa.Array, value: Any) -> pa.Array:
    """Make a hole wherever `value` is."""
    if pa.types.is_boolean(column.type) != isinstance(value, bool):
        return column
    hit = pc.equal(column, pa.scalar(value)).fill_null(False)
    return pc.if_else(hit, pa.scalar(None, column.type), column)


def count_holes(block: Block) -> np.ndarray:
    """Count the holes of each column, and in the end the rows; rows of weight zero are not there.

    >>> count_holes(Block(np.array([[1.0, np.nan], [2.0, 3.0]])))
    array([0, 1, 2])
    """
    block = block.present
    if hasattr(block.X, "num_rows"):
        return np.array([*(column.null_count for column in block.X.columns), len(block)])
    if is_sparse(block.X):
        return np.append(np.bincount(block.X.indices[np.isnan(block.X.data)], minlength=block.X.shape[1]), len(block))
    return np.append(np.isnan(block.X).sum(axis=0), len(block))


def fill_numbers(X: Matrix, values: np.ndarray, marked: np.ndarray) -> Matrix:
    """Fill the columns that have a value with it, leave the others out, and append the places of holes in the `marked` ones.

    What is sparse stays sparse.

    >>> fill_numbers(np.array([[np.nan, np.nan]]), np.array([np.nan, 7.0]), np.array([1]))
    array([[7., 1.]])
    """
    if values.shape != X.shape[1:]:
        raise InputError(f"{X.shape[1]} columns can not be filled with {values.size} values: fit anew.")
    kept = ~np.isnan(values)
    if not isinstance(X, np.ndarray):
        return _fill_sparse(X, values, kept, marked)
    filled = np.array(X if kept.all() else X[:, kept])
    np.copyto(filled, values[kept], where=np.isnan(filled), casting="same_kind")
    return np.hstack([filled, np.isnan(X[:, marked]).astype(X.dtype)]) if len(marked) else filled


def _fill_sparse(X: sparse.csr_array, values: np.ndarray, kept: np.ndarray, marked: np.ndarray) -> sparse.csr_array:
    holes = np.isnan(X.data)
    filled = _with_data(X, np.where(holes, values[X.indices], X.data).astype(X.dtype, copy=False))
    filled = filled if kept.all() else filled[:, kept]
    if not len(marked):
        return filled
    places = _with_data(X, holes.astype(X.dtype))[:, marked]
    places.eliminate_zeros()
    return sparse.hstack([filled, places], format="csr")


def fill_table(table: pa.Table, values: np.ndarray, marked: np.ndarray) -> np.ndarray:
    """Do the same with a table; gives a matrix of objects.

    >>> fill_table(pa.table({"a": ["x", None]}), np.array(["y"], dtype=object), np.array([0])).tolist()
    [['x', False], ['y', True]]
    """
    kept = [j for j, value in enumerate(values.tolist()) if not is_missing(value)]
    found = np.empty((table.num_rows, len(kept) + len(marked)), dtype=object)
    for place, j in enumerate(kept):
        column = table.column(j).to_pylist()
        found[:, place] = [values[j] if value is None else value for value in column]
    for place, j in enumerate(marked.tolist(), len(kept)):
        found[:, place] = pc.is_null(table.column(j)).to_numpy()
    return found
