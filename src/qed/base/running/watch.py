"""Watching fits: progress bars, traces, time budgets and checkpoints, for any model, also inside a pipeline.

::

    with qed.watch(progress=True, seconds=60, checkpoint="fit.qed") as seen:
        model.fit(X, y)
    seen.trace.plot()

What is being watched is a property of the context, not of the model: models know nothing of it, and a fit that nobody watches pays
nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from qed.base.errors import InputError
from qed.base.models.parameters import check_parameters, choice, number
from qed.base.running.picture import draw_records
from qed.base.running.steps import Rule, Step, Watcher
from qed.base.saving.archive import check_path
from qed.base.saving.checkpoint import Checkpoint
from qed.base.visible import Lines, Shown

_watching: ContextVar[tuple[Watch, ...]] = ContextVar("qed_watching", default=())


@dataclass(repr=False)
class Trace(Shown):
    """What one fit went through.

    Attributes
    ----------
    model : str
        The class of the model.
    records : list of dict
        Number, objective, gap and seconds of every step.
    steps : list of Step
        The steps themselves, when they were asked for.
    """

    model: str
    records: list[dict[str, Any]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def objectives(self) -> list[float]:
        return [record["objective"] for record in self.records]

    def plot(self, ax: Any = None) -> Any:
        """Draw the objective, and the gap where there is one, against the iterations."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
        return draw_records(self.records, ax, self.model)

    def _table(self) -> Lines:
        lines = [
            [
                str(record["number"]),
                f"{record['objective']:.6g}",
                "" if record["gap"] is None else f"{record['gap']:.2g}",
                f"{record['seconds']:.3f}",
            ]
            for record in self.records
        ]
        return ["iteration", "objective", "gap", "seconds"], lines if len(lines) <= 12 else [
            *lines[:6],
            ["..."] * 4,
            *lines[-6:],
        ]

    def _said(self) -> str:
        return f"{self.model}: {len(self.records)} step{'' if len(self.records) == 1 else 's'}"


class Watch:
    """What was seen during a ``with qed.watch(...)`` block.

    Attributes
    ----------
    traces : list of Trace
        One for every iterative fit, in their order.
    """

    def __init__(
        self,
        progress: bool = False,
        states: bool = False,
        seconds: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: float = 10.0,
        call: Callable[[Step], Any] | None = None,
    ) -> None:
        self.progress, self.states, self.seconds, self.every, self.call = progress, states, seconds, every, call
        check_parameters(self, {"seconds": number(0, above=True) | choice(None), "every": number(0)})
        self.checkpoint = None if checkpoint is None else check_path(checkpoint)
        self.traces: list[Trace] = []
        self._numbers = count(1)

    @property
    def trace(self) -> Trace:
        """Give the trace of the last fit."""
        if not self.traces:
            raise InputError("No iterative fit was watched yet: closed-form models have nothing to trace.")
        return self.traces[-1]

    @contextmanager
    def of(self, model: Any, rule: Rule) -> Iterator[list[Watcher]]:
        """Give the watchers for one fit of `model`."""
        trace = Trace(getattr(model, "_title", type(model).__name__))
        self.traces.append(trace)
        began = time.perf_counter()

        def note(step: Step) -> None:
            seconds = time.perf_counter() - began
            trace.records.append(
                {"number": step.number, "objective": step.objective, "gap": step.gap, "seconds": seconds}
            )
            if self.states:
                trace.steps.append(step)

        watchers: list[Watcher] = [note]
        if self.call is not None:
            watchers.append(self.call)
        if not self.progress:
            yield watchers
            return
        with _progress_bar(trace.model, rule) as advance:
            yield [*watchers, advance]

    def checkpoints(self, model: Any, fingerprint: Any) -> list[Checkpoint]:
        """Give the checkpoint for one fit of `model` to data of that fingerprint, when one was asked for."""
        if self.checkpoint is None:
            return []
        number = next(self._numbers)
        path = self.checkpoint if number == 1 else self.checkpoint.with_stem(f"{self.checkpoint.stem}-{number}")
        return [Checkpoint(path, self.every, model, fingerprint)]


@contextmanager
def watch(
    progress: bool = False,
    *,
    states: bool = False,
    seconds: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 10.0,
    call: Callable[[Step], Any] | None = None,
) -> Iterator[Watch]:
    """Watch every iterative fit inside the ``with`` block.

    Parameters
    ----------
    progress : bool
        Show a progress bar.
    states : bool
        Keep every step in the trace, with its arrays.
    seconds : float, optional
        A time budget for each fit; a fit that exceeds it keeps its best state, and its certificate says how good that is.
    checkpoint : path, optional
        Write the state of the fit there every `every` seconds and at its end. When the file exists already and belongs to the same
        model and data, the fit goes on from it. Further iterative fits in the same block write to files of their own: after ``fit.qed``
        come ``fit-2.qed``, ``fit-3.qed`` and so on.
    every : float
        Seconds between two checkpoints.
    call : callable, optional
        Called with every `Step`; return True to stop the fit.

    Yields
    ------
    Watch
        With the traces.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("iris").Xy()
    >>> with qed.watch() as seen:
    ...     model = qed.KMeans(3, random_state=0).fit(X)
    >>> seen.trace.objectives == sorted(seen.trace.objectives, reverse=True)
    True
    """
    seen = Watch(progress, states, seconds, checkpoint, every, call)
    with watched_only_by(*watches(), seen):
        yield seen


@contextmanager
def watched_only_by(*seen: Watch) -> Iterator[None]:
    """Let only these watch inside the ``with`` block: for fits that are part of something larger, which is watched as a whole."""
    token = _watching.set(seen)
    try:
        yield
    finally:
        _watching.reset(token)


def watches() -> tuple[Watch, ...]:
    """Give the watches that are on, outermost first."""
    return _watching.get()


@contextmanager
def _progress_bar(name: str, rule: Rule) -> Iterator[Watcher]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("objective {task.fields[objective]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns) as bar:
        task = bar.add_task(name, total=rule.max_iter, objective="")

        def advance(step: Step) -> None:
            bar.update(task, completed=step.number, objective=f"{step.objective:.6g}")

        yield advance
