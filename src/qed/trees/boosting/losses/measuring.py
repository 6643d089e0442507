"""Losses of rows at their scores, with slopes and curvatures.

They are measured in parts of rows that are fixed by the data, so that no sum depends on the threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qed.base.threads.team import Team, team
from qed.trees.boosting.losses.logistic import logistic_pieces
from qed.trees.boosting.losses.objectives import Objective

# Rows that are measured at a time.
PART = 1 << 14


@dataclass(frozen=True, eq=False)
class Table:
    """Some of the rows: their numbers, targets as the objective takes them, and weights (empty where all are one)."""

    numbers: np.ndarray
    y: np.ndarray
    weight: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    @property
    def weights(self) -> np.ndarray:
        """What every row weighs."""
        return self.weight if len(self.weight) else np.ones(len(self))

    @cached_property
    def total(self) -> float:
        """What all rows weigh."""
        return float(self.weights.sum()) if len(self.weight) else float(len(self))

    def some(self, chosen: np.ndarray) -> Table:
        """Give some of the rows."""
        return Table(self.numbers[chosen], self.y[chosen], self.weight[chosen] if len(self.weight) else self.weight)


@dataclass(frozen=True, eq=False)
class Measured:
    """The losses of rows at their scores: their sum, and slopes and curvatures of shape (outputs, n)."""

    loss: float
    slope: np.ndarray
    curvature: np.ndarray
    sizes: np.ndarray  # (outputs, 2): sums of the sizes of slopes and of curvatures, times weights


def measure(
    objective: Objective,
    table: Table,
    scores: np.ndarray,
    crew: Team,
    drawn: np.ndarray | None = None,
    room: Measured | None = None,
    move: Callable[[slice], None] | None = None,
) -> Measured:
    """Measure the losses; the sizes are those of all rows, or of some that are drawn.

    What was measured before and is no longer needed is `room` for slopes and curvatures. Scores are those after a `move` of each part.
    """
    slope, curvature = (np.empty_like(scores), np.empty_like(scores)) if room is None else (room.slope, room.curvature)
    is_compiled = objective.is_logistic and len(table) > PART

    def one(part: int, parts: int) -> tuple[float, np.ndarray]:
        here = slice(part * PART, (part + 1) * PART)
        if move is not None:
            move(here)
        z, y, weight, down, bend = (
            scores[:, here],
            table.y[here],
            table.weight[here],
            slope[:, here],
            curvature[:, here],
        )
        if is_compiled:
            loss, sizes = logistic_pieces(z[0], y, weight, down[0], bend[0])
            return loss, sizes[None]
        each, down[:], bend[:] = objective.pieces(z, y)
        return _total(each, weight), _sizes(down, bend, weight)

    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = crew.run(one, -(-len(table) // PART))
        sizes = np.sum([part[1] for part in found], axis=0)
        if drawn is not None:
            weight = table.weight[drawn] if len(table.weight) else table.weight
            sizes = _sizes(slope[:, drawn], curvature[:, drawn], weight)
    return Measured(float(np.sum([part[0] for part in found])), slope, curvature, sizes)


def _total(amounts: np.ndarray, weight: np.ndarray) -> float:
    return float((amounts * weight).sum() if len(weight) else amounts.sum())


def _sizes(slope: np.ndarray, curvature: np.ndarray, weight: np.ndarray) -> np.ndarray:
    amounts = (np.abs(slope), curvature)
    return np.stack([(one * weight if len(weight) else one).sum(axis=1) for one in amounts], axis=1)


def mean_loss(objective: Objective, table: Table, scores: np.ndarray) -> float:
    """Give the mean loss of rows."""
    with team(1) as crew:
        return measure(objective, table, scores, crew).loss / table.total
