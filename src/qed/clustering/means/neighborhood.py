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

# From so many centres on, with so many rows of a block for each, sorting rows takes less than looking at all centres; and while no more
# than one of so many is near.
MANY, ROWS_FOR_EACH, WORTH = 256, 32, 4
# Rings of a centre: eight for each doubling of squared distances, so that the last one begins at 256 times the distance of the first.
RINGS, IN_OCTAVE, BITS = 128, 8, 49
ALIKE = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Neighborhood:
    """For each centre all of them in the order of their rings.

    >>> found = Neighborhood.of(np.array([[0.0, 9.0, 1.0], [9.0, 0.0, 4.0], [1.0, 4.0, 0.0]]), np.zeros(3))
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
    drift: np.ndarray  # (k, RINGS + 1): how far others in the rings before each have moved at most

    @classmethod
    def of(cls, between: np.ndarray, moves: np.ndarray) -> Neighborhood:
        """Sort centres by their squared distances from each other, and say how far those of the rings moved."""
        k = len(between)
        order, counts = np.full((k, padded(k)), k, np.int32), np.zeros((k, RINGS + 1), np.int32)
        first, drift = np.zeros(k, np.int64), np.zeros((k, RINGS + 1))
        into_rings(between.view(np.int64), moves, order, counts, first, drift)
        edges = np.sqrt((first[:, None] + np.arange(RINGS + 1) << BITS).view(np.float64))
        # Rings of squares beyond all numbers are empty.
        edges[np.isnan(edges)] = edges[:, -1] = np.inf
        return cls(order, counts, edges, first, drift)


@kernel
def into_rings(
    bits: np.ndarray, moves: np.ndarray, order: np.ndarray, counts: np.ndarray, first: np.ndarray, drift: np.ndarray
) -> None:
    """Sort the centres of each line by their rings, count how many are in those before each, and find the farthest move there."""
    k = len(bits)
    rings = np.empty(k, np.int64)
    for a in range(k):
        line, count, far = bits[a], counts[a], drift[a]
        least = ALIKE
        for c in range(k):
            # Of no other that is apart, the first ring is any.
            if line[c] > 0 and line[c] < least:
                least = line[c]
        least = least >> BITS if least < ALIKE else 0
        first[a] = least
        for c in range(k):
            rings[c] = min(max((line[c] >> BITS) - least, 0), RINGS - 1)
            count[rings[c] + 1] += 1
            if c != a and moves[c] > far[rings[c] + 1]:
                far[rings[c] + 1] = moves[c]
        for r in range(1, RINGS + 1):
            count[r] += count[r - 1]
            far[r] = max(far[r], far[r - 1])
        for c in range(k):
            order[a, count[rings[c]]] = c
            count[rings[c]] += 1
        for r in range(RINGS, 0, -1):
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
    order, counts, edges, first, drift = near
    centers, scale, half = ready[0], ready[7], ready[8]
    labels, lower, square = told
    waiting, ring, begin, rows = sort
    k, count, total, larger = len(centers), 0, 0, (scale * (1.0 + SLACK)) ** 2
    for i in range(len(X)):
        own = labels[i]
        square[i] = apart(X[i], centers[own])
        # Rings are eight for each doubling: two doublings on is twice the distance, and two rings more are beyond all doubt.
        here = (bits[i] >> BITS) + 2 * IN_OCTAVE + 2 - first[own]
        here = min(max(here, 1), RINGS) if square[i] < np.inf else RINGS
        near_by = (lower[i] - drift[own, here] * scale * (1.0 + SLACK)) * (1.0 - SLACK)
        far_off = edges[own, here] * scale * (1.0 - SLACK) - np.sqrt(square[i]) * scale * (1.0 + SLACK)
        lower[i] = max(0.0, min(near_by, far_off) * (1.0 - SLACK))
        bound = max(lower[i], half[own])
        if not square[i] * larger < bound * bound:
            ring[i] = here
            waiting[count] = i
            count += 1
            total += counts[own, here]
    # Where most centres are near, as in many columns, rows meet all of them in their own order.
    whole = total * WORTH > count * k
    if whole:
        begin[0], begin[1] = 0, count
        rows = waiting
    else:
        in_groups(waiting, count, labels, ring, begin, rows, k)
    for a in range(1 if whole else k):
        start, line = begin[a], ready[3] if whole else order[a]
        while start < begin[a + 1]:
            stop = min(start + room[1].shape[1], begin[a + 1])
            last = ring[rows[stop - 1]]
            number = len(line) if whole else counts[a, last]
            beyond = np.inf if whole else edges[a, last] * scale * (1.0 - SLACK)
            meet(X, rows[start:stop], ready, line, number, beyond, True, stay, told, room)
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
