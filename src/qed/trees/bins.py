r"""Bins: a column in at most 255 steps, so that a row is a few bytes and the rows of a node are added up in histograms.

The edges of a column stand midway between neighbouring values: between all of them where there are few enough, else where the weight of
the rows below comes to equal shares. A value belongs to bin :math:`b` where :math:`b` edges are below it, so that

.. math:: x \le e_b \iff \operatorname{code}(x) \le b ,

and a question about bins is one about values: a tree that was grown on codes answers without them. Missing values have the code 255.
Cost: :math:`O(np \log n)` to learn, eight comparisons for each code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from qed.base.attributes import floats
from qed.base.certificate import Claim
from qed.base.compile import kernel
from qed.base.engine import work
from qed.base.random import mixed
from qed.base.saving.known import savable
from qed.trees.columns import midway
from qed.trees.sweeping import STEP

MISSING, MOST = 255, 255
# Rows that edges are learned from at the most, values below which codes are not worth compiling, and rows that a thread codes at a time.
LEARNED, FEW, PART = 200_000, 1 << 17, 1 << 14


@savable
@dataclass(frozen=True, eq=False)
class Bins:
    """The edges between the bins of every column.

    >>> bins = Bins.learn(np.array([[1.0], [4.0], [2.0], [np.nan]]))
    >>> bins.codes(np.array([[1.5], [9.0], [np.nan]])).ravel(), bins.counts
    (array([  0,   2, 255], dtype=uint8), array([3]))
    """

    attributes: ClassVar = {"edges": floats("features", MOST, finite=False)}
    edges: np.ndarray  # (p, 255): ascending, infinite from where there are no more

    @classmethod
    def learn(cls, X: np.ndarray, weight: np.ndarray | None = None, most: int = MOST) -> Bins:
        """Learn the edges of at most `most` bins; of very many rows from a sample."""
        chosen = cls.sample(len(X))
        if chosen is not None:
            X, weight = X[chosen], None if weight is None else weight[chosen]
        return cls.of_sample(X, weight, most)

    @staticmethod
    def sample(n: int) -> np.ndarray | None:
        """Give the rows to learn from, which depend on their numbers alone; None for all, unless there are very many."""
        if n <= LEARNED:
            return None
        return np.flatnonzero(mixed(np.arange(n, dtype=np.uint64) * STEP) < np.uint64(int(2.0**64 * LEARNED / n)))

    @classmethod
    def of_sample(
        cls, X: np.ndarray, weight: np.ndarray | None = None, most: int = MOST, by_level: np.ndarray | None = None
    ) -> Bins:
        """Learn the edges of at most `most` bins from all of these rows; columns of categories, which are `by_level`, have none."""
        found = np.full((X.shape[1], MOST), np.inf)
        numbers = np.arange(X.shape[1]) if by_level is None else np.flatnonzero(~by_level)
        for j, edges in zip(numbers, work(partial(_edges, X[:, j], weight, most) for j in numbers)):
            found[j] = edges
        return cls(found)

    @cached_property
    def counts(self) -> np.ndarray:
        """How many bins each column has."""
        return np.isfinite(self.edges).sum(axis=1) + 1

    def codes(self, X: np.ndarray, width: int | None = None) -> np.ndarray:
        """Give the bins of values, of shape (n, p), or with columns of zeros behind them up to a width."""
        p = X.shape[1]
        found = np.zeros((len(X), width or p), dtype=np.uint8)
        if X.size <= FEW:
            for j, edges in enumerate(self.edges):
                found[:, j] = np.searchsorted(edges, X[:, j])
            found[:, :p][np.isnan(X)] = MISSING
            return found
        X = np.ascontiguousarray(X)
        parts = (slice(start, start + PART) for start in range(0, len(X), PART))
        for _ in work(partial(encode, X[part], self.edges, found[part]) for part in parts):
            pass
        return found

    def restated(self, kept: Bins) -> Claim:
        """Claim that bins which were kept are these."""
        return Claim("bins_ follows from the data (differs)", float(not np.array_equal(kept.edges, self.edges)), 0.0)

    def _disagreement(self) -> str:
        # Infinities that follow one another differ by nothing that is a number.
        with np.errstate(invalid="ignore"):
            falls = (np.diff(self.edges, axis=1) < 0).any() or np.isnan(self.edges).any()
        return "has edges that do not ascend" if falls or np.isneginf(self.edges).any() else ""


def _edges(column: np.ndarray, weight: np.ndarray | None, most: int) -> np.ndarray:
    """Give the edges of a column, with infinities behind them."""
    column = np.ascontiguousarray(column)
    order = None if weight is None else np.argsort(column, kind="stable")
    values = np.sort(column) if order is None else column[order]
    # Missing values stand behind all others.
    values = values[: np.searchsorted(values, np.nan)]
    last = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=last[:-1])
    ends = np.flatnonzero(last)
    distinct = values[ends].astype(np.float64)
    cut = np.arange(max(len(distinct) - 1, 0))
    if len(distinct) > most:
        below = (ends + 1.0) if weight is None else np.cumsum(weight[order], dtype=np.float64)[ends]
        cut = np.unique(np.searchsorted(below, below[-1] * np.arange(1, most) / most))
        cut = cut[cut < len(distinct) - 1]
    edges = np.full(MOST, np.inf)
    edges[: len(cut)] = midway(distinct[cut], distinct[cut + 1])
    return edges


@kernel
def encode(X: np.ndarray, edges: np.ndarray, codes: np.ndarray) -> None:
    """Count the edges below each value, by halving and without a branch."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            x, code = X[i, j], 0
            for step in (128, 64, 32, 16, 8, 4, 2, 1):
                code += step if edges[j, code + step - 1] < x else 0
            codes[i, j] = 255 if x != x else code
