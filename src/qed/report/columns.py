"""The columns of a table, described: what each column holds, how much of it is missing, and how its values are spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qed.base.sources.layout import kind_of, values_of
from qed.report.words import apart

BARS = 24
MOST_WORDS, MANY_ROWS = 4, 50_000


@dataclass(frozen=True)
class Column:
    """One column of a table, in words and bars."""

    # What it is called, and what it holds: numbers, text, dates ...
    name: str
    kind: str
    # How many values are missing, and how many different ones there are.
    missing: int
    distinct: int
    says: str  # mean and range of numbers, the first and last date, the commonest words
    bars: tuple[float, ...]  # heights from 0 to 1: a histogram of numbers and dates, the counts of words

    @classmethod
    def of(cls, name: str, column: pa.ChunkedArray) -> Column:
        """Look at a column.

        >>> seen = Column.of("size", pa.chunked_array([[1.0, 2.0, None, 9.0]]))
        >>> seen.kind, seen.missing, seen.says
        ('numbers', 1, '4 ± 4.36, from 1 to 9')
        """
        kept = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        there = kept.drop_null()
        if pa.types.is_floating(there.type):
            there = there.filter(pc.is_finite(there))
        kind = "truth" if pa.types.is_boolean(there.type) else kind_of(there.type)
        words, says, bars = READERS.get(kind, _words)(there) if len(there) else ("nothing", "", ())
        distinct = pc.count_distinct(there).as_py() if len(there) and kind != "other" else 0
        words = "categories" if kept is not column and words == "text" else words
        return cls(name, words, len(column) - len(there), distinct, says, bars)


def describe_columns(table: pa.Table) -> list[Column]:
    """Look at every column of a table."""
    found = []
    for name in table.column_names:
        found.append(Column.of(name, table.column(name)))
        if table.num_rows > MANY_ROWS:
            # What looking at a column took is free for the next.
            pa.default_memory_pool().release_unused()
    return found


def _numbers(column: pa.ChunkedArray) -> tuple[str, str, tuple[float, ...]]:
    values = np.asarray(values_of(column), dtype=np.float64)
    whole = pa.types.is_integer(column.type)
    spread = f" ± {_short(values.std(ddof=1))}" if len(values) > 1 else ""
    says = f"{_short(values.mean())}{spread}, from {_short(values.min())} to {_short(values.max())}"
    return "whole numbers" if whole else "numbers", says, _histogram(values)


def _dates(column: pa.ChunkedArray) -> tuple[str, str, tuple[float, ...]]:
    ends = pc.min_max(column).as_py()
    first, last = (str(ends[end])[:19].removesuffix(" 00:00:00") for end in ("min", "max"))
    plain = column.cast(pa.int64() if column.type.bit_width == 64 else pa.int32())
    return "dates", f"from {first} to {last}", _histogram(np.asarray(values_of(plain), dtype=np.float64))


def _words(column: pa.ChunkedArray) -> tuple[str, str, tuple[float, ...]]:
    words = "truth values" if pa.types.is_boolean(column.type) else "text"
    if kind_of(column.type) == "other":
        return "other values", "", ()
    found = pc.value_counts(column).to_pylist()
    found.sort(key=lambda item: (-item["counts"], str(item["values"])))
    shown = [apart(f"{_cut(str(item['values']))} {item['counts']}") for item in found[:MOST_WORDS]]
    more = f", and {len(found) - MOST_WORDS} more" if len(found) > MOST_WORDS else ""
    top = found[0]["counts"]
    return words, ", ".join(shown) + more, tuple(item["counts"] / top for item in found[:BARS])


READERS: dict[str, Any] = {"number": _numbers, "time": _dates}


def _histogram(values: np.ndarray) -> tuple[float, ...]:
    distinct = len(np.unique(values))
    bars = min(BARS, distinct, max(4, int(np.sqrt(len(values)) * 2)))
    counts, _ = np.histogram(values, bins=bars)
    return tuple((counts / max(1, counts.max())).tolist())


def _short(value: float) -> str:
    """Write a number in a few digits.

    >>> _short(1234.5678), _short(0.000123456), _short(2007.0)
    ('1235', '0.000123', '2007')
    """
    size = abs(value)
    if size >= 1e7 or (0 < size < 1e-4):
        return f"{value:.3g}"
    return f"{value:.0f}" if size >= 1000 else f"{value:.3g}"


def _cut(word: str, longest: int = 24) -> str:
    return word if len(word) <= longest else word[: longest - 1] + "…"
