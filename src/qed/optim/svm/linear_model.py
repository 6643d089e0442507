"""What linear support vector machines share, whatever they predict: steps of the primal, and a gap from public numbers."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar, Self, cast

import numpy as np

from qed.base.attributes import Attributes, floats
from qed.base.certificate import Claim
from qed.base.models.checks import overflowed
from qed.base.models.estimator import Iterative
from qed.base.models.no_effect import no_effect, one_of
from qed.base.models.parameters import Parameter, boolean, integer, number
from qed.base.models.problem import RowsProblem, emptied
from qed.base.models.searching import Answer, Question
from qed.base.numbers import EPS, TINY
from qed.base.running.steps import Rule, Step
from qed.base.sources.rows import Rows
from qed.optim.svm.dual import relative_gaps
from qed.optim.svm.interior import Solved
from qed.optim.svm.linear import (
    FIRST,
    FIRST_DAMPING,
    Hinge,
    HingeSums,
    Judged,
    LinearProblem,
    Point,
    descend,
    distance_of,
    judged,
    level_of,
    pulled,
)
from qed.optim.svm.search import path_search

# The fit goes on a little below the tolerance: what moving the rows back does to public numbers is not to spoil the proof.
ENOUGH = 0.9
# Where so many steps have not made the gap this much smaller, the table is so badly scaled that rounding corners leads nowhere.
IDLE, LESS = 8, 0.5
# On tables of more numbers than this, working on all rows at once costs so much more than a step that patience pays.
LARGE, LONGER = 50_000, 5
# How much rounder than it ended the corner is at the beginning of the next machine of a path.
ROUNDER = 64.0
# Scores that lose less than this share of the corner leave multipliers as they are.
FINE = 1e-10
# What rounding does to a sum, relative to the sizes of its terms.
SUMMED = 16 * EPS

LINEAR_PARAMETERS: Mapping[str, Parameter] = {
    "C": number(0, above=True),
    "fit_intercept": boolean(),
    "tol": number(0),
    "max_iter": integer(1),
}
LINEAR_NO_EFFECT = {
    "dual": one_of("auto", True, False, instead="the primal is solved, and the certificate shows the dual"),
    "intercept_scaling": no_effect(number(0, above=True), 1.0, "the intercept is not penalised"),
}


class LinearMachineProblem(RowsProblem):
    """Rows that were looked at, and the problem that they make for a linear machine."""

    linear: LinearProblem

    def __init__(self, rows: Rows, model: LinearMachine) -> None:
        super().__init__(emptied(rows), model)
        if not np.isfinite(self.summary.deviation).all():
            raise overflowed(model)
        self._bounds: dict[int, Solved | None] = {}

    def made(self, model: LinearMachine, rows: Rows, hinge: Hinge, factors: np.ndarray, outputs: int) -> LinearProblem:
        """Make the problem of rows, emptied where they have no weight, with numbers or class numbers as their target."""
        p = rows.n_features
        middle = np.asarray(self.summary.mean) if model.fit_intercept and not rows.is_sparse else np.zeros(p)
        spread = np.asarray(self.summary.variance, dtype=np.float64)
        level, unit = 0.0, 1.0
        if hinge.two_sided:
            total, weight = rows.fold(level_of)
            if model.fit_intercept:
                level = float(total / weight) if weight > 0 and np.isfinite(total) else 0.0
            away = 0.0 if hinge.squared or not weight > 0 else float(rows.fold(distance_of, level) / weight)
            unit = away if 0 < away < math.inf else 1.0
        given = (spread, middle, hinge, float(model.C), factors, outputs, bool(model.fit_intercept), level, unit)
        return LinearProblem(rows, *given)

    def costing(self, C: float) -> Self:
        """Give the same problem with another C."""
        other = copy(self)
        other.linear, other._bounds = replace(self.linear, C=float(C)), {}
        return other

    def bound(self, output: int, tol: float) -> Solved | None:
        """Give what solving on all rows at once has found for an output; None where they are too many."""
        if output not in self._bounds:
            self._bounds[output] = self.linear.exactly(output, tol)
        return self._bounds[output]


class LinearMachine(Iterative):
    """A linear support vector machine."""

    sparse: ClassVar[bool] = True
    no_inference: ClassVar[str] = "the penalty biases its coefficients towards zero"
    attributes: ClassVar[Attributes] = {
        "smoothing_": floats("machines", low=0),
        "primal_objective_": floats("machines"),
        "dual_objective_": floats("machines"),
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

    def _rule(self) -> Rule:
        return replace(super()._rule(), patience=LONGER * IDLE + 1)

    def _steps(self, problem: LinearMachineProblem, start: Step | None = None) -> Iterator[Step]:
        linear, aim = problem.linear, ENOUGH * self.tol
        if start is None:
            point = self._beginning(linear)
        else:
            point = Point(*(start.state[name] for name in Point._fields))
        known, idle = None, IDLE * (1 if linear.held <= LARGE else LONGER)
        gaps = deque([math.inf], maxlen=idle)
        # An earlier run may have ended with a corner that is not rounded at all.
        steps = descend(linear, point, aim) if (point.corner > 0).all() else iter(())
        # A step of this very problem was seen before; one from another is only where to begin.
        for here, known in islice(steps, int(start is not None and "fresh" not in start.state), None):
            if known.gaps.max() <= aim and linear.held:
                known = self._as_given(linear, here, known)
            yield step_at(here, known)
            gaps.append(min(float(known.gaps.max()), gaps[-1]))
            if len(gaps) == idle and gaps[-1] > LESS * gaps[0] and linear.held:
                break
        if known is not None and known.gaps.max() > aim and linear.held:
            yield self._sharp(problem, here, known)

    def _as_given(self, linear: LinearProblem, point: Point, known: Judged) -> Judged:
        """Judge a point as those will who have its numbers for the rows as they were given, where that costs digits of multipliers."""
        coef, constant = _moved_back(linear, point.points)
        if not linear.intercept or (_lost(linear, coef, constant) <= FINE * point.corner).all():
            return known
        points = np.column_stack([coef, (constant - linear.level) + coef @ linear.middle])
        return judged(linear, points, point.corner, linear.at(points, point.corner))

    def _sharp(self, problem: LinearMachineProblem, point: Point, known: Judged) -> Step:
        """Give the step to what solving on all rows at once finds for outputs that are not within the tolerance."""
        points, corner = point.points.copy(), point.corner.copy()
        primal, dual = known.primal.copy(), known.dual.copy()
        for k in np.flatnonzero(known.gaps > ENOUGH * self.tol):
            found = problem.bound(int(k), self.tol)
            if found is not None:
                points[k], corner[k], primal[k], dual[k] = np.append(found.w, found.b), 0.0, found.primal, found.dual
        return step_at(point._replace(points=points, corner=corner), known._replace(primal=primal, dual=dual))

    def _kept(self, problem: LinearMachineProblem, step: Step) -> tuple[np.ndarray, np.ndarray]:
        """Set what all of them keep; give coefficients and constants for the rows as they were given."""
        self.smoothing_, self.primal_objective_, self.dual_objective_ = step.corner, step.primal, step.dual
        coef, constant = _moved_back(problem.linear, step.points)
        return coef, constant if self.fit_intercept else np.zeros(len(coef))

    def _search(self, question: Question[Self]) -> Answer | None:
        return path_search(self, question)

    @abstractmethod
    def _answers(self, rows: Rows) -> dict[str, np.ndarray]:
        """Give what the methods of the model answer for some rows, and what of its attributes scorers ask for."""

    def _along(self, rows: Rows, models: Sequence[Self]) -> Iterator[Self]:
        """Give models that differ in C alone, fitted, from the smallest C on."""
        problem: Any = self._problem(rows)
        step: Step | None = None
        for model in models:
            problem = problem.costing(model.C)
            first = self._beginning(problem.linear)._asdict()
            if step is not None:
                rounder = np.minimum(ROUNDER * step.corner, first["corner"])
                first |= {"points": step.points, "corner": np.where(step.corner > 0, rounder, first["corner"])}
            for step in islice(model._steps(problem, Step(math.inf, math.inf, fresh=True, **first)), model.max_iter):
                if step.gap is not None and step.gap <= model.tol:
                    break
            fitted = copy(model)
            fitted._finish(problem, cast(Step, step))
            yield fitted

    def _beginning(self, linear: LinearProblem) -> Point:
        corner = np.full(linear.outputs, FIRST * linear.unit)
        return Point(linear.flat(), corner, np.full(linear.outputs, FIRST_DAMPING))

    @abstractmethod
    def _planes(self) -> tuple[np.ndarray, np.ndarray]:
        """Give the public coefficients, of shape (k, p), and constants."""

    def _measured(
        self, problem: LinearMachineProblem, coef: np.ndarray, constant: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Give primal and dual objectives of planes, and what rounding can do to each, relative to the first."""
        linear = problem.linear
        inner = coef @ linear.middle
        points = np.column_stack([coef, (constant - linear.level) + inner])
        corner = np.asarray(self.smoothing_, dtype=np.float64)
        sums = linear.at(points, np.where(corner > 0, corner, 1.0))
        known = judged(linear, points, corner, sums)
        for k in np.flatnonzero(corner == 0):
            found = problem.bound(int(k), self.tol)
            known.dual[k] = -math.inf if found is None else found.dual
            known.rounding[k] = 64 * EPS * sums.reach[k] + (0.0 if found is None else found.rounding)
        rounding = (known.rounding + _lost(linear, coef, constant) * sums.steep) / np.maximum(known.primal, TINY)
        hidden = np.where(corner > 0, self._hidden(problem, points, corner, sums, known), 0.0)
        hidden = rounding + hidden / np.maximum(known.primal, TINY)
        # Where nothing is lost at all there is nothing below it, and nothing that rounding could be a part of.
        return known.primal, known.dual, *(np.where(known.primal > 0, one, 0.0) for one in (rounding, hidden))

    def _hidden(
        self, problem: LinearMachineProblem, points: np.ndarray, corner: np.ndarray, sums: HingeSums, known: Judged
    ) -> np.ndarray:
        """Bound what rounding hides of dual objectives because slopes are sums of far larger numbers, as beside a row far away."""
        linear, seen = problem.linear, problem.summary
        far = np.maximum(seen.high - linear.middle, linear.middle - seen.low)
        away = np.linalg.norm(known.gradient[:, :-1], axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            size = np.linalg.norm(far) * sums.slope[:, :, -1].sum(axis=1)
            if not (SUMMED * size * (away + SUMMED * size) <= FINE * known.primal).all():
                size = np.linalg.norm(
                    linear.rows.fold(pulled, linear, points, np.where(corner > 0, corner, 1.0)), axis=1
                )
            return np.asarray(SUMMED * size * (away + 0.5 * SUMMED * size))

    def _prove(self, problem: Any) -> list[Claim]:
        linear = problem.linear
        coef, constant = (np.asarray(part, dtype=np.float64) for part in self._planes())
        primal, dual, slip, rounding = self._measured(problem, coef, constant)
        gaps = np.maximum(primal - dual, 0.0) / np.maximum(primal, TINY)
        worst = int(np.argmax(gaps - rounding))
        claims = [
            Claim.within("primal less dual objective, relative", float(gaps[worst]), self.tol, float(rounding[worst]))
        ]
        # Multipliers are as sharp as the corner and lose digits, but two dual objectives within the tolerance of the primal one
        # can not be further apart than that.
        noted = {"primal_objective_": (primal, 0.0, slip), "dual_objective_": (dual, self.tol, rounding)}
        for name, (now, allowed, rounding) in noted.items():
            apart = np.abs(np.asarray(getattr(self, name)) - now) / np.maximum(primal, TINY)
            worst = int(np.argmax(apart - rounding))
            says = f"{name} is that of the data (difference, relative)"
            claims.append(Claim.within(says, float(apart[worst]), allowed, float(rounding[worst])))
        if linear.hinge.squared:
            corner = np.asarray(self.smoothing_, dtype=np.float64)
            off = float(np.minimum(np.abs(corner - FIRST), corner).max(initial=0.0))
            claims.append(Claim("a squared loss has no corner to round (change of smoothing_)", off, 0.0))
        if not self.fit_intercept:
            claims.append(Claim("there is no constant", float(np.abs(constant).max(initial=0.0)), 0.0))
        if not all(math.isfinite(claim.value) for claim in claims):
            claims.append(Claim("objectives are finite", math.inf, 0.0))
        return claims


def _moved_back(linear: LinearProblem, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give coefficients and constants for the rows as they were given."""
    coef = points[:, :-1]
    return coef, points[:, -1] - coef @ linear.middle + linear.level


def _lost(linear: LinearProblem, coef: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Say what moving the table to its middle and back costs the constants, and with them every score."""
    return np.asarray(4 * EPS * (np.abs(coef) @ np.abs(linear.middle) + np.abs(constant)))


def step_at(point: Point, known: Judged) -> Step:
    """Give the step that a machine is at."""
    more = {**point._asdict(), "primal": known.primal, "dual": known.dual}
    return Step(float(known.primal.sum()), float(known.gaps.max()) / ENOUGH, **more)
