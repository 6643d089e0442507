"""One comparison of models for a target under way: who takes part, what each scores, and what is fitted to all rows.

Mostly every fold encodes its own training rows and nothing else. A large table is encoded once, by what all rows say of its columns (which
levels are common, what holes are filled with, means and scales, and never the target): of so many rows one fold more or less changes
little. Then one pass over the encoded rows, which lie on disk, serves all folds of a model that can fold, and what has to hold its rows
in memory learns from a sample of them.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from qed.base.models.roles import Transformer
from qed.base.models.searching import fit_known
from qed.base.sources.rows import ArrayRows, Rows, kept
from qed.features.maps.polynomial import monomial_count
from qed.features.tables.encoder import ColumnEncoder
from qed.selection.comparing.budget import PLANNED_LAST
from qed.selection.comparing.contenders import WORDS, Contender, Encoding, chosen_of, contenders
from qed.selection.comparing.encoding import FoldEncoder, Known, inspect_folds
from qed.selection.comparing.extending import MOST_ROUNDS, extended, extension, merged
from qed.selection.comparing.folding import Folds
from qed.selection.comparing.judging import scores_of
from qed.selection.comparing.leaderboard import Entry
from qed.selection.comparing.sharing import MOST_ENCODING, SHOWN_ROWS, Sharing
from qed.selection.comparing.table_model import told_of_levels
from qed.selection.searching.candidates import fresh
from qed.stats.parts import Part

OUT_OF_BAG = (
    "judged out of bag, each row by the members that have not seen it, after one fit to all rows and one encoding of them; "
    "such a score is a little lower than that of folds."
)
ONCE = "the table is large: it is encoded once, by what all rows say of its columns (never of the target), and not anew for each fold"
HURRIED = "to save time the table is encoded once, by what all rows say of its columns (never of the target), and not for each fold"
# A model that takes longer tries no more settings than it has, also where the best of them is at the end of its grid.
LONG = 10.0


@dataclass(kw_only=True)
class Run(Sharing):
    """One comparison under way."""

    reading: Mapping[str, Any]
    models: tuple[str, ...] = ()
    known: dict[str, Known] = field(default_factory=dict)
    # Which grids were continued, in words, by the name of the model.
    longer: dict[str, str] = field(default_factory=dict)

    def says(self) -> tuple[str, ...]:
        """Say what was done otherwise than usual because of the size of the table or the budget."""
        found = [ONCE if self.is_large else HURRIED] if self.once else []
        counts = {name: int(mask.sum()) for name, mask in self.samples.items() if name not in self.failures}
        for count in sorted(set(counts.values())):
            names = ", ".join(name for name, own in counts.items() if own == count)
            why = "" if self.clock.seconds == np.inf else f" ({self.clock.words}; --budget gives more)"
            found.append(f"learned from and judged by a sample of {count:,} of {len(self.y):,} rows: {names}{why}")
        return tuple(found)

    def leaderboard(self) -> list[Entry]:
        """Score and fit all models."""
        groups = self._groups()
        self.total = (self.folds.count + 1) * sum(len(group) for group in groups)
        entries: list[Entry] = []
        for place, group in enumerate(groups):
            encoder = self._encoder(group[0].encoder)
            waiting = [one for rest in groups[place + 1 :] for one in self._still(rest)]
            waiting += [one for rest in groups[place:] for one in rest if one.name in self.bagged]
            encodings = self.encoding * (1 if self.once else self.folds.count + 1)
            self.later = tuple(self.forecast.ahead(one.name) for one in waiting) + (encodings,) * (
                len(groups) - 1 - place
            )
            if self.once:
                entries += self._entries_once(group, encoder)
            else:
                entries += self._entries(*self._lengthened(group, self._scores(group, encoder), encoder), encoder)
        entries = self._second_chance(groups, entries)
        self.progress(1.0, "done")
        return sorted(entries, key=lambda entry: (bool(entry.failure), -entry.score if not entry.failure else 0.0))

    def _second_chance(self, groups: list[list[Contender]], entries: list[Entry]) -> list[Entry]:
        """Let models take part after all that were left out for want of time, if the others took less of it than was foreseen."""
        self.later, found = (), {one.name: one for one in entries}
        late = [(one, group) for group in groups for one in group if one.name in self.late and not self.once]
        for one, group in sorted(late, key=lambda pair: self._full(pair[0])):
            left, measured = PLANNED_LAST * self.clock.left, self.forecast.spent.pop(one.name, [])
            if left <= 0 or (measured and median(measured) * (self.folds.count + 1) > left):
                continue
            del self.failures[one.name]
            if not measured:
                self._make_room(one, left)
            if one.name not in self.failures:
                encoder = self._encoder(group[0].encoder)
                self.total += self.folds.count + 1
                (found[one.name],) = self._entries([one], self._scores([one], encoder), encoder)
        return list(found.values())

    def _groups(self) -> list[list[Contender]]:
        """Give the models that take part, those together that see the same columns."""
        with self.caught("encoding"):
            encoder = self._encoder(ColumnEncoder(**self.reading))
            began = perf_counter()
            is_long = self.table.X.num_rows > SHOWN_ROWS
            X = encoder.shown(SHOWN_ROWS) if is_long else encoder.matrix(encoder.fitted(None))
            encodings = (perf_counter() - began) * (self.folds.count + 1)
            self.is_hurried = not is_long and encodings > MOST_ENCODING * self.clock.left
            wordy = self._encoder(ColumnEncoder(**{**WORDS, **self.reading})).fitted(None).sparse_output_
        self.notes.clear()
        n, n_classes = len(self.y), len(set(self.y.tolist())) if self.task == "classification" else 1
        size = n, X.shape[1], n_classes if n_classes > 2 else 1
        found = chosen_of(contenders(self.task, *size, self.seed, X=X, wordy=wordy, reading=self.reading), self.models)
        groups: dict[Encoding, list[Contender]] = {}
        for one in found:
            groups.setdefault(one.encoding, []).append(one)
        for group in groups.values():
            width = self._encoder(group[0].encoder).fitted(None)._width()
            self.shapes |= {one.name: (n, monomial_count(width, one.degree) - 1, n_classes) for one in group}
        self._share_time(found)
        return list(groups.values())

    def _encoder(self, encoder: ColumnEncoder) -> FoldEncoder:
        """Prepare an encoding; encoders that read the columns as the same share one look at the table."""
        asked = repr(
            [getattr(encoder, name) for name in ("numeric", "categorical", "dates", "text", "drop", "ordered")]
        )
        if asked not in self.known:
            self.known[asked] = inspect_folds(self.table, None if self.once else self.folds, encoder)
        return FoldEncoder(self.table, self.folds, encoder, self.known[asked])

    def _scores(self, group: list[Contender], encoder: FoldEncoder) -> dict[str, np.ndarray]:
        """Give for each model a table: scorers by settings by folds. All see the same columns, which are encoded once for each fold."""
        n_folds = self.folds.count
        shape = len(self.judged.scorers), self.folds.count
        scores = {one.name: np.full((shape[0], len(one.candidates), shape[1]), np.nan) for one in group}
        Z, fitted = None, None
        for fold, (train, test) in enumerate(self.folds.pairs()):
            self._leave_out_what_takes_too_long(group, fold)
            if all(one.name in self.failures or one.name in self.bagged for one in group):
                break
            # Whoever only guesses does so whatever the rows hold.
            if fitted is None or self._still(group):
                # What the last fold saw goes before the next is made: there is never more than one beside the table that is encoded.
                Z, began = None, perf_counter()
                with self.caught("encoding"):
                    _, *rest = group[0].table_model()._unfitted()
                    fitted = encoder.fitted(fold)
                    Z = encoder.encode(fitted, rest, fold)
                self.encoding = perf_counter() - began
            # What is cheap comes first, so that a slow fit can not take its time from it.
            for one in self._cheapest_first(group):
                self.report(f"{one.name}, fold {fold + 1} of {n_folds}")
                self._leave_out_what_takes_too_long(group, fold, ahead=self.folds.count - fold)
                if one.name in self.failures or one.name in self.bagged:
                    continue
                with self._timed(one, group):
                    mask = self.samples.get(one.name)
                    pair = (train, test) if mask is None else (train[mask[train]], test[mask[test]])
                    model = told_of_levels(fresh(one.model), fitted)
                    found = scores_of(model, one.grid, Z, self.y, [pair], self.judged)
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
                if one.name in self.failures or one.name in self.bagged or self.forecast.expected[one.name] > LONG:
                    continue
                if sum(self.forecast.spent.get(one.name, [])) > self._left_for(np.inf) / 4:
                    continue
                name, more = extension(one, scores[one.name][0])
                if more:
                    further[one.name] = (name, *extended(one, name, more))
            if not further:
                break
            self.total += self.folds.count * len(further)
            known, self.forecast = self.forecast, self._further(further)
            found = self._scores([part for _, part, _ in further.values()], encoder)
            self.forecast = known
            for called, (name, part, longer) in further.items():
                if called in self.failures:
                    # What was tried before still counts.
                    del self.failures[called]
                    self.late.discard(called)
                    continue
                scores[called] = merged(longer, [(whole[called], scores[called]), (part, found[called])])
                whole[called] = longer
                self.longer[called] = (
                    f"{called}: the best {name} was the last one tried, so the grid was continued to {_ends(longer.grid[name])}."
                )
        return list(whole.values()), scores

    def _entries(self, group: list[Contender], scores: dict[str, np.ndarray], encoder: FoldEncoder) -> list[Entry]:
        """Fit models that see the same columns to all rows, each with its best setting; the rows are encoded once."""
        encoder.forget()
        whole = self._whole(group, encoder)
        found = {one.name: self._entry(one, scores[one.name], *whole) for one in self._cheapest_first(group)}
        return [found[one.name] for one in group]

    def _whole(self, group: list[Contender], encoder: FoldEncoder) -> tuple[list[Transformer], Rows, float]:
        """Encode all rows as some models see them, and say how long that took; nothing where none of them takes part any more."""
        began = perf_counter()
        if all(one.name in self.failures for one in group):
            return [], self.table, 0.0
        with self.caught("encoding"):
            changes, rows = group[0].table_model()._encode(self.table, encoder.fitted(None), keep=not self.is_large)
            encoded = kept(rows, on_disk=True) if self.is_large else rows.cached()
        return changes, encoded, perf_counter() - began

    def _entries_once(self, group: list[Contender], encoder: FoldEncoder) -> list[Entry]:
        """Score models that see the same columns, and fit them to all rows: both with one encoding of them."""
        changes, encoded, seconds = self._whole(group, encoder)
        found = {}
        for one in self._cheapest_first(group):
            self.report(f"{one.name}, all folds")
            table = np.full((len(self.judged.scorers), len(one.candidates), self.folds.count), np.nan)
            if one.name not in self.failures:
                with self.caught(one.name, self.end_for(one)):
                    rows, mask = self._part(one, encoded)
                    number = self.folds.number if mask is None else self.folds.number[mask]
                    model = told_of_levels(fresh(one.model), changes[0])
                    pairs = Folds(number, self.folds.forward).pairs()
                    table = scores_of(model, one.grid, rows, None, pairs, self.judged)
            self.done += self.folds.count - 1
            found[one.name] = self._entry(one, table, changes, encoded, seconds)
        return [found[one.name] for one in group]

    def _part(self, one: Contender, encoded: Rows) -> tuple[Rows, np.ndarray | None]:
        """Give the encoded rows that a model learns from, and which they are; a sample is held in memory."""
        mask = self.samples.get(one.name)
        if mask is None:
            return encoded, None
        block = Part(encoded, mask).array()
        return ArrayRows(block.X, block.y, None, encoded.feature_names, target_names=encoded.target_names), mask

    def _entry(
        self, one: Contender, table: np.ndarray, changes: list[Transformer], encoded: Rows, seconds: float
    ) -> Entry:
        self.report(f"{one.name}, all rows")
        if one.name in self.bagged:
            with self.caught(one.name, self.end_for(one)):
                model, X = told_of_levels(fresh(one.model), changes[0]), encoded.array().X
                table = scores_of(model, one.grid, X, self.y, "oob", self.judged, self.folds.number)
        scores = table[0]
        mean = scores.mean(axis=1)
        if np.isnan(mean).all() and one.name not in self.failures:
            self.failures[one.name] = "its score is not defined on these folds"
        if one.name in self.failures:
            return Entry(one.name, one, scores, notes=self.notes_on(one), failure=self.failures[one.name])
        chosen = int(np.nanargmax(mean))
        model = one.table_model(one.candidates[chosen])
        began, mask = perf_counter(), None
        with self.caught(one.name, self.end_for(one, grace=1.15)):
            rows, mask = self._part(one, encoded)
            fit_known(model, self.table if mask is None else _taken(self.table, mask), (deepcopy(changes), rows))
            if mask is not None:
                model.learned_from(self.table, np.flatnonzero(mask))
        seconds += perf_counter() - began
        failure = self.failures.get(one.name, "")
        bagged = one.name in self.bagged
        notes = (*self.notes_on(one), *([f"{one.name}: {OUT_OF_BAG}"] if bagged else []))
        notes += (self.longer[one.name],) if one.name in self.longer else ()
        others = {name: table[place, chosen] for place, name in enumerate(self.judged.scorers) if place > 0}
        name = f"{one.name} (out of bag)" if bagged else one.name
        fitted = None if failure else model
        return Entry(name, one, scores, chosen, fitted, seconds, notes, failure, bagged, others=others, sample=mask)


def _taken(table: ArrayRows, mask: np.ndarray) -> ArrayRows:
    """Give some rows of a table."""
    X, names = table.X.filter(mask), table.feature_names
    return ArrayRows(X, None if table.y is None else table.y[mask], None, names, target_names=table.target_names)


def _ends(values: list[Any]) -> str:
    return f"{values[0]:g} ... {values[-1]:g}"
