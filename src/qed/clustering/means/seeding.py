r"""Where k-means begins: rows drawn far from one another, any rows, or any points of the domain.

k-means++ draws the first centre from the rows, and each further one with probability

.. math:: P(x_i) = \frac{w_i S(x_i)}{\sum_l w_l S(x_l)}, \qquad S(x) = \min_{c \in C} \|x - c\|^2,

from the centres :math:`C` drawn so far. The expected cost of its :math:`k` centres is at most :math:`8(\ln k + 2)` times the least cost.
The *greedy* variant draws several candidates at a time and keeps the one that lowers the cost most.

A draw takes the row at which the cumulated probability passes a uniform random number. The rows are cumulated in the order
of a hash of their values (rounded to single precision), so which row that is depends neither on the order of the table, nor on
its blocks, nor on whether a row has weight two or is there twice. One pass adds up the probability in up to 4096 ranges of the hash, for
each candidate, and the next one fetches the rows of a few ranges: two passes for each centre, which serve all restarts at once. Rows in
memory keep :math:`S`, the range of their hash and, where there is room, a copy turned into columns, whose distances are worked out several
at a time; of others nothing is stored, so files of any size are seeded too.

Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.base.random import generator
from qed.base.sources.block import Block, is_sparse, join
from qed.base.sources.rows import ArrayRows, Rows
from qed.clustering.means.assignment import most_memory, places_of
from qed.clustering.means.distances import FEW, STRIP, squares, squares_of_columns, turn
from qed.clustering.means.hashing import hashes
from qed.clustering.means.nearest import NO_WEIGHT, Search

MOST_BITS = 12
TIE = 1e-10


def spread_out(
    rows: Rows, count: int, seed: int, runs: int = 1, trials: int | None = None, drawn: np.ndarray | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw `count` centres by k-means++ for each of some runs; after each draw give those drawn so far, and their costs.

    One trial, or candidate, for each centre is the method of the theory; the default is ``2 + int(log(count))``. From centres
    `drawn` before, of shape (runs, m, p), it goes on as if it had not stopped. Where there are fewer different rows, the first
    one is repeated.
    """
    trials = trials or 2 + int(np.log(count))
    lottery = Lottery(rows, seed, runs, drawn)
    for number in range(lottery.centers.shape[1], count):
        chances = [generator(seed, "centers", run, number).random(trials if number else 1) for run in range(runs)]
        lottery.draw(np.array(chances))
        yield lottery.centers, lottery.mass.sum(axis=1)


def any_rows(rows: Rows, count: int, seed: int, runs: int = 1) -> np.ndarray:
    """Draw `count` rows for each of some runs, by weight alone, among those that differ from those drawn before.

    Rows are drawn in plenty, and those met again are passed over. Only where that leaves too few, those drawn are taken out
    and the rest is drawn from. Gives an array of shape (runs, count, p).

    >>> from qed.base.sources.open import rows
    >>> sorted(any_rows(rows([[0.0], [0.0], [9.0]]), 2, seed=0)[0].ravel().tolist())
    [0.0, 9.0]
    """
    lottery, plenty = Lottery(rows, seed, uniform=True), 2 * count + 8
    chances = [generator(seed, "rows", run).random(plenty) for run in range(runs)]
    found = []
    for run, met in enumerate(lottery.rows_at(np.concatenate(chances)[None])[0].reshape(runs, plenty, -1)):
        centers = _different(met, count)
        rest = lottery
        while len(centers) < count:
            rest = Lottery(rows, seed, 1, centers[None], uniform=True)
            if not rest.mass.any():
                break
            more = rest.rows_at(generator(seed, "rows", run, len(centers)).random((1, plenty)))[0]
            centers = _different(np.concatenate([centers, more]), count)
        found.append(filled_up(centers, count))
    return np.stack(found)


def filled_up(centers: np.ndarray, count: int) -> np.ndarray:
    """Repeat the first centre until there are so many."""
    return np.concatenate([centers, centers[np.zeros(count - len(centers), dtype=np.intp)]])


def _different(rows: np.ndarray, count: int) -> np.ndarray:
    """Give the first `count` rows that differ from those before."""
    return np.array(list(dict.fromkeys(map(tuple, (rows + 0.0).tolist())))[:count])


def any_points(low: np.ndarray, high: np.ndarray, count: int, seed: int, runs: int = 1) -> np.ndarray:
    """Draw `count` points of a box for each of some runs, evenly. Gives an array of shape (runs, count, p)."""
    drawn = [generator(seed, "points", run).random((count, len(low))) for run in range(runs)]
    return np.asarray(low + (high - low) * np.stack(drawn))


class Lottery:
    """Rows that wait to be drawn, each with a mass that says how likely it is.

    `centers`, of shape (runs, m, p), are those drawn so far, and `mass`, of shape (runs, ranges), is the mass of all rows, by the
    range that their hash is in. With `uniform`, the mass of a row is its weight, or nothing where an equal one was drawn.
    """

    def __init__(
        self, rows: Rows, seed: int, runs: int = 1, centers: np.ndarray | None = None, *, uniform: bool = False
    ) -> None:
        salt = generator(seed, "order of rows").integers(2**63, dtype=np.uint64)
        drawn = np.empty((runs, 0, rows.n_features)) if centers is None else centers
        count = rows.known_count()
        bits = MOST_BITS if count is None else min(MOST_BITS, max(4, count.bit_length() * 5 // 8))
        self.rows, self.waiting = rows, Waiting(salt, bits, uniform, drawn, 0, Kept(rows, runs))
        self.mass = rows.fold(self.waiting.masses_with, drawn[:, None, :0])[:, 0]
        self._known()

    @property
    def centers(self) -> np.ndarray:
        return self.waiting.drawn

    def _known(self) -> None:
        """Remember that the rows know all that was drawn: all of them have just been asked."""
        self.waiting = replace(self.waiting, known=self.centers.shape[1])

    def draw(self, chances: np.ndarray) -> None:
        """Draw for each run a candidate for each of its numbers, of shape (runs, trials), and keep the best."""
        candidates = self.rows_at(chances)
        masses = self.rows.fold(self.waiting.masses_with, candidates[:, :, None])
        self._known()
        cost = masses.sum(axis=2)
        best = np.argmax(cost <= cost.min(axis=1, keepdims=True) * (1 + TIE), axis=1)
        run = np.arange(len(best))
        self.mass = masses[run, best]
        self.waiting = replace(
            self.waiting, drawn=np.concatenate([self.centers, candidates[run, best][:, None]], axis=1)
        )

    def rows_at(self, chances: np.ndarray) -> np.ndarray:
        """Give for each run the rows at which its cumulated mass passes shares of all of it, of shape (runs, shares, p).

        Where a run has nothing left to draw, that is its first centre.
        """
        ends = np.cumsum(self.mass, axis=1)
        positions = chances * ends[:, -1:]
        ranges = np.empty(positions.shape, np.intp)
        for run, mass in enumerate(self.mass):
            filled = np.append(np.flatnonzero(mass), 0)
            ranges[run] = np.searchsorted(ends[run], positions[run], side="right").clip(filled[0], filled[-2:].max())
        wanted = np.zeros(self.waiting.ranges, dtype=bool)
        wanted[ranges] = True
        keys, masses, values = self._fetched(wanted)
        cuts = np.searchsorted(keys >> self.waiting.shift, np.arange(len(wanted) + 1, dtype=np.uint64))
        chosen = np.zeros(positions.shape, np.intp)
        for (run, place), here in np.ndenumerate(ranges):
            inside = np.cumsum(masses[run, cuts[here] : cuts[here + 1]])
            passed = int(
                np.searchsorted(inside, positions[run, place] - (ends[run, here] - self.mass[run, here]), side="right")
            )
            last = int(np.searchsorted(inside, inside[-1])) if len(inside) else 0
            chosen[run, place] = min(cuts[here] + min(passed, last), max(len(keys) - 1, 0))
        empty = ~(ends[:, -1] > 0)
        found = np.zeros((*positions.shape, self.rows.n_features))
        for run in range(len(found)):
            found[run] = self.centers[run, 0] if empty[run] else _dense(values[chosen[run]])
        return found

    def _fetched(self, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
        """Give hash, mass and values of the rows in some ranges, in the order of the hash and, among equals, of the values."""
        kept, rows = self.waiting.kept, self.rows
        if kept.keeps and isinstance(rows, ArrayRows):
            chosen = kept.rows_in(wanted)
            part = Block(rows.X, None, rows.weight).take(chosen)
            parts = [self.waiting.fetched(part, kept.closest[:, chosen])]
        else:
            parts = rows.fold(self.waiting.rows_in, wanted)
        keys, masses = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts], axis=1)
        values = join([part[2] for part in parts])
        order = np.argsort(keys, kind="stable")
        if not is_sparse(values) and (np.diff(keys[order]) == 0).any():
            order = np.lexsort((*values.T[::-1], keys))
        return keys[order], masses[:, order], values[order]


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)


class Kept:
    """What rows in memory keep between draws: the range of their hash, columns, and for each run how far they are from the centres."""

    def __init__(self, rows: Rows, runs: int) -> None:
        self.places = places_of(rows)
        n = sum(count for _, count in self.places.values())
        self.keeps = 0 < n * (8 * runs + 2) <= most_memory(rows)
        self.ranges = np.zeros(n if self.keeps else 0, np.uint16)
        self.closest = np.full((runs, len(self.ranges)), np.inf)
        self.hashed: set[int] = set()
        self._strips: dict[int, np.ndarray] | None = {} if n * rows.n_features * 16 <= most_memory(rows) else None

    def strips(self, block: Block) -> tuple[np.ndarray, bool]:
        """Give room for the rows of a block turned into columns, and whether they are there; they stay where there is space for them."""
        known = self._strips if self.keeps else None
        if known is not None and block.start in known:
            return known[block.start], True
        strips = np.zeros((-(-len(block) // STRIP), block.X.shape[1], STRIP), block.X.dtype)
        if known is not None:
            known[block.start] = strips
        return strips, False

    @cached_property
    def _in_order(self) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the rows in the order of their ranges, and where each range begins."""
        order = np.argsort(self.ranges, kind="stable")
        return order, np.searchsorted(self.ranges[order], np.arange((1 << MOST_BITS) + 1))

    def rows_in(self, wanted: np.ndarray) -> np.ndarray:
        """Give the numbers of the rows in some ranges."""
        order, cuts = self._in_order
        return np.concatenate([order[cuts[here] : cuts[here + 1]] for here in np.flatnonzero(wanted)])

    def __reduce__(self) -> tuple[object, ...]:
        return _nothing_kept, ()


def _nothing_kept() -> Kept:
    found = Kept.__new__(Kept)
    found.keeps = False
    return found


@dataclass(frozen=True)
class Waiting:
    """The rows drawn so far, and what a block says about drawing one more."""

    salt: np.uint64
    bits: int  # how many bits of the hash tell its range
    uniform: bool
    drawn: np.ndarray
    known: int  # how many of them the distances that are kept know of
    kept: Kept

    @property
    def ranges(self) -> int:
        return 1 << self.bits

    @property
    def shift(self) -> np.uint64:
        return np.uint64(64 - self.bits)

    def masses_with(self, block: Block, candidates: np.ndarray) -> np.ndarray:
        """Give the mass by ranges of the hash as it would be with each of the `candidates`, of shape (runs, trials, 0 or 1, p).

        On the way, distances that are kept learn of the centres drawn since.
        """
        ranges, closest = self._ranges(block), self._closest(block)
        runs, trials, extra, p = candidates.shape
        masses, fresh = (
            np.zeros((runs, trials, self.ranges)),
            self.drawn[:, self.known :] if self.kept.keeps else self.drawn[:, :0],
        )
        for run in range(runs):
            if extra and not self.uniform and not is_sparse(block.X) and len(block) * trials * p > FEW:
                weight = NO_WEIGHT if block.weight is None else block.weight
                centers = np.concatenate([fresh[run], candidates[run, :, 0]])
                lower_masses(
                    *(
                        np.ascontiguousarray(block.X),
                        weight,
                        centers,
                        fresh.shape[1],
                        closest[run],
                        ranges,
                        masses[run],
                    ),
                    *(*self.kept.strips(block), np.empty((len(centers) + 1, STRIP))),
                )
                continue
            for square in squares(block.X, fresh[run]).T:
                np.minimum(closest[run], square, out=closest[run])
            away = squares(block.X, candidates[run, :, 0]).T if extra else [closest[run]] * trials
            for one, square in zip(masses[run], away):
                one += np.bincount(ranges, self._mass(block, np.minimum(closest[run], square)), self.ranges)
        return masses

    def rows_in(self, block: Block, wanted: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, Any]]:
        """Give hash, mass for each run, and values of the rows whose hash is in some ranges."""
        chosen = np.flatnonzero(wanted[self._ranges(block)])
        part = block.take(chosen)
        return [self.fetched(part, self._closest(block)[:, chosen] if self.kept.keeps else self._closest(part))]

    def fetched(self, part: Block, closest: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
        """Give the same of rows that were picked, with the distances that were kept of them."""
        X = part.X if is_sparse(part.X) else np.asarray(part.X, dtype=np.float64)
        if self.kept.keeps:
            fresh = [squares(X, centers).min(axis=1, initial=np.inf) for centers in self.drawn[:, self.known :]]
            closest = np.minimum(closest, fresh)
        return hashes(X, self.salt), np.stack([self._mass(part, one) for one in closest]), X

    def _ranges(self, block: Block) -> np.ndarray:
        """Give the range that the hash of each row is in."""
        if not self.kept.keeps:
            return (hashes(block.X, self.salt) >> self.shift).astype(np.uint16)
        first = self.kept.places[block.start][0]
        ranges = self.kept.ranges[first : first + len(block)]
        if block.start not in self.kept.hashed:
            ranges[:] = hashes(block.X, self.salt) >> self.shift
            self.kept.hashed.add(block.start)
        return ranges

    def _closest(self, block: Block) -> np.ndarray:
        """Give for each run the squared distance of each row from the nearest centre known of; infinite before there is any."""
        if self.kept.keeps:
            first = self.kept.places[block.start][0]
            return self.kept.closest[:, first : first + len(block)]
        runs, count, _ = self.drawn.shape
        if not count:
            return np.full((runs, len(block)), np.inf)
        return np.stack([Search.among(centers).of(block.X)[1] for centers in self.drawn])

    def _mass(self, block: Block, closest: np.ndarray) -> np.ndarray:
        share = (closest > 0).astype(np.float64) if self.uniform else np.where(np.isinf(closest), 1.0, closest)
        return share if block.weight is None else np.where(block.weight > 0, block.weight * share, 0.0)


@kernel
def lower_masses(
    X: np.ndarray,
    weight: np.ndarray,
    centers: np.ndarray,
    fresh: int,
    closest: np.ndarray,
    ranges: np.ndarray,
    masses: np.ndarray,
    strips: np.ndarray,
    turned: bool,
    found: np.ndarray,
) -> None:
    """Lower `closest` to the distances from the first, fresh centres, and add it up by ranges of the hash as each other would lower it.

    `strips` holds the rows turned into columns, a strip of them at a time, once it is `turned`; `found` is room for the distances of a
    strip from all centres and one more.
    """
    for start in range(0, len(X), STRIP):
        stop, columns = min(start + STRIP, len(X)), strips[start // STRIP]
        if not turned:
            turn(X[start:stop], columns)
        for t in range(0, len(centers), 2):
            squares_of_columns(columns, centers[t], centers[min(t + 1, len(centers) - 1)], found[t], found[t + 1])
        here = closest[start:stop]
        for t in range(fresh):
            square = found[t]
            for i in range(len(here)):
                here[i] = min(here[i], square[i])
        for t in range(fresh, len(centers)):
            mass, square = masses[t - fresh], found[t]
            for i in range(len(here)):
                least = min(here[i], square[i])
                if len(weight) == 0:
                    mass[ranges[start + i]] += least
                elif weight[start + i] > 0.0:
                    mass[ranges[start + i]] += weight[start + i] * least
