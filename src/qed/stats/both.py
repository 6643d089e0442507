"""Two statistics of the same rows, of their features and of their target, that are folded together in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qed.base.models.fingerprint import Fingerprint
from qed.base.saving.known import savable
from qed.base.summary import Summary


@savable
@dataclass(frozen=True)
class Both:
    """What is known of the columns, and a statistic of the target.

    Attributes
    ----------
    features : Summary
        Count, mean, spread and range of every column.
    target : Summary or Counts
        Whatever knows ``+`` and ``-``.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.base.sources.block import Block
    >>> block = Block(np.array([[1.0], [3.0]]))
    >>> seen = Both(Summary.of(block), Summary.of(block))
    >>> (seen + seen).features.count, (seen + seen - seen).target.mean
    (4, array([2.]))
    """

    features: Summary
    target: Any

    def __add__(self, other: Both) -> Both:
        return Both(self.features + other.features, self.target + other.target)

    def __sub__(self, other: Both) -> Both:
        return Both(self.features - other.features, self.target - other.target)

    def fingerprint(self) -> Fingerprint:
        """Tell these rows from others, by their features and by mean and mean square of their target."""
        return self.features.fingerprint(self.target.sums())

    @property
    def is_finite(self) -> bool:
        """Say whether nothing is missing and the means and spreads are finite."""
        return self.features.is_finite and getattr(self.target, "is_finite", True)
