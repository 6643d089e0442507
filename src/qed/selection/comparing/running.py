"""A comparison under way: how far it is, what its models warn of, and which of them failed."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from qed.base.errors import QedError
from qed.base.threads.interrupts import TimeIsUpError, done_by
from qed.selection.comparing.budget import Clock
from qed.selection.comparing.contenders import Contender, is_baseline
from qed.selection.comparing.leaderboard import Progress


@dataclass(kw_only=True)
class Running:
    """What all comparisons keep while they run."""

    progress: Progress
    clock: Clock = field(default_factory=lambda: Clock(np.inf))
    notes: dict[str, list[str]] = field(default_factory=dict)  # what was warned of, by the name of the model
    failures: dict[str, str] = field(default_factory=dict)  # why a model can not take part, by its name
    # How many steps are done, of how many.
    done: int = 0
    total: int = 1
    shown: float = 0.0  # the share that was told last

    def notes_on(self, one: Contender) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.notes.get("encoding", ()), *self.notes.get(one.name, ())]))

    def report(self, words: str) -> None:
        # More work may turn up on the way; what is done does not become less by it.
        self.shown = max(self.shown, self.done / self.total)
        self.progress(self.shown, words)
        self.done += 1

    def end_for(self, one: Contender, grace: float = 1.0) -> float:
        """Say when the work of a model has to end; to guess is always allowed. Fits to all rows are granted a little more (`grace`)."""
        return np.inf if is_baseline(type(one.model)) else self.clock.began + grace * self.clock.seconds

    @contextmanager
    def caught(self, name: str, end: float = np.inf) -> Iterator[None]:
        """Keep what a fit warns of for the leaderboard, and what goes wrong in one model from ending the others."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                with done_by(end):
                    yield
            except TimeIsUpError:
                self.failures[name] = f"left out: not done in time, {self.clock.words}"
            except Exception as error:
                # Whatever goes wrong in one model, the others are still to be compared.
                if name == "encoding":
                    raise
                kind = "" if isinstance(error, QedError) else f"{type(error).__name__}: "
                self.failures[name] = kind + " ".join(str(error).split())
        self.notes.setdefault(name, []).extend(str(warning.message) for warning in caught)
