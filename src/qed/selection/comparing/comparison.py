"""Comparing all models for a table: a leaderboard of cross-validated scores, and the best model fitted.

Every fold encodes its own training rows and nothing else (:mod:`qed.selection.comparing.encoding`), once for all models, and each model
then scores all its settings on the encoded rows in whatever way is cheapest for it. So the scores are those of fitting every setting of
every `TableModel` anew, at a fraction of the price. The score of a model is that of its best setting, averaged over the folds; as it was
chosen for being best, it is a little too good, the more so the more settings there were and the fewer rows.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qed.base.errors import InputError, ParameterError, QedError
from qed.base.models.roles import Transformer
from qed.base.models.searching import fit_known
from qed.base.sources.open import rows as rows_of
from qed.base.sources.rows import ArrayRows, Rows
from qed.features.maps.polynomial import monomial_count
from qed.features.tables.encoder import ColumnEncoder
from qed.selection.comparing.contenders import WORDS, Contender, Encoding, contenders
from qed.selection.comparing.encoding import FoldEncoder, Known, inspect_folds
from qed.selection.comparing.table_model import told_of_levels
from qed.selection.comparing.task import check_task
from qed.selection.metrics.silhouette import centre_silhouette
from qed.selection.scoring import Scorer, get_scorer, get_scorer_names
from qed.selection.searching.candidates import fresh
from qed.selection.searching.search import Search
from qed.selection.splitting.splits import KFold, StratifiedKFold

Progress = Callable[[float, str], None]
SCORING = {"regression": "r2", "classification": "accuracy", "clustering": "silhouette"}
# What all fits of one model may take together.
MOST_SECONDS = 180.0


@dataclass(frozen=True, eq=False)
class Entry:
    """One line of the leaderboard."""

    name: str  # the model
    contender: Contender  # the unfitted model with the settings it could choose from
    scores: np.ndarray  # (n_settings, n_folds): the score of each setting on each fold, greater being better
    chosen: int = 0  # the number of the best setting
    model: Any = None  # fitted to all rows with the chosen setting; None when that was not possible
    seconds: float = 0.0  # how long that fit took, encoding included
    notes: tuple[str, ...] = ()  # what models had to say during their fits
    failure: str = ""  # why there is no model, if there is none

    @property
    def score(self) -> float:
        """The mean score of the chosen setting over the folds."""
        return float(self.scores[self.chosen].mean())

    @property
    def standard_error(self) -> float:
        """The standard error of that mean."""
        each = self.scores[self.chosen]
        return float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else float("nan")

    @property
    def setting(self) -> dict[str, Any]:
        """The chosen parameters."""
        return self.contender.candidates[self.chosen]

    @property
    def choice(self) -> dict[str, Any]:
        """Those of them that could have been others."""
        return {name: value for name, value in self.setting.items() if len(self.contender.grid[name]) > 1}


@dataclass(frozen=True, eq=False)
class Comparison:
    """What came of comparing models.

    Attributes
    ----------
    task, why : str
        What was to be done, and how that was decided.
    scoring : str
        The name of the score.
    entries : list of Entry
        The leaderboard, the best first.
    rows : Rows
        The table that was learned from, with its target.
    folds : ndarray of shape (n,)
        The fold that held out each row.
    seed : int
        The seed of the folds and of the models.
    """

    task: str
    why: str
    scoring: str
    entries: list[Entry]
    rows: Rows
    folds: np.ndarray
    seed: int

    @property
    def best(self) -> Entry:
        """The first line."""
        return self.entries[0]

    @property
    def n_folds(self) -> int:
        return int(self.folds.max()) + 1


def compare(
    X: Any,
    y: Any = None,
    *,
    task: str | None = None,
    cv: int = 5,
    scoring: str | None = None,
    positive: object = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Cross-validate every model for a task on a table, and fit each with its best setting.

    Parameters
    ----------
    X : frame, Arrow table, array-like or Rows
        The table; it is held in memory. Columns may hold numbers, text, dates and missing values.
    y : array-like, optional
        The target, without missing values; without one the rows are clustered.
    task : {"regression", "classification", "clustering"}, optional
        What is to be done; decided from the target when not given, see :func:`qed.selection.comparing.task.task_of`.
    cv : int, default=5
        The number of folds, drawn at random, with the classes in equal shares.
    scoring : str, optional
        The name of a scorer; R², accuracy or the silhouette when not given.
    positive : label, optional
        The positive one of two classes, for scores such as f1, precision or recall; when not given it is 1, or the greater one
        where 1 is no label.
    seed : int, default=0
        The seed of the folds and of models that draw.
    progress : callable, optional
        Called with the share that is done and a few words.

    Returns
    -------
    Comparison
        The leaderboard, with fitted models.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("stackloss").Xy()
    >>> found = qed.compare(X, y)
    >>> found.task, bool(found.best.model.certificate_)
    ('regression', True)
    """
    table, y = _opened(X, y)
    task, why = check_task(task, y, (table.target_names or ("y",))[0])
    folds = _folds(task, cv, seed, table.count(), y)
    scorer, scoring = _scorer(task, scoring)
    scorer = _with_positive(scorer, positive, y)
    run = _Run(task, table, y, folds, scorer, progress or _silent)
    return Comparison(task, why, scoring, run.leaderboard(seed), table, folds, seed)


def _silent(share: float, words: str) -> None:
    """Show no progress."""


def _opened(X: Any, y: Any) -> tuple[ArrayRows, np.ndarray | None]:
    source = X if isinstance(X, Rows) else rows_of(X, y)
    block = source.table().array()
    found = ArrayRows(block.X, block.y, None, source.feature_names, target_names=source.target_names)
    return found, block.y


def _scorer(task: str, scoring: str | None) -> tuple[Callable[..., float], str]:
    if task == "clustering":
        if scoring not in (None, "silhouette"):
            raise InputError(f"Clusters are scored by their silhouette, not by {scoring!r}: leave the scoring out.")
        return centre_silhouette, "silhouette"
    name = scoring or SCORING[task]
    scorer = get_scorer(name)
    fits = {other for other in get_scorer_names() if _judges_numbers(get_scorer(other)) == (task == "regression")}
    if name not in fits:
        raise ParameterError(f"{name!r} does not score {task}: choose one of {', '.join(sorted(fits))}.")
    return scorer, name


def _with_positive(scorer: Callable[..., float], positive: object, y: np.ndarray | None) -> Callable[..., float]:
    """Give a scorer with its positive class: the one named, as it is or as text, or else 1, or the greater where that is no label."""
    if not isinstance(scorer, Scorer):
        if positive is None:
            return scorer
        raise ParameterError("Clusters have no positive class: leave it out.")
    if positive is None and not scorer.has_positive:
        return scorer
    labels = [] if y is None else np.unique(y).tolist()
    if positive is None:
        return scorer.with_positive(labels[1]) if len(labels) == 2 and 1 not in labels else scorer
    chosen = [label for label in labels if label == positive or str(label) == str(positive)]
    if len(labels) != 2 or not chosen:
        words = ", ".join(map(repr, labels[:8])) + (" ..." if len(labels) > 8 else "")
        raise ParameterError(f"The positive class must be one of two, not {positive!r}: the target has {words}.")
    return scorer.with_positive(chosen[0])


def _judges_numbers(scorer: Scorer) -> bool:
    return scorer.function is not None and scorer.function.__module__.endswith("metrics.regression")


def _folds(task: str, cv: int, seed: int, n: int, y: np.ndarray | None) -> np.ndarray:
    if n < 4:
        raise InputError(f"The table has {n} rows, too few to hold some out: give at least 4.")
    # At least two rows to a fold: the score of a single one may not be defined.
    splitter = (StratifiedKFold if task == "classification" else KFold)(min(cv, n // 2), random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return splitter.assign(n, y)


@dataclass
class _Run:
    """One comparison under way."""

    task: str
    table: ArrayRows
    y: np.ndarray | None
    folds: np.ndarray
    scorer: Callable[..., float]
    progress: Progress
    notes: dict[str, list[str]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    known: dict[str, Known] = field(default_factory=dict)
    done: int = 0
    total: int = 1

    def leaderboard(self, seed: int) -> list[Entry]:
        """Score and fit all models."""
        groups = self._groups(seed)
        self.total = (int(self.folds.max()) + 2) * sum(len(group) for group in groups)
        entries: list[Entry] = []
        for group in groups:
            encoder = self._encoder(group[0].encoder)
            entries += self._entries(group, self._scores(group, encoder), encoder)
        self.progress(1.0, "done")
        return sorted(entries, key=lambda entry: (bool(entry.failure), -entry.score if not entry.failure else 0.0))

    def _groups(self, seed: int) -> list[list[Contender]]:
        """Give the models that take part, those together that see the same columns."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            encoder = self._encoder(ColumnEncoder())
            X = encoder.matrix(encoder.fitted(None))
            wordy = self._encoder(ColumnEncoder(**WORDS)).fitted(None).sparse_output_
        n_classes = len(set(self.y.tolist())) if self.task == "classification" and self.y is not None else 1
        groups: dict[Encoding, list[Contender]] = {}
        outputs = n_classes if n_classes > 2 else 1
        for one in contenders(self.task, len(X), X.shape[1], outputs, seed, X=X, wordy=wordy):
            groups.setdefault(one.encoding, []).append(one)
        for group in groups.values():
            width = self._encoder(group[0].encoder).fitted(None)._width()
            for one in group:
                self._refuse_what_is_too_dear(one, len(X), width, n_classes)
        return list(groups.values())

    def _refuse_what_is_too_dear(self, one: Contender, n: int, p: int, n_classes: int) -> None:
        """Leave out a model whose fits would take too long together, with its reason."""
        fits, columns = one.n_fits * (int(self.folds.max()) + 1) + 1, monomial_count(p, one.degree) - 1
        seconds = fits * one.model._seconds_on(n, columns, n_classes)
        if seconds > MOST_SECONDS:
            self.failures[one.name] = (
                f"left out: {fits} fits to {n:,} rows, {columns:,} columns and {n_classes:,} classes could take {seconds / 60:,.0f} minutes"
            )

    def _encoder(self, encoder: ColumnEncoder) -> FoldEncoder:
        """Prepare an encoding; encoders that read the columns as the same share one look at the table."""
        asked = repr([getattr(encoder, name) for name in ("numeric", "categorical", "dates", "text", "drop")])
        if asked not in self.known:
            self.known[asked] = inspect_folds(self.table, self.folds, encoder)
        return FoldEncoder(self.table, self.folds, encoder, self.known[asked])

    def _scores(self, group: list[Contender], encoder: FoldEncoder) -> dict[str, np.ndarray]:
        """Score all settings of models that see the same columns, fold by fold."""
        n_folds = int(self.folds.max()) + 1
        scores = {one.name: np.full((len(one.candidates), n_folds), np.nan) for one in group}
        for fold in range(n_folds):
            with self._caught("encoding"):
                _, *rest = group[0].table_model()._unfitted()
                fitted = encoder.fitted(fold)
                Z = encoder.encode(fitted, rest, fold)
            for one in group:
                self._report(f"{one.name}, fold {fold + 1} of {n_folds}")
                if one.name in self.failures:
                    continue
                with self._caught(one.name):
                    model = told_of_levels(fresh(one.model), fitted)
                    scores[one.name][:, fold] = scores_of(model, one.grid, Z, self.y, self.folds == fold, self.scorer)
        return scores

    def _entries(self, group: list[Contender], scores: dict[str, np.ndarray], encoder: FoldEncoder) -> list[Entry]:
        """Fit models that see the same columns to all rows, each with its best setting; the rows are encoded once."""
        began = time.perf_counter()
        with self._caught("encoding"):
            changes, rows = group[0].table_model()._encode(self.table, encoder.fitted(None))
            encoded = rows.cached()
        seconds = time.perf_counter() - began
        return [self._entry(one, scores[one.name], changes, encoded, seconds) for one in group]

    def _entry(
        self, one: Contender, scores: np.ndarray, changes: list[Transformer], encoded: Rows, seconds: float
    ) -> Entry:
        self._report(f"{one.name}, all rows")
        mean = scores.mean(axis=1)
        if np.isnan(mean).all() and one.name not in self.failures:
            self.failures[one.name] = "its score is not defined on these folds"
        if one.name in self.failures:
            return Entry(one.name, one, scores, notes=self._notes(one), failure=self.failures[one.name])
        chosen = int(np.nanargmax(mean))
        model = one.table_model(one.candidates[chosen])
        began = time.perf_counter()
        with self._caught(one.name):
            fit_known(model, self.table, (deepcopy(changes), encoded))
        seconds += time.perf_counter() - began
        failure = self.failures.get(one.name, "")
        return Entry(one.name, one, scores, chosen, None if failure else model, seconds, self._notes(one), failure)

    def _notes(self, one: Contender) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.notes.get("encoding", ()), *self.notes.get(one.name, ())]))

    def _report(self, words: str) -> None:
        self.progress(self.done / self.total, words)
        self.done += 1

    @contextmanager
    def _caught(self, name: str) -> Iterator[None]:
        """Keep what a fit warns of for the leaderboard, and what goes wrong in one model from ending the others."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                yield
            except Exception as error:
                # Whatever goes wrong in one model, the others are still to be compared.
                if name == "encoding":
                    raise
                kind = "" if isinstance(error, QedError) else f"{type(error).__name__}: "
                self.failures[name] = kind + " ".join(str(error).split())
        self.notes.setdefault(name, []).extend(str(warning.message) for warning in caught)


def scores_of(
    model: Any,
    grid: dict[str, list[Any]],
    Z: np.ndarray,
    y: np.ndarray | None,
    held_out: np.ndarray,
    scorer: Callable[..., float],
) -> np.ndarray:
    """Score every setting of a model on the rows held out, after fitting it to the others.

    It is a search with one fold, so that a model which can tell the scores of all its settings at once does.
    """
    split = (np.flatnonzero(~held_out), np.flatnonzero(held_out))
    search = Search(model, grid, cv=[split], scoring=scorer, refit=False).fit(Z, y)
    return np.asarray(search.cv_results_["split0_test_score"])
