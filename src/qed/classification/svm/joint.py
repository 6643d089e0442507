"""What a machine of all classes does in the place of one for each: its problem, its steps and its proof."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from qed.base.certificate import Claim
from qed.base.models.labels import class_factors, coded, learn_classes
from qed.base.models.problem import RowsProblem, emptied
from qed.base.numbers import EPS, TINY
from qed.base.running.steps import Step
from qed.base.sources.rows import Rows
from qed.optim.svm.joint import JointProblem
from qed.optim.svm.joint_rows import JointTable, Proven
from qed.optim.svm.linear import FIRST, FIRST_DAMPING, Hinge, Point, descend
from qed.optim.svm.linear_model import ENOUGH

# Where steps over rows, as fast as the last few were, would need so many more, Newton's method goes on.
FEW, MANY = 8, 40


class JointMachineProblem(RowsProblem):
    """Rows for one machine of all classes."""

    def __init__(self, rows: Rows, model: Any, classes: np.ndarray | None = None) -> None:
        super().__init__(rows, model)
        found, totals = learn_classes(rows, type(model).__name__)
        self.classes, self.others = found, 0 if classes is None else int(not np.array_equal(found, classes))
        k, spread = len(found), np.append(np.asarray(self.summary.variance, dtype=np.float64), 0.0)
        factors = class_factors(model.class_weight, found, totals)
        facts = np.tile(spread, k), np.zeros(k * len(spread)), Hinge(False, False, 0.0), float(model.C), factors
        one = float(bool(model.fit_intercept))
        self.linear = JointProblem(emptied(coded(rows, found)), *facts, 1, False, classes=k, one=one)

    @cached_property
    def table(self) -> JointTable:
        return JointTable(self.linear)


def joint_steps(problem: JointMachineProblem, start: Step | None, tol: float) -> Iterator[Step]:
    """Take the rows in turn, and where that crawls go on with Newton's method."""
    table, aim = problem.table, ENOUGH * tol
    if start is None:
        multipliers, gaps, number, point = table.beginning(), np.full(FEW, np.inf), 0, None
    else:
        multipliers, gaps, number = start.multipliers, start.gaps, start.number + 1
        point = Point(start.points, start.corner, start.damping) if start.points.size else None
    nowhere = {"points": np.zeros((0, 0)), "corner": np.zeros(0), "damping": np.zeros(0)}
    while point is None:
        multipliers, number = table.passed(multipliers, number), number + 1
        proven = table.judged(multipliers)
        gaps = np.append(gaps[1:], min(proven.gap, gaps[-1]))
        yield _step(proven, multipliers, gaps, nowhere)
        if _crawls(gaps, aim):
            linear = problem.linear
            point, start = Point(linear.flat(), np.array([FIRST]), np.array([FIRST_DAMPING])), None
    for here, _ in islice(descend(problem.linear, point, 0.0), int(start is not None), None):
        multipliers = table.inside(problem.linear.multipliers(here.points, here.corner))
        proven = table.judged(multipliers, problem.linear.planes(here.points))
        yield _step(proven, multipliers, gaps, here._asdict())


def _crawls(gaps: np.ndarray, aim: float) -> bool:
    """Say whether a gap that goes on falling as it does would take too long to get there."""
    if not np.isfinite(gaps[0]) or gaps[-1] <= aim:
        return False
    return bool(FEW * np.log(gaps[-1] / max(aim, EPS)) > MANY * np.log(gaps[0] / gaps[-1]))


def _step(proven: Proven, multipliers: np.ndarray, gaps: np.ndarray, place: dict[str, np.ndarray]) -> Step:
    state: dict[str, Any] = {
        "multipliers": multipliers,
        "gaps": gaps,
        "primal": proven.primal,
        "dual": proven.dual,
        **place,
    }
    return Step(proven.primal, proven.gap / ENOUGH, planes=proven.planes, **state)


def joint_claims(model: Any, problem: JointMachineProblem) -> list[Claim]:
    """Claim that public planes are no further from the best than the tolerance, as public multipliers prove."""
    table = problem.table
    multipliers = np.zeros((len(table.codes), table.classes))
    multipliers[model.support_] = model.dual_coef_
    planes = np.column_stack([np.asarray(model.coef_, dtype=np.float64), model.intercept_])
    planes = np.vstack([-planes, planes]) / 2 if len(planes) == 1 else planes
    proven = table.judged(table.inside(multipliers), planes)
    primal = max(proven.primal, TINY)
    rounding = proven.rounding / primal
    bare = float((~np.asarray(model.dual_coef_).any(axis=1)).sum())
    claims = [
        Claim.within("primal less dual objective, relative", proven.gap, model.tol, rounding),
        Claim("multipliers are inside their limits and sum to zero (relative)", table.outside(multipliers), 1e-12),
        Claim("every row of support_ has a multiplier (rows without)", bare, 0.0),
    ]
    for name, now in (("primal_objective_", proven.primal), ("dual_objective_", proven.dual)):
        apart = float(np.abs(getattr(model, name) - now).max()) / primal
        claims.append(Claim.within(f"{name} is that of the data (difference, relative)", apart, 0.0, rounding))
    if not model.fit_intercept:
        claims.append(Claim("there is no constant", float(np.abs(model.intercept_).max(initial=0.0)), 0.0))
    if not all(math.isfinite(claim.value) for claim in claims):
        claims.append(Claim("objectives are finite", math.inf, 0.0))
    return claims
