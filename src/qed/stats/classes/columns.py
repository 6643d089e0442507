"""Statistics of columns for each class, from one reading of a block: means and spreads (`Summary`), or sums (`Sums`)."""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import numpy as np

from qed.base.counts import labelled
from qed.base.errors import InputError
from qed.base.lazy import later
from qed.base.sources.block import Block, is_sparse
from qed.base.summary import COMPILED_FROM, TILE_ROWS, Summary
from qed.stats.by_class import ByClass
from qed.stats.classes.sums import Sums

kernel = later("qed.stats.classes.kernel")
# With more classes than this a tile has few rows of each, and sorting the rows is the better way.
MOST_CLASSES = 32


def summary_by_class(block: Block) -> ByClass:
    """Give mean and spread of every column in each class.

    >>> block = Block(np.array([[1.0], [2.0], [6.0]]), np.array(["low", "low", "high"]))
    >>> seen = summary_by_class(block)
    >>> seen["low"].mean, seen["low"].deviation
    (array([1.5]), array([0.5]))
    """
    if is_sparse(block.X) or block.X.size < COMPILED_FROM:
        return ByClass.of(block, Summary.of)
    block, labels, codes, count = _coded(block)
    if len(labels) > MOST_CLASSES:
        return ByClass.of(block, Summary.of)
    X = np.ascontiguousarray(block.X)
    total, mean, deviation = kernel.spread_by_class(X, codes, block.weights, len(labels), TILE_ROWS)
    p = X.shape[1]
    # The range is not looked at. A missing value shows as a mean that is not finite.
    unknown, none = np.full(mean.size, np.nan), np.zeros(mean.size, np.int64)
    seen = (np.repeat(total, p), mean.ravel(), deviation.ravel(), unknown, unknown, none)
    return ByClass.beside(labels, count, Summary(len(X), *seen), np.asarray(block.y).dtype)


def sums_by_class(block: Block, above: float | None = None) -> ByClass:
    """Give the weighted sums of every column in each class; with `above`, of ones where values are larger than that.

    >>> block = Block(np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0]]), np.array([0, 0, 1]))
    >>> (
    ...     [part.total.tolist() for part in sums_by_class(block)],
    ...     [part.total.tolist() for part in sums_by_class(block, 0.0)],
    ... )
    ([[3.0, 1.0], [0.0, 1.0]], [[2.0, 1.0], [0.0, 1.0]])
    """
    X: Any = block.X.tocsr() if is_sparse(block.X) else np.ascontiguousarray(block.X)
    if (X.nnz if is_sparse(X) else X.size) < COMPILED_FROM:
        return ByClass.of(block, partial(_sums, above=above))
    block, labels, codes, count = _coded(Block(X, block.y, block.weight))
    X, weight = block.X, np.ascontiguousarray(block.weights, dtype=np.float64)
    total = np.zeros((len(labels), X.shape[1]))
    squares = np.zeros_like(total) if above is None else total
    if is_sparse(X) and above is None:
        both = np.zeros((*total.shape, 2))
        kernel.add_stored(X.data, X.indices, X.indptr, codes, weight, both)
        total, squares = np.ascontiguousarray(np.moveaxis(both, 2, 0))
    elif above is None:
        kernel.add_rows(X, codes, weight, total, squares)
    elif is_sparse(X):
        kernel.add_stored_ones(X.data, X.indices, X.indptr, codes, weight, above, total)
    else:
        kernel.add_ones(X, codes, weight, above, total)
    mass = count if block.weight is None else np.bincount(codes, weight, len(labels))
    parts: dict[Hashable, Sums] = {
        label: Sums(int(count[k]), float(mass[k]), total[k], squares[k]) for k, label in enumerate(labels)
    }
    return _made(parts, block)


def _sums(block: Block, above: float | None) -> Sums:
    """Give the sums of one class."""
    X, weight = block.X, block.weights
    if is_sparse(X):
        X = X.copy()
        X.data = X.data.astype(np.float64) if above is None else _marks(X.data, above)
    else:
        X = np.asarray(X, dtype=np.float64) if above is None else _marks(X, above)
    with np.errstate(all="ignore"):
        square = X.power(2) if is_sparse(X) else X * X
        return Sums(len(block), float(weight.sum()), weight @ X, np.asarray(weight @ square))


def _marks(values: np.ndarray, above: float) -> np.ndarray:
    """Give ones where values are above a threshold; what is missing or infinite stays missing."""
    return np.where(np.isfinite(values), values > above, np.nan)


def _coded(block: Block) -> tuple[Block, list[Hashable], np.ndarray, np.ndarray]:
    """Leave out rows without weight; give the labels of the others, in order, the number of each row's, and how many rows each has."""
    block = block.present
    labels, codes, count = labelled(np.asarray(block.y))
    if None in labels:
        raise InputError("The target has missing labels: drop those rows.")
    return block, labels, codes, count


def _made(parts: Mapping[Hashable, Sums], block: Block) -> ByClass:
    return ByClass.made(parts, np.asarray(block.y).dtype)
