"""Sums over the rows of a likelihood: its curve at some parameters, and products with its Hessian there.

Every source is folded block by block. The chances of rows in memory are kept from the curve to the products, so that a product is two
readings of the table and no exponentials; a table in memory with two classes is read in compiled passes, once for each.
"""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np

from qed.base.engine import add_pairwise, work
from qed.base.sources.block import block_rows
from qed.base.sources.rows import ArrayRows, Rows
from qed.linalg.design import column_sums, gram_times
from qed.linalg.sharing import products_of_rows
from qed.optim.functions.logistic_kernel import (
    PAGE_ROWS,
    bent_columns,
    bent_rows,
    logistic_columns,
    logistic_rows,
    sparse_logistic_rows,
)
from qed.optim.functions.softmax import Curve, SoftmaxLoss

# Stored values of a task for a thread, at least, which outweigh handing it over, and tasks at most; with few values nothing is compiled.
TASK_VALUES, MOST_TASKS = 1 << 18, 64
COMPILED_FROM = 1 << 16
# Of so many chances, half a gigabyte, none are kept.
MOST_KEPT = 1 << 26


class Sums:
    """The sums over rows of any source.

    Parameters
    ----------
    rows : Rows
        The rows; their target holds class numbers.
    loss : SoftmaxLoss
        The loss.
    """

    def __init__(self, rows: Rows, loss: SoftmaxLoss) -> None:
        self.rows, self.loss = rows, loss
        self.kept: tuple[np.ndarray, np.ndarray] | None = None

    def curve(self, theta: np.ndarray, kind: str, directions: tuple[np.ndarray, ...] = ()) -> Curve:
        """Give the loss with its derivatives; see `SoftmaxLoss.of`."""
        found: Curve
        if not self._keeps or len(self.loss.coding) == 1:
            found = self.rows.fold(self.loss.of, theta, kind, directions)
            return found
        rows, chances = self.rows, np.empty((self.rows.count(), self.loss.coding.shape[1]))
        found = rows.fold(self.loss.of, theta, kind, directions, chances, rows.first)  # type: ignore[attr-defined]
        self.kept = theta, chances
        return found

    @cached_property
    def _keeps(self) -> bool:
        """Whether chances are kept: of rows in memory that all have a weight, if they are not too many."""
        rows, n_classes = self.rows, self.loss.coding.shape[1]
        if not isinstance(rows, ArrayRows) or rows.facts.is_mapped or rows.count() * n_classes > MOST_KEPT:
            return False
        return bool((rows.weight is None or rows.weight.all()) and self.loss.class_weight.all())

    def diagonal(self, theta: np.ndarray) -> np.ndarray:
        """Give the diagonal of the Hessian, of shape (m, q)."""
        return self.curve(theta, "diagonal").diagonal

    def blocks(self, theta: np.ndarray, *, roughly: bool = False) -> dict[tuple[int, int], np.ndarray]:
        """Give the block of the Hessian that belongs to each class; in single precision, if that will do and is faster."""
        return dict(self.rows.fold(self.loss.of, theta, "blocks").blocks)

    def flattest(self, theta: np.ndarray) -> np.ndarray:
        """Give a matrix that the Hessian is at least, for every class; see `SoftmaxLoss.flattest`."""
        if self._keeps and self.kept is not None and self.kept[0] is theta and len(self.loss.coding) > 1:
            first = self.rows.first  # type: ignore[attr-defined]
            return np.asarray(self.rows.fold(self.loss.flattest, theta, self.kept[1], first))
        return np.asarray(self.rows.fold(self.loss.flattest, theta))

    def times(self, theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Give the product of the Hessian at `theta` with a direction."""
        if not self._keeps:
            return np.asarray(self.rows.fold(self.loss.times, theta, direction))
        if self.kept is None or self.kept[0] is not theta:
            self.kept = theta, self.rows.map(self.loss.chances, theta)
        first = self.rows.first  # type: ignore[attr-defined]
        return np.asarray(self.rows.fold(self.loss.times_known, self.kept[1], first, direction))


class SmallSums(Sums):
    """The sums over rows of a small dense table in memory with two classes, for which nothing is compiled or cut into blocks."""

    def __init__(self, rows: ArrayRows, loss: SoftmaxLoss) -> None:
        super().__init__(rows, loss)
        codes = np.asarray(rows.y)
        weight = loss.class_weight[codes] if rows.weight is None else loss.class_weight[codes] * rows.weight
        kept = slice(None) if weight.all() else weight > 0
        X, self.weight, self.sign = rows.X[kept], weight[kept], 2.0 * codes[kept] - 1.0
        self.table = np.ones((len(X), loss.shape[1]))
        self.table[:, : len(loss.scale)] = (X - loss.shift) / loss.scale

    @staticmethod
    def suits(rows: Rows, loss: SoftmaxLoss) -> bool:
        """Say whether rows are such a table."""
        dense = isinstance(rows, ArrayRows) and not rows.facts.is_mapped and isinstance(rows.X, np.ndarray)
        return dense and len(loss.coding) == 1 and rows.X.size < COMPILED_FROM  # type: ignore[attr-defined]

    def curve(self, theta: np.ndarray, kind: str, directions: tuple[np.ndarray, ...] = ()) -> Curve:
        """Give the loss with its derivatives; what separates the classes is left to the fold."""
        if directions or kind not in ("full", "none"):
            return super().curve(theta, kind, directions)
        lead = self.sign * (self.table @ theta[0])
        small = np.exp(-np.abs(lead))
        certain = 1.0 / (1.0 + small)
        wrong = np.where(lead >= 0, small * certain, certain)
        value = float(self.weight @ (np.log1p(small) - np.minimum(lead, 0.0)))
        pull, bend = self.weight * wrong, self.weight * (small * certain * certain)
        blocks = {(1, 1): (self.table.T * bend) @ self.table} if kind == "full" else {}
        least, none = float(bend.sum()), np.zeros((0, 2))
        gradient = -((self.sign * pull) @ self.table)[None]
        zero = np.zeros(self.loss.shape)
        return Curve(value, gradient, blocks, zero, float(pull.sum()), least, np.full(2, least), none, none[:, 0])


class TwoClassSums(Sums):
    """The sums over rows of a table in memory with two classes, in compiled passes; the same for any number of threads.

    A table that is stored by columns stays so, unless some rows have no weight, which may hold anything.
    """

    rows: ArrayRows

    def __init__(self, rows: ArrayRows, loss: SoftmaxLoss) -> None:
        super().__init__(rows, loss)
        X, self.codes = rows.X, np.asarray(rows.y)
        weight = loss.class_weight[self.codes]
        self.weight = weight if rows.weight is None else weight * rows.weight
        self.table: tuple[np.ndarray, ...]
        if rows.is_sparse:
            self.table, self._curve_of = (X.data, X.indices, X.indptr), sparse_logistic_rows
        elif X.flags.f_contiguous and not X.flags.c_contiguous and self.weight.all():
            self.table, self._curve_of, self._times = (X,), logistic_columns, bent_columns
        else:
            self.table, self._curve_of, self._times = (np.ascontiguousarray(X),), logistic_rows, bent_rows
        values = max(1, X.nnz if rows.is_sparse else X.size)
        size = max(1, max(TASK_VALUES, values // MOST_TASKS) * len(weight) // values)
        size = max(size, PAGE_ROWS) if self._curve_of is logistic_columns else size
        self.parts = [(start, min(start + size, len(weight))) for start in range(0, len(weight), size)]

    @staticmethod
    def suits(rows: Rows, loss: SoftmaxLoss) -> bool:
        """Say whether rows are such a table, and large enough to compile a pass for."""
        if not isinstance(rows, ArrayRows) or rows.facts.is_mapped or len(loss.coding) > 1:
            return False
        size = rows.X.nnz if hasattr(rows.X, "nnz") else rows.X.size if isinstance(rows.X, np.ndarray) else 0
        return bool(size >= COMPILED_FROM)

    def curve(self, theta: np.ndarray, kind: str, directions: tuple[np.ndarray, ...] = ()) -> Curve:
        """Give the loss with its gradient; more is left to the fold."""
        if kind != "none" or directions:
            return super().curve(theta, kind, directions)
        bend = np.empty(len(self.weight))
        found = add_pairwise(work(partial(self._slope, part, theta, bend) for part in self.parts))
        self.kept = theta, bend
        value, missed, least = found[-3:].tolist()
        none = np.zeros((0, 2))
        slope, zero, bent = self._scaled(found[:-3]), np.zeros(self.loss.shape), np.full(2, least)
        return Curve(value, slope, {}, zero, missed, least, bent, none, none[:, 0])

    def diagonal(self, theta: np.ndarray) -> np.ndarray:
        p, bend = len(self.loss.scale), self._bend(theta)
        square: np.ndarray = add_pairwise(work(partial(self._squares, part, bend) for part in self.parts))
        return self._scaled(np.append(square / self.loss.scale, bend.sum()))[:, : p + 1]

    def blocks(self, theta: np.ndarray, *, roughly: bool = False) -> dict[tuple[int, int], np.ndarray]:
        p, q, bend = len(self.loss.scale), self.loss.shape[1], self._bend(theta)
        if self.rows.is_sparse or len(bend) > block_rows(p):
            return super().blocks(theta)
        # What one block holds is multiplied out in tiles that threads share.
        bent = slice(None) if bend.all() else bend > 0
        root = np.sqrt(bend[bent])
        Z = np.empty((len(root), q), np.float32 if roughly else np.float64)
        with np.errstate(over="ignore"):
            np.subtract(self.rows.X[bent], self.loss.shift, out=Z[:, :p], casting="same_kind")
            Z[:, :p] /= self.loss.scale
            Z[:, p:] = 1.0
            Z *= root[:, None]
        return {(1, 1): products_of_rows(Z.T)}

    def times(self, theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        p = len(self.loss.scale)
        bend, constant = self._bend(theta), float(direction[0, p]) if self.loss.intercept else 0.0
        args = (bend, constant, direction[0, :p] / self.loss.scale)
        return self._scaled(add_pairwise(work(partial(self._product, part, *args) for part in self.parts)))

    def _bend(self, theta: np.ndarray) -> np.ndarray:
        """Give the curvature of each row's score."""
        if self.kept is None or self.kept[0] is not theta:
            self.curve(theta, "none")
        assert self.kept is not None
        return self.kept[1]

    def _scaled(self, found: np.ndarray) -> np.ndarray:
        p = len(self.loss.scale)
        return np.append(found[:p] / self.loss.scale, found[p:])[None, : self.loss.shape[1]]

    def _slope(self, part: tuple[int, int], theta: np.ndarray, bend: np.ndarray) -> np.ndarray:
        p = len(self.loss.scale)
        out, constant = np.zeros(p + 4), float(theta[0, p]) if self.loss.intercept else 0.0
        line = (theta[0, :p] / self.loss.scale, constant, out[: p + 1], bend)
        shift = () if self.rows.is_sparse else (self.loss.shift,)
        out[p + 1 :] = self._curve_of(*self.table, *part, self.codes, self.weight, *shift, *line)
        return out

    def _squares(self, part: tuple[int, int], bend: np.ndarray) -> np.ndarray:
        """Give the sums of the squares of some rows' shifted values, times their curvature."""
        p, (start, stop) = len(self.loss.scale), part
        if not self.rows.is_sparse:
            bent = bend[start:stop]
            rows = self.table[0][start:stop] if bent.all() else self.table[0][start + np.flatnonzero(bent)]
            shifted = rows - self.loss.shift if self.loss.shift.any() else rows.astype(np.float64, copy=False)
            return np.asarray(bent[bent > 0] @ (shifted * shifted))
        data, indices, indptr = self.table
        square, filled, counts = np.zeros((3, p))
        column_sums(data, indices, indptr[start : stop + 1], bend[start:stop], self.loss.shift, square, filled, counts)
        return square

    def _product(self, part: tuple[int, int], bend: np.ndarray, constant: float, vector: np.ndarray) -> np.ndarray:
        out = np.zeros(len(vector) + 1)
        if self.rows.is_sparse:
            out[-1] = gram_times(*self.table, bend, *part, -constant, vector, out)
        else:
            self._times(*self.table, *part, bend, self.loss.shift, vector, constant, out)
        return out
