"""Searching the settings of generative classifiers: one pass for what all folds have to tell, one for all their answers.

Settings such as smoothing or shrinkage change what follows from the sums of the classes, not the sums. So candidates are solved from the
statistics of one pass, and where their scores are linear, the rows that a fold holds out are multiplied by the weights of all candidates
at once. Nothing is proven on the way; the model that is chosen is fitted and proven like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any, Protocol

import numpy as np
from scipy.special import softmax

from qed.base.engine import work
from qed.base.models.problem import StatisticProblem
from qed.base.models.searching import MOST_NUMBERS, Answer, Collected, Question, Table
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows

# With so many classes or fewer, comparing class by class finds the largest of all rows sooner than looking at each row.
FEW = 16


class Candidate(Protocol):
    """What is asked of a model that is searched."""

    classes_: np.ndarray

    def _known(self, rows: Rows | None, statistic: object) -> StatisticProblem: ...
    def _check_statistic(self, problem: StatisticProblem) -> None: ...
    def _solve(self, problem: StatisticProblem) -> None: ...
    def _joints(self, models: Sequence[Candidate]) -> Callable[[Block], np.ndarray]: ...


def search_together(model: Candidate, question: Question[Candidate]) -> Answer | None:
    """Score candidates from the statistics of all folds; None where these take too much memory, or a fold lacks a class."""
    scorers = question.asking(model, "predict", "predict_proba", "decision_function")
    if not scorers or not question.has_room(model):
        return None
    found = [question.statistics(one) for one in question.models]
    if any(len(part.classes) < len(one.total.classes) for one in found for part in one.training):
        return None
    table = question.table(scorers)
    for _ in work(partial(_fill, table, question.models, found, fold) for fold in question.folds):
        continue
    passes = len({id(one) for one in found})
    shared = found[0].total if passes == 1 else None
    words = f"{question.folds.words} from the sums of {passes} pass{'es' if passes > 1 else ''}"
    return table.answer(f"{words}, {len(found)} settings together", shared)


def _fill(table: Table, candidates: Sequence[Candidate], found: Sequence[Collected[Any]], fold: int) -> None:
    """Score all candidates on one fold."""
    question = table.question
    training = question.training(fold)
    models = [_solved(one, training, parts.training[fold]) for one, parts in zip(candidates, found)]
    _judge(table, fold, question.held_out(fold), models)
    if question.train_scores:
        _judge(table, fold, training, models, train=True)


def _solved(model: Candidate, rows: Rows, statistic: object) -> Candidate:
    """Give the model that follows from a statistic."""
    made = copy(model)
    problem = made._known(rows, statistic)
    made._check_statistic(problem)
    made._solve(problem)
    return made


def _judge(table: Table, fold: int, rows: Rows, models: Sequence[Candidate], *, train: bool = False) -> None:
    """Score what models answer for some rows, as many of them at once as memory holds."""
    classes, folds = models[0].classes_, table.question.folds
    n = len(folds.train(fold) if train else folds.test(fold))
    scores, chances = (bool(table.question.asking(models[0], one)) for one in ("decision_function", "predict_proba"))
    at_once = max(1, MOST_NUMBERS // (max(n, 1) * len(classes)))
    for first in range(0, len(models), at_once):
        some = models[first : first + at_once]
        joints = np.asarray(rows.map(partial(_scores, joints=models[0]._joints(some))))
        chosen = classes[first_largest(joints).T]
        for number in range(len(some)):
            answers = {"predict": chosen[number], "classes_": classes}
            if scores:
                answers["decision_function"] = decided(joints[:, number])
            if chances:
                answers["predict_proba"] = chances_of(joints[:, number])
            table.judge(first + number, fold, train=train, **answers)


def _scores(block: Block, joints: Callable[[Block], np.ndarray]) -> np.ndarray:
    """Give the joint scores of several models: (n, n_models, n_classes)."""
    return np.moveaxis(joints(block), 0, 1).astype(block.X.dtype, copy=False)


def planes_of(X: Any, weights: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Give the scores of rows, of shape (n_models, n, n_planes), for weights of shape (p, n_planes, n_models) and levels of all planes.

    What the models say of one plane lies together, row by row: there they are compared.
    """
    product = np.asarray(X @ np.ascontiguousarray(weights.reshape(len(weights), -1)))
    product += level.T.ravel()
    return product.reshape(len(product), *level.T.shape).transpose(2, 0, 1)


def first_largest(scores: np.ndarray) -> np.ndarray:
    """Give where along the last axis the first of the largest is: entry by entry where they are few, in a tenth of NumPy's time.

    >>> first_largest(np.array([[1.0, 2.0, 2.0], [3.0, 2.0, 3.0]]))
    array([1, 0])
    """
    if not 0 < scores.shape[-1] <= FEW:
        return np.asarray(scores.argmax(axis=-1))
    most, place = scores[..., 0], np.zeros(scores.shape[:-1], dtype=np.intp)
    for k in range(1, scores.shape[-1]):
        np.copyto(place, k, where=scores[..., k] > most)
        most = np.maximum(most, scores[..., k])
    return place


def decided(joint: np.ndarray) -> np.ndarray:
    """Give the scores of two classes as their difference, those of more as they are."""
    return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint


def chances_of(joint: np.ndarray) -> np.ndarray:
    """Give the probabilities that follow from the logarithms of prior times density."""
    return np.asarray(softmax(joint, axis=1))
