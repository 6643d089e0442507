r"""The machine of all classes row by row: the best multipliers of one row in closed form, and what all of them prove.

With those of the other rows as they are, the multipliers of a row are the lowest point of

.. math:: \tfrac12 \|x\|^2 \|\alpha\|^2 + b^\top \alpha, \qquad \alpha_k \le C [k = y], \qquad \sum_k \alpha_k = 0 .

What each of them lacks to its limit is :math:`\max(0, (d_k - \beta) / \|x\|^2)`, with :math:`d_k = b_k + \|x\|^2 C [k = y]` and the
:math:`\beta` at which they lack :math:`C` together: it is found by leaving out classes below the mean until none is. A visit costs
:math:`O(Kp)`, and most need not be made. At the minimum slopes :math:`\|x\|^2 \alpha_k + b_k` are the same for all classes that are not at
their limit, and less for those that are; so a class at its limit whose slope is below those of the others is set aside until slopes agree
as well as a step asks for, and a row with it once a single class is left.

Michelot (1986), A finite algorithm for finding the projection of a point onto the canonical simplex; Keerthi et al. (2008), see
:mod:`qed.optim.svm.joint`.
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

# Every step makes the slopes of each row agree so much better than the last one, if so many multiplications, or turns, are enough.
BETTER, MOST, TURNS = 0.1, 1 << 22, 8
# What is around a product of a row and a plane takes as long as so many multiplications.
AROUND = 16
# Slopes that differ by less are the same.
SAME = 1e-12
# The next number of Knuth's linear congruential generator, of whose 64 bits the first are the best.
FACTOR, MORE, LAST_BITS = np.uint64(6364136223846793005), np.uint64(1442695040888963407), np.uint64(33)


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
        rows = np.flatnonzero((self.squares > 0) & (self.cost > 0))
        state = generator(0, "rows", number).integers(1 << 62, size=1, dtype=np.uint64)
        most = max(MOST, TURNS * self.classes * int(self.X.nnz if is_sparse(self.X) else self.X.size))
        given = (rows, self.codes, self.cost, self.squares, self.one, planes, found, state, BETTER**number, most)
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
        pulls, lengths = multipliers[places], np.sqrt(self.squares)
        half, other = (planes**2).sum() / 2, (own**2).sum() / 2
        # A score is a sum of p products, and is off by p last digits of what it adds up, at most; a plane of the multipliers is one of n.
        # That plane may be far longer than the given one, where a fit ends early.
        scores = 1 + 2 * max(1.0, self.X.shape[1] / 64) * lengths * np.linalg.norm(planes, axis=1).max()
        sums = 1 + 2 * max(1.0, len(self.codes) / 64) * lengths * np.linalg.norm(own, axis=1).max()
        reach = float(self.cost @ scores + pulls @ sums + half + other)
        primal, dual = half + self.cost @ margin.max(axis=1), pulls.sum() - other
        return Proven(planes, float(primal), float(dual), 64 * EPS * reach)

    def outside(self, multipliers: np.ndarray) -> float:
        """Say by how much multipliers are outside their limits or do not sum to zero, relative to the costs of their rows."""
        limit = np.zeros_like(multipliers)
        limit[np.arange(len(self.codes)), self.codes] = self.cost
        off = np.maximum(np.abs(multipliers.sum(axis=1)), (multipliers - limit).max(axis=1))
        return float(np.max(off / np.where(self.cost > 0, self.cost, 1.0), initial=0.0))


@kernel(within=True)
def shuffle(order: Any, count: int, state: Any) -> None:
    """Put the first numbers of `order` into a random order."""
    for t in range(count - 1, 0, -1):
        state[0] = state[0] * FACTOR + MORE
        place = np.int64((state[0] >> LAST_BITS) % np.uint64(t + 1))
        order[t], order[place] = order[place], order[t]


@kernel(within=True)
def apart(slope: Any, cost: float, own: int, multipliers: Any, active: Any) -> float:
    """Set aside classes that are best at their limits; say how far apart the slopes of the others are, or -1 where one is left at most."""
    least, most, left = np.inf, -np.inf, 0
    for k in range(len(slope)):
        if active[k] and multipliers[k] < (cost if k == own else 0.0):
            least = min(least, slope[k])
    for k in range(len(slope)):
        if active[k] and multipliers[k] >= (cost if k == own else 0.0) and slope[k] < least:
            active[k] = False
        if active[k]:
            most = max(most, slope[k])
            left += 1
    return most - least if left > 1 else -1.0


@kernel(within=True)
def best(slope: Any, square: float, cost: float, own: int, active: Any, multipliers: Any, moves: Any) -> None:
    """Set the moves to the best multipliers of the active classes of a row, from ``score + [k is another class]``."""
    total, count = -square * cost, 0
    for k in range(len(slope)):
        if active[k]:
            slope[k] += square * ((cost if k == own else 0.0) - multipliers[k])
            total += slope[k]
            count += 1
    level = total / count
    while True:
        total, above = -square * cost, 0
        for k in range(len(slope)):
            if active[k] and slope[k] > level:
                total += slope[k]
                above += 1
        if above == 0 or above >= count:
            break
        count, level = above, total / above
    for k in range(len(slope)):
        moves[k] = 0.0
        if active[k]:
            new = (cost if k == own else 0.0) - max(0.0, (slope[k] - level) / square)
            moves[k] = new - multipliers[k]
            multipliers[k] = new


@kernel(fastmath=FAST)
def visit_dense(
    X: Any, order: Any, codes: Any, cost: Any, squares: Any, one: float, planes: Any, multipliers: Any, state: Any,
    enough: float, most: int,
) -> None:  # fmt: skip
    """Give rows their best multipliers, in turn, in one random order after another, until slopes of no row are further apart than `enough`.

    Planes follow. It ends after a turn that makes more than `most` multiplications with the ones before.
    """
    classes, p, count = len(planes), X.shape[1], len(order)
    slope, moves, active = np.empty(classes), np.empty(classes), np.ones((len(X), classes), np.bool_)
    worst, made = np.inf, 0
    while worst > enough and made < most and count > 0:
        shuffle(order, count, state)
        worst, left = 0.0, 0
        for t in range(count):
            i = order[t]
            for k in range(classes):
                if active[i, k]:
                    total = one * planes[k, p]
                    for j in range(p):
                        total += planes[k, j] * X[i, j]
                    slope[k] = total + (0.0 if k == codes[i] else 1.0)
                    made += p + AROUND
            off = apart(slope, cost[i], codes[i], multipliers[i], active[i])
            if off >= 0.0:
                order[left] = i
                left += 1
            if off <= SAME:
                continue
            worst = max(worst, off)
            best(slope, squares[i], cost[i], codes[i], active[i], multipliers[i], moves)
            for k in range(classes):
                if moves[k] != 0.0:
                    for j in range(p):
                        planes[k, j] += moves[k] * X[i, j]
                    planes[k, p] += moves[k] * one
        count = left


@kernel(fastmath=FAST)
def visit_sparse(
    data: Any, indices: Any, ends: Any, order: Any, codes: Any, cost: Any, squares: Any, one: float, planes: Any,
    multipliers: Any, state: Any, enough: float, most: int,
) -> None:  # fmt: skip
    """Do what `visit_dense` does, for rows that are stored without their zeros."""
    classes, p, count = len(planes), planes.shape[1] - 1, len(order)
    slope, moves, active = np.empty(classes), np.empty(classes), np.ones((len(codes), classes), np.bool_)
    worst, made = np.inf, 0
    while worst > enough and made < most and count > 0:
        shuffle(order, count, state)
        worst, left = 0.0, 0
        for t in range(count):
            i = order[t]
            for k in range(classes):
                if active[i, k]:
                    total = one * planes[k, p]
                    for place in range(ends[i], ends[i + 1]):
                        total += planes[k, indices[place]] * data[place]
                    slope[k] = total + (0.0 if k == codes[i] else 1.0)
                    made += ends[i + 1] - ends[i] + AROUND
            off = apart(slope, cost[i], codes[i], multipliers[i], active[i])
            if off >= 0.0:
                order[left] = i
                left += 1
            if off <= SAME:
                continue
            worst = max(worst, off)
            best(slope, squares[i], cost[i], codes[i], active[i], multipliers[i], moves)
            for k in range(classes):
                if moves[k] != 0.0:
                    for place in range(ends[i], ends[i + 1]):
                        planes[k, indices[place]] += moves[k] * data[place]
                    planes[k, p] += moves[k] * one
        count = left
