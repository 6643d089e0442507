"""What in a table is unlike anything that a model has learned from: counted while it is predicted, and said.

Four things are looked for: levels that no row of the fit had, columns that the table lacks, holes in columns that had none, and numbers
so far out that less than a hundredth of the rows of the fit can have been there (ten standard deviations from their mean; Chebyshev's
inequality).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from qed.base.errors import QedError, shown
from qed.base.models.fingerprint import Fingerprint
from qed.features.tables.columns import LevelColumn, NumberColumn
from qed.features.tables.levels import codes_of, column_of
from qed.features.tables.values import numbers_of

# Standard deviations from the mean of the fit beyond which a number is far out.
FAR = 10.0


@dataclass
class Strange:
    """What was found so far, by the names of columns."""

    rows: int = 0
    unseen: dict[str, int] = field(default_factory=dict)  # rows with a level that was not seen
    examples: dict[str, str] = field(default_factory=dict)  # one such level
    far: dict[str, int] = field(default_factory=dict)  # rows with a number that is far out
    empty: dict[str, int] = field(default_factory=dict)  # rows without a value where no row of the fit lacked one
    filled: list[str] = field(default_factory=list)  # columns that are not there, and taken as missing

    def add_rows(self, model: Any, table: pa.Table) -> None:
        """Look at some more rows, as they are given to a model."""
        self.rows += table.num_rows
        inner = getattr(model, "estimator_", getattr(model, "best_estimator_", model))
        changes = getattr(inner, "changes_", None)
        known: Fingerprint | None = getattr(inner, "fingerprint_", None)
        if changes is not None and hasattr(changes[0], "columns_"):
            self._look_at_columns(changes[0], table, known)
        elif known is not None and len(known.mean) == table.num_columns:
            for place, name in enumerate(table.column_names):
                self._look_at_numbers(table, name, place, known)

    def _look_at_columns(self, encoder: Any, table: pa.Table, known: Fingerprint | None) -> None:
        names, place = list(encoder.feature_names_in_), 0
        for column in encoder.columns_:
            name = str(names[column.place])
            if "missing" not in encoder.decisions_[column.place] and name not in self.filled:
                self._look_for_holes(table, name, column)
            if isinstance(column, LevelColumn):
                self._look_at_levels(table, name, column)
            elif isinstance(column, NumberColumn) and column.kept and column.scale == 1.0 and known is not None:
                self._look_at_numbers(table, name, place, known, written=column.written)
            place += len(column.labels(""))

    def _look_for_holes(self, table: pa.Table, name: str, column: Any) -> None:
        values = column_of(table, name)
        count = int(values.null_count)
        if isinstance(column, NumberColumn):
            try:
                count = int(np.isnan(numbers_of(values, repr(name), 0, written=column.written)).sum())
            except QedError:
                return
        if count:
            self.empty[name] = self.empty.get(name, 0) + count

    def _look_at_levels(self, table: pa.Table, name: str, column: LevelColumn) -> None:
        values = column_of(table, name)
        unseen = (codes_of(values, column.levels, repr(name), 0) < 0) & ~np.asarray(values.is_null())
        if unseen.any():
            self.unseen[name] = self.unseen.get(name, 0) + int(unseen.sum())
            self.examples.setdefault(name, shown(values[int(unseen.argmax())].as_py()))

    def _look_at_numbers(
        self, table: pa.Table, name: str, place: int, known: Fingerprint, *, written: str = ""
    ) -> None:
        try:
            values = numbers_of(column_of(table, name), repr(name), 0, written=written)
        except QedError:
            return  # what is no number is refused by the model, in its own words
        mean, deviation = float(known.mean[place]), float(np.sqrt(known.variance[place]))
        count = int((np.abs(values - mean) > FAR * deviation + 1e-9 * abs(mean)).sum())
        if count:
            self.far[name] = self.far.get(name, 0) + count

    def notes(self) -> list[str]:
        """Say what was found, a sentence for each kind."""
        found = [
            f"the column {name!r} is not there: it was taken as missing in all {self.rows} rows."
            for name in self.filled
        ]
        found += [
            f"{_rows(count)} of {self.rows} {'has' if count == 1 else 'have'} a level of {name!r} that the model has not seen, "
            f"such as {self.examples[name]}."
            for name, count in self.unseen.items()
        ]
        found += [
            f"{_rows(count)} of {self.rows} {'has' if count == 1 else 'have'} a value of {name!r} more than {FAR:g} standard deviations "
            "from the mean of the fit: predictions there are extrapolated."
            for name, count in self.far.items()
        ]
        found += [
            f"{_rows(count)} of {self.rows} {'has' if count == 1 else 'have'} no value of {name!r}, which no row of the fit lacked."
            for name, count in self.empty.items()
        ]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give the counts."""
        return {"unseen": self.unseen, "far": self.far, "empty": self.empty, "filled": self.filled}


def _rows(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"
