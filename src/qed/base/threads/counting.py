"""How many threads the work may use, and whether it is one of them that asks.

The number is a promise about speed only: no result depends on it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from qed.base.errors import ParameterError

working: ContextVar[bool] = ContextVar("qed_working", default=False)
_threads: ContextVar[int | None] = ContextVar("qed_threads", default=None)


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
    return n_cores()


def n_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_here() -> int:
    """Say how many threads may be used from here: one inside the worker of a fold or a team, because threads are not nested."""
    return 1 if working.get() else n_threads()


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Use `count` threads inside the ``with`` block.

    The result of a fit does not depend on it, only its speed.

    Parameters
    ----------
    count : int
        How many threads.

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
