r"""A table of columns, centred and weighted, that is seen through products only: :math:`A = S^{1/2} (X - \mathbf 1 \bar x^\top)`.

What solves least squares with many columns asks for :math:`Aw`, :math:`A^\top v`, the lengths of the columns and the products
:math:`A D^{-2} A^\top` of the rows. A dense table is centred once, in a copy; a sparse one stays sparse and is centred in every product,
:math:`Aw = S^{1/2} (Xw - \mathbf 1\, \bar x^\top w)`. One product takes :math:`O(np)` operations, or as many as there are stored values.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from qed.base.compile import kernel
from qed.base.engine import add_pairwise, work
from qed.base.numbers import EPS
from qed.linalg.sharing import products_of_rows

# So many values are gone through by one task: enough to outweigh handing it to a thread. Those that are looked up take longer.
TASK_VALUES, STORED_VALUES = 1 << 19, 1 << 18
# What is worked on at a time: half a megabyte, which stays in the cache.
STRIP_VALUES = 1 << 16
# Rows of a sparse table that are read together: memory is slow to find the next.
RUN = 64
# So many outputs at most are added up one after another, on all threads; SciPy takes more at a time, on one.
FEW_OUTPUTS = 4


class DenseDesign:
    """A dense table, centred and weighted in a copy.

    From every row `center` is taken away, and `rest`, what rounding cut off it; `weights` are None when all are one.

    >>> seen = DenseDesign(np.array([[1.0, 0.0], [3.0, 2.0]]), None, np.array([2.0, 1.0]), np.zeros(2))
    >>> seen.times(np.array([[1.0], [1.0]])).ravel(), seen.outer()
    (array([-2.,  2.]), array([[ 2., -2.],
           [-2.,  2.]]))
    """

    def __init__(self, X: np.ndarray, weights: np.ndarray | None, center: np.ndarray, rest: np.ndarray) -> None:
        n, p = X.shape
        self.root = np.ones(n) if weights is None else np.sqrt(weights)
        self.rows = np.empty((n, p))
        size = max(1, TASK_VALUES // p)
        away = rest if rest.any() else None
        root = None if weights is None else self.root[:, None]
        tasks = (partial(self._fill, X, start, start + size, center, away, root) for start in range(0, n, size))
        square: np.ndarray = add_pairwise(work(tasks))
        self.lengths = np.sqrt(square)

    def _fill(
        self, X: np.ndarray, first: int, last: int, center: np.ndarray, rest: np.ndarray | None, root: np.ndarray | None
    ) -> np.ndarray:
        """Set some of the rows, and give the sums of their squares."""
        p = X.shape[1]
        square, step = np.zeros(p), max(1, STRIP_VALUES // p)
        with np.errstate(invalid="ignore", over="ignore"):
            for start in range(first, min(last, len(X)), step):
                part = slice(start, min(start + step, last))
                strip = self.rows[part]
                np.subtract(X[part], center, out=strip)
                if rest is not None:
                    strip -= rest
                if root is not None:
                    strip *= root[part]
                square += np.einsum("ij,ij->j", strip, strip)
        return square

    def times(self, coef: np.ndarray) -> np.ndarray:
        """Give ``A coef``, of shape (n, q)."""
        return np.asarray(self.rows @ coef)

    def back(self, vector: np.ndarray) -> np.ndarray:
        """Give ``A' vector``, of shape (p, q)."""
        return np.asarray(self.rows.T @ vector)

    def outer(self, scale: np.ndarray | None = None) -> np.ndarray:
        """Give the products of the rows with each other, of shape (n, n); columns are divided by `scale` first."""
        rows = self.rows if scale is None else self.rows / scale
        return products_of_rows(rows)


class SparseDesign:
    """A sparse table, centred and weighted in every product."""

    def __init__(self, X: csr_array, weights: np.ndarray | None, center: np.ndarray, rest: np.ndarray) -> None:
        n = X.shape[0]
        self.X, self.center = X, center + rest
        self.weights = np.ones(n) if weights is None else weights
        self.root, total = np.sqrt(self.weights), float(self.weights.sum())
        sums: np.ndarray = add_pairwise(work(partial(self._part_squares, part) for part in parts_of(X)))
        square, filled, counts = sums
        self.counts = counts.astype(np.int64)  # how many values of each column are stored
        with np.errstate(invalid="ignore", over="ignore"):
            square += np.maximum(total - filled, 0.0) * self.center**2
            # Which columns are more than a constant and rounding; products with the others are zero.
            self.varying = ~(square <= 64 * EPS * total * self.center**2)
            self.lengths = np.where(self.varying, np.sqrt(square), 0.0)

    def times(self, coef: np.ndarray) -> np.ndarray:
        """Give ``A coef``, of shape (n, q)."""
        return np.asarray(self.root[:, None] * (self.X @ coef - self.center @ coef))

    def back(self, vector: np.ndarray) -> np.ndarray:
        """Give ``A' vector``, of shape (p, q)."""
        weighted = np.ascontiguousarray((self.root[:, None] * vector).T)
        few = len(weighted) <= FEW_OUTPUTS
        sums = np.array([row_sums(self.X, each) for each in weighted]).T if few else self.X.T @ weighted.T
        return np.asarray(np.where(self.varying[:, None], sums - np.outer(self.center, weighted.sum(axis=1)), 0.0))

    def dense(self) -> DenseDesign:
        """Give the same as a dense table."""
        found = DenseDesign(self.X.toarray(), self.weights, self.center, np.zeros(len(self.center)))
        found.rows[:, ~self.varying] = 0.0
        return found

    def gram_times(self, vector: np.ndarray) -> np.ndarray:
        """Give ``A' A vector`` of a vector of shape (p,), in one reading of the table; the same for any number of threads."""
        shift = float(self.center @ vector)
        found: np.ndarray = add_pairwise(work(partial(self._part, part, shift, vector) for part in parts_of(self.X)))
        return np.where(self.varying, found[:-1] - self.center * found[-1], 0.0)

    def gram_times_four(self, vectors: np.ndarray, every: int = 1) -> np.ndarray:
        """Give ``A' A vectors`` of four vectors, of shape (p, 4); of runs of rows only one in `every` is taken."""
        shift = self.center @ vectors
        found: np.ndarray = add_pairwise(
            work(partial(self._part_four, part, every, shift, vectors) for part in parts_of(self.X, every))
        )
        return np.where(self.varying[:, None], found[:-1] - np.outer(self.center, found[-1]), 0.0)

    def back_noise(self, residual: np.ndarray, coef: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Bound the rounding of ``A' residual``, with what is in the residuals ``target - A coef`` themselves; of shape (p, q).

        Every sum is off by no more than the sum of absolute values, times the number of its terms, times the rounding of one.
        """
        away = np.abs(self.center)
        found = np.empty(coef.shape)
        for output in range(coef.shape[1]):
            given = np.abs(coef[:, output]), self.root * np.abs(residual[:, output]), np.abs(target[:, output])
            # What rounding does to the product of centre and coefficients is the same in all rows, and centred columns do not see it.
            level = 4 * float(away @ given[0])
            sums: np.ndarray = add_pairwise(
                work(partial(self._part_noise, part, level, *given) for part in parts_of(self.X))
            )
            seen, hidden = sums[:-1].T
            found[:, output] = EPS * ((self.counts + 4) * seen + hidden + away * (64 * sums[-1, 0] + sums[-1, 1]))
        return np.where(self.varying[:, None], found, 0.0)

    def _part_squares(self, part: tuple[int, int]) -> np.ndarray:
        (start, stop), X = part, self.X
        square, filled, counts = out = np.zeros((3, X.shape[1]))
        column_sums(
            X.data, X.indices, X.indptr[start : stop + 1], self.weights[start:stop], self.center, square, filled, counts
        )
        return out

    def _part(self, part: tuple[int, int], shift: float, vector: np.ndarray) -> np.ndarray:
        out = np.zeros(len(vector) + 1)
        X = self.X
        out[-1] = gram_times(X.data, X.indices, X.indptr, self.weights, *part, shift, vector, out)
        return out

    def _part_noise(
        self, part: tuple[int, int], level: float, coef: np.ndarray, weighted: np.ndarray, target: np.ndarray
    ) -> np.ndarray:
        out = np.zeros((len(coef) + 1, 2))
        X = self.X
        noise_sums(X.data, X.indices, X.indptr, self.root, *part, level, coef, weighted, target, out)
        return out

    def _part_four(self, part: tuple[int, int], every: int, shift: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        out = np.zeros((len(vectors) + 1, 4))
        X = self.X
        gram_times_four(X.data, X.indices, X.indptr, self.weights, *part, every, shift, vectors, out)
        return out


def parts_of(X: csr_array, every: int = 1) -> Iterator[tuple[int, int]]:
    """Cut the rows of a sparse table into tasks, each with more values than columns to add up; the plan depends on the data alone."""
    n, p = X.shape
    size = max(1, every * max(STORED_VALUES, 4 * p) * n // max(1, X.nnz))
    return ((start, min(start + size, n)) for start in range(0, max(1, n), size))


def row_sums(X: csr_array, factors: np.ndarray) -> np.ndarray:
    """Add up the rows of a sparse table, each times its factor, in float64; the same for any number of threads.

    >>> row_sums(csr_array(np.array([[1.0, 0.0], [2.0, 3.0]])), np.array([1.0, 10.0]))
    array([21., 30.])
    """
    return np.asarray(add_pairwise(work(partial(_part_of_sums, X, part, factors) for part in parts_of(X))))


def _part_of_sums(X: csr_array, part: tuple[int, int], factors: np.ndarray) -> np.ndarray:
    (start, stop), out = part, np.zeros(X.shape[1])
    add_sparse_rows(X.data, X.indices, X.indptr[start : stop + 1], factors[start:stop], out)
    return out


@kernel
def add_sparse_rows(data, indices, indptr, factors, out):  # type: ignore[no-untyped-def]
    """Add rows, each times its factor, to `out`."""
    for i in range(len(factors)):
        values, places = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        for k in range(len(values)):
            out[np.uint64(places[k])] += factors[i] * values[k]


@kernel
def column_sums(data, indices, indptr, weights, center, square, filled, counts):  # type: ignore[no-untyped-def]
    """Add up, for each column, the squares about its centre of the values that are stored, their weights, and their number."""
    for i in range(len(weights)):
        for k in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[k])
            away = data[k] - center[j]
            square[j] += weights[i] * away * away
            filled[j] += weights[i]
            counts[j] += 1


@kernel
def gram_times(data, indices, indptr, weights, start, stop, shift, vector, out):  # type: ignore[no-untyped-def]
    """Add ``x (w (x'v - shift))`` over the rows x from `start` to `stop` to `out`, and give the sum of ``w (x'v - shift)``."""
    total = 0.0
    for i in range(start, stop):
        # Slices and unsigned places spare the compiler the check for negative ones, which takes as long as the product.
        values, places = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        image = -shift
        for k in range(len(values)):
            image += values[k] * vector[np.uint64(places[k])]
        image *= weights[i]
        total += image
        for k in range(len(values)):
            out[np.uint64(places[k])] += image * values[k]
    return total


@kernel
def noise_sums(data, indices, indptr, root, start, stop, level, coef, weighted, target, out):  # type: ignore[no-untyped-def]
    """Add, for the rows from `start` to `stop`, sizes of values times what was `weighted`, and times the rounding of residuals.

    `coef` and `target` are sizes, too, and rounding is counted in units of that of one number; the sums over the rows come last in `out`.
    """
    last = out[len(coef)]
    for i in range(start, stop):
        values, places = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        image = 0.0
        for k in range(len(values)):
            image += abs(values[k]) * coef[np.uint64(places[k])]
        seen, hidden = weighted[i], root[i] * (root[i] * ((len(values) + 4.0) * image + level) + 2.0 * target[i])
        last[0], last[1] = last[0] + seen, last[1] + hidden
        for k in range(len(values)):
            x, line = abs(values[k]), out[np.uint64(places[k])]
            line[0], line[1] = line[0] + x * seen, line[1] + x * hidden


@kernel(side_by_side=True)
def gram_times_four(data, indices, indptr, weights, start, stop, every, shift, vectors, out):  # type: ignore[no-untyped-def]
    """Do the same with four vectors and one in `every` runs of rows, in little more time than one takes; the sums come last in `out`."""
    last = out[len(vectors)]
    for i in range(start, stop):
        if i // RUN % every:
            continue
        values, places = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        a, b, c, d = -shift[0], -shift[1], -shift[2], -shift[3]
        for k in range(len(values)):
            x, line = values[k], vectors[np.uint64(places[k])]
            a, b, c, d = a + x * line[0], b + x * line[1], c + x * line[2], d + x * line[3]
        a, b, c, d = weights[i] * a, weights[i] * b, weights[i] * c, weights[i] * d
        last[0], last[1], last[2], last[3] = last[0] + a, last[1] + b, last[2] + c, last[3] + d
        for k in range(len(values)):
            x, line = values[k], out[np.uint64(places[k])]
            line[0], line[1], line[2], line[3] = line[0] + x * a, line[1] + x * b, line[2] + x * c, line[3] + x * d
