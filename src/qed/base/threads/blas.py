"""What BLAS may use of the threads: one, while blocks are worked on in parallel or a fit is under way.

BLAS shares its work among as many threads as there are, and its sums round differently for each number of them: a factor computed by two
threads is not that of one, and not that of a fit inside the worker of a search. So it gets one thread, on every machine, and what is worth
more is cut into tiles by its size alone, which our own threads share (:mod:`qed.linalg.sharing`).

The setting belongs to the whole process, so holds are counted, per thread and per purpose: whoever comes first sets it and whoever
leaves last gives it back. A fit takes a hold once (:func:`fitting`), and the thousands of folds inside it find the limit in place. What
BLAS is set to always follows from the holds (`_settle`), so an exception or an interrupt at any point leaves nothing that the next hold
does not mend.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import AbstractContextManager

from threadpoolctl import LibController, ThreadpoolController

_depth: dict[tuple[int, str], int] = {}
_saved: dict[str, tuple[LibController, int]] = {}
_found: tuple[int, list[LibController]] = (0, [])
_lock = threading.RLock()


class Hold(AbstractContextManager[None]):
    """Holds BLAS to one thread, for one purpose. Enter it as often and from as many threads as you like.

    What this thread holds already, for this or the other purpose, need not be set again.
    """

    def __init__(self, purpose: str, other: str) -> None:
        self._purpose, self._other = purpose, other

    def __enter__(self) -> None:
        self.take()

    def __exit__(self, *error: object) -> None:
        self.leave((threading.get_ident(), self._purpose))

    def take(self) -> tuple[int, str]:
        """Take a hold; give the key to leave it with, for a generator that may be closed by another thread."""
        ident = threading.get_ident()
        key = (ident, self._purpose)
        depth = _depth.get(key, 0)
        _depth[key] = depth + 1
        if depth == 0 and (ident, self._other) not in _depth:
            try:
                _settle()
            except BaseException:
                self.leave(key)
                raise
        return key

    def leave(self, key: tuple[int, str]) -> None:
        """Leave a hold."""
        depth = _depth.get(key, 0) - 1
        if depth > 0:
            _depth[key] = depth
        else:
            _depth.pop(key, None)
            if (key[0], self._other) not in _depth:
                _settle()


one_blas_thread = Hold("fold", "fit")
_fit = Hold("fit", "fold")


def fitting() -> Hold:
    """Hold BLAS to one thread while a model is fitted, so that the folds inside need not set it each time.

    It may be nested, entered from several threads at once, and left by any exception.
    """
    return _fit


def _settle() -> None:
    """Set BLAS to what the holds ask for."""
    with _lock:
        if _depth:
            for library in _libraries():
                if library.filepath not in _saved:
                    _saved[library.filepath] = (library, library.num_threads)
                    if _saved[library.filepath][1] != 1:
                        _set(library, 1)
        else:
            for name, (library, count) in list(_saved.items()):
                if count != 1:
                    _set(library, count)
                del _saved[name]


def _set(library: LibController, count: int) -> None:
    """Set the threads of a library for all; newer controllers ignore all threads of Python but the first one that asked."""
    getattr(library, "_real_set_num_threads", library.set_num_threads)(count)


def _libraries() -> list[LibController]:
    """Find the BLAS libraries in memory: looked for again only when modules came in since, as it takes half a millisecond."""
    global _found
    if _found[0] != len(sys.modules):
        controllers = ThreadpoolController().lib_controllers
        libraries = [found for found in controllers if found.user_api == "blas" and found.num_threads is not None]
        _found = (len(sys.modules), libraries)
    return _found[1]


def _begin_anew() -> None:
    """In a forked child, drop the holds of threads that exist in the parent only."""
    for key in list(_depth):
        if key[0] != threading.get_ident():
            del _depth[key]
    _lock.release()
    _settle()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_begin_anew)
