r"""Comparing clusterers: which of them, and how many clusters, where no target says what is right.

The table is encoded and scaled once, and every clusterer sees the same columns. Every setting of every clusterer is fitted without one
fold after another, and the rows held out are assigned to its clusters. One yardstick serves all: the *silhouette* of a row held out,

.. math:: s = \frac{b - a}{\max(a, b)},

with its mean distance :math:`a` from the rows of its own cluster and :math:`b` from those of the next nearest one. Its mean over the folds
has a standard error, like any score on rows held out. From the same fits comes the *stability*, how far they agree about all rows
(adjusted Rand index over pairs of fits), and the criterion of the model itself: the inertia, with its elbow, or the BIC. Chosen are the
fewest clusters within one standard error of the best silhouette, among settings that are stable.

A clusterer finds clusters in anything. So the best one is also fitted to tables of the same size that have none, rows spread evenly
over a box along the principal directions; and to the columns shuffled each by itself. Clusters worth the name are clearer than all of the
first; those no clearer than the second follow from single columns.

Rousseeuw (1987), Silhouettes; Tibshirani, Walther and Hastie (2001), Estimating the number of clusters by the gap statistic; von
Luxburg (2010), Clustering stability.
"""

import re
import time
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from qed.base.models.searching import fit_known
from qed.base.random import generator
from qed.base.sources.block import as_dense
from qed.base.sources.rows import ArrayRows
from qed.base.threads.interrupts import TimeIsUpError, done_by, moment
from qed.selection.comparing.contenders import Contender, Encoding, contenders
from qed.selection.comparing.leaderboard import ClusterPath, Entry, Reference
from qed.selection.comparing.running import Running
from qed.selection.metrics.clusters import adjusted_rand_score
from qed.selection.metrics.silhouette import new_silhouettes
from qed.selection.searching.candidates import made_with

# Rows that stand for a fold and for what it was fitted without, rows of a table without clusters, and how many of these are drawn: the best
# of 20 by chance, if there is nothing to find, is the true one in 5 % of all cases.
MOST_NEW, MOST_KNOWN, MOST_DRAWN, DRAWS = 1000, 2000, 1000, 19
# So many are drawn in any case, also where time is up.
FEWEST_DRAWS = 5
# How far fits without one fold or another have to agree, for a setting to be chosen.
LEAST_STABILITY = 0.5
# What all fits of one clusterer may take together.
MOST_SECONDS = 180.0
NUMBER_OF_CLUSTERS = ("n_clusters", "n_components")


def count_of(setting: dict[str, Any]) -> int:
    """Give the number of clusters that a setting asks for.

    >>> count_of({"n_clusters": 3}), count_of({"n_components": 2, "covariance_type": "full"})
    (3, 2)
    """
    return int(next((setting[name] for name in NUMBER_OF_CLUSTERS if name in setting), 0))


@dataclass
class Grouping(Running):
    """One comparison of clusterers under way."""

    table: ArrayRows
    folds: np.ndarray
    seed: int
    reading: Mapping[str, Any] = field(default_factory=dict)  # what encoders are told of single columns
    shortened: dict[str, str] = field(
        default_factory=dict
    )  # what was not tried for want of time, by the name of the model

    def leaderboard(self) -> list[Entry]:
        """Score all clusterers and fit each with its best setting."""
        encoded = self._encoded()
        settings = sum(len(one.candidates) for _, group in encoded.values() for one in group)
        self.total = self._n_folds * settings + sum(len(group) for _, group in encoded.values())
        parts = [(one, *known) for known, group in encoded.values() for one in group]
        entries = []
        for place, (one, changes, rows) in enumerate(parts):
            entries.append(self._entry(one, changes, rows, len(parts) - place))
        self.progress(1.0, "done")
        return sorted(entries, key=lambda entry: (bool(entry.failure), -entry.score if not entry.failure else 0.0))

    def notes_on(self, one: Contender) -> tuple[str, ...]:
        """Give what was warned of; the same words with other numbers, of another number of clusters or fold, once."""
        found: dict[str, str] = {}
        for note in super().notes_on(one):
            found.setdefault(re.sub(r"\d+", "#", note), note)
        return tuple(found.values())

    @property
    def _n_folds(self) -> int:
        return int(self.folds.max()) + 1

    def _encoded(self) -> dict[Encoding, Any]:
        """Give the clusterers that take part, those together that see the same columns, with what makes these and the rows themselves."""
        with self.caught("encoding"):
            usual = contenders("clustering", 4, 1, reading=self.reading)[0].table_model()
            changes, rows = usual._encode(self.table)
            encoded = rows.cached()
        n, p = encoded.count(), encoded.n_features
        found: dict[Encoding, Any] = {}
        for one in contenders("clustering", n, p, seed=self.seed, X=encoded.array().X, reading=self.reading):
            if one.encoding not in found:
                parts = changes, encoded
                if one.encoder.get_params() != usual.encoder.get_params() or one.scale != usual.scale:
                    changes_, rows = one.table_model()._encode(self.table)
                    parts = changes_, rows.cached()
                found[one.encoding] = parts, []
            found[one.encoding][1].append(one)
            self._refuse_what_is_too_dear(one, n, p)
        return found

    def _refuse_what_is_too_dear(self, one: Contender, n: int, p: int) -> None:
        fits = one.n_fits * self._n_folds + 1
        seconds = fits * one.model._seconds_on(n, p, 1)
        if seconds > MOST_SECONDS:
            words = f"left out: {fits} fits to {n:,} rows and {p:,} columns could take {seconds / 60:,.0f} minutes"
            self.failures[one.name] = words

    def _entry(self, one: Contender, changes: list[Any], encoded: Any, waiting: int) -> Entry:
        """Score a clusterer and fit it, in its part of the time: so many wait for theirs, and then the tables without clusters."""
        settings = one.candidates
        scores, path = np.full((len(settings), self._n_folds), np.nan), None
        if one.name not in self.failures:
            with self.caught(one.name):
                path = self._judged(one, _dense(encoded.array().X), scores, self._in(self.clock.left / (waiting + 1)))
        self.report(f"{one.name}, all rows")
        mean = scores.mean(axis=1)
        if np.isnan(mean).all() and one.name not in self.failures:
            late = one.name in self.shortened
            few = "the table has too few different rows for its numbers of clusters"
            self.failures[one.name] = f"left out: not done in time, {self.clock.words}" if late else few
        if one.name in self.failures:
            return Entry(one.name, one, scores, notes=self.notes_on(one), failure=self.failures[one.name])
        number = chosen(scores, path)
        model, began = one.table_model(settings[number]), time.perf_counter()
        with self.caught(one.name, self.end_for(one, grace=1.15)):
            fit_known(model, self.table, (deepcopy(changes), encoded))
        seconds, failure = time.perf_counter() - began, self.failures.get(one.name, "")
        fitted = None if failure else model
        notes = self.notes_on(one)
        if one.name in self.shortened:
            notes += (f"{one.name}: {self.shortened[one.name]}, {self.clock.words}",)
        return Entry(one.name, one, scores, number, fitted, seconds, notes, failure, path=path)

    def _in(self, seconds: float) -> float:
        """Say what time it is in so many seconds."""
        return time.perf_counter() + max(seconds, 0.0)

    def _judged(self, one: Contender, Z: np.ndarray, scores: np.ndarray, end: float) -> ClusterPath:
        """Fit every setting without one fold after another, the fewest clusters first, for as long as there is time; fills in `scores`."""
        settings = one.candidates
        stability, values = np.full(len(settings), np.nan), np.full(scores.shape, np.nan)
        some = _some(len(Z), MOST_KNOWN, self.seed, "stability")
        names = set()
        for number, setting in sorted(enumerate(settings), key=lambda pair: count_of(pair[1])):
            agreed = []
            try:
                with done_by(end):
                    for fold in range(self._n_folds):
                        self.report(f"{one.name}, {count_of(setting)} clusters, fold {fold + 1} of {self._n_folds}")
                        moment()
                        train = Z[self.folds != fold]
                        if count_of(setting) >= len(train):
                            break
                        model = made_with(one.model, setting).fit(train)
                        value = silhouette_of(model, train, Z[self.folds == fold], self.seed)
                        name, values[number, fold] = _criterion(model, train)
                        names.add(name)
                        agreed.append((value, model.predict(Z[some])))
            except TimeIsUpError:
                self.shortened[one.name] = (
                    f"not all settings of {count_of(setting)} clusters or more were tried in time"
                )
                break
            if len(agreed) == self._n_folds:
                scores[number], agreed = [value for value, _ in agreed], [labels for _, labels in agreed]
                stability[number] = np.mean([adjusted_rand_score(a, b) for a, b in combinations(agreed, 2)])
        counts = np.array([count_of(setting) for setting in settings])
        return ClusterPath(counts, stability, "".join(names), values.mean(axis=1))

    def reference(self, best: Entry) -> Reference:
        """Let the best clusterer, with its setting, group tables without clusters."""
        if best.failure:
            return Reference(np.full(DRAWS, np.nan), np.empty(0))
        Z = _dense(best.model.encoded(self.table).array().X)
        Z = Z[_some(len(Z), MOST_DRAWN, self.seed, "reference")]
        folds = generator(self.seed, "reference folds").permutation(len(Z)) % self._n_folds
        # Where a fit needs all pairs of rows, one fold has to tell.
        which = range(1 if best.contender.model.passes == "in memory" else self._n_folds)

        def score(drawn: np.ndarray) -> float:
            found = []
            for fold in which:
                model = made_with(best.contender.model, best.setting).fit(drawn[folds != fold])
                found.append(silhouette_of(model, drawn[folds != fold], drawn[folds == fold], self.seed))
            return float(np.mean(found))

        even, shuffled = [], []
        for draw in range(DRAWS):
            self.progress(1.0, f"tables without clusters, {draw + 1} of {DRAWS}")
            with self.caught("reference", self.clock.end if draw >= FEWEST_DRAWS else np.inf):
                even.append(score(spread_evenly(Z, generator(self.seed, "even", draw))))
                if Z.shape[1] > 1:
                    shuffled.append(score(generator(self.seed, "shuffled", draw).permuted(Z, axis=0)))
        return Reference(np.array(even), np.array(shuffled))


def chosen(scores: np.ndarray, path: Any) -> int:
    """Choose the fewest clusters within one standard error of the best silhouette, among settings whose fits agree with one another.

    Where the fits of no setting agree, the best silhouette decides.
    """
    mean = scores.mean(axis=1)
    stable = path.stability >= LEAST_STABILITY
    mean = np.where(stable, mean, np.nan) if stable.any() else mean
    best = int(np.nanargmax(mean))
    error = scores[best].std(ddof=1) / np.sqrt(scores.shape[1])
    near = np.flatnonzero(mean >= mean[best] - error)
    fewest = near[path.counts[near] == path.counts[near].min()]
    return int(fewest[np.argmax(mean[fewest])])


def silhouette_of(model: Any, train: np.ndarray, new: np.ndarray, seed: int) -> float:
    """Give the mean silhouette of rows held out, or of some of them, against rows that a clusterer was fitted to, or some of these."""
    known, held_out = _some(len(train), MOST_KNOWN, seed, "known"), _some(len(new), MOST_NEW, seed, "new")
    train, new = train[known], new[held_out]
    return float(new_silhouettes(train, model.predict(train), new, model.predict(new)).mean())


def spread_evenly(Z: np.ndarray, drawn: np.random.Generator) -> np.ndarray:
    """Draw as many rows as there are, evenly from the box that holds them along their principal directions.

    >>> square = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]])
    >>> bool(np.abs(spread_evenly(square, np.random.default_rng(0))).sum(axis=1).max() <= 2)
    True
    """
    middle = Z.mean(axis=0)
    directions = np.linalg.svd(Z - middle, full_matrices=False)[2]
    place = (Z - middle) @ directions.T
    return middle + drawn.uniform(place.min(axis=0), place.max(axis=0), place.shape) @ directions


def _criterion(model: Any, train: np.ndarray) -> tuple[str, float]:
    """Give what a fitted clusterer is chosen by among its like, and its name."""
    if hasattr(model, "bic"):
        return "BIC", float(model.bic(train))
    return ("inertia", float(model.inertia_)) if hasattr(model, "inertia_") else ("", np.nan)


def _some(n: int, most: int, seed: int, purpose: str) -> np.ndarray:
    """Choose all rows, or most of them by lot, in their order."""
    return np.arange(n) if n <= most else np.sort(generator(seed, "some", purpose).permutation(n)[:most])


def _dense(X: Any) -> np.ndarray:
    return np.asarray(as_dense(X))
