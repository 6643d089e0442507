"""Columns of categories: whole numbers from 0 to 254, which columns hold them, and which of them there are.

What is missing, negative or beyond is none of them, and has the number 255.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.models.parameters import Parameter
from qed.base.sources.rows import Rows
from qed.trees.nodes import NO_LEVEL, levels_of


def _is_of_columns(value: Any) -> bool:
    """Say whether a value can name columns."""
    if value is None:
        return True
    given = np.asarray(value)
    words = given.dtype.kind in "US" or (given.dtype == object and all(isinstance(one, str) for one in given.flat))
    return given.ndim == 1 and (given.dtype.kind in "iub" or words or not given.size)


CATEGORICAL_FEATURES = Parameter("None, or an array of numbers or names of columns, or a mask of them", _is_of_columns)


def columns_of_categories(asked: Any, rows: Rows) -> list[int]:
    """Give the numbers of the columns that are said to hold categories: by number, by name, or by a mask.

    >>> from qed.base.sources.open import rows
    >>> columns_of_categories([True, False], rows([[0.0, 1.0]])), columns_of_categories([-1], rows([[0.0, 1.0]]))
    ([0], [1])
    """
    if asked is None:
        return []
    given, p = np.atleast_1d(np.asarray(asked)), rows.n_features
    if given.dtype == bool:
        if len(given) != p:
            raise InputError(f"categorical_features has {len(given)} entries, but there are {p} columns.")
        return [int(j) for j in np.flatnonzero(given)]
    if given.dtype.kind in "US" or given.dtype == object:
        names = rows.feature_names
        lost = [one for one in given.tolist() if not names or one not in names]
        if names is None or lost:
            raise InputError(f"categorical_features names {lost[0]!r}, but there is no column of that name.")
        return sorted({names.index(one) for one in given.tolist()})
    outside = [int(j) for j in given if not -p <= j < p]
    if outside:
        raise InputError(f"categorical_features names column {outside[0]}, but there are {p} columns.")
    return sorted({int(j) % p for j in given})


def known_levels(X: np.ndarray, columns: Sequence[int], p: int, most: int = NO_LEVEL) -> np.ndarray:
    """Give the categories that there are in some of p columns, numbers below `most`; refuse what is none."""
    known = np.zeros((p, NO_LEVEL + 1), dtype=bool)
    for j in columns:
        level = levels_of(X[:, j])
        known[j, level] = True
        with np.errstate(invalid="ignore"):
            bad = np.flatnonzero((level >= most) & (X[:, j] >= 0))
        if len(bad):
            bins = "" if most == NO_LEVEL else f" (max_bins={most})"
            raise InputError(
                f"Column {j} is said to hold categories, whole numbers from 0 to {most - 1}{bins}, but has the value "
                f"{X[bad[0], j]:g}: number the categories from 0 on, or leave the column out of categorical_features."
            )
        known[j, NO_LEVEL] = False
    return known


def with_holes(X: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    """Give a table in which all that is no category is missing, in columns of categories; refuse numbers that are too large or broken.

    >>> with_holes(np.array([[-1.0, 2.5], [3.0, 0.0]]), [0]).tolist()
    [[nan, 2.5], [3.0, 0.0]]
    """
    known_levels(X, columns, X.shape[1])
    X = X.copy()
    for j in columns:
        X[levels_of(X[:, j]) == NO_LEVEL, j] = np.nan
    return X
