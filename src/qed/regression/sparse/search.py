r"""Searching the penalty of the lasso and the elastic net along one path.

Candidates that differ in the penalty alone lie on one path of solutions, each found from the one before. Where the moments of all folds fit
in memory and the score follows from squared errors, the paths run on these (:mod:`qed.optim.least_squares.search`) and the rows are read
once; otherwise they run on the rows of every training set, where these are in memory. The scores are those of the plain way.
"""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

import numpy as np

from qed.base.models.searching import Answer, Question, families
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.optim.functions.penalties import L1L2
from qed.optim.least_squares.precise import LazyFactor, lazy_factor
from qed.optim.least_squares.search import counted, moments_search
from qed.regression.sparse.problem import GramProblem, SparseProblem, problem_for
from qed.stats.moments import Moments


class Candidate(Protocol):
    """What is asked of a sparse model that is searched."""

    alpha: float
    l1_ratio: float
    fit_intercept: bool
    positive: bool
    solver: str
    tol: float

    def _penalty(self, weight: float, alpha: float | None = None) -> L1L2: ...


def sparse_search(model: Candidate, question: Question[Candidate]) -> Answer | None:
    """Score candidates along paths of the penalty; None where a pass is dear and moments are not enough."""
    words = counted([np.array([one.alpha]) for one in question.models], "along one path each")
    found = moments_search(model, question, partial(_solve_together, question.models), words)
    served = () if found is None else found.scores
    left = [name for name in question.asking(model, "predict") if name not in served]
    if not left or not question.rows.in_memory:
        return found
    along_rows = _paths(question, left)
    return along_rows if found is None else found | along_rows


def along(model: Candidate, problem: SparseProblem, alphas: np.ndarray, factor: LazyFactor | None) -> np.ndarray:
    """Solve for many penalties, the largest first; give coefficients of shape (m, p, q), in the order of the penalties."""
    coef = np.empty((len(alphas), len(problem.x_mean), len(problem.y_mean)))
    for k in np.argsort(-alphas, kind="stable"):
        penalty = model._penalty(problem.weight, float(alphas[k]))
        if penalty.l1 == 0 and not penalty.positive:
            coef[k] = problem.ridge(penalty.l2, factor)
        else:
            coef[k] = problem.solve(penalty, model.tol)
    return coef


def _families(models: Sequence[Candidate]) -> list[list[int]]:
    """Put models together that differ in their penalty only."""
    names = ("fit_intercept", "l1_ratio", "positive", "solver", "tol")
    return families([{name: getattr(model, name) for name in names} for model in models], ())


def _solve_together(
    models: Sequence[Candidate], moments: Moments, factor: LazyFactor, rows: Rows
) -> tuple[np.ndarray, np.ndarray]:
    """Fit models to rows whose moments are known, one path for all that differ in their penalty only."""
    coef = np.empty((len(models), moments.n_features, moments.n_targets))
    intercept = np.empty((len(models), moments.n_targets))
    for members in _families(models):
        first = models[members[0]]
        problem = GramProblem(moments, centered=bool(first.fit_intercept))
        alphas = np.array([float(models[c].alpha) for c in members])
        coef[members] = along(first, problem, alphas, factor)
        intercept[members] = problem.y_mean - problem.x_mean @ coef[members]
    return coef, intercept


def _paths(question: Question[Candidate], scorers: Sequence[str]) -> Answer | None:
    """Score candidates by their predictions, along paths on the rows of every training set."""
    table = question.table(scorers)
    found = _families(question.models)
    for fold in question.folds:
        training, held_out = question.training(fold), question.held_out(fold)
        for members in found:
            first = question.models[members[0]]
            problem = problem_for(training, first, many=len(members) > 1)
            alphas = np.array([float(question.models[c].alpha) for c in members])
            for c, coef in zip(members, along(first, problem, alphas, lazy_factor(training))):
                intercept = problem.y_mean - problem.x_mean @ coef
                table.judge(c, fold, predict=_predict(held_out, coef, intercept))
                if question.train_scores:
                    table.judge(c, fold, train=True, predict=_predict(training, coef, intercept))
    return table.answer(f"{question.folds.words}, {len(found)} path{'s' if len(found) > 1 else ''} of alphas each")


def _predict(rows: Rows, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    predicted = np.asarray(rows.map(_predicted, coef, intercept))
    return predicted[:, 0] if rows.target_ndim == 1 else predicted


def _predicted(block: Block, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    return np.asarray(block.X @ coef + intercept, dtype=block.X.dtype)
