"""What methods of nearest neighbours are made from: the rows themselves, which are kept."""

from __future__ import annotations

import numpy as np

from qed.base.errors import InputError
from qed.base.models.estimator import Estimator
from qed.base.models.problem import RowsProblem
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.neighbors.measures import Matrix


class KeptProblem(RowsProblem):
    """Rows that are kept as they are."""

    def __init__(self, rows: Rows, model: Estimator, *, again: bool = False) -> None:
        super().__init__(rows.cached(), model)
        self.again = again  # whether a model is certified, whose tree may be any
        self.block: Block = self.rows.array()
        if self.block.start < 0:
            raise InputError("A model is no proof of itself: give the data it was fitted on.")
        weight = self.block.weight
        # Rows without weight are not there.
        self.present = None if weight is None or (weight > 0).all() else np.flatnonzero(weight > 0)
        self.weight = None if weight is None or (weight == 1).all() else weight

    @property
    def there(self) -> Matrix:
        """The rows that have a weight."""
        return self.block.X if self.present is None else self.block.X[self.present]

    @property
    def frame(self) -> tuple[np.ndarray, float]:
        """The middle of the rows' box, and the power of two that brings its width near one."""
        low, high = self.summary.low, self.summary.high
        with np.errstate(over="ignore"):
            middle, width = low / 2 + high / 2, float((high / 2 - low / 2).max(initial=0.0))
        # What is narrower than the least normal number is brought as near as a power of two can bring it.
        return middle, 2.0 ** min(1023, -int(np.frexp(width)[1])) if 0 < width < np.inf else 1.0
