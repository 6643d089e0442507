"""A fingerprint of the data a model was fitted on.

It travels inside the saved model, so that whoever re-checks a certificate learns first whether these are the same data. It is made
of sums over rows (their number, weight, and each column's mean and variance), so it costs no pass of its own, needs no
storage, is the same for an array, a file and a cluster up to rounding, and reveals no row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.summary import Summary


@dataclass(frozen=True)
class Fingerprint:
    """Number of rows, their weight, and mean and variance of every column.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.base.rows import rows
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> first = Fingerprint.of(rows(X).fold(Summary.of))
    >>> first.matches(first), first.difference(Fingerprint.of(rows(X[:2]).fold(Summary.of)))
    (True, '3 rows then, 2 now')
    """

    count: int
    weight: float
    mean: np.ndarray
    variance: np.ndarray

    @classmethod
    def of(cls, summary: Summary) -> Fingerprint:
        return cls(summary.count, float(summary.weight.max(initial=0.0)), summary.mean, summary.variance)

    def difference(self, other: Fingerprint) -> str:
        """Say in words how `other` differs, or give an empty string."""
        if len(self.mean) != len(other.mean):
            return f"{len(self.mean)} columns then, {len(other.mean)} now"
        if self.count != other.count:
            return f"{self.count} rows then, {other.count} now"
        if not np.isclose(self.weight, other.weight, rtol=1e-9):
            return f"total weight {self.weight:g} then, {other.weight:g} now"
        scale = np.sqrt(self.variance) + 1e-6 * np.abs(self.mean) + 1e-300
        moved = np.flatnonzero(np.abs(self.mean - other.mean) > 1e-6 * scale)
        spread = np.flatnonzero(
            ~np.isclose(self.variance, other.variance, rtol=1e-6, atol=1e-12 * scale.max(initial=0.0) ** 2)
        )
        changed = sorted({*moved.tolist(), *spread.tolist()})
        return f"other values in {len(changed)} of {len(self.mean)} columns" if changed else ""

    def matches(self, other: Fingerprint) -> bool:
        return not self.difference(other)

    def to_dict(self) -> dict[str, Any]:
        return {
            "count": self.count,
            "weight": self.weight,
            "mean": self.mean.tolist(),
            "variance": self.variance.tolist(),
        }
