r"""Where k-means begins: rows drawn far from one another.

k-means++ draws the first centre from the rows, and each further one with probability

.. math:: P(x_i) = \frac{w_i S(x_i)}{\sum_l w_l S(x_l)}, \qquad S(x) = \min_{c \in C} \|x - c\|^2,

from the centres :math:`C` drawn so far. The expected cost of its :math:`k` centres is at most :math:`8(\ln k + 2)` times the least cost.
The *greedy* variant draws several candidates at a time and keeps the one that lowers the cost most.

A draw takes the row at which the cumulated probability passes a uniform random number. The rows are cumulated in the order
of a hash of their values (rounded to single precision), so which row that is depends neither on the order of the table, nor on
its blocks, nor on whether a row has weight two or is there twice. One pass adds up the probability in 4096 ranges of the hash,
and a second one fetches the rows of a single range: nothing is stored per row, so files of any size are seeded too. Rows in
memory keep their :math:`S` between draws.

Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.base.random import generator
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.clustering.distances import nearest, squares, tiles

BUCKET_BITS = 12
TIE = 1e-10
HALF_A_UNIT, IN_SINGLE = np.uint64(1 << 28), ~np.uint64((1 << 29) - 1)


def draw_centers(
    rows: Rows, count: int, seed: int, restart: int = 0, *, trials: int | None = None, uniform: bool = False
) -> tuple[np.ndarray, int]:
    """Draw `count` rows to begin k-means with.

    Each restart of a seed draws anew; the same two always draw the same rows. One trial, or candidate, for each centre
    is the method of the theory, the default is ``2 + int(log(count))``. With `uniform`, rows are drawn by weight alone,
    among those that differ from those drawn before. Gives the centres, in float64, and how many of them differ: where
    there are fewer different rows, the first one is repeated.

    >>> from qed.base.sources.open import rows
    >>> centers, distinct = draw_centers(rows([[0.0], [0.1], [9.0], [9.1]]), 2, seed=0)
    >>> sorted(centers[:, 0].round().tolist())
    [0.0, 9.0]
    """
    trials = 1 if uniform else trials or 2 + int(np.log(count))
    lottery = Lottery(rows, seed, restart, uniform)
    for number in range(count):
        chances = generator(seed, "centers", restart, number).random(trials if number else 1)
        if not lottery.draw(chances):
            break
    centers = lottery.drawn.centers
    again = np.zeros(count - len(centers), dtype=np.intp)
    return np.concatenate([centers, centers[again]]), len(centers)


class Lottery:
    """Rows that wait to be drawn, each with a mass that says how likely it is.

    `mass` is the mass of all rows, by the range that their hash is in.
    """

    def __init__(self, rows: Rows, seed: int, restart: int, uniform: bool) -> None:
        salt = generator(seed, "order of rows", restart).integers(2**63, dtype=np.uint64)
        self.rows, self.drawn = rows, Drawn(salt, uniform, np.empty((0, rows.n_features)))
        self.mass = rows.fold(self.drawn.masses_with, self.drawn.centers[None])[0]

    def draw(self, chances: np.ndarray) -> bool:
        """Draw a candidate for each number of `chances` and keep the best of them; say whether there was any left to draw."""
        total = self.mass.sum()
        if not total > 0:
            return False
        candidates = self.rows_at(chances * total)
        masses = self.rows.fold(self.drawn.masses_with, candidates[:, None])
        cost = masses.sum(axis=1)
        best = int(np.argmax(cost <= cost.min() * (1 + TIE)))
        self.mass, center = masses[best], candidates[[best]]
        closest = self.rows.map(self.drawn.closest_with, center) if self.rows.in_memory else None
        self.drawn = replace(self.drawn, centers=np.concatenate([self.drawn.centers, center]), closest=closest)
        return True

    def rows_at(self, positions: np.ndarray) -> np.ndarray:
        """Give the rows at which the cumulated mass passes `positions`."""
        before = np.concatenate([[0.0], np.cumsum(self.mass)])
        filled = np.flatnonzero(self.mass)
        buckets = np.clip(np.searchsorted(before[1:], positions, side="right"), filled[0], filled[-1])
        fetched = self.rows.fold(self.drawn.rows_in, np.unique(buckets))
        keys, mass, values = (np.concatenate(part) for part in zip(*fetched))
        order = np.lexsort((*values.T[::-1], keys))
        keys, mass, values = keys[order], mass[order], values[order]
        found = []
        for bucket, position in zip(buckets, positions):
            inside = np.flatnonzero(keys >> np.uint64(64 - BUCKET_BITS) == bucket)
            passed = np.searchsorted(np.cumsum(mass[inside]), position - before[bucket], side="right")
            found.append(values[inside[min(passed, len(inside) - 1)]])
        return np.array(found)


@dataclass(frozen=True)
class Drawn:
    """The rows drawn so far, and what a block says about drawing one more."""

    salt: np.uint64
    uniform: bool
    centers: np.ndarray
    closest: np.ndarray | None = None  # the squared distance of every row from the nearest centre, where that is kept

    def masses_with(self, block: Block, candidates: np.ndarray) -> np.ndarray:
        """Give the mass by ranges of the hash as it would be with each of the `candidates` drawn."""
        keys, before = self._keys(block), self._squares(block)
        buckets = (keys >> np.uint64(64 - BUCKET_BITS)).astype(np.intp)
        masses = []
        for candidate in candidates:
            after = np.minimum(before, squares(block.X, candidate)[0]) if len(candidate) else before
            masses.append(np.bincount(buckets, self._mass(block, after), minlength=1 << BUCKET_BITS))
        return np.array(masses)

    def rows_in(self, block: Block, buckets: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Give hash, mass and values of the rows whose hash is in some ranges."""
        keys, mass = self._keys(block), self._mass(block, self._squares(block))
        chosen = np.isin(keys >> np.uint64(64 - BUCKET_BITS), buckets) & (mass > 0)
        return [(keys[chosen], mass[chosen], block.X[chosen].astype(np.float64))]

    def closest_with(self, block: Block, center: np.ndarray) -> np.ndarray:
        """Give the squared distance of each row from the nearest centre, with one more of them."""
        square: np.ndarray = squares(block.X, center)[0]
        if self.closest is not None:
            np.minimum(self.closest[block.start : block.start + len(block)], square, out=square)
        return square

    def _keys(self, block: Block) -> np.ndarray:
        """Give the hash of each row."""
        keys = np.full(len(block), self.salt, dtype=np.uint64)
        for place, columns in tiles(block.X):
            columns += 0.0  # a negative zero becomes a zero: equal rows have equal hashes
            # Rounded to float32: a copy in single precision is drawn from alike.
            bits = columns.view(np.uint64) + HALF_A_UNIT
            bits &= IN_SINGLE
            stir(bits, keys[place])
        return keys

    def _squares(self, block: Block) -> np.ndarray:
        """Give the squared distance of each row from the nearest centre; infinite before there is any."""
        if len(self.centers) == 0:
            return np.full(len(block), np.inf)
        if self.closest is not None:
            return self.closest[block.start : block.start + len(block)]
        return nearest(block.X, self.centers)[1]

    def _mass(self, block: Block, closest: np.ndarray) -> np.ndarray:
        share = (closest > 0).astype(np.float64) if self.uniform else np.where(np.isinf(closest), 1.0, closest)
        return share if block.weight is None else np.where(block.weight > 0, block.weight * share, 0.0)


@kernel
def stir(bits: Any, keys: Any) -> None:
    """Stir the bits of each row's values into its key, column after column, by multiplying and folding (SplitMix64)."""
    for j in range(len(bits)):
        column = bits[j]
        for i in range(len(keys)):
            key = (keys[i] ^ column[i]) * np.uint64(0xBF58476D1CE4E5B9)
            key = (key ^ (key >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
            keys[i] = key ^ (key >> np.uint64(29))
