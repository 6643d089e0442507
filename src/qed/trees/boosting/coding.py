"""Rows as codes: a byte for each value, made block by block, so that numbers themselves are never all in memory.

A column of numbers has bins (:mod:`qed.trees.bins`). A column of categories holds whole numbers from 0 to 254, each its own code; what is
missing, negative, or was not there to learn from has the code 255. So every question is a set of codes that go left, and trees are grown
and followed on codes alone, with the answers that they give for the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qed.base.compile import kernel
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.trees.asking.categories import known_levels
from qed.trees.bins import MISSING, Bins
from qed.trees.boosting.forest import Forest
from qed.trees.nodes import levels_of
from qed.trees.present import sample_of

# Rows that are followed to their leaves without a compiled loop.
FEW = 1 << 13


@dataclass(frozen=True, eq=False)
class Coding:
    """How values become codes.

    >>> coding = Coding(
    ...     Bins.learn(np.array([[1.0, 3.0], [2.0, 0.0]])), known_levels(np.array([[1.0, 3.0], [2.0, 0.0]]), [1], 2)
    ... )
    >>> coding.codes(np.array([[1.5, 3.0], [9.0, 1.0]]), 8)[:, :2].tolist(), coding.counts.tolist()
    ([[0, 3], [1, 255]], [2, 255])
    """

    bins: Bins
    known: np.ndarray  # (p, 256): the categories that there are, in columns of categories

    @cached_property
    def is_categorical(self) -> np.ndarray:
        """Which columns hold categories; one without any known category is all missing, and may count as numbers."""
        return np.asarray(self.known.any(axis=1))

    @cached_property
    def counts(self) -> np.ndarray:
        """How many codes each column has, but that of missing values."""
        return np.where(self.is_categorical, MISSING, self.bins.counts)

    def codes(self, X: np.ndarray, width: int) -> np.ndarray:
        """Give the codes of values, with columns of zeros behind them up to a width."""
        found = self.bins.codes(X, width)
        for j in np.flatnonzero(self.is_categorical):
            level = levels_of(X[:, j])
            found[:, j] = np.where(self.known[j][level], level, MISSING)
        return found

    def all_codes(self, rows: Rows, first: int, place: np.ndarray | None, count: int) -> np.ndarray:
        """Give the codes of `count` rows, which are numbered from `first` on; a row has as many bytes as fill words of eight.

        Each is put at its `place`, or left out where that is -1; None stands for the order they have.
        """
        codes = np.zeros((count, -(-rows.n_features // 8) * 8), dtype=np.uint8)
        for start, found in rows.each(_codes_of, self, codes.shape[1]):
            here = slice(start - first, start - first + len(found))
            if place is None:
                codes[here] = found
            else:
                there = place[here] >= 0
                codes[place[here][there]] = found[there]
        return codes

    def sides(self, forest: Forest, here: slice) -> np.ndarray:
        """Say for some nodes and each code whether it goes left; thresholds are taken to be edges."""
        feature, levels = np.maximum(forest.feature[here], 0), forest.level_set[here]
        cut = (self.bins.edges[feature] < forest.threshold[here, None]).sum(axis=1)
        found = np.arange(MISSING + 1) <= cut[:, None]
        found[:, MISSING] = forest.missing_go_to_left[here]
        found[levels >= 0] = forest.sets[levels[levels >= 0]]
        return found

    def leaves(self, forest: Forest, tree: int, codes: np.ndarray) -> np.ndarray:
        """Give the number of the leaf of each row in one of the trees."""
        here = slice(int(forest.starts[tree]), int(forest.starts[tree + 1]))
        leaf = np.zeros(len(codes), dtype=np.int32)
        walk = follow_together if len(codes) <= FEW else follow
        walk(codes, forest.feature[here], forest.children_right[here], self.sides(forest, here), leaf)
        return leaf


def _codes_of(block: Block, coding: Coding, width: int) -> tuple[int, np.ndarray]:
    return block.start, coding.codes(block.X, width)


@kernel
def follow(codes: np.ndarray, feature: np.ndarray, right: np.ndarray, sides: np.ndarray, leaf: np.ndarray) -> None:
    """Follow the codes of every row to its leaf."""
    for i in range(len(codes)):
        node = 0
        while feature[node] >= 0:
            node = node + 1 if sides[node, codes[i, feature[node]]] else right[node]
        leaf[i] = node


def follow_together(
    codes: np.ndarray, feature: np.ndarray, right: np.ndarray, sides: np.ndarray, leaf: np.ndarray
) -> None:
    """Do so for few rows by NumPy, all of them one level at a time."""
    under_way = np.arange(len(codes))
    while len(under_way := under_way[feature[leaf[under_way]] >= 0]):
        node = leaf[under_way]
        goes = sides[node, codes[under_way, feature[node]]]
        leaf[under_way] = np.where(goes, node + 1, right[node])


def learn_coding(
    rows: Rows, first: int, chosen: np.ndarray | None, weight: np.ndarray | None, most: int, columns: Sequence[int]
) -> Coding:
    """Learn bins from the chosen rows, numbered from `first` on, or from all; and categories from all that weigh anything."""
    p = rows.n_features
    known = np.zeros((p, MISSING + 1), dtype=bool)
    if columns:
        known = rows.fold(_Known.of, columns, p, most).known
    return Coding(Bins.of_sample(sample_of(rows, first, chosen), weight, most), known)


@dataclass(frozen=True)
class _Known:
    """Categories that were seen."""

    known: np.ndarray

    @classmethod
    def of(cls, block: Block, columns: Sequence[int], p: int, most: int) -> _Known:
        used = block.X if block.weight is None else block.X[block.weight > 0]
        return cls(known_levels(used, columns, p, most))

    def __add__(self, other: _Known) -> _Known:
        return _Known(self.known | other.known)
