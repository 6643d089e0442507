"""The first look at a mixed table: what kind each column is of, and one pass that learns enough to decide about all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import add
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qed.base.attributes import each, integers, one_of
from qed.base.errors import ParameterError
from qed.base.saving.known import savable
from qed.base.sources.block import Block
from qed.base.sources.layout import did_you_mean, kind_of
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.features.tables.columns import WORDS
from qed.features.tables.levels import Levels, column_of
from qed.features.tables.values import PARTS, dates_of, documents_in, is_amount, is_date, numbers_of, reads_as_dates
from qed.stats.terms import TermCounts

MOST_LEVELS = 10_000
# So many words on average make a column of different values free text.
FEW_WORDS, FEW_ROWS = 3, 10


@savable
@dataclass(frozen=True)
class Reading:
    """What each column of a table is read as.

    Its kind is number, flag, date, levels, text (free text, whose words count), drop (as asked), or other (nested or binary: can not
    be read).
    """

    attributes: ClassVar = {
        "kinds": each(one_of("number", "flag", "date", "levels", "text", "drop", "other")),
        "asked": each(integers()),
        "parsed": each(integers()),
    }
    kinds: tuple[str, ...]
    asked: frozenset[int] = frozenset()  # the columns whose kind the user gave
    parsed: frozenset[int] = frozenset()  # the columns of numbers or dates that are written as text

    @classmethod
    def of(cls, schema: pa.Schema, asked: dict[int, str]) -> Reading:
        kinds = tuple(asked.get(j, _kind(field.type)) for j, field in enumerate(schema))
        text = {j for j, field in enumerate(schema) if _kind(field.type) == "levels"}
        return cls(kinds, frozenset(asked), frozenset(j for j in text if kinds[j] in ("number", "date")))

    def places(self, *kinds: str) -> list[int]:
        """Give the columns of some kinds."""
        return [j for j, kind in enumerate(self.kinds) if kind in kinds]

    def first_amount(self, place: int) -> int:
        """Say where a number, or the first part of a date, is among the amounts."""
        numbers = self.places("number", "flag")
        return (
            numbers.index(place) if place in numbers else len(numbers) + len(PARTS) * self.places("date").index(place)
        )

    def with_dates(self, places: Sequence[int], texts: Sequence[int] = ()) -> Reading:
        """Read some columns of text as dates, and others as free text."""
        better = {**dict.fromkeys(places, "date"), **dict.fromkeys(texts, "text")}
        kinds = tuple(better.get(j, kind) for j, kind in enumerate(self.kinds))
        return Reading(kinds, self.asked, self.parsed | frozenset(places))


def _kind(type: pa.DataType) -> str:
    if pa.types.is_boolean(type):
        return "flag"
    if is_amount(type):
        return "number"
    if is_date(type):
        return "date"
    return "levels" if kind_of(type) in ("text", "category") else "other"


def words_in(column: pa.Array, weight: np.ndarray | None = None) -> float:
    """Count what stands between spaces in a column of text, by the weight of its rows.

    >>> words_in(pa.array(["see you soon", None, "ok"]))
    4.0
    """
    if kind_of(column.type) != "text":
        return 0.0
    found = pc.count_substring_regex(column, r"\S+").fill_null(0).to_numpy(zero_copy_only=False)
    return float(found.sum() if weight is None else found @ weight)


def _terms(block: Block, place: int, name: str) -> TermCounts:
    texts = documents_in(column_of(block.X, place), name, block.start)
    return TermCounts.of(*WORDS.count(texts), block.weight)


def asked_kinds(names: Sequence[str], n_columns: int, **lists: Any) -> dict[int, str]:
    """Say what the user asked of which column.

    The lists are the columns to be read as each kind: ``number``, ``levels``, ``date``, ``text``, ``drop``.

    >>> asked_kinds(["age", "zip"], 2, levels=["zip"], drop=[0])
    {1: 'levels', 0: 'drop'}
    """
    found: dict[int, str] = {}
    for kind, columns in lists.items():
        if isinstance(columns, str):
            raise ParameterError(f"Give a list of columns, [{columns!r}], not {columns!r}.")
        for column in () if columns is None else columns:
            place = column
            if isinstance(column, str):
                if column not in names:
                    raise ParameterError(f"There is no column {column!r}. {did_you_mean(column, names)}")
                place = list(names).index(column)
            if not isinstance(place, (int, np.integer)) or not -n_columns <= place < n_columns:
                raise ParameterError(
                    f"There is no column {column!r}: name it, or give its number from 0 to {n_columns - 1}."
                )
            place = int(place) % n_columns
            if found.get(place, kind) != kind:
                raise ParameterError(f"Column {names[place]!r} is asked for as two different kinds: name it once.")
            found[place] = kind
    return found


@dataclass(frozen=True)
class Inspection:
    """What one pass learns."""

    weight: float  # the weight of all rows
    count: int  # their number
    amounts: Summary  # of the numbers and flags, and then of the parts of the dates
    levels: Levels  # of the categorical columns
    as_dates: np.ndarray  # which of these read as dates throughout
    words: np.ndarray  # how many words each of these has in all rows
    texts: tuple[TermCounts, ...]  # the terms of the columns of free text
    empty: np.ndarray  # how many rows of these are missing, by weight

    @classmethod
    def of(cls, block: Block, reading: Reading, names: tuple[str, ...]) -> Inspection:
        if block.weight is not None:
            block = block.take(block.weight > 0)
        places = reading.places("levels")
        return cls(
            float(len(block) if block.weight is None else block.weight.sum()),
            len(block),
            Summary.of(Block(amounts(block, reading, names), weight=block.weight)),
            Levels.of(block, places, MOST_LEVELS),
            np.array([reads_as_dates(column_of(block.X, j)) for j in places], dtype=bool),
            np.array([words_in(column_of(block.X, j), block.weight) for j in places], dtype=np.float64),
            tuple(_terms(block, j, names[j]) for j in reading.places("text")),
            np.array([block.weights @ np.asarray(column_of(block.X, j).is_null()) for j in reading.places("text")]),
        )

    def reading(self, reading: Reading) -> Reading:
        """Read as dates what turned out to be dates written as text, and as free text what has words and hardly a value twice."""
        dates, texts = [], []
        for k, j in enumerate(reading.places("levels")):
            something = k in self.levels.full or any(value is not None for value in self.levels.values(k))
            if not something or j in reading.asked:
                continue
            if self.as_dates[k]:
                dates.append(j)
            elif self._is_free_text(k):
                texts.append(j)
        return reading.with_dates(dates, texts) if dates or texts else reading

    def _is_free_text(self, k: int) -> bool:
        """Say whether a column has so many levels that it can not be categorical, and values of several words."""
        if k in self.levels.full:
            return bool(self.words[k] >= FEW_WORDS * self.weight)
        there = [weight for value, weight in zip(self.levels.values(k), self.levels.weights(k)) if value is not None]
        return len(there) > max(FEW_ROWS, sum(there) / 2) and bool(self.words[k] >= FEW_WORDS * sum(there))

    def __add__(self, other: Inspection) -> Inspection:
        return Inspection(
            self.weight + other.weight,
            self.count + other.count,
            self.amounts + other.amounts,
            self.levels + other.levels,
            self.as_dates & other.as_dates,
            self.words + other.words,
            tuple(map(add, self.texts, other.texts)),
            self.empty + other.empty,
        )


def amounts(block: Block, reading: Reading, names: tuple[str, ...]) -> np.ndarray:
    """Give the numbers and flags of a block, and then the parts of its dates, NaN where there is none."""
    found = [np.zeros((len(block), 0))]
    for j in reading.places("number", "flag"):
        values = numbers_of(column_of(block.X, j), names[j], block.start, parse=j in reading.parsed)
        found.append(values[:, None])
    for j in reading.places("date"):
        found.append(dates_of(column_of(block.X, j), names[j], block.start, parse=j in reading.parsed))
    return np.hstack(found)


def inspect_table(rows: Rows, reading: Reading, names: tuple[str, ...]) -> tuple[Reading, Inspection]:
    """Look at all rows; again, at what turned out to be dates written as text, and then as dates."""
    seen = rows.fold(Inspection.of, reading, names)
    better = seen.reading(reading)
    return better, seen if better == reading else rows.fold(Inspection.of, better, names)
