"""How well each class is told by the best model, on rows that it has not seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from qed.selection.comparing.leaderboard import Comparison

MOST_CLASSES = 12


@dataclass(frozen=True)
class ClassLine:
    """One class: how many rows it has, how many of these are found, and how many of those said to be of it are."""

    label: str
    rows: int
    found: int
    said: int  # how many rows are said to be of it

    @property
    def recall(self) -> float:
        return self.found / max(self.rows, 1)

    @property
    def precision(self) -> float:
        return self.found / self.said if self.said else float("nan")


def classes_of(comparison: Comparison) -> list[ClassLine]:
    """Count what the best model says of the rows of each class, the most frequent class first; nothing for other tasks."""
    if comparison.task != "classification" or comparison.predicted is None:
        return []
    y = np.asarray(comparison.rows.array().y).astype(str)[comparison.judged]
    predicted = comparison.predicted.astype(str)
    rows, found, said = Counter(y.tolist()), Counter(y[y == predicted].tolist()), Counter(predicted.tolist())
    lines = [ClassLine(label, rows[label], found[label], said[label]) for label in sorted(rows)]
    return sorted(lines, key=lambda one: -one.rows)
