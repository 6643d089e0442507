"""What metrics and splits accept, checked once.

Numbers become finite float64 arrays, labels become one array of integers or strings, weights are finite and
not negative. Whatever can not be scored is refused here with the name of the argument and the first row at
fault, so that the formulas in the other files can be read as formulas.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qed.base.errors import InputError, UndefinedMetricWarning, level_of_user

Floats = NDArray[np.float64]
Labels = NDArray[Any]
Numbers = float | NDArray[Any]
Weights = ArrayLike | None
Label = str | float | bool | np.generic | None


def undefined(message: str) -> None:
    """Warn, on behalf of the caller of a metric, that its value is not defined."""
    warnings.warn(message, UndefinedMetricWarning, stacklevel=level_of_user())


def count_rows(X: Any) -> int:
    """Count the rows of an array, a sparse matrix, a frame, a list or of `qed.rows`.

    >>> count_rows([[1, 2], [3, 4], [5, 6]])
    3
    """
    shape = getattr(X, "shape", None)
    if shape:
        return int(shape[0])
    if shape is None and hasattr(X, "__len__"):
        return len(X)
    if callable(getattr(X, "count", None)):
        return int(X.count())
    raise InputError(f"A {type(X).__name__} has no rows to count: give an array, a sparse matrix, a frame or a list.")


def numbers(values: ArrayLike, name: str) -> Floats:
    """Give `values` as float64 with one or two axes, all finite."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must hold numbers only: {error}.") from error
    if array.ndim not in (1, 2):
        raise InputError(f"{name} must have one or two axes, not {array.ndim}: its shape is {array.shape}.")
    if array.size == 0:
        raise InputError(f"{name} is empty: there is nothing to score. Its shape is {array.shape}.")
    finite = np.isfinite(array)
    if not finite.all():
        row = int(np.argwhere(~finite)[0][0])
        raise InputError(f"{name} is not finite in row {row}: drop that row, or find out where it comes from.")
    return array


def weights(values: ArrayLike | None, n: int, name: str = "sample_weight", each: str = "row") -> Floats | None:
    """Give `n` weights as float64, finite, not negative and not all zero; None where all weigh the same."""
    if values is None:
        return None
    array = numbers(values, name)
    if array.shape != (n,):
        raise InputError(f"{name} must hold {n} weights, one for each {each}; its shape is {array.shape}.")
    if (array < 0).any():
        raise InputError(f"{name} is negative for {each} {int(np.argmax(array < 0))}: use weights from 0 up.")
    if not array.any():
        raise InputError(f"{name} is zero everywhere: at least one {each} has to count.")
    return array


def mean(values: NDArray[Any], weight: Floats | None) -> NDArray[Any]:
    """Average over rows: the empirical risk, where `values` are the losses of the rows."""
    if weight is None:
        return np.asarray(values.mean(axis=0))
    return np.asarray(weight @ values / weight.sum())


def total(values: Floats, weight: Floats | None, *, normalize: bool) -> float:
    """Give the mean over rows, or, unless it is to `normalize`, the sum."""
    if normalize:
        return float(mean(values, weight))
    return float(values.sum() if weight is None else weight @ values)


def labels(values: ArrayLike | Sequence[Label], name: str) -> Labels:
    """Give class labels as one array of integers, booleans, whole floats or strings."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(
            f"{name} must be one column of class labels; its shape is {array.shape}. Score columns one at a time."
        )
    if array.size == 0:
        raise InputError(f"{name} is empty: there is nothing to score.")
    if array.dtype.kind in "OT":
        array = _settled(array, name)
    if array.dtype.kind == "f":
        whole = array == np.round(array)
        if not whole.all():
            row = int(np.argmin(whole))
            raise InputError(
                f"{name} must hold class labels, but row {row} is {array[row]}: for scores or probabilities "
                "use a metric of scores; for a regression target, a metric of regression."
            )
    elif array.dtype.kind not in "biuUS":
        raise InputError(f"{name} must hold integers or strings as labels, not {array.dtype}.")
    return array


def _settled(array: Labels, name: str) -> Labels:
    """Turn an array of Python objects into one of strings or of numbers."""
    values = array.tolist()
    for row, value in enumerate(values):
        if value is None or value != value or type(value).__name__ == "NAType":
            raise InputError(f"{name} has no label in row {row}: drop that row or give it a label.")
    if all(isinstance(value, str) for value in values):
        return np.array(values, dtype=str)
    if any(isinstance(value, str) for value in values):
        raise InputError(f"{name} mixes strings with other labels: make all of them strings, or all of them numbers.")
    return np.array(values)


def same_kind(first: Labels, second: Labels, names: tuple[str, str]) -> None:
    """Refuse to compare strings with numbers, which would find every row wrong."""
    if (first.dtype.kind in "US") != (second.dtype.kind in "US"):
        text, number = names if first.dtype.kind in "US" else names[::-1]
        raise InputError(
            f"{text} holds strings and {number} holds numbers, so no two can be equal: "
            "give both as the same kind of label."
        )


def label_pair(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Labels, Labels, Floats | None]:
    """Check true labels, predicted labels and weights together."""
    true, predicted = labels(y_true, "y_true"), labels(y_pred, "y_pred")
    same_length(true, predicted, "y_pred")
    same_kind(true, predicted, ("y_true", "y_pred"))
    return true, predicted, weights(sample_weight, len(true))


def same_length(true: NDArray[Any], other: NDArray[Any], name: str) -> None:
    """Refuse arrays that do not describe the same rows."""
    if len(true) != len(other):
        raise InputError(f"y_true has {len(true)} rows and {name} has {len(other)}: give both for the same rows.")


def classes_of(*arrays: Labels) -> Labels:
    """Give the distinct labels of all arrays, sorted."""
    return np.unique(np.concatenate([_distinct(array) for array in arrays]))


def positions(array: Labels, classes: Labels) -> NDArray[np.intp]:
    """Give the place of every label in `classes` (which need not be sorted), -1 where it is not among them.

    >>> positions(np.array(["b", "a", "z"]), np.array(["a", "b"]))
    array([ 1,  0, -1])
    """
    if array.dtype.kind == "i" and (span := _span(classes)) is not None:
        low, width = span
        place = np.full(width + 1, -1)
        place[classes.astype(np.int64) - low] = np.arange(len(classes))
        return place[np.clip(array.astype(np.int64), low - 1, low + width) - low]
    order = np.argsort(classes, kind="stable")
    ranked = classes[order]
    nearest = np.minimum(np.searchsorted(ranked, array), len(classes) - 1)
    return np.where(ranked[nearest] == array, order[nearest], -1)


def _distinct(array: Labels) -> Labels:
    """Do what `numpy.unique` does, by counting where labels are small integers."""
    if (span := _span(array)) is None:
        return np.unique(array)
    return np.flatnonzero(np.bincount(array.astype(np.int64) - span[0])) + span[0]


def _span(array: Labels) -> tuple[int, int] | None:
    """Give the least label and the number of integers up to the greatest, if so few that a table of them is cheap."""
    if array.dtype.kind != "i":
        return None
    low, width = int(array.min()), int(array.max()) - int(array.min()) + 1
    return (low, width) if width <= 4096 and abs(low) < 2**31 - 4096 else None
