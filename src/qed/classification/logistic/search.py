"""Searching the strength of the penalty of logistic regression along one path for each fold.

Candidates that differ in C alone are solved one after another, the strongest penalty first, each from the solution of the one before: a few
steps each, and with a penalty on sizes all on the same working sets of columns. Nothing is proven on the way; the model that is chosen is
fitted and proven like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Protocol

import numpy as np

from qed.base.errors import InputError
from qed.base.models.searching import Answer, Question, Table
from qed.base.sources.block import Block
from qed.base.sources.rows import ArrayRows, Rows
from qed.classification.logistic.beginning import SparsePath, suits_columns
from qed.classification.logistic.problem import ClassProblem, Settings, strength_and_share
from qed.classification.logistic.softmax_classifier import chances
from qed.classification.logistic.sparse_likelihood import SparseLikelihood
from qed.stats.parts import Part

Coefficients = tuple[np.ndarray, np.ndarray]

# So many scores of models are worked out together.
MOST_SCORES = 1 << 22


class Candidate(Settings, Protocol):
    """What is asked of a model that is searched."""

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray

    def _decide(self, block: Block) -> np.ndarray: ...


def path_search(model: Candidate, question: Question[Candidate]) -> Answer | None:
    """Score candidates along paths of C; None where a pass is dear, where some have no penalty, or where a fold can not be fitted."""
    scorers = question.asking(model, "predict", "predict_proba", "decision_function")
    given = [strength_and_share(one.C, one.l1_ratio, one.penalty) for one in question.models]
    strengths, sparse = [one[0] for one in given], all(share > 0 for _, share in given)
    if not scorers or len(strengths) < 2 or not question.rows.in_memory or np.isinf(strengths).any():
        return None
    table, found = question.table(scorers), question.families("C")
    try:
        for fold in question.folds:
            training, unseen = _gathered(question.training(fold), by_columns=sparse), question.held_out(fold)
            for members in found:
                order = sorted(members, key=lambda c: strengths[c])
                fitted = dict(zip(order, _along(training, [question.models[c] for c in order])))
                _judge(table, fold, unseen, fitted)
                if question.train_scores:
                    _judge(table, fold, training, fitted, train=True)
    except InputError:
        return None
    return table.answer(f"{question.folds.words}, {len(found)} path{'s' if len(found) > 1 else ''} of C each")


def _gathered(rows: Rows, *, by_columns: bool = False) -> Rows:
    """Give rows in memory; if `by_columns`, a table that lies in columns stays so, as methods like it that go through them."""
    source = rows.source if isinstance(rows, Part) and by_columns else None
    if isinstance(rows, Part) and isinstance(source, ArrayRows) and _lies_in_columns(source.X):
        if rows.chosen.all():
            return source
        some = np.flatnonzero(rows.chosen)
        weight = None if source.weight is None else source.weight[some]
        return ArrayRows(np.take(source.X.T, some, axis=1).T, source.y[some], weight)
    block = rows.array()
    return ArrayRows(block.X, block.y, block.weight)


def _lies_in_columns(X: object) -> bool:
    return isinstance(X, np.ndarray) and not isinstance(X, np.memmap) and X.flags.f_contiguous


def _along(rows: Rows, models: Sequence[Candidate]) -> Iterator[Candidate]:
    """Give models that differ in C alone, fitted, from the smallest C on."""
    problem, path, place = ClassProblem(rows, models[0]), None, None
    first = problem.objective
    if isinstance(first, SparseLikelihood) and suits_columns(first.rows, first):
        path = SparsePath(first.rows, first, many=True)  # type: ignore[arg-type]
    for number, model in enumerate(models):
        if path is not None:
            place = path.minimum(strength_and_share(model.C, model.l1_ratio, model.penalty)[0])
        else:
            place = _minimum(problem if number == 0 else ClassProblem(rows, model), place, model.max_iter)
        fitted = copy(model)
        fitted.classes_, (fitted.coef_, fitted.intercept_) = problem.classes, place
        yield fitted


def _minimum(problem: ClassProblem, start: Coefficients | None, max_iter: int) -> Coefficients:
    """Give the minimum, from another one nearby if there is one."""
    objective = problem.objective
    point, secants = objective.at(*(problem.beginning() if start is None else start)), problem.secants(None)
    for _ in range(max_iter):
        newton = objective.newton(point, secants)
        if newton.gap <= objective.tol:
            break
        before, point = point, objective.descend(point, newton.direction)
        secants = newton.learned(before, point)
        if point is before:
            break
    return point.coef, point.intercept


def _judge(table: Table, fold: int, rows: Rows, fitted: dict[int, Candidate], *, train: bool = False) -> None:
    """Score fitted models, by the numbers of their candidates, on rows that are read once for many of them."""
    models, planes = list(fitted.items()), len(next(iter(fitted.values())).intercept_)
    many = max(1, MOST_SCORES // (planes * rows.count()))
    if many < len(models):
        rows = _gathered(rows)
    for first in range(0, len(models), many):
        some = models[first : first + many]
        # One model that has the planes of all.
        joint = copy(some[0][1])
        joint.coef_ = np.concatenate([one.coef_ for _, one in some])
        joint.intercept_ = np.concatenate([one.intercept_ for _, one in some])
        scores = np.asarray(rows.map(joint._decide)).reshape(-1, len(some), planes)
        for place, (candidate, one) in enumerate(some):
            own = np.ascontiguousarray(scores[:, place, 0] if planes == 1 else scores[:, place])
            number = (own > 0).astype(np.intp) if planes == 1 else own.argmax(axis=1)
            answers = {"predict": one.classes_[number], "decision_function": own, "classes_": one.classes_}
            table.judge(candidate, fold, train=train, predict_proba=chances(own), **answers)
