"""What comes of a comparison: a line for every model, and all of them together."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.models.out_of_bag import predicted_out_of_bag
from qed.base.sources.rows import Rows
from qed.base.visible import Lines, Shown
from qed.features.understanding.findings import LEFT_OUT, Understanding
from qed.selection.comparing.contenders import Contender, is_baseline
from qed.selection.comparing.folding import Folds
from qed.selection.comparing.unseen import Unseen, asked

# What tells how much there is to understand about a model, the simplest first.
MARKS = (
    ("coef_", 1),
    ("theta_", 2),
    ("means_", 2),
    ("feature_log_prob_", 2),
    ("tree_", 4),
    ("forest_", 6),
    ("trees_", 6),
)
Progress = Callable[[float, str], None]


@dataclass(frozen=True, eq=False)
class ClusterPath:
    """What besides the silhouette is known about each setting of a clusterer; NaN where it could not be fitted."""

    counts: np.ndarray  # (n_settings,): the number of clusters that each asks for
    # (n_settings,): how far the fits without one fold or another agree about all rows: their adjusted Rand index, averaged over pairs.
    stability: np.ndarray
    criterion: str  # what the model itself minimises or is chosen by: "inertia", "BIC", or nothing
    values: np.ndarray  # (n_settings,): that, averaged over the folds


@dataclass(frozen=True, eq=False)
class Reference:
    """The silhouettes that the best clusterer reaches on tables of the same size without any clusters."""

    # Rows spread evenly over the box that holds the true ones, along their principal directions.
    even: np.ndarray
    # The true columns, each shuffled by itself, so that they know nothing of one another; empty for a single column.
    shuffled: np.ndarray


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
    # Whether rows were judged by members that have not seen them, and not by models of the other folds.
    out_of_bag: bool = False
    # (n,): which rows it was fitted to and judged by, where these are not all.
    sample: np.ndarray | None = None
    path: ClusterPath | None = None  # of a clusterer, what else is known about each of its settings
    # The other scores of the chosen setting on each fold, by their names; NaN where a model does not give what they judge.
    others: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def is_baseline(self) -> bool:
        """Whether the model only guesses."""
        return is_baseline(type(self.contender.model))

    @property
    def is_left_out(self) -> bool:
        """Whether there is no model though nothing went wrong: it can not be judged, or there was no time for it."""
        return self.failure.startswith(LEFT_OUT)

    @property
    def learned_from(self) -> str:
        """What the model was fitted to, in words."""
        return "all rows" if self.sample is None else f"a sample of {int(self.sample.sum()):,} rows"

    def other(self, name: str) -> float:
        """The mean of another score over the folds."""
        return float(np.mean(self.others[name])) if name in self.others else float("nan")

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
    def setting(self) -> dict[str, object]:
        """The chosen parameters."""
        return self.contender.candidates[self.chosen]

    @property
    def choice(self) -> dict[str, object]:
        """Those of them that could have been others."""
        return {name: value for name, value in self.setting.items() if len(self.contender.grid[name]) > 1}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
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
    reference : Reference or None
        What the best clusterer makes of tables without clusters; None where there was a target.
    columns : Understanding or None
        Which columns are used, left out, and suspicious.
    others : tuple of str
        The names of other scores that each line has.
    says : tuple of str
        What people should know about the scores and the folds.
    forward : bool
        Whether folds are in the order of time, each judged by models of the rows before it.
    once : bool
        Whether the table was encoded once, by what all its rows say, because it is large.
    """

    task: str
    why: str
    scoring: str
    entries: list[Entry]
    rows: Rows
    folds: np.ndarray
    seed: int
    reference: Reference | None = None
    columns: Understanding | None = None
    others: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    forward: bool = False
    once: bool = False

    @property
    def pairs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The numbers of training and held-out rows, fold after fold."""
        return Folds(self.folds, self.forward).pairs()

    @property
    def judged(self) -> np.ndarray:
        """The numbers of the rows that were held out: all of them, but where folds are in the order of time, or not all have a member."""
        count = self.n_folds if self.best.out_of_bag else len(self.members)
        return np.flatnonzero((self.folds >= 0) & (self.folds < count))

    @cached_property
    def _unseen(self) -> list[Unseen]:
        """Fit the best model without each fold, and ask it about the fold; as many of the folds as there is time for (`done_by`)."""
        if self.task == "clustering" or self.best.model is None or self.best.out_of_bag:
            return []
        pairs = [(self._learned_from(train), test) for train, test in self.pairs]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = self.best.contender.table_model(self.best.setting)
            return asked(model, self.best.model, self.rows, pairs, once=self.once)

    @property
    def members(self) -> list[Any]:
        """The best model without each fold, in the order of `pairs`; none for clusters, and where rows are judged out of bag.

        Fewer, where there was no time for all.
        """
        return [one.member for one in self._unseen]

    @property
    def is_looked_at(self) -> bool:
        """Whether the best model was fitted without each fold already, so that its `members` are there without work."""
        return "_unseen" in vars(self)

    def _learned_from(self, train: np.ndarray) -> np.ndarray:
        """Give those of the rows that the best model learns from: all, but where it takes a sample."""
        return train if self.best.sample is None else train[self.best.sample[train]]

    @cached_property
    def predicted(self) -> np.ndarray | None:
        """For each row that is `judged`, what the best model says of it when fitted without its fold; None where nothing is said."""
        if self.task == "clustering" or self.best.model is None:
            return None
        if self.best.out_of_bag:
            return predicted_out_of_bag(self.best.model.model_, self.best.model.encoded(self.rows))
        if not self._unseen:
            return None
        dtype = np.asarray(self.rows.array().y).dtype if self.task == "classification" else np.float64
        found = np.empty(len(self.folds), dtype=dtype)
        for one, (_, test) in zip(self._unseen, self.pairs):
            found[test] = one.predicted
        return found[self.judged]

    @cached_property
    def chances(self) -> np.ndarray | None:
        """For each row that is `judged`, the probability of each class by a model fitted without its fold; None where there are none."""
        if not self._unseen or self._unseen[0].chances is None:
            return None
        judged = self.judged
        found = np.empty((len(judged), len(self.best.model.classes_)))
        for one, (_, test) in zip(self._unseen, self.pairs):
            found[np.searchsorted(judged, test)] = one.chances
        # Of many classes they take more room than the table: what the folds said goes when it is put together.
        self.__dict__["_unseen"] = [replace(one, chances=None) for one in self._unseen]
        return found

    @property
    def baseline(self) -> Entry | None:
        """The best of the models that only guess."""
        return next((one for one in self.entries if one.is_baseline and not one.failure), None)

    @property
    def beats_guessing(self) -> bool:
        """Whether the best model is better than guessing, fold by fold, by more than one standard error of the difference."""
        baseline = self.baseline
        if self.task == "clustering" or baseline is None:
            return True
        difference = self.best.scores[self.best.chosen] - baseline.scores[baseline.chosen]
        error = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else 0.0
        return bool(difference.mean() > error)

    @property
    def ties(self) -> list[Entry]:
        """The models whose score is within one standard error of the best, which is among them."""
        if self.task == "clustering":
            return [self.best]
        error = self.best.standard_error if np.isfinite(self.best.standard_error) else 0.0
        return [one for one in self.entries if not one.failure and one.score >= self.best.score - error]

    @property
    def simplest(self) -> Entry:
        """The simplest of them."""
        return min(self.ties, key=complexity)

    def _table(self) -> Lines:
        lines = [
            [
                entry.name,
                (LEFT_OUT if entry.is_left_out else "failed")
                if entry.failure
                else f"{entry.score:.4g} ± {entry.standard_error:.2g}",
                ", ".join(f"{name}={value!r}" for name, value in entry.choice.items()),
                "" if entry.model is None else "∎" if entry.model.certificate_ else "not proven",
                entry.failure or "; ".join(entry.notes),
            ]
            for entry in self.entries
        ]
        return ["model", self.scoring, "setting", "fit proven", "notes"], lines

    def _said(self) -> str:
        return f"{self.task} ({self.why}); {self.n_folds} folds, seed {self.seed}."

    @property
    def best(self) -> Entry:
        """The first line."""
        return self.entries[0]

    @property
    def is_clustered(self) -> bool:
        """Whether the best grouping is clearer than any of as many rows without clusters."""
        return self.reference is not None and self.best.score > self.reference.even.max()

    @property
    def follows_from_columns(self) -> bool:
        """Whether columns that know nothing of one another can be grouped as clearly: what groups the rows then lies in single columns."""
        known = self.reference is not None and len(self.reference.shuffled) > 0
        return known and self.best.score <= self.reference.shuffled.max()  # type: ignore[union-attr]

    @property
    def n_folds(self) -> int:
        return int(self.folds.max()) + 1


def complexity(entry: Entry) -> int:
    """Rank a fitted model by how much there is to understand about it: coefficients, moments of classes, products, a tree, all else."""
    if entry.is_baseline:
        return 0
    inner = entry.model.model_
    rank = next((rank for name, rank in MARKS if hasattr(inner, name)), 5)
    return rank + 2 * (entry.contender.degree - 1)
