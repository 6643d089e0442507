"""A block: some consecutive rows with their features, target and weights, the piece of data that models work on.

The features of a block are a matrix, dense or sparse, or for encoders an Arrow table. The few things that depend on which of them it is
(how rows are taken out, how blocks are joined) are here, so that nothing above has to ask.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from scipy.sparse import csr_array

from qed.base.numbers import no_memory

BLOCK_VALUES, LEAST_BLOCK = 1 << 20, 256
# A function of a block and further arguments.
Function = Callable[..., Any]
# A block of fewer is not worth a thread.
LEAST_VALUES, LEAST_ROWS = 1 << 17, 1 << 10
# SciPy looks longer at a sparse table of fewer values, zeros and all, than NumPy takes to multiply it.
SMALL_TABLE = 1 << 13


def is_sparse(matrix: object) -> bool:
    """Say whether a matrix is sparse.

    >>> from scipy import sparse
    >>> is_sparse(sparse.eye_array(2)), is_sparse(np.eye(2))
    (True, False)
    """
    return hasattr(matrix, "tocsr")


def as_dense(matrix: Any) -> Any:
    """Give a matrix as an array; one that is no sparse matrix as it is."""
    return matrix.toarray() if is_sparse(matrix) else matrix


def dense_if_small(matrix: Any) -> Any:
    """Give a small sparse matrix as an array, to which zeros add no rounding, and others as they are.

    >>> from scipy import sparse
    >>> dense_if_small(sparse.eye_array(2))
    array([[1., 0.],
           [0., 1.]])
    """
    few = is_sparse(matrix) and matrix.shape[0] * matrix.shape[1] <= SMALL_TABLE
    return matrix.toarray() if few else matrix


def aligned(values: np.ndarray) -> np.ndarray:
    """Give an array whose numbers begin where the processor likes them, as they may not after a journey between processes.

    BLAS does not take others, and NumPy's own loops add in another order.
    """
    return values if values.flags.aligned else values.copy()


def copied(X: Any) -> Any:
    """Give rows that a model keeps as a copy of its own, which stays what it is when the caller's table is written to.

    A file that is mapped for reading stays where it is: nobody writes to it by that.

    >>> given = np.zeros((2, 1))
    >>> kept = copied(given)
    >>> given[:] = 1.0
    >>> kept.ravel()
    array([0., 0.])
    """
    if isinstance(X, np.memmap) and not X.flags.writeable:
        return X
    return X.copy()


def values_apart(kept: Any, given: Any, counted: Any = None) -> float:
    """Count the values in which rows that a model has kept differ from given ones, of which either may be sparse; missing ones are alike.

    With `counted`, which rows are compared; tables of different shapes are infinitely far apart.

    >>> from scipy.sparse import csr_array
    >>> kept, given = np.array([[1.0, 0.0, np.nan]]), np.array([[1.0, 2.0, np.nan]])
    >>> values_apart(kept, given), values_apart(csr_array(kept), given)
    (1.0, 1.0)
    """
    if kept.shape != given.shape:
        return float("inf")
    if counted is not None:
        kept, given = kept[counted], given[counted]
    if is_sparse(kept) or is_sparse(given):
        from scipy.sparse import csr_array

        one, another = csr_array(kept), csr_array(given)
        differ: Any = one != another
        # What is not even like itself is missing.
        holes: Any = one != one
        return float(differ.nnz - holes.multiply(another != another).nnz)
    return float(np.count_nonzero((kept != given) & ((kept == kept) | (given == given))))


class Sliced(ABC):
    """A matrix of which only some rows at a time can be had, by a slice or an array of their numbers."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    in_memory: bool = False  # whether giving rows means no more than copying them

    @abstractmethod
    def __getitem__(self, rows: slice | np.ndarray) -> Any:
        """Give some rows as a matrix."""


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

    Examples
    --------
    >>> block = Block(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1]))
    >>> block.weights, block.take(block.y == 1).X.tolist()
    (array([1., 1., 1.]), [[2.0], [4.0]])
    """

    X: Any
    y: Any = None
    weight: Any = None
    start: int = 0

    def __len__(self) -> int:
        return int(self.X.num_rows if isinstance(self.X, pa.Table) else self.X.shape[0])

    @property
    def weights(self) -> np.ndarray:
        """The weight of each row: ones where there are none."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def present(self) -> Block:
        """The rows that have any weight: a row of weight zero is as good as absent, whatever stands in it."""
        return self if self.weight is None or self.weight.all() else self.take(self.weight > 0)

    @property
    def emptied(self) -> Block:
        """The same number of rows, of which those without weight hold zeros: whatever stood in them times zero is zero then."""
        if self.weight is None or self.weight.all():
            return self
        X, y, gone = self.X.copy(), self.y, np.asarray(self.weight) == 0
        if is_sparse(X):
            X.data[np.repeat(gone, np.diff(X.indptr))] = 0
        else:
            X[gone] = 0
        if y is not None and y.dtype.kind == "f":
            y = np.where(gone if y.ndim == 1 else gone[:, None], y.dtype.type(0), y)
        return Block(X, y, self.weight, self.start)

    def take(self, chosen: np.ndarray) -> Block:
        """Give the rows of a boolean mask or of an index array."""
        if isinstance(self.X, pa.Table):
            X = self.X.filter(chosen) if chosen.dtype == bool else self.X.take(chosen)
        else:
            X = self.X[chosen]
        return Block(
            X,
            None if self.y is None else self.y[chosen],
            None if self.weight is None else self.weight[chosen],
            self.start,
        )

    def between(self, start: int, stop: int) -> Block:
        """Give the consecutive rows `start` to `stop`, counted from the block's first, as a view."""
        if isinstance(self.X, pa.Table):
            X = self.X.slice(start, stop - start)
        else:
            X = rows_between(self.X, start, stop) if is_sparse(self.X) else self.X[start:stop]
        y = None if self.y is None else self.y[start:stop]
        weight = None if self.weight is None else self.weight[start:stop]
        return Block(X, y, weight, self.start + start)


def rows_between(X: csr_array, start: int, stop: int) -> csr_array:
    """Give consecutive rows of a sparse table; where it is stored by rows, what is stored of them is not copied.

    Examples
    --------
    >>> from scipy import sparse
    >>> rows_between(sparse.csr_array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]), 1, 3).toarray()
    array([[0., 2.],
           [3., 0.]])
    """
    from scipy import sparse

    if not isinstance(X, sparse.csr_array | sparse.csr_matrix):
        return X[start:stop]
    ends = X.indptr[start : max(start, min(stop, X.shape[0])) + 1]
    there = slice(ends[0], ends[-1])
    found = type(X)((len(ends) - 1, X.shape[1]), dtype=X.dtype)
    found.data, found.indices, found.indptr = X.data[there], X.indices[there], ends - ends[0]
    return found


@dataclass(slots=True)
class Piece:
    """A block that has not been read yet: its rows are `start` to ``start + count``, and ``read()`` gives them."""

    start: int
    count: int
    read: Callable[[], Block]

    def task(self, function: Function, args: tuple[Any, ...]) -> Callable[[], Any]:
        """Give the task of reading the block and applying ``function(block, *args)``."""
        return partial(_read_and_apply, self.read, function, args)


def _read_and_apply(read: Callable[[], Block], function: Function, args: tuple[Any, ...]) -> Any:
    return function(read(), *args)


def join(parts: Sequence[Any]) -> Any:
    """Put the rows of arrays, of sparse matrices or of tables below each other.

    >>> join([np.ones((1, 2)), np.zeros((1, 2))])
    array([[1., 1.],
           [0., 0.]])
    """
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], pa.Table):
        return pa.concat_tables(parts, promote_options="permissive")
    if is_sparse(parts[0]):
        from scipy import sparse

        return sparse.vstack(parts, format="csr")
    try:
        return np.concatenate(parts)
    except MemoryError:
        shape = (sum(len(part) for part in parts), *parts[0].shape[1:])
        raise no_memory(sum(part.nbytes for part in parts), " x ".join(f"{n:,}" for n in shape)) from None


def join_blocks(blocks: Sequence[Block]) -> Block:
    """Put blocks that follow each other together."""
    first = blocks[0]
    return Block(
        join([block.X for block in blocks]),
        None if first.y is None else join([block.y for block in blocks]),
        None if first.weight is None else join([block.weight for block in blocks]),
        first.start,
    )


def rows_that_count(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Give the rows of a dense block that have a weight, stored row by row, and their weights."""
    block = block.present
    return np.asarray(block.X), block.weights


def block_rows(n_features: int, count: int | None = None, width: int | None = None) -> int:
    """Say how many rows a block holds: a power of two, of eight megabytes of float64 or less.

    Where there are many columns it is more, up to 64 megabytes, so that a block's work outweighs that of adding its result. Where it is
    known how many rows there are, blocks are of equal size, and there are one, two, four, eight or a multiple of eight of them, so that
    any usual number of threads has work to the end.

    Where not all values of a row are stored, `width` says how many. Sums are dense all the same: there are fewer blocks
    then.

    >>> block_rows(100), block_rows(2), block_rows(100, 20_000), block_rows(2, 1000)
    (16384, 131072, 2500, 1000)
    """
    if count is not None and count <= LEAST_BLOCK:
        return max(1, count)
    stored = max(1, n_features if width is None else width)
    wanted = max(LEAST_BLOCK, min(max(BLOCK_VALUES // stored, 1 << 14), 8 * BLOCK_VALUES // stored, 1 << 17))
    most = 1 << (wanted.bit_length() - 1)
    if count is None:
        return most
    least = LEAST_ROWS if width is None else max(LEAST_ROWS, 4 * n_features)
    worth = min(count * stored // LEAST_VALUES, count // least, 8)
    blocks = max(1, -(-count // most), worth)
    blocks = 1 << (blocks - 1).bit_length() if blocks <= 8 else -(-blocks // 8) * 8
    return max(1, -(-count // blocks))
