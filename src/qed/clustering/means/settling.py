r"""Kernels that settle dense rows: the nearest centre of each, by bounds, by scores in single precision, or by differences.

Rows that their bounds do not keep are scaled, as many as fill the registers, and meet the centres there
(:mod:`qed.linalg.registers.lead`). What the scores do not prove is decided by differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.clustering.means.distances import apart
from qed.linalg.registers.lead import lead

# A chunk of so many values stays in the cache while it is gone through twice.
CHUNK_VALUES, CHUNK_ROWS = 1 << 14, 64
# Bounds are kept in single precision; a bound from below is made smaller, and one from above larger, by this share.
SLACK = 2.0**-20
# Beyond this, relative to the data, scores in single precision say nothing.
FARTHEST = 2.0**40
TINY = 1e-36

# What kernels are given of the centres, and what they tell of every row: its label, a bound below its distance from others, its square.
Ready = tuple[Any, ...]
Settled = tuple[np.ndarray, np.ndarray, np.ndarray]


@kernel
def settle_dense(
    X: np.ndarray,
    weight: np.ndarray,
    ready: Ready,
    known: bool,
    stay: bool,
    settled: Settled,
    room: tuple[np.ndarray, ...],
    sums: np.ndarray,
    totals: np.ndarray,
) -> None:
    """Settle dense rows and, where `totals` has a place for each cluster, add them up: chunk after chunk."""
    step = max(CHUNK_ROWS, CHUNK_VALUES // X.shape[1])
    for start in range(0, len(X), step):
        stop = min(start + step, len(X))
        settle_chunk(X, start, stop, ready, known, stay, settled, room)
        if totals.shape[1] > 0:
            add_rows(X, weight, ready[0], start, stop, settled, sums, totals)


@kernel(within=True)
def add_rows(
    X: np.ndarray,
    weight: np.ndarray,
    centers: np.ndarray,
    start: int,
    stop: int,
    settled: Settled,
    sums: np.ndarray,
    totals: np.ndarray,
) -> None:
    """Add rows to their clusters, one after another."""
    labels, square = settled[0], settled[2]
    for i in range(start, stop):
        w = weight[i] if len(weight) > 0 else 1.0
        if w == 0.0:
            continue
        c = labels[i]
        totals[0, c] += w
        totals[1, c] += w * square[i]
        x, center, total = X[i], centers[c], sums[c]
        for j in range(len(x)):
            total[j] += w * (x[j] - center[j])


@kernel(within=True)
def settle_chunk(
    X: np.ndarray,
    start: int,
    stop: int,
    ready: Ready,
    known: bool,
    stay: bool,
    settled: Settled,
    room: tuple[np.ndarray, ...],
) -> None:
    """Settle some dense rows: those that their bounds do not keep meet all centres."""
    centers, scale, half, drift = ready[0], ready[7], ready[8], ready[9]
    labels, lower, square = settled
    waiting, count, larger = room[0], 0, scale * scale * ((1.0 + SLACK) * (1.0 + SLACK))
    for i in range(start, stop):
        stays = False
        if known:
            own = labels[i]
            square[i] = apart(X[i], centers[own])
            lower[i] = max(0.0, (lower[i] - drift[own]) * (1.0 - SLACK))
            bound = max(lower[i], half[own])
            stays = square[i] * larger < bound * bound
        if not stays:
            waiting[count] = i
            count += 1
        if count == len(waiting) or (count > 0 and i + 1 == stop):
            meet(X, waiting[:count], ready, known, stay, settled, room)
            count = 0


@kernel(within=True)
def meet(
    X: np.ndarray,
    rows: np.ndarray,
    ready: Ready,
    known: bool,
    stay: bool,
    settled: Settled,
    room: tuple[np.ndarray, ...],
) -> None:
    """Settle as many rows as fill the registers, or fewer, among all centres."""
    small, lowered, order, shift, scale = ready[1], ready[2], ready[3], ready[6], ready[7]
    batch, length, best, second, found = room[1], room[2], room[3], room[4], room[5]
    pack(X, rows, shift, scale, batch, length)
    lead(batch, small, lowered, order, len(order), best, second, found)
    decide(X, ready, rows, (length, best, second, found), known, stay, settled)


@kernel(within=True, fastmath={"reassoc", "nsz", "contract"})
def pack(
    X: np.ndarray, rows: np.ndarray, shift: np.ndarray, scale: float, batch: np.ndarray, length: np.ndarray
) -> None:
    """Copy some rows into the columns of the batch, scaled, and give their squared lengths there."""
    for q in range(len(rows)):
        x = X[rows[q]]
        for j in range(len(x)):
            batch[j, q] = (x[j] - shift[j]) * scale
    for q in range(len(length)):
        length[q] = np.float32(0.0)
    for j in range(len(batch)):
        column = batch[j]
        for q in range(len(length)):
            length[q] += column[q] * column[q]


@kernel(within=True)
def decide(
    X: np.ndarray,
    ready: Ready,
    rows: np.ndarray,
    scored: tuple[np.ndarray, ...],
    known: bool,
    stay: bool,
    settled: Settled,
) -> None:
    """Take the nearest centre from the scores where they prove it, else from distances by differences."""
    centers, size, error, scale = ready[0], ready[4], ready[5], ready[7]
    labels, lower, square = settled
    length, best, second, found = scored
    for q in range(len(rows)):
        i, c = rows[q], found[q]
        doubt = error * (2.0 * size[c] + length[q]) + TINY
        if length[q] < FARTHEST * FARTHEST and float(second[q]) - float(best[q]) > doubt:
            if not known or labels[i] != c:
                square[i] = apart(X[i], centers[c])
            labels[i] = c
            away = np.sqrt(max(0.0, 2.0 * float(second[q]) + (1.0 - 2.0 * error) * length[q] - TINY))
        else:
            own = labels[i] if stay else -1
            nearest, next_one = np.inf, np.inf
            c = max(own, 0)
            # Its own comes before all others, in the same loop: a call in one place is compiled once.
            for turn in range(-1 if own >= 0 else 0, len(centers)):
                if turn == own:
                    continue
                other = own if turn < 0 else turn
                gap = apart(X[i], centers[other])
                if gap < nearest:
                    next_one, nearest, c = nearest, gap, other
                elif gap < next_one:
                    next_one = gap
            labels[i], square[i] = c, nearest
            away = np.sqrt(next_one) * scale
        lower[i] = away * (1.0 - SLACK)
