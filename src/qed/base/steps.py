"""Iterative methods as generators of steps, and the one loop that runs them.

A method yields a `Step` per iteration: its objective, how far it is from a proof (`gap`), and all that is needed to go on
from there. It knows nothing of stopping rules, printing or checkpoints. The driver, `run`, applies the stopping rule, tells
the watchers, honours a time budget and Ctrl-C, and says in a sentence why it ended.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Reason(Enum):
    """Why a fit ended. Stopping is not converging: only CERTIFIED comes with a proof."""

    CERTIFIED = "the certificate holds to the tolerance asked for"
    STALLED = "the objective no longer changes, though the tolerance was not reached"
    MAX_ITER = "the allowed number of iterations was used up"
    TIME = "the time budget was used up"
    INTERRUPTED = "the fit was interrupted"
    DIVERGED = "the objective grew without bound"
    DEGENERATE = "the data leave the answer undetermined"

    @property
    def sentence(self) -> str:
        return self.value[0].upper() + self.value[1:] + "."


class Step:
    """One iteration of a method.

    Parameters
    ----------
    objective : float
        The value that the method decreases.
    gap : float, optional
        How far this step is from its certificate, relative; the fit ends when it is at most ``tol``.
    **state
        All that is needed to go on from here, as arrays and numbers; read as attributes.

    Examples
    --------
    >>> step = Step(objective=2.0, gap=0.5, position=[1, 2])
    >>> step.objective, step.position
    (2.0, [1, 2])
    """

    __slots__ = ("gap", "number", "objective", "state")

    def __init__(self, objective: float, gap: float | None = None, number: int = 0, **state: Any) -> None:
        self.objective = float(objective)
        self.gap = None if gap is None else float(gap)
        self.number = number
        self.state = state

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.state:
            raise AttributeError(f"This step holds {sorted(self.state)}, not {name!r}.")
        return self.state[name]

    def __repr__(self) -> str:
        gap = "" if self.gap is None else f", gap={self.gap:.3g}"
        return f"Step(number={self.number}, objective={self.objective:.6g}{gap})"

    def __reduce__(self) -> Any:
        return _make_step, (self.objective, self.gap, self.number, self.state)


def _make_step(objective: float, gap: float | None, number: int, state: dict[str, Any]) -> Step:
    return Step(objective, gap, number, **state)


@dataclass(frozen=True)
class Halt:
    """What a method's generator returns when it knows itself why it can not go on.

    Parameters
    ----------
    reason : Reason
        Why.
    because : str
        The reason in words that name columns or classes.
    advice : str
        What to do about it.
    """

    reason: Reason
    because: str = ""
    advice: str = ""


@dataclass(frozen=True)
class Ending:
    """How a run ended.

    Attributes
    ----------
    step : Step
        The best step, by objective.
    reason : Reason
        Why the run ended.
    n_iter : int
        The number of the last step.
    seconds : float
        How long it took.
    trace : list of dict
        Number, objective, gap and time of every step.
    because, advice : str
        More words, where the method has them.
    """

    step: Step
    reason: Reason
    n_iter: int
    seconds: float
    trace: list[dict[str, Any]] = field(repr=False)
    because: str = ""
    advice: str = ""

    def __str__(self) -> str:
        words = [self.reason.sentence, self.because, self.advice]
        return " ".join(word for word in words if word)


Watcher = Callable[[Step], Any]


@dataclass(frozen=True)
class Rule:
    """When to stop.

    Parameters
    ----------
    tol : float
        CERTIFIED as soon as a step's gap is at most this.
    max_iter : int
        MAX_ITER after so many iterations.
    seconds : float, optional
        TIME after so many seconds.
    patience : int
        STALLED when the objective has not changed, up to rounding (or relative to ``tol`` for methods without a gap), for
        so many steps in a row.
    """

    tol: float = 1e-6
    max_iter: int = 1000
    seconds: float | None = None
    patience: int = 3

    def still(self, before: float, step: Step) -> bool:
        """Say whether `step` changed the objective no more than rounding, or the tolerance, explains."""
        allowed = self.tol if step.gap is None else 4 * 2.0**-52
        return abs(before - step.objective) <= allowed * max(abs(before), abs(step.objective))


def run(steps: Iterator[Step], rule: Rule, watchers: Sequence[Watcher] = (), start: Step | None = None) -> Ending:
    """Run a method until its certificate holds or there is a reason to stop.

    Parameters
    ----------
    steps : iterator of Step
        The method.
    rule : Rule
        When to stop.
    watchers : sequence of callable
        Called with every step; one that returns True stops the run.
    start : Step, optional
        The step from which the method goes on; numbers continue from it.

    Returns
    -------
    Ending
        The best step and why the run ended. Ctrl-C is such an ending; only an interrupt before the first step is raised.

    Examples
    --------
    >>> def halving():
    ...     x = 8.0
    ...     while True:
    ...         yield Step(objective=x, gap=x, x=x)
    ...         x /= 2
    >>> ending = run(halving(), Rule(tol=1e-3))
    >>> ending.reason.name, ending.n_iter
    ('CERTIFIED', 13)
    """
    return _Run(rule, watchers, start).drive(steps)


class _Run:
    """The state of one run: the best step so far, the trace, the clock."""

    def __init__(self, rule: Rule, watchers: Sequence[Watcher], start: Step | None) -> None:
        self.rule, self.watchers = rule, watchers
        self.number = start.number if start is not None else -1
        self.best: Step | None = None
        self.last: Step | None = None
        self.still = 0
        self.grown = 0
        self.trace: list[dict[str, Any]] = []
        self.began = time.perf_counter()

    def drive(self, steps: Iterator[Step]) -> Ending:
        halt: Halt | None = None
        try:
            while halt is None:
                try:
                    step = next(steps)
                except StopIteration as end:
                    halt = end.value if isinstance(end.value, Halt) else Halt(Reason.STALLED)
                    break
                halt = self._see(step)
        except KeyboardInterrupt:
            if self.best is None:
                raise
            halt = Halt(Reason.INTERRUPTED, "The model keeps the best state it had.")
        if self.best is None:
            raise RuntimeError("a method must yield at least one step")
        seconds = time.perf_counter() - self.began
        number = self.number
        return Ending(self.best, halt.reason, number, seconds, self.trace, halt.because, halt.advice)

    def _see(self, step: Step) -> Halt | None:
        self.number += 1
        step.number = self.number
        seconds = time.perf_counter() - self.began
        self.trace.append({"number": step.number, "objective": step.objective, "gap": step.gap, "seconds": seconds})
        if not math.isfinite(step.objective):
            if self.best is None:
                self.best = step
            return Halt(Reason.DIVERGED, f"The objective was {step.objective} at iteration {step.number}.")
        if self.best is None or step.objective <= self.best.objective:
            self.best = step
        asked = [watcher(step) for watcher in self.watchers]
        before, self.last = self.last, step
        if step.gap is not None and step.gap <= self.rule.tol:
            self.best = step
            return Halt(Reason.CERTIFIED)
        if any(answer is True for answer in asked):
            return Halt(Reason.INTERRUPTED, "A watcher asked for it.")
        if self.rule.seconds is not None and seconds >= self.rule.seconds:
            return Halt(Reason.TIME, f"{self.rule.seconds:g} seconds were allowed.")
        if before is not None:
            halt = self._progress(before, step)
            if halt is not None:
                return halt
        if step.number >= self.rule.max_iter:
            return Halt(Reason.MAX_ITER)
        return None

    def _progress(self, before: Step, step: Step) -> Halt | None:
        """Look for a method that stands still, or that runs away."""
        self.still = self.still + 1 if self.rule.still(before.objective, step) else 0
        if self.still >= self.rule.patience:
            return Halt(Reason.STALLED)
        self.grown = self.grown + 1 if step.objective > before.objective else 0
        first = abs(float(self.trace[0]["objective"]))
        if self.grown >= 5 and abs(step.objective) > 1e6 * max(first, 1e-300):
            return Halt(Reason.DIVERGED, f"It rose for {self.grown} iterations in a row.")
        return None
