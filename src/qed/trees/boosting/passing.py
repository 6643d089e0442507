r"""Small trees, all of whose questions are answered for many rows at once, where a walk answers one after another for one.

A tree of at most 64 leaves is one whole number for each row: a bit for each leaf, the first leaf in the lowest one. Whoever goes right at a
node can not come to the leaves on its left, and loses their bits. When all questions are answered, the lowest bit that is left is the leaf:
of those on the way no question took it, and every leaf before it lies on the left of one at which the row went right. The questions of a
tree need not wait for one another then, and a row does nothing that another does not do, so a processor takes as many rows together as it
has lanes. With :math:`m` questions and :math:`v` lanes a row costs :math:`m / v` steps, which follow one another without a guess.

Lucchese et al. (2015), QuickScorer: a fast algorithm to rank documents with additive ensembles of regression trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qed.base.compile import kernel
from qed.trees.nodes import NO_LEVEL, levels_of
from qed.trees.places import PLACES, SCATTER, TOP

# Leaves of a tree at the most, rows that are taken together, and questions that are answered together.
MOST, ROWS, TOGETHER = 64, 128, 4
ALL, ONE = np.uint64((1 << 64) - 1), np.uint64(1)


class Passes(NamedTuple):
    """The questions of trees one after another, those about numbers in fours, those about categories by themselves."""

    starts: np.ndarray  # where the numeric questions of each tree begin, and where the last ones end
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    keeps: np.ndarray  # the leaves that are left to a row that goes right
    level_starts: np.ndarray  # the same of questions about categories
    level_feature: np.ndarray
    level_keeps: np.ndarray
    leaf_starts: np.ndarray  # where the leaves of each tree begin
    values: np.ndarray  # and what they add

    @property
    def questions(self) -> int:
        """How many questions a row answers."""
        return len(self.feature) + len(self.level_feature)


def passes_of(
    starts: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    right: np.ndarray,
    missing_left: np.ndarray,
    value: np.ndarray,
    level_set: np.ndarray,
) -> Passes | None:
    """Bring the nodes of trees into this form; None where one has too many leaves."""
    before = np.concatenate([[0], np.cumsum(feature < 0)])
    leaf_starts = before[starts]
    if np.diff(leaf_starts).max(initial=0) > MOST:
        return None
    tree = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    asking = np.flatnonzero(feature >= 0)
    own, first = tree[asking], before[asking + 1]
    count = (before[starts[own] + right[asking]] - first).astype(np.uint64)
    # A node has a leaf on its right, so that no more than 63 bits are taken away.
    keeps = ~(((ONE << count) - ONE) << (first - leaf_starts[own]).astype(np.uint64))
    by_level = level_set[asking] >= 0
    numeric = asking[~by_level]
    many = np.bincount(own[~by_level], minlength=len(starts) - 1)
    ends = np.cumsum(-(-many // TOGETHER) * TOGETHER)
    place = np.arange(len(numeric)) + np.repeat(ends - np.cumsum(many) - (-many % TOGETHER), many)
    total = int(ends[-1]) if len(ends) else 0
    # What fills up the fours takes nothing away.
    filled = np.zeros(total, np.int64), np.zeros(total), np.zeros(total, bool), np.full(total, ALL)
    for all_, given in zip(filled, (feature[numeric], threshold[numeric], missing_left[numeric], keeps[~by_level])):
        all_[place] = given
    levels = np.concatenate([[0], np.cumsum(np.bincount(own[by_level], minlength=len(starts) - 1))])
    others = levels, feature[asking[by_level]], keeps[by_level]
    return Passes(np.concatenate([[0], ends]), *filled, *others, leaf_starts, value[feature < 0])


def add_few(X: np.ndarray, passes: Passes, sets: np.ndarray, first: int, last: int, totals: np.ndarray) -> None:
    """Do what `add_passed` does for few rows by NumPy, all questions at once."""
    here = slice(passes.starts[first], passes.starts[last])
    x = X[:, passes.feature[here]]
    with np.errstate(invalid="ignore"):
        goes = (x <= passes.threshold[here]) | (np.isnan(x) & passes.missing_left[here])
    left = _left(goes, passes.keeps[here], passes.starts[first : last + 1])
    levels = slice(passes.level_starts[first], passes.level_starts[last])
    if levels.start < levels.stop:
        known = sets[np.arange(levels.start, levels.stop), levels_of(X[:, passes.level_feature[levels]])]
        left &= _left(known, passes.level_keeps[levels], passes.level_starts[first : last + 1])
    place = PLACES[((left & (~left + ONE)) * SCATTER) >> TOP]
    values = passes.values[passes.leaf_starts[first:last] + place]
    # One tree after another, which is how the loop rounds.
    for tree in range(first, last):
        totals[:, tree % totals.shape[1]] += values[:, tree - first]


def _left(goes: np.ndarray, keeps: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Give the leaves that are left to each row in each tree, of shape (n, trees), from who goes left at each question."""
    each = np.concatenate([np.where(goes, ALL, keeps), np.full((len(goes), 1), ALL)], axis=1)
    return np.where(starts[1:] > starts[:-1], np.bitwise_and.reduceat(each, starts[:-1] - starts[0], axis=1), ALL)


@kernel
def add_passed(
    X: np.ndarray,
    starts: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    missing_left: np.ndarray,
    keeps: np.ndarray,
    level_starts: np.ndarray,
    level_feature: np.ndarray,
    level_keeps: np.ndarray,
    leaf_starts: np.ndarray,
    values: np.ndarray,
    sets: np.ndarray,
    first: int,
    last: int,
    totals: np.ndarray,
) -> None:
    """Add the values of the trees `first` to `last` to totals (n, outputs), whose columns they belong to in turn."""
    (n, p), outputs = X.shape, totals.shape[1]
    # Columns lie one after another; behind them once more, with what is missing below everything.
    tile, left = np.zeros((2 * p, ROWS)), np.empty(ROWS, np.uint64)
    lower = np.empty(p, np.int64)
    for begin in range(0, n, ROWS):
        size = min(ROWS, n - begin)
        bring(X, begin, size, tile, lower)
        for tree in range(first, last):
            for i in range(ROWS):
                left[i] = ALL
            for q in range(starts[tree], starts[tree + 1], TOGETHER):
                a, b, c, d = feature[q], feature[q + 1], feature[q + 2], feature[q + 3]
                pass_four(
                    tile[lower[a] if missing_left[q] else a],
                    tile[lower[b] if missing_left[q + 1] else b],
                    tile[lower[c] if missing_left[q + 2] else c],
                    tile[lower[d] if missing_left[q + 3] else d],
                    threshold[q : q + 4],
                    keeps[q : q + 4],
                    left,
                )
            for q in range(level_starts[tree], level_starts[tree + 1]):
                column, known = tile[level_feature[q]], sets[q]
                for i in range(size):
                    x = column[i]
                    level = np.int64(x) if x >= 0 and x < NO_LEVEL else NO_LEVEL
                    if not known[level if level == x else NO_LEVEL]:
                        left[i] &= level_keeps[q]
            output, start = tree % outputs, leaf_starts[tree]
            for i in range(size):
                lowest = left[i] & (~left[i] + ONE)
                totals[begin + i, output] += values[start + PLACES[(lowest * SCATTER) >> TOP]]


@kernel(within=True)
def bring(X: np.ndarray, begin: int, size: int, tile: np.ndarray, lower: np.ndarray) -> None:
    """Bring rows near, column by column, and say where each column is found with missing values below everything."""
    p = len(lower)
    for i in range(size):
        for j in range(p):
            tile[j, i] = X[begin + i, j]
    for j in range(p):
        lower[j] = j
        for i in range(size):
            if tile[j, i] != tile[j, i]:
                lower[j] = p + j
        if lower[j] > j:
            for i in range(size):
                tile[p + j, i] = tile[j, i] if tile[j, i] == tile[j, i] else -np.inf


@kernel(within=True)
def pass_four(
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    d: np.ndarray,
    threshold: np.ndarray,
    keeps: np.ndarray,
    left: np.ndarray,
) -> None:
    """Answer four questions."""
    at, bt, ct, dt = threshold[0], threshold[1], threshold[2], threshold[3]
    ak, bk, ck, dk = keeps[0], keeps[1], keeps[2], keeps[3]
    for i in range(ROWS):
        first = (ALL if a[i] <= at else ak) & (ALL if b[i] <= bt else bk)
        left[i] &= first & (ALL if c[i] <= ct else ck) & (ALL if d[i] <= dt else dk)
