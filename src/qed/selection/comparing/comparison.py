"""Comparing all models for a table: a leaderboard of cross-validated scores, and the best model fitted.

Every fold encodes its own training rows and nothing else (:mod:`qed.selection.comparing.encoding`), once for all models, and each model
then scores all its settings on the encoded rows in whatever way is cheapest for it. So the scores are those of fitting every setting of
every `TableModel` anew, at a fraction of the price. The score of a model is that of its best setting, averaged over the folds; as it was
chosen for being best, it is a little too good, the more so the more settings there were and the fewer rows. Without a target rows are
grouped instead (:mod:`qed.selection.comparing.grouping`).
"""

import time
import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.models.roles import Transformer
from qed.base.models.searching import fit_known
from qed.base.sources.open import rows as rows_of
from qed.base.sources.rows import ArrayRows, Rows
from qed.features.maps.polynomial import monomial_count
from qed.features.tables.encoder import ColumnEncoder
from qed.selection.comparing.contenders import WORDS, Contender, Encoding, contenders
from qed.selection.comparing.encoding import FoldEncoder, Known, inspect_folds
from qed.selection.comparing.grouping import Grouping
from qed.selection.comparing.leaderboard import Comparison, Entry, Progress
from qed.selection.comparing.running import Running
from qed.selection.comparing.table_model import told_of_levels
from qed.selection.comparing.task import check_task
from qed.selection.scoring import Scorer, get_scorer, get_scorer_names
from qed.selection.searching.candidates import fresh
from qed.selection.searching.search import Search
from qed.selection.splitting.splits import KFold, StratifiedKFold

SCORING = {"regression": "r2", "classification": "accuracy"}
OUT_OF_BAG = (
    "judged out of bag, each row by the members that have not seen it, after one fit to all rows and one encoding of them; "
    "such a score is a little lower than that of folds."
)
# What all fits of one model may take together.
MOST_SECONDS = 180.0


def compare(
    X: Any,
    y: Any = None,
    *,
    task: str | None = None,
    cv: int = 5,
    scoring: str | None = None,
    positive: object = None,
    seed: int = 0,
    out_of_bag: bool = False,
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
        The name of a scorer; R² or accuracy when not given. Clusters are always scored by their silhouette.
    positive : label, optional
        The positive one of two classes, for scores such as f1, precision or recall; when not given it is 1, or the greater one
        where 1 is no label.
    seed : int, default=0
        The seed of the folds and of models that draw.
    out_of_bag : bool, default=False
        Whether models whose members draw their rows, such as forests, are judged by the members that have not seen a row: one fit in the
        place of one for each fold, with a score that is a little too low. Where folds would take too long, they are in any case.
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
    folds, tell = _folds(task, cv, seed, table.count(), y), progress or _silent
    if task == "clustering":
        _refuse_what_judges_targets(scoring, positive, out_of_bag)
        grouping = Grouping(table, folds, seed, progress=tell)
        entries = grouping.leaderboard()
        reference = grouping.reference(entries[0])
        return Comparison(task, why, "silhouette", entries, table, folds, seed, reference)
    scorer, scoring = _scorer(task, scoring)
    scorer = _with_positive(scorer, positive, y)
    run = _Run(task, table, y, folds, scorer, out_of_bag, progress=tell)
    return Comparison(task, why, scoring, run.leaderboard(seed), table, folds, seed)


def _silent(share: float, words: str) -> None:
    """Show no progress."""


def _opened(X: Any, y: Any) -> tuple[ArrayRows, np.ndarray | None]:
    source = X if isinstance(X, Rows) else rows_of(X, y)
    block = source.table().array()
    found = ArrayRows(block.X, block.y, None, source.feature_names, target_names=source.target_names)
    return found, block.y


def _refuse_what_judges_targets(scoring: str | None, positive: object, out_of_bag: bool) -> None:
    if scoring not in (None, "silhouette"):
        raise InputError(f"Clusters are scored by their silhouette, not by {scoring!r}: leave the scoring out.")
    if positive is not None:
        raise ParameterError("Clusters have no positive class: leave it out.")
    if out_of_bag:
        raise ParameterError("Clusters are not judged out of bag: there is no target to judge by.")


def _scorer(task: str, scoring: str | None) -> tuple[Scorer, str]:
    name = scoring or SCORING[task]
    scorer = get_scorer(name)
    fits = {other for other in get_scorer_names() if _judges_numbers(get_scorer(other)) == (task == "regression")}
    if name not in fits:
        raise ParameterError(f"{name!r} does not score {task}: choose one of {', '.join(sorted(fits))}.")
    return scorer, name


def _with_positive(scorer: Scorer, positive: object, y: np.ndarray | None) -> Scorer:
    """Give a scorer with its positive class: the one named, as it is or as text, or else 1, or the greater where that is no label."""
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
class _Run(Running):
    """One comparison under way."""

    task: str
    table: ArrayRows
    y: np.ndarray | None
    folds: np.ndarray
    scorer: Callable[..., float]
    prefers_bags: bool = False
    bagged: set[str] = field(default_factory=set)
    known: dict[str, Known] = field(default_factory=dict)

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
        """Leave out a model whose fits would take too long together, with its reason; one that needs no folds is judged without."""
        fits, columns = one.n_fits * (int(self.folds.max()) + 1) + 1, monomial_count(p, one.degree) - 1
        seconds = fits * one.model._seconds_on(n, columns, n_classes)
        has_bags = hasattr(one.model, "_search_out_of_bag")
        if has_bags and (self.prefers_bags or seconds > MOST_SECONDS >= seconds * (one.n_fits + 1) / fits):
            self.bagged.add(one.name)
        elif seconds > MOST_SECONDS:
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
            with self.caught("encoding"):
                _, *rest = group[0].table_model()._unfitted()
                fitted = encoder.fitted(fold)
                Z = encoder.encode(fitted, rest, fold)
            for one in group:
                self.report(f"{one.name}, fold {fold + 1} of {n_folds}")
                if one.name in self.failures or one.name in self.bagged:
                    continue
                with self.caught(one.name):
                    model = told_of_levels(fresh(one.model), fitted)
                    scores[one.name][:, fold] = scores_of(model, one.grid, Z, self.y, self.folds, self.scorer, fold)[
                        :, 0
                    ]
        return scores

    def _entries(self, group: list[Contender], scores: dict[str, np.ndarray], encoder: FoldEncoder) -> list[Entry]:
        """Fit models that see the same columns to all rows, each with its best setting; the rows are encoded once."""
        began = time.perf_counter()
        with self.caught("encoding"):
            changes, rows = group[0].table_model()._encode(self.table, encoder.fitted(None))
            encoded = rows.cached()
        seconds = time.perf_counter() - began
        return [self._entry(one, scores[one.name], changes, encoded, seconds) for one in group]

    def _entry(
        self, one: Contender, scores: np.ndarray, changes: list[Transformer], encoded: Rows, seconds: float
    ) -> Entry:
        self.report(f"{one.name}, all rows")
        if one.name in self.bagged:
            with self.caught(one.name):
                model = told_of_levels(fresh(one.model), changes[0])
                scores = scores_of(model, one.grid, encoded.array().X, self.y, self.folds, self.scorer, "oob")
        mean = scores.mean(axis=1)
        if np.isnan(mean).all() and one.name not in self.failures:
            self.failures[one.name] = "its score is not defined on these folds"
        if one.name in self.failures:
            return Entry(one.name, one, scores, notes=self.notes_on(one), failure=self.failures[one.name])
        chosen = int(np.nanargmax(mean))
        model = one.table_model(one.candidates[chosen])
        began = time.perf_counter()
        with self.caught(one.name):
            fit_known(model, self.table, (deepcopy(changes), encoded))
        seconds += time.perf_counter() - began
        failure = self.failures.get(one.name, "")
        bagged = one.name in self.bagged
        notes = (*self.notes_on(one), *([f"{one.name}: {OUT_OF_BAG}"] if bagged else []))
        name = f"{one.name} (out of bag)" if bagged else one.name
        return Entry(name, one, scores, chosen, None if failure else model, seconds, notes, failure, bagged)


def scores_of(
    model: Any,
    grid: dict[str, list[Any]],
    Z: np.ndarray,
    y: np.ndarray | None,
    folds: np.ndarray,
    scorer: Callable[..., float],
    which: int | str,
) -> np.ndarray:
    """Score every setting of a model on the rows of one of the folds, after fitting it to the others, or on all folds out of bag ("oob").

    It is a search with one fold, so that a model which can tell the scores of all its settings at once does.
    """
    cv = which if isinstance(which, str) else [(np.flatnonzero(folds != which), np.flatnonzero(folds == which))]
    groups = folds if isinstance(which, str) else None
    search = Search(model, grid, cv=cv, scoring=scorer, refit=False).fit(Z, y, groups=groups)
    found = [search.cv_results_[f"split{k}_test_score"] for k in range(search.n_splits_)]
    return np.stack(found, axis=1)
