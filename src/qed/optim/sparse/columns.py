r"""The columns of a table in memory, for methods that go through it column by column.

What such a method asks of a column :math:`x_j` is its length, its product with a vector (a residual) and with other columns. Columns are
seen *centred* and with each row multiplied by the root of its weight, :math:`\tilde x_j = \sqrt{s} \circ (x_j - \bar x_j)`, so that
weights and an intercept need no further thought. Dense columns are laid out one after another, once, for methods that come back to
some of them very often; or they stay as they came, as sparse ones always do, and are centred in every product:
:math:`\tilde x_j^\top v = \sum_i \sqrt{s_i}\, x_{ij} v_i - \bar x_j \sum_i \sqrt{s_i}\, v_i`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from qed.base.numbers import EPS
from qed.optim.sparse.dense import DenseColumns, PlainColumns


def columns_of(
    X: Any,
    weight: np.ndarray | None,
    *,
    centered: bool,
    often: bool = True,
    known: tuple[np.ndarray, np.ndarray] | None = None,
) -> Columns:
    """Take the columns of a table, dense or sparse; dense ones are laid out where they are looked at `often`, or are far from zero.

    Means and lengths of dense columns that stay as they came may be `known`.

    >>> X = np.array([[1.0, 0.0], [3.0, 2.0]])
    >>> for table in (X, sparse.csr_array(X)):
    ...     seen = columns_of(table, None, centered=True)
    ...     seen.mean.tolist(), seen.correlate(np.array([1.0, -1.0])).tolist()
    ([2.0, 1.0], [-2.0, -2.0])
    ([2.0, 1.0], [-2.0, -2.0])
    """
    root = None if weight is None else np.sqrt(np.asarray(weight, dtype=np.float64))
    if not isinstance(X, np.ndarray):
        return SparseColumns(X, root, centered=centered)
    if not often and (X.flags.c_contiguous or X.flags.f_contiguous):
        plain = PlainColumns(X, root, centered=centered, known=known)
        if plain.is_near:
            return plain
    return DenseColumns(X, root, centered=centered)


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
        self._scaled, self._own = self._columns, places
        if self._root is not None:
            self._scaled, self._own = (
                SparseColumns(self._matrix, self._root, centered=self._centered),
                np.arange(len(places)),
            )

    def add(self, places: np.ndarray, products: np.ndarray) -> None:
        """Take in the columns at `places`, and write the products of all columns with these, one column for each."""
        self._take(np.concatenate([self._places, places]))
        products[:] = self._products(len(self._places) - len(places))

    def weigh(self, weight: np.ndarray, *, centered: bool) -> np.ndarray:
        """Count every row so many times from now on, with columns centred anew or not, and give all products."""
        self._root, self._centered = np.sqrt(weight), centered
        self._take(self._places)
        return self._products(0)

    def _products(self, first: int) -> np.ndarray:
        scaled, new = self._scaled, self._own[first:]
        matrix = self._matrix if self._root is None else scaled.matrix
        found = (matrix.T @ scaled.matrix[:, new]).toarray()
        found -= float(scaled.root @ scaled.root) * np.outer(scaled.center[self._own], scaled.center[new])
        # On the diagonal are squared lengths, which are known more precisely than as a difference.
        place = np.arange(len(new))
        found[first + place, place] = scaled.length[new] ** 2
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


Columns = DenseColumns | PlainColumns | SparseColumns
