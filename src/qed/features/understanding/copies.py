"""Copies: columns that say the same as another, in other units or other words."""

from collections.abc import Iterator

import numpy as np

from qed.features.understanding.findings import LEFT_OUT, Finding
from qed.features.understanding.views import ColumnView, TableView

# Two columns are one if a line goes through all their points, up to so much of their spread.
EXACT = 1e-9
MOST_COLUMNS = 1000


def copies(view: TableView) -> Iterator[Finding]:
    """Find columns that are a copy of an earlier one: the same numbers but for their units, or the same categories but for their names."""
    gone: set[str] = set()
    for one, other, says in [*_lines(view), *_renamed(view)]:
        if one.name not in gone and other.name not in gone:
            gone.add(one.name)
            yield Finding(one.name, LEFT_OUT, says)


def _lines(view: TableView) -> Iterator[tuple[ColumnView, ColumnView, str]]:
    numbers = [one for one in view.left if one.numbers is not None][:MOST_COLUMNS]
    varied = [(one, scaled) for one in numbers if (scaled := standardised(one.numbers)) is not None]
    if len(varied) < 2:
        return
    matrix = np.array([scaled for _, scaled in varied])
    near = np.abs(matrix @ matrix.T) / matrix.shape[1] > 1 - 1e-6
    for later in range(1, len(varied)):
        for earlier in np.flatnonzero(near[later, :later]):
            one, other = varied[later][0], varied[int(earlier)][0]
            says = _line(one, other)
            if says:
                yield one, other, says


def standardised(values: np.ndarray | None) -> np.ndarray | None:
    """Give values of mean zero and variance one, holes as zeros; None where nothing varies."""
    if values is None:
        return None
    there = np.isfinite(values)
    spread = values[there].std() if there.any() else 0.0
    if not np.isfinite(spread) or spread <= 1e-12 * np.abs(values[there]).max(initial=0.0):
        return None
    return np.asarray(np.where(there, (values - values[there].mean()) / spread, 0.0))


def _line(one: ColumnView, other: ColumnView) -> str:
    """Say how a column follows from another along a line; nothing where it does not."""
    x, y = other.numbers, one.numbers
    assert x is not None and y is not None
    there = np.isfinite(x)
    if not np.array_equal(there, np.isfinite(y)) or there.sum() < 3:
        return ""
    x, y = x[there], y[there]
    if np.array_equal(x, y):
        return f"a copy of {other.name}"
    slope = float((x - x.mean()) @ (y - y.mean()) / ((x - x.mean()) @ (x - x.mean())))
    offset = float(y.mean() - slope * x.mean())
    off = np.abs(y - offset - slope * x).max()
    if off <= EXACT * y.std() + 1e-12 * np.abs(y).max():
        return f"it is {linear_words([(slope, other.name)], offset, np.abs(y).max())}"
    # Charges follow from minutes but for cents.
    unit = _last_digit(y)
    if off <= unit and np.abs(y).max() > 100 * off:
        shift = 0.0 if abs(offset) < unit else offset
        return f"it is {linear_words([(slope, other.name)], shift, np.abs(y).max(), digits=3)}, rounded"
    return ""


def _last_digit(values: np.ndarray) -> float:
    """Give the unit to which numbers are rounded: the largest power of ten, at most a tenth, whose multiples they all are; else nothing."""
    for places in (1, 2, 3):
        if np.allclose(values, np.round(values, places), rtol=0, atol=1e-9 * max(1.0, float(np.abs(values).max()))):
            return float(10.0**-places)
    return 0.0


def linear_words(terms: list[tuple[float, str]], offset: float, size: float, digits: int = 6) -> str:
    """Write a sum of columns.

    >>> linear_words([(1.0, "a"), (-2.5, "b")], 32.0, 100.0)
    'a - 2.5 b + 32'
    """
    words = ""
    for factor, name in terms:
        rounded = float(f"{factor:.{digits}g}")
        sign = (" - " if rounded < 0 else " + ") if words else ("-" if rounded < 0 else "")
        words += f"{sign}{'' if abs(rounded) == 1 else f'{abs(rounded):.{digits}g} '}{name}"
    if abs(offset) > 1e-6 * size:
        words += f" {'-' if offset < 0 else '+'} {abs(offset):.{digits}g}"
    return words


def _renamed(view: TableView) -> Iterator[tuple[ColumnView, ColumnView, str]]:
    """Find categories that stand for one another."""
    categories = [one for one in view.left if one.is_category and one.repeats][:MOST_COLUMNS]
    for later, one in enumerate(categories):
        for other in categories[:later]:
            alike = one.n_levels == other.n_levels and np.array_equal(_sizes(one), _sizes(other))
            if alike and one_to_one(one.codes, other.codes):
                yield one, other, f"{other.name} in other words: each value goes with one of {other.name}"


def _sizes(one: ColumnView) -> np.ndarray:
    """Give how often the values occur, whatever they are."""
    return np.sort(np.bincount(one.codes))


def one_to_one(one: np.ndarray, other: np.ndarray) -> bool:
    """Say whether each code of one column goes with one code of the other, both ways.

    >>> one_to_one(np.array([0, 1, 0]), np.array([5, 3, 5])), one_to_one(np.array([0, 1, 0]), np.array([5, 3, 3]))
    (True, False)
    """
    pairs = len(np.unique(one.astype(np.int64) * (int(other.max()) + 1) + other.astype(np.int64)))
    return pairs == len(np.unique(one)) == len(np.unique(other))
