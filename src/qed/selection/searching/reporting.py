"""What a search tells those who watch it: ``qed.watch`` and scikit-learn's callbacks.

To a watcher, each score that becomes known is a step of the search. To a callback, the search is a task with the fits of
candidates inside it, and the last fit to all rows is another.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, Self

from qed.base.running.steps import Rule, Step, Watcher
from qed.base.running.watch import watches


class Reporter:
    """Tells watchers and callbacks how far a search has got."""

    def __init__(self, search: Any, total: int) -> None:
        self.search, self.total = search, total
        self.stack = ExitStack()
        self.watchers: list[Watcher] = []
        self.context: Any = None

    def __enter__(self) -> Self:
        rule = Rule(max_iter=self.total)
        self.watchers = [w for watch in watches() for w in self.stack.enter_context(watch.of(self.search, rule))]
        if getattr(self.search, "_skl_callbacks", None):
            root = self.search._callback_fit_ctx
            self.context = root.subcontext(task_name="search", max_subtasks=self.total, sequential_subtasks=False)
            self.context.call_on_fit_task_begin(estimator=self.search, **root.given)
        return self

    def __exit__(self, *error: object) -> None:
        if self.context is not None and error[0] is None:
            self.context.call_on_fit_task_end(estimator=self.search, **self.search._callback_fit_ctx.given)
        self.stack.close()

    def score(self, number: int, score: float) -> None:
        """Tell the watchers how many scores are known, and the newest."""
        for watcher in self.watchers:
            watcher(Step(objective=-score, number=number))

    def fit(self, number: int, model: Any) -> AbstractContextManager[None]:
        """Make the fit of one candidate to one fold a task of the callbacks."""
        if self.context is None:
            return nullcontext()
        return _task(self.context.subcontext(task_name="fit", task_id=number), self.search, model)


def task_inside(search: Any, model: Any, name: str) -> AbstractContextManager[None]:
    """Make a fit inside a search a task of its callbacks."""
    if not getattr(search, "_skl_callbacks", None):
        return nullcontext()
    return _task(search._callback_fit_ctx.subcontext(task_name=name), search, model)


@contextmanager
def _task(context: Any, search: Any, model: Any) -> Iterator[None]:
    with context.propagate_callback_context(model):
        context.call_on_fit_task_begin(estimator=search)
        yield
    context.call_on_fit_task_end(estimator=search)
