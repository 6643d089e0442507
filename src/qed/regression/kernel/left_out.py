r"""Kernel ridge regressions without each row in turn, from the one fit to all rows.

With :math:`G = K + \alpha S^{-1}` and :math:`c = G^{-1} y`, leaving out row :math:`i` changes the other dual coefficients by a multiple
of a column of the inverse (its inverse without a row and column, by blocks),

.. math:: c^{(-i)} = c - \frac{c_i}{(G^{-1})_{ii}} (G^{-1})_{\cdot i}, \qquad y_i - f_{-i}(x_i) = \frac{c_i}{(G^{-1})_{ii}},

whose own entry :math:`i` vanishes: one inverse serves all n models, :math:`O(n^3)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from qed.base.attributes import floats
from qed.base.numbers import EPS, largest_share
from qed.base.saving.known import savable
from qed.base.sources.block import Block
from qed.regression.kernel.model import KernelProblem

# So many rows at most: a table of n times n coefficients is kept.
MOST_ROWS = 2000
# With a larger condition number fewer than eight digits would be left.
MOST_CONDITION = 1e8


@savable
@dataclass(frozen=True, eq=False)
class LeftOutKernels:
    """The dual coefficients without each row, and the error of each model at the row that it has not seen."""

    attributes: ClassVar = {"dual": floats("_", "_"), "errors": floats("_")}
    dual: np.ndarray  # (rows of the fit, n): a column for each model
    errors: np.ndarray  # (n,): target less prediction

    def predictions(self, model: Any, block: Block) -> np.ndarray:
        """Predict the rows of a block by every model: of shape (m, n)."""
        return np.asarray(model._similar(block.X, self.dual), dtype=np.float64)

    def apart(self, other: LeftOutKernels) -> float:
        """Say how far other models are from these, relative to the largest number of each kind."""
        pairs = [(self.dual, other.dual), (self.errors, other.errors)]
        if any(np.shape(mine) != np.shape(theirs) for mine, theirs in pairs):
            return np.inf
        return max(largest_share(mine, theirs, np.abs(theirs).max(initial=EPS)) for mine, theirs in pairs)


def left_out_kernels(similarity: Any, problem: KernelProblem, alpha: float) -> LeftOutKernels | None:
    """Give the models without each row that counts; None where there are too many, or too few digits would be left."""
    n = len(problem.Y)
    if not 2 <= n <= MOST_ROWS or problem.Y.shape[1] > 1 or alpha <= 0:
        return None
    K = np.array(similarity.gram(problem.X), dtype=np.float64)
    K[np.diag_indices(n)] += alpha / problem.counts
    spectrum = np.linalg.eigvalsh(K)
    if not 0 < spectrum[-1] <= MOST_CONDITION * spectrum[0]:
        return None
    inverse = cho_solve(cho_factor(K), np.eye(n))
    dual = inverse @ problem.Y[:, 0]
    errors = dual / inverse.diagonal()
    without = dual[:, None] - inverse * errors
    np.fill_diagonal(without, 0.0)
    return LeftOutKernels(problem.spread(without), errors)
