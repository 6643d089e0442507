"""Categories that have an order: sizes, grades, answers on a scale, months, bands of numbers, and categories whose type says so.

They become the numbers of their order, 0, 1, 2 and so on, for every model: a line can follow them, and a tree asks what is less. Three
values at least are to be seen, all of one scale, since the order of two says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from qed.features.tables.writing import is_nothing
from qed.features.understanding.findings import READ, Finding
from qed.features.understanding.views import ColumnView, TableView

# Each place of a scale may have several names, of which a column uses one.
SCALES = tuple(
    tuple(tuple(place.split("/")) for place in scale.split(" < "))
    for scale in (
        "very low/extremely low < low < medium/moderate/middle/normal/average/mid/med < high < very high/extremely high < extreme",
        "xxs < xs < s < m < l < xl < xxl/2xl < xxxl/3xl < 4xl",
        "tiny < extra small/very small/x-small < small < medium < large/big < extra large/very large/x-large < huge",
        "fair < good < very good < premium < ideal",
        "very poor/very bad/awful < poor/bad < fair/average/ok < good < very good < excellent < outstanding",
        "po < fa < ta < gd < ex",
        "strongly disagree < disagree < somewhat disagree/slightly disagree < neutral/undecided/neither agree nor disagree/neither"
        " < somewhat agree/slightly agree < agree < strongly agree",
        "very dissatisfied < dissatisfied < neutral/neither satisfied nor dissatisfied < satisfied < very satisfied",
        "very unlikely < unlikely < neutral < likely < very likely",
        "never < rarely/seldom < sometimes/occasionally < often/frequently < usually/very often < always",
        "mild < moderate < severe < critical",
        "beginner/novice < intermediate < advanced < expert",
        "bronze < silver < gold < platinum",
        "freshman < sophomore < junior < senior",
        "cold < cool < mild < warm < hot",
        "1st/first < 2nd/second < 3rd/third < 4th/fourth < 5th/fifth < 6th/sixth < 7th/seventh < 8th/eighth < 9th/ninth",
        "january/jan < february/feb < march/mar < april/apr < may < june/jun < july/jul < august/aug < september/sep/sept"
        " < october/oct < november/nov < december/dec",
        "monday/mon < tuesday/tue/tues < wednesday/wed < thursday/thu/thur/thurs < friday/fri < saturday/sat < sunday/sun",
    )
)
FEWEST, MOST = 3, 40
BAND = re.compile(r"^[\[(]?\D?(\d+(?:\.\d+)?)\s*(?:-|–|,|to)\s*\D?(\d+(?:\.\d+)?)[\])]?(?:\s*[a-z]+)?$")
ABOVE = re.compile(
    r"^(?:>=?|over|above|more than)?\s*\D?(\d+(?:\.\d+)?)\s*(?:\+|and over|and above|or more|and older)?$"
)
BELOW = re.compile(r"^(?:<=?|under|below|less than|up to)\s*\D?(\d+(?:\.\d+)?)$")


def orders(view: TableView) -> Iterator[Finding]:
    """Find columns whose categories have an order."""
    for one in view.left:
        found = order_of(one)
        if found:
            yield ordered(one.name, found)


def ordered(name: str, values: Sequence[str]) -> Finding:
    """Say that a column is read by the order of its values."""
    shown = values if len(values) <= 6 else [*values[:3], "...", *values[-2:]]
    return Finding(name, READ, f"ordered categories: {' < '.join(shown)}", "ordered", tuple(values))


def order_of(one: ColumnView) -> list[str]:
    """Give the values of a column in their order; nothing where they have none that is known.

    The order of a type is taken as it is. Else all values, but what stands for a missing one, have to be of one scale, or bands of numbers.
    """
    kind = one.table.schema.field(one.place).type
    if pa.types.is_dictionary(kind) and kind.ordered:
        chunks = one.table.column(one.place).chunks
        known = [str(value) for value in chunks[0].dictionary.to_pylist()] if chunks and one.is_text else []
        return (
            known
            if len(known) >= FEWEST and all(part.dictionary.equals(chunks[0].dictionary) for part in chunks)
            else []
        )
    if not one.is_text or one.way or not FEWEST <= one.n_levels <= MOST:
        return []
    values = one.column.unique().drop_null()
    values = [value for value, gone in zip(values.to_pylist(), is_nothing(values)) if not gone]
    return by_scale(values) or by_band(values) if FEWEST <= len(values) <= MOST else []


def by_scale(values: Sequence[str]) -> list[str]:
    """Put values in the order of the first scale that has them all.

    >>> by_scale(["High", "low", "Medium"]), by_scale(["low", "high", "red"])
    (['low', 'Medium', 'High'], [])
    """
    for scale in SCALES:
        rank = {name: place for place, names in enumerate(scale) for name in names}
        places = [rank.get(re.sub(r"[\s_]+", " ", value.strip().lower()), -1) for value in values]
        if min(places) >= 0 and len(set(places)) == len(places):
            return [values[k] for k in np.argsort(places)]
    return []


def by_band(values: Sequence[str]) -> list[str]:
    """Put bands of numbers in order, where they do not overlap.

    >>> by_band(["26-35", "65+", "18-25", "36-64"]), by_band(["1-2", "1-3", "2-9"])
    (['18-25', '26-35', '36-64', '65+'], [])
    """
    ends = [_ends(value.strip().lower()) for value in values]
    if any(end is None for end in ends) or sum(np.isfinite(end).all() for end in ends if end is not None) < 2:
        return []
    order = sorted(range(len(values)), key=lambda k: ends[k] or (0.0, 0.0))
    pairs = [(ends[a], ends[b]) for a, b in pairwise(order)]
    apart = all(first is not None and second is not None and first[1] <= second[0] for first, second in pairs)
    return [values[k] for k in order] if apart else []


def _ends(value: str) -> tuple[float, float] | None:
    """Give the ends of a band."""
    band, above, below = BAND.match(value), ABOVE.match(value), BELOW.match(value)
    if band:
        return float(band[1]), float(band[2])
    if below:
        return -np.inf, float(below[1])
    return (float(above[1]), np.inf) if above and not value.replace(".", "").isdigit() else None


def order_asked(one: ColumnView, kind: str) -> list[str]:
    """Give the order that was asked for: written out, as in ``small < large``, or the one that the values have."""
    return [part.strip() for part in kind.split("<")] if "<" in kind else order_of(one)


def named_in(one: ColumnView) -> list[str]:
    """Give the different values of a column as text, but for those that stand for a missing one."""
    values = one.column.unique().drop_null()
    values = values.cast(pa.string())
    return [value for value, gone in zip(values.to_pylist(), is_nothing(values)) if not gone]


def left_out_of(one: ColumnView, order: Sequence[str]) -> list[str]:
    """Give the values of a column that an order does not name."""
    return [value for value in named_in(one) if value not in order]


def shown_few(values: Sequence[str], most: int = 3) -> str:
    """Write a few values, and how many more there are.

    >>> shown_few(["a", "b"]), shown_few(list("abcde"))
    ("'a', 'b'", "'a', 'b', 'c' and 2 more")
    """
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(repr, values[:most])) + more
