"""Several ways down at once: a nonlinear fit from one start or many, as one sequence of steps."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.base.running.steps import Halt, Reason, Step
from qed.optim.functions.residuals import SumOfSquares

WANTED = (
    "NonlinearLeastSquares: start must be a number for each parameter, a dict of them by name, or several of either"
)


def read_starts(start: Any) -> tuple[tuple[str, ...], np.ndarray]:
    """Give the names of the parameters, and the starts as an array with a row each.

    Without names the parameters are called ``w0``, ``w1`` ...

    >>> read_starts({"height": 2.0, "rate": 0.1})
    (('height', 'rate'), array([[2. , 0.1]]))
    >>> read_starts([[1.0, 2.0], [3.0, 4.0]])[1].shape
    (2, 2)
    """
    several = [start] if isinstance(start, Mapping) else start
    names: tuple[str, ...] | None = None
    if isinstance(several, (list, tuple)) and several and all(isinstance(one, Mapping) for one in several):
        names = tuple(str(name) for name in several[0])
        if any(set(map(str, one)) != set(names) for one in several):
            raise ParameterError(f"{WANTED}: all of them must have the parameters {', '.join(names)}.")
        several = [[dict(zip(map(str, one), one.values()))[name] for name in names] for one in several]
    try:
        found = np.atleast_2d(np.array(several, dtype=np.float64))
    except (TypeError, ValueError):
        raise ParameterError(f"{WANTED}, not {start!r:.100}.") from None
    if found.ndim != 2 or found.size == 0 or not np.isfinite(found).all():
        raise ParameterError(f"{WANTED}, all finite, not {start!r:.100}.")
    return names or tuple(f"w{j}" for j in range(found.shape[1])), found


class Run:
    """The way from one start.

    Without a `step` to go on from, the first one is made at once.
    """

    def __init__(self, objective: SumOfSquares, method: Any, point: np.ndarray, step: Step | None) -> None:
        self.objective = objective
        self.halt: Halt | None = None
        self._steps = method.steps(objective, point, step)
        self.step: Step = next(self._steps) if step is None else step
        if not self.is_finite:
            self.halt = Halt(Reason.DIVERGED, "The sum of squares is not finite at the start.")

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.step.objective))

    @property
    def gap(self) -> float:
        return np.inf if self.step.gap is None else self.step.gap

    def advance(self) -> bool:
        """Make a step, and say whether there was one to a finite place."""
        try:
            step = next(self._steps)
        except StopIteration as end:
            self.halt = end.value or Halt(Reason.STALLED)
            return False
        if not np.isfinite(step.objective):
            self.halt = Halt(Reason.DIVERGED, f"The sum of squares was {step.objective} after {step.number} steps.")
            return False
        self.step = step
        return True

    def is_moving(self, tol: float) -> bool:
        return self.halt is None and self.gap > tol

    def undetermined(self) -> np.ndarray:
        """Say which parameters the data do not determine where the run is."""
        plane = self.objective.tangent(self.step.point)
        return plane.undetermined(self.step.point, self.objective.scale)


def lowest(runs: list[Run]) -> Run:
    """Give the run with the lowest sum of squares."""
    return min(runs, key=lambda run: run.step.objective)


def together(runs: list[Run], tol: float) -> Step:
    """Give the step of the lowest run, with the gap of the one that is farthest from its end.

    Where the data do not determine the parameters there is nothing to prove, so such a step has no gap.
    """
    best = lowest(runs)
    moving = [run.gap for run in runs if run.is_moving(tol)]
    gap = max(moving) if moving else None if best.undetermined().any() else best.step.gap
    steps = tuple(run.step for run in runs)
    return Step(best.step.objective, gap, point=best.step.point, run=runs.index(best), runs=steps)
