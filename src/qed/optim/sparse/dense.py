r"""Dense columns of a table in memory, laid out one after another or as they came.

A method that comes back to some columns very often has them laid out, centred and weighted, once: :math:`O(np)` to read and to write.
One that looks at all of them a few times takes them as they are, in rows or in columns, and centres the products. That loses digits where a
mean is large against the spread, so such tables are laid out in any case.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from qed.base.compile import kernel
from qed.base.engine import work
from qed.optim.sparse.sweeps import FAST, subtract_rows

# So many values are gone through by one task: enough to outweigh handing it to a thread.
TASK_VALUES = 1 << 18
# So many columns are laid out together: what is read of a row fills its cache lines, and what is written stays in the cache.
PANEL, STRIP = 16, 64
# A mean may be so many times the spread: a product that is centred afterwards then loses no digit that matters.
NEAR = 4.0
# Of columns in rows it takes as long to pick one in so many as to go through all.
SOME = 8
# So much of a row is gone through at least, so that the next one is read ahead.
WIDE = 2048
# So many columns at a time are multiplied with those before them.
SIDE = 256
# A set of columns that is full gets room for so many times as many.
MORE_ROOM = 4
NONE = np.empty(0, dtype=np.int64)


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
            turn_and_center(X, part.start, lines, self.root, centered, change, mean, length)
            return
        for first in range(0, len(lines), PANEL):
            few = slice(first, first + PANEL)
            if X is not None:
                lines[few] = X[:, part][:, few].T
            center_lines(lines[few], self.root, centered, change, mean[few], length[few])

    def correlate(self, vector: np.ndarray, places: np.ndarray | None = None) -> np.ndarray:
        """Give the products of all columns, or of those at `places`, with a vector; the same for any number of threads."""
        p, n = self.lines.shape
        out = np.empty(p if places is None else len(places))
        some = NONE if places is None else places
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

    def write(self, places: np.ndarray, out: np.ndarray) -> None:
        """Write the columns at `places` to the rows of `out`."""
        out[:] = self.lines[places]

    def chosen(self) -> DenseChosen:
        """Begin a set of columns."""
        return DenseChosen(self)


class PlainColumns:
    """Dense columns as they came, which are centred and weighted in every product.

    Nothing is copied. Means and lengths are found, unless they are `known`. Where `is_near` is false, some mean is so large against
    the spread that too many digits would be lost.
    """

    def __init__(
        self,
        X: np.ndarray,
        root: np.ndarray | None,
        *,
        centered: bool,
        known: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        n, p = X.shape
        self.X, self.root, self._weighted = X, np.ones(n) if root is None else root, root is not None
        self.mean: np.ndarray = np.empty(p) if known is None else known[0]
        self.length: np.ndarray = np.empty(p) if known is None else known[1]
        for _ in work(partial(self._measure, part, centered) for part in _parts(p if known is None else 0, n, WIDE)):
            pass
        self.center = self.mean if centered else np.zeros(p)
        far = np.abs(self.center) * np.sqrt(self.root @ self.root)
        self.is_near = bool((far <= NEAR * self.length).all())

    def _measure(self, part: slice, centered: bool) -> None:
        mean, length = self.mean[part], self.length[part]
        if self.X.flags.c_contiguous:
            measure(self.X, part.start, self.root, centered, mean, length)
        else:
            center_lines(self.X.T[part], self.root, centered, False, mean, length)

    def correlate(self, vector: np.ndarray, places: np.ndarray | None = None) -> np.ndarray:
        """Give the products of all columns, or of those at `places`, with a vector; the same for any number of threads."""
        n, p = self.X.shape
        few = places is not None and SOME * len(places) < p
        seen = vector * self.root if self._weighted else vector
        X, center = (self.X[:, places], self.center[places]) if few else (self.X, self.center)
        out = np.empty(X.shape[1])
        for _ in work(
            [partial(_multiply_plain, X, part, seen, out[part]) for part in _parts(len(out), n, WIDE, 8 * TASK_VALUES)]
        ):
            pass
        out -= center * float(seen.sum())
        return out if few or places is None else out[places]

    def products(self, table: np.ndarray) -> np.ndarray:
        """Give the products of all columns with those of a table of shape (n, m)."""
        return np.column_stack([self.correlate(np.ascontiguousarray(column)) for column in table.T])

    def outer(self) -> np.ndarray:
        """Give the products of the rows with each other, of shape (n, n)."""
        lines = np.empty(self.X.shape[::-1])
        self.write(np.arange(len(lines)), lines)
        return np.asarray(lines.T @ lines)

    def write(self, places: np.ndarray, out: np.ndarray) -> None:
        """Write the columns at `places` to the rows of `out`."""
        pick(self.X, places, self.center[places], self.root, out)

    def chosen(self) -> DenseChosen:
        """Begin a set of columns."""
        return DenseChosen(self)


class DenseChosen:
    """A growing set of dense columns, whose products with each other may count the rows differently."""

    def __init__(self, columns: DenseColumns | PlainColumns) -> None:
        self._columns = columns
        self._rows = self._centred_rows = np.empty((0, len(columns.root)))
        self._count = 0
        self._root: np.ndarray | None = None
        self._centered = False

    def add(self, places: np.ndarray, products: np.ndarray) -> None:
        """Take in the columns at `places`, and write the products of all columns with these, one column for each."""
        first, last = self._count, self._count + len(places)
        if last > len(self._rows):
            # Memory that nobody has written to costs nothing; to move what is there does.
            most = min(MORE_ROOM * last, len(self._columns.length))
            self._rows = _with_room(self._rows, first, most)
            self._centred_rows = self._rows if self._root is None else _with_room(self._centred_rows, first, most)
        self._columns.write(places, self._rows[first:last])
        self._count = last
        self._see(first, last)
        old, new = self._centred_rows[:first], self._centred_rows[first:last]
        # Products of new columns with each other are symmetric, and cost half as much by themselves.
        np.matmul(old, new.T, out=products[:first])
        np.matmul(new, new.T, out=products[first:])

    def weigh(self, weight: np.ndarray, *, centered: bool) -> np.ndarray:
        """Count every row so many times from now on, with columns centred anew or not, and give all products."""
        if self._root is None:
            self._centred_rows = np.empty_like(self._rows)
        self._root, self._centered = np.sqrt(weight), centered
        out = np.empty((self._count, self._count))
        for task in (self._see_some, self._multiply_some):
            # The last ones have the most columns before them, and come first, so that threads end together.
            starts = reversed(range(0, self._count, SIDE))
            for _ in work(partial(task, slice(first, min(first + SIDE, self._count)), out) for first in starts):
                continue
        return out

    def _see_some(self, some: slice, _: np.ndarray) -> None:
        self._see(some.start, some.stop)

    def _multiply_some(self, some: slice, out: np.ndarray) -> None:
        """Fill the products of some columns with each other and with those before them."""
        own, before = self._centred_rows[some], slice(0, some.start)
        np.matmul(own, own.T, out=out[some, some])
        np.matmul(own, self._centred_rows[before].T, out=out[some, before])
        out[before, some] = out[some, before].T

    def _see(self, first: int, last: int) -> None:
        if self._root is not None:
            self._centred_rows[first:last] = self._rows[first:last]
            mean, length = np.empty((2, last - first))
            center_lines(self._centred_rows[first:last], self._root, self._centered, True, mean, length)

    def correlate(self, vector: np.ndarray) -> np.ndarray:
        """Give the products of the columns with a vector."""
        return np.asarray(self._rows[: self._count] @ vector)

    def keep(self, kept: np.ndarray) -> None:
        """Keep some of the columns only."""
        self._rows[: len(kept)] = self._rows[kept]
        if self._root is not None:
            self._centred_rows[: len(kept)] = self._centred_rows[kept]
        self._count = len(kept)

    def subtract(self, vector: np.ndarray, coef: np.ndarray) -> None:
        """Subtract the columns times their coefficients from a vector, in place."""
        subtract_rows(vector, self._rows, coef)


def _with_room(rows: np.ndarray, count: int, room: int) -> np.ndarray:
    """Give the first rows of a table in a larger one."""
    larger = np.empty((room, rows.shape[1]))
    larger[:count] = rows[:count]
    return larger


def _parts(count: int, size: int, least: int = 1, values: int = TASK_VALUES) -> Iterator[slice]:
    """Cut so many columns of such a size into tasks; the plan depends on the data alone."""
    step = max(least, values // max(1, size))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def _multiply_plain(X: np.ndarray, part: slice, vector: np.ndarray, out: np.ndarray) -> None:
    if X.dtype == np.float64:
        np.matmul(X[:, part].T, vector, out=out)
    elif X.flags.c_contiguous:
        add_up(X, part.start, vector, out)
    else:
        multiply(X.T, NONE, part.start, vector, out)


@kernel(fastmath=FAST)
def add_up(X: np.ndarray, start: int, vector: np.ndarray, out: np.ndarray) -> None:
    """Set `out` to the products of columns, from `start` on, with a vector, going through the rows four at a time."""
    out[:] = 0.0
    n, stop = len(X), start + len(out)
    for i in range(0, n - 3, 4):
        a, b, c, d = X[i, start:stop], X[i + 1, start:stop], X[i + 2, start:stop], X[i + 3, start:stop]
        for j in range(len(out)):
            out[j] += vector[i] * a[j] + vector[i + 1] * b[j] + vector[i + 2] * c[j] + vector[i + 3] * d[j]
    for i in range(n - n % 4, n):
        row = X[i, start:stop]
        for j in range(len(out)):
            out[j] += vector[i] * row[j]


@kernel(fastmath=FAST)
def measure(X: np.ndarray, start: int, root: np.ndarray, centered: bool, mean: np.ndarray, length: np.ndarray) -> None:
    """Find mean and length of columns, from `start` on, going through the rows; the lengths are those of centred columns or not."""
    weight = root * root
    total = weight.sum()
    add_up(X, start, weight, mean)
    mean /= total
    drift, square = np.zeros(len(mean)), np.zeros(len(mean))
    for i in range(len(X)):
        row = X[i, start : start + len(mean)]
        for j in range(len(mean)):
            away = row[j] - mean[j]
            drift[j] += weight[i] * away
            square[j] += weight[i] * away * away
    for j in range(len(mean)):
        mean[j] += drift[j] / total
        length[j] = np.sqrt(square[j] + (0.0 if centered else total * mean[j] * mean[j]))


@kernel(fastmath=FAST)
def multiply(lines: np.ndarray, places: np.ndarray, start: int, vector: np.ndarray, out: np.ndarray) -> None:
    """Set `out` to the products of lines with a vector: of those at `places`, or of all if there are none, from `start` on."""
    for j in range(len(out)):
        line = lines[places[start + j] if len(places) else start + j]
        total = 0.0
        for i in range(len(vector)):
            total += line[i] * vector[i]
        out[j] = total


@kernel
def pick(X: np.ndarray, places: np.ndarray, center: np.ndarray, root: np.ndarray, lines: np.ndarray) -> None:
    """Write the columns of a table at `places`, centred and weighted, as lines: a strip of rows after another."""
    for first in range(0, len(X), STRIP):
        last = min(first + STRIP, len(X))
        for j in range(len(lines)):
            place, away = places[j], center[j]
            for i in range(first, last):
                lines[j, i] = (X[i, place] - away) * root[i]


@kernel(fastmath=FAST)
def center_lines(
    lines: np.ndarray, root: np.ndarray, centered: bool, change: bool, mean: np.ndarray, length: np.ndarray
) -> None:
    """Find mean and length of every line, centred and multiplied by the roots of the weights; if `change`, write that back."""
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
            value = (line[i] - away) * root[i]
            square += value * value
            if change:
                line[i] = value
        length[j] = np.sqrt(square)


@kernel(fastmath=FAST)
def turn_and_center(
    X: np.ndarray,
    start: int,
    lines: np.ndarray,
    root: np.ndarray,
    centered: bool,
    change: bool,
    mean: np.ndarray,
    length: np.ndarray,
) -> None:
    """Lay out columns, from `start` on, and look at them, for a panel of them after another."""
    nothing, all_alike = np.zeros(PANEL), np.ones(len(X))
    for first in range(0, len(lines), PANEL):
        few = slice(first, min(first + PANEL, len(lines)))
        pick(X, np.arange(start + few.start, start + few.stop), nothing, all_alike, lines[few])
        center_lines(lines[few], root, centered, change, mean[few], length[few])
