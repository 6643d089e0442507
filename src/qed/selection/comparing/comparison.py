"""Comparing all models for a table: a leaderboard of cross-validated scores, and the best model fitted.

Every fold encodes its own training rows and nothing else (:mod:`qed.selection.comparing.encoding`), once for all models, and each model
then scores all its settings on the encoded rows in whatever way is cheapest for it. So the scores are those of fitting every setting of
every `TableModel` anew, at a fraction of the price. The score of a model is that of its best setting, averaged over the folds; as it was
chosen for being best, it is a little too good, the more so the more settings there were and the fewer rows. Without a target rows are
grouped instead (:mod:`qed.selection.comparing.grouping`).
"""

import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from qed.base.models.roles import Transformer
from qed.base.models.searching import fit_known
from qed.base.sources.open import rows as rows_of
from qed.base.sources.rows import ArrayRows, Rows
from qed.features.maps.polynomial import monomial_count
from qed.features.tables.encoder import ColumnEncoder
from qed.selection.comparing.contenders import WORDS, Contender, Encoding, contenders
from qed.selection.comparing.encoding import FoldEncoder, Known, inspect_folds
from qed.selection.comparing.extending import MOST_ROUNDS, extended, extension, merged
from qed.selection.comparing.folding import Folds
from qed.selection.comparing.grouping import Grouping
from qed.selection.comparing.judging import Judging, judging, refuse_what_judges_targets
from qed.selection.comparing.leaderboard import Comparison, Entry, Progress
from qed.selection.comparing.preparing import Asked, decided, prepared, reading_of
from qed.selection.comparing.running import Running
from qed.selection.comparing.table_model import told_of_levels
from qed.selection.comparing.task import check_task
from qed.selection.searching.candidates import fresh
from qed.selection.searching.search import Search

OUT_OF_BAG = (
    "judged out of bag, each row by the members that have not seen it, after one fit to all rows and one encoding of them; "
    "such a score is a little lower than that of folds."
)
# What all fits of one model may take together.
MOST_SECONDS = 180.0
# A model that takes longer tries no more settings than it has, also where the best of them is at the end of its grid.
LONG = 10.0


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
    use: Sequence[str] = (),
    drop: Sequence[str] = (),
    treat: Mapping[str, str] | None = None,
    time: str | None = None,
    group: str | None = None,
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
        The name of a scorer, such as "rmse", "f1" or "auc". When not given, R² for numbers and accuracy for classes, but where most rows
        are of one class the area under the ROC curve, or, of more than two classes, the log-loss. Clusters have their silhouette.
    positive : label, optional
        The positive one of two classes, for scores such as f1, precision or recall; when not given it is 1, or the greater one
        where 1 is no label.
    seed : int, default=0
        The seed of the folds and of models that draw.
    out_of_bag : bool, default=False
        Whether models whose members draw their rows, such as forests, are judged by the members that have not seen a row: one fit in the
        place of one for each fold, with a score that is a little too low. Where folds would take too long, they are in any case.
    use, drop : list of str
        Columns to learn from, though a rule would leave them out, and columns to leave out.
    treat : dict of str to str, optional
        What some columns are to be read as, whatever they look like: "number", "category", "date" or "text".
    time : str, optional
        The column that puts the rows in order: each block of rows is then judged by models of all rows before it.
    group : str, optional
        The column whose equal values belong together: all rows of one are held out together. It is not learned from.
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
    table, folds, seen = prepared(table, y, task, cv, seed, Asked(use, drop, treat or {}, time, group))
    tell, reading = progress or _silent, reading_of(seen)
    found: dict[str, Any] = {"columns": seen, "forward": folds.forward}
    if task == "clustering":
        refuse_what_judges_targets(scoring, positive, out_of_bag)
        grouping = Grouping(table, folds.number, seed, reading, progress=tell)
        entries = grouping.leaderboard()
        found["columns"] = decided(seen, entries)
        reference = grouping.reference(entries[0])
        return Comparison(
            task, why, "silhouette", entries, table, folds.number, seed, reference, says=folds.says, **found
        )
    assert y is not None
    judged = judging(task, y, scoring, positive, complete=folds.have_all_classes(y))
    run = _Run(task, table, y, folds, judged, reading, out_of_bag, progress=tell)
    entries = run.leaderboard(seed)
    found |= {"others": tuple(judged.others), "says": (*judged.says, *folds.says), "columns": decided(seen, entries)}
    return Comparison(task, why, judged.name, entries, table, folds.number, seed, **found)


def _silent(share: float, words: str) -> None:
    """Show no progress."""


def _opened(X: Any, y: Any) -> tuple[ArrayRows, np.ndarray | None]:
    source = X if isinstance(X, Rows) else rows_of(X, y)
    block = source.table().array()
    found = ArrayRows(block.X, block.y, None, source.feature_names, target_names=source.target_names)
    return found, block.y


@dataclass
class _Run(Running):
    """One comparison under way."""

    task: str
    table: ArrayRows
    y: np.ndarray
    folds: Folds
    judged: Judging
    reading: Mapping[str, Any]
    prefers_bags: bool = False
    bagged: set[str] = field(default_factory=set)
    known: dict[str, Known] = field(default_factory=dict)
    expected: dict[str, float] = field(
        default_factory=dict
    )  # about how long the fits of each model take, by their counted work
    longer: dict[str, str] = field(
        default_factory=dict
    )  # which grids were continued, in words, by the name of the model

    def leaderboard(self, seed: int) -> list[Entry]:
        """Score and fit all models."""
        groups = self._groups(seed)
        self.total = (self.folds.count + 1) * sum(len(group) for group in groups)
        entries: list[Entry] = []
        for group in groups:
            encoder = self._encoder(group[0].encoder)
            entries += self._entries(*self._lengthened(group, self._scores(group, encoder), encoder), encoder)
        self.progress(1.0, "done")
        return sorted(entries, key=lambda entry: (bool(entry.failure), -entry.score if not entry.failure else 0.0))

    def _groups(self, seed: int) -> list[list[Contender]]:
        """Give the models that take part, those together that see the same columns."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            encoder = self._encoder(ColumnEncoder(**self.reading))
            X = encoder.matrix(encoder.fitted(None))
            wordy = self._encoder(ColumnEncoder(**{**WORDS, **self.reading})).fitted(None).sparse_output_
        n_classes = len(set(self.y.tolist())) if self.task == "classification" else 1
        groups: dict[Encoding, list[Contender]] = {}
        outputs = n_classes if n_classes > 2 else 1
        for one in contenders(self.task, len(X), X.shape[1], outputs, seed, X=X, wordy=wordy, reading=self.reading):
            groups.setdefault(one.encoding, []).append(one)
        for group in groups.values():
            width = self._encoder(group[0].encoder).fitted(None)._width()
            for one in group:
                self._refuse_what_is_too_dear(one, len(X), width, n_classes)
        return list(groups.values())

    def _refuse_what_is_too_dear(self, one: Contender, n: int, p: int, n_classes: int) -> None:
        """Leave out a model whose fits would take too long together, with its reason; one that needs no folds is judged without."""
        fits, columns = one.n_fits * (self.folds.count) + 1, monomial_count(p, one.degree) - 1
        seconds = fits * one.model._seconds_on(n, columns, n_classes)
        self.expected[one.name] = seconds
        has_bags = hasattr(one.model, "_search_out_of_bag") and not self.folds.forward
        if has_bags and (self.prefers_bags or seconds > MOST_SECONDS >= seconds * (one.n_fits + 1) / fits):
            self.bagged.add(one.name)
        elif self.judged.scorer.asks(one.model) is None:
            self.failures[one.name] = (
                f"left out: {self.judged.name} judges {self.judged.scorer.response}, which it does not have"
            )
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
        """Give for each model a table: scorers by settings by folds. All see the same columns, which are encoded once for each fold."""
        n_folds = self.folds.count
        shape = len(self.judged.scorers), self.folds.count
        scores = {one.name: np.full((shape[0], len(one.candidates), shape[1]), np.nan) for one in group}
        for fold in range(n_folds):
            # What the last fold saw goes before the next is made: there is never more than one beside the table that is encoded.
            Z = None
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
                    found = scores_of(model, one.grid, Z, self.y, self.folds, self.judged, fold)
                    scores[one.name][:, :, fold] = found[:, :, 0]
        return scores

    def _lengthened(
        self, group: list[Contender], scores: dict[str, np.ndarray], encoder: FoldEncoder
    ) -> tuple[list[Contender], dict[str, np.ndarray]]:
        """Try further values of parameters whose best value is at an end of those that were tried."""
        whole = {one.name: one for one in group}
        for _ in range(MOST_ROUNDS):
            further = {}
            for one in whole.values():
                if one.name in self.failures or one.name in self.bagged or self.expected[one.name] > LONG:
                    continue
                name, more = extension(one, scores[one.name][0])
                if more:
                    further[one.name] = (name, *extended(one, name, more))
            if not further:
                break
            self.total += self.folds.count * len(further)
            found = self._scores([part for _, part, _ in further.values()], encoder)
            for called, (name, part, longer) in further.items():
                if called in self.failures:
                    # What was tried before still counts.
                    del self.failures[called]
                    continue
                scores[called] = merged(longer, [(whole[called], scores[called]), (part, found[called])])
                whole[called] = longer
                self.longer[called] = (
                    f"{called}: the best {name} was the last one tried, so the grid was continued to {_ends(longer.grid[name])}."
                )
        return list(whole.values()), scores

    def _entries(self, group: list[Contender], scores: dict[str, np.ndarray], encoder: FoldEncoder) -> list[Entry]:
        """Fit models that see the same columns to all rows, each with its best setting; the rows are encoded once."""
        began = perf_counter()
        encoder.forget()
        with self.caught("encoding"):
            changes, rows = group[0].table_model()._encode(self.table, encoder.fitted(None))
            encoded = rows.cached()
        seconds = perf_counter() - began
        return [self._entry(one, scores[one.name], changes, encoded, seconds) for one in group]

    def _entry(
        self, one: Contender, table: np.ndarray, changes: list[Transformer], encoded: Rows, seconds: float
    ) -> Entry:
        self.report(f"{one.name}, all rows")
        if one.name in self.bagged:
            with self.caught(one.name):
                model = told_of_levels(fresh(one.model), changes[0])
                table = scores_of(model, one.grid, encoded.array().X, self.y, self.folds, self.judged, "oob")
        scores = table[0]
        mean = scores.mean(axis=1)
        if np.isnan(mean).all() and one.name not in self.failures:
            self.failures[one.name] = "its score is not defined on these folds"
        if one.name in self.failures:
            return Entry(one.name, one, scores, notes=self.notes_on(one), failure=self.failures[one.name])
        chosen = int(np.nanargmax(mean))
        model = one.table_model(one.candidates[chosen])
        began = perf_counter()
        with self.caught(one.name):
            fit_known(model, self.table, (deepcopy(changes), encoded))
        seconds += perf_counter() - began
        failure = self.failures.get(one.name, "")
        bagged = one.name in self.bagged
        notes = (*self.notes_on(one), *([f"{one.name}: {OUT_OF_BAG}"] if bagged else []))
        notes += (self.longer[one.name],) if one.name in self.longer else ()
        others = {name: table[place, chosen] for place, name in enumerate(self.judged.scorers) if place > 0}
        name = f"{one.name} (out of bag)" if bagged else one.name
        fitted = None if failure else model
        return Entry(name, one, scores, chosen, fitted, seconds, notes, failure, bagged, others=others)


def _ends(values: list[Any]) -> str:
    return f"{values[0]:g} ... {values[-1]:g}"


def scores_of(
    model: Any,
    grid: dict[str, list[Any]],
    Z: np.ndarray,
    y: np.ndarray,
    folds: Folds,
    judged: Judging,
    which: int | str,
) -> np.ndarray:
    """Score every setting of a model on the rows of one of the folds, after fitting it to the others, or on all folds out of bag ("oob").

    Gives scorers by settings by folds; NaN for what the model can not be asked. It is a search with one fold, so that a model which
    can tell the scores of all its settings at once does.
    """
    bagged = isinstance(which, str)
    cv: Any = which
    if not isinstance(which, str):
        cv = [(np.flatnonzero(folds.training(which)), np.flatnonzero(folds.number == which))]
    asked = {name: one for name, one in judged.scorers.items() if name == judged.name or one.asks(model) is not None}
    search = Search(model, grid, cv=cv, scoring=asked, refit=False).fit(Z, y, groups=folds.number if bagged else None)
    found = np.full((len(judged.scorers), len(search.cv_results_["params"]), search.n_splits_), np.nan)
    for place, name in enumerate(judged.scorers):
        if name in asked:
            found[place] = np.stack(
                [search.cv_results_[f"split{k}_test_{name}"] for k in range(search.n_splits_)], axis=1
            )
    return found
