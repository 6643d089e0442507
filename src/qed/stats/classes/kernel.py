"""The compiled passes under `ByClass`: sums, or means and spreads, of all classes of a block from one reading of it.

Rows stay where they are: each is added to the sums of its class. For means and spreads rows are taken in tiles that stay in the cache.
The deviations in a tile are those from the means so far, and the tile is merged with those before it (Chan, Golub and LeVeque, 1979),
counted from the means of the first tile (`base`), so no large offset costs digits. What a tile's own mean takes away from the squares is
at most half of them, if no class weighs more in it than in all tiles before; where one does, the tile is first read for its means.
"""

from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.base.numbers import TINY


@kernel(fastmath={"contract"})
def add_rows(X: Any, codes: Any, weight: Any, total: Any, squares: Any) -> None:
    """Add rows, weighted, to the sums of their classes: `total` and `squares` are of shape (n_classes, p)."""
    for i in range(len(X)):
        row, own, square, w = X[i], total[codes[i]], squares[codes[i]], weight[i]
        for j in range(len(own)):
            x = np.float64(row[j])
            own[j] += w * x
            square[j] += w * x * x


@kernel(fastmath={"contract"})
def add_ones(X: Any, codes: Any, weight: Any, above: float, total: Any) -> None:
    """Add one for every value above a threshold, weighted, to the sums of the classes; what is not finite makes them NaN."""
    for i in range(len(X)):
        row, own, w = X[i], total[codes[i]], weight[i]
        for j in range(len(own)):
            x = np.float64(row[j])
            own[j] += (w if x > above else 0.0) + 0.0 * x


@kernel
def add_stored(values: Any, places: Any, starts: Any, codes: Any, weight: Any, both: Any) -> None:
    """Add the stored values of sparse rows, and their squares, to the sums of their classes: (n_classes, p, 2)."""
    for i in range(len(codes)):
        own, w = both[codes[i]], weight[i]
        for k in range(starts[i], starts[i + 1]):
            x, place = np.float64(values[k]), np.uint64(places[k])
            own[place, 0] += w * x
            own[place, 1] += w * x * x


@kernel
def add_stored_ones(values: Any, places: Any, starts: Any, codes: Any, weight: Any, above: float, total: Any) -> None:
    """Add one for every stored value above a threshold that is not negative, as `add_ones` does."""
    for i in range(len(codes)):
        own, w = total[codes[i]], weight[i]
        for k in range(starts[i], starts[i + 1]):
            x = np.float64(values[k])
            own[np.uint64(places[k])] += (w if x > above else 0.0) + 0.0 * x


def spread_by_class(
    X: np.ndarray, codes: np.ndarray, weight: np.ndarray, n_classes: int, tile_rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the weight of each class, and of every column its mean and sum of squared deviations in each class."""
    total, room = np.zeros(n_classes), np.zeros((6, n_classes, X.shape[1]))
    _spread_tiles(X, codes, weight, tile_rows, total, np.empty(n_classes), room)
    return total, room[0], room[1]


@kernel(fastmath={"contract"})
def _spread_tiles(X: Any, codes: Any, weight: Any, tile_rows: int, total: Any, inside: Any, room: Any) -> None:
    """Do so into `total` and the first two tables of `room`; the others, and `inside`, are to work in.

    No array is made here, because making each kind of array would have to be compiled too.
    """
    n_classes, p = len(total), X.shape[1]
    mean, deviation, base, center, drift, square = room[0], room[1], room[2], room[3], room[4], room[5]
    for start in range(0, len(X), tile_rows):
        stop, growing = min(start + tile_rows, len(X)), False
        for k in range(n_classes):
            inside[k] = 0.0
        for i in range(start, stop):
            inside[codes[i]] += weight[i]
        for k in range(n_classes):
            growing |= inside[k] > total[k]
            for j in range(p):
                center[k, j] = base[k, j] + mean[k, j]
                drift[k, j] = square[k, j] = 0.0
        if growing:
            for k in range(n_classes):
                for j in range(p):
                    center[k, j] = 0.0
            for i in range(start, stop):
                row, own, w = X[i], center[codes[i]], weight[i]
                for j in range(p):
                    own[j] += w * np.float64(row[j])
            for k in range(n_classes):
                for j in range(p):
                    center[k, j] /= max(inside[k], TINY)
        for i in range(start, stop):
            row, own, off, far, w = X[i], center[codes[i]], drift[codes[i]], square[codes[i]], weight[i]
            for j in range(p):
                gap = np.float64(row[j]) - own[j]
                off[j] += w * gap
                far[j] += w * gap * gap
        for k in range(n_classes):
            if inside[k] > 0.0:
                share = inside[k] / (total[k] + inside[k])
                for j in range(p):
                    base[k, j] = center[k, j] if total[k] == 0.0 else base[k, j]
                    lost = drift[k, j] / inside[k]
                    gap = (center[k, j] - base[k, j]) + lost - mean[k, j]
                    deviation[k, j] += max(square[k, j] - drift[k, j] * lost, 0.0) + gap * gap * total[k] * share
                    mean[k, j] += gap * share
                total[k] += inside[k]
    for k in range(n_classes):
        for j in range(p):
            mean[k, j] += base[k, j]
