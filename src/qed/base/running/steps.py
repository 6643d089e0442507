"""Iterative methods as generators of steps, and the one loop that runs them.

A method yields a `Step` per iteration: its objective, how far it is from a proof (`gap`), and all that is needed to go on
from there. It knows nothing of stopping rules, printing or checkpoints. The driver, `run`, applies the stopping rule, tells
the watchers, honours a time budget and Ctrl-C, and says in a sentence why it ended.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from time import perf_counter
from typing import Any, ClassVar, Literal

import numpy as np

from qed.base.attributes import each, floats, integers, nothing, of, table, text
from qed.base.numbers import EPS
from qed.base.running.changing import in_parts
from qed.base.saving.known import savable
from qed.base.threads.interrupts import moment
from qed.base.visible import ShownAsText

Keep = Literal["best", "last"]


@savable
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


@savable
@dataclass(frozen=True)
class Past:
    """What the driver remembers at a step, so that a run that goes on from there does what an unbroken one does.

    The best step so far is kept where it is an earlier one.
    """

    attributes: ClassVar = {
        "still": integers(),
        "rises": integers(),
        "scale": floats(low=0),
        "tol": floats(low=0),
    }
    best: Step | None
    still: int  # for how many steps in a row the objective has stood still
    rises: int  # for how many it has risen
    scale: float  # the size of the first objective that was not zero
    tol: float  # the tolerance with which standing still was told


@savable
class Step:
    """One iteration of a method.

    Parameters
    ----------
    objective : float
        The value that the method decreases.
    gap : float, optional
        How far this step is from its certificate, relative; the fit ends when it is at most ``tol``.
    **state
        All that is needed to go on from here, as arrays and numbers; read as attributes. ``prepares=True`` marks a step before the
        first iteration, such as a draw of what to begin with: it has the number -1, and is not counted.

    Examples
    --------
    >>> step = Step(objective=2.0, gap=0.5, position=[1, 2])
    >>> step.objective, step.position
    (2.0, [1, 2])
    """

    attributes: ClassVar = {
        "objective": floats(finite=False),
        "gap": floats(finite=False) | nothing(),
        "number": integers(low=-1),
        "past": of(Past) | nothing(),
        "state": table(),
    }
    __slots__ = ("gap", "number", "objective", "past", "state")

    def __init__(self, objective: float, gap: float | None = None, number: int = 0, **state: Any) -> None:
        self.objective = float(objective)
        self.gap = None if gap is None else float(gap)
        self.number = number
        self.past: Past | None = None
        self.state = state

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.state:
            raise AttributeError(f"This step holds {sorted(self.state)}, not {name!r}.")
        return self.state[name]

    @property
    def prepares(self) -> bool:
        """Whether this step comes before the first iteration."""
        return bool(self.state.get("prepares", False))

    def __repr__(self) -> str:
        gap = "" if self.gap is None else f", gap={self.gap:.3g}"
        return f"Step(number={self.number}, objective={self.objective:.6g}{gap})"

    def to_dict(self) -> dict[str, Any]:
        """Give all that the step holds, for saving."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Step:
        """Make the step again from what `to_dict` gave."""
        step = cls(content["objective"], content["gap"], content["number"], **content["state"])
        step.past = content["past"]
        return step

    def __reduce__(self) -> Any:
        return Step.from_dict, (self.to_dict(),)

    def to_json(self) -> dict[str, Any]:
        """Give number, objective, gap and state as what JSON can hold; arrays as lists, what is not finite and models as text.

        >>> Step(objective=2.0, gap=np.inf, centers=np.zeros((1, 2))).to_json()
        {'number': 0, 'objective': 2.0, 'gap': 'inf', 'state': {'centers': [[0.0, 0.0]]}}
        """
        shown = {"number": self.number, "objective": self.objective, "gap": self.gap, "state": self.state}
        return {name: _plain(value) for name, value in shown.items()}


def _plain(value: Any) -> Any:
    """Turn a value into dicts, lists, text, numbers and None."""
    if isinstance(value, Step):
        return value.to_json()
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple, set)):
        return [_plain(part) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


@dataclass(frozen=True)
class Halt:
    """What a method's generator returns when it knows itself why it can not go on."""

    reason: Reason
    because: str = ""  # the reason in words that name columns or classes
    advice: str = ""  # what to do about it


@savable
@dataclass(frozen=True, repr=False)
class Ending(ShownAsText):
    """How a run ended.

    Attributes
    ----------
    step : Step
        The step that was kept: the best one by objective, or the last one, as the rule says.
    reason : Reason
        Why the run ended.
    n_iter : int
        The number of the last step.
    seconds : float
        How long it took.
    trace : list of dict
        Number, objective, gap and time of every step; after a resume it begins with the step that was gone on from.
    because, advice : str
        More words, where the method has them.
    last : Step or None
        The last step, from which the run can be taken up again.
    """

    attributes: ClassVar = {
        "step": of(Step),
        "reason": of(Reason),
        "n_iter": integers(low=-1),
        "seconds": floats(low=0),
        "trace": each(table(floats(finite=False) | nothing())),
        "because": text(),
        "advice": text(),
        "last": of(Step) | nothing(),
    }
    step: Step
    reason: Reason
    n_iter: int
    seconds: float
    trace: list[dict[str, Any]] = field(repr=False)
    because: str = ""
    advice: str = ""
    last: Step | None = field(default=None, repr=False)

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
        STALLED when for so many steps in a row the objective has not changed, up to rounding (or relative to ``tol`` for
        methods without a gap), and the gap has not fallen either.
    keep : {"best", "last"}
        Which step the run is left with: the one of least objective, or the last one. Stochastic methods keep the last, because
        their objectives are estimates; for them an objective that stands still or rises is no reason to stop either.
    """

    tol: float = 1e-6
    max_iter: int = 1000
    seconds: float | None = None
    patience: int = 3
    keep: Keep = "best"

    def still(self, before: Step, step: Step) -> bool:
        """Say whether `step` changed the objective no more than rounding, or the tolerance, explains, and came no nearer to a proof."""
        allowed = self.tol if step.gap is None else 4 * EPS
        if step.gap is not None and before.gap is not None and step.gap < 0.9 * before.gap:
            return False
        return abs(before.objective - step.objective) <= allowed * max(abs(before.objective), abs(step.objective))


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
        The step of the same problem from which the method goes on: the run does from there what an unbroken run would have done, and
        ends at once if that one ended there. A warm start on another problem gives its step to the method only.

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
    return Run(rule, watchers, start).drive(steps)


def noting(steps: Generator[Step, None, Halt], note: Callable[[Step], object]) -> Generator[Step, None, Halt]:
    """Yield the steps of a method, each after something was noted in it."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            return end.value
        note(step)
        yield step


class Run:
    """The state of one run: the best step so far, how the objective moves, the trace, the clock."""

    def __init__(self, rule: Rule, watchers: Sequence[Watcher] = (), start: Step | None = None) -> None:
        self.rule, self.watchers, self.start = rule, watchers, start
        self.number = -1
        self.best: Step | None = None
        self.last: Step | None = None
        self.still = self.rises = 0
        self.scale = 0.0
        self.trace: list[dict[str, Any]] = []
        self.began = perf_counter()
        if start is not None:
            past = start.past or Past(None, 0, 0, abs(start.objective), rule.tol)
            self.number, self.last, self.best = start.number, start, past.best or start
            self.still = past.still if past.tol == rule.tol else 0
            self.rises, self.scale = past.rises, past.scale
            self._note(start)

    def drive(self, steps: Iterator[Step]) -> Ending:
        try:
            halt = None if self.start is None else self.judged(self.start)
            while halt is None:
                moment()
                try:
                    step = next(steps)
                except StopIteration as end:
                    halt = end.value if isinstance(end.value, Halt) else Halt(Reason.STALLED)
                    break
                halt = self.take(step)
        except KeyboardInterrupt:
            if in_parts.get():
                raise
            if self.best is None:
                raise KeyboardInterrupt("Interrupted before the first step: there is nothing yet to keep.") from None
            halt = Halt(Reason.INTERRUPTED, f"The model keeps the {self.rule.keep} state it had.")
        if self.best is None:
            raise RuntimeError("a method must yield at least one step")
        seconds = perf_counter() - self.began
        return Ending(
            self.best, halt.reason, self.number, seconds, self.trace, halt.because, halt.advice, self.last or self.best
        )

    def take(self, step: Step) -> Halt | None:
        """Take note of the next step, and say whether the run is over with it."""
        if not step.prepares:
            self.number += 1
        step.number = self.number
        seconds = self._note(step)
        if not math.isfinite(step.objective):
            if self.best is None:
                self.best = step
            return Halt(Reason.DIVERGED, f"The objective was {step.objective} at iteration {step.number}.")
        self._remember(step)
        asked = [watcher(step) for watcher in self.watchers]
        halt = self.judged(step)
        if halt is not None:
            return halt
        if asked and any(isinstance(answer, (bool, np.bool_)) and answer for answer in asked):
            return Halt(Reason.INTERRUPTED, "A watcher asked for it.")
        if self.rule.seconds is not None and seconds >= self.rule.seconds:
            return Halt(Reason.TIME, f"{self.rule.seconds:g} seconds were allowed.")
        return None

    def _note(self, step: Step) -> float:
        seconds = perf_counter() - self.began
        self.trace.append({"number": step.number, "objective": step.objective, "gap": step.gap, "seconds": seconds})
        return seconds

    def _remember(self, step: Step) -> None:
        """Keep what later decisions need, and leave a copy of it with the step."""
        best, last, iterates = self.best, self.last, not step.prepares
        # What was prepared is measured by its own objective, so any iteration is taken before it.
        anew = best is None or self.rule.keep == "last" or step.objective <= best.objective
        if anew or self._is_certified(step) or (iterates and best is not None and best.prepares):
            self.best = step
        if last is not None and iterates and not last.prepares:
            self.still = self.still + 1 if self.rule.still(last, step) else 0
            self.rises = self.rises + 1 if step.objective > last.objective else 0
        self.scale = self.scale or abs(step.objective)
        best = None if self.best is step else self.best
        step.past = Past(best, self.still, self.rises, self.scale, self.rule.tol)
        self.last = step

    def _is_certified(self, step: Step) -> bool:
        return step.gap is not None and step.gap <= self.rule.tol

    def judged(self, step: Step) -> Halt | None:
        """Say whether the run is over at `step`: proven, standing still, running away, or long enough."""
        if self._is_certified(step):
            self.best = step
            return Halt(Reason.CERTIFIED)
        noisy = self.rule.keep == "last"
        if self.still >= self.rule.patience and not noisy:
            return Halt(Reason.STALLED)
        if self.rises >= 5 and not noisy and abs(step.objective) > 1e6 * self.scale:
            return Halt(Reason.DIVERGED, f"It rose for {self.rises} iterations in a row.")
        if step.number >= self.rule.max_iter:
            return Halt(Reason.MAX_ITER)
        return None
