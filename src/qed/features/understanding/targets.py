"""Columns that know the target: copies and simple functions of it, which nobody has when the target is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from qed.features.understanding.copies import one_to_one, standardised
from qed.features.understanding.findings import LEFT_OUT, SUSPICIOUS, Finding
from qed.features.understanding.views import ENOUGH_EACH, ColumnView, TableView

# How many values on either side of a cut tell how much room there is between values of the target.
NEAR = 10
FEW_VALUES, NEARLY = 10, 0.99
# Of fewer rows, categories may have ranges of the target to themselves by chance.
ENOUGH_ROWS = 20
ALMOST = 1 - 1e-9
WORDS = {
    "copy": "a copy of {}",
    "line": "{} in other units",
    "logarithm": "the logarithm of {}",
    "exponential": "the exponential of {}",
    "square": "the square of {}",
    "square root": "the square root of {}",
    "reciprocal": "the reciprocal of {}",
}


@dataclass(frozen=True)
class _Known:
    """What columns are compared with: the target in several forms, and the ranks of its values, all of mean zero and variance one."""

    y: np.ndarray
    forms: dict[str, np.ndarray | None]
    ranks: np.ndarray | None
    varies: bool  # whether it has more than a few values

    @classmethod
    def of(cls, y: np.ndarray) -> _Known:
        with np.errstate(all="ignore"):
            forms = {
                "line": y,
                "logarithm": np.log(y) if (y > 0).all() else None,
                "exponential": np.exp(y) if y.max(initial=0.0) < 500 else None,
                "square": y**2,
                "square root": np.sqrt(y) if (y >= 0).all() else None,
                "reciprocal": 1 / y if (y != 0).all() else None,
            }
            scaled = {kind: standardised(values) for kind, values in forms.items()}
        return cls(y, scaled, standardised(rankdata(y)), len(np.unique(y)) >= FEW_VALUES)


def functions_of_the_target(view: TableView) -> Iterator[Finding]:
    """Find columns that are the target itself, in other units or words, or as its logarithm, its square ..."""
    if view.y is None:
        return
    # Most columns have no holes, so that what they are compared with is the same.
    known = _Known.of(view.y[np.isfinite(view.y)]) if view.is_number else None
    for one in view.left:
        found = _of_classes(one, view) if known is None else _of_numbers(one, view, known)
        if found is not None:
            yield found


def _of_numbers(one: ColumnView, view: TableView, known: _Known) -> Finding | None:
    x, y = one.numbers, view.y
    assert y is not None
    bands = _bands_of(one, y) if one.is_category else ""
    if bands == "cut":
        return Finding(one.name, LEFT_OUT, f"it only says between which values {view.target} lies")
    if bands == "apart":
        says = f"each of its values has a range of {view.target} to itself: is it known before?"
        return Finding(one.name, SUSPICIOUS, says)
    if x is None or one.is_date:
        return None
    there = np.isfinite(x) & np.isfinite(y)
    x = x[there]
    if there.sum() < len(known.y):
        known = _Known.of(y[there])
    if not known.varies or len(np.unique(x)) < FEW_VALUES:
        return None
    kind = _function(x, known)
    if kind:
        return Finding(one.name, LEFT_OUT, WORDS[kind].format(view.target))
    order = _correlation(standardised(rankdata(x)), known.ranks)
    if abs(order) >= ALMOST:
        way = "rises" if order > 0 else "falls"
        return Finding(one.name, LEFT_OUT, f"it {way} with {view.target} without exception")
    if abs(order) > NEARLY:
        return Finding(one.name, SUSPICIOUS, f"nearly a function of {view.target}: is it known before?")
    return None


def _bands_of(one: ColumnView, y: np.ndarray) -> str:
    """Say how a category lies to the target, see `_bands`, in the rows where it has a value."""
    there = np.isfinite(y) & one.some.is_valid().to_numpy(zero_copy_only=False)
    return _bands(np.unique(one.codes[there], return_inverse=True)[1], y[there])


def _bands(codes: np.ndarray, y: np.ndarray) -> str:
    """Say whether each code has a range of the target to itself: "cut" where there is no more room between the codes than inside them.

    A column that parts the target by a wide gap may well be its cause ("apart"); one that parts it in the middle of a crowd was made from
    it. Where a code has a single row, or few have any, the order may be chance.

    >>> y = np.arange(100.0)
    >>> _bands((y > 30).astype(int), y), _bands((y > 30).astype(int), y + 50 * (y > 30)), _bands((y % 2).astype(int), y)
    ('cut', 'apart', '')
    """
    values, levels = np.unique(y), int(codes.max(initial=-1)) + 1
    if levels < 2 or len(codes) < ENOUGH_ROWS or len(values) < max(FEW_VALUES, 2 * levels):
        return ""
    low, high = np.full(levels, np.inf), np.full(levels, -np.inf)
    np.minimum.at(low, codes, y)
    np.maximum.at(high, codes, y)
    order = np.argsort(low + high)
    found = "cut" if len(codes) >= ENOUGH_EACH * levels else "apart"
    for last, first in zip(high[order[:-1]], low[order[1:]], strict=True):
        # They may touch where the target is rounded.
        if last > first:
            return ""
        place = int(np.searchsorted(values, last))
        near = np.diff(values[max(0, place - NEAR) : place + NEAR + 2])
        inside = np.delete(near, min(place, NEAR))
        if len(inside) == 0 or first - last > 2 * inside.max():
            found = "apart"
    return found


def _function(x: np.ndarray, known: _Known) -> str:
    if np.array_equal(x, known.y):
        return "copy"
    scaled = standardised(x)
    # Logarithms and the like are often written with few digits.
    good = [(kind, abs(_correlation(scaled, value))) for kind, value in known.forms.items() if value is not None]
    kind, best = max(good, key=lambda pair: pair[1], default=("", 0.0))
    least = ALMOST if kind in ("line", "square", "exponential") else 1 - 1e-7
    return kind if best >= least else ""


def _correlation(one: np.ndarray | None, other: np.ndarray | None) -> float:
    """Give the correlation of values of mean zero and variance one; zero where something does not vary."""
    return 0.0 if one is None or other is None else float(one @ other / len(one))


def _of_classes(one: ColumnView, view: TableView) -> Finding | None:
    y = view.y
    assert y is not None
    classes = y.astype(np.int64)
    n_classes = len(np.unique(classes))
    if one.n_levels == n_classes and one.repeats and one_to_one(one.codes, classes):
        return Finding(one.name, LEFT_OUT, f"{view.target} in other words: each value goes with one class")
    if one.is_category and one.repeats and _settles(one.codes, classes):
        return Finding(
            one.name, SUSPICIOUS, f"each of its values goes with one class of {view.target} only: is it known before?"
        )
    x = one.numbers
    if n_classes == 2 and x is not None and len(x) >= 50 and not one.is_category:
        there = np.isfinite(x)
        low, high = (x[there & (classes == k)] for k in (0, 1))
        apart = len(low) and len(high) and (low.max() < high.min() or high.max() < low.min())
        if apart:
            return Finding(
                one.name, SUSPICIOUS, f"a single threshold tells {view.target} in all rows: is it known before?"
            )
    return None


def _settles(codes: np.ndarray, classes: np.ndarray) -> bool:
    """Say whether each code goes with one class only."""
    pairs = np.unique(codes.astype(np.int64) * (int(classes.max()) + 1) + classes)
    return len(pairs) == len(np.unique(codes))
