"""Columns that are not what their type says: codes that look like numbers, and dates that are counted in seconds."""

import re
from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc

from qed.features.tables.values import moments_of
from qed.features.understanding.findings import LEFT_OUT, READ, Finding
from qed.features.understanding.views import ColumnView, TableView

CODE = re.compile(
    r"(?i)(^|[_ .-])(zip|zip_?code|post_?code|postal_?code|plz|area_?code|fips|naics|sic|icd\d*)$|[a-z]Zip$|^zip"
)
MOMENT = re.compile(r"(?i)(date|time|stamp|epoch|created|updated|modified|_at$|_ts$|^ts$)")
FEW_VALUES = 10
# The squares of larger values, added over many rows, overflow.
LARGEST = 1e150


def enormous(view: TableView) -> Iterator[Finding]:
    """Find numbers so large that nothing can be calculated with their squares: a mark for something missing, or a fault of the file."""
    for one in view.left:
        size = 0.0 if one.is_date else one.largest
        if size > LARGEST:
            says = f"it holds values as large as {size:.0e}, whose squares overflow: correct them, or write them in larger units"
            yield Finding(one.name, LEFT_OUT, says)


def codes(view: TableView) -> Iterator[Finding]:
    """Find numbers that are names of places and the like: greater means nothing."""
    for one in view.left:
        if one.is_whole and not one.is_text and CODE.search(one.name) and 2 < one.n_levels <= len(one.rows) // 2:
            yield Finding(
                one.name, READ, f"{one.n_levels} categories: a code, of which greater means nothing", "category"
            )


def counted_dates(view: TableView) -> Iterator[Finding]:
    """Find dates that are written as numbers: days such as 20240229, or seconds since 1970."""
    for one in view.left:
        says = "" if one.is_text or one.is_date or one.n_levels < FEW_VALUES else _moment(one)
        if says:
            yield Finding(one.name, READ, says, "date")


def _moment(one: ColumnView) -> str:
    values = one.numbers
    if values is None or not np.isfinite(values).any():
        return ""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    days = low >= 19000101 and high <= 21001231 and one.is_whole
    if days and pc.all(pc.is_valid(moments_of(one.some))).as_py():
        return f"a date, written like {low:.0f}"
    if MOMENT.search(one.name):
        for unit, words in ((1.0, "seconds"), (1e3, "milliseconds"), (1e6, "microseconds")):
            # From 1990 to 2100.
            if 631e6 * unit <= low and high <= 4103e6 * unit:
                return f"a date, counted in {words} since 1970"
    return ""
