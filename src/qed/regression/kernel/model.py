r"""What kernel regressions share: predictions that are weighted similarities to the rows fitted,

.. math:: f(x) = \sum_i c_i\, k(x_i, x),

the reading of the parameters that say which kernel is meant, and the rows as the explicit features of a kernel that has some.
Kernel matrices are worked out part by part on all threads; a prediction costs :math:`O(n)` similarities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from qed.base.engine import work
from qed.base.errors import InputError
from qed.base.models.checks import is_finite, overflowed, refuse_missing
from qed.base.models.parameters import Parameter, choice, integer, number
from qed.base.models.problem import TableProblem
from qed.base.models.roles import Regressor
from qed.base.sources.block import Block, is_sparse
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.kernels.inputs import as_csr
from qed.kernels.kernel import Kernel
from qed.kernels.names import as_kernel, kernel_rule

# So many similarities are worked out at a time: eight megabytes.
PART = 1 << 20

KERNEL_PARAMETERS: Mapping[str, Parameter] = {
    "kernel": kernel_rule("precomputed"),
    "gamma": choice(None, kind="model") | number(0, above=True, kind="model"),
    "degree": integer(1, kind="model"),
    "coef0": number(0, kind="model"),
}


@dataclass(frozen=True, eq=False)
class Table:
    """The rows that count, in memory.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, p)
        The features, in float64.
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
    def of(cls, block: Block) -> Table:
        """Leave out the rows of weight zero."""
        present = None if block.weight is None or block.weight.all() else block.weight > 0
        kept = block if present is None else block.take(present)
        return cls(double(kept.X), columns(kept.y), kept.weight, present)

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


def double(X: Any) -> Any:
    """Give a table in float64, dense or sparse as it is."""
    return X.astype(np.float64, copy=False)


def columns(values: Any) -> np.ndarray:
    """Give one or several outputs as columns of float64."""
    found = np.asarray(values, dtype=np.float64)
    return found.reshape(len(found), -1)


class KernelModel(Regressor):
    """A regression whose predictions are weighted similarities to the rows fitted, for one output or several."""

    passes: ClassVar[str] = "in memory"
    sparse: ClassVar[bool] = True
    kernel: Any
    gamma: float | None
    degree: int
    coef0: float
    dual_coef_: np.ndarray
    X_fit_: Any

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _kernel(self) -> Kernel:
        return as_kernel(self.kernel, self.gamma, self.degree, self.coef0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.pairwise = self._is_precomputed
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
        self.X_fit_ = block.X if is_sparse(block.X) else np.asarray(block.X)
        return Table.of(block)

    def _gram(self, table: Table) -> np.ndarray:
        """Give the kernel matrix of the rows that count: symmetric, in float64, and free to be overwritten."""
        n = table.X.shape[0]
        try:
            if not self._is_precomputed:
                kernel = self._kernel()
                K = kernel(table.X)
                return K if kernel._is_symmetric else _symmetric(K, type(self).__name__)
            K = table.X.toarray() if hasattr(table.X, "toarray") else np.array(table.X)
            K = np.ascontiguousarray(table.chosen(K.T))
            if K.shape != (n, n):
                raise InputError(
                    f"{type(self).__name__}: a precomputed kernel matrix compares the rows fitted with each other, so it is "
                    f"square, not of shape {table.X.shape}."
                )
            return _symmetric(K, type(self).__name__)
        except MemoryError:
            raise InputError(
                f"{type(self).__name__}: the kernel matrix of {n} rows needs {8 * n**2 / 2**30:.0f} gigabytes, more than there "
                "are. Fit fewer rows, or take a kernel with few explicit features, such as 'linear' or 'poly'."
            ) from None

    def _diagonal(self, X: Any, table: Table) -> np.ndarray:
        """Give the similarity of each row that counts to itself; `X` are all rows fitted."""
        if self._is_precomputed:
            return np.asarray(table.chosen(X.diagonal()), dtype=np.float64)
        return self._kernel().diagonal(table.X)

    def _similar(self, X: Any, right: np.ndarray) -> np.ndarray:
        """Multiply the similarities of `X` and the rows fitted by `right`, of shape (n, q), which is zero for rows left out."""
        used = right.any(axis=1)
        if self._is_precomputed:
            return np.asarray(X @ right if used.all() else X[:, used] @ right[used])
        known = double(self.X_fit_ if used.all() else self.X_fit_[used])
        right = right[used]
        if len(right) == 0:
            return np.zeros((X.shape[0], right.shape[1]))
        size = max(1, PART // len(right))
        starts = range(0, X.shape[0], size)
        tasks = (partial(_product, self._kernel(), known, X[start : start + size], right) for start in starts)
        return np.concatenate(list(work(tasks)))

    def _predict(self, block: Block) -> np.ndarray:
        found = self._similar(block.X, columns(self.dual_coef_))
        return found.reshape(len(block), *self.dual_coef_.shape[1:]).astype(block.X.dtype, copy=False)


def _product(kernel: Kernel, known: Any, X: Any, right: np.ndarray) -> np.ndarray:
    # The rows fitted come first, so that rounding does not depend on which rows are predicted together.
    return np.asarray(kernel(known, double(X)).T @ right)


def _symmetric(K: np.ndarray, name: str) -> np.ndarray:
    """Check that a matrix from elsewhere is finite and symmetric, and remove its rounding."""
    if not is_finite(K):
        i, j = (int(k) for k in np.argwhere(~np.isfinite(K))[0])
        raise InputError(f"{name}: the kernel matrix must be finite, but entry ({i}, {j}) is {K[i, j]}.")
    gap = np.abs(K - K.T)
    if gap.max(initial=0.0) > 1e-8 * np.abs(K).max(initial=0.0):
        i, j = (int(k) for k in np.unravel_index(gap.argmax(), gap.shape))
        raise InputError(
            f"{name}: a kernel is symmetric, but entry ({i}, {j}) of its matrix is {K[i, j]:g} and entry ({j}, {i}) is "
            f"{K[j, i]:g}."
        )
    return np.asarray((K + K.T) / 2)


def feature_rows(source: Rows, kernel: Kernel) -> Rows:
    """Give rows whose columns are the explicit features of a kernel that has some, made block by block.

    Examples
    --------
    >>> from qed.base.sources.open import rows
    >>> from qed.kernels import Polynomial
    >>> feature_rows(rows(np.array([[2.0]])), Polynomial(2)).array().X.round(4)
    array([[1.    , 2.8284, 4.    ]])
    """
    one = np.ones((1, source.n_features))
    made = kernel.features(as_csr(one) if source.is_sparse else one)
    facts: dict[str, Any] = {"feature_names": None, "dtype": np.dtype(np.float64), "is_sparse": is_sparse(made)}
    return source.through(_features, kernel, n_features=made.shape[1], **facts)


def _features(block: Block, kernel: Kernel) -> Block:
    """Make the features of a block. Rows of weight zero may hold anything, so another row stands in for them."""
    present = block.weights > 0
    if present.all():
        return replace(block, X=kernel.features(double(block.X)))
    if present.any():
        X = block.X[np.where(present, np.arange(len(block)), present.argmax())]
    else:
        X = as_csr(np.ones(block.X.shape)) if is_sparse(block.X) else np.ones(block.X.shape)
    return replace(block, X=kernel.features(double(X)))
