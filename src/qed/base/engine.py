r"""Folding a function over blocks of rows, on threads.

:math:`\mathrm{fold}(f) = f(b_1) + f(b_2) + \dots + f(b_m)`: the one way in which models touch data. Blocks are worked on
in parallel, but their results are always added pairwise, in the order of the blocks,

.. math:: (((f_1 + f_2) + (f_3 + f_4)) + ((f_5 + f_6) + \dots)),

so the sum depends on the block plan alone: bit for bit the same for any number of threads, and with an error
that grows with :math:`\log m` instead of :math:`m`. BLAS is held to one thread while blocks run in parallel. At most a few
blocks are in flight, so folding over a file needs memory for those only. The thread that folds takes part in the work, and is
helped by as many others as there may be: cheap blocks are done before a helper has woken up, and cost a few microseconds each.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import copy_context
from functools import partial
from itertools import chain, islice
from queue import Empty, SimpleQueue
from typing import Any

from qed.base.threads.blas import fitting, one_blas_thread
from qed.base.threads.counting import n_threads, threads, threads_here, working
from qed.base.threads.helpers import Inbox, Reserve
from qed.base.threads.interrupts import Wanted, moment, time_left, wanted

__all__ = ["add_pairwise", "fitting", "n_threads", "one_blas_thread", "threads", "work"]

_helpers = Reserve("fold")


def add_pairwise(results: Iterable[Any]) -> Any:
    """Add up `results` in the order of a balanced tree, keeping only about log2(m) partial sums.

    >>> add_pairwise(["a", "b", "c", "d", "e"])
    'abcde'
    """
    sums: list[tuple[int, Any]] = []
    for result in results:
        height = 0
        while sums and sums[-1][0] == height:
            result = sums.pop()[1] + result
            height += 1
        sums.append((height, result))
    if not sums:
        raise ValueError("nothing to add")
    total = sums.pop()[1]
    while sums:
        total = sums.pop()[1] + total
    return total


def work(tasks: Iterable[Callable[[], Any]]) -> Iterator[Any]:
    """Run `tasks` on the fold's threads and give their results in order, with few of them in flight at a time.

    A task that itself folds (a search that fits many models) does so on its own thread: threads are not nested.
    """
    waiting = iter(tasks)
    first = list(islice(waiting, 2))
    count = threads_here() if len(first) > 1 else 1
    hold = None
    try:
        hold = one_blas_thread.take()
        if count == 1:
            for task in chain(first, waiting):
                moment()
                yield task()
        else:
            yield from _share(chain(first, waiting), count)
    finally:
        if hold is not None:
            one_blas_thread.leave(hold)


def _share(tasks: Iterable[Callable[[], Any]], count: int) -> Iterator[Any]:
    pile = _Pile(count - 1)
    in_order: deque[_Task] = deque()
    try:
        for task in tasks:
            moment()
            in_order.append(pile.add(task))
            if len(in_order) > 2 * count:
                yield pile.result(in_order.popleft())
        while in_order:
            moment()
            yield pile.result(in_order.popleft())
    finally:
        pile.leave()


class _Task:
    """What is to be done, and what came of it."""

    __slots__ = ("done", "error", "function", "value")

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.value: Any = None
        self.error: BaseException | None = None
        self.done = False

    def run(self) -> None:
        try:
            self.value = self.function()
        except Exception as error:
            self.error = error
        self.done = True


class _Pile:
    """Tasks that the thread of the fold and its helpers take from, the oldest first.

    Helpers come when a task is added and leave when none is left. All that is shared is changed by single operations of
    containers that are safe between threads; a task that no helper took is done by the thread that waits for it.
    """

    def __init__(self, helpers: int) -> None:
        self.pending: deque[_Task] = deque()
        self._most = helpers
        self._places: list[None] = [None] * helpers
        self._news: SimpleQueue[None] = SimpleQueue()
        self._context = copy_context()
        self._wanted = Wanted()
        self._context.run(working.set, True)
        self._context.run(wanted.set, self._wanted)

    def leave(self) -> None:
        """Want no more results: nothing more is begun, and what helpers are doing ends at its next moment."""
        self._wanted.still = False
        self.pending.clear()

    def add(self, function: Callable[[], Any]) -> _Task:
        task = _Task(function)
        self.pending.append(task)
        if self._places:
            inbox = _helpers.take(self._most)
            if inbox is not None:
                self._places.pop()
                inbox.put(partial(self._help, inbox))
        return task

    def result(self, task: _Task) -> Any:
        """Give the result of a task, doing whatever is pending while it is not there yet."""
        while not task.done:
            try:
                own = self.pending.popleft()
            except IndexError:
                try:
                    self._news.get(timeout=time_left())
                except Empty:
                    # What a helper has not done in time is not waited for.
                    moment()
            else:
                self._context.run(own.run)
        if task.error is not None:
            raise task.error
        return task.value

    def _help(self, inbox: Inbox) -> None:
        self._context.copy().run(self._take_all)
        self._places.append(None)
        _helpers.give_back(inbox)

    def _take_all(self) -> None:
        while True:
            try:
                task = self.pending.popleft()
            except IndexError:
                break
            try:
                task.run()
            except BaseException as error:
                task.error, task.done = error, True
            self._news.put(None)
