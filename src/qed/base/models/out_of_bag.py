r"""Out of bag in the place of folds: a row is judged by the members of an ensemble that have not seen it.

.. math:: \hat f_{-i}(x_i) = \frac{1}{|M_i|} \sum_{m \in M_i} f_m(x_i), \qquad M_i = \{m : \text{row } i \text{ was not drawn for } m\}.

One fit to all rows gives an honest score, where folds take one each. It is a little too low: of M members about 0.368 M judge a row, each
having seen about 0.632 n different rows, where five folds train on 0.8 n.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Protocol

import numpy as np

from qed.base.errors import DegenerateWarning, InputError, ParameterError, level_of_user
from qed.base.models.searching import Answer, Question
from qed.base.sources.rows import Rows

HOW = "out of bag, each row judged by the members that have not seen it; all numbers of members from one fit"


class Bagged(Protocol):
    """An ensemble whose members have each seen some of the rows."""

    n_estimators: int
    bootstrap: bool
    oob_score: bool

    def _problem(self, rows: Rows) -> Any:
        """Make the problem of some rows, without those of weight zero."""

    def _solve(self, problem: Any) -> None:
        """Fit the members."""

    def _left_out(self, problem: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Give, for one member after the other, the rows that it has not seen and what it adds to their sums."""

    def _says(self, mean: np.ndarray) -> Mapping[str, np.ndarray]:
        """Give what a mean over members says, by the methods that scorers ask for."""


def means(
    left_out: Iterable[tuple[np.ndarray, np.ndarray]], n: int, stops: Sequence[int]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give, after so many members as each of `stops` says, the mean for every row over those that have not seen it, and how many they are.

    >>> left_out = [(np.array([0]), np.array([[2.0]])), (np.array([0, 1]), np.array([[4.0], [5.0]]))]
    >>> [(mean.ravel().tolist(), times.tolist()) for mean, times in means(left_out, 2, [2])]
    [([3.0, 5.0], [2.0, 1.0])]
    """
    total, times = np.zeros((n, 1)), np.zeros(n)
    for count, (rows, values) in enumerate(left_out, start=1):
        if len(rows):
            total = total if total.shape[1] == values.shape[1] else np.zeros((n, values.shape[1]))
            total[rows] += values
            times[rows] += 1
        for _ in range(stops.count(count)):
            with np.errstate(invalid="ignore"):
                yield total / times[:, None], times


def judged(model: Bagged, problem: Any, n: int, stops: Sequence[int]) -> Iterator[np.ndarray]:
    """Give the means of `means`, and refuse rows that all members have seen, as of few members there may be."""
    for stop, (mean, times) in zip(stops, means(model._left_out(problem), n, stops)):
        seen = int((times == 0).sum())
        if seen:
            raise InputError(
                f"{type(model).__name__}: {seen} of {n} rows were drawn for all {stop} members, so none can judge them out of bag: "
                "raise n_estimators, or use folds."
            )
        yield mean


def warn_of_unjudged(model: object, count: int) -> None:
    """Say that some rows were seen by all members, so that a score out of bag speaks of the others alone."""
    if count:
        warnings.warn(
            f"{type(model).__name__}: {count} rows have no out-of-bag (OOB) score, since all members have seen them: raise n_estimators.",
            DegenerateWarning,
            stacklevel=level_of_user(),
        )


def search_out_of_bag(model: Bagged, question: Question[Any]) -> Answer | None:
    """Judge all candidates out of bag, those that differ in the number of members from one fit."""
    table = question.table(question.asking(model, "predict", "predict_proba"))
    if not all(one.bootstrap for one in question.models):
        raise ParameterError(f"{type(model).__name__}: without bootstrap=True every member sees all rows: use folds.")
    n = len(question.target)
    present = slice(None) if question.weight is None else question.weight > 0
    for family in question.families("n_estimators") if table.values else ():
        order = sorted(family, key=lambda candidate: question.models[candidate].n_estimators)
        made = copy(question.models[order[-1]])
        made.oob_score = False
        problem = made._problem(question.rows)
        made._solve(problem)
        stops = [question.models[candidate].n_estimators for candidate in order]
        for candidate, mean in zip(order, judged(made, problem, problem.X.shape[0], stops)):
            whole = np.zeros((n, mean.shape[1]))
            whole[present] = mean
            for fold in question.folds:
                table.judge(candidate, fold, **made._says(whole[question.folds.test(fold)]))
    return table.answer(HOW)


def predicted_out_of_bag(model: Bagged, rows: Rows) -> np.ndarray:
    """Give what a fitted ensemble predicts for the rows of its fit, each by the members that have not seen it."""
    problem = model._problem(rows)
    mean = next(judged(model, problem, problem.X.shape[0], [model.n_estimators]))
    return np.asarray(model._says(mean)["predict"])
