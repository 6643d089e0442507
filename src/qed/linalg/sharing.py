r"""Large dense work shared among threads, tile by tile, with the same bits for any number of them.

BLAS has one thread while a model is fitted (:mod:`qed.base.threads.blas`), so whoever has enough work cuts it into tiles, by its size
alone, and every tile is a call or two of BLAS (:mod:`qed.linalg.foreign`). Here is what such work has in common: tasks that wait for
earlier ones, symmetric products, and the inverse of a triangle.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from threading import Event
from typing import NamedTuple

import numpy as np

from qed.base.engine import work
from qed.linalg.foreign import call, step

# From so many multiplications on a product is shared, in tiles of about so many rows.
WORTH_SHARING = 1 << 24
TILE = 256


def finish(tasks: Iterable[Callable[[], object]]) -> None:
    """Do tasks on the fold's threads, for what they write."""
    for _ in work(tasks):
        continue


class Task(NamedTuple):
    """Something to be done after others."""

    name: Hashable
    function: Callable[[], object]
    after: Sequence[Hashable] = ()  # the names of earlier tasks whose results it reads


def work_in_order(tasks: Iterable[Task]) -> None:
    """Do tasks on the fold's threads, each when those that it names are done.

    Threads begin tasks in the order given, and a task names only earlier ones: whatever it waits for is being done, so nothing
    can deadlock.
    """
    done: dict[Hashable, Event] = {}

    def waiting(task: Task) -> Callable[[], None]:
        done[task.name] = Event()
        return partial(_do, task.function, [done[name] for name in task.after], done[task.name])

    finish(waiting(task) for task in tasks)


def _do(function: Callable[[], object], after: list[Event], done: Event) -> None:
    try:
        for event in after:
            event.wait()
        function()
    finally:
        done.set()


def spans(n: int, size: int) -> list[slice]:
    """Cut `n` rows into equal parts of at most `size`, up to a row."""
    count = max(1, -(-n // size))
    ends = [-(-n * k // count) for k in range(count + 1)]
    return [slice(start, stop) for start, stop in pairwise(ends)]


def products_of_rows(A: np.ndarray) -> np.ndarray:
    """Give ``A A'``, whose halves mirror each other, in the precision of A.

    >>> products_of_rows(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[ 5., 11.],
           [11., 25.]])
    """
    n, p = A.shape
    if n * n * p < WORTH_SHARING:
        return np.asarray(A @ A.T)
    out, parts = np.empty((n, n), A.dtype), spans(n, max(1, min(TILE, -(-n // 2))))
    pairs = ((i, j) for apart in range(len(parts) - 1, -1, -1) for j, i in _apart(len(parts), apart))
    finish(partial(_product, A, parts[i], parts[j], out) for i, j in pairs)
    return out


def _apart(count: int, distance: int) -> Iterator[tuple[int, int]]:
    return ((j, j + distance) for j in range(count - distance))


def _product(A: np.ndarray, rows: slice, columns: slice, out: np.ndarray) -> None:
    np.matmul(A[rows], A[columns].T, out=out[rows, columns])
    if rows != columns:
        out[columns, rows] = out[rows, columns].T


def inverse_of_lower(lower: np.ndarray) -> np.ndarray | None:
    """Give the inverse of the lower half of a matrix in Fortran order; None where it is singular.

    >>> inverse_of_lower(np.array([[2.0, 9.0], [1.0, 4.0]], order="F"))
    array([[ 0.5  ,  0.   ],
           [-0.125,  0.25 ]])
    """
    if not lower.diagonal().all():
        return None
    lower = np.asfortranarray(lower, dtype=np.float64)
    out = np.zeros(lower.shape, order="F")
    np.fill_diagonal(out, 1.0)
    finish(partial(_invert, lower, columns, out) for columns in spans(len(lower), TILE))
    return out


def _invert(lower: np.ndarray, columns: slice, out: np.ndarray) -> None:
    """Solve for some columns of the inverse, which are zero above the diagonal."""
    below, part = lower[columns.start :, columns.start :], out[columns.start :, columns]
    call("dtrsm", "L", "L", "N", "N", *part.shape, 1.0, below, step(lower), part, step(out))
