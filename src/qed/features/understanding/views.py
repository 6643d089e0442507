"""A table as rules see it: numbers as numbers, categories as codes, each column looked at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qed.base.sources.layout import kind_of, values_of
from qed.features.tables.levels import column_of
from qed.features.tables.values import is_date
from qed.features.tables.writing import DATES, how_written, numbers_in, way_of

# Relations between columns show in so many rows.
MOST_ROWS = 20_000
# So many rows for each different value tell a rule from chance: numbers that are all different go with anything.
ENOUGH_EACH = 5
MOST_LEVELS = 50


@dataclass(eq=False)
class ColumnView:
    """One column.

    Its `rows` are the numbers of those looked at, spread evenly over the table.
    """

    name: str
    table: pa.Table
    place: int
    rows: np.ndarray

    @property
    def column(self) -> pa.Array:
        """The whole column; it is not kept, lest there is the whole table once more in memory."""
        return column_of(self.table, self.place)

    @cached_property
    def type(self) -> pa.DataType:
        return self.some.type

    @cached_property
    def is_text(self) -> bool:
        return kind_of(self.type) == "text"

    @cached_property
    def way(self) -> str:
        """In which way text is written; nothing for other columns."""
        return way_of(how_written(self.some)) if self.is_text else ""

    @cached_property
    def some(self) -> pa.Array:
        """The rows that are looked at."""
        few = self.table.select([self.place])
        return column_of(few if len(self.rows) == few.num_rows else few.take(pa.array(self.rows)), 0)

    @cached_property
    def is_date(self) -> bool:
        return is_date(self.type) or self.way in DATES

    @property
    def all_numbers(self) -> np.ndarray | None:
        """All values as numbers, NaN for holes; None where they are no numbers."""
        return self.numbers if len(self.rows) == self.table.num_rows else self._numbers(self.column)

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """The values of the rows that are looked at."""
        return self._numbers(self.some)

    def _numbers(self, column: pa.Array) -> np.ndarray | None:
        if self.is_text:
            return numbers_in(column, self.way) if self.way in ("point", "comma", "truth") else None
        if kind_of(column.type) != "number" or pa.types.is_null(column.type):
            return None
        found = np.asarray(values_of(column), dtype=np.float64)
        return np.where(np.isinf(found), np.nan, found)

    @cached_property
    def largest(self) -> float:
        """The largest size of a number in all rows; zero where there is none."""
        if not self.is_text and pa.types.is_floating(self.type):
            found = pc.min_max(self.column, skip_nulls=True)
            ends = [abs(end) for end in found.as_py().values() if end is not None and np.isfinite(end)]
            return max(ends, default=0.0)
        found = self.numbers if self.is_text else None
        return 0.0 if found is None else float(np.abs(found[np.isfinite(found)]).max(initial=0.0))

    @cached_property
    def is_whole(self) -> bool:
        """Whether all values are there, and whole numbers."""
        return _is_whole(self.numbers) and (len(self.rows) == self.table.num_rows or _is_whole(self.all_numbers))

    @cached_property
    def codes(self) -> np.ndarray:
        """The number of each value among the different ones, in the rows that are looked at, with holes as one more.

        Lists and the like, which nothing is learned from, count as one.
        """
        if kind_of(self.type) == "other":
            return np.zeros(len(self.rows), dtype=np.int64)
        coded = self.some.dictionary_encode()
        found = coded.indices.fill_null(len(coded.dictionary)).to_numpy(zero_copy_only=False)
        return np.unique(found, return_inverse=True)[1]

    @cached_property
    def n_levels(self) -> int:
        return int(self.codes.max(initial=-1)) + 1

    @property
    def is_category(self) -> bool:
        """Whether there are few different values, and more than one."""
        return 1 < self.n_levels <= MOST_LEVELS

    @property
    def repeats(self) -> bool:
        """Whether values come back so often that what goes with each of them goes with it not by chance."""
        return len(self.codes) >= ENOUGH_EACH * self.n_levels


def _is_whole(found: np.ndarray | None) -> bool:
    return found is not None and len(found) > 0 and bool(np.isfinite(found).all() and (found == np.floor(found)).all())


@dataclass(eq=False)
class TableView:
    """All columns, with the target."""

    columns: list[ColumnView]
    n_rows: int
    target: str = "the target"
    y: np.ndarray | None = None  # the target in the rows that are looked at, as numbers or as the codes of classes
    is_number: bool = False  # whether the target is a number to be predicted
    y_all: np.ndarray | None = None
    gone: set[str] = field(default_factory=set)  # columns that a rule has left out, which the next need not look at

    @classmethod
    def of(
        cls, table: pa.Table, y: np.ndarray | None, target: str = "the target", *, is_number: bool = False
    ) -> TableView:
        n = table.num_rows
        rows = np.arange(n) if n <= MOST_ROWS else np.linspace(0, n - 1, MOST_ROWS).astype(np.int64)
        columns = [ColumnView(name, table, j, rows) for j, name in enumerate(table.column_names)]
        if y is None:
            return cls(columns, n, target)
        if is_number:
            every = np.asarray(y, dtype=np.float64)
        else:
            every = np.unique(np.asarray(y).astype(str), return_inverse=True)[1].astype(np.float64)
        return cls(columns, n, target, every[rows], is_number, every)

    @property
    def left(self) -> list[ColumnView]:
        """The columns that are still there."""
        return [one for one in self.columns if one.name not in self.gone]
