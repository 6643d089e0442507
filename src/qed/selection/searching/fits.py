"""Filling the table of scores: cheaply where the model knows how, by fitting every candidate to every fold where not.

`evaluate` is behind searches, cross-validation and curves. It asks the model first (:mod:`qed.base.models.searching`). What is left is
fitted on the engine's threads, and a model in closed form is then still spared its passes: one pass collects its statistic for
all folds, and every fit begins with the statistic of its training set.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from qed.base.engine import work
from qed.base.errors import FitFailedWarning, InputError, NotAvailableError, QedError
from qed.base.models.checks import is_finite, refuse_missing
from qed.base.models.estimator import Estimator, OnePass
from qed.base.models.parameters import check_parameters
from qed.base.models.scoring import Scores, Scoring
from qed.base.models.searching import Answer, Candidate, Collected, Question, check_answer, families, fit_known
from qed.base.running.watch import Watch, watched_only_by, watches
from qed.base.sources.rows import Rows
from qed.selection.searching.candidates import all_made_with, fresh, made_with, words_for
from qed.selection.searching.samples import Data, Sample, Splits

ErrorScore = float | Literal["raise"]
Learned = tuple[Rows, Any]


def _no_task(number: int, model: Any) -> AbstractContextManager[None]:
    return nullcontext()


def _no_report(number: int, score: float) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Settings:
    """How `evaluate` is to go about it."""

    cheap: bool = True  # whether to ask the model first
    error_score: ErrorScore = "raise"  # what to do about a fit that fails: raise its error, or take this score
    train_scores: bool = False  # whether scores on the training rows are wanted as well
    keep_models: bool = False  # whether the fitted models are wanted
    # Gives a context for the fit of a number and model, for callbacks.
    task: Callable[[int, Any], AbstractContextManager[None]] = _no_task
    # Called with the number of entries of the table that are filled, and the newest score.
    report: Callable[[int, float], None] = _no_report


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How well candidates did, by all scorers."""

    scores: dict[str, Scores]  # for each scorer its table
    how: str  # how it was found out, in words
    # (n_candidates, n_splits) or (n_candidates, 1): seconds; a single column where they were not fitted one by
    # one, and each fold is given an equal share.
    fit_time: np.ndarray
    score_time: np.ndarray
    statistic: Any = None  # the statistic of all rows, from which the best model can be fitted without another pass
    models: list[list[Any]] | None = None  # the models fitted, candidate by candidate, where they were asked for

    def take(self, places: np.ndarray) -> Evaluation:
        """Give what is known of the candidates at some places."""
        scores = {name: found.take(places) for name, found in self.scores.items()}
        models = None if self.models is None else [self.models[place] for place in places]
        times = self.fit_time[places], self.score_time[places]
        return Evaluation(scores, self.how, *times, self.statistic, models)


def evaluate(
    model: Any,
    data: Data,
    candidates: Sequence[Candidate],
    folds: Splits,
    scorers: Mapping[str, Scoring],
    settings: Settings | None = None,
) -> Evaluation:
    """Score candidates on folds."""
    how = settings or Settings()
    equal = families(candidates, ())
    if len(equal) < len(candidates):
        # Equal candidates have one score, not several that rounding tells apart.
        places = np.empty(len(candidates), dtype=np.intp)
        for place, members in enumerate(equal):
            places[members] = place
        return evaluate(model, data, [candidates[c] for c, *_ in equal], folds, scorers, how).take(places)
    began = time.perf_counter()
    question, answer = None, None
    plain_fit = not data.is_nested and not folds.repeats_rows and not data.params
    if how.cheap and isinstance(model, Estimator) and plain_fit:
        question, answer = _ask(model, data, candidates, folds, scorers, how)
    cheap = answer.scores if answer is not None else {}
    left = {name: scorer for name, scorer in scorers.items() if name not in cheap}
    if folds.out_of_bag and left:
        raise NotAvailableError(
            f"{type(model).__name__} can not be judged out of bag by {', '.join(left)}: that takes an ensemble whose members each draw "
            "their rows, and a score of predictions or probabilities. Use folds, such as cv=5."
        )
    if answer is None or left:
        plain = _Plain(model, data, candidates, folds, left, how, question).evaluation()
        if answer is None:
            return plain
        found = {**cheap, **plain.scores}
        ordered = {name: found[name] for name in [*scorers, *found]}
        words = f"{answer.how}; {', '.join(left)}: {plain.how}"
        return Evaluation(ordered, words, plain.fit_time, plain.score_time, answer.statistic)
    total = len(candidates) * folds.n_splits
    how.report(total, max(float(np.max(scores.mean)) for scores in cheap.values()))
    share = np.full((len(candidates), 1), (time.perf_counter() - began) / total)
    ordered = {name: cheap[name] for name in scorers}
    return Evaluation(ordered, answer.how, share, np.zeros_like(share), answer.statistic)


def fitted(model: Any, data: Data, folds: Splits) -> list[Any]:
    """Fit a model to every training set, and give the fitted models."""
    models = evaluate(model, data, [{}], folds, {}, Settings(keep_models=True)).models
    assert models is not None
    return models[0]


def _ask(
    model: Estimator,
    data: Data,
    candidates: Sequence[Candidate],
    folds: Splits,
    scorers: Mapping[str, Scoring],
    how: Settings,
) -> tuple[Question[Any] | None, Answer | None]:
    """Put the question to the model; where it raises and errors are to be scored, all is left to the plain way."""
    probe, question = fresh(model), None
    try:
        rows = data.open(probe)
        models = all_made_with(probe, candidates)
        question = Question(rows, candidates, models, folds, scorers, how.train_scores)
        for made in models:
            check_parameters(made, made.parameters)
        asked = getattr(probe, "_search_out_of_bag", _none) if folds.out_of_bag else probe._search
        answer = None if how.keep_models else asked(question)
        return question, None if answer is None else check_answer(model, answer, question)
    except QedError:
        if how.error_score == "raise":
            raise
        return question, None


def _none(question: Question[Any]) -> None:
    """Answer nothing, as a model does that has no bags."""


class _Split:
    """One split of the data; its rows are taken when they are first needed, and shared by all candidates."""

    def __init__(self, data: Data, folds: Splits, fold: int) -> None:
        self.data, self.folds, self.fold = data, folds, fold

    @cached_property
    def train(self) -> Sample:
        return self.data.train(self.folds, self.fold)

    @cached_property
    def test(self) -> Sample:
        return self.data.test(self.folds, self.fold)


@dataclass(frozen=True, eq=False)
class _Fit:
    """What came of one fit: the scores by name, those on its training rows, times, and the model where it was wanted."""

    scores: dict[str, float]
    train: dict[str, float]
    fit_time: float
    score_time: float
    model: Any = None
    failed: bool = False


@dataclass(frozen=True, eq=False)
class _Plain:
    """The plain way: every candidate on every fold."""

    model: Any
    data: Data
    candidates: Sequence[Candidate]
    folds: Splits
    scorers: Mapping[str, Scoring]
    how: Settings
    question: Question[Any] | None

    def evaluation(self) -> Evaluation:
        """Fit all of them, on the engine's threads, and score them."""
        self._refuse_holes()
        known = self._statistics()
        fits: list[list[Any]] = [[None] * self.folds.n_splits for _ in self.candidates]
        tasks = (partial(self._one, *job) for job in self._jobs(known))
        for number, (c, fold, fit) in enumerate(work(tasks), 1):
            fits[c][fold] = fit
            self.how.report(number, next(iter(fit.scores.values()), 0.0))
        return self._collected(fits, known)

    def _refuse_holes(self) -> None:
        """Find what is missing in all rows, where its row number means something to the user."""
        finds_out = isinstance(self.model, OnePass) and self.how.cheap
        if finds_out or not isinstance(self.model, Estimator) or self.data.streamed:
            return
        X = self.data.X
        tags = self.model.__sklearn_tags__().input_tags
        if isinstance(X, np.ndarray) and X.dtype.kind == "f" and not tags.allow_nan and not is_finite(X):
            probe = fresh(self.model)
            refuse_missing(self.data.open(probe), probe)

    def _statistics(self) -> dict[int, Collected[Any]]:
        """Collect for each candidate the statistics of all training sets, where that is possible."""
        question = self.question
        if (
            question is None
            or not isinstance(self.model, OnePass)
            or not question.has_room(self.model)
            or self._lacks_class()
        ):
            return {}
        found: dict[int, Collected[Any]] = {}
        for c, made in enumerate(question.models):
            if made._needs_all():
                continue
            try:
                check_parameters(made, made.parameters)
                found[c] = question.statistics(made)
            except QedError as error:
                if self.how.error_score == "raise":
                    _name(error, words_for(self.model, self.candidates[c]))
                    raise
        return found

    def _lacks_class(self) -> bool:
        """Say whether some training set lacks a class, which a statistic of all rows would still have."""
        if self.model.target != "label" or np.ndim(self.data.y) == 2:
            return False
        _, codes = np.unique(np.asarray(self.data.y), return_inverse=True)
        return self.folds.lacks_class(codes)

    def _jobs(self, known: dict[int, Collected[Any]]) -> Iterator[tuple[int, _Split, Learned | None]]:
        """Give candidates and splits, split by split, so that only few splits are in memory at a time."""
        for fold in self.folds:
            split = _Split(self.data, self.folds, fold)
            for c in range(len(self.candidates)):
                if c in known and self.question is not None:
                    yield c, split, (self.question.training(fold), known[c].training[fold])
                else:
                    yield c, split, None

    def _one(self, c: int, split: _Split, learned: Learned | None) -> tuple[int, int, _Fit]:
        try:
            with _quietly():
                return c, split.fold, self._fit_and_score(c, split, learned)
        except Exception as error:
            place = f"{words_for(self.model, self.candidates[c])} on fold {split.fold} of {self.folds.n_splits}"
            if self.how.error_score == "raise":
                _name(error, place)
                raise
            says = f"{type(error).__name__}: {error}"
            message = f"{place} failed and scores {self.how.error_score}: {says}"
            warnings.warn(message, FitFailedWarning, stacklevel=2)
            scores = dict.fromkeys(self.scorers, float(self.how.error_score))
            return c, split.fold, _Fit(scores, scores, 0.0, 0.0, failed=True)

    def _fit_and_score(self, c: int, split: _Split, learned: Learned | None) -> _Fit:
        began = time.perf_counter()
        made = made_with(self.model, self.candidates[c])
        with self.how.task(c * self.folds.n_splits + split.fold, made):
            if learned is not None:
                fit_known(made, *learned)
            else:
                split.train.fit(made)
        learned_at = time.perf_counter()
        scores = split.test.judge(made, self.scorers)
        bad = [name for name, score in scores.items() if np.isnan(score)]
        if bad:
            raise InputError(
                f"the score {bad[0]!r} is not defined on the rows held out. Choose another, or fewer folds."
            )
        train = split.train.judge(made, self.scorers) if self.how.train_scores else {}
        done = time.perf_counter()
        return _Fit(scores, train, learned_at - began, done - learned_at, made if self.how.keep_models else None)

    def _collected(self, fits: list[list[_Fit]], known: dict[int, Collected[Any]]) -> Evaluation:
        every = [fit for line in fits for fit in line]
        if all(fit.failed for fit in every):
            raise InputError(
                f"All {len(every)} fits failed, so there is nothing to compare: error_score='raise' shows the first error."
            )
        # A callable may give several scores; which, only a fit that went well can tell.
        names = next(list(fit.scores) for fit in every if not fit.failed)
        each, train = self._table(fits, names, "scores"), self._table(fits, names, "train")
        wants = self.how.train_scores
        words = f"fitted {len(every)} model{'s' if len(every) > 1 else ''}"
        passes = len({id(collected) for collected in known.values()})
        shared = len(known) == len(self.candidates)
        if shared:
            words += f" from the statistics of {passes} pass{'es' if passes > 1 else ''}"
        return Evaluation(
            {name: Scores.of(each[name], train[name] if wants else None) for name in names},
            words,
            np.array([[fit.fit_time for fit in line] for line in fits]),
            np.array([[fit.score_time for fit in line] for line in fits]),
            known[0].total if passes == 1 and shared else None,
            [[fit.model for fit in line] for line in fits] if self.how.keep_models else None,
        )

    def _table(self, fits: list[list[_Fit]], names: list[str], part: str) -> dict[str, np.ndarray]:
        """Put scores of the same name together; a fit that failed has the score that was asked for."""
        failed = np.nan if self.how.error_score == "raise" else float(self.how.error_score)
        found = ([[getattr(fit, part).get(name, failed) for fit in line] for line in fits] for name in names)
        return {name: np.array(table) for name, table in zip(names, found)}


def _quietly() -> AbstractContextManager[None]:
    """Hide the fits of a search from those who watch it, but for their time budget: bars and checkpoints are for one fit."""
    return watched_only_by(*(Watch(seconds=watch.seconds) for watch in watches() if watch.seconds is not None))


def _name(error: Exception, place: str) -> None:
    """Put the place of an error in front of its message; its type stays."""
    if len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (f"{place}: {error.args[0]}",)
    else:
        error.add_note(f"This was {place}.")
