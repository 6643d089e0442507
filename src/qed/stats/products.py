r"""Sums of squares and products of a block's columns about a point, by whichever way is fastest.

Three ways give the same matrix :math:`\sum_i w_i\,(z_i - c, 1)(z_i - c, 1)^\top` of :math:`z = (x, y)`: one call of
BLAS for small blocks, which then need no compiler; the compiled kernel of :mod:`qed.stats.gram` for large ones; and a
sparse product for sparse ones, where only columns that are mostly non-zero are shifted, and so made dense.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from qed.base.errors import InputError
from qed.base.lazy import later
from qed.base.numbers import TINY, all_finite
from qed.base.sources.block import Block, aligned, as_dense
from qed.base.sources.facts import FLOATS
from qed.base.summary import Summary
from qed.linalg.registers.vectors import beats_blas

compiled = later("qed.stats.gram")
COMPILED_FROM = 1 << 20
# Below this a sum of squares has lost digits, or all, because the squares are next to nothing: too small to be held.
VANISHED = 1e3 * TINY
CHUNK_ROWS, CHUNK_VALUES = 64, 1 << 16


def present_rows(block: Any, *, target: bool) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Give features, targets (always two-dimensional) and weights of the rows whose weight is not zero."""
    X, y, weight = block.X, block.y if target else None, block.weight
    Y = np.empty((X.shape[0], 0)) if y is None else _numbers(y)
    if weight is not None:
        weight = np.asarray(weight, dtype=np.float64)
        present = weight != 0
        if not present.all():
            X, Y, weight = X[present], Y[present], weight[present]
    if isinstance(X, np.ndarray):
        X = aligned(X) if X.dtype in FLOATS else X.astype(np.float64)
    return X, np.ascontiguousarray(Y), weight


def _numbers(y: Any) -> np.ndarray:
    try:
        Y = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"The target holds values that are not numbers ({error}); "
            "encode labels as numbers first, or use the moments of the features alone."
        ) from None
    return Y[:, None] if Y.ndim == 1 else Y


def dense(X: Any) -> np.ndarray:
    """Give rows as a dense array of float64."""
    return np.asarray(as_dense(X), dtype=np.float64)


def typical_row(X: Any, Y: np.ndarray) -> np.ndarray:
    """Give, for each column, the middle one of up to five values spread over the block.

    Sums taken about it lose no digits to a large mean. Being a value of the column, it makes the sums of a constant
    column exactly zero; being a median, it is hardly ever an outlier.
    """
    chosen, p = _spread_over(len(Y)), X.shape[1]
    few = np.empty((len(chosen), p + Y.shape[1]))
    few[:, :p] = X.take(chosen, axis=0) if isinstance(X, np.ndarray) else dense(X[chosen])
    few[:, p:] = Y.take(chosen, axis=0)
    few.sort(axis=0)
    middle = few[len(chosen) // 2]
    if not all_finite(middle):
        middle[~np.isfinite(middle)] = 0.0
    return middle


@lru_cache(maxsize=64)
def _spread_over(n: int) -> np.ndarray:
    """Give the numbers of up to five of n rows."""
    size = min(5, n - 1 + n % 2)
    return np.array([k * (n - 1) // max(1, size - 1) for k in range(size)])


def gram(X: Any, Y: np.ndarray, root: np.ndarray | None, shift: np.ndarray) -> np.ndarray:
    """Give the Gram matrix of ``root * [X - shift, Y - shift, 1]``.

    X may be sparse, Y may have no columns, and `root`, the roots of the weights, is None when all are one. The last row
    of the result holds the sums, its corner the sum of the weights.
    """
    if not isinstance(X, np.ndarray):
        return _sparse_gram(X, Y, root, shift)
    if len(Y) * len(shift) ** 2 < COMPILED_FROM:
        return _small_gram(X, Y, root, shift)
    if not beats_blas():
        return gram_in_chunks(X, Y, root, shift)
    return compiled.gram_matrix(X, Y, np.empty(0) if root is None else root, shift)


def gram_in_chunks(X: np.ndarray, Y: np.ndarray, root: np.ndarray | None, shift: np.ndarray) -> np.ndarray:
    """Give the same of dense rows by BLAS, chunk after chunk that stays in the cache: nothing has to be compiled for it."""
    size = max(CHUNK_ROWS, CHUNK_VALUES // len(shift))
    total = np.zeros((len(shift) + 1, len(shift) + 1))
    for start in range(0, len(Y), size):
        rows = slice(start, start + size)
        total += _small_gram(X[rows], Y[rows], None if root is None else root[rows], shift)
    return total


def _small_gram(X: np.ndarray, Y: np.ndarray, root: np.ndarray | None, shift: np.ndarray) -> np.ndarray:
    p = X.shape[1]
    Z = np.empty((len(Y), len(shift) + 1))
    Z[:, -1] = 1.0
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        np.subtract(X, shift[:p], out=Z[:, :p])
        np.subtract(Y, shift[p:], out=Z[:, p:-1])
        if root is not None:
            Z *= root[:, None]
        return Z.T @ Z


def _sparse_gram(X: Any, Y: np.ndarray, root: np.ndarray | None, shift: np.ndarray) -> np.ndarray:
    p = X.shape[1]
    shifted, kept = np.flatnonzero(shift[:p]), np.flatnonzero(shift[:p] == 0)
    S = sparse.csr_array(X if len(shifted) == 0 else X[:, kept], dtype=np.float64)
    D = np.empty((len(Y), 0)) if len(shifted) == 0 else dense(X[:, shifted])
    if root is not None:
        S = sparse.csr_array((S.data * np.repeat(root, np.diff(S.indptr)), S.indices, S.indptr), S.shape)
    Z = np.hstack([D - shift[shifted], Y - shift[p:], np.ones((len(Y), 1))])
    if root is not None:
        Z *= root[:, None]
    k = len(kept)
    total = np.empty((len(shift) + 1, len(shift) + 1))
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        total[:k, :k] = (S.T @ S).toarray()
        total[:k, k:] = S.T @ Z
        total[k:, :k] = total[:k, k:].T
        total[k:, k:] = Z.T @ Z
    order = np.argsort(np.concatenate([kept, shifted, np.arange(p, len(shift) + 1)]))
    return total[np.ix_(order, order)]


def target_summary(block: Block) -> Summary:
    """Summarise the target of a block."""
    return Summary.of(Block(np.asarray(block.y, dtype=np.float64).reshape(len(block), -1), weight=block.weight))


def vanishes(squares: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Say which sums of squares have lost digits, or all, because the squares are too small to be held, though the values are not zero."""
    return np.asarray((squares < VANISHED) & (sizes > 0))
