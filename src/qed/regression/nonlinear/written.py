"""Functions as users have written them: of the rows and an array of parameters, or of the column and each parameter by its own name.

``f(X, w)`` is the usual form here, and ``f(x, a, b, c)`` that of ``scipy.optimize.curve_fit``: `x` is then the column of numbers itself, or
where there are several columns an array of shape (p, n), one line for each.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.regression.nonlinear.runs import read_starts

NAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def names_in(function: Callable[..., object]) -> tuple[str, ...]:
    """Give the names of the parameters of a function that takes each by itself; none for a function of rows and an array.

    >>> names_in(lambda x, a, b: a + b * x), names_in(lambda X, w: X @ w)
    (('a', 'b'), ())
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ()
    found = [one.name for one in parameters if one.kind in NAMED and one.default is inspect.Parameter.empty]
    return tuple(found[1:]) if len(found) > 2 else ()


@dataclass(frozen=True)
class OneByOne:
    """A function of a column and single parameters, as one of rows and an array."""

    function: Callable[..., np.ndarray]

    def __call__(self, X: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Predict some rows."""
        return self.function(X[:, 0] if X.shape[1] == 1 else X.T, *w)


def as_written(function: object) -> Any:
    """Give a function of rows and an array, however it was written; what is no function is given back."""
    return OneByOne(function) if callable(function) and names_in(function) else function


def starts_of(function: Callable[..., object], start: object) -> tuple[tuple[str, ...], np.ndarray]:
    """Give the names of the parameters and the starts, of shape (k, d); ones where none are given and the function names them."""
    known = names_in(function)
    if start is None and not known:
        raise ParameterError(
            "start must be a number for each parameter: a function of X and w does not tell how many it has, and one of x, a, b, c does."
        )
    names, starts = read_starts(np.ones(len(known)) if start is None else start)
    if known and starts.shape[1] != len(known):
        raise ParameterError(
            f"start has {starts.shape[1]} numbers for the {len(known)} parameters of the function ({', '.join(known)})."
        )
    return (known, starts) if known and not _is_named(start) else (names, starts)


def _is_named(start: object) -> bool:
    return isinstance(start, dict) or (isinstance(start, (list, tuple)) and bool(start) and isinstance(start[0], dict))
