"""What a picture is given, looked at before it is drawn: a clear sentence in the place of whatever a drawing would have stumbled over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from qed.base.errors import InputError

T = TypeVar("T")


def numbers(values: object, what: str, ndim: int = 1) -> np.ndarray:
    """Give numbers as an array of so many dimensions, with one number at least; they may be missing.

    >>> numbers([1, 2], "The targets")
    array([1., 2.])
    """
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers, to be drawn; they hold something else, such as text.") from None
    if found.ndim != ndim or not found.size:
        shape = {1: "a list", 2: "a table"}.get(ndim, f"an array of {ndim} dimensions")
        raise InputError(f"{what} must be {shape} of numbers and not empty, but have the shape {found.shape}.")
    return found


def pair(first: object, second: object, names: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Give two lists of numbers that belong together, one pair after another."""
    one, other = (numbers(values, f"What is given as {name}") for values, name in zip((first, second), names))
    if len(one) != len(other):
        raise InputError(f"{names[0]} has {len(one)} entries, but {names[1]} has {len(other)}: they belong together.")
    return one, other


def plane(X: object) -> np.ndarray:
    """Give rows of the plane."""
    shape = np.shape(X)  # type: ignore[call-overload]
    if len(shape) != 2 or shape[1] != 2 or not shape[0]:
        raise InputError(f"A picture of the plane needs rows of two columns, not of shape {shape}: choose two.")
    rows = numbers(X, "Rows", ndim=2)
    if not np.isfinite(rows).all():
        raise InputError("Rows that are drawn must be finite numbers: leave out those with missing or infinite values.")
    return rows


def labels(y: object, rows: int) -> np.ndarray:
    """Give the label of every row."""
    found = np.asarray(y)
    if found.shape != (rows,):
        raise InputError(f"There must be one label for each of the {rows} rows, not labels of shape {found.shape}.")
    return found


def named(things: Mapping[str, T], what: str) -> dict[str, T]:
    """Give what is to be drawn by its name, where there is anything.

    >>> named({"lasso": 1}, "curves")
    {'lasso': 1}
    """
    if not isinstance(things, Mapping):
        raise InputError(f"Give {what} by their names, as in {{'a name': ...}}, not {type(things).__name__}.")
    if not things:
        raise InputError(f"There is nothing to draw: give {what} by their names.")
    return dict(things)


def having(thing: T, attributes: tuple[str, ...], instead: str) -> T:
    """Give something that has some attributes, or say what is wanted `instead`."""
    if missing := [name for name in attributes if not hasattr(thing, name)]:
        given = thing.__name__ if isinstance(thing, type) else type(thing).__name__
        raise InputError(f"This picture is drawn of {instead}, not of {given}, which has no {missing[0]}.")
    return thing
