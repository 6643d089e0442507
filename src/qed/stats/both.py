"""Two statistics of the same rows, of their features and of their target, that are folded together in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from qed.base.attributes import having, of
from qed.base.models.fingerprint import Fingerprint
from qed.base.saving.known import savable
from qed.base.summary import Summary


@savable
@dataclass(frozen=True)
class Both:
    """What is known of the columns, and a statistic of the target.

    >>> import numpy as np
    >>> from qed.base.sources.block import Block
    >>> block = Block(np.array([[1.0], [3.0]]))
    >>> seen = Both(Summary.of(block), Summary.of(block))
    >>> (seen + seen).features.count, (seen + seen - seen).target.mean
    (4, array([2.]))
    """

    attributes: ClassVar = {"features": of(Summary), "target": having("sums")}
    features: Summary
    target: Any  # whatever knows `+` and `-`

    def __add__(self, other: Both) -> Both:
        return Both(self.features + other.features, self.target + other.target)

    def __sub__(self, other: Both) -> Both:
        return Both(self.features - other.features, self.target - other.target)

    def fingerprint(self) -> Fingerprint:
        """Tell these rows from others, by their features and by mean and mean square of their target."""
        return self.features.fingerprint(self.target.sums())

    @property
    def loss(self) -> float:
        """By how much the squares that went in exceed those that are left, in the column that lost most."""
        return float(max(self.features.loss, getattr(self.target, "loss", 1.0)))

    def apart(self, other: Both) -> float:
        """Give the largest difference from other such statistics, in units of what rounding can do."""
        return max(self.features.apart(other.features), self.target.apart(other.target))

    @property
    def is_finite(self) -> bool:
        """Say whether nothing is missing and the means and spreads are finite."""
        return self.features.is_finite and getattr(self.target, "is_finite", True)
