"""Rows drawn at random in one pass, from a source of any size.

Every row draws a lot: a hash of its number and of the seed. The rows with the smallest lots are the sample. Two samples are
merged by keeping the smallest lots of both, so the sample is a statistic like any other: it can be folded over
files and clusters, and depends neither on the blocks nor on the threads, but on the seed alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from qed.base.attributes import floats, integers, of
from qed.base.errors import InputError
from qed.base.models.checks import overflowed, refuse_missing
from qed.base.random import generator
from qed.base.saving.known import savable
from qed.base.sources.block import Block, as_dense
from qed.base.sources.rows import Rows
from qed.base.summary import Summary


def lots(numbers: np.ndarray, seed: int) -> np.ndarray:
    """Give every row number a random 64-bit lot, by the finaliser of SplitMix64.

    >>> bool((lots(np.arange(3), 7) == lots(np.arange(2, -1, -1), 7)[::-1]).all())
    True
    """
    mixed = np.asarray(numbers, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += np.asarray([seed % 2**64], dtype=np.uint64) * np.uint64(0xD1B54A32D192ED03)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


@savable
@dataclass(frozen=True)
class Sample:
    """Some rows drawn at random, in the order of their lots, and a summary of all rows that were looked at.

    There are fewer than `size` if the source has fewer.

    >>> from qed.base.sources.open import rows
    >>> X = np.arange(10.0).reshape(-1, 1)
    >>> sample = rows(X).fold(Sample.of, 3, 0)
    >>> len(sample.X), bool((X[sample.numbers] == sample.X).all())
    (3, True)
    """

    attributes: ClassVar = {
        "size": integers(),
        "lots": integers("rows"),
        "numbers": integers("rows"),
        "X": floats("rows", "columns"),
        "summary": of(Summary),
    }
    size: int
    lots: np.ndarray  # the lots of the rows drawn, in ascending order
    numbers: np.ndarray  # their numbers
    X: np.ndarray  # (drawn, p): the rows
    summary: Summary  # of all rows

    @classmethod
    def of(cls, block: Block, size: int, seed: int) -> Sample:
        numbers = block.start + np.arange(len(block))
        drawn = lots(numbers, seed)
        there = np.arange(len(block)) if block.weight is None else np.flatnonzero(block.weight > 0)
        chosen = there[_first(drawn[there], size)]
        X = block.X[chosen]
        X = np.asarray(as_dense(X), dtype=np.float64)
        return cls(size, drawn[chosen], numbers[chosen], X, Summary.of(block))

    @classmethod
    def drawn(cls, rows: Rows, model: object, size: int, seed: int) -> Sample:
        """Draw so many rows for a model, with a seed of its own, or say what is wrong with the rows."""
        sample: Sample = rows.fold(cls.of, size, int(generator(seed, "rows").integers(2**62)))
        if not sample.summary.is_complete:
            refuse_missing(rows, model)
            raise overflowed(model)
        if not len(sample.X):
            raise InputError(f"{type(model).__name__} needs at least one row with a positive weight.")
        return sample

    def __add__(self, other: Sample) -> Sample:
        drawn = np.concatenate([self.lots, other.lots])
        kept = _first(drawn, self.size)
        numbers = np.concatenate([self.numbers, other.numbers])[kept]
        X = np.concatenate([self.X, other.X])[kept]
        return Sample(self.size, drawn[kept], numbers, X, self.summary + other.summary)


def _first(drawn: np.ndarray, size: int) -> np.ndarray:
    """Give the places of the smallest lots, in ascending order."""
    if len(drawn) > size:
        chosen = np.argpartition(drawn, size - 1)[:size]
        return chosen[np.argsort(drawn[chosen])]
    return np.argsort(drawn)
