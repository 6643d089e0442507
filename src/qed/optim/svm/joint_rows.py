r"""The machine of all classes row by row: the best multipliers of one row in closed form, and what all of them prove.

With those of the other rows as they are, the multipliers of a row are the lowest point of

.. math:: \tfrac12 \|x\|^2 \|\alpha\|^2 + b^\top \alpha, \qquad \alpha_k \le C [k = y], \qquad \sum_k \alpha_k = 0 .

What each of them lacks to its limit is :math:`\max(0, (d_k - \beta) / \|x\|^2)`, with :math:`d_k = b_k + \|x\|^2 C [k = y]` and the
:math:`\beta` at which they lack :math:`C` together: it is found by leaving out classes below the mean until none is. A visit costs
:math:`O(Kp)`. Rows without multipliers are visited once in a round of passes, which finds those that will need some.

Michelot (1986), A finite algorithm for finding the projection of a point onto the canonical simplex.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from qed.base.compile import kernel
from qed.base.numbers import EPS
from qed.base.random import generator
from qed.base.sources.block import is_sparse
from qed.optim.sparse.sweeps import FAST
from qed.optim.svm.joint import JointProblem

# A step is so many passes, ten more than the last one, and on large tables no more than take a tenth of a second.
MORE, MOST_PASSES, MULTIPLICATIONS = 10, 100, 1e8


class Proven(NamedTuple):
    """What multipliers prove."""

    planes: np.ndarray  # of shape (n_classes, p + 1)
    primal: float
    dual: float
    rounding: float  # what it may do to either

    @property
    def gap(self) -> float:
        return max(self.primal - self.dual, 0.0) / self.primal if self.primal > 0 else 0.0


class JointTable:
    """The rows of a machine of all classes, in memory."""

    def __init__(self, problem: JointProblem) -> None:
        block = problem.rows.array()
        self.one, self.classes = problem.one, problem.classes
        self.X: Any = (
            sparse.csr_array(block.X, dtype=np.float64)
            if is_sparse(block.X)
            else np.ascontiguousarray(block.X, np.float64)
        )
        self.codes = np.asarray(block.y, dtype=np.intp)
        self.cost = problem.C * block.weights * problem.factors[self.codes]
        X: Any = self.X
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if is_sparse(X) else np.einsum("ij,ij->i", X, X)
        self.squares = squares + self.one

    def beginning(self) -> np.ndarray:
        """Give the multipliers to begin with: none, but all of them where a row is zero and its class can not win anyway."""
        found = np.zeros((len(self.codes), self.classes))
        empty = np.flatnonzero(self.squares == 0)
        found[empty, self.codes[empty]] = self.cost[empty]
        found[empty, np.where(self.codes[empty] == 0, 1, 0)] = -self.cost[empty]
        return found

    def passed(self, multipliers: np.ndarray, number: int) -> np.ndarray:
        """Give the multipliers after the passes of a step, of which there were some number before."""
        found, planes = multipliers.copy(), self.planes(multipliers)
        values = self.X.nnz if is_sparse(self.X) else self.X.size
        passes = int(
            np.clip(MULTIPLICATIONS / (self.classes * max(values, 1)), 1, min(MORE * (number + 1), MOST_PASSES))
        )
        random, busy = generator(0, "rows", number), np.ones(len(self.codes), dtype=np.bool_)
        busy[(self.squares == 0) | (self.cost == 0)] = False
        for _ in range(passes):
            order = random.permutation(np.flatnonzero(busy))
            given = (order, self.codes, self.cost, self.squares, self.one, planes, found, busy)
            if is_sparse(self.X):
                places = self.X.indices.astype(np.int64), self.X.indptr.astype(np.int64)
                visit_sparse(self.X.data, *places, *given)
            else:
                visit_dense(self.X, *given)
        return self.inside(found)

    def inside(self, multipliers: np.ndarray) -> np.ndarray:
        """Give multipliers that are inside their limits, and of sum zero for every row, but for the last digit."""
        places = np.arange(len(self.codes)), self.codes
        found = np.minimum(multipliers, 0.0)
        found[places] = 0.0
        total = -found.sum(axis=1)
        found *= np.minimum(1.0, self.cost / np.where(total > 0, total, 1.0))[:, None]
        found[places] = -found.sum(axis=1)
        return found

    def planes(self, multipliers: np.ndarray) -> np.ndarray:
        """Add up the rows times their multipliers, of shape (n_classes, p + 1)."""
        return np.column_stack([np.asarray(self.X.T @ multipliers).T, self.one * multipliers.sum(axis=0)])

    def judged(self, multipliers: np.ndarray, planes: np.ndarray | None = None) -> Proven:
        """Work out the objectives of multipliers inside their limits, and of planes: theirs, or those given."""
        own, places = self.planes(multipliers), (np.arange(len(self.codes)), self.codes)
        planes = own if planes is None else planes
        score = np.asarray(self.X @ planes[:, :-1].T) + self.one * planes[:, -1]
        margin = 1.0 + score - score[places][:, None]
        margin[places] = 0.0
        pulls, length = multipliers[places], np.linalg.norm(planes, axis=1).max()
        half, other = (planes**2).sum() / 2, (own**2).sum() / 2
        # A sum of p products is off by p last digits of what it adds up, at most, whether it is a score or a plane.
        size = 1 + 2 * max(1.0, self.X.shape[1] / 64) * np.sqrt(self.squares) * length
        reach = float(self.cost @ size + pulls @ size + half + other)
        primal, dual = half + self.cost @ margin.max(axis=1), pulls.sum() - other
        return Proven(planes, float(primal), float(dual), 64 * EPS * reach)

    def outside(self, multipliers: np.ndarray) -> float:
        """Say by how much multipliers are outside their limits or do not sum to zero, relative to the costs of their rows."""
        limit = np.zeros_like(multipliers)
        limit[np.arange(len(self.codes)), self.codes] = self.cost
        off = np.maximum(np.abs(multipliers.sum(axis=1)), (multipliers - limit).max(axis=1))
        return float(np.max(off / np.where(self.cost > 0, self.cost, 1.0), initial=0.0))


@kernel(within=True)
def best(slope: Any, square: float, cost: float, own: int, multipliers: Any, moves: Any) -> bool:
    """Set the moves to the best multipliers of a row, from ``score + [k is another class]``; say whether it has any, or moves."""
    classes = len(slope)
    total = 0.0
    for k in range(classes):
        slope[k] -= square * multipliers[k]
        if k == own:
            slope[k] += square * cost
        total += slope[k]
    count, level = classes, (total - square * cost) / classes
    while True:
        total, above = 0.0, 0
        for k in range(classes):
            if slope[k] > level:
                total += slope[k]
                above += 1
        if above == 0 or above >= count:
            break
        count, level = above, (total - square * cost) / above
    busy = False
    for k in range(classes):
        limit = cost if k == own else 0.0
        new = limit - max(0.0, (slope[k] - level) / square)
        moves[k] = new - multipliers[k]
        multipliers[k] = new
        busy = busy or new != 0.0 or moves[k] != 0.0
    return busy


@kernel(fastmath=FAST)
def visit_dense(
    X: Any, order: Any, codes: Any, cost: Any, squares: Any, one: float, planes: Any, multipliers: Any, busy: Any
) -> None:
    """Give rows their best multipliers, one after another; planes follow, and `busy` says which rows have some, or moved."""
    classes, p = len(planes), X.shape[1]
    slope, moves = np.empty(classes), np.empty(classes)
    for i in order:
        for k in range(classes):
            total = one * planes[k, p]
            for j in range(p):
                total += planes[k, j] * X[i, j]
            slope[k] = total + (0.0 if k == codes[i] else 1.0)
        busy[i] = best(slope, squares[i], cost[i], codes[i], multipliers[i], moves)
        for k in range(classes):
            if moves[k] != 0.0:
                for j in range(p):
                    planes[k, j] += moves[k] * X[i, j]
                planes[k, p] += moves[k] * one


@kernel(fastmath=FAST)
def visit_sparse(
    data: Any,
    indices: Any,
    ends: Any,
    order: Any,
    codes: Any,
    cost: Any,
    squares: Any,
    one: float,
    planes: Any,
    multipliers: Any,
    busy: Any,
) -> None:
    """Do what `visit_dense` does, for rows that are stored without their zeros."""
    classes, p = len(planes), planes.shape[1] - 1
    slope, moves = np.empty(classes), np.empty(classes)
    for i in order:
        for k in range(classes):
            total = one * planes[k, p]
            for place in range(ends[i], ends[i + 1]):
                total += planes[k, indices[place]] * data[place]
            slope[k] = total + (0.0 if k == codes[i] else 1.0)
        busy[i] = best(slope, squares[i], cost[i], codes[i], multipliers[i], moves)
        for k in range(classes):
            if moves[k] != 0.0:
                for place in range(ends[i], ends[i + 1]):
                    planes[k, indices[place]] += moves[k] * data[place]
                planes[k, p] += moves[k] * one
