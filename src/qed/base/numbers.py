"""Numbers that rounding errors are measured with, and a division that knows what nothing over nothing is."""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import NoMemoryError

# The distance from one to the next number, and the smallest normal number.
EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)


def all_finite(values: np.ndarray) -> bool:
    """Say whether a few numbers are all finite: by the sum of their squares, of which BLAS does not say that it overflows.

    >>> all_finite(np.array([1.0, 1e200])), all_finite(np.array([1.0, np.nan]))
    (True, False)
    """
    return math.isfinite(np.vdot(values, values)) or bool(np.isfinite(values).all())


def largest(values: np.ndarray, least: float = -math.inf) -> float:
    """Give the largest of some numbers, or what is `least`; NaN where one of them is. Of few it is looked up sooner than reduced to.

    >>> largest(np.array([[1.0, 3.0], [2.0, 0.0]])), largest(np.array([]), 0.0), largest(np.array([1.0, np.nan]), 0.0)
    (3.0, 0.0, nan)
    """
    return max(float(values.item(values.argmax())), least) if values.size else least


def smallest(values: np.ndarray, most: float = math.inf) -> float:
    """Give the smallest of some numbers, or what is `most`; NaN where one of them is.

    >>> smallest(np.array([3.0, 2.0])), smallest(np.array([]))
    (2.0, inf)
    """
    return min(float(values.item(values.argmin())), most) if values.size else most


def any_of(flags: np.ndarray) -> bool:
    """Say whether one of some flags is set: by counting, which of few is sooner done than a reduction.

    >>> any_of(np.array([False, True])), any_of(np.zeros(3, dtype=bool))
    (True, False)
    """
    return bool(np.count_nonzero(flags))


def all_of(flags: np.ndarray) -> bool:
    """Say whether all of some flags are set.

    >>> all_of(np.array([False, True])), all_of(np.ones(3, dtype=bool))
    (False, True)
    """
    return bool(np.count_nonzero(flags) == flags.size)


def room(shape: tuple[int, ...], dtype: np.typing.DTypeLike = np.float64) -> np.ndarray:
    """Give an array that is not filled yet, or say how large it would have been.

    Examples
    --------
    >>> room((2, 3)).shape
    (2, 3)
    """
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError):
        raise no_memory(math.prod(shape) * np.dtype(dtype).itemsize, " x ".join(f"{n:,}" for n in shape)) from None


def no_memory(size: int, what: str) -> NoMemoryError:
    """Give the error for a table that does not fit, of so many bytes."""
    return NoMemoryError(
        f"There is no memory for a table of {what} values: it takes {size / 2**30:,.1f} GiB. Give fewer rows or columns, or float32; "
        "or take a model that reads its rows block by block, from a file: qed.rows('data.parquet')."
    )


@overload
def ratio(top: float, bottom: float) -> float: ...
@overload
def ratio(top: Any, bottom: Any) -> np.ndarray: ...
def ratio(top: Any, bottom: Any) -> Any:
    """Divide, with zero over zero being zero and anything else over zero infinite.

    >>> ratio(0.0, 0.0), ratio(3.0, 0.0), ratio(3.0, 2.0)
    (0.0, inf, 1.5)
    >>> ratio(np.array([0.0, -1.0, 1.0]), np.array([0.0, 0.0, 2.0]))
    array([ 0. , -inf,  0.5])
    """
    if isinstance(top, float | int) and isinstance(bottom, float | int):
        if top == 0:
            return 0.0
        return float(top / bottom) if bottom != 0 else math.copysign(math.inf, top)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.equal(top, 0), 0.0, np.divide(top, bottom))


def largest_share(then: ArrayLike, now: ArrayLike, scale: ArrayLike) -> float:
    """Give the largest difference of two arrays, as a share of what their entries are measured by.

    Examples
    --------
    >>> largest_share(np.array([1.0, 2.0]), np.array([1.0, 2.5]), np.array([1.0, 5.0]))
    0.1
    """
    then, now = np.asarray(then, dtype=np.float64), np.asarray(now, dtype=np.float64)
    if then.shape != now.shape:
        return math.inf
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(then == now, 0.0, np.abs(then - now) / scale)
    return float(np.where(np.isnan(share), math.inf, share).max(initial=0.0))


def halfway(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Give the middle of two numbers, the smaller one first: no sum overflows, and of equal numbers it is the number, however small.

    >>> halfway(np.array([1.0, 5e-324, 1e308]), np.array([2.0, 5e-324, 1.5e308]))
    array([1.50e+000, 4.94e-324, 1.25e+308])
    """
    return np.asarray(np.where(low == high, low, low / 2 + high / 2))
