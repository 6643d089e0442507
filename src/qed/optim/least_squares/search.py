r"""Cross-validation of linear least-squares models without predicting a single row.

One pass collects the moments of every fold. The moments of a training set are the sum of the other folds' moments; they give the
coefficients of all candidates (for ridge all penalties from one eigendecomposition, for the lasso one path), and the moments of the
fold held out give their squared errors, from which :math:`R^2`, mean squared error and its root follow:

.. math:: \sum_{i \in f} s_i (y_i - x_i^\top w - b)^2 = v^\top S_f v + W_f (\bar y_f - \bar x_f^\top w - b)^2,
   \qquad v = (-w, 1).

Where the moments of a training set are too coarse for the digits wanted, as those of dependent columns are, a second pass collects the R
factors of all folds, which add like moments do. Where the difference of large numbers above would cost more than nine digits of a score,
the residuals of that fold's rows are summed instead. Leaving out each row in turn has a closed form. For n rows, p columns, k folds and m
candidates: the :math:`O(np^2)` of one fit, and :math:`O(kp^3 + kmp^2)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from qed.base.engine import one_blas_thread, work
from qed.base.errors import InputError
from qed.base.models.problem import collect
from qed.base.models.roles import Regressor
from qed.base.models.scoring import Scores, Scoring
from qed.base.models.searching import Answer, Collected, Question, Table
from qed.base.sources.rows import Rows
from qed.linalg.row_space import in_row_space, is_wide
from qed.optim.least_squares import squared_errors
from qed.optim.least_squares.leave_one_out import leave_one_out
from qed.optim.least_squares.precise import LazyFactor, lazy_factor
from qed.optim.least_squares.ridge_basis import coefficients, intercepts
from qed.stats.factor import Factor
from qed.stats.moments import Moments

TOLERANCE = 1e-9

# So many scores of single rows are kept: 32 megabytes.
KEPT = 1 << 22

# Takes the moments of training rows, their R factor on demand, and the rows; gives the coefficients, of shape (m, p, q), and constants,
# of shape (m, q), of all candidates.
Solver = Callable[[Moments, LazyFactor, Rows], tuple[np.ndarray, np.ndarray]]


class Candidate(Protocol):
    """What is asked of a linear model that is searched."""

    fit_intercept: bool
    n_features_in_: int

    def _penalties(self, n_outputs: int) -> np.ndarray | None: ...

    def _known(self, rows: Rows | None, statistic: Any, target_ndim: int = 1) -> Any: ...

    def _solve(self, problem: Any) -> None: ...

    def _columns(self) -> tuple[np.ndarray, np.ndarray]: ...


class TooCoarse(Exception):
    """The moments of some rows are too coarse to solve from."""


def linear_search(model: Candidate, question: Question[Candidate]) -> Answer | None:
    """Score linear models on folds from moments; None where that can not be done."""
    if is_wide(question.rows):
        return _wide_search(model, question)
    if question.folds.leave_one_out and not question.train_scores:
        return _leave_one_out(model, question)
    found = Together.of(question.models, question.n_outputs)
    return moments_search(model, question, found.solve, found.words)


def _wide_search(model: Candidate, question: Question[Candidate]) -> Answer | None:
    """Score ridge regressions on a table with fewer rows than columns, in the coordinates of its rows; others are to be fitted."""
    penalties = [one._penalties(question.n_outputs) for one in question.models]
    if any(found is None or not found.all() for found in penalties):
        return None
    rows = in_row_space(question.rows)
    if rows is None:
        return None
    models = [copy(one) for one in question.models]
    for one in models:
        one.n_features_in_ = rows.n_features
    rest = (question.folds, question.scorers, question.train_scores)
    answer = linear_search(models[0], Question(rows, question.candidates, models, *rest))
    # The statistic is that of other columns, of no use for fitting the best model to these.
    return None if answer is None else Answer(f"{answer.how}, in the space of the rows", answer.scores)


@dataclass(frozen=True, eq=False)
class Together:
    """Linear models to be solved together: ridge regressions that share an intercept in one go, others one by one."""

    models: Sequence[Candidate]  # the candidates, unfitted
    # Ridge regressions with and without an intercept: their places, and their penalties of shape (m, q).
    families: list[tuple[bool, list[int], np.ndarray]]
    others: list[int]  # the places of all other models
    words: str  # what is done for all at once, in words

    @classmethod
    def of(cls, models: Sequence[Candidate], n_outputs: int) -> Together:
        """Sort models into families."""
        penalties = {c: model._penalties(n_outputs) for c, model in enumerate(models)}
        # Least squares without a penalty is left to the model, which says more about dependent columns.
        ridge = {c: found for c, found in penalties.items() if found is not None and found.any()}
        families = []
        for centered in (True, False):
            members = [c for c in ridge if bool(models[c].fit_intercept) is centered]
            if members:
                families.append((centered, members, np.array([ridge[c] for c in members])))
        others = [c for c in penalties if c not in ridge]
        return cls(models, families, others, counted(list(penalties.values()), "from one eigendecomposition each"))

    def solve(self, moments: Moments, factor: LazyFactor, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Give coefficients, of shape (m, p, q), and constants, fitted to rows whose moments are known."""
        coef = np.empty((len(self.models), moments.n_features, moments.n_targets))
        intercept = np.empty((len(self.models), moments.n_targets))
        for centered, members, alphas in self.families:
            coef[members] = coefficients(moments, alphas, factor, centered=centered)
            intercept[members] = intercepts(moments, coef[members], centered=centered)
        for c in self.others:
            one = copy(self.models[c])
            problem = one._known(rows, moments)
            problem.lazy_factor = factor
            one._solve(problem)
            coef[c], intercept[c] = one._columns()
        return coef, intercept


def counted(penalties: Sequence[np.ndarray | None], words: str) -> str:
    """Say how many different penalties are solved for together."""
    count = len({tuple(found) for found in penalties if found is not None})
    return f", {count} alphas {words}" if count > 1 and all(found is not None for found in penalties) else ""


def moments_search(model: object, question: Question[object], solve: Solver, words: str) -> Answer | None:
    """Score candidates that are solved from moments, by all scorers that follow from squared errors, and by others on the way.

    `words` say what `solve` does for all candidates at once.
    """
    scorers = {name: scorer for name, scorer in question.scorers.items() if scorer.additive}
    if not scorers or not question.has_room(model):
        return None
    asked = [name for name in question.asking(model, "predict") if name not in scorers]
    others = question.table(asked if _predicts_at_once(model, question) else [])
    parts: Collected[Moments] = question.statistics(model)
    seen = [*parts.held_out, *(parts.training if question.train_scores else [])]
    if min(moments.count for moments in seen) < 2:
        scorers = {name: scorer for name, scorer in scorers.items() if scorer.on_single_rows != "undefined"}
        if not scorers:
            return None
    one_fold = partial(_fold, question, parts, solve, list(scorers.values()), others)
    folds = list(question.folds)
    found: dict[int, np.ndarray | None] = dict(zip(folds, work(partial(one_fold, fold, _coarse) for fold in folds)))
    coarse = [fold for fold in folds if found[fold] is None]
    if coarse:
        factors = _factors(model, question, coarse)
        found |= zip(coarse, work(partial(one_fold, fold, factor) for fold, factor in zip(coarse, factors)))
    table = np.array([found[fold] for fold in folds]).transpose(1, 2, 3, 0)
    scores = {
        name: Scores.of(test, train if question.train_scores else None) for name, (test, train) in zip(scorers, table)
    }
    also = others.answer(words)
    scores |= {} if also is None else also.scores
    passes = "2 passes" if coarse else "1 pass"
    return Answer(f"{question.folds.words} from the sums of {passes}{words}", scores, parts.total)


def _factors(model: object, question: Question[object], folds: Sequence[int]) -> list[LazyFactor]:
    """Give the R factors of training sets: of several from one pass over all rows, of one from its own rows."""
    if len(folds) == 1:
        return [lazy_factor(question.training(folds[0]))]
    factors: Collected[Factor] = question.folds.collect(question.rows, model, Factor.of)
    return [partial(factors.training.__getitem__, fold) for fold in folds]


def _coarse() -> Factor:
    raise TooCoarse


def _fold(
    question: Question[object],
    parts: Collected[Moments],
    solve: Solver,
    scorers: Sequence[Scoring],
    others: Table,
    fold: int,
    factor: LazyFactor,
) -> np.ndarray | None:
    """Score all candidates on one fold, and on its training rows where that is wanted; None where a second look is needed.

    What does not follow from squared errors is judged by predictions, and put into the table of others.

    The scores have the shape (n_scorers, 2, n_candidates).
    """
    held_out, training = parts.held_out[fold], parts.training[fold]
    if held_out.weight <= 0 or training.weight <= 0:
        raise InputError(
            f"All rows {'held out by' if held_out.weight <= 0 else 'outside'} fold {fold} have the weight zero: "
            "take fewer folds, or shuffle them."
        )
    rows = question.training(fold)
    found = np.full((len(scorers), 2, len(question.models)), np.nan)
    with one_blas_thread:
        try:
            solution = solve(training, factor, rows)
        except TooCoarse:
            return None
        found[:, 0] = _scores(held_out, question.held_out(fold), *solution, scorers)
        if question.train_scores:
            found[:, 1] = _scores(training, rows, *solution, scorers)
    if others.values:
        X = np.asarray(question.held_out(fold).array().X)
        for c, (coef, intercept) in enumerate(zip(*solution, strict=True)):
            predicted = X @ coef + intercept
            others.judge(c, fold, predict=predicted if question.rows.target_ndim == 2 else predicted[:, 0])
    return found


def _predicts_at_once(model: object, question: Question[object]) -> bool:
    """Say whether predictions are products of rows at hand with coefficients, to the last digits those of a fitted model."""
    rows = question.rows
    dense = rows.in_memory and not rows.is_sparse and rows.dtype == np.float64
    return dense and isinstance(model, Regressor) and not question.train_scores


def _scores(
    moments: Moments, rows: Rows, coef: np.ndarray, intercept: np.ndarray, scorers: Sequence[Scoring]
) -> np.ndarray:
    """Score linear models on rows whose moments are known: shape (n_scorers, m)."""
    scatter = np.diagonal(moments.yy)

    def score(scorer: Scoring, error: np.ndarray) -> np.ndarray:
        return np.asarray(scorer.from_sums(moments.weight, error, scatter))

    def doubtful(error: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Compare what rounding can do to a score with the score, and with what doubling the error would do to it."""
        off = (scatter <= 0) & (error <= noise)
        for scorer in scorers:
            value = score(scorer, error)
            size = np.maximum(np.abs(value), np.abs(score(scorer, 2 * error) - value))
            off = off | (np.abs(score(scorer, error + noise) - value) > TOLERANCE * size)
        return np.asarray(off.any(axis=1))

    error = squared_errors.precise(moments, rows, coef, intercept, doubtful)
    return np.array([score(scorer, error).mean(axis=1) for scorer in scorers])


def _leave_one_out(model: Candidate, question: Question[Candidate]) -> Answer | None:
    """Score ridge and least squares on every row left out, in closed form."""
    penalties = [one._penalties(question.n_outputs) for one in question.models]
    known = ("squared error", "absolute error")
    scorers = {name: one for name, one in question.scorers.items() if one.on_single_rows in known}
    if not scorers or any(found is None for found in penalties):
        return None
    moments: Moments = collect(question.rows, model, Moments.of)
    scores, refitted = {}, 0
    for name, scorer in scorers.items():
        absolute = scorer.on_single_rows == "absolute error"
        scores[name], again = _left_out(question, moments, np.array(penalties), absolute=absolute, sign=scorer.sign)
        refitted = max(refitted, again)
    words = counted(penalties, "from one eigendecomposition")
    how = f"each of {moments.count} rows left out in closed form, 2 passes{words}"
    if refitted:
        how += f"; {refitted} of the rows by fitting once more"
    return Answer(how, scores, moments)


def _left_out(
    question: Question[Candidate], moments: Moments, penalties: np.ndarray, *, absolute: bool, sign: int
) -> tuple[Scores, int]:
    """Give the scores of all candidates, and for how many rows they were fitted once more."""
    m, n, refitted = len(question.models), int(moments.count), 0
    mean, deviation = np.empty((2, m))
    each = np.empty((m, n)) if m * n <= KEPT else None
    for centered in (True, False):
        family = [c for c, one in enumerate(question.models) if bool(one.fit_intercept) is centered]
        if not family:
            continue
        found = leave_one_out(
            question.rows, moments, penalties[family], centered=centered, absolute=absolute, keep=each is not None
        )
        refitted = max(refitted, found.refitted)
        mean[family], deviation[family] = sign * found.mean, found.deviation
        table = found.table()
        if each is not None and table is not None:
            each[family] = sign * table.T
    std = np.sqrt(deviation / n)
    return Scores(mean, std, std / np.sqrt(n - 1), n, each), refitted
