r"""The nearest rows of queries, exactly, by whichever way is the cheapest.

In few dimensions a k-d tree (:mod:`qed.neighbors.tree`). In many, all rows are compared with all queries: large tables by scores in single
precision (:mod:`qed.neighbors.filter`), small or sparse ones by a matrix product in double precision, and what has no product by its
definition. Products rank rows up to their rounding, so some more rows than wanted are kept, and their distances are found by
differences; where the last of them is not farther by more than the rounding, all rows are. So every way gives the same neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from qed.base.numbers import EPS
from qed.base.sources.block import is_sparse
from qed.base.threads.interrupts import moment
from qed.neighbors.best import Best
from qed.neighbors.filter import filtered
from qed.neighbors.hashing import Tables
from qed.neighbors.measures import Cosine, Given, Matrix, Measure, Minkowski
from qed.neighbors.tree import Tree

# Sizes that are worked out at a time; values of rows that are held in memory for it; pairs of rows from which on compiling pays;
# neighbours up to which few are kept.
AT_ONCE, HELD, MANY, FEW_KEPT = 1 << 18, 1 << 25, 1 << 26, 256
# Fewer rows are compared one by one: no tree is worth compiling for them.
LEAST_ROWS = 5000


def grows(measure: Measure, X: Matrix, algorithm: str) -> bool:
    """Say whether a tree is worth its growing: for rows in few dimensions, or for distances that have no product."""
    if not isinstance(measure, Minkowski) or measure.weights or is_sparse(X) or algorithm == "brute":
        return False
    n, p = X.shape
    if isinstance(X, np.memmap) and X.size > HELD:
        return False
    if algorithm in ("kd_tree", "ball_tree"):
        return True
    if algorithm == "hashing":
        return False
    return n >= LEAST_ROWS and (measure.power != 2 or 2 * p <= np.log2(n))


def hashes(measure: Measure, X: Matrix, algorithm: str) -> bool:
    """Say whether rows are put into the cells of tables: where that was asked for, and there are many."""
    return algorithm == "hashing" and _is_euclid(measure) and not is_sparse(X) and X.shape[0] >= LEAST_ROWS


def _is_euclid(measure: Measure) -> bool:
    return isinstance(measure, Cosine) or (isinstance(measure, Minkowski) and measure.is_euclid)


@dataclass(frozen=True, eq=False)
class Search:
    """Rows to look for neighbours among.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n, p)
        The rows, as they are measured.
    measure : Measure
        How far two of them are apart.
    center, scale : ndarray of shape (p,) and float
        What brings rows near zero and near one: they are multiplied by a power of two after the centre is taken away.
    tree : Tree or None
        Their tree.
    tables : Tables or None
        Tables of their cells, where it is enough to find most neighbours.
    """

    X: Matrix
    measure: Measure
    center: np.ndarray
    scale: float
    tree: Tree | None = None
    tables: Tables | None = None

    def nearest(self, Q: Matrix, k: int) -> Best:
        """Give the k nearest rows of each query, which are prepared like the rows."""
        if self.tree is not None:
            dense = Q.toarray() if is_sparse(Q) else Q
            return self.tree.nearest(dense, k, self.measure.power)  # type: ignore[attr-defined]
        if self.tables is not None:
            return self._probably(Q.toarray() if is_sparse(Q) else Q, k)
        n, p = self.X.shape
        # Of rows that are not in memory, some are at a time.
        step = n if isinstance(self.measure, Given) else max(LEAST_ROWS, k, HELD // max(1, p))
        if n <= step:
            return self._compared(Q, k)
        best = self._part(0, step)._compared(Q, k)
        for first in range(step, n, step):
            best = best + self._part(first, step)._compared(Q, min(k, n - first)).numbered_from(first)
        return best

    def _probably(self, Q: np.ndarray, k: int) -> Best:
        """Give the k nearest rows of those that share a cell of a table with each query; of all rows, where these are too few."""
        assert self.tables is not None
        near = self.tables.nearest(self.X, Q, k)
        if len(few := np.flatnonzero(~np.isfinite(near.size[:, -1]))):
            again = replace(self, tables=None).nearest(Q[few], k)
            near.size[few], near.number[few] = again.size, again.number
        return near

    def _part(self, first: int, count: int) -> Search:
        return replace(self, X=self.X[first : first + count])

    def _compared(self, Q: Matrix, k: int) -> Best:
        """Compare all rows with all queries."""
        n = self.X.shape[0]
        euclid = _is_euclid(self.measure)
        thin = is_sparse(self.X) or is_sparse(Q)
        if euclid and not thin and k <= FEW_KEPT and len(Q) * n >= MANY:
            return filtered(self.X, Q, k, self.center, self.scale)
        parts = [self._by_products(part, k) if euclid else self.plainly(part, k) for part in _strips(Q, n)]
        return Best(np.vstack([part.size for part in parts]), np.vstack([part.number for part in parts]))

    def plainly(self, Q: Matrix, k: int) -> Best:
        """Give the same by the definition of the distance alone."""
        n, best = self.X.shape[0], None
        step = n if isinstance(self.measure, Given) else max(k, AT_ONCE // max(1, Q.shape[0]))
        for first in range(0, n, step):
            moment()
            found = Best.of(self.measure.sizes(Q, self.X[first : first + step]), k, first)
            best = found if best is None else best + found
        assert best is not None
        return best

    @cached_property
    def _lengths(self) -> np.ndarray:
        """The squared length of each row."""
        return _lengths(self.X)

    def _by_products(self, Q: Matrix, k: int) -> Best:
        n, p = self.X.shape
        kept = k + 4 + k // 8
        if kept >= n:
            return self.plainly(Q, k)
        with np.errstate(over="ignore", invalid="ignore"):
            product = Q @ self.X.T
            product = product.toarray() if is_sparse(product) else product
            scores = self._lengths / 2 - product
        # What left the range of numbers, if only on the way, says nothing.
        scores[~np.isfinite(scores)] = -np.inf
        chosen = np.sort(np.argpartition(scores, kept - 1, axis=1)[:, :kept], axis=1)
        limit = np.take_along_axis(scores, chosen, axis=1).max(axis=1)
        found = Best.of(self._pairs(Q, chosen), k)
        near = Best(found.size, np.take_along_axis(chosen, found.number, axis=1))
        # A product of p terms is off by p + 2 roundings of the lengths' product, in the precision of the table, or of its least numbers.
        unit, tiny = float(np.finfo(product.dtype).eps), float(np.finfo(product.dtype).tiny)
        own = np.sqrt(_lengths(Q))
        longest = float(np.sqrt(self._lengths.max()))
        with np.errstate(over="ignore", invalid="ignore"):
            error = (p + 8) * unit * longest * (own + longest) + 8 * EPS * own**2 + (p + 8) * tiny
            least = 2 * (limit - error) + own**2
        doubtful = np.flatnonzero(~(near.size[:, -1] * (1 + (p + 8) * EPS) < least))
        if len(doubtful):
            again = self.plainly(Q[doubtful], k)
            near.size[doubtful], near.number[doubtful] = again.size, again.number
        return near

    def _pairs(self, Q: Matrix, chosen: np.ndarray) -> np.ndarray:
        """Give the squared distances of each query from the rows chosen for it."""
        if not is_sparse(self.X) and not is_sparse(Q):
            total = np.zeros(chosen.shape)
            for j in range(Q.shape[1]):
                gap = Q[:, j, None].astype(np.float64) - self.X[chosen, j]
                total += gap * gap
            return total
        m, c = chosen.shape
        rows = np.repeat(np.arange(m), c)
        gaps = (_sparse(Q)[rows] - _sparse(self.X)[chosen.ravel()]).tocsr()
        gaps.sort_indices()
        places = np.repeat(np.arange(m * c), np.diff(gaps.indptr))
        return np.bincount(places, gaps.data.astype(np.float64) ** 2, minlength=m * c).reshape(m, c)


def _strips(Q: Matrix, n: int) -> Iterator[Matrix]:
    step = max(1, AT_ONCE // max(1, n))
    for first in range(0, max(1, Q.shape[0]), step):
        moment()
        yield Q[first : first + step]


def _lengths(Q: Matrix) -> np.ndarray:
    if not is_sparse(Q):
        return np.asarray(np.einsum("ij,ij->i", Q, Q, dtype=np.float64))
    wide = Q.astype(np.float64)
    with np.errstate(over="ignore"):
        return np.asarray(wide.multiply(wide).sum(axis=1)).ravel()


def _sparse(X: Matrix) -> Matrix:
    from scipy import sparse

    return sparse.csr_array(X, dtype=np.float64)
