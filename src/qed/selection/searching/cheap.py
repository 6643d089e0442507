"""What a search asks a model before it fits anything.

A search wants a table of scores, one for each candidate (a setting of parameters) and fold. Fitting every candidate
to every training set fills it, and is what a search falls back to; but most models can do better: all penalties of a ridge
regression come from one decomposition, all k of nearest neighbours from one search, all sizes of a boosted ensemble from one
fit. So the model is asked first. It may offer a method

.. code-block:: python

    def _cheap_scores(self, rows, candidates, folds, scorer): ...

which gives the table, or None when this is nothing it can do cheaply. What it is given:

``self``
    An unfitted model with the parameters that all candidates share, opened on the data (``n_features_in_`` is set).
``rows``
    All rows, checked, as `Rows`.
``candidates``
    A list of dicts, each a setting of parameters as ``set_params`` takes it. They have been checked against the rules in
    ``parameters``. ``folds.families(candidates, "alpha")`` sorts them into families that differ in one parameter.
``folds``
    The splits: ``n_splits``; ``for fold in folds``; ``training(rows, fold)`` and ``held_out(rows, fold)``, which are `Rows`;
    ``assignment``, the fold that holds out each row, where the splits are a partition (else None); ``leave_one_out``, whether
    each row is a fold; ``statistics(rows, model)``, the model's statistic for every fold in one pass; ``train_scores``,
    whether training scores are wanted as well.
``scorer``
    What is wanted: a `Scorer` (or any callable ``scorer(model, X, y)``). ``scorer.additive`` says that squared errors are
    enough, and ``scorer.from_sums`` makes scores of them; ``folds.judge(scorer, held_out, predict=...)`` judges predictions.

What it gives: an array of shape (n_candidates, n_splits), greater being better; or ``folds.answer(scores, "how it was done")``,
which can also carry training scores (``train=``) and the statistic of all rows (``statistic=``), from which the best model is
then fitted without another pass. The promise is that the table is that of the plain way, to the solver's tolerance; a model that
can not keep it for these data returns None. Nothing here has to be imported by the model: all it needs is handed to it.

Models in closed form (`OnePass`) need no method of their own: linear ones are scored from moments alone
(:mod:`qed.selection.searching.linear_scores`), and all others are fitted from statistics that one pass has collected for all folds. Such a
model should name in ``solving``, a class attribute, the parameters that its statistic does not depend on: candidates that differ in
these alone share the pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.models.parameters import check_parameters
from qed.base.sources.rows import Rows
from qed.selection.searching.candidates import all_made_with, made_with
from qed.selection.searching.folds import Candidate, Folds, Scores
from qed.selection.searching.linear_scores import is_linear, linear_scores


def ask(model: Any, rows: Rows, candidates: Sequence[Candidate], folds: Folds, scorer: Any) -> Scores | None:
    """Ask a model for the scores of candidates on folds; None when they have to be fitted one by one.

    Parameters
    ----------
    model : estimator
        A model of qed, opened on the rows.
    rows : Rows
        All rows, checked.
    candidates : sequence of dict
        Settings of parameters.
    folds : Folds
        The splits.
    scorer : callable
        What is wanted.
    """
    models = all_made_with(model, candidates)
    for made in models:
        check_parameters(made, made.parameters)
    own = getattr(model, "_cheap_scores", None)
    if own is not None:
        answer = _read(model, own(rows, list(candidates), folds, scorer), len(candidates), folds)
        if answer is not None:
            return answer
    return linear_scores(model, rows, models, folds, scorer) if is_linear(model) else None


def checked(model: Any, candidate: Candidate) -> Any:
    """Give a model with a candidate's parameters, after looking at them."""
    made = made_with(model, candidate)
    if hasattr(made, "parameters"):
        check_parameters(made, made.parameters)
    return made


def _read(model: Any, answer: Any, n_candidates: int, folds: Folds) -> Scores | None:
    """Check a model's answer."""
    if answer is None or (isinstance(answer, Scores) and folds.train_scores and answer.train is None):
        return None
    if isinstance(answer, Scores):
        return answer
    if folds.train_scores:
        return None
    each = np.asarray(answer, dtype=np.float64)
    if each.shape != (n_candidates, folds.n_splits):
        raise InputError(
            f"{type(model).__name__}._cheap_scores gave scores of shape {each.shape}, "
            f"not one for each of {n_candidates} candidates and {folds.n_splits} folds."
        )
    return Scores.of(each, f"{folds.n_splits} folds, {n_candidates} candidates together by {type(model).__name__}")
