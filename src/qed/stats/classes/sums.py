"""Weighted sums of columns: what models of counts learn. Sums of whole numbers are exact, so rows can be forgotten without a trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.models.fingerprint import Fingerprint, largest_loss
from qed.base.numbers import EPS, TINY, largest_share
from qed.base.saving.known import savable


@savable
@dataclass(frozen=True, eq=False)
class Sums:
    """The weight of rows, and the weighted sums of their columns and of the squares of these.

    >>> one = Sums(2, 2.0, np.array([3.0, 1.0]), np.array([5.0, 1.0]))
    >>> (one + one).total, (one + one - one).total
    (array([6., 2.]), array([3., 1.]))
    """

    attributes: ClassVar = {
        "count": integers(),
        "weight": floats(low=0),
        "total": floats("columns"),
        "squares": floats("columns", low=0),
        "bulk": floats("columns", low=0),
        "heft": floats(low=0),
    }
    count: int
    weight: float
    # (p,)
    total: np.ndarray
    squares: np.ndarray
    # (p,): the sizes of all sums that were added, and of those that were taken away again: rounding is a few units of their last digits.
    bulk: np.ndarray = None  # type: ignore[assignment]
    heft: float = None  # type: ignore[assignment]  # the same for the weight

    def __post_init__(self) -> None:
        if self.bulk is None:
            object.__setattr__(self, "bulk", np.abs(self.total))
        if self.heft is None:
            object.__setattr__(self, "heft", self.weight)

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.count + other.count,
            self.weight + other.weight,
            self.total + other.total,
            self.squares + other.squares,
            self.bulk + other.bulk,
            self.heft + other.heft,
        )

    def __sub__(self, other: Sums) -> Sums:
        return Sums(
            self.count - other.count,
            self.weight - other.weight,
            self.total - other.total,
            np.maximum(self.squares - other.squares, 0.0),
            self.bulk + other.bulk,
            self.heft + other.heft,
        )

    @property
    def is_finite(self) -> bool:
        """Whether nothing was missing or infinite."""
        return bool(np.isfinite(self.squares).all() and np.isfinite(self.total).all())

    def fingerprint(self) -> Fingerprint:
        """Tell these rows from others."""
        weight = max(self.weight, TINY)
        mean = self.total / weight
        return Fingerprint(self.count, self.weight, mean, np.maximum(self.squares / weight - mean**2, 0.0))

    def _behind(self) -> np.ndarray:
        """Bound all squares that went in."""
        return np.asarray(self.bulk**2 * (self.count / max(self.weight, TINY)))

    @property
    def loss(self) -> float:
        """By how much the squares that went in exceed those that are left, in the column that lost most."""
        weight = max(self.weight, TINY)
        return largest_loss(self._behind() / weight**2, self.squares / weight, self.total / weight)

    def apart(self, other: Sums) -> float:
        """Give the largest difference from other sums, in units of what rounding can do; infinite where they are not of as many rows."""
        if self.count != other.count:
            return np.inf
        rounding = (other.count + 64) * EPS
        return max(
            largest_share([self.weight], [other.weight], rounding * max(other.weight, self.heft) + TINY),
            largest_share(
                self.total, other.total, rounding * (np.sqrt(other.squares * other.weight) + self.bulk) + TINY
            ),
            largest_share(self.squares, other.squares, rounding * (other.squares + self._behind()) + TINY),
            0.0 if (self.bulk >= np.abs(other.total) * (1 - 1e-9)).all() and np.isfinite(self.bulk).all() else np.inf,
            0.0 if other.weight * (1 - 1e-9) <= self.heft < np.inf else np.inf,
        )
