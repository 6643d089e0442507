"""All rules, in their order: what can be said about the columns of a table before anything is learned from it.

A rule is a function of a `TableView` that gives findings. What one leaves out, the next does not look at. Every rule can be overruled: a
column that is to be used is used, one that is to be read as something is read so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from qed.base.errors import ParameterError
from qed.base.sources.layout import did_you_mean
from qed.features.understanding.copies import copies
from qed.features.understanding.dependence import sums
from qed.features.understanding.findings import LEFT_OUT, READ, SUSPICIOUS, Finding, Understanding
from qed.features.understanding.kinds import codes, counted_dates, enormous
from qed.features.understanding.orders import left_out_of, named_in, order_asked, ordered, orders, shown_few
from qed.features.understanding.row_numbers import row_numbers
from qed.features.understanding.targets import functions_of_the_target
from qed.features.understanding.views import TableView

KINDS = ("number", "category", "ordered", "date", "text")
RULES: tuple[Callable[[TableView], Iterator[Finding]], ...] = (
    row_numbers,
    enormous,
    functions_of_the_target,
    copies,
    codes,
    counted_dates,
    orders,
)


def understand(
    table: pa.Table,
    y: np.ndarray | None = None,
    target: str = "the target",
    *,
    is_number: bool = False,
    use: Sequence[str] = (),
    drop: Sequence[str] = (),
    treat: Mapping[str, str] | None = None,
    time: str | None = None,
) -> Understanding:
    """Look at the columns of a table.

    `is_number` says whether the target is a number to be predicted, and not a class. Columns to `use` are used whatever they look like,
    those to `drop` are not, and `treat` says of some what they are: "number", "category", "ordered" (or, with the order of their values,
    "small < large"), "date" or "text". `time` is the column that puts the rows in order, if one was named.

    >>> table = pa.table({"rownames": range(1, 41), "size": np.arange(40) % 7, "area": 2.0 * (np.arange(40) % 7)})
    >>> seen = understand(table)
    >>> seen.used, [one.words() for one in seen.left_out]
    (['size'], ['rownames (a row number, 1 to 40)', 'area (it is 2 size)'])
    """
    treat = dict(treat or {})
    check_names([*use, *drop, *treat], table.column_names)
    for name, kind in treat.items():
        if kind not in KINDS and "<" not in kind:
            raise ParameterError(f"{name!r} can be read as {', '.join(KINDS[:-1])} or {KINDS[-1]}, not as {kind!r}.")
    both = [name for name in drop if name in use or name in treat]
    if both:
        raise ParameterError(f"{both[0]!r} can not be both used and left out.")
    view = TableView.of(table, y, target, is_number=is_number)
    asked = {*use, *treat}
    findings = [Finding(name, LEFT_OUT, "as asked") for name in drop]
    findings += [_as_asked(view, name, kind) for name, kind in treat.items()]
    view.gone |= set(drop)
    for rule in RULES:
        found = [one for one in rule(view) if one.column not in asked]
        if rule is functions_of_the_target:
            found = _unless_all(found, view)
        view.gone |= {one.column for one in found if one.action == LEFT_OUT}
        findings += found
    names = tuple(name for name in table.column_names if name not in view.gone)
    notes = (*sums(view), *_about_time(view, time))
    return Understanding(names, tuple(findings), notes=notes)


def _as_asked(view: TableView, name: str, kind: str) -> Finding:
    """Read a column as was asked."""
    if kind != "ordered" and "<" not in kind:
        return Finding(name, READ, f"{kind}, as asked", kind)
    column = next(one for one in view.columns if one.name == name)
    found = order_asked(column, kind)
    if len(set(found)) < 2 or "" in found:
        raise ParameterError(
            f"No order of the values of {name!r} is known: write it out, from the least to the greatest, such as "
            f"--as '{name}=low<medium<high'."
        )
    left = left_out_of(column, found)
    if len(left) == len(named_in(column)):
        raise ParameterError(
            f"None of {', '.join(map(repr, found))} is a value of {name!r}: it holds {shown_few(left)}."
        )
    read = ordered(name, found)
    odd = f"; {shown_few(left)} not among them, and missing" if left else ""
    return replace(read, says=read.says + odd)


def _unless_all(found: list[Finding], view: TableView) -> list[Finding]:
    """Only suspect columns of knowing the target where no other column would be left: they are what there is to learn from."""
    if {one.name for one in view.left} - {one.column for one in found if one.action == LEFT_OUT}:
        return found
    return [replace(one, action=SUSPICIOUS) for one in found]


def check_names(asked: Sequence[str], known: Sequence[str]) -> None:
    """Refuse the name of a column that is not there."""
    for name in asked:
        if name not in known:
            raise ParameterError(f"There is no column {name!r}. {did_you_mean(name, known)}")


def _about_time(view: TableView, time: str | None) -> Iterator[str]:
    """Caution against folds drawn at random where rows have dates."""
    dates = [one.name for one in view.left if one.is_date]
    if dates and time is None and view.y is not None:
        yield (
            f"rows have dates ({dates[0]}): if what comes later is to be predicted from what came before, "
            f"--time {dates[0]} judges models so, and not by rows drawn at random"
        )
