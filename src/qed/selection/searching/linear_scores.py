r"""Cross-validation of linear least-squares models without predicting a single row.

One pass collects the moments of every fold. The moments of a training set are the sum of the other folds' moments; they give the
coefficients of all candidates (for ridge all penalties from one eigendecomposition, for the lasso one path), and the moments of the
fold held out give their squared errors, from which :math:`R^2`, mean squared error and its root follow:

.. math:: \sum_{i \in f} s_i (y_i - x_i^\top w - b)^2 = v^\top S_f v + W_f (\bar y_f - \bar x_f^\top w - b)^2,
   \qquad v = (-w, 1).

Where that difference of large numbers would cost more than nine digits of a score, the residuals of that fold's rows are
summed instead. Leaving out each row in turn has a closed form. For n rows, p columns, k folds and m candidates: the :math:`O(np^2)` of
one fit, and :math:`O(kp^3 + kmp^2)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from qed.base.engine import blas_for, work
from qed.base.errors import InputError, ParameterError
from qed.base.models.estimator import fit_known
from qed.base.models.problem import collect
from qed.base.sources.rows import Rows
from qed.regression.linear import squared_errors
from qed.regression.linear.least_squares import LinearRegression
from qed.regression.linear.leave_one_out import leave_one_out
from qed.regression.linear.linear import LinearModel, LinearPredictor
from qed.regression.linear.ridge import Ridge
from qed.regression.linear.ridge_basis import coefficients, intercepts
from qed.selection.metrics.regression import mean_absolute_error, r2_score, root_mean_squared_error
from qed.selection.scoring import Scorer
from qed.selection.searching.candidates import fresh
from qed.selection.searching.folds import Folds, Scores
from qed.stats.moments import Moments

TOLERANCE = 1e-9

# So many scores of single rows are kept, and so many numbers in the statistics of all folds: 32 and 256 megabytes.
KEPT = 1 << 22
LARGEST = 1 << 25


def linear_scores(model: Any, rows: Rows, candidates: Sequence[Any], folds: Folds, scorer: Scorer) -> Scores | None:
    """Score linear models on folds from moments; None where that can not be done.

    Parameters
    ----------
    model : estimator
        The kind of model, opened on `rows`.
    rows : Rows
        All rows.
    candidates : sequence of LinearModel
        The models to compare, with their parameters set.
    folds : Folds
        The splits.
    scorer : Scorer
        What is wanted.
    """
    if not is_linear(model) or folds.assignment is None or not isinstance(scorer, Scorer):
        return None
    if folds.leave_one_out and not folds.train_scores and not _has_path(model):
        return _leave_one_out(model, rows, candidates, scorer)
    if not scorer.additive or folds.n_splits * (rows.n_features + 1) ** 2 > LARGEST:
        return None
    parts = folds.statistics(rows, model)
    if scorer.function is r2_score and any(parts[fold].count < 2 for fold in folds):
        return None
    others = parts.others()
    linear = LinearCandidates.of(candidates, others[0].n_targets)
    tasks = (partial(_fold, linear, rows, folds, scorer, fold, parts[fold], others[fold]) for fold in folds)
    found = np.array(list(work(tasks)))
    each, train = found[:, 0].T, found[:, 1].T
    how = f"{folds.n_splits} fold{'s' if folds.n_splits > 1 else ''} from the sums of 1 pass{_together(candidates)}"
    return Scores.of(each, how, train=train if folds.train_scores else None, statistic=parts.total)


def is_linear(model: Any) -> bool:
    """Say whether a model is a linear one that learns from moments of features and target."""
    return _has_path(model) or (isinstance(model, LinearModel) and type(model)._statistic is LinearModel._statistic)


def _has_path(model: Any) -> bool:
    """Say whether a model solves for many penalties one after another, as the lasso does."""
    return isinstance(model, LinearPredictor) and hasattr(model, "_solve_together")


def _is_ridge(model: Any) -> bool:
    return isinstance(model, Ridge) and type(model)._solve is Ridge._solve


def _together(candidates: Sequence[Any], each: str = " each") -> str:
    if all(_is_ridge(model) for model in candidates):
        source = "from one eigendecomposition"
    elif all(_has_path(model) for model in candidates):
        source = "along one path"
    else:
        return ""
    count = len({repr(model.alpha) for model in candidates})
    return f", {count} alphas {source}{each}" if count > 1 else ""


@dataclass(frozen=True, eq=False)
class LinearCandidates:
    """Linear models to be solved together: penalties that share an intercept in one go, others one by one.

    Attributes
    ----------
    models : sequence of LinearModel
        The candidates, unfitted.
    families : list of (centered, places, alphas)
        Ridge regressions with and without an intercept: their places, and their penalties of shape (m, q).
    paths : list of int
        The places of models that solve for many penalties one after another.
    others : list of int
        The places of all other models.
    """

    models: Sequence[Any]
    families: list[tuple[bool, list[int], np.ndarray]]
    paths: list[int]
    others: list[int]

    @classmethod
    def of(cls, models: Sequence[Any], n_targets: int) -> LinearCandidates:
        """Sort models into families."""
        ridge = [c for c, one in enumerate(models) if _is_ridge(one)]
        families = []
        for centered in (True, False):
            places = [c for c in ridge if bool(models[c].fit_intercept) is centered]
            if places:
                families.append((centered, places, np.array([models[c]._alphas(n_targets) for c in places])))
        paths = [c for c, one in enumerate(models) if _has_path(one)]
        return cls(models, families, paths, sorted(set(range(len(models))) - {*ridge, *paths}))

    def solve(self, moments: Moments, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Give coefficients, of shape (m, p, q), and constants, fitted to rows whose moments are known."""
        coef = np.empty((len(self.models), moments.n_features, moments.n_targets))
        intercept = np.empty((len(self.models), moments.n_targets))
        for centered, places, alphas in self.families:
            coef[places] = coefficients(moments, alphas, rows, centered=centered)
            intercept[places] = intercepts(moments, coef[places], centered=centered)
        if self.paths:
            alike = [self.models[c] for c in self.paths]
            coef[self.paths], intercept[self.paths] = alike[0]._solve_together(alike, moments)
        for c in self.others:
            one = fresh(self.models[c])
            coef[c], intercept[c] = fit_known(one, rows, moments)._columns()
        return coef, intercept

    def scores(
        self,
        training: Moments,
        training_rows: Rows,
        held_out: Moments,
        held_out_rows: Rows,
        scorer: Scorer,
        train: bool,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Fit to some rows, and score by others (and, with `train`, by the same)."""
        with blas_for(training_rows.n_features):
            coef, intercept = self.solve(training, training_rows)
            scores = _score(held_out, held_out_rows, coef, intercept, scorer)
            own = _score(training, training_rows, coef, intercept, scorer) if train else np.full_like(scores, np.nan)
        return scores, own


def _fold(
    candidates: LinearCandidates,
    rows: Rows,
    folds: Folds,
    scorer: Scorer,
    fold: int,
    held_out: Moments,
    training: Moments,
) -> tuple[np.ndarray, np.ndarray]:
    """Score all candidates on one fold, and on its training rows where that is wanted."""
    if held_out.weight <= 0 or training.weight <= 0:
        raise InputError(
            f"All rows {'held out by' if held_out.weight <= 0 else 'outside'} fold {fold} have the weight zero: "
            "take fewer folds, or shuffle them."
        )
    parts = (training, folds.training(rows, fold), held_out, folds.held_out(rows, fold))
    return candidates.scores(*parts, scorer, folds.train_scores)


def _score(moments: Moments, rows: Rows, coef: np.ndarray, intercept: np.ndarray, scorer: Scorer) -> np.ndarray:
    scatter = np.diagonal(moments.yy)

    def score(error: np.ndarray) -> np.ndarray:
        return np.asarray(scorer.from_sums(moments.weight, error, scatter))

    def doubtful(error: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Compare what rounding can do to a score with the score, and with what doubling the error would do to it."""
        value = score(error)
        size = np.maximum(np.abs(value), np.abs(score(2 * error) - value))
        off = np.abs(score(error + noise) - value) > TOLERANCE * size
        return np.asarray((off | ((scatter <= 0) & (error <= noise))).any(axis=1))

    error = squared_errors.precise(moments, rows, coef, intercept, doubtful)
    return np.asarray(score(error).mean(axis=1))


def _leave_one_out(model: Any, rows: Rows, candidates: Sequence[Any], scorer: Scorer) -> Scores | None:
    """Score ridge and least squares on every row left out, in closed form."""
    if scorer.function is r2_score:
        raise ParameterError(
            "R² is not defined on a single row, so not when leaving one out: use scoring='neg_mean_squared_error'."
        )
    squares = all(_is_ridge(one) or type(one)._solve is LinearRegression._solve for one in candidates)
    absolute = scorer.function in (root_mean_squared_error, mean_absolute_error)
    if not squares or scorer.options or not (scorer.additive or absolute):
        return None
    moments = collect(rows, model, model._statistic)
    m, n, refitted = len(candidates), int(moments.count), 0
    mean, deviation = np.empty((2, m))
    each = np.empty((m, n)) if m * n <= KEPT else None
    for centered in (True, False):
        family = [c for c, one in enumerate(candidates) if bool(one.fit_intercept) is centered]
        if not family:
            continue
        alphas = np.array([_penalty(candidates[c], moments.n_targets) for c in family])
        found = leave_one_out(rows, moments, alphas, centered=centered, absolute=absolute, keep=each is not None)
        refitted = max(refitted, found.refitted)
        mean[family], deviation[family] = scorer.sign * found.mean, found.deviation
        table = found.table()
        if each is not None and table is not None:
            each[family] = scorer.sign * table.T
    std = np.sqrt(deviation / n)
    how = f"each of {n} rows left out in closed form, 2 passes{_together(candidates, '')}"
    if refitted:
        how += f"; {refitted} of the rows by fitting once more"
    return Scores(how, mean, std, std / np.sqrt(n - 1), n, each, statistic=moments)


def _penalty(model: Any, n_outputs: int) -> np.ndarray:
    return np.asarray(model._alphas(n_outputs)) if isinstance(model, Ridge) else np.zeros(n_outputs)
