"""Baskets as people have them, lists of what was bought together, as rows with a column for each item."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from qed.base.errors import InputError
from qed.base.sources.rows import ArrayRows, Rows


def baskets(lists: Iterable[Iterable[object]], *, sample_weight: Any = None) -> Rows:
    """Make rows of lists of items: one row for each basket, one column for each item, named after it.

    Parameters
    ----------
    lists : iterable of lists, tuples or sets
        The baskets. How often an item is in a basket does not matter, nor in which order; a basket may be empty.
    sample_weight : array-like of shape (n,), optional
        How often each basket was seen.

    Returns
    -------
    Rows
        Ones where a basket holds an item, kept sparsely; the columns are in the order of their names.

    Examples
    --------
    >>> import qed
    >>> rows = qed.baskets([["bread", "butter"], ["bread", "milk", "milk"], []])
    >>> rows.feature_names, rows.count()
    (('bread', 'butter', 'milk'), 3)
    >>> qed.FPGrowth(min_support=0.6).fit(rows).sets()
    [(('bread',), 0.6666666666666666)]
    """
    rows = [_items(one, place) for place, one in enumerate(lists)]
    names = sorted({item for row in rows for item in row})
    if not names:
        raise InputError("No basket holds an item: give lists of items, such as [['bread', 'butter'], ['milk']].")
    column = {name: place for place, name in enumerate(names)}
    places = np.array([column[item] for row in rows for item in sorted(row)], dtype=np.int32)
    ends = np.cumsum([0, *map(len, rows)])
    matrix = sp.csr_array((np.ones(len(places)), places, ends), shape=(len(rows), len(names)))
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight is not None and weight.shape != (len(rows),):
        raise InputError(
            f"Give one weight for each of the {len(rows)} baskets, not an array of the shape {weight.shape}."
        )
    return ArrayRows(matrix, None, weight, tuple(names))


def are_baskets(X: object) -> bool:
    """Say whether these are lists of items, also as a column of a frame, and no table of numbers.

    >>> are_baskets([["bread"], ["milk"]]), are_baskets([{3, 4}, {4}]), are_baskets([[1.0, 0.0], [0.0, 1.0]])
    (True, True, False)
    """
    if not isinstance(X, (list, tuple)):
        return _is_column_of_lists(X)
    if not X:
        return False
    if any(isinstance(one, (set, frozenset)) for one in X):
        return True
    if not all(isinstance(one, (list, tuple)) for one in X):
        return False
    if any(isinstance(item, str) for one in X for item in one):
        return True
    _refuse_numbers(X)
    return False


def _refuse_numbers(lists: list[Any] | tuple[Any, ...]) -> None:
    """Refuse lists of whole numbers that may be the numbers of items: a table of zeros and ones is told by its values."""
    items = [item for one in lists for item in one]
    if not all(isinstance(item, int | np.integer | float | np.floating) and item == item // 1 for item in items):
        return
    if other := next((item for item in items if item not in (0, 1)), None):
        raise InputError(
            f"These lists hold the number {other}. If it is an item, give qed.baskets(lists); if it says how often an item was bought, "
            "give an array, in which every value above zero counts as one."
        )


def _is_column_of_lists(X: object) -> bool:
    """Say whether these are lists in a column of pandas or polars, or in an array."""
    kind, listed = str(getattr(X, "dtype", "")).lower(), getattr(X, "tolist", None) or getattr(X, "to_list", None)
    if getattr(X, "ndim", 1) != 1 or not kind.startswith(("object", "list")) or listed is None:
        return False
    found = listed()
    return bool(found) and all(isinstance(one, (list, tuple, set, frozenset, np.ndarray)) for one in found)


def _items(basket: Iterable[object], place: int) -> set[str]:
    """Give the items of a basket by name."""
    if isinstance(basket, str) or not isinstance(basket, Iterable):
        raise InputError(f"Basket {place} is {basket!r}, not a list of items: write ['{basket}'].")
    return {_name(item, place) for item in basket}


def _name(item: object, place: int) -> str:
    """Give the name of an item: equal items have one, whatever their type, and what is missing has none."""
    number = isinstance(item, float | np.floating)
    if item is None or str(item) in ("<NA>", "NaT") or (number and not np.isfinite(item)):  # type: ignore[call-overload]
        raise InputError(f"Basket {place} (counted from 0) holds {item}, which is no item: leave it out of the list.")
    return str(int(item)) if number and item == int(item) else str(item)  # type: ignore[call-overload]
