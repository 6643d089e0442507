"""The k nearest of the rows seen so far: a statistic, so that rows may come in blocks, from files and from a cluster.

Neighbours are ordered by their distance and, of equal ones, by their number: which of them are taken depends on the rows alone, not on the
way of searching, the blocks or the threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Best:
    """The nearest rows of each of m queries.

    >>> near = Best.of(np.array([[3.0, 1.0, 1.0]]), 2) + Best.of(np.array([[0.5, 1.0]]), 2, first=3)
    >>> near.size, near.number
    (array([[0.5, 1. ]]), array([[3, 1]]))
    """

    # Both of shape (m, k), in the order of the neighbours: what ranks them, and the numbers of the rows.
    size: np.ndarray
    number: np.ndarray

    @classmethod
    def of(cls, sizes: np.ndarray, k: int, first: int = 0) -> Best:
        """Take the k nearest from the sizes of all rows, of shape (m, n), of which `first` is the number of the first."""
        sizes = np.where(np.isnan(sizes), np.inf, sizes)
        m, n = sizes.shape
        if k < n:
            chosen = _least(sizes, k)
        else:
            chosen = np.broadcast_to(np.arange(n), (m, n))
        found = np.take_along_axis(sizes, chosen, axis=1)
        order = np.argsort(found, axis=1, kind="stable")
        return cls(np.take_along_axis(found, order, axis=1), first + np.take_along_axis(chosen, order, axis=1))

    def __add__(self, other: Best) -> Best:
        """Take the nearest of both; the rows of the other come later."""
        size = np.hstack([self.size, other.size])
        number = np.hstack([self.number, other.number])
        k = max(self.size.shape[1], other.size.shape[1])
        order = np.argsort(size, axis=1, kind="stable")[:, :k]
        return Best(np.take_along_axis(size, order, axis=1), np.take_along_axis(number, order, axis=1))

    def first(self, k: int) -> Best:
        """Give the k nearest of them."""
        return Best(self.size[:, :k], self.number[:, :k])

    def without(self, own: np.ndarray) -> Best:
        """Leave out of each query's neighbours the row with a given number; where it is not among them, the farthest one."""
        m, k = self.number.shape
        stays = self.number != own[:, None]
        stays[stays.all(axis=1), -1] = False
        return Best(self.size[stays].reshape(m, k - 1), self.number[stays].reshape(m, k - 1))

    def numbered_from(self, first: int) -> Best:
        """Give the same where the first row has another number."""
        return Best(self.size, self.number + first)

    def named(self, numbers: np.ndarray) -> Best:
        """Give the same with other numbers, in the same order."""
        return Best(self.size, numbers[self.number])


def _least(sizes: np.ndarray, k: int) -> np.ndarray:
    """Give the places of the k least of each row, of equal ones the first, in ascending order of their places."""
    limit = np.partition(sizes, k - 1, axis=1)[:, k - 1, None]
    nearer = sizes < limit
    # What is as far as the last one fills the places that are left, in its order.
    level = sizes == limit
    room = k - nearer.sum(axis=1, keepdims=True)
    if (level.sum(axis=1, keepdims=True) > room).any():
        level &= np.cumsum(level, axis=1) <= room
    return np.nonzero(nearer | level)[1].reshape(len(sizes), k)
