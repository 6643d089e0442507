"""The compiled pass under `Summary`: mean, spread and range of every column from one reading of a block.

Rows are taken in tiles that stay in the cache. Each tile is read twice there, for its means and for the deviations from
them, and is then merged with the tiles before it (Chan, Golub and LeVeque, 1979), counted from the means of the first
tile (`base`). So memory is read once, and no large offset costs digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.base.compile import kernel

# A tile has at most so many columns, or it would not stay in the cache.
TILE_COLUMNS = 128


def summarise(X: np.ndarray, weight: np.ndarray, tile_rows: int) -> np.ndarray:
    """Give weighted mean, sum of squared deviations, minimum and maximum of each column, as four rows.

    A NaN or an infinity shows as a mean that is not finite.
    """
    panels = []
    for first in range(0, X.shape[1], TILE_COLUMNS):
        room = np.zeros((8, min(TILE_COLUMNS, X.shape[1] - first)))
        room[2:4] = [[np.inf], [-np.inf]]
        _summarise_panel(X, weight, tile_rows, first, room)
        panels.append(room[:4])
    return np.concatenate(panels, axis=1) if panels else np.empty((4, 0))


@kernel
def _summarise_panel(X, weight, tile_rows, first, room):  # type: ignore[no-untyped-def]
    """Do so for the columns from `first` on: the first rows of `room` take what is found, the others are to work in.

    All loops are here, and no array is made: each function and each kind of array of its own would take as long to compile again.
    """
    p, last = room.shape[1], first + room.shape[1]
    mean, deviation, low, high = room[0], room[1], room[2], room[3]
    base, center, drift, square = room[4], room[5], room[6], room[7]
    total = 0.0
    for start in range(0, len(X), tile_rows):
        stop, inside = min(start + tile_rows, len(X)), 0.0
        for j in range(p):
            center[j] = drift[j] = square[j] = 0.0
        # Two rows at a time, so that sums are loaded and stored less often; the last is repeated, with no weight, to make up two. Four
        # would be no faster in double precision, and take half as long again to compile.
        for i in range(start, stop, 2):
            i1 = min(i + 1, stop - 1)
            w0, w1 = weight[i], weight[i1] * (i1 > i)
            row0, row1 = X[i, first:last], X[i1, first:last]
            inside = inside + w0 + w1
            for j in range(p):
                a, b = np.float64(row0[j]), np.float64(row1[j])
                center[j] = center[j] + w0 * a + w1 * b
                least, most = low[j], high[j]
                least, most = a if a < least else least, a if a > most else most
                low[j], high[j] = b if b < least else least, b if b > most else most
        for j in range(p):
            center[j] /= inside
        for i in range(start, stop, 2):
            i1 = min(i + 1, stop - 1)
            w0, w1 = weight[i], weight[i1] * (i1 > i)
            row0, row1 = X[i, first:last], X[i1, first:last]
            for j in range(p):
                a, b = np.float64(row0[j]) - center[j], np.float64(row1[j]) - center[j]
                drift[j] = drift[j] + w0 * a + w1 * b
                square[j] = square[j] + w0 * a * a + w1 * b * b
        share = inside / (total + inside)
        for j in range(p):
            base[j] = center[j] if start == 0 else base[j]
            lost = drift[j] / inside
            gap = (center[j] - base[j]) + lost - mean[j]
            deviation[j] += max(square[j] - drift[j] * lost, 0.0) + gap * gap * total * share
            mean[j] += gap * share
        total += inside
    for j in range(p):
        mean[j] += base[j]


@kernel
def summarise_there(X: Any, weight: Any, tile_rows: int) -> Any:
    """Do the same for the values that are there, and give besides their weight and the number of missing ones (NaN).

    The loops go down the columns of a tile, as each column has values in rows of its own; so this is also the way
    through a matrix that is stored by columns, as those of pandas are.
    """
    p = X.shape[1]
    there, mean, deviation = np.zeros(p), np.zeros(p), np.zeros(p)
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    missing, base = np.zeros(p, np.int64), np.zeros(p)
    for start in range(0, len(X), tile_rows):
        tile, w = X[start : start + tile_rows], weight[start : start + tile_rows]
        for j in range(p):
            inside, center, lost = 0.0, 0.0, 0
            for i in range(len(tile)):
                x = np.float64(tile[i, j])
                hole = x != x
                lost += hole
                inside += 0.0 if hole else w[i]
                center += 0.0 if hole else w[i] * x
                low[j] = x if x < low[j] else low[j]
                high[j] = x if x > high[j] else high[j]
            missing[j] += lost
            if inside == 0.0:
                continue
            center /= inside
            drift, square = 0.0, 0.0
            for i in range(len(tile)):
                x = np.float64(tile[i, j])
                gap = 0.0 if x != x else x - center
                drift += w[i] * gap
                square += w[i] * gap * gap
            drift /= inside
            if there[j] == 0.0:
                base[j] = center
            gap = (center - base[j]) + drift - mean[j]
            share = inside / (there[j] + inside)
            deviation[j] += max(square - inside * drift * drift, 0.0) + gap * gap * there[j] * share
            mean[j] += gap * share
            there[j] += inside
    for j in range(p):
        mean[j] += base[j]
    return there, mean, deviation, low, high, missing


@kernel
def summarise_sparse(values, places, starts, weight, p):  # type: ignore[no-untyped-def]
    """Do the same for a sparse block, given by what is stored of its rows; what is not stored is zero.

    What is stored is read twice: for the means, and for the deviations from them.
    """
    there, mean, deviation = np.zeros(p), np.zeros(p), np.zeros(p)
    stored, count, missing = np.zeros(p), np.zeros(p, np.int64), np.zeros(p, np.int64)
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    total = 0.0
    for i in range(len(weight)):
        total += weight[i]
        own, columns = values[starts[i] : starts[i + 1]], places[starts[i] : starts[i + 1]]
        for k in range(len(own)):
            x, place = np.float64(own[k]), np.uint64(columns[k])
            count[place] += 1
            stored[place] += weight[i]
            if x != x:
                missing[place] += 1
                there[place] -= weight[i]
                continue
            mean[place] += weight[i] * x
            low[place] = min(low[place], x)
            high[place] = max(high[place], x)
    for j in range(p):
        there[j] += total
        mean[j] = mean[j] / there[j] if there[j] > 0.0 else 0.0
        if count[j] < len(weight):
            low[j], high[j] = min(low[j], 0.0), max(high[j], 0.0)
    for i in range(len(weight)):
        own, columns = values[starts[i] : starts[i + 1]], places[starts[i] : starts[i + 1]]
        for k in range(len(own)):
            gap = np.float64(own[k]) - mean[np.uint64(columns[k])]
            if gap == gap:
                deviation[np.uint64(columns[k])] += weight[i] * gap * gap
    for j in range(p):
        deviation[j] += (total - stored[j]) * mean[j] * mean[j]
    return there, mean, deviation, low, high, missing
