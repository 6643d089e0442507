"""Row numbers and identifiers: columns that name rows, and tell nothing of others.

A number that only counts the rows is known by its values: as many different whole numbers as there are rows, in a range hardly larger, is
what counting gives and measuring does not, in whatever order. An identifier with larger numbers is known by its name.
"""

import re
from collections.abc import Iterator

import numpy as np

from qed.features.understanding.findings import LEFT_OUT, Finding
from qed.features.understanding.views import ColumnView, TableView

FEW_ROWS, MANY_ROWS = 20, 50
ROW = re.compile(
    r"(?i)^(row[ _.]?(names?|num(ber)?|nr|no|id|index)?|index|idx|unnamed:? ?\d*|obs(ervation)?|case(num|no)?|key|no|nr|num|#|x)$"
)
NAME = re.compile(r"(?i:^(id|uuid|guid)$|[_ .-](id|uuid|guid)$|^id[_ .-])|[a-z]I[dD]$")
TIME = re.compile(r"(?i)(year|date|time|month|day|week|hour|quarter|period|epoch|age)")


def row_numbers(view: TableView) -> Iterator[Finding]:
    """Find columns that number the rows, and identifiers made of numbers."""
    for one in view.left:
        says = _about(one, view.n_rows)
        if says:
            yield Finding(one.name, LEFT_OUT, says)


def _about(one: ColumnView, n: int) -> str:
    called_row, called_id = bool(ROW.match(one.name)), bool(NAME.search(one.name))
    if not called_id and one.n_levels < len(one.rows):
        # Rows share values: these are no numbers of rows.
        return ""
    if not one.is_whole or (one.is_text and not (called_row or called_id)):
        return ""
    values = one.all_numbers
    assert values is not None
    low, high, distinct = float(values.min()), float(values.max()), len(np.unique(values))
    named = called_row or called_id
    if distinct < n:
        # Rows share it: then it names something that has several rows.
        many = called_id and distinct > max(FEW_ROWS, n // 20)
        return (
            f"an identifier of {distinct:,} things; --group {one.name} keeps the rows of each together" if many else ""
        )
    if n < FEW_ROWS and not named:
        return ""
    wide = high - low + 1
    if wide == n and low in (0, 1):
        shuffled = "" if bool((np.diff(values) > 0).all()) else ", shuffled"
        return f"a row number, {low:.0f} to {high:,.0f}{shuffled}"
    looks_like_time = TIME.search(one.name) or (low >= 1500 and high <= 2100)
    if wide <= 2 * n and n >= MANY_ROWS and (named or not looks_like_time):
        return f"a row number with gaps, {low:,.0f} to {high:,.0f}" if wide > n else f"a row number from {low:,.0f}"
    return f"an identifier, all {n:,} values differ" if named else ""
