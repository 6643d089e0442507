"""Time for a comparison: how much of it each model may have, on how many rows that is enough, and when it is up.

Before anything is fitted each model says about how long its fits would take, by counting operations. Who asks for no more than an equal
part of what is left gets it; who asks for more is fitted to a sample of the rows, drawn from every fold and every class alike, that takes
as long as its part. What was counted is no promise: as the fits go on, the model that would take longest is left out when the others
could not end in time, and a fit that outlasts the budget ends at its next step.
"""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from qed.base.random import generator

# How many seconds a comparison may take where nothing is said.
SECONDS = 60.0
# A sample of fewer rows would say little of the model.
FEWEST_ROWS = 2_000
# The share of the time that fits may be counted to take; what was counted is off by a factor, and there is other work.
PLANNED = 0.7


class Clock:
    """The time that is left; `seconds` may be infinite.

    >>> Clock(np.inf).left
    inf
    """

    def __init__(self, seconds: float) -> None:
        self.began, self.seconds = perf_counter(), seconds

    @property
    def left(self) -> float:
        """How many seconds are left; less than zero when more were used."""
        return self.seconds - (perf_counter() - self.began)

    @property
    def words(self) -> str:
        """How many there are to be used, in words."""
        return f"a budget of {self.seconds:.3g} seconds"


def parts_of(seconds: float, wanted: Mapping[str, float]) -> dict[str, float]:
    """Share time out: who wants no more than an equal part of what is left gets what it wants, the others the rest in equal parts.

    >>> parts_of(60.0, {"tree": 100.0, "line": 1.0, "forest": 40.0})
    {'line': 1.0, 'forest': 29.5, 'tree': 29.5}
    """
    found: dict[str, float] = {}
    for place, (name, asked) in enumerate(sorted(wanted.items(), key=lambda pair: pair[1])):
        found[name] = min(asked, max(0.0, seconds) / (len(wanted) - place))
        seconds -= found[name]
    return found


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
