"""Any source of data as blocks of rows.

``rows(X, y)`` makes a `Rows` of an array, a sparse matrix or a frame without copying it; of files, which are then
streamed; or of a Dask collection, whose partitions stay where they are. Models see `Rows` only, and touch them by
:meth:`Rows.fold`: the same model code runs on all of them.

The *block plan*, the way in which rows are cut into blocks, depends on the data alone, never on the machine. Together with the
fixed order of addition in :mod:`qed.base.engine` that makes results independent of the number of threads.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from qed.base.engine import add_pairwise, work
from qed.base.errors import InputError

BLOCK_VALUES = 1 << 20


@dataclass(frozen=True, slots=True)
class Block:
    """Some consecutive rows.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csr_array of shape (n, p), or pyarrow.Table
        The features: numbers for models, a table for encoders.
    y : ndarray or None
        The target, as it came: numbers or labels, one or several columns.
    weight : ndarray or None
        The weight of each row, float64; None when all weigh one.
    start : int
        The number of the first row, counted over all blocks.
    """

    X: Any
    y: Any = None
    weight: Any = None
    start: int = 0

    def __len__(self) -> int:
        return int(self.X.num_rows if hasattr(self.X, "num_rows") else self.X.shape[0])

    def take(self, chosen: Any) -> Block:
        """Give the rows of a boolean mask or of an index array."""
        if hasattr(self.X, "num_rows"):
            X = self.X.filter(chosen) if chosen.dtype == bool else self.X.take(chosen)
        else:
            X = self.X[chosen]
        return Block(
            X,
            None if self.y is None else self.y[chosen],
            None if self.weight is None else self.weight[chosen],
            self.start,
        )


def block_rows(n_features: int) -> int:
    """Say how many rows a block holds: a power of two, of eight megabytes of float64 or less.

    Where there are many columns it is more, up to 64 megabytes, so that a block's work outweighs that of adding its result.

    Examples
    --------
    >>> block_rows(100), block_rows(2)
    (16384, 131072)
    """
    p = max(1, n_features)
    wanted = max(256, min(max(BLOCK_VALUES // p, 1 << 14), 8 * BLOCK_VALUES // p, 1 << 17))
    return 1 << (wanted.bit_length() - 1)


class Rows(ABC):
    """A table of numbers (or, for encoders, of mixed columns) that is read block by block.

    Attributes
    ----------
    n_features : int
        How many columns the features have.
    feature_names : tuple of str or None
        Their names, where the source has names.
    dtype : numpy.dtype
        float32 or float64; what the blocks hold.
    target_names : tuple of str
        The names of the target's columns; empty where there is no target or it has no name.
    target_is_number : bool
        Whether the target, if there is one, is made of numbers.
    """

    n_features: int
    feature_names: tuple[str, ...] | None = None
    target_names: tuple[str, ...] = ()
    target_is_number: bool = True
    dtype: np.dtype[Any] = np.dtype(np.float64)
    in_memory: bool = False

    @abstractmethod
    def tasks(self, function: Callable[..., Any], *args: Any) -> Iterator[Callable[[], Any]]:
        """Give one task per block, in order; a task reads its block and applies ``function(block, *args)``."""

    @abstractmethod
    def count(self) -> int:
        """Count the rows; for some sources that takes a pass."""

    @property
    @abstractmethod
    def has_target(self) -> bool:
        """Say whether the blocks have a ``y``."""

    @property
    @abstractmethod
    def has_weight(self) -> bool:
        """Say whether the blocks have weights."""

    @property
    def target_ndim(self) -> int:
        """Say whether ``y`` is one column (1) or a matrix of them (2)."""
        return 2 if len(getattr(self, "target_names", ())) > 1 else 1

    def fold(self, function: Callable[..., Any], *args: Any) -> Any:
        """Add up ``function(block, *args)`` over all blocks.

        Parameters
        ----------
        function : callable
            Takes a `Block` first; what it returns must know ``+``.
        *args
            Passed on.

        Examples
        --------
        >>> import numpy as np
        >>> rows(np.ones((1000, 3))).fold(lambda block: block.X.sum())
        np.float64(3000.0)
        """
        return add_pairwise(work(self.tasks(function, *args)))

    def each(self, function: Callable[..., Any], *args: Any) -> Iterator[Any]:
        """Give ``function(block, *args)`` of block after block, worked out in parallel."""
        return work(self.tasks(function, *args))

    def map(self, function: Callable[..., Any], *args: Any) -> Any:
        """Join the arrays ``function(block, *args)``, one row for each row of the source, in their order."""
        found = list(self.each(function, *args))
        if len(found) == 1:
            return found[0]
        return _join_sparse(found) if hasattr(found[0], "tocsr") else np.concatenate(found)

    def blocks(self) -> Iterator[Block]:
        """Give the blocks one after another."""
        return self.each(_same)

    def numbers(self) -> Rows:
        """Give the rows as numbers, for models; what holds text or dates is refused by name."""
        return self

    def table(self) -> Rows:
        """Give the rows as a table of mixed columns, for encoders."""
        raise InputError(f"{type(self).__name__} can not be read as a table.")

    def cached(self) -> Rows:
        """Give rows that are cheap to read many times: the rows themselves, unless reading means decoding."""
        return self

    def name_of(self, column: int) -> str:
        """Name a column for messages: ``'price'``, or ``number 3`` where there are no names."""
        return repr(self.feature_names[column]) if self.feature_names else f"number {column}"

    def array(self) -> Block:
        """Give all rows as a single block, for methods that work in memory."""
        found = list(self.blocks())
        if len(found) == 1:
            return found[0]
        join = _join_sparse if hasattr(found[0].X, "tocsr") else np.concatenate
        return Block(
            join([block.X for block in found]),
            np.concatenate([block.y for block in found]) if self.has_target else None,
            np.concatenate([block.weight for block in found]) if self.has_weight else None,
        )


def _same(block: Block) -> Block:
    return block


def _join_sparse(parts: list[Any]) -> Any:
    from scipy import sparse

    return sparse.vstack(parts, format="csr")


class ArrayRows(Rows):
    """Rows of arrays in memory (or memory-mapped): blocks are views, nothing is copied.

    Parameters
    ----------
    X : ndarray of shape (n, p), or a scipy.sparse CSR array, or pyarrow.Table
        The features.
    y : ndarray, optional
        The target.
    weight : ndarray, optional
        The weights.
    feature_names : sequence of str, optional
        The names of the columns.
    size : int, optional
        Rows per block; the default depends on the number of columns.
    """

    in_memory = True

    def __init__(
        self,
        X: Any,
        y: Any = None,
        weight: Any = None,
        feature_names: Sequence[str] | None = None,
        size: int | None = None,
    ) -> None:
        self.X, self.y, self.weight = X, y, weight
        self.target_is_number = y is None or np.asarray(y).dtype.kind in "biuf"
        self.feature_names = tuple(feature_names) if feature_names is not None else None
        self.n_features = int(X.shape[1])
        self.dtype = np.dtype(X.dtype) if hasattr(X, "dtype") else np.dtype(object)
        self.size = size if size is not None else block_rows(self._width())
        if hasattr(X, "tocsr") and X.format != "csr":
            self.X = X.tocsr()

    def _width(self) -> int:
        """Give the stored values per row, which for a sparse matrix are few."""
        if hasattr(self.X, "nnz"):
            return max(1, -(-int(self.X.nnz) // max(1, self.X.shape[0])))
        return self.n_features

    @property
    def has_target(self) -> bool:
        return self.y is not None

    @property
    def has_weight(self) -> bool:
        return self.weight is not None

    @property
    def target_ndim(self) -> int:
        return 1 if self.y is None else int(self.y.ndim)

    def count(self) -> int:
        return int(self.X.shape[0])

    def tasks(self, function: Callable[..., Any], *args: Any) -> Iterator[Callable[[], Any]]:
        n = self.count()
        for start in range(0, max(n, 1), self.size):
            yield partial(self._task, function, args, start, min(start + self.size, n))

    def _task(self, function: Callable[..., Any], args: tuple[Any, ...], start: int, stop: int) -> Any:
        return function(self.block(start, stop), *args)

    def block(self, start: int, stop: int) -> Block:
        """Give rows `start` to `stop` as a view."""
        if hasattr(self.X, "num_rows"):
            X = self.X.slice(start, stop - start)
        else:
            X = self.X[start:stop]
        y = None if self.y is None else self.y[start:stop]
        weight = None if self.weight is None else self.weight[start:stop]
        return Block(X, y, weight, start)

    def array(self) -> Block:
        return Block(self.X, self.y, self.weight)

    def table(self) -> Rows:
        if hasattr(self.X, "num_rows"):
            return self
        import pyarrow as pa

        if hasattr(self.X, "tocsr"):
            raise InputError("A sparse matrix can not be read as a table: make it dense first.")
        names = self.feature_names or tuple(f"x{j}" for j in range(self.n_features))
        columns = [pa.array(np.ascontiguousarray(self.X[:, j]), from_pandas=True) for j in range(self.n_features)]
        return ArrayRows(pa.table(columns, names=list(names)), self.y, self.weight, self.feature_names, self.size)


def rows(
    X: Any,
    y: Any = None,
    *,
    target: str | Sequence[str] | None = None,
    sample_weight: Any = None,
    columns: Sequence[str] | None = None,
    block_size: int | None = None,
) -> Rows:
    """Make `Rows` of any source of data.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, path, or Dask collection
        An ndarray, a SciPy sparse matrix, a pandas or polars frame, an Arrow table or anything that streams Arrow; the path of
        ``.csv``, ``.parquet`` or ``.npy`` files (``*`` is allowed, as is a list of paths); a Dask array or frame.
    y : array-like, optional
        The target, when it is not a column of `X`.
    target : str or list of str, optional
        The name of the target's column in `X`.
    sample_weight : array-like or str, optional
        Weights, or the name of their column in `X`.
    columns : list of str, optional
        The columns to use as features; the default is all the others.
    block_size : int, optional
        Rows per block. Models do not depend on it but for rounding.

    Returns
    -------
    Rows
        What every model's ``fit`` accepts in the place of ``X``.

    Examples
    --------
    >>> import numpy as np
    >>> data = rows(np.arange(6.0).reshape(3, 2), [0, 1, 1])
    >>> data.count(), data.n_features
    (3, 2)
    """
    if isinstance(X, Rows):
        if y is None and sample_weight is None and target is None and columns is None:
            return X
        raise InputError("These are rows already: give the target and the weights where they are first made.")
    if _is_path(X):
        from qed.base.sources.files import open_files

        return open_files(X, y, target=target, weight=sample_weight, columns=columns, size=block_size)
    if _is_dask(X):
        from qed.base.sources.cluster import open_dask

        return open_dask(X, y, target=target, weight=sample_weight, columns=columns, size=block_size)
    from qed.base.sources.tables import open_table

    return open_table(X, y, target=target, weight=sample_weight, columns=columns, size=block_size)


def _is_path(X: Any) -> bool:
    if isinstance(X, (list, tuple)) and X:
        return all(isinstance(item, (str, Path)) for item in X)
    return isinstance(X, (str, os.PathLike))


def _is_dask(X: Any) -> bool:
    return hasattr(X, "__dask_graph__") or type(X).__module__.split(".")[0] in {"dask", "dask_expr"}
