r"""What kernel regressions share: predictions that are weighted similarities to the rows fitted,

.. math:: f(x) = \sum_i c_i\, k(x_i, x),

and the rows that count among those given. A prediction costs :math:`O(n)` similarities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from qed.base.certificate import Claim
from qed.base.models.checks import is_finite, overflowed, refuse_missing
from qed.base.models.problem import RowsProblem
from qed.base.models.roles import Regressor
from qed.base.sources.block import Block, is_sparse
from qed.base.sources.rows import Rows
from qed.kernels.inputs import as_double
from qed.kernels.similarity import Similarity, WithKernel


@dataclass(frozen=True, eq=False)
class Table:
    """The rows that count, in memory.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, p)
        The features, in float64; or, of shape (n, n), the similarities of these rows.
    Y : ndarray of shape (n, q)
        The targets.
    weight : ndarray of shape (n,) or None
        The weights, all positive.
    present : ndarray of bool or None
        Which of the rows given have a positive weight; None when all have.
    """

    X: Any
    Y: np.ndarray
    weight: np.ndarray | None
    present: np.ndarray | None

    @classmethod
    def of(cls, block: Block, similarity: Similarity) -> Table:
        """Leave out the rows of weight zero."""
        Y = columns(block.y)
        if block.weight is None or block.weight.all():
            return cls(as_double(block.X), Y, block.weight, None)
        present = block.weight > 0
        return cls(as_double(similarity.chosen(block.X, present)), Y[present], block.weight[present], present)

    @property
    def counts(self) -> np.ndarray:
        """How often each row counts: its weight, or one."""
        return np.ones(len(self.Y)) if self.weight is None else self.weight

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Give values of the rows that count as values of all rows, zero for the others."""
        if self.present is None:
            return values
        found = np.zeros((len(self.present), *values.shape[1:]))
        found[self.present] = values
        return found

    def chosen(self, values: Any) -> Any:
        """Give values (or features) of all rows for those that count."""
        return values if self.present is None else values[self.present]


def columns(values: Any) -> np.ndarray:
    """Give one or several outputs as columns of float64."""
    found = np.asarray(values, dtype=np.float64)
    return found.reshape(len(found), -1)


class KernelProblem(RowsProblem):
    """Rows in memory, to be compared with each other.

    Attributes
    ----------
    X : ndarray or csr_array
        The features (or similarities) of all rows, as they came.
    table : Table
        The rows that count.
    claims : list of Claim or None
        What was proven while solving, from the kernel matrix that is gone by then.
    """

    claims: list[Claim] | None = None

    def __init__(self, rows: Rows, model: Any, similarity: Similarity) -> None:
        super().__init__(rows, model)
        block = rows.array()
        if not is_finite(np.asarray(block.y)):
            refuse_missing(rows, model)
            raise overflowed(model)
        self.X = block.X if is_sparse(block.X) else np.asarray(block.X)
        self.table = Table.of(block, similarity)


class KernelModel(WithKernel, Regressor):
    """A regression whose predictions are weighted similarities to the rows fitted, for one output or several."""

    passes: ClassVar[str] = "in memory"
    sparse: ClassVar[bool] = True
    dual_coef_: np.ndarray
    X_fit_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _problem(self, rows: Rows) -> KernelProblem:
        return KernelProblem(rows, self, self._similarity)

    def _similar(self, X: Any, right: np.ndarray) -> np.ndarray:
        """Multiply the similarities of `X` and the rows fitted by `right`, of shape (n, q), which is zero for rows left out."""
        return self._similarity.combined(X, self.X_fit_, right)

    def _predict(self, block: Block) -> np.ndarray:
        found = self._similar(block.X, columns(self.dual_coef_))
        return found.reshape(len(block), *self.dual_coef_.shape[1:]).astype(block.X.dtype, copy=False)
