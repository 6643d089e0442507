"""What comes of a comparison: a line for every model, and all of them together."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.sources.rows import Rows
from qed.base.visible import Lines, Shown
from qed.selection.comparing.contenders import Contender

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
    path: ClusterPath | None = None  # of a clusterer, what else is known about each of its settings

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
    """

    task: str
    why: str
    scoring: str
    entries: list[Entry]
    rows: Rows
    folds: np.ndarray
    seed: int
    reference: Reference | None = None

    def _table(self) -> Lines:
        lines = [
            [
                entry.name,
                "failed" if entry.failure else f"{entry.score:.4g} ± {entry.standard_error:.2g}",
                ", ".join(f"{name}={value!r}" for name, value in entry.choice.items()),
                "" if entry.model is None else "∎" if entry.model.certificate_ else "not proven",
                entry.failure or "; ".join(entry.notes),
            ]
            for entry in self.entries
        ]
        return ["model", self.scoring, "setting", "fit proven", "notes"], lines

    def _said(self) -> str:
        return f"{self.task}: {self.why} {self.n_folds} folds, seed {self.seed}."

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
