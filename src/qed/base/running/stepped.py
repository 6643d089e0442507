"""What is found step by step, whatever it is found from: the base of iterative models, of `minimize` and of learning by trial.

It knows nothing of rows. A method says what its problem is, how to go from one step to the next, what to keep of a step, and what can
be proven of it; running, watching, checkpoints, interrupting and going on come from here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from qed.base.attributes import Attributes, integers, of
from qed.base.certificate import Certificate, Claim
from qed.base.running.drive import drive, usual_advice, warn_if_unproven
from qed.base.running.steps import Ending, Keep, Rule, Step, Watcher
from qed.base.threads.interrupts import deferred


class Stepped:
    """What is found step by step. Subclasses have the parameters ``tol`` and ``max_iter``.

    Class attributes
    ----------------
    keeps : {"best", "last"}
        Which step a run keeps: that of the least objective, or the last one, where the objective of a step is an estimate
        from few rows or a reward (stochastic methods).

    Attributes
    ----------
    ending_ : Ending
        How the last run ended.
    n_iter_ : int
        Iterations made.
    certificate_ : Certificate
        What is proven of the result.
    fingerprint_ : object
        What tells the problem from others.
    """

    keeps: ClassVar[Keep] = "best"
    attributes: ClassVar[Attributes] = {
        "ending_": of(Ending),
        "n_iter_": integers(low=1),
        "certificate_": of(Certificate),
    }
    tol: float
    max_iter: int
    ending_: Ending
    n_iter_: int
    certificate_: Certificate
    fingerprint_: Any

    @abstractmethod
    def _begin(self, *data: Any, reset: bool = True, **named: Any) -> Any:
        """Make the problem of what a user gave: anything that has a ``fingerprint`` and a ``source``."""

    @abstractmethod
    def _steps(self, problem: Any, start: Step | None = None) -> Iterator[Step]:
        """Yield step after step, from the beginning or from `start`."""

    @abstractmethod
    def _finish(self, problem: Any, step: Step) -> None:
        """Set the public attributes from a step."""

    @abstractmethod
    def _prove(self, problem: Any) -> list[Claim]:
        """Compute the claims from the public attributes and the problem."""

    @property
    def _title(self) -> str:
        """What traces and progress bars call this."""
        return type(self).__name__

    def _rule(self) -> Rule:
        return Rule(tol=self.tol, max_iter=self.max_iter, keep=self.keeps)

    def _run(self, problem: Any, start: Step | None = None, watchers: Sequence[Watcher] = ()) -> None:
        """Run the steps, from the beginning, from a checkpoint, or from a step of an earlier run of the same problem."""
        with deferred():
            ending = drive(self, partial(self._steps, problem), self._rule(), start, watchers, problem.fingerprint)
            # What was found is kept with its proof, or not at all.
            with deferred(moments=False):
                self._conclude(problem, ending)
                self._warn(ending)

    def _seek(self, problem: Any) -> None:
        """Run the steps and keep what they end with, unproven: for searches, which prove the model that is chosen."""
        self._finish(
            problem, drive(self, partial(self._steps, problem), self._rule(), None, (), problem.fingerprint).step
        )

    def _conclude(self, problem: Any, ending: Ending) -> None:
        """Keep what the run ended with, and prove it."""
        self.fingerprint_ = problem.fingerprint
        self._finish(problem, ending.step)
        self.ending_ = ending
        self.n_iter_ = max(1, ending.n_iter)
        self.certificate_ = Certificate(self._prove(problem), source=problem.source)

    def _warn(self, ending: Ending) -> None:
        advice = usual_advice(
            ending,
            self.max_iter,
            "call resume to go on from here.",
            "Scaling the columns, for example with qed.StandardScaler, often helps.",
        )
        warn_if_unproven(type(self).__name__, self.certificate_, ending, advice)
