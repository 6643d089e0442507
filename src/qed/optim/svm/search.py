"""Searching the cost C of support vector machines along one path for each fold.

Machines that differ in C alone are solved one after another, the smallest C first, each from where the one before ended (``_along``). Those
with a kernel share similarities and begin at the multipliers of the one before times the ratio of the two: these stay inside their bounds,
and where they stood at one they stand at one again. Linear ones begin at its planes.
Nothing is proven on the way; the machine that is chosen is fitted and proven like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from qed.base.engine import work
from qed.base.errors import InputError
from qed.base.models.searching import Answer, Question
from qed.base.sources.rows import ArrayRows
from qed.optim.svm.dual import DualProblem, State


def path_search(model: Any, question: Question[Any]) -> Answer | None:
    """Score candidates along paths of C; None where there is no path, slack is not allowed, or a fold can not be fitted."""
    scorers, found = question.asking(model, "predict", "decision_function"), question.families("C")
    costs = [one.C for one in question.models]
    if not scorers or len(found) == len(costs) or not question.rows.in_memory or not np.isfinite(costs).all():
        return None
    table, families = question.table(scorers), [sorted(members, key=lambda c: costs[c]) for members in found]
    try:
        for fold, answers in enumerate(work(partial(_one_fold, question, families, fold) for fold in question.folds)):
            for candidate, held_out, seen in answers:
                table.judge(candidate, fold, **held_out)
                if question.train_scores:
                    table.judge(candidate, fold, train=True, **seen)
    except InputError:
        return None
    return table.answer(f"{question.folds.words}, {len(found)} path{'s' if len(found) > 1 else ''} of C each")


def _one_fold(question: Question[Any], families: Sequence[Sequence[int]], fold: int) -> list[tuple[int, Any, Any]]:
    """Give each candidate with what it answers for rows held out, and for training rows where that is wanted."""
    block, answers = question.training(fold).array(), []
    training, held_out = ArrayRows(block.X, block.y, block.weight), question.held_out(fold)
    for order in families:
        models = [question.models[c] for c in order]
        for candidate, fitted in zip(order, models[0]._along(training, models)):
            seen = fitted._answers(training) if question.train_scores else {}
            answers.append((candidate, fitted._answers(held_out), seen))
    return answers


def solved(dual: DualProblem, state: State, tol: float, most: int) -> State:
    """Solve to the tolerance, or for so many steps, from a state that is known."""
    for number, after in enumerate(dual.solve(state, tol), 1):
        state = after
        if state.gaps.max() <= tol or number >= most:
            break
    return dual.exactly(state)
