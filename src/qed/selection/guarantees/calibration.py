"""Holding rows out to calibrate by: which rows, by which models, and how strange they find them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np

from qed.base.engine import work
from qed.base.errors import InputError
from qed.base.models.estimator import Estimator
from qed.base.models.problem import Problem
from qed.base.random import generator
from qed.base.running.watch import watched_only_by
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.selection.guarantees.scores import aligned, class_scores
from qed.selection.searching.candidates import fresh
from qed.stats.parts import Part


class CalibrationProblem(Problem):
    """Rows with their target and weights gathered; those of weight zero are not there."""

    rows: Rows

    def __init__(self, rows: Rows, own: bool) -> None:
        self.rows, self.own, self.target_ndim = rows, own, rows.target_ndim
        self.solved = False  # whether the fit has just made all that there is to prove
        if self.target_ndim > 1:
            raise InputError("Conformal takes one target: fit one for each column of y.")

    @cached_property
    def y(self) -> np.ndarray:
        """The target of all rows."""
        return np.asarray(self.gathered.map(_target)).reshape(-1)

    @cached_property
    def weight(self) -> np.ndarray | None:
        """The weights of all rows, or None."""
        return np.asarray(self.gathered.map(_weight), dtype=np.float64) if self.rows.has_weight else None

    @property
    def gathered(self) -> Rows:
        """The rows, to read something beside the features of, which may hold words."""
        return self.rows if self.rows.facts.schema is None else self.rows.table()

    @cached_property
    def present(self) -> np.ndarray:
        """The numbers of the rows that are there."""
        return np.arange(len(self.y)) if self.weight is None else np.flatnonzero(self.weight > 0)

    def fit(self, model: Any, chosen: np.ndarray | None = None) -> Any:
        """Fit a model like this to some of the rows, or to all."""
        made = fresh(model)
        rows = self.rows if chosen is None else Part(self.rows, chosen)
        if self.own:
            return made.fit(rows)
        block = rows.array()
        return made.fit(block.X, block.y, **({} if block.weight is None else {"sample_weight": block.weight}))

    def fit_folds(self, model: Any, fold: np.ndarray) -> list[Any]:
        """Fit a model without each fold, side by side."""
        with watched_only_by():
            tasks = (partial(self.fit, model, fold != held_out) for held_out in range(int(fold.max()) + 1))
            return list(work(tasks))

    def errors(self, model: Any, chosen: np.ndarray) -> np.ndarray:
        """Say how far off a model is for some rows."""
        said = np.asarray(model.predict(self.part(chosen)), dtype=np.float64).reshape(-1)
        return np.abs(self.y[chosen].astype(np.float64) - said)

    def strangeness(self, model: Any, chosen: np.ndarray, classes: np.ndarray, kind: str) -> np.ndarray:
        """Say how strange the classes of some rows are to a model."""
        found = class_scores(aligned(model, self.part(chosen), classes), kind)
        return found[np.arange(len(found)), np.searchsorted(classes, self.y[chosen])]

    def part(self, chosen: np.ndarray) -> Any:
        """Give some of the rows, as the model takes them."""
        rows = Part(self.rows, chosen)
        return rows if self.own else rows.array().X


def draw(present: np.ndarray, n: int, folds: int, seed: int) -> np.ndarray:
    """Deal rows out to folds of equal size at random; -1 for rows that are left over, or not there: these always train.

    >>> np.bincount(draw(np.arange(10), 10, 3, seed=0) + 1)
    array([1, 3, 3, 3])
    """
    found = np.full(n, -1, dtype=np.intp)
    size = len(present) // folds
    order = generator(seed, "calibration").permutation(present)
    found[order[: size * folds]] = np.repeat(np.arange(folds), size)
    return found


def draw_part(present: np.ndarray, n: int, share: float, seed: int) -> np.ndarray:
    """Choose a share of the rows at random to calibrate by (0); the others train (-1), at least one of each.

    >>> np.bincount(draw_part(np.arange(10), 10, 0.25, seed=0) + 1)
    array([7, 3])
    """
    found = np.full(n, -1, dtype=np.intp)
    count = min(max(1, int(np.ceil(share * len(present)))), len(present) - 1)
    found[generator(seed, "calibration").permutation(present)[:count]] = 0
    return found


def unfitted(model: Any) -> Any:
    """Give a model, not fitted, that can open rows: of a search the model that it searches."""
    while getattr(model, "searches", False):
        model = model.model
    return fresh(model) if isinstance(model, Estimator) else None


def strips(block: Block, width: int, most: int = 1 << 22) -> Iterator[Block]:
    """Cut a block into strips such that a table of as many lines and so many columns is small."""
    step = max(1, most // max(1, width))
    return (block.between(first, min(first + step, len(block))) for first in range(0, len(block), step))


def _target(block: Block) -> np.ndarray:
    return np.asarray(block.y)


def _weight(block: Block) -> np.ndarray:
    return np.asarray(block.weight)
