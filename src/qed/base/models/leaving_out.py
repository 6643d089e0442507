"""Models without each row in turn, where they follow from the one fitted to all rows.

A fitted regressor that can tell what it would predict had it not seen row i, for all i and without fitting again, says so by its method

.. code-block:: python

    def _without_each(self, rows: Rows) -> LeftOut | None: ...

which is given the rows of the fit. Least squares, ridge, kernel ridge and nearest neighbours can; `qed.Conformal` makes intervals of it at
the price of one fit.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np

from qed.base.sources.block import Block


class LeftOut(Protocol):
    """A model for each row of weight above zero: the one that has not seen it. It is savable, and part of what a fit leaves behind."""

    @property
    def errors(self) -> np.ndarray:
        """The target less what is predicted for it by the model that has not seen it, of shape (n,)."""

    def predictions(self, model: Any, block: Block) -> np.ndarray:
        """Predict the rows of a block by each model: of shape (m, n); `model` is the one fitted to all rows."""

    def apart(self, other: Self) -> float:
        """Say how far others are from these, as a share of their size."""
