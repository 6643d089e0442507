"""What can be checked of intervals and sets: the models inside, the scores of rows that they have not seen, and the ranks among these."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from qed.base.certificate import Claim
from qed.base.errors import DegenerateWarning, level_of_user
from qed.base.models.proof import FOLLOWING, SAME_DATA, examine, restated
from qed.base.numbers import EPS
from qed.selection.guarantees.calibration import CalibrationProblem, draw, draw_part
from qed.selection.guarantees.ranks import rank_of, rows_needed

# Predictions of the same rows in other company differ by roundings of sums of columns, and closed forms by those times their condition.
ALIKE = 1e-6


def warn_of_level(model: Any, level: float) -> None:
    """Say that a level can not be had with so few rows, and what to do."""
    total = model._total
    if rank_of(level, total) <= total:
        return
    what = "the sets hold all classes" if model.target == "label" else "the intervals are infinite"
    words = f"a level of {level:g} needs at least {rows_needed(level)} rows to calibrate by, but there are {total:g}: {what}."
    remedy = "Give more rows, or take a lower level."
    warnings.warn(f"Conformal: {words} {remedy}", DegenerateWarning, stacklevel=level_of_user())


def conformal_claims(model: Any) -> list[Claim]:
    """Count the ranks again, and claim what theory guarantees of them."""
    level, scores, weight = float(model.level), np.asarray(model.scores_), model.weight_
    total = model._total
    rank = float(rank_of(level, total))
    if rank > total:
        outside = 0.0
    else:
        order = np.argsort(scores, kind="stable")
        reached = np.cumsum(np.ones(len(scores)) if weight is None else weight[order])
        place = min(int((reached < rank * (1 - 1e-12)).sum()), len(scores) - 1)
        within = scores <= scores[order[place]]
        counted = float(within.sum() if weight is None else weight[within].sum())
        outside = max(0.0, 1 - counted / (total + 1))
    known = f"coverage at level {level:g} is at least {model.guarantee_:.4g} (what may be missed, at most)"
    if weight is not None and not (weight == 1).all():
        known = f"coverage at level {level:g} is not proven: rows of different weights are not drawn alike"
    allowed = 1 - model._guaranteed(level)
    # A share is rounded once or twice.
    return [
        Claim(f"share of ranks outside that of level {level:g}", outside, 1 - level + 4 * EPS),
        Claim(known, 1 - float(model.guarantee_), allowed + 4 * EPS),
    ]


def inner_claims(model: Any, problem: CalibrationProblem) -> list[Claim]:
    """Give the claims of the model inside, and how many of those without a fold do not hold."""
    if not hasattr(model.estimator_, "_prove"):
        return []
    if problem.solved:
        proof = model.estimator_.certificate_
        failing = sum(not member.certificate_ for member in model.members_)
    elif model.method == "prefit":
        return []
    else:
        seen = problem.part(model.fold_ < 0) if model.method_ == "split" else problem.rows
        proof = examine(model.estimator_, _opened(model.estimator_, seen))
        parts = (problem.part(model.fold_ != fold) for fold in range(len(model.members_)))
        failing = sum(not examine(one, _opened(one, part)) for one, part in zip(model.members_, parts))
    found = [claim for claim in proof if claim.says not in (SAME_DATA, FOLLOWING)]
    others = [] if not model.members_ else [Claim("models without a fold whose own proof fails", float(failing), 0.0)]
    damaged = [] if problem.solved else [claim for claim in proof if claim.says == FOLLOWING and not claim.holds]
    return [*found, *others, *damaged]


def _opened(model: Any, rows: Any) -> Any:
    return model._open(rows, reset=False, target=model.target)


def restated_claims(model: Any, problem: CalibrationProblem) -> list[Claim]:
    """Compare folds, scores, ranks and what is guaranteed with what they should be."""
    rank = float(rank_of(model.level, model._total))
    claims = [
        restated("rank_", model.rank_, rank, slack=0.0),
        restated("guarantee_", model.guarantee_, model._guaranteed(model.level), scale=1.0, slack=4 * EPS),
        restated("fold_", model.fold_, _folds(model, problem), scale=1.0, slack=0.0),
    ]
    if model.weight_ is not None and problem.weight is not None:
        claims.append(restated("weight_", model.weight_, problem.weight[model.fold_ >= 0], slack=0.0))
    wanted = model._scored(problem)
    size = max(float(np.abs(wanted).max(initial=0.0)), _size(model, problem))
    claims.append(restated("scores_", model.scores_, wanted, scale=size, slack=ALIKE))
    if model.left_out_ is not None:
        again = model.estimator_._without_each(problem.rows)
        claims.append(Claim("models without each row follow from the data", model.left_out_.apart(again), ALIKE))
    if model.target == "label":
        same = np.array_equal(model.classes_, np.unique(problem.y[problem.present]))
        claims.append(Claim("classes_ are those of the rows", float(not same), 0.0))
    return claims


def _size(model: Any, problem: CalibrationProblem) -> float:
    """Say how large the numbers are whose differences the scores are."""
    return 1.0 if model.target == "label" else float(np.abs(problem.y).max(initial=0.0)) * 1e-3


def _folds(model: Any, problem: CalibrationProblem) -> np.ndarray:
    n, present = len(problem.y), problem.present
    if model.method_ == "cv+":
        return draw(present, n, min(model.folds, len(present)), model.seed_)
    if model.method_ == "split" and model.method != "prefit":
        return draw_part(present, n, model.holdout, model.seed_)
    found = np.full(n, -1, dtype=np.intp)
    found[present] = np.arange(len(present)) if model.method_ == "jackknife+" else 0
    return found
