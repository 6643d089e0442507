r"""Gram matrices, tile by tile: :math:`K_{ij} = k(x_i, z_j)`.

A kernel is first *bound* to two tables: whatever is needed of each row by itself (its norm, its features) is worked out
once. What comes back is a function that fills any tile of the matrix, and tiles are small enough to stay in the cache
while one operation after another runs over them. Tiles are filled in parallel, and where they begin and end depends on the
tables alone, so that the number of threads changes no bit. The matrix of a table with itself is symmetric bit for bit,
because only the tiles below the diagonal are worked out and the others are copied from them. All is done in float64, and
kept as float32 where the tables are. Cost: :math:`O(nmp)` for :math:`n` and :math:`m` rows of :math:`p` columns, at the
speed of matrix products.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from qed.base.engine import n_threads, threads, work
from qed.base.errors import InputError, ParameterError
from qed.base.models.checks import is_finite
from qed.base.numbers import room

SIDE, LEAST_SIDE = 240, 64

Places = slice | np.ndarray
Fill = Callable[[Places, slice, np.ndarray], object]


class Bound(NamedTuple):
    """A kernel bound to two tables."""

    # `fill(rows, columns, out)` writes the values of some rows of the first table (a slice, or an array of their
    # numbers) and some of the second (a slice) into `out`.
    fill: Fill
    held: int = 0  # bytes that it keeps besides the tables
    extra: int = 0  # how many more arrays of the size of `out` it needs while it fills


@dataclass(frozen=True, eq=False)
class Tiles:
    """The Gram matrix of two tables, of which as much is worked out as is asked for.

    Attributes
    ----------
    bound : Bound
        What fills a tile.
    shape : tuple of int
        The numbers of rows of the two tables.
    dtype : numpy.dtype
        What values are kept as.
    held : int
        Bytes of memory that are in use before anything is filled.
    mirrored : bool
        Whether the two tables are the same and the matrix is symmetric, so that half of it is enough.
    kernel : object
        Who is to blame if values overflow.
    """

    bound: Bound
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    held: int
    mirrored: bool
    kernel: object

    def whole(self) -> np.ndarray:
        """Give the whole matrix."""
        out = room(self.shape, self.dtype)
        # The last strips of a mirrored matrix are the longest, and come first, so that threads end together: there are three at least.
        side = max(LEAST_SIDE, min(SIDE, -(-len(out) // 3)))
        strips = reversed(list(_cut(len(out), side)))
        _finish(partial(self._fill_strip, out, strip, 0, side, self.mirrored) for strip in strips)
        return out

    def blocks(self, memory: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Give the matrix in blocks of rows that, with everything else, need no more than `memory` bytes."""
        n, m = self.shape
        size, side, at_once = self._plan(memory)
        for rows in _cut(n, size):
            out = np.empty((rows.stop - rows.start, m), self.dtype)
            with threads(min(n_threads(), at_once)):
                _finish(
                    partial(self._fill_strip, out, strip, rows.start, side, False) for strip in _cut(len(out), side)
                )
            yield rows, out

    def _plan(self, memory: int) -> tuple[int, int, int]:
        """Say how many rows a block may have, how long the sides of its tiles are, and how many may be filled at a time.

        Two blocks are alive at a time, because whoever reads them still holds the last one while the next is made; they get three
        quarters of the memory, and the tiles a quarter. Neither rows nor sides depend on the number of threads.
        """
        n, m = self.shape
        row, entry = 2 * max(1, m) * self.dtype.itemsize, 8 * (1 + self.bound.extra)
        least = self.held + row + entry
        if memory < least:
            raise ParameterError(
                f"memory={memory} bytes are too few: one row of the {n} x {m} matrix and what is needed to fill it take {least}. "
                "Give more memory, or compare with fewer rows at a time."
            )
        free = memory - self.held
        for_tiles = max(entry, min(free // 4, free - row))
        side = max(1, min(SIDE, math.isqrt(for_tiles // (2 * entry))))
        size = min(max(1, n), (free - for_tiles) // row)
        return (size if size < side else size - size % side), side, for_tiles // (entry * side**2)

    def rows(self, numbers: Any) -> np.ndarray:
        """Give chosen rows of the matrix, for methods that look at a few at a time.

        Parameters
        ----------
        numbers : array-like of int of shape (k,)
            Which rows, in any order.

        Returns
        -------
        ndarray of shape (k, m)
            The rows.
        """
        numbers = np.asarray(numbers, dtype=np.intp)
        out = np.empty((len(numbers), self.shape[1]), self.dtype)
        width = max(SIDE, SIDE**2 // max(1, len(numbers)))
        _finish(
            partial(self._fill_tile, numbers[rows], columns, out[rows, columns])
            for rows in _cut(len(numbers), SIDE)
            for columns in _cut(self.shape[1], width)
        )
        return out

    def combined(self, coefficients: np.ndarray) -> np.ndarray:
        r"""Give :math:`\sum_i c_i k(x_i, z_j)` for every row of the second table: predictions, without keeping similarities.

        Parameters
        ----------
        coefficients : ndarray of shape (n, q)
            For each row of the first table one coefficient for each output.

        Returns
        -------
        ndarray of shape (m, q), float64
            The sums.
        """
        out = np.zeros((self.shape[1], coefficients.shape[1]))
        _finish(partial(self._combine, coefficients, columns, out[columns]) for columns in _cut(len(out), SIDE))
        return out

    def _combine(self, coefficients: np.ndarray, columns: slice, out: np.ndarray) -> None:
        width = columns.stop - columns.start
        scratch = np.empty((min(SIDE, self.shape[0]), width))
        for rows in _cut(self.shape[0], SIDE):
            tile = self._filled(rows, columns, scratch[: rows.stop - rows.start])
            self._refuse_infinite(tile)
            out += tile.T @ coefficients[rows]

    def _fill_tile(self, rows: Places, columns: slice, out: np.ndarray) -> None:
        tile = self._filled(rows, columns, np.empty(out.shape))
        with quiet():
            out[...] = tile
        self._refuse_infinite(out)

    def _fill_strip(self, out: np.ndarray, strip: slice, first: int, side: int, mirrored: bool) -> None:
        """Fill a strip of `out`, which are the rows `first` and following of the matrix."""
        rows = slice(first + strip.start, first + strip.stop)
        scratch = np.empty(side * side)
        for columns in _cut(strip.stop if mirrored else out.shape[1], side):
            shape = rows.stop - rows.start, columns.stop - columns.start
            tile = self._filled(rows, columns, scratch[: shape[0] * shape[1]].reshape(shape))
            if mirrored and columns.start == strip.start:
                np.copyto(tile, tile.T.copy(), where=_above(len(tile)))
            with quiet():
                out[strip, columns] = tile
            self._refuse_infinite(tile if out.dtype == np.float64 else out[strip, columns])
            if mirrored and columns.start < strip.start:
                out[columns, strip] = tile.T

    def _filled(self, rows: Places, columns: slice, tile: np.ndarray) -> np.ndarray:
        with quiet():
            self.bound.fill(rows, columns, tile)
        return tile

    def _refuse_infinite(self, values: np.ndarray) -> None:
        if not is_finite(values):
            raise overflowed(self.kernel)


@lru_cache(maxsize=4)
def _above(n: int) -> np.ndarray:
    """Say which entries of a square matrix are above its diagonal."""
    return np.triu(np.ones((n, n), dtype=bool), 1)


def _cut(length: int, size: int) -> Iterator[slice]:
    """Cut a length into slices of a size; the last may be shorter."""
    return (slice(start, min(start + size, length)) for start in range(0, length, size))


def _finish(tasks: Iterable[Callable[[], None]]) -> None:
    for _ in work(tasks):
        continue


def quiet() -> np.errstate:
    """Let values overflow in silence: what comes of it is looked at afterwards, once for all kernels."""
    return np.errstate(over="ignore", invalid="ignore")


def overflowed(kernel: object) -> InputError:
    """Give the error for rows whose similarities are not finite."""
    return InputError(
        f"The values of {kernel!r:.200} overflow for these rows: scale the columns first, for example with qed.StandardScaler, or "
        "give the kernel a smaller scale."
    )


def dot(X: Any, Z: Any) -> Bound:
    """Bind the inner products of two tables."""
    if isinstance(X, np.ndarray):
        return Bound(lambda rows, columns, out: np.matmul(X[rows], Z[columns].T, out=out))

    def fill(rows: Places, columns: slice, out: np.ndarray) -> None:
        out[...] = (X[rows] @ Z[columns].T).toarray()

    return Bound(fill, extra=4)


def after(bound: Bound, change: Callable[[np.ndarray], Any], extra: int = 0) -> Bound:
    """Apply a function, in place, to whatever `bound` fills; it needs `extra` arrays of the size of a tile."""

    def fill(rows: Places, columns: slice, out: np.ndarray) -> None:
        bound.fill(rows, columns, out)
        change(out)

    return bound._replace(fill=fill, extra=max(bound.extra, extra))
