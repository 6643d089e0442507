"""What linear support vector machines share, whatever they predict: steps of the primal, and a gap from public numbers."""

from __future__ import annotations

import math
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
from qed.base.running.steps import Step
from qed.base.sources.rows import Rows
from qed.optim.svm.dual import relative_gaps
from qed.optim.svm.linear import FIRST, FIRST_DAMPING, Hinge, LinearProblem, Place, descend, judged

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
        return LinearProblem(rows, spread, middle, hinge, float(model.C), factors, outputs, bool(model.fit_intercept))


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
            flat = np.zeros((linear.outputs, problem.rows.n_features + 1))
            place = Place(flat, np.full(linear.outputs, FIRST), np.full(linear.outputs, FIRST_DAMPING))
        else:
            place = Place(*(start.state[name] for name in Place._fields))
        for here, known in islice(descend(linear, place, self.tol), 0 if start is None else 1, None):
            more = {**here._asdict(), "primal": known.primal, "dual": known.dual}
            yield Step(float(known.primal.sum()), float(known.gaps.max()), **more)

    def _kept(self, problem: LinearMachineProblem, step: Step) -> tuple[np.ndarray, np.ndarray]:
        """Set what all of them keep; give coefficients and constants for the rows as they were given."""
        self.smoothing_, self.primal_objective_, self.dual_objective_ = step.corner, step.primal, step.dual
        coef = step.points[:, :-1]
        constant = step.points[:, -1] - coef @ problem.linear.middle
        return coef, constant if self.fit_intercept else np.zeros(len(coef))

    def _planes(self) -> tuple[np.ndarray, np.ndarray]:
        """Give the public coefficients, of shape (k, p), and constants."""
        raise NotImplementedError

    def _prove(self, problem: Any) -> list[Claim]:
        linear = problem.linear
        coef, constant = (np.asarray(part, dtype=np.float64) for part in self._planes())
        inner = coef @ linear.middle
        points = np.column_stack([coef, constant + inner])
        sums = linear.at(points, np.asarray(self.smoothing_, dtype=np.float64))
        known = judged(linear, points, self.smoothing_, sums)
        # Moving the table to its middle and back costs the constant some digits, which every row then lacks.
        lost = 4 * np.finfo(np.float64).eps * (np.abs(coef) @ np.abs(linear.middle) + np.abs(constant))
        rounding = (known.rounding + lost * sums.slope[:, :, -1].sum(axis=1)) / np.maximum(known.primal, 1e-300)
        worst = int(np.argmax(known.gaps - rounding))
        claims = [
            Claim.within(
                "primal less dual objective, relative", float(known.gaps[worst]), self.tol, float(rounding[worst])
            )
        ]
        noted = {"primal_objective_": known.primal, "dual_objective_": known.dual}
        # The dual is as sharp as the corner: rounding in a row's score moves its multiplier by as much as that is sharp.
        for (name, now), allowed in zip(noted.items(), (1e-7, 1e-7 + self.tol)):
            apart = np.abs(np.asarray(getattr(self, name)) - now) / np.maximum(known.primal, 1e-300)
            claims.append(
                Claim.within(
                    f"{name} is that of the data (difference, relative)",
                    float(apart.max()),
                    allowed,
                    float(rounding.max()),
                )
            )
        if linear.hinge.squared:
            off = float(np.abs(np.asarray(self.smoothing_) - FIRST).max(initial=0.0))
            claims.append(Claim("a squared loss has no corner to round (change of smoothing_)", off, 0.0))
        if not self.fit_intercept:
            claims.append(Claim("there is no constant", float(np.abs(constant).max(initial=0.0)), 0.0))
        if not all(math.isfinite(claim.value) for claim in claims):
            claims.append(Claim("objectives are finite", math.inf, 0.0))
        return claims
