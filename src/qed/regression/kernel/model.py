r"""What kernel regressions share: predictions that are weighted similarities to the rows fitted,

.. math:: f(x) = \sum_i c_i\, k(x_i, x),

and their problem, the rows that count among those given. A prediction costs :math:`O(n)` similarities.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats
from qed.base.certificate import Claim
from qed.base.models.checks import is_finite, overflowed, refuse_missing
from qed.base.models.problem import RowsProblem
from qed.base.models.roles import Regressor
from qed.base.sources.block import Block, copied, is_sparse, values_apart
from qed.base.sources.rows import ArrayRows, Rows
from qed.kernels.inputs import as_double
from qed.kernels.similarity import WithKernel


class KernelProblem(RowsProblem):
    """Rows in memory, and those of them that count, in float64."""

    def __init__(self, rows: Rows, model: KernelModel) -> None:
        super().__init__(rows, model)
        self.block: Block = rows.array()
        if not is_finite(np.asarray(self.block.y)):
            refuse_missing(rows, model)
            raise overflowed(model)
        # From here on nothing is read again.
        self.rows = ArrayRows(self.block.X, self.block.y, self.block.weight, rows.feature_names)
        # What a fit has proved on its way, so that nothing is worked out twice; None where the proof goes back to the rows.
        self.claims: list[Claim] | None = None
        X, Y, weight = self.block.X, columns(self.block.y), self.block.weight
        self.given = X if is_sparse(X) else np.asarray(X)  # the features of all rows, or their similarities
        self.present: np.ndarray | None = None  # which rows have a positive weight; None when all have
        if weight is not None and not weight.all():
            self.present = weight > 0
            X, Y, weight = model._similarity.chosen(X, self.present), Y[self.present], weight[self.present]
        self.X, self.Y, self.weight = as_double(X), Y, weight

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

    def shaped(self, values: np.ndarray) -> np.ndarray:
        """Give values of shape (n, q) of the rows that count in the form of the target, for all rows."""
        return self.spread(values[:, 0] if self.target_ndim == 1 else values)


def columns(values: Any) -> np.ndarray:
    """Give one or several outputs as columns of float64."""
    found = np.asarray(values, dtype=np.float64)
    return found.reshape(len(found), -1)


class KernelModel(WithKernel, Regressor):
    """A regression whose predictions are weighted similarities to the rows fitted, for one output or several."""

    attributes: ClassVar = {
        "X_fit_": floats("rows", "features", finite=False),  # rows of weight zero may hold anything
        "dual_coef_": floats("rows", "outputs?"),
    }
    no_inference: ClassVar[str] = "its coefficients belong to rows, not to columns"
    passes: ClassVar[str] = "in memory"
    sparse: ClassVar[bool] = True
    dual_coef_: np.ndarray
    X_fit_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _problem(self, rows: Rows) -> KernelProblem:
        return KernelProblem(rows, self)

    def _settle(self, problem: KernelProblem) -> None:
        self.X_fit_ = copied(problem.given)
        super()._settle(problem)

    def _restate(self, problem: KernelProblem) -> list[Claim]:
        counted = None if problem.present is None else np.flatnonzero(problem.present)
        return [Claim("X_fit_ are the rows (others)", values_apart(self.X_fit_, problem.given, counted), 0.0)]

    def _similar(self, X: Any, right: np.ndarray) -> np.ndarray:
        """Multiply the similarities of `X` and the rows fitted by `right`, of shape (n, q), which is zero for rows left out."""
        return self._similarity.combined(X, self.X_fit_, right)

    def _predicted_shape(self) -> tuple[int, ...]:
        return np.shape(self.dual_coef_)[1:]

    def _predict(self, block: Block) -> np.ndarray:
        found = self._similar(block.X, columns(self.dual_coef_))
        return found.reshape(len(block), *self.dual_coef_.shape[1:]).astype(block.X.dtype, copy=False)
