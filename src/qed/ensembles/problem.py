"""What an ensemble is fitted to: rows in memory, those without weight left out, and what can be drawn from them by lot.

Lots belong to what is in a row, not to its place: neither the order in which rows came nor whether a row is there twice or weighs two
changes what is drawn.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np

from qed.base.models.checks import refuse_missing
from qed.base.models.labels import encode, learn_classes
from qed.base.random import generator, mixed
from qed.base.sources.block import is_sparse
from qed.base.sources.rows import Rows
from qed.trees.present import PresentRows

# Copies of rows that are drawn from one by one.
MOST_COPIES = 1 << 26


class Settings(Protocol):
    """What a problem has to know of the model whose it is."""

    missing: bool


class MemberProblem(PresentRows):
    """The rows that members are fitted to."""

    def __init__(self, rows: Rows, model: Settings) -> None:
        super().__init__(rows, model)
        if not model.missing and not self.summary.is_complete:
            refuse_missing(rows, model)

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def target(self) -> np.ndarray:
        """What members learn: numbers as they are, classes by their number."""
        return self.y

    @cached_property
    def marks(self) -> np.ndarray:
        """A number for each row that follows from what is in it, and from its target."""
        start = np.unique(self.target, return_inverse=True)[1].astype(np.uint64)
        return marks_of(self.X, mixed(start))

    @cached_property
    def _order(self) -> np.ndarray:
        return np.argsort(self.marks, kind="stable")

    def prepare(self) -> None:
        """Find the order of rows once, before many threads ask for it."""
        assert len(self._order) == len(self)

    @cached_property
    def _are_copies(self) -> bool:
        weights = self.weights
        return self.total <= MOST_COPIES and bool((weights == np.floor(weights)).all())

    @property
    def copies(self) -> int:
        """How many rows there are, where a whole weight is a row that is there so often."""
        return round(self.total) if self._are_copies else len(self)

    def drawn(self, count: int, weight: np.ndarray, seed: int, *key: str | int) -> np.ndarray:
        """Draw so many rows with replacement, by weight; give how often each was drawn."""
        ends = np.cumsum(weight[self._order])
        at = generator(seed, *key).random(count) * ends[-1]
        place = np.minimum(np.searchsorted(ends, at, side="right"), len(ends) - 1)
        return self._times(place)

    def chosen(self, count: int, seed: int, *key: str | int) -> np.ndarray:
        """Draw so many rows, or copies of them, without replacement; give how often each was drawn."""
        each = self.weights if self._are_copies else np.ones(len(self))
        ends = np.cumsum(each[self._order])
        at = generator(seed, *key).permutation(self.copies)[:count]
        return self._times(np.searchsorted(ends, at, side="right"))

    def _times(self, place: np.ndarray) -> np.ndarray:
        times = np.zeros(len(self))
        times[self._order] = np.bincount(place, minlength=len(self))
        return times

    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """Number the rows such that equal ones have one number, by their first appearance; give also where each appears first."""
        _, first, number = np.unique(self.marks, return_index=True, return_inverse=True)
        place = np.argsort(np.argsort(first))
        return place[number], np.sort(first)


class MemberClasses(MemberProblem):
    """Rows of classes; `votes` are what members were found to say of them, added up."""

    votes: np.ndarray

    def __init__(self, rows: Rows, model: Settings) -> None:
        super().__init__(rows, model)
        self.classes, _ = learn_classes(self.targets_alone, type(model).__name__)

    @cached_property
    def target(self) -> np.ndarray:
        return encode(self.y, self.classes)


def marks_of(X: Any, start: np.ndarray) -> np.ndarray:
    """Scatter what is in each row, to single precision, over 64 bits; zeros add nothing, so that sparse rows are told like dense ones."""
    found = np.zeros(X.shape[0], dtype=np.uint64)
    with np.errstate(over="ignore"):
        if is_sparse(X):
            X = X.tocsr()
            rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
            np.add.at(found, rows, _lots(X.data, mixed(X.indices.astype(np.uint64))))
        else:
            for j, column in enumerate(X.T):
                found += _lots(column, mixed(np.array([j], dtype=np.uint64)))
    return mixed(start ^ found)


def _lots(values: np.ndarray, column: np.ndarray) -> np.ndarray:
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return np.where(values == 0, np.uint64(0), mixed(column ^ bits))
