"""The first look at a mixed table: what kind each column is of, and one pass that learns enough to decide about all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import add
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qed.base.attributes import each, integers, one_of, text
from qed.base.errors import ParameterError
from qed.base.saving.known import savable
from qed.base.sources.block import Block
from qed.base.sources.layout import did_you_mean, kind_of
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.features.tables.columns import WORDS
from qed.features.tables.levels import Levels, column_of
from qed.features.tables.values import PARTS, dates_of, documents_in, is_amount, is_date, numbers_of
from qed.features.tables.writing import DATES, WAYS, how_written, way_of
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
        "written": each(each(integers() | text())),
        "wanted": each(each(integers() | text())),
    }
    kinds: tuple[str, ...]
    asked: frozenset[int] = frozenset()  # the columns whose kind the user gave
    # The columns of numbers, flags or dates that are written as text, each with its way (`qed.features.tables.writing`), in their order.
    written: tuple[tuple[int, str], ...] = ()
    # The columns of text that were asked for as numbers or dates, as long as it is not known in which way they are written.
    wanted: tuple[tuple[int, str], ...] = ()

    @classmethod
    def of(cls, schema: pa.Schema, asked: dict[int, str], orders: Mapping[int, str] | None = None) -> Reading:
        """Read columns by their types and as asked; the way of each ordered column says its order."""
        orders = orders or {}
        found = [_kind(field.type) for field in schema]
        wrong = [schema.names[j] for j in orders if found[j] != "levels"]
        if wrong:
            raise ParameterError(f"Column {wrong[0]!r} holds no text: only categories that are text can be ordered.")
        wanted = {
            j: kind
            for j, kind in asked.items()
            if j not in orders and found[j] == "levels" and kind in ("number", "date")
        }
        counted = [j for j, kind in asked.items() if found[j] in ("number", "flag") and kind == "date"]
        kinds = tuple(kind if j in wanted else asked.get(j, kind) for j, kind in enumerate(found))
        return cls(
            kinds,
            frozenset(asked),
            tuple(sorted([*((j, "number") for j in counted), *orders.items()])),
            tuple(sorted(wanted.items())),
        )

    def way(self, place: int) -> str:
        """Say in which way a column is written as text; nothing where it is not."""
        return dict(self.written).get(place, "")

    def places(self, *kinds: str) -> list[int]:
        """Give the columns of some kinds."""
        return [j for j, kind in enumerate(self.kinds) if kind in kinds]

    @cached_property
    def _ranks(self) -> dict[int, int]:
        """Where each column is among those of its kind; numbers and flags are of one."""
        groups = (("number", "flag"), ("date",), ("levels",), ("text",), ("drop",), ("other",))
        return {place: rank for group in groups for rank, place in enumerate(self.places(*group))}

    @cached_property
    def _n_numbers(self) -> int:
        return len(self.places("number", "flag"))

    def rank(self, place: int) -> int:
        """Say which of the columns of its kind one is."""
        return self._ranks[place]

    def first_amount(self, place: int) -> int:
        """Say where a number, or the first part of a date, is among the amounts."""
        rank = self.rank(place)
        return self._n_numbers + len(PARTS) * rank if self.kinds[place] == "date" else rank

    def better(self, ways: Mapping[int, str], texts: Sequence[int] = ()) -> Reading:
        """Read some columns of text as what is written there, and others as free text."""
        known = {**{j: _kind_written(way) for j, way in ways.items()}, **dict.fromkeys(texts, "text")}
        kinds = tuple(known.get(j, kind) for j, kind in enumerate(self.kinds))
        return Reading(kinds, self.asked, tuple(sorted({**dict(self.written), **ways}.items())))


def _kind_written(way: str) -> str:
    return "flag" if way == "truth" else "date" if way in DATES else "number"


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
    written: np.ndarray  # how much of each of these can be read in each way: `qed.features.tables.writing.how_written`
    words: np.ndarray  # how many words each of these has in all rows
    texts: tuple[TermCounts, ...]  # the terms of the columns of free text
    empty: np.ndarray  # how many rows of these are missing, by weight

    @classmethod
    def of(cls, block: Block, reading: Reading, names: tuple[str, ...]) -> Inspection:
        block = block.present
        places = reading.places("levels")
        return cls(
            float(len(block) if block.weight is None else block.weight.sum()),
            len(block),
            Summary.of(Block(amounts(block, reading, names), weight=block.weight)),
            Levels.of(block, places, MOST_LEVELS),
            _written(block, places),
            np.array([words_in(column_of(block.X, j), block.weight) for j in places], dtype=np.float64),
            tuple(_terms(block, j, names[j]) for j in reading.places("text")),
            np.array([block.weights @ np.asarray(column_of(block.X, j).is_null()) for j in reading.places("text")]),
        )

    def reading(self, reading: Reading) -> Reading:
        """Read as numbers and dates what turned out to be written so, and as free text what has words and hardly a value twice."""
        ways: dict[int, str] = {}
        texts, wanted = [], dict(reading.wanted)
        for k, j in enumerate(reading.places("levels")):
            if j in reading.asked and j not in wanted:
                continue
            way = self._way(k, wanted.get(j))
            if way:
                ways[j] = way
            elif self.written[k, -1] > 0 and self._is_free_text(k):
                texts.append(j)
        return reading.better(ways, texts) if ways or texts else reading

    def _way(self, k: int, asked: str | None) -> str:
        """Say in which way a column is written; one that was asked for has to read most of it."""
        if asked is None:
            return way_of(self.written[k])
        among = DATES if asked == "date" else ("point", "comma", "truth")
        # Where none reads the most of it, the next look says so, with the name of the column.
        return way_of(self.written[k], among, enough=0.5) or among[0]

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
            self.written + other.written,
            self.words + other.words,
            tuple(map(add, self.texts, other.texts)),
            self.empty + other.empty,
        )


def _written(block: Block, places: Sequence[int]) -> np.ndarray:
    """Weigh what can be read in each way, of columns of text."""
    columns = [column_of(block.X, j) for j in places]
    found = [
        how_written(one, block.weight) if kind_of(one.type) == "text" else np.zeros(len(WAYS) + 1) for one in columns
    ]
    return np.array(found).reshape(len(places), len(WAYS) + 1)


def amounts(block: Block, reading: Reading, names: tuple[str, ...]) -> np.ndarray:
    """Give the numbers and flags of a block, and then the parts of its dates, NaN where there is none."""
    found = [np.zeros((len(block), 0))]
    for j in reading.places("number", "flag"):
        values = numbers_of(column_of(block.X, j), names[j], block.start, written=reading.way(j))
        found.append(values[:, None])
    for j in reading.places("date"):
        found.append(dates_of(column_of(block.X, j), names[j], block.start, written=reading.way(j)))
    return np.hstack(found)


def inspect_table(rows: Rows, reading: Reading, names: tuple[str, ...]) -> tuple[Reading, Inspection]:
    """Look at all rows; again, at what turned out to be numbers or dates written as text, and then as such."""
    seen = rows.fold(Inspection.of, reading, names)
    better = seen.reading(reading)
    return better, seen if better == reading else rows.fold(Inspection.of, better, names)
