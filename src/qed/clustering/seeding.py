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
    distinct = len(lottery.centers)
    again = np.zeros(count - distinct, dtype=np.intp)
    return np.concatenate([lottery.centers, lottery.centers[again]]), distinct


class Lottery:
    """Rows that wait to be drawn, each with a mass that says how likely it is.

    The rows drawn so far are the `centers`; `mass` is the mass of all rows, by the range that their hash is in.
    """

    def __init__(self, rows: Rows, seed: int, restart: int, uniform: bool) -> None:
        self.rows, self.uniform = rows, uniform
        self.salt = generator(seed, "order of rows", restart).integers(2**63, dtype=np.uint64)
        self.centers = np.empty((0, rows.n_features))
        self.closest: np.ndarray | None = None
        self.mass = self._masses_with(self.centers[None, :0])[0]

    def draw(self, chances: np.ndarray) -> bool:
        """Draw a candidate for each number of `chances` and keep the best of them; say whether there was any left to draw."""
        total = self.mass.sum()
        if not total > 0:
            return False
        candidates = self.rows_at(chances * total)
        masses = self._masses_with(candidates[:, None])
        cost = masses.sum(axis=1)
        best = int(np.argmax(cost <= cost.min() * (1 + TIE)))
        self.centers = np.concatenate([self.centers, candidates[[best]]])
        self.mass = masses[best]
        if self.rows.in_memory:
            self.closest = self.rows.map(_closest_of, self.centers[-1:], self.closest)
        return True

    def _masses_with(self, candidates: np.ndarray) -> np.ndarray:
        """Give the mass by ranges of the hash as it would be with each of the `candidates` drawn."""
        known = (self.salt, self.centers, self.closest, self.uniform)
        return self.rows.fold(_bucket_masses, *known, candidates)

    def rows_at(self, positions: np.ndarray) -> np.ndarray:
        """Give the rows at which the cumulated mass passes `positions`."""
        before = np.concatenate([[0.0], np.cumsum(self.mass)])
        filled = np.flatnonzero(self.mass)
        buckets = np.clip(np.searchsorted(before[1:], positions, side="right"), filled[0], filled[-1])
        known = (self.salt, self.centers, self.closest, self.uniform)
        fetched = self.rows.fold(_rows_in, *known, np.unique(buckets))
        keys, mass, values = (np.concatenate(part) for part in zip(*fetched))
        order = np.lexsort((*values.T[::-1], keys))
        keys, mass, values = keys[order], mass[order], values[order]
        found = []
        for bucket, position in zip(buckets, positions):
            inside = np.flatnonzero(keys >> np.uint64(64 - BUCKET_BITS) == bucket)
            passed = np.searchsorted(np.cumsum(mass[inside]), position - before[bucket], side="right")
            found.append(values[inside[min(passed, len(inside) - 1)]])
        return np.array(found)


def _keys_and_closest(
    block: Block, salt: np.uint64, centers: np.ndarray, closest: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Give the hash of each row and its squared distance from the nearest centre; infinite before there is any."""
    keys = np.full(len(block), salt, dtype=np.uint64)
    for place, columns in tiles(block.X):
        columns += 0.0  # a negative zero becomes a zero: equal rows have equal hashes
        bits = (
            columns.view(np.uint64) + HALF_A_UNIT
        )  # rounded to float32: a copy in single precision is drawn from alike
        bits &= IN_SINGLE
        stir(bits, keys[place])
    if len(centers) == 0:
        return keys, np.full(len(block), np.inf)
    if closest is not None:
        return keys, closest[block.start : block.start + len(block)]
    return keys, nearest(block.X, centers)[1]


def _mass(block: Block, closest: np.ndarray, uniform: bool) -> np.ndarray:
    share = (closest > 0).astype(np.float64) if uniform else np.where(np.isinf(closest), 1.0, closest)
    return share if block.weight is None else np.where(block.weight > 0, block.weight * share, 0.0)


def _bucket_masses(
    block: Block,
    salt: np.uint64,
    centers: np.ndarray,
    closest: np.ndarray | None,
    uniform: bool,
    candidates: np.ndarray,
) -> np.ndarray:
    keys, before = _keys_and_closest(block, salt, centers, closest)
    buckets = (keys >> np.uint64(64 - BUCKET_BITS)).astype(np.intp)
    masses = []
    for candidate in candidates:
        after = np.minimum(before, squares(block.X, candidate)[0]) if len(candidate) else before
        masses.append(np.bincount(buckets, _mass(block, after, uniform), minlength=1 << BUCKET_BITS))
    return np.array(masses)


def _rows_in(
    block: Block,
    salt: np.uint64,
    centers: np.ndarray,
    closest: np.ndarray | None,
    uniform: bool,
    buckets: np.ndarray,
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    keys, before = _keys_and_closest(block, salt, centers, closest)
    mass = _mass(block, before, uniform)
    chosen = np.isin(keys >> np.uint64(64 - BUCKET_BITS), buckets) & (mass > 0)
    return [(keys[chosen], mass[chosen], block.X[chosen].astype(np.float64))]


def _closest_of(block: Block, center: np.ndarray, closest: np.ndarray | None) -> np.ndarray:
    square: np.ndarray = squares(block.X, center)[0]
    if closest is not None:
        np.minimum(closest[block.start : block.start + len(block)], square, out=square)
    return square


@kernel
def stir(bits: Any, keys: Any) -> None:
    """Stir the bits of each row's values into its key, column after column, by multiplying and folding (SplitMix64)."""
    for j in range(len(bits)):
        column = bits[j]
        for i in range(len(keys)):
            key = (keys[i] ^ column[i]) * np.uint64(0xBF58476D1CE4E5B9)
            key = (key ^ (key >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
            keys[i] = key ^ (key >> np.uint64(29))
