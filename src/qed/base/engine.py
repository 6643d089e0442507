r"""Folding a function over blocks of rows, on threads.

:math:`\mathrm{fold}(f) = f(b_1) + f(b_2) + \dots + f(b_m)`: the one way in which models touch data. Blocks are worked on
in parallel, but their results are always added pairwise, in the order of the blocks,

.. math:: (((f_1 + f_2) + (f_3 + f_4)) + ((f_5 + f_6) + \dots)),

so the sum depends on the block plan alone: bit for bit the same for any number of threads, and with an error
that grows with :math:`\log m` instead of :math:`m`. BLAS is held to one thread while blocks run in parallel. At most a few
blocks are in flight, so folding over a file needs memory for those only.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from itertools import chain, islice
from typing import Any

from threadpoolctl import ThreadpoolController

from qed.base.errors import ParameterError

_threads: ContextVar[int | None] = ContextVar("qed_threads", default=None)
_working: ContextVar[bool] = ContextVar("qed_working", default=False)
_pools: dict[int, ThreadPoolExecutor] = {}
_lock = threading.Lock()


def n_threads() -> int:
    """Say how many threads a fold uses: as set by :func:`threads`, by ``QED_THREADS``, or one per core."""
    asked = _threads.get()
    if asked is not None:
        return asked
    word = os.environ.get("QED_THREADS", "")
    if word:
        if not word.isdigit() or int(word) < 1:
            raise ParameterError(f"QED_THREADS must be a positive whole number, not {word!r}.")
        return int(word)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Use `count` threads inside the ``with`` block.

    The result of a fit does not depend on it, only its speed.

    Examples
    --------
    >>> with threads(1):
    ...     n_threads()
    1
    """
    if count < 1:
        raise ParameterError(f"threads must be at least 1, not {count!r}.")
    token = _threads.set(int(count))
    try:
        yield
    finally:
        _threads.reset(token)


class _OneBlasThread:
    """Hold BLAS to one thread until the last of those who asked for it has left.

    The setting belongs to the whole process, so whoever comes first sets it and whoever leaves last restores it. The
    controller is made once, because making one costs half a millisecond.
    """

    def __init__(self) -> None:
        self._controller: ThreadpoolController | None = None
        self._limit: Any = None
        self._inside = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                if self._controller is None:
                    self._controller = ThreadpoolController()
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


one_blas_thread = _OneBlasThread()


def blas_for(size: int) -> AbstractContextManager[Any]:
    """Give BLAS one thread for matrices of so few rows that more would only get in each other's way."""
    return one_blas_thread if size < 512 else nullcontext()


def add_pairwise(results: Iterable[Any]) -> Any:
    """Add up `results` in the order of a balanced tree, keeping only about log2(m) partial sums.

    Examples
    --------
    >>> add_pairwise(["a", "b", "c", "d", "e"])
    'abcde'
    """
    partial: list[tuple[int, Any]] = []
    for result in results:
        height = 0
        while partial and partial[-1][0] == height:
            result = partial.pop()[1] + result
            height += 1
        partial.append((height, result))
    if not partial:
        raise ValueError("nothing to add")
    total = partial.pop()[1]
    while partial:
        total = partial.pop()[1] + total
    return total


def work(tasks: Iterable[Callable[[], Any]]) -> Iterator[Any]:
    """Run `tasks` on the fold's threads and give their results in order, with few of them in flight at a time.

    A task that itself folds (a search that fits many models) does so on its own thread: threads are not nested.
    """
    count = 1 if _working.get() else n_threads()
    waiting = iter(tasks)
    first = list(islice(waiting, 2))
    with one_blas_thread:
        if count == 1 or len(first) < 2:
            for task in chain(first, waiting):
                yield task()
            return
        yield from _work_in_pool(chain(first, waiting), count)


def _work_in_pool(tasks: Iterable[Callable[[], Any]], count: int) -> Iterator[Any]:
    pool = _pool(count)
    waiting: deque[Future[Any]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(copy_context().run, _as_worker, task))
            if len(waiting) > 2 * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _as_worker(task: Callable[[], Any]) -> Any:
    _working.set(True)
    return task()


def _pool(count: int) -> ThreadPoolExecutor:
    with _lock:
        if count not in _pools:
            _pools[count] = ThreadPoolExecutor(count, thread_name_prefix="qed")
        return _pools[count]


def _forget_pools() -> None:
    """Drop the pools in a forked child: their threads exist in the parent only."""
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)
