r"""The products of all pairs of columns of a sparse table: :math:`G = X^\top S X`, as a dense matrix.

The rows of the table are read one after another, and each adds its products of pairs. To keep the sums in the cache, only those of some
columns with all that come after them are added up at a time, and the table is read once for each such panel; different panels are
the work of different threads. With :math:`m_r` values in row r, these are :math:`\tfrac12 \sum_r m_r^2` products and
:math:`p^2 / 2^{17}` readings.
"""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from qed.base.compile import kernel
from qed.base.engine import work

# The sums of a panel: a megabyte.
PANEL_VALUES = 1 << 17
TILE = 64
# Tasks for threads: few, because each goes through all rows.
SHARES = 4


def sparse_gram(X: csr_array, weights: np.ndarray, out: np.ndarray) -> None:
    """Set the leading part of `out` to ``X' diag(weights) X``; the same for any number of threads.

    No place of X may be stored twice; `out` is of float64, in C order.

    >>> from scipy import sparse
    >>> out = np.zeros((2, 2))
    >>> sparse_gram(sparse.csr_array([[1.0, 2.0], [0.0, 3.0]]), np.array([1.0, 2.0]), out)
    >>> out
    array([[ 1.,  2.],
           [ 2., 22.]])
    """
    p, rows = X.shape[1], X if X.has_sorted_indices else X.sorted_indices()
    table = (rows.data, rows.indices, rows.indptr, weights)
    for _ in work(partial(_add_panels, *table, *part, p, PANEL_VALUES, out) for part in _shares(p)):
        pass
    for _ in work(partial(_mirror, *part, out) for part in _shares(p)):
        pass


def _shares(p: int) -> Iterator[tuple[int, int]]:
    """Cut the columns into shares of equal work, of which the first have fewer columns."""
    ends = p - p * np.sqrt(1 - np.arange(SHARES + 1) / SHARES)
    return ((int(first), int(last)) for first, last in pairwise(ends.round()) if first < last)


@kernel
def _add_panels(values, places, starts, weights, first, last, p, size, out):  # type: ignore[no-untyped-def]
    """Compute the rows `first` to `last` of the products from the diagonal on, as many of them at a time as have `size` values."""
    n = len(starts) - 1
    reached = np.zeros(n, dtype=np.int64)
    for row in range(n):
        columns = places[starts[row] : starts[row + 1]]
        while reached[row] < len(columns) and columns[reached[row]] < first:
            reached[row] += 1
    while first < last:
        end = min(last, first + max(8, size // (p - first)))
        for i in range(first, end):
            out[i, i:p] = 0.0
        for row in range(n):
            own, columns = values[starts[row] : starts[row + 1]], places[starts[row] : starts[row + 1]]
            low = reached[row]
            while low < len(columns) and columns[low] < end:
                factor, line = weights[row] * own[low], out[columns[low]]
                for k in range(low, len(own)):
                    line[np.uint64(columns[k])] += factor * own[k]
                low += 1
            reached[row] = low
        first = end


@kernel
def _mirror(first, last, out):  # type: ignore[no-untyped-def]
    """Copy what stands above the diagonal to the rows `first` to `last` below it, in tiles that stay in the cache."""
    for tile in range(0, last, TILE):
        for i in range(first, last):
            for j in range(tile, min(tile + TILE, i)):
                out[i, j] = out[j, i]
