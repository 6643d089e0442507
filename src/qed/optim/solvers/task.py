"""A method of the toolbox at work: the task it is given, and the run that watching, checkpoints and resuming know how to handle.

`minimize` and `find_root` differ in what a step is and in what can be proven of it. Everything else is that of any method that goes step
by step (:class:`qed.base.running.stepped.Stepped`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats
from qed.base.certificate import Claim
from qed.base.running.stepped import Stepped
from qed.base.running.steps import Ending, Rule, Step
from qed.base.saving.known import savable


@savable
@dataclass(frozen=True)
class Beginning:
    """What tells one function from another in a checkpoint: its value at the start."""

    attributes: ClassVar = {
        "point": floats("parameters"),
        "value": floats(finite=False),
    }
    point: np.ndarray
    value: float

    def difference(self, other: Beginning) -> str:
        """Say in words how `other` differs, or give an empty string."""
        if self.point.shape != other.point.shape or not (self.point == other.point).all():
            return f"it began at {self.point} and this begins at {other.point}"
        if not np.isclose(self.value, other.value, rtol=1e-9):
            return f"the function was {self.value:g} at the start and is {other.value:g} now"
        return ""


class Task:
    """What a method works on; its steps, and what is proven at one of them."""

    source = "data"

    def __init__(self, fingerprint: Beginning) -> None:
        self.fingerprint = fingerprint

    @abstractmethod
    def steps(self, start: Step | None) -> Iterator[Step]:
        """Yield step after step, from the beginning or from `start`."""

    @abstractmethod
    def prove(self, step: Step, tol: float) -> list[Claim]:
        """Compute the claims at a step, from the function alone."""


@savable
class Minimisation(Stepped):
    """A run of a method."""

    def __init__(self, method: Any, rule: Rule | None = None) -> None:
        self.method, self.rule = method, rule or Rule()

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        """Give what must be the same when the run is taken up again."""
        return {"method": self.method}

    @property
    def _title(self) -> str:
        return type(self.method).__name__

    def _begin(self, *data: Any, reset: bool = True, **named: Any) -> Task:
        (task,) = data
        return task  # type: ignore[no-any-return]

    def _rule(self) -> Rule:
        return self.rule

    def _steps(self, problem: Task, start: Step | None = None) -> Iterator[Step]:
        return problem.steps(start)

    def _finish(self, problem: Task, step: Step) -> None:
        self.step_ = step

    def _prove(self, problem: Task) -> list[Claim]:
        return problem.prove(self.step_, self.rule.tol)

    def _warn(self, ending: Ending) -> None:
        """Leave the words to those who know what was looked for."""

    def to_dict(self) -> dict[str, Any]:
        """Give what a checkpoint keeps."""
        return {"method": self.method}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Minimisation:
        """Make the run again from what `to_dict` gave."""
        return cls(saved["method"])
