r"""Many centres: a row looks only at those that lie about its own.

A row at the distance u from its centre a is nearer to another centre c only if that is near a, too:

.. math:: \|x - c\| \ge \|a - c\| - u > u \quad\text{where}\quad \|a - c\| > 2u.

So each centre keeps the others in the order of their distances, roughly: in *rings*, eight for each doubling of the squared distance, told
by the leading bits of that number. Rows are sorted by their centre, and by their own ring: those that meet the same centres come together.
What was not looked at is farther than the last ring less u, which is a bound for the next pass.

Hamerly and Drake (2015), Accelerating Lloyd's algorithm for k-means clustering.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.compile import kernel
from qed.clustering.means.distances import apart
from qed.clustering.means.settling import SLACK, Ready, Told, add_rows, meet
from qed.linalg.registers.lead import padded

# From so many centres on, sorting rows takes less than looking at all centres.
MANY = 96
# Rings of a centre: eight for each doubling of squared distances, so that the last one begins at 256 times the distance of the first.
RINGS, IN_OCTAVE, BITS = 128, 8, 49
ALIKE = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Neighborhood:
    """For each centre all of them in the order of their rings.

    >>> found = Neighborhood.of(np.array([[0.0, 9.0, 1.0], [9.0, 0.0, 4.0], [1.0, 4.0, 0.0]]))
    >>> found.order[:, :3]
    array([[0, 2, 1],
           [1, 2, 0],
           [0, 2, 1]], dtype=int32)
    >>> found.counts[0, 1], (found.edges[0, 1] ** 2).round(12)
    (np.int32(2), np.float64(1.125))
    """

    order: np.ndarray  # (k, padded k), int32: the centres, ring after ring; k stands for none
    counts: np.ndarray  # (k, RINGS + 1), int32: how many lie in the rings before each
    edges: np.ndarray  # (k, RINGS + 1): all others are at least so far
    first: np.ndarray  # (k,), int64: the leading bits of the first ring

    @classmethod
    def of(cls, between: np.ndarray) -> Neighborhood:
        """Sort centres by their squared distances from each other."""
        k = len(between)
        bits = between.view(np.int64) >> BITS
        # Of no other that is apart, the first ring is any.
        first = np.where(between > 0, bits, ALIKE).min(axis=1)
        first[first == ALIKE] = 0
        rings = np.clip(bits - first[:, None], 0, RINGS - 1).astype(np.uint8)
        order, counts = np.full((k, padded(k)), k, np.int32), np.zeros((k, RINGS + 1), np.int32)
        into_rings(rings, order, counts)
        edges = np.sqrt((first[:, None] + np.arange(RINGS + 1) << BITS).view(np.float64))
        # Rings of squares beyond all numbers are empty.
        edges[np.isnan(edges)] = edges[:, -1] = np.inf
        return cls(order, counts, edges, first)


@kernel
def into_rings(rings: np.ndarray, order: np.ndarray, counts: np.ndarray) -> None:
    """Sort the centres of each line by their rings, and count how many are in the rings before each."""
    for a in range(len(rings)):
        ring, count = rings[a], counts[a]
        for c in range(len(ring)):
            count[ring[c] + 1] += 1
        for r in range(1, len(count)):
            count[r] += count[r - 1]
        for c in range(len(ring)):
            order[a, count[ring[c]]] = c
            count[ring[c]] += 1
        for r in range(len(count) - 1, 0, -1):
            count[r] = count[r - 1]
        count[0] = 0


@kernel
def settle_about(
    X: np.ndarray,
    weight: np.ndarray,
    ready: Ready,
    near: tuple[np.ndarray, ...],
    stay: bool,
    told: Told,
    room: tuple[np.ndarray, ...],
    bits: np.ndarray,
    sort: tuple[np.ndarray, ...],
    sums: np.ndarray,
    totals: np.ndarray,
) -> None:
    """Settle dense rows that have labels, and add them up; `bits` are those of the squared distances in `told`."""
    order, counts, edges, first = near
    centers, scale, half, drift = ready[0], ready[7], ready[8], ready[9]
    labels, lower, square = told
    waiting, ring, begin, rows = sort
    k, count, larger = len(centers), 0, (scale * (1.0 + SLACK)) ** 2
    for i in range(len(X)):
        own = labels[i]
        square[i] = apart(X[i], centers[own])
        lower[i] = max(0.0, (lower[i] - drift[own]) * (1.0 - SLACK))
        bound = max(lower[i], half[own])
        if not square[i] * larger < bound * bound:
            # Rings are eight for each doubling: two doublings on is twice the distance, and two rings more are beyond all doubt.
            here = (bits[i] >> BITS) + 2 * IN_OCTAVE + 2 - first[own]
            ring[i] = min(max(here, 1), RINGS) if square[i] < np.inf else RINGS
            waiting[count] = i
            count += 1
    in_groups(waiting, count, labels, ring, begin, rows, k)
    for a in range(k):
        start = begin[a]
        while start < begin[a + 1]:
            stop = min(start + room[1].shape[1], begin[a + 1])
            last = ring[rows[stop - 1]]
            meet(X, rows[start:stop], ready, order[a], counts[a, last], edges[a, last] * scale, True, stay, told, room)
            start = stop
    add_rows(X, weight, centers, 0, len(X), told, sums, totals)


@kernel(within=True)
def in_groups(
    waiting: np.ndarray, count: int, labels: np.ndarray, ring: np.ndarray, begin: np.ndarray, rows: np.ndarray, k: int
) -> None:
    """Sort the first `count` rows that wait by their labels and, among equals, by their rings, and say where each label begins."""
    for r in range(RINGS + 2):
        begin[r] = 0
    for q in range(count):
        begin[ring[waiting[q]] + 1] += 1
    for r in range(RINGS + 1):
        begin[r + 1] += begin[r]
    for q in range(count):
        i = waiting[q]
        rows[begin[ring[i]]] = i
        begin[ring[i]] += 1
    for q in range(count):
        waiting[q] = rows[q]
    for a in range(k + 2):
        begin[a] = 0
    for q in range(count):
        begin[labels[waiting[q]] + 2] += 1
    for a in range(1, k + 2):
        begin[a] += begin[a - 1]
    for q in range(count):
        i = waiting[q]
        rows[begin[labels[i] + 1]] = i
        begin[labels[i] + 1] += 1
