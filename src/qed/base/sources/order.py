r"""The order in which rows are visited in an epoch of a stochastic method: shuffled, reproducible, and kind to disks.

Rows :math:`0, \dots, n-1` are cut into chunks of a fixed length. The chunks are put into a random order, and the rows of every
sixteen chunks that follow each other then are shuffled among themselves. Each row comes once. For tables of no more than sixteen chunks
all orders are equally likely; in larger ones neighbours still meet strangers, while only sixteen short stretches of the disk
are read at a time.

Chunks and rows are ordered by keys drawn for (seed, epoch), so the order depends on these and on the shape of the table:
not on where it is, how it is cut into blocks, or how many threads there are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qed.base.errors import ParameterError
from qed.base.random import generator

CHUNKS = 16
WINDOW_VALUES = 1 << 22
MOST_ROWS, LEAST_ROWS = 1 << 16, 1 << 6


def window_rows(n_features: int, *, sparse: bool = False) -> int:
    """Say how many rows are shuffled among themselves: a power of two, of 32 megabytes of float64 or less where they are dense.

    >>> window_rows(10), window_rows(1000), window_rows(1000, sparse=True)
    (65536, 4096, 65536)
    """
    fitting = MOST_ROWS if sparse else WINDOW_VALUES // max(n_features, 1)
    return 1 << (min(max(fitting, LEAST_ROWS), MOST_ROWS).bit_length() - 1)


def shuffled(n: int, window: int, seed: int, epoch: int) -> Iterator[np.ndarray]:
    """Give the numbers of `n` rows in the order of an epoch, a window of them at a time.

    >>> [part.tolist() for part in shuffled(5, 65536, seed=0, epoch=1)]
    [[1, 0, 3, 2, 4]]
    """
    chunk = max(1, window // CHUNKS)
    chunks = generator(seed, "epoch", epoch).permutation(-(-n // chunk)) if n > window else np.arange(-(-n // chunk))
    for number, first in enumerate(range(0, len(chunks), CHUNKS)):
        starts = chunks[first : first + CHUNKS, None] * chunk
        rows = (starts + np.arange(chunk)).ravel()
        rows = rows[rows < n]
        yield rows[generator(seed, "window", epoch, number).permutation(len(rows))]


def orders(n: int, n_features: int, seed: int, epoch: int, size: int, *, sparse: bool = False) -> Iterator[np.ndarray]:
    """Give the numbers of the rows of a table as `Rows.stream` has them, for who takes the rows himself."""
    return batches(n, window_rows(n_features, sparse=sparse), seed, epoch, size)


def batches(n: int, window: int, seed: int, epoch: int, size: int) -> Iterator[np.ndarray]:
    """Give the same numbers in batches of `size`; the last may be shorter.

    >>> [len(part) for part in batches(5, 65536, seed=0, epoch=1, size=2)]
    [2, 2, 1]
    """
    for name, value, least in (("seed", seed, 0), ("epoch", epoch, 0), ("batch", size, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise ParameterError(f"{name} must be a whole number from {least} on, not {value!r}.")
    return _cut(shuffled(n, window, seed, epoch), size)


def _cut(windows: Iterator[np.ndarray], size: int) -> Iterator[np.ndarray]:
    held = np.empty(0, dtype=np.int64)
    for rows in windows:
        held = np.concatenate([held, rows])
        whole = len(held) - len(held) % size
        for start in range(0, whole, size):
            yield held[start : start + size]
        held = held[whole:]
    if len(held):
        yield held
