"""Ctrl-C where the state is whole: noted while something is being changed, and raised at the next point where that is safe.

Python raises ``KeyboardInterrupt`` between any two instructions of the main thread: after a hold of BLAS was taken and before it is
remembered, in the middle of a compiled kernel, between the coefficients of a model and their proof. So whoever changes something does it
inside `deferred`: there Ctrl-C is only noted, and raised by `moment`, which the loops over blocks and steps call where nothing is half
done, or at the end. Inside ``deferred(moments=False)`` it waits for the end. Whoever can not wait presses Ctrl-C again: the second one is
raised at once.

Other threads are never interrupted, but what they do for somebody who has left (a fold that failed or was interrupted) ends at their next
moment. Where the process ignores Ctrl-C, as background jobs do, nothing is changed.
"""

from __future__ import annotations

import importlib.util
import math
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from time import perf_counter
from types import FrameType
from typing import TypeVar

# Beneath the module of the standard library, which spends ten microseconds on names for numbers: as much as a small prediction takes.
_raw = importlib.import_module("_signal") if importlib.util.find_spec("_signal") else signal
SIGINT = int(signal.SIGINT)
Handler = Callable[[int, FrameType | None], object]
Result = TypeVar("Result")


class Unwanted(BaseException):
    """Raised at a moment of work that nobody waits for any more.

    Like Ctrl-C it is no `Exception`, lest a search takes it for a fit that failed.
    """


class Wanted:
    """Whether somebody still waits for what is being done."""

    __slots__ = ("still",)

    def __init__(self) -> None:
        self.still = True


wanted: ContextVar[Wanted | None] = ContextVar("qed_wanted", default=None)


class TimeIsUpError(BaseException):
    """Raised at a moment of work that is not done when its time is up.

    Like Ctrl-C it is no `Exception`, lest a search takes it for a fit that failed.
    """


# When, as ``perf_counter`` counts, and in which thread.
_due: ContextVar[tuple[float, int] | None] = ContextVar("qed_due", default=None)


class _State:
    """What the main thread is doing: how deep it is in deferred blocks, how many of them allow no moment, and what was noted."""

    def __init__(self) -> None:
        self.depth = self.closed = 0
        self.noted = False
        self.handler: Handler | None = None
        self.main = threading.main_thread().ident

    def note(self, number: int, frame: FrameType | None) -> None:
        """Take the place of the handler: remember the first signal, hand the second on."""
        if self.noted and self.handler is not None:
            self.noted = False
            self.handler(number, frame)
        self.noted = True

    def deliver(self) -> None:
        """Hand on what was noted."""
        handler, self.noted = self.handler, False
        if handler is not None:
            handler(SIGINT, None)


_state = _State()


class Deferred(AbstractContextManager[None]):
    """Ctrl-C inside is raised at a moment, or at the end; see `deferred`."""

    __slots__ = ("_entered", "_moments")

    def __init__(self, moments: bool) -> None:
        self._moments, self._entered = moments, False

    def __enter__(self) -> None:
        if threading.get_ident() != _state.main:
            return
        if _state.depth == 0:
            _install()
        _state.depth += 1
        _state.closed += not self._moments
        self._entered = True

    def __exit__(self, *error: object) -> None:
        if not self._entered or _state.depth == 0:
            return
        self._entered = False
        _state.closed -= not self._moments
        _state.depth -= 1
        if _state.depth == 0:
            _restore()


def deferred(*, moments: bool = True) -> Deferred:
    """Hold Ctrl-C back inside a ``with`` block of the main thread.

    Parameters
    ----------
    moments : bool
        Whether it may be raised at a `moment` inside; otherwise it is raised at the end.

    Examples
    --------
    >>> with deferred():
    ...     moment()
    """
    return Deferred(moments)


@contextmanager
def done_by(end: float) -> Iterator[None]:
    """End the work inside a ``with`` block at its first moment after a time, given as ``perf_counter`` counts, by a `TimeIsUpError`.

    Examples
    --------
    >>> from contextlib import suppress
    >>> with suppress(TimeIsUpError), done_by(0.0):
    ...     moment()
    ...     print("not done")
    """
    known = _due.get()
    token = _due.set((end if known is None else min(end, known[0]), threading.get_ident()))
    try:
        yield
    finally:
        _due.reset(token)


def time_left() -> float | None:
    """Give the seconds after which a `moment` of this thread would end its work, and None where there is no such time.

    Examples
    --------
    >>> time_left() is None
    True
    """
    due = _due.get()
    if due is None or due[0] == math.inf or _state.closed or threading.get_ident() != due[1]:
        return None
    return max(0.0, due[0] - perf_counter())


def in_time(results: Iterable[Result]) -> list[Result]:
    """Gather results for as long as there is time (`done_by`): those that were there when it was up, in their order.

    Examples
    --------
    >>> def slow():
    ...     yield 1
    ...     moment()
    ...     yield 2
    >>> with done_by(0.0):
    ...     in_time(slow())
    [1]
    """
    found: list[Result] = []
    try:
        for result in results:
            found.append(result)
    except TimeIsUpError:
        pass
    return found


def moment() -> None:
    """Raise what was noted, or end what nobody wants any more: to be called where nothing is half done."""
    due = _due.get()
    if due is not None and not _state.closed and threading.get_ident() == due[1] and perf_counter() > due[0]:
        raise TimeIsUpError
    asked = wanted.get()
    if asked is not None and not asked.still:
        raise Unwanted
    if _state.noted and not _state.closed and threading.get_ident() == _state.main:
        _state.deliver()


class Interruptible(AbstractContextManager[None]):
    """Lets Ctrl-C through inside deferred blocks that allow moments; see `interruptible`."""

    __slots__ = ("_opened",)

    def __enter__(self) -> None:
        moment()
        self._opened = (
            _state.depth > 0
            and not _state.closed
            and _state.handler is not None
            and threading.get_ident() == _state.main
            and _raw.getsignal(SIGINT) == _state.note
        )
        if self._opened and _state.handler is not None:
            _raw.signal(SIGINT, _state.handler)

    def __exit__(self, *error: object) -> None:
        if self._opened:
            _raw.signal(SIGINT, _state.note)


def interruptible() -> Interruptible:
    """Give a long moment: for waiting, where Ctrl-C may be raised at any time."""
    return Interruptible()


def _install() -> None:
    _state.noted = False
    handler = _raw.getsignal(SIGINT)
    # What is no function stands for ignoring the signal, for the system's own way, or for a handler that is not of Python.
    if callable(handler) and handler != _state.note:
        _state.handler = handler
        try:
            _raw.signal(SIGINT, _state.note)
        except ValueError:
            # Only the main thread of the main interpreter may.
            _state.handler = None


def _restore() -> None:
    handler = _state.handler
    if handler is not None and _raw.getsignal(SIGINT) == _state.note:
        _raw.signal(SIGINT, handler)
    if _state.noted:
        _state.deliver()
    _state.handler = None


def _begin_anew() -> None:
    """In a forked child nothing is under way, and the thread that is left is the main one: drop what the parent was doing."""
    _state.noted, _state.main = False, threading.get_ident()
    if _state.depth:
        _state.depth = _state.closed = 0
        _restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
