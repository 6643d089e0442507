r"""Many penalties on one sparse problem, each from the solution of the one before.

Penalties are taken in falling order: from one to the next few coefficients become or cease to be zero, and only these columns cost
something (:mod:`qed.regression.sparse.problem`). So models that differ in their penalty only are solved together, on the
moments of a fold or on the rows of one, and a search over penalties costs little more than a fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.optim.functions.penalties import L1L2
from qed.regression.sparse.problem import GramProblem, SparseProblem, problem_for
from qed.stats.moments import Moments


class SparseModel(Protocol):
    """What is asked of a model: `ElasticNet` and those derived from it."""

    alpha: float
    l1_ratio: float
    fit_intercept: bool
    positive: bool
    tol: float

    def _penalty(self, weight: float, alpha: float | None = None) -> L1L2: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...


def along(model: SparseModel, problem: SparseProblem, alphas: np.ndarray, rows: Rows | None) -> np.ndarray:
    """Solve for many penalties, the largest first; give coefficients of shape (m, p, q), in the order of the penalties."""
    coef = np.empty((len(alphas), len(problem.x_mean), len(problem.y_mean)))
    for k in np.argsort(-alphas, kind="stable"):
        penalty = model._penalty(problem.weight, float(alphas[k]))
        if penalty.l1 == 0 and not penalty.positive:
            coef[k] = problem.ridge(penalty.l2, rows)
        else:
            coef[k] = problem.solve(penalty, model.tol)
    return coef


def solve_together(models: Sequence[SparseModel], moments: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Fit models to rows whose moments are known, one path for all that differ in their penalty only.

    Parameters
    ----------
    models : sequence of ElasticNet
        The models, which are not fitted by this.
    moments : Moments
        Of the rows.

    Returns
    -------
    coef, intercept : ndarray of shape (m, p, q) and (m, q)
        What fits would have found.
    """
    families: dict[tuple[Any, ...], list[int]] = {}
    for place, model in enumerate(models):
        shared = (bool(model.fit_intercept), float(model.l1_ratio), bool(model.positive), float(model.tol))
        families.setdefault(shared, []).append(place)
    coef = np.empty((len(models), moments.n_features, moments.n_targets))
    intercept = np.empty((len(models), moments.n_targets))
    for places in families.values():
        first = models[places[0]]
        problem = GramProblem(moments, centered=bool(first.fit_intercept))
        alphas = np.array([float(models[place].alpha) for place in places])
        coef[places] = along(first, problem, alphas, None)
        intercept[places] = problem.y_mean - problem.x_mean @ coef[places]
    return coef, intercept


def path_scores(
    model: SparseModel, rows: Rows, candidates: Sequence[Mapping[str, Any]], folds: Any, scorer: Any
) -> Any:
    """Score candidates on the rows that folds hold out, along one path for all that differ in their penalty only.

    Parameters
    ----------
    model : ElasticNet
        A model with the parameters that all candidates share.
    rows, candidates, folds, scorer
        As :mod:`qed.selection.searching.cheap` gives them.
    """
    each, own = np.full((2, len(candidates), folds.n_splits), np.nan)
    families = folds.families(candidates, "alpha")
    for fold in folds:
        training, held_out = folds.training(rows, fold), folds.held_out(rows, fold)
        for shared, places in families:
            one = type(model)(**{**model.get_params(), **shared})
            problem = problem_for(training, one, many=len(places) > 1)
            alphas = np.array([float(candidates[place].get("alpha", model.alpha)) for place in places])
            coef = along(one, problem, alphas, training)
            for place, w in zip(places, coef):
                intercept = problem.y_mean - problem.x_mean @ w
                each[place, fold] = _judge(folds, scorer, held_out, w, intercept)
                if folds.train_scores:
                    own[place, fold] = _judge(folds, scorer, training, w, intercept)
    words = f"{folds.n_splits} folds, {len(families)} path{'s' if len(families) > 1 else ''} of alphas each"
    return folds.answer(each, words, train=own if folds.train_scores else None)


def _judge(folds: Any, scorer: Any, rows: Rows, coef: np.ndarray, intercept: np.ndarray) -> float:
    predicted = rows.map(_predicted, coef, intercept)
    return float(folds.judge(scorer, rows, predict=predicted[:, 0] if rows.target_ndim == 1 else predicted))


def _predicted(block: Block, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    return np.asarray(block.X @ coef + intercept, dtype=block.X.dtype)
