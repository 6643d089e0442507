r"""Questions about categories: which of them go left.

Of all :math:`2^{m-1} - 1` ways to divide :math:`m` categories, the one worth most cuts the order of their slopes over their curvatures,
:math:`G_c / H_c`, where leaves are not penalised (Fisher 1958, On grouping for maximum homogeneity): so only the cuts are asked about.
Missing values are a category like others. Rare categories, with less curvature than some rows have on average, say little of themselves
and are taken together; those that a node has no rows of go with these, or where there are none, with the larger side.
"""

from __future__ import annotations

import numpy as np

from qed.base.compile import kernel
from qed.trees.boosting.histograms import BIN, COLUMN, CURVATURE, GAIN, LEAST_SHARE, LOW, SIDE, SLOPE, count_weights
from qed.trees.boosting.monotone import fenced

# What a category must weigh to stand for itself; and its place where rare ones are taken together.
SUPPORT, POOL = 10.0, 256


def order_of_levels(histograms: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the order of categories, sums (3, ..., 257) in that order, and how many there are, from histograms (3, ..., 256).

    Rare ones have the number 256 together; places behind the last category hold zeros.
    """
    rare = ~(histograms[1] >= least)
    pool = np.where(rare, histograms, 0.0).sum(axis=-1, keepdims=True)
    sums = np.concatenate([np.where(rare, 0.0, histograms), pool], axis=-1)
    there = (sums[:2] != 0).any(axis=0)
    ratio = np.where(there, sums[0] / np.maximum(sums[1], 1.0), np.inf)
    order = np.argsort(ratio, axis=-1, kind="stable")
    return order, np.take_along_axis(sums, np.broadcast_to(order, sums.shape), axis=-1), there.sum(axis=-1)


def set_of(order: np.ndarray, cut: int, histograms: np.ndarray, least: float) -> np.ndarray:
    """Give the set of categories up to a place in their order, as a mask of all codes."""
    rare, goes, mass = ~(histograms[1] >= least), np.zeros(POOL, dtype=bool), histograms[1]
    left = order[: cut + 1]
    goes[left[left < POOL]] = True
    breadth = mass[goes].sum() + (mass[rare].sum() if POOL in left else 0.0)
    goes[rare] = POOL in left if mass[rare].any() else 2 * breadth > mass.sum()
    return goes


@kernel(within=True)
def search_levels(
    histogram: np.ndarray,
    column: int,
    bounds: np.ndarray,
    total: int,
    spread: int,
    to_grid: np.ndarray,
    penalty: float,
    directions: np.ndarray | None,
    least_value: float,
    most_value: float,
    alone: float,
    leaf_curvature: float,
    leaf_weight: float,
    codes: np.ndarray,
    rows: np.ndarray,
    begin: int,
    end: int,
    weight: np.ndarray,
    counts: np.ndarray,
    best: np.ndarray,
    goes: np.ndarray,
) -> None:
    """Find the best set of categories of a column, and write it down where it is better than what is known.

    `alone` is what the node is worth without a question.
    """
    level, ratio = np.empty(POOL + 1, dtype=np.int64), np.empty(POOL + 1)
    first, least, low, high, count, pool = column << 8, bounds[4], bounds[2], bounds[3], 0, np.int64(0)
    for b in range(POOL):
        amount = histogram[first + b]
        if (amount & LOW) >= least:
            level[count] = b
            ratio[count] = (amount >> 32) / max(amount & LOW, np.int64(1))
            count += 1
        else:
            pool += amount
    if pool != 0:
        level[count] = POOL
        ratio[count] = (pool >> 32) / max(pool & LOW, np.int64(1))
        count += 1
    sort_levels(level, ratio, count)
    from_slope, from_curvature = 1.0 / to_grid[0], 1.0 / to_grid[1]
    left, breadth, cut, counted = np.int64(0), np.int64(0), -1, False
    for k in range(count - 1):
        amount = pool if level[k] == POOL else histogram[first + level[k]]
        left, breadth = left + (amount >> 32), breadth + (amount & LOW)
        lighter = min(breadth, spread - breadth)
        before, after = breadth * from_curvature, (spread - breadth) * from_curvature
        if lighter < low or before < leaf_curvature or after < leaf_curvature:
            continue
        here, there = left * from_slope, (total - left) * from_slope
        score = here * here / (before + penalty) + there * there / (after + penalty)
        size = score
        if directions is not None:
            score, size = fenced(here, before + penalty, there, after + penalty, least_value, most_value, 0)
        gain = score - alone
        if not gain > max(best[GAIN], LEAST_SHARE * size):
            continue
        if lighter < high:
            if not counted:
                count_weights(codes, rows, begin, end, weight, column, counts)
                counted = True
            heavy = weight_of(level, k, count, counts)
            if heavy < leaf_weight or counts[254] + counts[255] - heavy < leaf_weight:
                continue
        cut = k
        best[GAIN] = gain
        best[COLUMN] = column
        best[BIN] = k
        best[SLOPE] = left
        best[CURVATURE] = breadth
    if cut < 0:
        return
    # Rare ones, and those that are not there.
    others = np.uint8(2 * np.int64(best[CURVATURE]) > spread)
    for k in range(count):
        if level[k] == POOL:
            others = np.uint8(k <= cut)
    for b in range(POOL):
        goes[b] = others
    for k in range(count):
        if level[k] < POOL:
            goes[level[k]] = np.uint8(k <= cut)
    best[SIDE] = goes[255]


@kernel(within=True)
def sort_levels(level: np.ndarray, ratio: np.ndarray, count: int) -> None:
    """Bring categories into the order of their ratios, equal ones into that of their numbers, by Shell's method."""
    for gap in (109, 41, 19, 5, 1):
        for k in range(gap, count):
            own, key, q = level[k], ratio[k], k
            while q >= gap and (ratio[q - gap] > key or (ratio[q - gap] == key and level[q - gap] > own)):
                level[q] = level[q - gap]
                ratio[q] = ratio[q - gap]
                q -= gap
            level[q] = own
            ratio[q] = key


@kernel(within=True)
def weight_of(level: np.ndarray, cut: int, count: int, counts: np.ndarray) -> float:
    """Give what the categories up to a place in their order weigh, from what codes weigh up to each."""
    pooled, heavy, all_others = False, 0.0, counts[254] + counts[255]
    for k in range(count):
        b = level[k]
        if b == POOL:
            pooled = k <= cut
            continue
        own = counts[b] - counts[b - 1] if 0 < b < 255 else counts[b]
        all_others -= own
        heavy += own if k <= cut else 0.0
    return heavy + all_others if pooled else heavy
