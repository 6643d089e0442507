"""Histograms of rows on a grid: slope times 2^32 plus curvature, one whole number for a row, added up by the codes of its columns."""

from __future__ import annotations

import numpy as np

from qed.base.compile import kernel
from qed.base.prefetch import prefetch

LOW, BYTE = np.int64(0xFFFFFFFF), np.uint64(255)
# How many rows before its turn a row is fetched: codes of rows that are far apart take as long to come as some rows take to be added.
AHEAD = 8
# A number just below one: what a score is multiplied by for rounding not to hide a better one.
NEARLY = 1.0 - 1e-12
# The share of the sides' scores that a gain has to exceed, for rounding not to ask a question.
LEAST_SHARE = 2.0**-40
# What is known of the best question of a node.
GAIN, COLUMN, BIN, SIDE, SLOPE, CURVATURE = range(6)


@kernel(within=True)
def pack(
    slope: np.ndarray,
    curvature: np.ndarray,
    weight: np.ndarray,
    is_whole: bool,
    to_grid: np.ndarray,
    drawn: np.ndarray,
    rows: np.ndarray,
    member: int,
    members: int,
    packed: np.ndarray,
    shared: np.ndarray,
    bounds: np.ndarray,
) -> None:
    """Write down this member's rows, those drawn or all, and bring them to the grid.

    What is left is their sum, and the least and the largest curvature of a weight of one.
    """
    n, total, low, high = len(rows), np.int64(0), np.inf, 0.0
    for q in range(n * member // members, n * (member + 1) // members):
        i = np.uint64(drawn[q] if len(drawn) else q)
        rows[q] = i
        w = weight[i] if len(weight) else 1.0
        # A weight that is a whole number says how often the row is there.
        inside = 1.0 if is_whole else w
        times = w if is_whole else 1.0
        first = times * np.rint(inside * slope[i] * to_grid[0])
        # Each row bends by a unit at least, so that a bin with rows is never taken for an empty one.
        bends = np.rint(inside * curvature[i] * to_grid[1])
        second = times * (bends if bends > 1.0 else 1.0)
        packed[i] = (np.int64(first) << 32) + np.int64(second)
        total += packed[i]
        share = second / w
        low = share if share < low else low
        high = share if share > high else high
    shared[member, 0] = total
    bounds[member, 0] = low
    bounds[member, 1] = high


@kernel(within=True)
def add_up(
    words: np.ndarray,
    packed: np.ndarray,
    rows: np.ndarray,
    begin: int,
    end: int,
    member: int,
    members: int,
    own: np.ndarray,
) -> None:
    """Make the histograms of this member's share of some rows."""
    n_words, histogram, flat = words.shape[1], own[member], words.reshape(-1)
    for q in range(len(histogram)):
        histogram[q] = 0
    size = end - begin
    start, stop = begin + size * member // members, begin + size * (member + 1) // members
    for q in range(start, stop):
        i, ahead = np.uint64(rows[q]), np.int64(rows[q + AHEAD if q + AHEAD < stop else stop - 1])
        prefetch(packed, ahead)
        prefetch(flat, ahead * n_words)
        amount = packed[i]
        for k in range(n_words):
            add_eight(histogram, np.uint64(k << 11), words[i, k], amount)


@kernel(within=True)
def add_eight(histogram: np.ndarray, first: np.uint64, word: np.uint64, amount: int) -> None:
    """Add to the bins of eight columns, whose histograms begin at `first`; written out, for the compiler does not unroll it."""
    histogram[first + (word & BYTE)] += amount
    histogram[first + np.uint64(256) + ((word >> np.uint64(8)) & BYTE)] += amount
    histogram[first + np.uint64(512) + ((word >> np.uint64(16)) & BYTE)] += amount
    histogram[first + np.uint64(768) + ((word >> np.uint64(24)) & BYTE)] += amount
    histogram[first + np.uint64(1024) + ((word >> np.uint64(32)) & BYTE)] += amount
    histogram[first + np.uint64(1280) + ((word >> np.uint64(40)) & BYTE)] += amount
    histogram[first + np.uint64(1536) + ((word >> np.uint64(48)) & BYTE)] += amount
    histogram[first + np.uint64(1792) + (word >> np.uint64(56))] += amount


@kernel(within=True)
def share_out(own: np.ndarray, p: int, member: int, members: int, histograms: np.ndarray, less: int, more: int) -> None:
    """Add up the histograms of all members, for this one's columns; those of one of two children are taken from the other's."""
    for q in range((p * member // members) << 8, (p * (member + 1) // members) << 8):
        k = np.uint64(q)
        amount = own[0, k]
        for other in range(1, members):
            amount += own[other, k]
        if less != more:
            histograms[more, k] -= amount
        histograms[less, k] = amount


@kernel(within=True)
def count_weights(
    codes: np.ndarray, rows: np.ndarray, begin: int, end: int, weight: np.ndarray, column: int, counts: np.ndarray
) -> None:
    """Add up what rows weigh, up to each bin; what is missing by itself."""
    for b in range(256):
        counts[b] = 0.0
    own = codes[column]
    for q in range(begin, end):
        counts[own[rows[q]]] += weight[rows[q]] if len(weight) else 1.0
    for b in range(1, 255):
        counts[b] += counts[b - 1]
