"""What a network is fitted to: rows with targets in its own terms, and the first of them, from which claims are computed.

A proof that went through all rows once more would cost as much as another epoch, in twice the precision. So it looks at the first
two thousand, or fewer where the network is large, and says so.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from qed.base.errors import InputError
from qed.base.models.labels import coded, learn_classes, marked
from qed.base.models.problem import RowsProblem, emptied
from qed.base.random import generator
from qed.base.sources.block import Block, as_dense, join_blocks
from qed.base.sources.rows import ArrayRows, Rows, kept
from qed.neural.engine.node import Array
from qed.neural.models.target_units import TargetUnits

SAMPLE = 2048


class Fitted(Protocol):
    """What is asked of a model whose problem this is."""

    target: str | None
    loss: str


class NetworkProblem(RowsProblem):
    """Rows that a network learns from, with class numbers where they are labels, and marks where a row may have several.

    Attributes
    ----------
    classes : ndarray or None
        The classes; where a row may have several labels, the numbers of their columns.
    several : bool
        Whether a row may have several labels.
    units : TargetUnits or None
        In which units the network learns the target; None for its own.
    """

    classes: Array | None = None
    # The penalty and the weights that the sample was last looked at with, and what was seen: the loss and its gradient.
    seen: tuple[float, Array, float, Array] | None = None

    def __init__(
        self, rows: Rows, model: Fitted, classes: Array | None = None, units: TargetUnits | bool = False
    ) -> None:
        name, shape = type(model).__name__, rows.target_shape
        self.several = model.target == "label" and len(shape) == 1
        if self.several:
            self.classes = np.arange(shape[0])
        elif model.target == "label":
            self.classes = learn_classes(rows, name)[0] if classes is None else classes
        rows = emptied(rows)
        super().__init__(rows, model)
        self.number: type[np.floating] = np.float32 if rows.dtype == np.float32 else np.float64
        if self.several:
            self.learned: Rows = marked(rows, name, self.number)
        else:
            self.learned = rows if self.classes is None else coded(rows, self.classes)
        self.units = TargetUnits.of(rows) if units is True else units or None
        if self.units is not None:
            self.learned = self.units.change(rows, self.number)
        self._counts_needed = model.target == "number" and getattr(model, "loss", "") == "poisson"
        if self._counts_needed and self.sample[1].min(initial=0.0) < 0:
            raise InputError("loss='poisson' is for counts, which are not below zero: take loss='squared_error'.")

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.summary.weight.max(initial=0.0))

    @property
    def outputs(self) -> int:
        """How many numbers come out of the network."""
        if self.classes is not None:
            return 1 if len(self.classes) == 2 and not self.several else len(self.classes)
        shape = self.rows.target_shape
        return shape[0] if shape else 1

    @cached_property
    def held(self) -> ArrayRows:
        """The rows where they can be read in any order."""
        return kept(self.learned.cached())

    @cached_property
    def sample(self) -> tuple[Array, Array, Array]:
        """The first rows, in double precision: features, targets as a matrix or class numbers, and weights."""
        found: list[Block] = []
        for block in self.learned.blocks():
            found.append(block)
            if sum(map(len, found)) >= SAMPLE:
                break
        block = join_blocks(found).between(0, min(SAMPLE, sum(map(len, found))))
        X = as_dense(block.X)
        y = np.asarray(block.y)
        if self.classes is None or self.several or self.outputs == 1:
            y = y.reshape(len(y), -1).astype(np.float64)
        return np.asarray(X, dtype=np.float64), y, np.asarray(block.weights, dtype=np.float64)

    def held_out(self, share: float, seed: int) -> tuple[ArrayRows, Block]:
        """Cut rows off for validation: what is left, in which they have no weight, and they themselves.

        Of each class there are as many as its share, where a row has one; rows without weight stay.
        """
        held = self.held
        weight = np.ones(held.count()) if held.weight is None else np.asarray(held.weight, dtype=np.float64)
        keys = generator(seed, "validation").random(len(weight))
        by_class = self.classes is not None and not self.several
        order = np.lexsort((keys, np.asarray(held.y))) if by_class else np.argsort(keys)
        order = order[weight[order] > 0]
        wanted = int(np.ceil(share * len(order)))
        if wanted >= len(order):
            raise InputError(
                f"early_stopping with validation_fraction={share} leaves no rows to learn from: there are {len(order)}."
            )
        chosen = order[(np.arange(wanted) * len(order)) // max(wanted, 1)]
        left = weight.copy()
        left[chosen] = 0.0
        block = Block(held.X, held.y, weight, 0).take(np.sort(chosen))
        return ArrayRows(held.X, held.y, left), block
