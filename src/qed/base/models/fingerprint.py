"""A fingerprint of the data a model was fitted on.

It travels inside the saved model, so that whoever re-checks a certificate learns first whether these are the same data. It is made
of sums over rows (their number, weight, and each column's mean and variance), so it costs no pass of its own, needs no
storage, is the same for an array, a file and a cluster up to rounding, and reveals no row. Of the target it knows the mean, the mean
square and, where the fit has seen them, the mean product with every column, which notices targets that changed places.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers, nothing
from qed.base.numbers import EPS
from qed.base.saving.known import savable
from qed.base.sources.block import Block

# Sums of the same rows in another order agree at least so well, relative to what they are sums of.
SAME = 1e-9
# Sums are rounded a thousand times, at most, before they are compared.
LOST = 1024 * EPS


@savable
@dataclass(frozen=True)
class Fingerprint:
    """Number of rows, their weight, mean and variance of every column, and what `target_sums` gives, by weight.

    Examples
    --------
    >>> import numpy as np
    >>> first = Fingerprint(3, 3.0, np.array([2.0, 3.0]), np.array([2.7, 2.7]))
    >>> second = Fingerprint(2, 2.0, np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    >>> first.matches(first), first.difference(second)
    (True, '3 rows then, 2 now')
    """

    attributes: ClassVar = {
        "count": integers(),
        "weight": floats(low=0),
        "mean": floats("columns"),
        "variance": floats("columns", low=0),
        "target": floats("_") | nothing(),
    }
    count: int
    weight: float
    mean: np.ndarray
    variance: np.ndarray
    target: np.ndarray | None = None

    @classmethod
    def of_sums(
        cls,
        count: int,
        weight: float,
        x_mean: np.ndarray,
        spread: np.ndarray,
        y_mean: np.ndarray,
        xy: np.ndarray,
        yy: np.ndarray,
    ) -> Fingerprint:
        """Make it from sums about the means: squares of the columns, and products with and of the targets."""
        weight, target = max(float(weight), 1e-300), None
        if len(y_mean):
            mix, target = mixture(len(y_mean)), np.empty(2 + len(x_mean))
            mean = float(y_mean @ mix)
            target[0], target[1] = mean, mix @ yy @ mix / weight + mean**2
            np.add(xy @ mix / weight, x_mean * mean, out=target[2:])
        return cls(int(count), weight, x_mean, np.maximum(spread, 0.0) / weight, target)

    def difference(self, other: Fingerprint, loss: float = 1.0) -> str:
        """Say in words how `other` differs, or give an empty string.

        The `loss` is by how much squares that were added, and taken away again, exceed those that are left: so many digits are gone.
        """
        if len(self.mean) != len(other.mean):
            return f"{len(self.mean)} columns then, {len(other.mean)} now"
        if self.count != other.count:
            return f"{self.count} rows then, {other.count} now"
        if not np.isclose(self.weight, other.weight, rtol=1e-9):
            return f"total weight {self.weight:g} then, {other.weight:g} now"
        # A mean of many rows is known to some 1e-13 of itself. What a model remembers may be anything, and if it is too large it differs
        # by its own size; but of rows that were forgotten a little may be left where there is nothing now.
        scale = np.sqrt(np.maximum(self.variance, other.variance)) + 1e-300
        scale += 1e-4 * np.maximum(np.abs(self.mean), np.abs(other.mean))
        slack = min(max(SAME, LOST * loss), 1 / EPS)
        same = np.abs(self.mean - other.mean) <= slack * scale
        same &= np.abs(self.variance - other.variance) <= slack * scale**2
        if not same.all():
            return f"other values in {np.count_nonzero(~same)} of {len(self.mean)} columns"
        return "" if self._same_target(other, slack, scale) else "another target"

    def _same_target(self, other: Fingerprint, slack: float, spread: np.ndarray) -> bool:
        if self.target is None or other.target is None:
            return True
        size = np.sqrt(max(other.target[1], 0.0))
        scale = np.concatenate([[size, size**2], size * np.hypot(spread, other.mean)])
        both = min(len(self.target), len(other.target))
        return bool((np.abs(self.target[:both] - other.target[:both]) <= slack * scale[:both]).all())

    def matches(self, other: Fingerprint) -> bool:
        return not self.difference(other)

    def to_dict(self) -> dict[str, object]:
        return {
            "count": self.count,
            "weight": self.weight,
            "mean": self.mean.tolist(),
            "variance": self.variance.tolist(),
            "target": None if self.target is None else self.target.tolist(),
        }


def label_numbers(labels: Iterable[Any]) -> dict[Any, float]:
    """Give labels that are no numbers a number made of their letters; numbers stay what they are."""
    return {label: _number(label) for label in set(labels)}


def _number(label: Any) -> float:
    number = isinstance(label, (bool, int, float, np.number, np.bool_))
    return float(label) if number else zlib.crc32(str(label).encode()) / 2**32


def largest_loss(behind: np.ndarray, left: np.ndarray, mean: np.ndarray) -> float:
    """Say by how much squares that went into sums exceed what is left of them, in the column that lost most.

    The squares are those of a row of weight one; what is much less than the mean's is not looked at by a fingerprint.
    """
    seen = left + (1e-4 * mean) ** 2
    return float(np.max(np.divide(behind, seen, out=np.where(behind > 0, np.inf, 1.0), where=seen > 0), initial=1.0))


def within_range(squares: np.ndarray) -> np.ndarray:
    """Give squares and products that overflow, and what becomes of their differences, as the largest number there is."""
    return np.asarray(np.nan_to_num(squares, nan=np.finfo(np.float64).max))


@lru_cache(maxsize=8)
def mixture(columns: int) -> np.ndarray:
    """Give the factors by which several target columns are mixed into one."""
    return np.cos(np.arange(columns))


def target_sums(block: Block) -> np.ndarray:
    """Add up the target, its square, and its product with every column.

    Several target columns are mixed into one.

    >>> target_sums(Block(np.array([[1.0, 5.0], [2.0, 6.0]]), np.array([3.0, 4.0])))
    array([ 7., 25., 11., 39.])
    """
    block = block.present
    y = np.asarray(block.y)
    if y.dtype.kind not in "biuf":
        number = label_numbers(y.ravel().tolist())
        y = np.array([number[label] for label in y.ravel().tolist()]).reshape(y.shape)
    value = y.astype(np.float64) if y.ndim == 1 else y.astype(np.float64) @ mixture(y.shape[1])
    weighted = value if block.weight is None else value * block.weight
    with np.errstate(invalid="ignore", over="ignore"):
        sums = np.empty(2 + block.X.shape[1])
        sums[0], sums[1], sums[2:] = weighted.sum(), weighted @ value, weighted @ block.X
        return sums
