"""Threads that wait to be asked for help, and are kept for the next time.

Whoever has work to share (a fold, a team) works itself, and asks for help; if nobody is idle the work still gets done. So there
is no queue to wait in, nothing can deadlock, and however many threads of the user fit models at once, there are only as many
helpers as one of them may use.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue

Inbox = SimpleQueue[Callable[[], None] | None]

_reserves: weakref.WeakSet[Reserve] = weakref.WeakSet()


class Reserve:
    """Helpers of one kind. A helper is known by its inbox, and does the jobs that are put there, one after another."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._closed = False
        self.forget()
        _reserves.add(self)

    def forget(self) -> None:
        """Forget all helpers: in a forked child they do not exist."""
        self._lock = threading.Lock()
        self._idle: list[Inbox] = []
        self._threads: list[threading.Thread] = []

    def take(self, most: int) -> Inbox | None:
        """Take an idle helper, or a new one where there are fewer than `most`; None when nobody is free."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._start(most)

    def give_back(self, inbox: Inbox) -> None:
        """Let others take this helper; what they ask, it will do after what it was asked before."""
        self._idle.append(inbox)

    def _start(self, most: int) -> Inbox | None:
        with self._lock:
            if self._closed or len(self._threads) >= most:
                return None
            inbox: Inbox = SimpleQueue()
            name = f"qed-{self.name}-{len(self._threads) + 1}"
            thread = threading.Thread(target=_help, args=(inbox,), name=name, daemon=True)
            try:
                thread.start()
            except RuntimeError:
                return None
            self._threads.append(thread)
            return inbox

    def dismiss(self) -> None:
        """End the threads that are idle, and start no more."""
        with self._lock:
            self._closed = True
        while self._idle:
            self._idle.pop().put(None)
        for thread in self._threads:
            thread.join(timeout=0.2)


def _help(inbox: Inbox) -> None:
    """Do jobs, which raise nothing, until there is None to do."""
    while (job := inbox.get()) is not None:
        job()
        del job


@atexit.register
def _dismiss_all() -> None:
    for reserve in list(_reserves):
        reserve.dismiss()


def _forget_all() -> None:
    for reserve in list(_reserves):
        reserve.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
