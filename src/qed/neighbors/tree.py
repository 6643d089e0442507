r"""A k-d tree: boxes within boxes, of which most need not be opened.

The rows of a node are cut at the median of the column in which they are spread most, down to some thirty rows a leaf. A box whose nearest
corner is farther from a query than the k-th neighbour found so far holds no nearer one: of :math:`n` rows in few dimensions about
:math:`\log n` leaves are opened. The tree is balanced, so its nodes need no pointers: node :math:`i` has the children :math:`2i` and
:math:`2i + 1`, and the rows of a node are cut in the middle. Building costs :math:`O(np \log n)`.

How far a box is away is a sum of terms that only grow on the way down, so its rounding is at most some :math:`4 \varepsilon` for each level
and feature; a box is passed over only where it is farther by more than that. The neighbours are those of the plain search, ties included.

Bentley (1975), Multidimensional binary search trees used for associative searching; Friedman, Bentley and Finkel (1977).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.compile import kernel
from qed.base.engine import work
from qed.base.numbers import EPS
from qed.base.saving.known import savable
from qed.neighbors.best import Best
from qed.neighbors.growing import LEVELS, split
from qed.neighbors.measures import MOST_PRODUCTS

# Rows of a leaf, about; queries that one task takes; nodes whose trees are grown side by side.
LEAF, TASK, APART = 32, 256, 8


@savable
@dataclass(frozen=True, eq=False)
class Tree:
    """Rows in the order of the leaves, and where their boxes are cut."""

    attributes: ClassVar = {
        "points": floats("features", "rows"),
        "numbers": integers("rows", below="rows"),
        "column": integers("nodes", below="features"),
        "value": floats("nodes"),
    }
    points: np.ndarray  # (p, n): the features, column by column
    numbers: np.ndarray  # (n,): which row each is
    column: np.ndarray  # (nodes,): the column in which a node is cut
    value: np.ndarray  # (nodes,): where

    @classmethod
    def of(cls, X: np.ndarray) -> Tree:
        """Grow the tree of some rows."""
        n = len(X)
        leaves = _leaves(n)
        points, numbers = np.array(X.T, order="C"), np.arange(n)
        column, value = np.zeros(leaves - 1, dtype=np.intp), np.zeros(leaves - 1)
        room = np.empty(n), np.empty(n, points.dtype), np.empty(n, np.intp), np.empty(n, np.intp)
        # The first cuts are made level by level, and the trees below them side by side.
        apart = 1
        while apart < leaves:
            end = leaves if apart >= APART else 2 * apart
            list(
                work(
                    partial(
                        split, points, numbers, apart + i, low, high, end, column, value, *(r[low:high] for r in room)
                    )
                    for i, (low, high) in enumerate(_range(n, apart, i) for i in range(apart))
                )
            )
            apart = end
        return cls(points, numbers, column, value)

    def nearest(self, Q: np.ndarray, k: int, power: float) -> Best:
        """Give the k nearest rows of each query."""
        p = len(self.points)
        found = Best(np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.intp))
        share = 1.0 - (8 * LEVELS + 2 * p + 16) * EPS * (1 if power in (1, 2, np.inf) else 8)
        own, turns = np.ascontiguousarray(Q), np.arange(len(Q))
        if len(Q) > TASK:
            # Those that end in the same leaf come after one another: they go the same way, through boxes that are still at hand.
            fall(self.column, self.value, own, turns)
            turns = np.argsort(turns, kind="stable")
        parts = (self.points, self.numbers, self.column, self.value)
        tasks = (turns[i : i + TASK] for i in range(0, len(Q), TASK))
        list(work(partial(visit, *parts, own, part, power, share, found.size, found.number) for part in tasks))
        return found

    def misplaced(self) -> int:
        """Count the cuts that rows lie on the wrong side of, and what else a tree can not be."""
        p, n = self.points.shape
        leaves = len(self.column) + 1
        # Kernels trust the sizes of leaves and the types of numbers.
        wrong = int(leaves != _leaves(n) or not (self.column >= 0).all() or not (self.column < p).all())
        wrong += int(self.points.dtype not in (np.float32, np.float64) or self.value.dtype != np.float64)
        wrong += int(self.numbers.dtype != np.intp or self.column.dtype != np.intp)
        wrong += int(not np.array_equal(np.sort(self.numbers), np.arange(n)))
        if wrong:
            return wrong
        edges, node = np.array([0, n]), 1
        while node < leaves:
            # The cut is the least row of the upper half, and no row of the lower one is beyond it.
            level, cut = slice(node - 1, 2 * node - 1), self.value[node - 1 : 2 * node - 1]
            values = self.points[np.repeat(self.column[level], np.diff(edges)), np.arange(n)]
            edges = np.sort(np.concatenate([edges, (edges[:-1] + edges[1:]) // 2]))
            most, least = (extreme.reduceat(values, edges[:-1]) for extreme in (np.maximum, np.minimum))
            wrong += int((most[::2] > cut).sum() + (least[1::2] != cut).sum())
            node *= 2
        return wrong


def _leaves(n: int) -> int:
    """Give how many leaves the tree of n rows has."""
    leaves = 1
    while n > LEAF * leaves:
        leaves *= 2
    return leaves


def _range(n: int, parts: int, which: int) -> tuple[int, int]:
    """Give the first and the last place of one of the parts into which n rows are cut by halves."""
    low, high = 0, n
    while parts > 1:
        parts //= 2
        middle = (low + high) // 2
        low, high = (low, middle) if which < parts else (middle, high)
        which %= parts
    return low, high


@kernel(within=True)
def raised(gap: float, power: float) -> float:
    """Raise a size to a power: by products where it is whole, which round in one way everywhere."""
    if power != np.floor(power) or power > MOST_PRODUCTS:
        return gap**power
    found = gap
    for _ in range(int(power) - 1):
        found *= gap
    return found


@kernel(within=True)
def term(gap: float, power: float) -> float:
    """Give what a difference adds to a size."""
    if power == 2.0:
        return gap * gap
    return abs(gap) if power == 1.0 or power == np.inf else raised(abs(gap), power)


@kernel(within=True)
def insert(size: float, number: int, sizes: np.ndarray, numbers: np.ndarray) -> None:
    """Put a row among the nearest, which are ordered by size and number, if it is one of them; the last one leaves."""
    k = len(sizes) - 1
    if size > sizes[k] or (size == sizes[k] and number > numbers[k]):
        return
    while k > 0 and (sizes[k - 1] > size or (sizes[k - 1] == size and numbers[k - 1] > number)):
        sizes[k], numbers[k] = sizes[k - 1], numbers[k - 1]
        k -= 1
    sizes[k], numbers[k] = size, number


@kernel(within=True)
def measure(points: np.ndarray, low: int, high: int, query: np.ndarray, power: float, away: np.ndarray) -> None:
    """Set the sizes of consecutive rows, feature by feature."""
    total = away[: high - low]
    total[:] = 0.0
    for j in range(len(points)):
        x, values = np.float64(query[j]), points[j, low:high]
        if power == 2.0:
            for r in range(len(total)):
                gap = values[r] - x
                total[r] += gap * gap
        elif power == np.inf:
            for r in range(len(total)):
                total[r] = max(total[r], abs(values[r] - x))
        elif power == 1.0:
            for r in range(len(total)):
                total[r] += abs(values[r] - x)
        else:
            for r in range(len(total)):
                total[r] += raised(abs(values[r] - x), power)


@kernel
def fall(column: np.ndarray, value: np.ndarray, Q: np.ndarray, leaf: np.ndarray) -> None:
    """Say in which leaf each query ends."""
    for i in range(len(Q)):
        node = 1
        while node <= len(column):
            node = 2 * node + (Q[i, column[node - 1]] >= value[node - 1])
        leaf[i] = node


@kernel
def visit(
    points: np.ndarray,
    numbers: np.ndarray,
    column: np.ndarray,
    value: np.ndarray,
    Q: np.ndarray,
    turns: np.ndarray,
    power: float,
    share: float,
    sizes: np.ndarray,
    names: np.ndarray,
) -> None:
    """Find the nearest rows of the queries whose turn it is: down to its own leaf, then back through the boxes that are near enough."""
    p, n = points.shape
    leaves, last = len(column) + 1, sizes.shape[1] - 1
    nodes, lows, highs = np.empty(LEVELS, np.int64), np.empty(LEVELS, np.int64), np.empty(LEVELS, np.int64)
    bounds, offsets, away = np.empty(LEVELS), np.empty((LEVELS, p)), np.empty(2 * LEAF)
    for i in turns:
        query, best, who = Q[i], sizes[i], names[i]
        best[:], who[:] = np.inf, n
        nodes[0], lows[0], highs[0], bounds[0], waiting = 1, 0, n, 0.0, 1
        offsets[0] = 0.0
        while waiting > 0:
            waiting -= 1
            if bounds[waiting] * share > best[last]:
                continue
            node, low, high = nodes[waiting], lows[waiting], highs[waiting]
            while node < leaves:
                # The far child takes this place in the pile, and the near one is gone on with from the next.
                j, cut, middle = column[node - 1], value[node - 1], (low + high) // 2
                gap, after = query[j] - cut, waiting + 1
                for column_of in range(p):
                    offsets[after, column_of] = offsets[waiting, column_of]
                bounds[after] = bounds[waiting]
                if power == np.inf:
                    bounds[waiting] = max(bounds[waiting], abs(gap))
                else:
                    bounds[waiting] += term(gap, power) - term(offsets[waiting, j], power)
                offsets[waiting, j] = gap
                if gap < 0:
                    nodes[waiting], lows[waiting], highs[waiting] = 2 * node + 1, middle, high
                    node, high = 2 * node, middle
                else:
                    nodes[waiting], lows[waiting], highs[waiting] = 2 * node, low, middle
                    node, low = 2 * node + 1, middle
                waiting = after
            measure(points, low, high, query, power, away)
            for r in range(high - low):
                if away[r] <= best[last]:
                    insert(away[r], numbers[low + r], best, who)
