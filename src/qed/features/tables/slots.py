"""Where the levels of one categorical column go in the output: a slot each, one shared by the rare, none for a level left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array, csr_array

from qed.features.tables.levels import codes_of, is_missing


def keys(levels: Iterable[Any]) -> list[Any]:
    """Give levels as they can be compared: all missing values as None.

    >>> keys(np.array([1.5, np.nan]))
    [1.5, None]
    """
    values = levels.tolist() if isinstance(levels, np.ndarray) else levels
    return [None if is_missing(level) else level for level in values]


@dataclass(frozen=True)
class Slots:
    """The slots of one column.

    >>> slots = Slots.of(np.array(["a", "b", "c", "d"], dtype=object), rare=["a", "d"], word="other")
    >>> slots.places, slots.labels
    (array([2, 0, 1, 2]), ['b', 'c', 'other'])
    """

    levels: np.ndarray  # the levels, missing values last
    places: np.ndarray  # the slot of each level, -1 for one that is left out
    unknown: int  # the slot of a level that is not known, -1 for none
    labels: list[Any]  # what each slot stands for: a level, or the word for the rare ones
    left_out: Any = None  # the level without a slot; None where all have one

    @classmethod
    def of(
        cls,
        levels: np.ndarray,
        rare: Iterable[Any] = (),
        word: str = "",
        drop: int | None = None,
        *,
        unknown_is_rare: bool = False,
    ) -> Slots:
        """Give the levels their slots.

        Rare levels share the last slot, which is called `word`; unknown ones go there too, if wanted. The level of the
        number `drop` gets no slot; if it is rare, the rare ones have none.
        """
        few = set(keys(rare))
        known = keys(levels)
        apart = np.array([level in few for level in known], dtype=bool)
        places = np.where(apart, (~apart).sum(), np.cumsum(~apart) - 1)
        labels = [level for level, away in zip(known, apart) if not away] + ([word] if apart.any() else [])
        shared = len(labels) - 1 if apart.any() and unknown_is_rare else -1
        if drop is None:
            return cls(levels, places, shared, labels)
        gone = int(places[drop])
        places = np.where(places == gone, -1, places - (places > gone))
        return cls(levels, places, -1 if shared == gone else shared - (shared > gone), labels, labels.pop(gone))

    def __len__(self) -> int:
        return len(self.labels)

    def encode(self, column: pa.Array, name: str, start: int) -> tuple[np.ndarray, np.ndarray]:
        """Give the slot of each row (-1 for none), and say which rows hold an unknown level."""
        codes = codes_of(column, self.levels, name, start)
        return np.append(self.places, self.unknown)[codes], codes < 0

    def decode(self, slot: np.ndarray) -> np.ndarray:
        """Give what each slot stands for."""
        choices = np.empty(len(self.labels) + 1, dtype=object)
        choices[:] = [*self.labels, self.left_out]
        return np.take(choices, slot)


def place_ones(slots: list[np.ndarray], starts: np.ndarray, dtype: Any, *, sparse: bool) -> Any:
    """Make the matrix of zeros and ones from the slot of each row in each column.

    A slot is -1 for none; `starts` says where each column's slots begin, and how many there are in all.

    >>> place_ones([np.array([1, -1]), np.array([0, 0])], np.array([0, 2, 3]), float, sparse=False)
    array([[0., 1., 1.],
           [0., 0., 1.]])
    """
    n, width = len(slots[0]), int(starts[-1])
    if not sparse:
        out = np.zeros((n, width), dtype=dtype)
        for slot, start in zip(slots, starts):
            row = np.flatnonzero(slot >= 0)
            out[row, slot[row] + start] = 1
        return out
    place = np.column_stack([np.where(slot < 0, -1, slot + start) for slot, start in zip(slots, starts)])
    kept = place >= 0
    index = np.int32 if max(width, place.size) < 2**31 else np.int64
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(index)
    return csr_array((np.ones(indptr[-1], dtype), place[kept].astype(index), indptr), shape=(n, width))


def read_ones(matrix: Any, starts: np.ndarray) -> tuple[np.ndarray, int]:
    """Read the slot of each row in each column off a matrix, -1 where there is none; count what is neither 0 nor a single 1.

    >>> read_ones(np.array([[0, 1, 1], [0, 0, 1]]), np.array([0, 2, 3]))
    (array([[ 1,  0],
           [-1,  0]]), 0)
    """
    ones = coo_array(matrix)
    row, place, value = ones.row, ones.col, ones.data
    column = np.searchsorted(starts, place, side="right") - 1
    slot = np.full((matrix.shape[0], len(starts) - 1), -1)
    slot[row, column] = place - starts[column]
    times = np.zeros(slot.shape, dtype=np.int64)
    np.add.at(times, (row, column), 1)
    return slot, int((times > 1).sum() + (value != 1).sum())
