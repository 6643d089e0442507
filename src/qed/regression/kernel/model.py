r"""What kernel regressions share: predictions that are weighted similarities to the rows fitted,

.. math:: f(x) = \sum_i c_i\, k(x_i, x),

and the rows that count among those given. A prediction costs :math:`O(n)` similarities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from qed.base.models.checks import is_finite, overflowed, refuse_missing
from qed.base.models.problem import TableProblem
from qed.base.models.roles import Regressor
from qed.base.sources.rows import Block, Rows
from qed.base.summary import Summary
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

    def _problem(self, rows: Rows) -> TableProblem:
        return TableProblem(rows)

    def _settle(self, problem: TableProblem) -> None:
        self._fit(problem.rows)

    def _prove(self, problem: TableProblem) -> list[Any]:
        return self._claims(problem.rows)

    def _look(self, rows: Rows) -> Table:
        """Read the rows, refuse what is missing, and remember what the model needs of them."""
        summary = rows.fold(Summary.of)
        block = rows.array()
        if not summary.is_complete or not is_finite(np.asarray(block.y)):
            refuse_missing(rows, self)
            raise overflowed(self)
        self.fingerprint_ = summary.fingerprint()
        self.X_fit_ = block.X if hasattr(block.X, "tocsr") else np.asarray(block.X)
        return Table.of(block, self._similarity)

    def _similar(self, X: Any, right: np.ndarray) -> np.ndarray:
        """Multiply the similarities of `X` and the rows fitted by `right`, of shape (n, q), which is zero for rows left out."""
        return self._similarity.combined(X, self.X_fit_, right)

    def _predict(self, block: Block) -> np.ndarray:
        found = self._similar(block.X, columns(self.dual_coef_))
        return found.reshape(len(block), *self.dual_coef_.shape[1:]).astype(block.X.dtype, copy=False)
