r"""A team of threads for work that is too fine for a fold: steps of SMO, levels of boosting.

A round of a fold costs some 50 microseconds, because threads have to be woken. A team stays awake for a moment after each round,
so the next one costs about five; and inside :meth:`Team.together`, where all members run one compiled loop and only meet in it, a
meeting costs a fraction of one. The work is cut into *parts* by the data, never by the number of threads: part :math:`k` of :math:`m`
writes to its own slots, and what is reduced is reduced in the order of the parts. So the answer is that of a single thread, bit for bit.

Whoever is free takes the next part, and the thread that asked takes parts too: a member that the system has put to sleep delays
nothing but the part it holds. Where there are more members than cores, they do not stay awake at all, and only as many as there are
cores meet in a loop.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextvars import copy_context
from functools import cache, partial
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, Self

import numpy as np

from qed.base.threads.blas import one_blas_thread
from qed.base.threads.counting import n_cores, threads_here, working
from qed.base.threads.gate import BROKEN, GATE_SIZE, LINE, PAUSES, YIELDS, changed, pauses, reached, report
from qed.base.threads.helpers import Inbox, Reserve

ROUND, FINISHED = 0, LINE
# A call of a kernel needs the interpreter for about two microseconds; members take turns at it instead of queueing for it.
MICROSECONDS_PER_CALL = 2.0

_helpers = Reserve("team")
_open_teams: weakref.WeakSet[Team] = weakref.WeakSet()


class Team:
    """Threads that work on parts of one thing together.

    There are at most `most` members, the thread that asked included; :func:`qed.threads` sets the same limit. Inside a
    worker of a fold or of another team there is one only.

    >>> def total(part, parts, values):
    ...     size = -(-len(values) // parts)
    ...     return values[part * size : (part + 1) * size].sum()
    >>> with team() as crew:
    ...     crew.run(total, 4, np.arange(8.0))
    [np.float64(1.0), np.float64(5.0), np.float64(9.0), np.float64(13.0)]
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self.members = 1
        self._signals = np.zeros(2 * LINE, dtype=np.int64)
        self._gate = np.zeros(GATE_SIZE, dtype=np.int64)
        self._job: _Parts | _Together | None = None
        self._asleep: dict[int, SimpleQueue[None]] = {}
        self._inboxes: list[Inbox] = []
        self._handed = 0
        self._busy = threading.Lock()

    def __enter__(self) -> Self:
        wanted = threads_here() if self._most is None else min(self._most, threads_here())
        self._awake, self._per_call = (0, 0) if wanted == 1 else _patience(wanted)
        self._context = copy_context()
        self._context.run(working.set, True)
        self._job = _Parts(_nothing, 0, ())
        self._hold = one_blas_thread.take()
        _open_teams.add(self)
        try:
            while self.members < wanted and (inbox := _helpers.take(wanted - 1)) is not None:
                inbox.put(partial(self._context.copy().run, self._help, self.members))
                self._inboxes.append(inbox)
                self.members += 1
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._announce(None)
        self.members = 1
        while self._inboxes:
            _helpers.give_back(self._inboxes.pop())
        _open_teams.discard(self)
        one_blas_thread.leave(self._hold)

    def run(self, function: Callable[..., Any], parts: int, *args: Any) -> list[Any]:
        """Give ``function(part, parts, *args)`` of every part, in their order.

        Parts run at the same time and must not write to the same place. Let their number follow from the data alone, so
        that results do not depend on the number of threads.
        """
        if self.members == 1 or parts < 2 or not self._busy.acquire(blocking=False):
            return [function(part, parts, *args) for part in range(parts)]
        try:
            job = _Parts(function, parts, args)
            self._work(job, parts)
            return job.results
        finally:
            self._busy.release()

    def together(self, function: Callable[..., Any], *args: Any) -> None:
        """Have members, as many as there are cores for, call ``function(member, members, gate, *args)`` at the same time.

        In the kernel members :func:`~qed.base.threads.gate.meet` at the `gate`, as often as they like and all equally
        often. It gives each member the parts ``range(member, parts, members)`` of its work; where `meet` says False it
        returns.
        """
        self._gate[:] = 0
        # Who has no core of its own makes all others wait at every meeting, for as long as the system lets somebody else run.
        active = min(self.members, n_cores())
        if active == 1 or not self._busy.acquire(blocking=False):
            function(0, 1, np.zeros(GATE_SIZE, dtype=np.int64), *args)
            return
        try:
            self._work(_Together(function, active, self._gate, args), self.members)
        finally:
            self._busy.release()

    def _work(self, job: _Parts | _Together, pieces: int) -> None:
        """Do a job of so many pieces with all members; come back when no member is at it any more."""
        try:
            self._announce(job)
            self._context.run(job.serve, 0)
        except BaseException:
            job.stop()
            raise
        finally:
            self._handed += pieces - job.own
            while self.members > 1 and not reached(self._signals, FINISHED, self._handed, PAUSES + YIELDS + 100):
                continue
        job.raise_error()

    def _announce(self, job: _Parts | _Together | None) -> None:
        """Tell all members of a job, or with None that there will be no more."""
        self._job = job
        self._signals[ROUND] += 1
        while self._asleep:
            try:
                self._asleep.popitem()[1].put(None)
            except KeyError:
                break

    def _help(self, member: int) -> None:
        """Take part in one job after another: the life of a member."""
        known = took = 0
        last: _Parts | _Together | None = None
        bell: SimpleQueue[None] = SimpleQueue()
        linger = int((member + 0.5) * self._per_call)
        while True:
            now = report(self._signals, FINISHED, took, ROUND, known, self._awake, linger)
            took = 0
            if now == known:
                self._sleep(member, known, bell)
                continue
            known, job = now, self._job
            if job is None:
                return
            if job is not last:
                took, last = job.serve(member), job

    def _sleep(self, member: int, known: int, bell: SimpleQueue[None]) -> None:
        """Sleep until the next round; now and then look whether it came without a sound."""
        self._asleep[member] = bell
        if self._signals[ROUND] != known and self._asleep.pop(member, None) is not None:
            return
        try:
            bell.get(timeout=1.0)
        except Empty:
            self._asleep.pop(member, None)

    def _lose_helpers(self) -> None:
        """Go on alone: after a fork the other members are in the parent."""
        self.members = 1
        self._inboxes, self._asleep = [], {}


def team(most: int | None = None) -> Team:
    """Make a team of at most `most` threads, to be used in a ``with`` block; see :class:`Team`."""
    return Team(most)


class _Parts:
    """A function to be called for every part, each by whoever is free."""

    def __init__(self, function: Callable[..., Any], parts: int, args: tuple[Any, ...]) -> None:
        self.function, self.parts, self.args = function, parts, args
        self.results: list[Any] = [None] * parts
        self.own = 0
        self._next: Iterator[int] = count()
        self._errors: list[tuple[int, BaseException]] = []
        self._stopped = False

    def serve(self, member: int) -> int:
        """Take parts until none are left; give how many were taken, done or not."""
        took, function, parts, args, results = 0, self.function, self.parts, self.args, self.results
        for part in self._next:
            if part >= parts:
                break
            took += 1
            if member == 0:
                self.own += 1
            if self._stopped:
                continue
            try:
                results[part] = function(part, parts, *args)
            except BaseException as error:
                self._stopped = True
                if member == 0 and not isinstance(error, Exception):
                    raise
                self._errors.append((part, error))
        return took

    def stop(self) -> None:
        """Leave the parts that nobody has begun."""
        self._stopped = True
        self.serve(0)

    def raise_error(self) -> None:
        if self._errors:
            raise min(self._errors, key=lambda found: found[0])[1]


class _Together:
    """A function to be called once by each of so many members; there may be more, who do nothing."""

    own = 1

    def __init__(self, function: Callable[..., Any], members: int, gate: np.ndarray, args: tuple[Any, ...]) -> None:
        self._function, self._members, self._gate, self._args = function, members, gate, args
        self._errors: list[BaseException] = []

    def serve(self, member: int) -> int:
        if member >= self._members:
            return 1
        try:
            self._function(member, self._members, self._gate, *self._args)
        except BaseException as error:
            self.stop()
            if member == 0 and not isinstance(error, Exception):
                raise
            self._errors.append(error)
        return 1

    def stop(self) -> None:
        """Open the gate for those who wait at it."""
        self._gate[BROKEN] = 1

    def raise_error(self) -> None:
        if self._errors:
            raise self._errors[0]


def _nothing(part: int, parts: int) -> None:
    """Do nothing."""


def _patience(members: int) -> tuple[int, int]:
    """Say for how many turns members stay awake after a round, and how many pauses a call takes."""
    awake = PAUSES + YIELDS if members <= n_cores() else 0
    return awake, int(MICROSECONDS_PER_CALL * _pauses_per_microsecond()) if awake else 0


@cache
def _pauses_per_microsecond() -> float:
    pauses(1)
    changed(np.zeros(1, dtype=np.int64), 0, 1, 1, 0)
    fastest = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        pauses(500)
        fastest = min(fastest, time.perf_counter() - start)
    return 500 / (1e6 * fastest)


def _lose_all_helpers() -> None:
    for crew in list(_open_teams):
        crew._lose_helpers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_lose_all_helpers)
