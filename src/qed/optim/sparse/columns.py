r"""The columns of a table in memory, for methods that go through it column by column.

What such a method asks of a column :math:`x_j` is its length, its product with a vector (a residual) and with other columns. Columns are
seen *centred* and with each row multiplied by the root of its weight, :math:`\tilde x_j = \sqrt{s} \circ (x_j - \bar x_j)`, so that
weights and an intercept need no further thought. Dense columns are laid out one after another, once; sparse ones stay sparse, and
are centred in every product: :math:`\tilde x_j^\top v = \sum_i \sqrt{s_i}\, x_{ij} v_i - \bar x_j \sum_i \sqrt{s_i}\, v_i`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from qed.base.compile import kernel
from qed.base.engine import work
from qed.base.numbers import EPS
from qed.optim.sparse.sweeps import FAST, subtract_rows

# So many values are gone through by one task: enough to outweigh handing it to a thread.
TASK_VALUES = 1 << 18
# So many columns are laid out together: what is read of a row fills its cache lines, and what is written stays in the cache.
PANEL, STRIP = 16, 64


def columns_of(X: Any, weight: np.ndarray | None, *, centered: bool) -> DenseColumns | SparseColumns:
    """Lay out the columns of a table, dense or sparse.

    >>> X = np.array([[1.0, 0.0], [3.0, 2.0]])
    >>> for table in (X, sparse.csr_array(X)):
    ...     seen = columns_of(table, None, centered=True)
    ...     seen.mean.tolist(), seen.correlate(np.array([1.0, -1.0])).tolist()
    ([2.0, 1.0], [-2.0, -2.0])
    ([2.0, 1.0], [-2.0, -2.0])
    """
    root = None if weight is None else np.sqrt(np.asarray(weight, dtype=np.float64))
    kind = DenseColumns if isinstance(X, np.ndarray) else SparseColumns
    return kind(X, root, centered=centered)


class DenseColumns:
    """Dense columns, one after another in memory.

    The table is not copied if it is float64 in Fortran order, unless means or weights (of which `root` holds the roots)
    ask for it.

    Attributes
    ----------
    mean, length : ndarray of shape (p,)
        The mean of each column (by weight), and the length of the column as it is seen here.
    center : ndarray of shape (p,)
        What was taken away from each column: its mean, or nothing.
    """

    def __init__(self, X: np.ndarray, root: np.ndarray | None, *, centered: bool) -> None:
        n, p = X.shape
        self.root = np.ones(n) if root is None else root
        change = centered or root is not None
        fine = X.dtype == np.float64 and X.flags.f_contiguous and X.flags.aligned and X.flags.writeable
        copied = change or not fine
        self.lines = np.empty((p, n)) if copied else X.T
        self.mean, self.length = np.empty(p), np.empty(p)
        for _ in work(partial(self._lay_out, X if copied else None, part, centered, change) for part in _parts(p, n)):
            pass
        self.center = self.mean if centered else np.zeros(p)

    def _lay_out(self, X: np.ndarray | None, part: slice, centered: bool, change: bool) -> None:
        lines, mean, length = self.lines[part], self.mean[part], self.length[part]
        if X is not None and X.flags.c_contiguous:
            turn_and_look(X, part.start, lines, self.root, centered, change, mean, length)
            return
        for first in range(0, len(lines), PANEL):
            few = slice(first, first + PANEL)
            if X is not None:
                lines[few] = X[:, part][:, few].T
            look(lines[few], self.root, centered, change, mean[few], length[few])

    def correlate(self, vector: np.ndarray, places: np.ndarray | None = None) -> np.ndarray:
        """Give the products of all columns, or of those at `places`, with a vector; the same for any number of threads."""
        p, n = self.lines.shape
        out = np.empty(p if places is None else len(places))
        some = np.empty(0, dtype=np.int64) if places is None else places
        tasks = [partial(multiply, self.lines, some, part.start, vector, out[part]) for part in _parts(len(out), n)]
        for _ in work(tasks):
            pass
        return out

    def products(self, table: np.ndarray) -> np.ndarray:
        """Give the products of all columns with those of a table of shape (n, m)."""
        return np.asarray(self.lines @ table)

    def outer(self) -> np.ndarray:
        """Give the products of the rows with each other, of shape (n, n)."""
        return np.asarray(self.lines.T @ self.lines)

    def chosen(self) -> DenseChosen:
        """Begin a set of columns."""
        return DenseChosen(self.lines)


class DenseChosen:
    """A growing set of dense columns, whose products with each other may count the rows differently."""

    def __init__(self, lines: np.ndarray) -> None:
        self._lines = lines
        self._rows = self._seen = np.empty((0, lines.shape[1]))
        self._count = 0
        self._root: np.ndarray | None = None
        self._centered = False

    def add(self, places: np.ndarray) -> np.ndarray:
        """Take in the columns at `places`, and give the products of all columns with these, one column for each."""
        first, last = self._count, self._count + len(places)
        if last > len(self._rows):
            self._rows = _with_room(self._rows, first, 2 * last)
            self._seen = self._rows if self._root is None else _with_room(self._seen, first, 2 * last)
        self._rows[first:last] = self._lines[places]
        self._count = last
        self._see(first, last)
        return np.asarray(self._seen[:last] @ self._seen[first:last].T)

    def weigh(self, weight: np.ndarray, *, centered: bool) -> np.ndarray:
        """Count every row so many times from now on, with columns centred anew or not, and give all products."""
        if self._root is None:
            self._seen = np.empty_like(self._rows)
        self._root, self._centered = np.sqrt(weight), centered
        self._see(0, self._count)
        seen = self._seen[: self._count]
        return np.asarray(seen @ seen.T)

    def _see(self, first: int, last: int) -> None:
        if self._root is not None:
            self._seen[first:last] = self._rows[first:last]
            mean, length = np.empty((2, last - first))
            look(self._seen[first:last], self._root, self._centered, True, mean, length)

    def correlate(self, vector: np.ndarray) -> np.ndarray:
        """Give the products of the columns with a vector."""
        return np.asarray(self._rows[: self._count] @ vector)

    def keep(self, kept: np.ndarray) -> None:
        """Keep some of the columns only."""
        self._rows, seen = self._rows[: self._count][kept], self._seen[: self._count]
        self._seen = self._rows if self._root is None else seen[kept]
        self._count = len(self._rows)

    def subtract(self, vector: np.ndarray, coef: np.ndarray) -> None:
        """Subtract the columns times their coefficients from a vector, in place."""
        subtract_rows(vector, self._rows, coef)


class SparseColumns:
    """Columns of a sparse matrix, which stay sparse."""

    def __init__(self, X: Any, root: np.ndarray | None, *, centered: bool) -> None:
        matrix = sparse.csc_array(X, dtype=np.float64)
        n, p = matrix.shape
        self.root = np.ones(n) if root is None else root
        weight = self.root**2
        stored, column = weight[matrix.indices], np.repeat(np.arange(p), np.diff(matrix.indptr))
        self.mean = np.bincount(column, stored * matrix.data, minlength=p) / weight.sum()
        self.center = self.mean if centered else np.zeros(p)
        away = matrix.data - self.center[column]
        rest = np.maximum(weight.sum() - np.bincount(column, stored, minlength=p), 0.0)
        square = np.bincount(column, stored * away**2, minlength=p) + rest * self.center**2
        # A column that is constant but for rounding tells nothing, and its products would be nothing but rounding.
        seen = square > 64 * EPS * weight.sum() * self.center**2
        self.seen = seen
        self.length = np.where(seen, np.sqrt(square), 0.0)
        self.matrix = sparse.csc_array((matrix.data * self.root[matrix.indices], matrix.indices, matrix.indptr), (n, p))

    def correlate(self, vector: np.ndarray, places: np.ndarray | None = None) -> np.ndarray:
        """Give the products of all columns, or of those at `places`, with a vector."""
        some = slice(None) if places is None else places
        matrix = self.matrix if places is None else self.matrix[:, places]
        found = matrix.T @ vector - self.center[some] * float(self.root @ vector)
        return np.asarray(np.where(self.seen[some], found, 0.0))

    def products(self, table: np.ndarray) -> np.ndarray:
        """Give the products of all columns with those of a table of shape (n, m)."""
        found = self.matrix.T @ table - np.outer(self.center, self.root @ table)
        return np.asarray(np.where(self.seen[:, None], found, 0.0))

    def outer(self) -> np.ndarray:
        """Give the products of the rows with each other, of shape (n, n)."""
        across = np.outer(np.asarray(self.matrix @ self.center), self.root)
        product = (self.matrix @ self.matrix.T).toarray() - across - across.T
        return np.asarray(product + float(self.center @ self.center) * np.outer(self.root, self.root))

    def chosen(self) -> SparseChosen:
        """Begin a set of columns."""
        return SparseChosen(self)


class SparseChosen:
    """A growing set of sparse columns, whose products with each other may count the rows differently."""

    def __init__(self, columns: SparseColumns) -> None:
        self._columns = columns
        self._root: np.ndarray | None = None
        self._centered = False
        self._take(np.empty(0, dtype=np.int64))

    def _take(self, places: np.ndarray) -> None:
        self._places, self._matrix = places, self._columns.matrix[:, places]
        self._seen, self._own = self._columns, places
        if self._root is not None:
            self._seen, self._own = (
                SparseColumns(self._matrix, self._root, centered=self._centered),
                np.arange(len(places)),
            )

    def add(self, places: np.ndarray) -> np.ndarray:
        """Take in the columns at `places`, and give the products of all columns with these, one column for each."""
        self._take(np.concatenate([self._places, places]))
        return self._products(len(self._places) - len(places))

    def weigh(self, weight: np.ndarray, *, centered: bool) -> np.ndarray:
        """Count every row so many times from now on, with columns centred anew or not, and give all products."""
        self._root, self._centered = np.sqrt(weight), centered
        self._take(self._places)
        return self._products(0)

    def _products(self, first: int) -> np.ndarray:
        seen, new = self._seen, self._own[first:]
        matrix = self._matrix if self._root is None else seen.matrix
        found = (matrix.T @ seen.matrix[:, new]).toarray()
        found -= float(seen.root @ seen.root) * np.outer(seen.center[self._own], seen.center[new])
        # On the diagonal are squared lengths, which are known more precisely than as a difference.
        place = np.arange(len(new))
        found[first + place, place] = seen.length[new] ** 2
        return np.asarray(found)

    def correlate(self, vector: np.ndarray) -> np.ndarray:
        """Give the products of the columns with a vector."""
        return self._columns.correlate(vector, self._places)

    def keep(self, kept: np.ndarray) -> None:
        """Keep some of the columns only."""
        self._take(self._places[kept])

    def subtract(self, vector: np.ndarray, coef: np.ndarray) -> None:
        """Subtract the columns times their coefficients from a vector, in place."""
        vector -= self._matrix @ coef - self._columns.root * float(self._columns.center[self._places] @ coef)


def _with_room(rows: np.ndarray, count: int, room: int) -> np.ndarray:
    """Give the first rows of a table in a larger one."""
    larger = np.empty((room, rows.shape[1]))
    larger[:count] = rows[:count]
    return larger


def _parts(count: int, size: int) -> Iterator[slice]:
    """Cut so many columns of such a size into tasks; the plan depends on the data alone."""
    step = max(1, TASK_VALUES // max(1, size))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


@kernel(fastmath=FAST)
def multiply(lines: Any, places: Any, start: int, vector: Any, out: Any) -> None:
    """Set `out` to the products of lines with a vector: of those at `places`, or of all if there are none, from `start` on."""
    for j in range(len(out)):
        line = lines[places[start + j] if len(places) else start + j]
        total = 0.0
        for i in range(len(vector)):
            total += line[i] * vector[i]
        out[j] = total


@kernel
def turn(X: Any, start: int, lines: Any) -> None:
    """Write some columns of a table, from `start` on, as lines: a strip of rows after another."""
    for first in range(0, len(X), STRIP):
        last = min(first + STRIP, len(X))
        for j in range(len(lines)):
            for i in range(first, last):
                lines[j, i] = X[i, start + j]


@kernel(fastmath=FAST)
def look(lines: Any, root: Any, centered: bool, change: bool, mean: Any, length: Any) -> None:
    """Find mean and length of every line; if `change`, centre it first and multiply it by the roots of the weights."""
    weight = 0.0
    for i in range(len(root)):
        weight += root[i] * root[i]
    for j in range(len(lines)):
        line = lines[j]
        total, drift, low, high = 0.0, 0.0, line[0], line[0]
        for i in range(len(line)):
            total += root[i] * root[i] * line[i]
            low, high = min(low, line[i]), max(high, line[i])
        center = total / weight
        for i in range(len(line)):
            drift += root[i] * root[i] * (line[i] - center)
        mean[j] = low if low == high else center + drift / weight
        away = mean[j] if centered else 0.0
        square = 0.0
        for i in range(len(line)):
            value = (line[i] - away) * root[i] if change else line[i]
            square += value * value
            if change:
                line[i] = value
        length[j] = np.sqrt(square)


@kernel(fastmath=FAST)
def turn_and_look(X, start, lines, root, centered, change, mean, length):  # type: ignore[no-untyped-def]
    """Do both, for a panel of columns after another."""
    for first in range(0, len(lines), PANEL):
        few = slice(first, min(first + PANEL, len(lines)))
        turn(X, start + first, lines[few])
        look(lines[few], root, centered, change, mean[few], length[few])
