"""Arrow columns as numbers: numbers themselves, numbers and dates written as text, and the parts of dates."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qed.base.errors import InputError
from qed.base.sources.layout import kind_of, values_of
from qed.features.tables.levels import strange_kind

PARTS = ("year", "month", "weekday", "yearday", "days")
DAY = 86_400_000_000


def is_date(type: pa.DataType) -> bool:
    """Say whether a type holds points in time (a duration or a time of the day is none)."""
    return bool(pa.types.is_date(type) or pa.types.is_timestamp(type))


def is_amount(type: pa.DataType) -> bool:
    """Say whether a type holds numbers, or times that can be counted as such."""
    return kind_of(type) == "number" or pa.types.is_duration(type) or pa.types.is_time(type)


def numbers_of(column: pa.Array, name: str, start: int, *, parse: bool = False) -> np.ndarray:
    """Give a column as float64, NaN where a value is missing; durations in days, times of the day in hours.

    >>> numbers_of(pa.array(["1.5", None]), "'a'", 0, parse=True)
    array([1.5, nan])
    """
    kind = column.type
    if kind_of(kind) == "text" and parse:
        column = _parsed(column, pa.float64(), name, start, "number")
    elif pa.types.is_duration(kind):
        column = pc.divide(column.cast(pa.duration("us"), safe=False).cast(pa.int64()).cast(pa.float64()), float(DAY))
    elif pa.types.is_time(kind):
        column = pc.divide(column.cast(pa.time64("us"), safe=False).cast(pa.int64()).cast(pa.float64()), DAY / 24.0)
    elif kind_of(kind) != "number":
        raise strange_kind(column, kind_of(kind), "number", name, start)
    values = np.asarray(values_of(column), dtype=np.float64)
    endless = np.isinf(values)
    if endless.any():
        raise InputError(
            f"Column {name} holds infinity in row {start + int(endless.argmax())} (counted from 0): correct or drop the row."
        )
    return values


def dates_of(column: pa.Array, name: str, start: int, *, parse: bool = False) -> np.ndarray:
    """Give year, month, day of the week (Monday is 0), day of the year, and days since 1970 of each date.

    >>> dates_of(pa.array(["1970-01-02"]), "'when'", 0, parse=True).tolist()
    [[1970.0, 1.0, 4.0, 2.0, 1.0]]
    """
    if kind_of(column.type) == "text" and parse:
        column = _parsed(column, pa.timestamp("us"), name, start, "date such as 2024-02-29")
    elif not is_date(column.type) and not pa.types.is_null(column.type):
        raise strange_kind(column, kind_of(column.type), "date", name, start)
    moments = column.cast(pa.timestamp("us", getattr(column.type, "tz", None)), safe=False)
    days = pc.divide(moments.cast(pa.int64()).cast(pa.float64(), safe=False), float(DAY))
    parts = [pc.year(moments), pc.month(moments), pc.day_of_week(moments), pc.day_of_year(moments), days]
    return np.column_stack([np.asarray(values_of(part), dtype=np.float64) for part in parts])


def reads_as_dates(column: pa.Array) -> bool:
    """Say whether all of a column's text is dates, written as ISO 8601 has it.

    >>> reads_as_dates(pa.array(["2024-02-29", None])), reads_as_dates(pa.array(["2024", "x"]))
    (True, False)
    """
    if kind_of(column.type) != "text":
        return False
    try:
        column.unique().cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return False
    return True


def documents_in(column: pa.Array, name: str, start: int) -> list[str]:
    """Give a column of free text as a list, with nothing in place of what is missing."""
    if kind_of(column.type) != "text" and not pa.types.is_null(column.type):
        raise strange_kind(column, kind_of(column.type), "text", name, start)
    return ["" if text is None else text for text in column.to_pylist()]


def _parsed(column: pa.Array, type: pa.DataType, name: str, start: int, wanted: str) -> pa.Array:
    try:
        return column.cast(type)
    except pa.ArrowInvalid:
        row = next(i for i in range(len(column)) if not _reads(column[i], type))
        raise InputError(
            f"Column {name} holds {column[row].as_py()!r} in row {start + row} (counted from 0), which is no {wanted}: correct it."
        ) from None


def _reads(value: pa.Scalar, type: pa.DataType) -> bool:
    try:
        value.cast(type)
    except pa.ArrowInvalid:
        return False
    return True
