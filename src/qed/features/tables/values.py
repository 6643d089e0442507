"""Arrow columns as numbers: numbers themselves, numbers and dates written as text, and the parts of dates."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qed.base.errors import InputError
from qed.base.sources.layout import kind_of, values_of
from qed.features.tables.levels import strange_kind
from qed.features.tables.writing import example_of, is_nothing, moments_in, numbers_in

PARTS = ("year", "month", "weekday", "yearday", "days")
DAY = 86_400_000_000


def is_date(type: pa.DataType) -> bool:
    """Say whether a type holds points in time (a duration or a time of the day is none)."""
    return bool(pa.types.is_date(type) or pa.types.is_timestamp(type))


def is_amount(type: pa.DataType) -> bool:
    """Say whether a type holds numbers, or times that can be counted as such."""
    return kind_of(type) == "number" or pa.types.is_duration(type) or pa.types.is_time(type)


def numbers_of(column: pa.Array, name: str, start: int, *, written: str = "") -> np.ndarray:
    """Give a column as float64, NaN where a value is missing; durations in days, times of the day in hours.

    Text is read in the way in which it is written; what is written otherwise is missing.

    >>> numbers_of(pa.array(["1.5", "n/a", None]), "'a'", 0, written="point")
    array([1.5, nan, nan])
    """
    kind = column.type
    if kind_of(kind) == "text" and written:
        found = numbers_in(column, written)
        _refuse_strange(column, np.isnan(found), name, start, "number")
        return found
    if pa.types.is_duration(kind):
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


def dates_of(column: pa.Array, name: str, start: int, *, written: str = "") -> np.ndarray:
    """Give year, month, day of the week (Monday is 0), day of the year, and days since 1970 of each date.

    >>> dates_of(pa.array(["1970-01-02"]), "'when'", 0, written="iso").tolist()
    [[1970.0, 1.0, 4.0, 2.0, 1.0]]
    """
    if kind_of(column.type) == "text" and written:
        texts, column = column, moments_in(column, written)
        _refuse_strange(texts, ~np.asarray(pc.is_valid(column)), name, start, f"date such as {example_of(written)}")
    elif kind_of(column.type) == "number" and written and not pa.types.is_null(column.type):
        column = moments_of(column)
    elif not is_date(column.type) and not pa.types.is_null(column.type):
        raise strange_kind(column, kind_of(column.type), "date", name, start)
    moments = column.cast(pa.timestamp("us", getattr(column.type, "tz", None)), safe=False)
    days = pc.divide(moments.cast(pa.int64()).cast(pa.float64(), safe=False), float(DAY))
    parts = [pc.year(moments), pc.month(moments), pc.day_of_week(moments), pc.day_of_year(moments), days]
    return np.column_stack([np.asarray(values_of(part), dtype=np.float64) for part in parts])


def moments_of(column: pa.Array) -> pa.Array:
    """Read numbers as moments by their size: a day such as 20240229, or seconds, thousandths or millionths of them since 1970.

    >>> moments_of(pa.array([20240229, 86400, None])).to_pylist()
    [datetime.datetime(2024, 2, 29, 0, 0), datetime.datetime(1970, 1, 2, 0, 0), None]
    """
    values = np.asarray(values_of(column), dtype=np.float64)
    hole = ~np.isfinite(values) | (np.abs(values) >= 2.5e17)
    values = np.where(hole, 0.0, values)
    size = np.abs(values)
    units = np.select([size < 1e11, size < 1e14], [1e6, 1e3], 1.0)
    found = (values * units).astype("int64").astype("datetime64[us]")
    day = (values >= 19000101) & (values <= 21001231) & (values == np.floor(values))
    if day.any():
        parts = values[day].astype(np.int64)
        text = pa.array([str(part) for part in parts.tolist()])
        read = pc.strptime(text, "%Y%m%d", "us", error_is_null=True)
        found[day] = read.to_numpy(zero_copy_only=False)
    return pa.array(found, pa.timestamp("us"), mask=hole | np.isnat(found))


def documents_in(column: pa.Array, name: str, start: int) -> list[str]:
    """Give a column of free text as a list, with nothing in place of what is missing."""
    if kind_of(column.type) != "text" and not pa.types.is_null(column.type):
        raise strange_kind(column, kind_of(column.type), "text", name, start)
    return ["" if text is None else text for text in column.to_pylist()]


def _refuse_strange(column: pa.Array, unread: np.ndarray, name: str, start: int, wanted: str) -> None:
    """Refuse text of which more than half is written otherwise than it was learned: then it is not only a few odd cells."""
    if not unread.any():
        return
    nothing = is_nothing(column)
    odd = unread & ~nothing
    if 2 * odd.sum() > (~nothing).sum():
        row = int(odd.argmax())
        raise InputError(
            f"Column {name} holds {column[row].as_py()!r} in row {start + row} (counted from 0), which is no {wanted}: correct it."
        )
