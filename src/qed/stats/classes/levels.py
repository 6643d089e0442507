"""How often each level of columns of small whole numbers occurs: what naive Bayes on categories learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.models.fingerprint import Fingerprint
from qed.base.numbers import EPS, TINY, largest_share
from qed.base.saving.known import savable
from qed.base.sources.block import Block


@savable
@dataclass(frozen=True, eq=False)
class LevelCounts:
    """The weight of every level, 0, 1, 2 and so on, of every column.

    >>> seen = LevelCounts.of(Block(np.array([[0.0, 2.0], [1.0, 2.0]])))
    >>> seen.of_column(0, 3), seen.levels
    (array([1., 1., 0.]), array([2, 3]))
    >>> (seen + seen - seen).of_column(1, 3)
    array([0., 0., 2.])
    """

    attributes: ClassVar = {
        "count": integers(),
        "weight": floats(low=0),
        "table": floats("columns", "_", low=0, finite=False),
        "bulk": floats(low=0),
    }
    count: int
    weight: float
    table: np.ndarray  # (p, most levels)
    bulk: float = None  # type: ignore[assignment]  # all weight that was added, and that was taken away again

    def __post_init__(self) -> None:
        if self.bulk is None:
            object.__setattr__(self, "bulk", self.weight)

    @classmethod
    def of(cls, block: Block) -> LevelCounts:
        """Count the levels of a block; something missing makes its column NaN."""
        X, weight = np.asarray(block.X), block.weights
        n, p = X.shape
        whole = np.isfinite(X).all(axis=0)
        codes = np.where(whole, X, 0).astype(np.int64)
        most = int(codes.max(initial=-1)) + 1
        flat = (codes + most * np.arange(p)).ravel()
        table = np.bincount(flat, np.repeat(weight, p), minlength=p * most).reshape(p, most)
        return cls(n, float(weight.sum()), np.where(whole[:, None], table, np.nan))

    @property
    def levels(self) -> np.ndarray:
        """How many levels each column has: the largest that has any weight, and one."""
        there = self.table > 0
        last = self.table.shape[1] - there[:, ::-1].argmax(axis=1)
        return np.where(there.any(axis=1), last, 0)

    def of_column(self, column: int, levels: int) -> np.ndarray:
        """Give the weights of the first levels of a column."""
        found = np.zeros(levels)
        known = self.table[column, :levels]
        found[: len(known)] = known
        return found

    def __add__(self, other: LevelCounts) -> LevelCounts:
        one, two = _alike(self.table, other.table)
        return LevelCounts(self.count + other.count, self.weight + other.weight, one + two, self.bulk + other.bulk)

    def __sub__(self, other: LevelCounts) -> LevelCounts:
        one, two = _alike(self.table, other.table)
        rest = np.where(np.abs(one - two) <= 1e-12 * one, 0.0, one - two)
        left = self.weight - other.weight
        return LevelCounts(self.count - other.count, left, np.maximum(rest, 0.0), self.bulk + other.bulk)

    @property
    def is_finite(self) -> bool:
        """Whether nothing was missing or infinite."""
        return bool(np.isfinite(self.table).all())

    def fingerprint(self) -> Fingerprint:
        """Tell these rows from others."""
        level, weight = np.arange(self.table.shape[1]), max(self.weight, TINY)
        mean = self.table @ level / weight
        return Fingerprint(self.count, self.weight, mean, np.maximum(self.table @ level**2 / weight - mean**2, 0.0))

    def apart(self, other: LevelCounts) -> float:
        """Give the largest difference from other counts, in units of what rounding can do; infinite where they are not of as many rows."""
        if len(self.table) != len(other.table) or self.count != other.count:
            return np.inf
        one, two = _alike(self.table, other.table)
        if not (np.isfinite(self.bulk) and self.bulk >= other.weight * (1 - 1e-9)):
            return np.inf
        blur = (other.count + 64) * EPS * (self.bulk + other.bulk) + TINY
        return max(largest_share([self.weight], [other.weight], blur), largest_share(one, two, blur))


def _alike(one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give two tables the same number of levels."""
    most = max(one.shape[1], two.shape[1])
    first, second = (np.pad(table, ((0, 0), (0, most - table.shape[1]))) for table in (one, two))
    return first, second
