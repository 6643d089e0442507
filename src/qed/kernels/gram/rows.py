"""Rows of a large Gram matrix, as methods want them that look at some hundreds of them at a time and at the same ones again.

The matrix itself has no room; rows that were asked for are kept in a store of a fixed size, the oldest making place. Gaussian
similarities of few columns are kept in single precision, from :mod:`qed.kernels.gram.gaussian`, and few of them: working a row out
again takes less time than the system needs to find memory for it. All others are as the kernel gives them.
A row does not depend on when, or with which others, it was worked out.
"""

from functools import partial
from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.base.engine import work
from qed.base.numbers import EPS
from qed.base.sources.block import is_sparse
from qed.kernels.gram.gaussian import MOST_COLUMNS, gaussian_rows
from qed.kernels.radial import RBF
from qed.kernels.similarity import Similarity

# So many rows a thread works out at a time, and so many columns of them it adds up.
CHUNK, WIDTH = 32, 1024
# So many times the rows that must be there are kept of those that are cheap.
TIMES = 2
SIDE = 256
# A sum of half squared lengths (times two gamma) up to which distances come from a matrix product: four numbers of at most this size
# are rounded, and an error of the exponent is one of the similarity, relative.
SHORT = 100.0
RIGHT_TO = 4 * SHORT * EPS


class GramRows:
    """Rows of the Gram matrix of a table in float64: those kept take `memory` bytes at most, and are `least` at the same time."""

    def __init__(self, similarity: Similarity, X: Any, memory: float, least: int) -> None:
        n = X.shape[0]
        self._factor = gaussian_factor(similarity, X)
        if self._factor is not None:
            self._middle = X.mean(axis=0)
            self._columns = np.ascontiguousarray((X - self._middle).T, dtype=np.float32)
            self._rows = np.ascontiguousarray(self._columns.T)
        else:
            self._tiles = similarity.tiles(X)
        dtype = np.float32 if self._factor is not None else np.float64
        room = int(memory / (n * np.dtype(dtype).itemsize))
        if self._factor is not None:
            room = min(room, TIMES * least)
        self.kept = np.empty((min(n, max(room, 2 * least)), n), dtype)
        self._place = np.full(n, -1)
        self._owner = np.full(len(self.kept), -1)
        self._next = 0

    def places(self, numbers: np.ndarray) -> np.ndarray:
        """Say where in `kept` the rows with these numbers lie; those that are not there yet are worked out."""
        missing = numbers[self._place[numbers] < 0]
        if len(missing):
            held = np.zeros(len(self.kept), dtype=bool)
            held[self._place[numbers[self._place[numbers] >= 0]]] = True
            order = (self._next + np.arange(len(self.kept))) % len(self.kept)
            places = order[~held[order]][: len(missing)]
            self._next = int(places[-1]) + 1
            gone = self._owner[places]
            self._place[gone[gone >= 0]] = -1
            self._owner[places], self._place[missing] = missing, places
            self._fill(missing, places)
        return self._place[numbers]

    def among(self, numbers: np.ndarray) -> np.ndarray:
        """Give the similarities of some rows with each other, in float64."""
        if self._factor is None:
            return np.asarray(self.kept[np.ix_(self.places(numbers), numbers)])
        columns, rows = np.ascontiguousarray(self._columns[:, numbers]), self._rows[numbers]
        out, places = np.empty((len(numbers), len(numbers)), np.float32), np.arange(len(numbers))
        _gaussian(columns, rows, self._factor, out, places)
        return out.astype(np.float64)

    def combined(self, numbers: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Give the sum of the rows with these numbers, each times its coefficient, in float64."""
        out, places = np.empty(self.kept.shape[1]), self.places(numbers)
        tasks = (
            partial(add_rows, self.kept, places, coefficients, out, start, min(start + WIDTH, len(out)))
            for start in range(0, len(out), WIDTH)
        )
        for _ in work(tasks):
            continue
        return out

    def _fill(self, numbers: np.ndarray, places: np.ndarray) -> None:
        if self._factor is None:
            self.kept[places] = self._tiles.rows(numbers)
            return
        _gaussian(self._columns, self._rows[numbers], self._factor, self.kept, places)


def _gaussian(columns: np.ndarray, rows: np.ndarray, factor: float, out: np.ndarray, places: np.ndarray) -> None:
    """Fill rows of `out` with the similarities of `rows` and all columns, on all threads."""
    some = (slice(start, start + CHUNK) for start in range(0, len(rows), CHUNK))
    for _ in work(partial(gaussian_rows, columns, rows[s], np.float32(factor), out, places[s]) for s in some):
        continue


@kernel(fastmath={"contract"})
def add_rows(kept: Any, places: Any, change: Any, out: Any, start: int, end: int) -> None:
    """Fill a stretch of `out` with the sum of rows, each times its change."""
    sums = out[start:end]
    sums[:] = 0.0
    for k in range(len(places)):
        line, factor = kept[places[k], start:end], change[k]
        for t in range(len(sums)):
            sums[t] += factor * line[t]


def gaussian_factor(similarity: Similarity, X: Any) -> float | None:
    """Give minus gamma where similarities are Gaussian and few columns make the compiled kernel the fastest; else None."""
    radial = similarity.kernel
    if not isinstance(radial, RBF) or is_sparse(X) or X.shape[1] > MOST_COLUMNS:
        return None
    if radial.sigma is not None:
        return -0.5 / radial.sigma**2
    return -(1.0 / X.shape[1] if radial.gamma is None else radial.gamma)
