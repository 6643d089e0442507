"""What fills a column, from all of its values at once: for functions of the user's, and for sparse columns.

A sparse column is what is stored of it, and a zero that weighs as much as all rows of which nothing is stored; so a median or a most
frequent value costs a sort of what is stored. Columns are in memory one at a time, the stored values of a sparse table all together.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from qed.base.certificate import Claim
from qed.base.errors import InputError
from qed.base.models.parameters import calling
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows

# A function of values and their weights.
Filling = Callable[[np.ndarray, np.ndarray], float]


def commonest(values: np.ndarray, weights: np.ndarray) -> float:
    """Give the value of the largest weight; of several, the smallest."""
    levels, places = np.unique(values, return_inverse=True)
    return float(levels[np.argmax(np.bincount(places.ravel(), weights))])


@dataclass(frozen=True)
class OfFunction:
    """A function of the user's of the values that are there."""

    function: Callable[[np.ndarray], float]

    def __call__(self, values: np.ndarray, weights: np.ndarray) -> float:
        if (weights != 1).any():
            raise InputError("A function as strategy is not told of weights: repeat the rows, or use another strategy.")
        with calling("strategy", self.function, "the values of a column and give a number"):
            return float(self.function(values))


class ByColumn:
    """Fill with what a function makes of the values of a column and their weights."""

    def __init__(self, filling: Filling) -> None:
        self.filling = filling

    def learn(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        found = self.evidence(rows, None)
        return found, found

    def evidence(self, rows: Rows, values: object) -> np.ndarray:
        full = isinstance(self.filling, OfFunction)
        found = np.full(rows.n_features, np.nan)
        for j, (column, weight) in enumerate(_sparse_columns(rows, full=full) if rows.is_sparse else _columns(rows)):
            there = ~np.isnan(column) & (weight > 0)
            if there.any():
                found[j] = self.filling(column[there], weight[there])
        return found

    def claims(self, values: np.ndarray, found: np.ndarray) -> list[Claim]:
        same = (values == found) | np.isnan(found)
        return [Claim("holes are filled with what the strategy gives", float((~same).sum()), 0.0)]


def _columns(rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give each column and the weights of its rows: a pass for each where the rows are not in memory."""
    weight = rows.map(_weights)
    for j in range(rows.n_features):
        yield np.asarray(rows.map(_column, j), dtype=np.float64), weight


def _weights(block: Block) -> np.ndarray:
    return block.weights


def _column(block: Block, place: int) -> np.ndarray:
    return np.asarray(block.X[:, place])


def _sparse_columns(rows: Rows, *, full: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give what is stored of each column, and one zero for all the rest; or, in `full`, as many zeros as there are."""
    table = rows.array()
    X, weight = sparse.csc_array(table.X), table.weights
    total = float(weight.sum())
    for first, last in zip(X.indptr[:-1], X.indptr[1:]):
        column, own = X.data[first:last].astype(np.float64), weight[X.indices[first:last]]
        if full:
            other = np.delete(weight, X.indices[first:last])
            yield np.append(column, np.zeros(len(other))), np.append(own, other)
        else:
            rest = max(total - float(own.sum()), 0.0) if len(own) < len(weight) else 0.0
            yield np.append(column, 0.0), np.append(own, rest)
