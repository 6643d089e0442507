"""What linear support vector machines share, whatever they predict: steps of the primal, and a gap from public numbers."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import Attributes, floats
from qed.base.certificate import Claim
from qed.base.models.checks import overflowed
from qed.base.models.estimator import Iterative
from qed.base.models.parameters import Parameter, boolean, integer, number
from qed.base.models.problem import RowsProblem
from qed.base.models.ways import one_of, way
from qed.base.numbers import EPS, TINY
from qed.base.running.steps import Step
from qed.base.sources.rows import Rows
from qed.optim.svm.dual import relative_gaps
from qed.optim.svm.linear import FIRST, FIRST_DAMPING, Hinge, LinearProblem, Place, descend, judged, level_of

# The fit goes on a little below the tolerance: what moving the rows back does to public numbers is not to spoil the proof.
ENOUGH = 0.9

LINEAR_PARAMETERS: Mapping[str, Parameter] = {
    "C": number(0, above=True),
    "fit_intercept": boolean(),
    "tol": number(0),
    "max_iter": integer(1),
}
LINEAR_WAYS = {
    "dual": one_of("auto", True, False, instead="the primal is solved, and the certificate shows the dual"),
    "intercept_scaling": way(number(0, above=True), 1.0, "the intercept is not penalised"),
}


class LinearMachineProblem(RowsProblem):
    """Rows that were looked at, and the problem that they make for a linear machine."""

    linear: LinearProblem

    def __init__(self, rows: Rows, model: LinearMachine) -> None:
        super().__init__(rows, model)
        if not np.isfinite(self.summary.deviation).all():
            raise overflowed(model)

    def made(self, model: LinearMachine, rows: Rows, hinge: Hinge, factors: np.ndarray, outputs: int) -> LinearProblem:
        """Make the problem of rows with numbers or class numbers as their target."""
        p = rows.n_features
        middle = np.asarray(self.summary.mean) if model.fit_intercept and not rows.is_sparse else np.zeros(p)
        spread = np.asarray(self.summary.variance, dtype=np.float64)
        level = 0.0
        if hinge.two_sided and model.fit_intercept:
            total, weight = rows.fold(level_of)
            level = float(total / weight) if weight > 0 and np.isfinite(total) else 0.0
        given = (spread, middle, hinge, float(model.C), factors, outputs, bool(model.fit_intercept), level)
        return LinearProblem(rows, *given)


class LinearMachine(Iterative):
    """A linear support vector machine."""

    sparse: ClassVar[bool] = True
    no_inference: ClassVar[str] = "the penalty biases its coefficients towards zero"
    attributes: ClassVar[Attributes] = {
        "smoothing_": floats("planes", above=0),
        "primal_objective_": floats("planes"),
        "dual_objective_": floats("planes"),
    }
    C: float
    fit_intercept: bool
    smoothing_: np.ndarray
    primal_objective_: np.ndarray
    dual_objective_: np.ndarray

    @property
    def gap_(self) -> np.ndarray:
        """Primal less dual objective of each output, relative to the primal one."""
        self._check_fitted()
        return relative_gaps(self.dual_objective_, self.primal_objective_)

    def _steps(self, problem: LinearMachineProblem, start: Step | None = None) -> Iterator[Step]:
        linear = problem.linear
        if start is None:
            place = Place(linear.flat(), np.full(linear.outputs, FIRST), np.full(linear.outputs, FIRST_DAMPING))
        else:
            place = Place(*(start.state[name] for name in Place._fields))
        for here, known in islice(descend(linear, place, ENOUGH * self.tol), 0 if start is None else 1, None):
            more = {**here._asdict(), "primal": known.primal, "dual": known.dual}
            yield Step(float(known.primal.sum()), float(known.gaps.max()) / ENOUGH, **more)

    def _kept(self, problem: LinearMachineProblem, step: Step) -> tuple[np.ndarray, np.ndarray]:
        """Set what all of them keep; give coefficients and constants for the rows as they were given."""
        self.smoothing_, self.primal_objective_, self.dual_objective_ = step.corner, step.primal, step.dual
        coef = step.points[:, :-1]
        constant = step.points[:, -1] - coef @ problem.linear.middle + problem.linear.level
        return coef, constant if self.fit_intercept else np.zeros(len(coef))

    @abstractmethod
    def _planes(self) -> tuple[np.ndarray, np.ndarray]:
        """Give the public coefficients, of shape (k, p), and constants."""

    def _prove(self, problem: Any) -> list[Claim]:
        linear = problem.linear
        coef, constant = (np.asarray(part, dtype=np.float64) for part in self._planes())
        inner = coef @ linear.middle
        points = np.column_stack([coef, (constant - linear.level) + inner])
        sums = linear.at(points, np.asarray(self.smoothing_, dtype=np.float64))
        known = judged(linear, points, self.smoothing_, sums)
        # Moving the table to its middle and back costs the constant some digits, which every row then lacks.
        lost = 4 * EPS * (np.abs(coef) @ np.abs(linear.middle) + np.abs(constant))
        rounding = (known.rounding + lost * sums.slope[:, :, -1].sum(axis=1)) / np.maximum(known.primal, TINY)
        worst = int(np.argmax(known.gaps - rounding))
        claims = [
            Claim.within(
                "primal less dual objective, relative", float(known.gaps[worst]), self.tol, float(rounding[worst])
            )
        ]
        # Multipliers are as sharp as the corner and lose digits, but two dual objectives within the tolerance of the primal one
        # can not be further apart than that.
        noted = {"primal_objective_": (known.primal, 0.0), "dual_objective_": (known.dual, self.tol)}
        for name, (now, allowed) in noted.items():
            apart = np.abs(np.asarray(getattr(self, name)) - now) / np.maximum(known.primal, TINY)
            worst = int(np.argmax(apart - rounding))
            says = f"{name} is that of the data (difference, relative)"
            claims.append(Claim.within(says, float(apart[worst]), allowed, float(rounding[worst])))
        if linear.hinge.squared:
            off = float(np.abs(np.asarray(self.smoothing_) - FIRST).max(initial=0.0))
            claims.append(Claim("a squared loss has no corner to round (change of smoothing_)", off, 0.0))
        if not self.fit_intercept:
            claims.append(Claim("there is no constant", float(np.abs(constant).max(initial=0.0)), 0.0))
        if not all(math.isfinite(claim.value) for claim in claims):
            claims.append(Claim("objectives are finite", math.inf, 0.0))
        return claims
