r"""FP-growth: frequent sets from a tree of baskets, without candidates.

A first pass weighs the items. A second one writes every basket as its frequent items, the heaviest first, and keeps the different ones
with their weight: baskets that begin alike share a branch of a tree. The sets that end with an item are those of the tree of what
comes before it, whose weights are handed up from its nodes; and so on inside. Only frequent sets are ever looked at. Han, Pei and Yin
(2000), Mining frequent patterns without candidate generation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from qed.association.candidates import too_many
from qed.association.counting import held
from qed.association.itemsets import MOST_SETS, Baskets, FrequentSets
from qed.association.tree import FEW, grow, mine
from qed.base.compile import interpreted
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows


@dataclass(frozen=True)
class Distinct:
    """The different baskets of some rows, as bits of the frequent items, and what each weighs."""

    codes: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, block: Block, items: np.ndarray) -> Distinct:
        """Find the different baskets of a block."""
        codes = np.packbits(held(block, items).T, axis=1)
        n = len(codes)
        weights = np.ones(n) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        return cls(codes, weights)._joined()

    def __add__(self, other: Distinct) -> Distinct:
        return Distinct(
            np.concatenate([self.codes, other.codes]), np.concatenate([self.weights, other.weights])
        )._joined()

    def _joined(self) -> Distinct:
        if not self.codes.shape[1]:
            return Distinct(self.codes[:1], np.array([self.weights.sum()]))
        _, first, place = np.unique(_sortable(self.codes), return_index=True, return_inverse=True)
        return Distinct(self.codes[first], np.bincount(place, self.weights, minlength=len(first)))


def _sortable(codes: np.ndarray) -> np.ndarray:
    """Give one value for each code, in the order of its bytes: a number for up to eight, which is sorted sooner."""
    bytes_ = codes.shape[1]
    if bytes_ <= 8:
        whole = np.zeros((len(codes), 8), np.uint8)
        whole[:, :bytes_] = codes
        return whole.view(">u8")[:, 0].astype(np.uint64)
    return np.ascontiguousarray(codes).view(np.dtype((np.void, bytes_)))[:, 0]


class DistinctBaskets(Baskets):
    """Baskets of which the different ones are kept."""

    def __init__(self, rows: Rows, model: object, least: float) -> None:
        super().__init__(rows, model)
        self.least = least * self.total

    @cached_property
    def order(self) -> np.ndarray:
        """The frequent items, the heaviest first."""
        found = np.flatnonzero(self.items >= self.least)
        return found[np.argsort(-self.items[found], kind="stable")]

    @cached_property
    def distinct(self) -> Distinct:
        found: Distinct = self.rows.fold(Distinct.of, self.order)
        return found

    @cached_property
    def members(self) -> np.ndarray:
        """Which of the different baskets hold which frequent items, a row for each basket."""
        return np.unpackbits(self.distinct.codes, axis=1, count=len(self.order)).astype(bool)


class FPGrowth(FrequentSets):
    """Sets of items that are found together in many rows, from a tree of baskets.

    Parameters
    ----------
    min_support : float, default=0.5
        The least share of the rows (by weight) that hold all items of a frequent set.
    max_size : int, optional
        The largest number of items of a set. Without it, tables in which many items are found together in most rows are refused: of n
        such items 2^n - 1 sets are frequent.

    Attributes
    ----------
    itemsets_ : ndarray of int, shape (n_sets, longest)
        The frequent sets: the numbers of their columns, rising, filled up with -1. Small sets come first.
    supports_ : ndarray of shape (n_sets,)
        The share of the rows that hold each.
    weight_ : float
        What all rows weigh.

    Notes
    -----
    A row holds an item where its value is above zero. The result is that of :class:`qed.Apriori`; the different baskets have to fit in
    memory.

    Examples
    --------
    >>> import pandas as pd
    >>> import qed
    >>> baskets = pd.DataFrame({"bread": [1, 1, 1, 0], "butter": [1, 1, 0, 0], "milk": [0, 1, 1, 1]})
    >>> qed.FPGrowth(min_support=0.5).fit(baskets).sets()[-2:]
    [(('bread', 'butter'), 0.5), (('bread', 'milk'), 0.5)]
    """

    passes: ClassVar[str] = "in memory"

    def __init__(self, min_support: float = 0.5, *, max_size: int | None = None) -> None:
        self.min_support, self.max_size = min_support, max_size

    def _problem(self, rows: Rows) -> DistinctBaskets:
        return DistinctBaskets(rows, self, self.min_support * (1 - 1e-12))

    def _solve(self, problem: DistinctBaskets) -> None:
        problem.check_number(problem.items, problem.least, self.max_size)
        order, distinct = problem.order, problem.distinct
        if not len(order):
            self._keep(problem, np.zeros((0, 1), dtype=np.int64), np.zeros(0))
            return
        few = problem.members.size <= FEW
        plant, dig = (interpreted(grow), interpreted(mine)) if few else (grow, mine)
        # Sorted baskets begin alike next to each other.
        tree = plant(problem.members[::-1].copy(), distinct.weights[::-1].copy())
        ranks, mothers, weights = dig(*tree, len(order), problem.least, self.max_size or 0, MOST_SETS)
        if len(ranks) > MOST_SETS:
            raise too_many(f"more than {MOST_SETS:,} sets")
        self._keep(problem, _written_out(ranks, mothers, order), weights)


def _written_out(ranks: np.ndarray, mothers: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Write sets out that are known by what they have more than another."""
    columns, at = [], np.arange(len(ranks))
    while (at >= 0).any():
        columns.append(np.where(at >= 0, order[ranks[at]], -1))
        at = np.where(at >= 0, mothers[at], -1)
    sets = np.column_stack(columns)
    filler = np.iinfo(np.int64).max
    sorted_sets = np.sort(np.where(sets < 0, filler, sets), axis=1)
    return np.where(sorted_sets == filler, -1, sorted_sets)
