r"""Rows that are probably near: those in the same cells of some tables.

A table draws a few random directions. All rows are halved at the median of their projections on the first one, each half at the median of
its own on the second, and so on, down to cells of about two hundred rows. Rows that are near have near projections, so they often share a
cell: a query is compared with the rows of its own cell in each table, and with no others. What is compared are true distances; what may
be missed are neighbours, and how many is measured.

With :math:`n` rows, :math:`p` columns and :math:`T` tables, tables cost :math:`O(T n p \log n)`, and a query :math:`O(200\, T p)`
instead of :math:`O(np)`. Comparing many queries with all rows is a matrix product, and hard to beat: tables are for some queries at a
time among hundreds of thousands of rows.

Indyk and Motwani (1998), Approximate nearest neighbors: towards removing the curse of dimensionality; Dasgupta and Freund (2008), Random
projection trees and low dimensional manifolds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.compile import kernel
from qed.base.engine import work
from qed.base.numbers import EPS
from qed.base.random import generator
from qed.base.saving.known import savable
from qed.neighbors.best import Best
from qed.neighbors.tree import insert

# Rows of a cell, at most; tables; queries that one task takes.
CELL, TABLES, TASK = 256, 16, 64


@savable
@dataclass(frozen=True, eq=False)
class Tables:
    """Rows in cells, once for each table.

    >>> X = np.random.default_rng(0).standard_normal((2000, 5))
    >>> tables = Tables.of(X)
    >>> tables.order.shape, tables.cuts.shape
    ((16, 2000), (16, 7))
    """

    attributes: ClassVar = {
        "directions": floats("tables", "levels", "features"),
        "cuts": floats("tables", "nodes"),
        "order": integers("tables", "rows", below="rows"),
    }
    directions: np.ndarray  # (T, levels, p)
    cuts: np.ndarray  # (T, cells - 1): where nodes are cut, level by level
    order: np.ndarray  # (T, n): the numbers of the rows, cell by cell

    def _disagreement(self) -> str:
        # Who looks rows up trusts the numbers of cells.
        levels = self.directions.shape[1]
        return (
            ""
            if levels < 63 and self.cuts.shape[1] + 1 == 1 << levels
            else "has cuts that make no cells of its directions"
        )

    @classmethod
    def of(cls, X: np.ndarray) -> Tables:
        """Put rows into cells."""
        n, p = X.shape
        directions = _directions(n, p)
        found = list(work(partial(_cells, X, each) for each in directions))
        return cls(directions, np.array([cuts for cuts, _ in found]), np.array([order for _, order in found]))

    def nearest(self, X: np.ndarray, Q: np.ndarray, k: int) -> Best:
        """Give the k nearest of the rows that share a cell with each query; infinitely far ones where there are fewer."""
        found = Best(np.full((len(Q), k), np.inf), np.full((len(Q), k), len(X), dtype=np.intp))
        cells = np.column_stack([self._cell_of(which, Q) for which in range(len(self.order))])
        edges, rows, queries = _edges(len(X), self.cuts.shape[1] + 1), np.asarray(X), np.ascontiguousarray(Q)
        parts = (slice(i, i + TASK) for i in range(0, len(Q), TASK))
        list(
            work(
                partial(
                    look_up, rows, self.order, edges, cells[part], queries[part], found.size[part], found.number[part]
                )
                for part in parts
            )
        )
        return found

    def _cell_of(self, which: int, Q: np.ndarray) -> np.ndarray:
        """Give the number of the cell that each query falls into."""
        along, node = Q @ self.directions[which].T, np.zeros(len(Q), dtype=np.intp)
        for level in range(along.shape[1]):
            node = 2 * node + 1 + (along[:, level] >= self.cuts[which, node])
        return node - self.cuts.shape[1]

    def misplaced(self, X: np.ndarray) -> int:
        """Count rows that lie on the wrong side of a cut by more than rounding, and what else tables of these rows can not be."""
        n, p = X.shape
        wanted = _directions(n, p)
        if self.directions.shape != wanted.shape or self.cuts.shape[1] + 1 != 1 << wanted.shape[1]:
            return self.order.size
        if self.order.shape != (len(wanted), n) or (np.sort(self.order, axis=1) != np.arange(n)).any():
            return self.order.size
        wrong = int((self.directions != wanted).sum())
        for cuts, order, axes in zip(self.cuts, self.order, self.directions):
            values = X[order]
            along, slack = values @ axes.T, 2 * (p + 2) * EPS * (np.abs(values) @ np.abs(axes).T)
            for level in range(len(axes)):
                starts, cut = _edges(n, 2 << level)[:-1], cuts[(1 << level) - 1 : (2 << level) - 1]
                low, high = along[:, level] - slack[:, level], along[:, level] + slack[:, level]
                # The cut is the least of the upper half, and nothing of the lower half is beyond it.
                wrong += int((np.maximum.reduceat(low, starts)[::2] > cut).sum())
                wrong += int((np.minimum.reduceat(low, starts)[1::2] > cut).sum())
                wrong += int((np.minimum.reduceat(high, starts)[1::2] < cut).sum())
        return wrong


def _directions(n: int, p: int) -> np.ndarray:
    """Draw the directions for n rows: as many for each table as halvings lead to cells."""
    levels = max(0, int(np.ceil(np.log2(max(1, n) / CELL))))
    return generator(0, "hashing").standard_normal((TABLES, levels, p))


def _edges(n: int, cells: int) -> np.ndarray:
    """Give where the cells of n rows begin and end, which are halves of halves."""
    edges = np.array([0, n])
    while len(edges) <= cells:
        edges = np.sort(np.concatenate([edges, (edges[:-1] + edges[1:]) // 2]))
    return edges


def _cells(X: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Halve the rows along each direction in turn; give the cuts, and the rows' numbers cell by cell."""
    n, levels = len(X), len(axes)
    along, order, cuts = X @ axes.T, np.arange(n), np.empty((1 << levels) - 1)
    for level in range(levels):
        edges = _edges(n, 1 << level)
        for cell, (first, last) in enumerate(pairwise(edges)):
            rows = order[first:last]
            values, middle = along[rows, level], (first + last) // 2 - first
            part = np.argpartition(values, middle)
            order[first:last] = rows[part]
            cuts[(1 << level) - 1 + cell] = values[part[middle]]
    return cuts, order


@kernel
def look_up(
    X: np.ndarray,
    order: np.ndarray,
    edges: np.ndarray,
    cells: np.ndarray,
    Q: np.ndarray,
    sizes: np.ndarray,
    names: np.ndarray,
) -> None:
    """Compare each query with the rows of its cells; a row that is in several of them counts once."""
    last = sizes.shape[1] - 1
    for i in range(len(Q)):
        query, best, who = Q[i], sizes[i], names[i]
        for table in range(len(order)):
            cell = cells[i, table]
            for place in range(edges[cell], edges[cell + 1]):
                number = order[table, place]
                row, total = X[number], 0.0
                for j in range(len(query)):
                    gap = np.float64(query[j]) - row[j]
                    total += gap * gap
                    if total > best[last]:
                        break
                if total <= best[last]:
                    known = False
                    for other in who:
                        known = known or other == number
                    if not known:
                        insert(total, number, best, who)
