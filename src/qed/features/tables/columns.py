"""How one column of a table becomes columns of numbers: as a number, as levels, as a date, or as the words of free text.

These are the parts that a fitted `ColumnEncoder` is made of: values that say what was learned about a column, write its
new columns, and name them.
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array, hstack

from qed.base.attributes import Attribute, booleans, each, floats, integers, labels, names, nothing, one_of
from qed.base.errors import InputError
from qed.base.saving.known import savable
from qed.features.tables.slots import Slots
from qed.features.tables.values import PARTS, dates_of, documents_in, numbers_of
from qed.features.tables.writing import WAYS, is_way
from qed.stats.terms import WORD, Cutter, weigh

OTHER = "other"
MISSING = "missing"
WRITTEN = Attribute(
    "a way of writing numbers",
    lambda value, _: (
        ""
        if isinstance(value, str) and (value in ("", "number") or is_way(value))
        else "must be a way of writing numbers"
    ),
)
WORDS = Cutter(lowercase=True, pattern=WORD, ngrams=(1, 1))


@savable
@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers: its holes filled, or left as NaN, marked in a column of their own if there were some, and scaled if wanted.

    >>> out = np.zeros((2, 2))
    >>> NumberColumn(0, fill=2.0, marked=True).write(pa.array([1.0, None]), out, "'age'", 0)
    >>> out
    array([[1., 0.],
           [2., 1.]])
    """

    attributes: ClassVar = {
        "place": integers(),
        "fill": floats() | nothing(),
        "marked": booleans(),
        "kept": booleans(),
        "shift": floats(),
        "scale": floats(above=0),
        "written": WRITTEN,
    }
    place: int
    fill: float | None  # what holes are filled with; None where they stay holes
    marked: bool = False  # whether a column of zeros and ones says where the holes were
    # Whether the number itself is kept; not when it is always the same, and only the holes tell rows apart.
    kept: bool = True
    # The new column is `(x - shift) / scale`.
    shift: float = 0.0
    scale: float = 1.0
    written: str = ""  # the way in which the numbers were written as text; nothing where they were numbers

    def labels(self, name: str) -> list[str]:
        """Name the new columns."""
        return [name] * self.kept + [f"{name}_{MISSING}"] * self.marked

    def write(self, column: pa.Array, out: np.ndarray, name: str, start: int) -> None:
        """Write the new columns into `out`, which holds zeros; `name` and `start` are for messages."""
        values = numbers_of(column, name, start, written=self.written)
        hole = np.isnan(values)
        if self.kept:
            out[:, 0] = (_without_holes(values, hole, self.fill) - self.shift) / self.scale
        if self.marked:
            out[:, -1] = hole


@savable
@dataclass(frozen=True)
class DateColumn:
    """A column of dates: some of year, month, day of the week, day of the year and days since the first date.

    >>> days = DateColumn(0, ("days",), np.array([0.0]), np.array([0.0]), np.array([1.0]), origin=1.0, written="iso")
    >>> out = np.zeros((1, 1))
    >>> days.write(pa.array(["1970-01-04"]), out, "'when'", 0)
    >>> out
    array([[2.]])
    """

    attributes: ClassVar = {
        "place": integers(),
        "parts": each(one_of(*PARTS), "parts"),
        "fill": floats("parts") | nothing(),
        "shift": floats("parts"),
        "scale": floats("parts", above=0),
        "origin": floats(),
        "marked": booleans(),
        "written": one_of("", "number", *WAYS),
    }
    place: int
    parts: tuple[str, ...]  # the parts that vary
    # For each part, what holes are filled with, None where they stay holes; and how it is scaled.
    fill: np.ndarray | None
    shift: np.ndarray
    scale: np.ndarray
    origin: float  # the first date, in days since 1970
    # As in `NumberColumn`.
    marked: bool = False
    written: str = ""

    def labels(self, name: str) -> list[str]:
        """Name the new columns."""
        return [f"{name}_{part}" for part in self.parts] + [f"{name}_{MISSING}"] * self.marked

    def write(self, column: pa.Array, out: np.ndarray, name: str, start: int) -> None:
        """Write the new columns into `out`, which holds zeros; `name` and `start` are for messages."""
        found = dates_of(column, name, start, written=self.written)
        hole = np.isnan(found[:, -1])
        found[:, -1] -= self.origin
        values = found[:, [PARTS.index(part) for part in self.parts]]
        out[:, : len(self.parts)] = (_without_holes(values, hole[:, None], self.fill) - self.shift) / self.scale
        if self.marked:
            out[:, -1] = hole


def _without_holes(values: np.ndarray, hole: np.ndarray, fill: Any) -> np.ndarray:
    """Fill holes, if there is something to fill them with."""
    return values if fill is None else np.where(hole, fill, values)


@savable
@dataclass(frozen=True)
class LevelColumn:
    """A categorical column: a column for each common level, one for all others, one for missing values.

    Examples
    --------
    >>> color = LevelColumn(0, np.array(["blue", "red", None], dtype=object), np.array([], dtype=object))
    >>> out = np.zeros((2, 3))
    >>> color.write(pa.array(["red", "green"]), out, "'color'", 0)
    >>> color.labels("color"), out.tolist()
    (['color_blue', 'color_red', 'color_missing'], [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    """

    attributes: ClassVar = {
        "place": integers(),
        "levels": labels("_", missing=True, dtypes="biufUO"),
        "rare": labels("_", missing=True, dtypes="biufUO"),
        "first_left_out": booleans(),
        "unknown": one_of("other", "zeros", "error"),
        "coded": booleans(),
        "holes": booleans(),
    }
    place: int
    levels: np.ndarray  # all levels that were seen and kept apart or together, a missing value last
    rare: np.ndarray  # those that share a column
    first_left_out: bool = False  # whether the first level has no column
    unknown: str = OTHER  # what is done with a level that was not seen: "other", "zeros", "error"
    coded: bool = False  # whether levels are numbered in one column
    holes: bool = False  # whether missing values, and levels without a number, are NaN there

    def slots(self) -> Slots:
        """Say where each level goes."""
        drop = int(Slots.of(self.levels, self.rare).places.argmin()) if self.first_left_out else None
        return Slots.of(self.levels, self.rare, OTHER, drop, unknown_is_rare=self.unknown == OTHER)

    def labels(self, name: str) -> list[str]:
        """Name the new columns."""
        if self.coded:
            return [name]
        return [f"{name}_{MISSING if label is None else label}" for label in self.slots().labels]

    def write(self, column: pa.Array, out: np.ndarray, name: str, start: int) -> None:
        """Write the new columns into `out`, which holds zeros; `name` and `start` are for messages."""
        slots = self.slots()
        slot, unknown = slots.encode(column, name, start)
        if self.holes:
            missing = np.asarray(column.is_null())
            slot, unknown = np.where(missing, -1, slot), unknown & ~missing
        if self.unknown == "error" and unknown.any():
            row = int(unknown.argmax())
            value = column[row].as_py()
            what = "is empty" if value is None else f"holds the level {value!r}"
            raise InputError(f"Column {name} {what} in row {start + row} (counted from 0), which was not seen in fit.")
        if self.coded:
            out[:, 0] = np.where(slot < 0, np.nan if self.holes else len(slots), slot)
            return
        known = np.flatnonzero(slot >= 0)
        out[known, slot[known]] = 1.0


@savable
@dataclass(frozen=True)
class TextColumn:
    """A column of free text: the terms that are in many rows, each weighed by how rare it is, in a row of length one.

    >>> note = TextColumn(0, np.array(["lunch", "you"], dtype=object), np.array([2.0, 1.0]))
    >>> out = np.zeros((2, 2))
    >>> note.write(pa.array(["You, at lunch?", None]), out, "'note'", 0)
    >>> note.labels("note"), out.round(2).tolist()
    (['note_lunch', 'note_you'], [[0.89, 0.45], [0.0, 0.0]])
    """

    attributes: ClassVar = {
        "place": integers(),
        "terms": names("_"),
        "rarity": floats("_", above=0),
        "marked": booleans(),
    }
    place: int
    terms: np.ndarray  # the words that have a column, in the order of the alphabet
    rarity: np.ndarray  # what each of them weighs
    marked: bool = False  # whether a column of zeros and ones says where text was missing

    def labels(self, name: str) -> list[str]:
        """Name the new columns."""
        return [f"{name}_{term}" for term in self.terms] + [f"{name}_{MISSING}"] * self.marked

    def write(self, column: pa.Array, out: np.ndarray, name: str, start: int) -> None:
        """Write the new columns into `out`, which holds zeros; `name` and `start` are for messages."""
        made = self.weighed(column, name, start)
        out[np.repeat(np.arange(len(column)), np.diff(made.indptr)), made.indices] = made.data
        if self.marked:
            out[:, -1] = np.asarray(column.is_null())

    def weighed(self, column: pa.Array, name: str, start: int) -> csr_array:
        """Give the columns of the terms alone, without their zeros."""
        places = {term: place for place, term in enumerate(self.terms)}
        _, counts = WORDS.count(documents_in(column, name, start), places)
        return weigh(counts.astype(np.float64), self.rarity, "l2")


Column = NumberColumn | DateColumn | LevelColumn | TextColumn


def sparse_columns(column: Column, values: pa.Array, name: str, start: int, dtype: Any) -> csr_array:
    """Give the new columns of one column, without their zeros."""
    if not isinstance(column, TextColumn):
        out = np.zeros((len(values), len(column.labels(""))), dtype)
        column.write(values, out, name, start)
        return csr_array(out)
    words = csr_array(column.weighed(values, name, start), dtype=dtype)
    holes = np.asarray(values.is_null()).astype(dtype).reshape(-1, 1)
    return csr_array(hstack([words, csr_array(holes)])) if column.marked else words


def writes_as(column: Column, other: Column, values: pa.Array) -> bool:
    """Say whether two columns make the same of some values: all that was learned is the same, but for fillings that fill no hole."""
    if type(column) is not type(other):
        return False
    whole = values.null_count == 0 and not getattr(column, "written", "")
    return all(
        np.array_equal(getattr(column, field.name), getattr(other, field.name))
        for field in fields(column)
        if not (whole and field.name == "fill")
    )
