"""Statistics of columns for each class, from one reading of a block: means and spreads (`Summary`), or sums (`Sums`)."""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import numpy as np

from qed.base.counts import Counts
from qed.base.errors import InputError
from qed.base.models.labels import encode
from qed.base.sources.block import Block, is_sparse
from qed.base.summary import COMPILED_FROM, TILE_ROWS, Summary
from qed.stats.by_class import ByClass
from qed.stats.classes.sums import Sums

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
    block, labels, codes = _coded(block)
    if len(labels) > MOST_CLASSES:
        return ByClass.of(block, Summary.of)
    from qed.stats.classes.kernel import spread_by_class

    X = np.ascontiguousarray(block.X)
    total, mean, deviation = spread_by_class(X, codes, block.weights, len(labels), TILE_ROWS)
    count, p = np.bincount(codes, minlength=len(labels)), X.shape[1]
    # The range is not looked at. A missing value shows as a mean that is not finite.
    unknown, none = np.full(p, np.nan), np.zeros(p, np.int64)
    parts: dict[Hashable, Summary] = {
        label: Summary(int(count[k]), np.full(p, total[k]), mean[k], deviation[k], unknown, unknown, none)
        for k, label in enumerate(labels)
    }
    return _made(parts, block)


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
    block, labels, codes = _coded(Block(X, block.y, block.weight))
    from qed.stats.classes.kernel import add_ones, add_rows, add_stored, add_stored_ones

    X, weight = block.X, np.ascontiguousarray(block.weights, dtype=np.float64)
    total, squares = np.zeros((2, len(labels), X.shape[1]))
    if is_sparse(X) and above is None:
        both = np.zeros((*total.shape, 2))
        add_stored(X.data, X.indices, X.indptr, codes, weight, both)
        total, squares = np.ascontiguousarray(np.moveaxis(both, 2, 0))
    elif above is None:
        add_rows(X, codes, weight, total, squares)
    elif is_sparse(X):
        add_stored_ones(X.data, X.indices, X.indptr, codes, weight, above, total)
    else:
        add_ones(X, codes, weight, above, total)
    squares = squares if above is None else total
    mass, count = np.bincount(codes, weight, len(labels)), np.bincount(codes, minlength=len(labels))
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


def _coded(block: Block) -> tuple[Block, list[Hashable], np.ndarray]:
    """Leave out rows without weight; give the labels of the others, in order, and the number of each row's."""
    if block.weight is not None and not block.weight.all():
        block = block.take(block.weight > 0)
    labels = Counts.of(block).values()
    if None in labels:
        raise InputError("The target has missing labels: drop those rows.")
    y = np.asarray(block.y)
    return block, labels, encode(y, np.array(labels, dtype=y.dtype))


def _made(parts: Mapping[Hashable, Summary | Sums], block: Block) -> ByClass:
    return ByClass.made(parts, np.asarray(block.y).dtype)
