"""Columns that know the target: copies and simple functions of it, which nobody has when the target is asked for."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy.stats import rankdata

from qed.features.understanding.copies import one_to_one, standardised
from qed.features.understanding.findings import LEFT_OUT, SUSPICIOUS, Finding
from qed.features.understanding.views import ColumnView, TableView

# How many values on either side of a cut tell how much room there is between values of the target.
NEAR = 10
FEW_VALUES, NEARLY = 10, 0.99
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


def functions_of_the_target(view: TableView) -> Iterator[Finding]:
    """Find columns that are the target itself, in other units or words, or as its logarithm, its square ..."""
    if view.y is None:
        return
    for one in view.left:
        found = _of_numbers(one, view) if view.is_number else _of_classes(one, view)
        if found is not None:
            yield found


def _of_numbers(one: ColumnView, view: TableView) -> Finding | None:
    x, y = one.numbers, view.y
    assert y is not None
    if one.is_category and one.repeats and _is_cut(one.codes, y):
        return Finding(one.name, LEFT_OUT, f"it only says between which values {view.target} lies")
    if x is None or one.is_date:
        return None
    there = np.isfinite(x) & np.isfinite(y)
    x, y = x[there], y[there]
    if len(np.unique(x)) < FEW_VALUES or len(np.unique(y)) < FEW_VALUES:
        return None
    kind = _function(x, y)
    if kind:
        return Finding(one.name, LEFT_OUT, WORDS[kind].format(view.target))
    order = _correlation(rankdata(x), rankdata(y))
    if abs(order) >= ALMOST:
        way = "rises" if order > 0 else "falls"
        return Finding(one.name, LEFT_OUT, f"it {way} with {view.target} without exception")
    if abs(order) > NEARLY:
        return Finding(one.name, SUSPICIOUS, f"nearly a function of {view.target}: is it known before?")
    return None


def _is_cut(codes: np.ndarray, y: np.ndarray) -> bool:
    """Say whether each code has the values of the target between two others, with no more room between the codes than inside them.

    A column that parts the target by a wide gap may well be its cause; one that parts it in the middle of a crowd was made from it.

    >>> y = np.arange(100.0)
    >>> (
    ...     _is_cut((y > 30).astype(int), y),
    ...     _is_cut((y > 30).astype(int), y + 50 * (y > 30)),
    ...     _is_cut((y % 2).astype(int), y),
    ... )
    (True, False, False)
    """
    values = np.unique(y)
    if not np.isfinite(y).all() or len(values) < FEW_VALUES or len(values) < 2 * len(np.unique(codes)):
        return False
    ends = sorted((float(y[codes == k].min()), float(y[codes == k].max())) for k in np.unique(codes))
    for (_, last), (first, _) in pairwise(ends):
        # They may touch where the target is rounded.
        if last > first:
            return False
        place = int(np.searchsorted(values, last))
        near = np.diff(values[max(0, place - NEAR) : place + NEAR + 2])
        inside = np.delete(near, min(place, NEAR))
        if len(inside) == 0 or first - last > 2 * inside.max():
            return False
    return True


def _function(x: np.ndarray, y: np.ndarray) -> str:
    if np.array_equal(x, y):
        return "copy"
    with np.errstate(all="ignore"):
        tried = {
            "line": y,
            "logarithm": np.log(y) if (y > 0).all() else None,
            "exponential": np.exp(y) if y.max() < 500 else None,
            "square": y**2,
            "square root": np.sqrt(y) if (y >= 0).all() else None,
            "reciprocal": 1 / y if (y != 0).all() else None,
        }
    # Logarithms and the like are often written with few digits.
    good = [(kind, abs(_correlation(x, value))) for kind, value in tried.items() if value is not None]
    kind, best = max(good, key=lambda pair: pair[1])
    least = ALMOST if kind in ("line", "square", "exponential") else 1 - 1e-7
    return kind if best >= least else ""


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    one, other = standardised(x), standardised(y)
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
