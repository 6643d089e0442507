"""Searching the number of rounds: one fit with the most of them holds all others, as its stages.

Nothing is proven of the fits to folds; the model that is chosen is fitted and proven like any other.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from qed.base.engine import work
from qed.base.errors import InputError
from qed.base.models.searching import Answer, Question
from qed.base.sources.rows import Rows


def staged_search(model: Any, question: Question[Any]) -> Answer | None:
    """Score candidates that differ in `max_iter` alone by the stages of one fit; None where there are none, or a fold can not be fitted."""
    scorers, found = question.asking(model, *model.stage_answers), question.families("max_iter")
    if not scorers or len(found) == len(question.candidates):
        return None
    table = question.table(scorers)
    families = [sorted(members, key=lambda c: question.models[c].max_iter) for members in found]
    try:
        for fold, answers in enumerate(work(partial(_one_fold, question, families, fold) for fold in question.folds)):
            for candidate, train, given in answers:
                table.judge(candidate, fold, train=train, **given)
    except InputError:
        return None
    return table.answer(f"{question.folds.words}, the stages of {len(found)} fit{'s' if len(found) > 1 else ''} each")


def _one_fold(
    question: Question[Any], families: Sequence[Sequence[int]], fold: int
) -> list[tuple[int, bool, dict[str, np.ndarray]]]:
    """Give each candidate with what it answers for rows held out, and for training rows where that is wanted."""
    training, answers = question.training(fold), []
    for members in families:
        longest = copy.copy(question.models[members[-1]])
        longest._seek(longest._begin(training))
        wanted = [(False, question.held_out(fold)), *([(True, training)] if question.train_scores else [])]
        for train, rows in wanted:
            stages = _stages(longest, rows, [question.models[c].max_iter for c in members])
            answers += [(candidate, train, given) for candidate, given in zip(members, stages)]
    return answers


def _stages(fitted: Any, rows: Rows, lengths: Sequence[int]) -> Iterator[dict[str, np.ndarray]]:
    """Give what a model answers after so many rounds each, or after its last one."""
    block, last = rows.array(), fitted.forest_.n_trees // fitted.n_trees_per_iteration_
    for scores in fitted._stages(block, [min(one, last) for one in lengths]):
        yield fitted._stage_answers(scores, block)
