"""Time for a comparison: how much of it each model may have, on how many rows that is enough, and when it is up.

Before anything is fitted each model says about how long its fits would take, by counting operations. Who asks for no more than an equal
part of what is left gets it; who asks for more is fitted to a sample of the rows, drawn from every fold and every class alike, that takes
as long as its part. What was counted is no promise: as the fits go on, the model that would take longest is left out when the others
could not end in time: what was measured counts then, and of models that were not yet fitted what was counted for them, at the pace of
those that were. A fit has until the others would come short, and ends at its next step.
"""

from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from qed.base.random import generator

# How many seconds a comparison may take where nothing is said.
SECONDS = 60.0
# A sample of fewer rows would say little of the model.
FEWEST_ROWS = 2_000
# The share of the time that fits may be counted to take, and those of models that come last; what was counted is off by a factor.
PLANNED, PLANNED_LAST = 0.7, 0.9
# Fits that take longer than counted, by more than this factor, took long for reasons of their own.
SLOWEST = 5.0
# About how long it takes to load what a model is compiled to.
LOADING = 1.0


class Clock:
    """The time that is left of so many seconds, which may be infinite.

    It runs since it was made, or since a time in the past. `words` says of what it is a part, where it is one.

    >>> Clock(np.inf).left
    inf
    """

    def __init__(self, seconds: float, began: float | None = None, words: str = "") -> None:
        self.began, self.seconds = perf_counter() if began is None else began, seconds
        self.words = words or f"a budget of {seconds:.3g} seconds"

    def part(self, seconds: float) -> "Clock":
        """Give a clock of fewer seconds, from now on, that calls itself as this one does."""
        return Clock(seconds, words=self.words)

    @property
    def left(self) -> float:
        """How many seconds are left; less than zero when more were used."""
        return self.seconds - (perf_counter() - self.began)

    @property
    def end(self) -> float:
        """When it is up, as ``perf_counter`` counts."""
        return self.began + self.seconds


@dataclass
class Forecast:
    """How long the rest will take: by what fits to folds took, and before the first of them by what was counted.

    >>> known = Forecast(5, {"line": 0.6, "tree": 6.0})
    >>> for _ in range(2):
    ...     known.note("line", 0.25)
    >>> known.ahead("line"), known.ahead("tree"), known.ahead("mean")
    (1.0, 6.0, 0.0)
    """

    folds: int
    # About how long all fits of each model take, by their counted work, and how long those on each fold took.
    expected: dict[str, float] = field(default_factory=dict)
    spent: dict[str, list[float]] = field(default_factory=dict)

    def note(self, name: str, seconds: float) -> None:
        """Note how long the fits of a model to one more fold took."""
        self.spent.setdefault(name, []).append(seconds)

    @property
    def pace(self) -> float:
        """How many times as long as counted the fits have taken so far; what is as short as loading a model tells nothing."""
        known = {name: times for name, times in self.spent.items() if self.expected.get(name, 0.0) > 0}
        took = sum(sum(times) for times in known.values())
        counted = sum(self.expected[name] * len(times) / (self.folds + 1) + LOADING for name, times in known.items())
        return min(max(took / counted, 1.0), SLOWEST) if known else 1.0

    def ahead(self, name: str) -> float:
        """Say how long the fits of a model to the other folds and to all rows are going to take."""
        counted, times = self.expected.get(name, 0.0), self.spent.get(name, [])
        if not times:
            return counted * self.pace
        # A first fit also loads what others find loaded.
        each = median(times) if len(times) > 1 else max(times[0] / 2, min(times[0], counted / (self.folds + 1)))
        return each * (self.folds + 1 - len(times))


def rows_for(model: Any, shape: tuple[int, int, int], fits: int, seconds: float) -> int:
    """Give the most rows, halving them, to which so many fits take no longer; 0 where even a small sample takes longer.

    The shape is rows, columns and classes.
    """
    rows, columns, classes = shape
    while fits * model._seconds_on(rows, columns, classes) > seconds:
        if rows <= FEWEST_ROWS:
            return 0
        rows = max(FEWEST_ROWS, rows // 2)
    return rows


def drawn(rows: int, folds: np.ndarray, classes: np.ndarray | None, seed: int) -> np.ndarray:
    """Choose about so many rows: the same share of every fold, and in it of every class, rounded up.

    >>> drawn(4, np.array([0, 1, 0, 1, 0, 1, 0, 1]), None, 0).sum()
    np.int64(4)
    """
    kinds = (
        np.zeros(len(folds), np.int64) if classes is None else np.unique(classes.astype(str), return_inverse=True)[1]
    )
    strata = np.unique((folds + 1) * (kinds.max(initial=0) + 1) + kinds, return_inverse=True)[1]
    order = generator(seed, "sample of a comparison").permutation(len(folds))
    order = order[np.argsort(strata[order], kind="stable")]
    counts = np.bincount(strata)
    rank = np.arange(len(folds)) - np.repeat(np.cumsum(counts) - counts, counts)
    found = np.zeros(len(folds), dtype=bool)
    found[order] = rank < np.ceil(counts * (rows / len(folds)))[strata[order]]
    return found
