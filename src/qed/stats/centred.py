"""What `Moments` and `Factor` share: a weight, a count, and a mean that is known to more than its last bit.

When columns have mean 1e8 and spread 1, a mean rounded to float64 is off by 1e-8, and every addition would carry that into
the scatter. So what rounding cut off the mean is kept beside it, in `rest`, by the error-free sum of Knuth (1969).
"""

from __future__ import annotations

import math
from typing import Self, TypeVar

import numpy as np

from qed.base.errors import InputError
from qed.base.numbers import EPS, largest_share

# Sums of weights agree at least so well.
WEIGHTS = 1e-10
Number = TypeVar("Number", float, np.ndarray)


class Centred:
    """Features and targets, centred at their weighted mean."""

    weight: float
    count: int
    mean: np.ndarray
    n_features: int
    rest: np.ndarray

    def _freeze(self, *names: str) -> None:
        held = vars(self)
        if np.shape(self.rest) != np.shape(self.mean):
            held["rest"] = np.zeros(len(self.mean)) + self.rest
        for name in ("rest", *names):
            held[name] = array = np.asarray(held[name], dtype=np.float64).view()
            array.setflags(write=False)

    def _check_alike(self, other: Centred) -> None:
        if (self.n_features, self.n_targets) != (other.n_features, other.n_targets):
            raise InputError(
                f"{type(self).__name__} of {self.n_features} features and {self.n_targets} targets can not be combined "
                f"with that of {other.n_features} features and {other.n_targets} targets. Give all blocks the same columns."
            )

    def _distance(self, other: Self) -> np.ndarray:
        """Give the way from this mean to the other."""
        return (other.mean - self.mean) + (other.rest - self.rest)

    def _moved(self, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give the mean and its rest after a step."""
        return exact_sum(self.mean, self.rest + way)

    def _joined(self, other: Self) -> tuple[np.ndarray, np.ndarray]:
        """Give the mean of both and its rest, from the heavier: the further a mean moves, the more it is rounded."""
        if self.weight < other.weight:
            return other._joined(self)
        return self._moved(self._distance(other) * (other.weight / (self.weight + other.weight)))

    def _is_of(self, other: Centred, loss: float = 1.0) -> bool:
        """Say whether both are of as many rows, weights and columns; where rows were taken away, weights have lost digits, too."""
        alike = (self.count, self.n_features, len(self.mean)) == (other.count, other.n_features, len(other.mean))
        return alike and abs(self.weight - other.weight) <= WEIGHTS * min(max(loss, 1.0), 1e5) * abs(other.weight)

    def _means_apart(self, other: Centred, allowed: np.ndarray) -> float:
        """Give the largest difference of means, in units of what rounding can do to them beyond their last bits."""
        return largest_share(self.mean - other.mean, other.rest - self.rest, allowed + EPS * np.abs(other.mean))

    @property
    def n_targets(self) -> int:
        """How many of the columns are targets: q."""
        return len(self.mean) - self.n_features

    @property
    def x_mean(self) -> np.ndarray:
        """The mean of the features, of shape (p,)."""
        return self.mean[: self.n_features]

    @property
    def y_mean(self) -> np.ndarray:
        """The mean of the targets, of shape (q,)."""
        return self.mean[self.n_features :]


def exact_sum(a: Number, b: Number) -> tuple[Number, Number]:
    """Give the rounded sum and what rounding cut off.

    >>> exact_sum(np.array([1e16]), np.array([1.0]))
    (array([1.e+16]), array([1.]))
    """
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        total = a + b
        second = total - a
        return total, (a - (total - second)) + (b - second)


def weight_doubt(count: int, weight: float) -> float:
    """Say by how much a sum of so many weights is off, at most: NumPy adds them in eight sums of 16 at a time, and these pairwise."""
    return 0.5 * EPS * min(count, 64 + 2 * math.log2(max(count, 1))) * weight
