"""Rows that are compared with each other by a kernel whose width may follow from them: what classifiers with a kernel share."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import Attributes, floats
from qed.base.models.checks import overflowed
from qed.base.models.parameters import Parameter, choice, number
from qed.base.models.problem import RowsProblem
from qed.base.numbers import EPS
from qed.base.sources.block import Block, is_sparse
from qed.base.sources.rows import ArrayRows, Rows
from qed.kernels.inputs import as_double
from qed.kernels.linear import Linear
from qed.kernels.names import KERNEL_PARAMETERS
from qed.kernels.similarity import Similarity, WithKernel

WIDTH_PARAMETERS: Mapping[str, Parameter] = {
    **KERNEL_PARAMETERS,
    "gamma": choice("scale", "auto", None, kind="model") | number(0, above=True, kind="model"),
}


class WithWidth(WithKernel):
    """A part of models with a kernel whose ``gamma`` may be "scale" or "auto"; a fit keeps what that came to as ``gamma_``."""

    attributes: ClassVar[Attributes] = {"gamma_": floats(above=0)}
    gamma_: float

    def _width(self, X: Any, weight: np.ndarray) -> float:
        """Give the factor gamma: one over the columns and, with "scale", over the variance of all numbers in the table."""
        if not isinstance(self.gamma, str):
            return float(1.0 / X.shape[1] if self.gamma is None else self.gamma)
        if self.gamma == "auto" or self.similarity_is_given:
            return 1.0 / X.shape[1]
        total, p = float(weight.sum()), X.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            values, each, holes = _stored(X, weight)
            mean = float((each @ values).sum()) / (total * p)
            # The middle is taken away first, and what rounding left of it afterwards.
            away = values - mean
            drift = (float((each @ away).sum()) - holes * mean) / (total * p)
            around = (float((each @ away**2).sum()) + holes * mean * mean) / (total * p)
            square = around - drift * drift
        if not math.isfinite(p * square):
            raise overflowed(self)
        # Numbers that are all the same do not vary, however rounding has them differ from their mean: a sum loses a last digit for each
        # number at most.
        lost = EPS * around * (64 + 4 * X.shape[0] * p)
        varies = square > lost and math.isfinite(1.0 / (p * square))
        return 1.0 / (p * square) if varies else 1.0

    @property
    def similarity_is_given(self) -> bool:
        """Whether tables are matrices of similarities."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _similarity_with(self, gamma: float) -> Similarity:
        return Similarity.of(self.kernel, gamma, self.degree, self.coef0)

    @property
    def _similarity(self) -> Similarity:
        return self._similarity_with(self.gamma_)


class ComparedRows(RowsProblem):
    """Rows in memory, those of them that count in float64, and what they are compared by."""

    def __init__(self, rows: Rows, model: Any) -> None:
        super().__init__(rows, model)
        self.block: Block = rows.array()
        self.rows = ArrayRows(self.block.X, self.block.y, self.block.weight, rows.feature_names)
        X, weight = self.block.X, self.block.weight
        given = X if is_sparse(X) else np.asarray(X)
        self.present = np.arange(len(self.block)) if weight is None else np.flatnonzero(weight > 0)
        self.weight = np.ones(len(self.block)) if weight is None else weight[self.present]
        self.gamma = model._width(as_double(given)[self.present], self.weight)
        self.similarity = model._similarity_with(self.gamma)
        self.given = given if weight is None else self.similarity.chosen(given, self.present)
        self.X = as_double(self.given)


def _stored(X: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Give the numbers of a table, what each or each row of them weighs, and the weight of the zeros that sparse rows do not store."""
    if not is_sparse(X):
        return X, weight, 0.0
    filled = np.diff(X.indptr)
    return X.data, np.repeat(weight, filled), float(weight @ (X.shape[1] - filled))


def from_middle(similarity: Similarity, X: Any, kept: Any) -> Any:
    """Take dense rows from the middle of those kept, where the kernel is linear and only differences count; else as they are."""
    if not isinstance(similarity.kernel, Linear) or is_sparse(X) or is_sparse(kept):
        return X
    return X - np.asarray(kept, dtype=np.float64).mean(axis=0)
