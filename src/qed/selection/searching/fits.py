"""Filling the table of scores: cheaply where the model knows how, by fitting every candidate to every fold where not.

`evaluate` is behind searches, cross-validation and curves. It asks the model first (:mod:`qed.selection.searching.cheap`). What is left is
fitted on the engine's threads, and a model in closed form is then still spared its passes: one pass collects its statistic for
all folds, and every fit begins with the statistic of its training set.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from qed.base.engine import work
from qed.base.errors import DegenerateWarning, InputError, QedError
from qed.base.models.checks import is_finite, refuse_missing
from qed.base.models.estimator import Estimator, OnePass, fit_known
from qed.base.running.watch import Watch, watched_only_by, watches
from qed.base.sources.rows import Rows
from qed.selection.searching.candidates import fresh, made_with, words_for
from qed.selection.searching.cheap import ask, checked
from qed.selection.searching.folds import Candidate, Folds, Scores
from qed.selection.searching.linear_scores import LARGEST, is_linear
from qed.selection.searching.samples import Data, Sample


class FitFailedWarning(DegenerateWarning):
    """Some fits of a search failed; the text says which, why, and what was put in the place of their scores."""


Learned = tuple[Rows, Any]
Around = Callable[[int, Any], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Settings:
    """How `evaluate` is to go about it.

    Attributes
    ----------
    cheap : bool
        Whether to ask the model first.
    error_score : "raise" or float
        What to do about a fit that fails: raise its error, or take this score.
    keep_models : bool
        Whether the fitted models are wanted.
    around : callable
        Gives a context for the fit of a number and model, for callbacks.
    note : callable
        Called with the number of entries of the table that are filled, and the newest score.
    """

    cheap: bool = True
    error_score: Any = "raise"
    keep_models: bool = False
    around: Around = lambda number, model: nullcontext()
    note: Callable[[int, float], Any] = lambda number, score: None


def evaluate(
    model: Any,
    data: Data,
    candidates: Sequence[Candidate],
    folds: Folds,
    scorers: Mapping[str, Any],
    settings: Settings | None = None,
) -> dict[str, Scores]:
    """Score candidates on folds.

    Parameters
    ----------
    model : estimator
        The model to set the candidates' parameters on; it is not changed.
    data : Data
        The rows.
    candidates : sequence of dict
        Settings of parameters.
    folds : Folds
        The splits.
    scorers : mapping of str to callable
        What is wanted.
    settings : Settings, optional
        How to go about it.

    Returns
    -------
    dict of str to Scores
        For each scorer the table of scores.
    """
    how = settings or Settings()
    began = time.perf_counter()
    rows, probe = None, fresh(model)
    if isinstance(probe, OnePass) or hasattr(probe, "_cheap_scores"):
        rows = data.open(probe)
    found: dict[str, Scores] = {}
    if how.cheap and rows is not None and not how.keep_models:
        found = _asked(probe, rows, candidates, folds, scorers, how)
    if found:
        share = (time.perf_counter() - began) / (len(candidates) * folds.n_splits)
        fit_time, score_time = np.full((len(candidates), 1), share), np.zeros((len(candidates), 1))
        found = {name: replace(one, fit_time=fit_time, score_time=score_time) for name, one in found.items()}
        how.note(len(candidates) * folds.n_splits, max(float(np.max(s.mean)) for s in found.values()))
    left = {name: scorer for name, scorer in scorers.items() if name not in found}
    if left:
        found |= _Plain(model, data, rows, candidates, folds, left, how).scores()
    return {name: found[name] for name in scorers}


def fitted(model: Any, data: Data, folds: Folds) -> list[Any]:
    """Fit a model to every training set, and give the fitted models."""
    probe = fresh(model)
    rows = data.open(probe) if isinstance(probe, OnePass) else None
    return _Plain(model, data, rows, [{}], folds, {}, Settings(keep_models=True)).models()


def _asked(
    probe: Any, rows: Rows, candidates: Sequence[Candidate], folds: Folds, scorers: Mapping[str, Any], how: Settings
) -> dict[str, Scores]:
    """Ask the model for each score; where it raises and errors are to be scored, it is left to the plain way."""
    try:
        answers = {name: ask(probe, rows, candidates, folds, scorer) for name, scorer in scorers.items()}
    except QedError:
        if how.error_score == "raise":
            raise
        return {}
    return {name: answer for name, answer in answers.items() if answer is not None}


class _Split:
    """One split of the data; its rows are taken when they are first needed, and shared by all candidates."""

    def __init__(self, data: Data, folds: Folds, fold: int) -> None:
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


@dataclass(frozen=True, eq=False)
class _Learned:
    """A model that knows its columns, the statistics of all training sets, and that of all rows."""

    probe: Any
    others: list[Any]
    total: Any


@dataclass(frozen=True, eq=False)
class _Plain:
    """The plain way: every candidate on every fold."""

    model: Any
    data: Data
    rows: Rows | None
    candidates: Sequence[Candidate]
    folds: Folds
    scorers: Mapping[str, Any]
    how: Settings

    def scores(self) -> dict[str, Scores]:
        """Fit and score all of them."""
        known = self._statistics()
        fits = self.fits(known)
        return {name: self._table(name, fits, known) for name in self.scorers}

    def fits(self, known: dict[int, _Learned]) -> list[list[_Fit]]:
        """Fit all of them, on the engine's threads: for each candidate what came of it on each fold."""
        found: list[list[Any]] = [[None] * self.folds.n_splits for _ in self.candidates]
        tasks = (partial(self._one, *job) for job in self._jobs(known))
        for number, (c, fold, fit) in enumerate(work(tasks), 1):
            found[c][fold] = fit
            self.how.note(number, next(iter(fit.scores.values()), 0.0))
        return found

    def models(self) -> list[Any]:
        """Fit the first candidate to every training set."""
        return [fit.model for fit in self.fits(self._statistics())[0]]

    def _look(self) -> None:
        """Find what is missing in all rows, where its row number means something to the user."""
        finds_out = isinstance(self.model, OnePass) and self.how.cheap
        if finds_out or not isinstance(self.model, Estimator) or self.data.streamed:
            return
        X = self.data.X
        tags = self.model.__sklearn_tags__().input_tags
        if isinstance(X, np.ndarray) and X.dtype.kind == "f" and not tags.allow_nan and not is_finite(X):
            probe = fresh(self.model)
            refuse_missing(self.data.open(probe), probe)

    def _statistics(self) -> dict[int, _Learned]:
        """Collect for each candidate the statistics of all training sets, where that is possible."""
        self._look()
        usable = self.how.cheap and isinstance(self.model, OnePass)
        if not usable or self.rows is None or self.folds.assignment is None:
            return {}
        if self.folds.n_splits * (self.rows.n_features + 1) ** 2 > LARGEST or self._lacks_class():
            return {}
        found: dict[int, _Learned] = {}
        for places in self._sharing():
            try:
                probe = checked(self.model, self.candidates[places[0]])
                probe._open(self.rows, reset=True, target=probe.target)
                parts = self.folds.statistics(self.rows, probe)
            except QedError as error:
                if self.how.error_score == "raise":
                    _name(error, words_for(self.model, self.candidates[places[0]]))
                    raise
                continue
            found |= dict.fromkeys(places, _Learned(probe, parts.others(), parts.total))
        return found

    def _sharing(self) -> list[list[int]]:
        """Sort the candidates into groups whose statistic is the same.

        A model names in ``solving`` the parameters that only matter once the statistic is there.
        """
        solving = getattr(self.model, "solving", self.model.get_params() if is_linear(self.model) else ())
        rest = [{name: v for name, v in candidate.items() if name not in solving} for candidate in self.candidates]
        return [places for _, places in self.folds.families(rest, "")]

    def _lacks_class(self) -> bool:
        """Say whether some training set lacks a class, which a statistic of all rows would still have."""
        if self.model.target != "label" or self.folds.assignment is None:
            return False
        _, codes = np.unique(np.asarray(self.data.y), return_inverse=True)
        members = np.bincount(codes)
        inside = (np.bincount(codes[self.folds.assignment == fold], minlength=len(members)) for fold in self.folds)
        return any(bool((held_out == members).any()) for held_out in inside)

    def _jobs(self, known: dict[int, _Learned]) -> Iterator[tuple[int, _Split, Learned | None]]:
        """Give candidates and splits, split by split, so that only few splits are in memory at a time."""
        for fold in self.folds:
            split = _Split(self.data, self.folds, fold)
            for c in range(len(self.candidates)):
                if c in known and self.rows is not None:
                    training = self.folds.training(self.rows, fold)
                    yield c, split, (training, known[c].others[fold])
                else:
                    yield c, split, None

    def _one(self, c: int, split: _Split, learned: Learned | None) -> tuple[int, int, _Fit]:
        candidate = self.candidates[c]
        try:
            with _quietly():
                return c, split.fold, self._fit_and_score(c, split, learned)
        except Exception as error:
            place = f"{words_for(self.model, candidate)} on fold {split.fold} of {self.folds.n_splits}"
            if self.how.error_score == "raise":
                _name(error, place)
                raise
            warnings.warn(
                f"{place} failed and scores {self.how.error_score}: {type(error).__name__}: {error}",
                FitFailedWarning,
                stacklevel=2,
            )
            failed = dict.fromkeys(self.scorers, float(self.how.error_score))
            return c, split.fold, _Fit(failed, failed, 0.0, 0.0)

    def _fit_and_score(self, c: int, split: _Split, learned: Learned | None) -> _Fit:
        began = time.perf_counter()
        made = made_with(self.model, self.candidates[c])
        with self.how.around(c * self.folds.n_splits + split.fold, made):
            if learned is not None:
                fit_known(made, *learned)
            else:
                split.train.fit(made)
        learned_at = time.perf_counter()
        scores = {name: split.test.judge(made, scorer) for name, scorer in self.scorers.items()}
        bad = [name for name, score in scores.items() if np.isnan(score)]
        if bad:
            raise InputError(
                f"the score {bad[0]!r} is not defined on the rows held out. Choose another, or fewer folds."
            )
        train = {}
        if self.folds.train_scores:
            train = {name: split.train.judge(made, scorer) for name, scorer in self.scorers.items()}
        done = time.perf_counter()
        return _Fit(scores, train, learned_at - began, done - learned_at, made if self.how.keep_models else None)

    def _table(self, name: str, fits: list[list[_Fit]], known: dict[int, _Learned]) -> Scores:
        each = np.array([[fit.scores[name] for fit in line] for line in fits])
        words = f"fitted {each.size} model{'s' if each.size > 1 else ''}"
        passes = len({id(learned) for learned in known.values()})
        if len(known) == len(self.candidates):
            words += f" from the statistics of {passes} pass{'es' if passes > 1 else ''}"
        return Scores.of(
            each,
            words,
            statistic=known[0].total if passes == 1 and len(known) == len(self.candidates) else None,
            train=np.array([[fit.train[name] for fit in line] for line in fits]) if self.folds.train_scores else None,
            fit_time=np.array([[fit.fit_time for fit in line] for line in fits]),
            score_time=np.array([[fit.score_time for fit in line] for line in fits]),
            models=[[fit.model for fit in line] for line in fits] if self.how.keep_models else None,
        )


def _quietly() -> AbstractContextManager[None]:
    """Hide the fits of a search from those who watch it, but for their time budget: bars and checkpoints are for one fit."""
    return watched_only_by(*(Watch(seconds=seen.seconds) for seen in watches() if seen.seconds is not None))


def _name(error: Exception, place: str) -> None:
    """Put the place of an error in front of its message; its type stays."""
    if len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (f"{place}: {error.args[0]}",)
    else:
        error.add_note(f"This was {place}.")
