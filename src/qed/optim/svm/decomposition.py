r"""A large part of the dual of a support vector machine, some hundred variables at a time.

The variables that violate the optimality conditions most are optimised among themselves (:mod:`qed.optim.svm.smo`) with the rows of the
Gram matrix that this needs, and :math:`f = p - K\beta` follows for all others. *Shrinking*: a variable at its bound whose :math:`f`
lies well beyond those of all pairs that are still out of order will most likely stay there, so :math:`f` no longer follows for it, and
rows get shorter. Rows in single precision, and variables that were set aside, only choose the way: whenever what is left seems to
be solved, :math:`f` is worked out anew for all, in double precision, and the gap is judged from that.

Joachims (1999), Making large-scale SVM learning practical.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from qed.kernels.gram.rows import GramRows
from qed.kernels.similarity import Similarity
from qed.optim.svm.smo import balance, descend, judge

# So many variables are optimised at a time, half of them new ones.
AT_ONCE = 512
# So many pairs are moved among them at most.
MOVES = 20_000
# Variables are set aside that are this much of the widest violation beyond all that violate, once this share of all would be left.
FARTHER, WORTH_SHRINKING = 0.5, 0.7


class Part(NamedTuple):
    """What is to be solved, for each variable: the row it belongs to, its linear coefficient and its bounds."""

    similarity: Similarity
    X: Any
    row: np.ndarray
    p: np.ndarray
    low: np.ndarray
    high: np.ndarray
    hard: bool  # whether there are no bounds, and no slack
    memory: float  # bytes that rows of the Gram matrix may take


class Point(NamedTuple):
    """Where the solver is in a part."""

    beta: np.ndarray
    f: np.ndarray  # of variables that were set aside, what it was then
    found: np.ndarray  # the constant b, the dual and the primal objective
    work: np.ndarray  # the numbers of the variables that were not set aside
    kept: np.ndarray  # of those that were optimised last
    exact: bool  # whether f was worked out in double precision for all

    def is_solved(self, tol: float) -> bool:
        """Say whether the gap is at most `tol` of the primal objective."""
        _, dual, primal = self.found
        return bool(np.isfinite(primal) and primal - dual <= tol * primal)


class _Front:
    """The variables in work, close together."""

    def __init__(self, part: Part, point: Point) -> None:
        self.numbers = point.work
        self.p, self.low, self.high = part.p[self.numbers], part.low[self.numbers], part.high[self.numbers]
        self.f, self.beta = point.f[self.numbers], point.beta[self.numbers]
        inside, self.row = np.unique(part.row[self.numbers], return_inverse=True)
        self.source = GramRows(part.similarity, part.similarity.chosen(part.X, inside), part.memory, AT_ONCE)

    def move(self, kept: np.ndarray, apart: float) -> tuple[int, np.ndarray, float]:
        """Optimise some variables: give how many pairs were moved, the variables, and by how much the dual objective has grown."""
        chosen = _worst(self.f, self.beta, self.low, self.high, np.searchsorted(self.numbers, kept))
        if len(chosen) < 2:
            return 0, chosen, 0.0
        K, inner, after = self.source.among(self.row[chosen]), self.f[chosen], self.beta[chosen]
        moved = descend(K, inner, after, self.low[chosen], self.high[chosen], 0.1 * apart, MOVES)
        change = after - self.beta[chosen]
        grown = float(change @ (self.f[chosen] + inner)) / 2
        self.beta[chosen] = after
        some = change != 0
        self.f -= self.source.combined(self.row[chosen][some], change[some])[self.row]
        return moved, chosen, grown


def decomposed(part: Part, point: Point, products: Callable[[np.ndarray], np.ndarray], tol: float) -> Iterator[Point]:
    """Give one point after another until the part is solved or can not be moved; `products` gives ``K beta`` in double precision."""
    front = _Front(part, point)
    while not (point.exact and point.is_solved(tol)):
        apart = judge(front.p, front.f, front.beta, front.low, front.high, part.hard)[3]
        moved, chosen, grown = front.move(point.kept, apart)
        if moved == 0 and point.exact:
            return
        point = _followed(part, front, point, grown)._replace(kept=front.numbers[chosen[: AT_ONCE // 2]])
        if moved == 0 or point.is_solved(tol):
            point = exactly(part, point, products)
            front = _Front(part, point) if not point.is_solved(tol) else front
        elif len(left := _left(front)) < WORTH_SHRINKING * len(front.numbers):
            point = point._replace(work=front.numbers[left], kept=np.intersect1d(point.kept, front.numbers[left]))
            front = _Front(part, point)
        yield point


def exactly(part: Part, point: Point, products: Callable[[np.ndarray], np.ndarray]) -> Point:
    """Give a point with f worked out in double precision for all variables, which are all in work again."""
    beta = point.beta.copy()
    balance(beta, part.low, part.high)
    f = part.p - products(beta)
    found = np.array(judge(part.p, f, beta, part.low, part.high, part.hard)[:3])
    return Point(beta, f, found, np.arange(len(f)), point.kept, True)


def _followed(part: Part, front: _Front, point: Point, grown: float) -> Point:
    """Give the point after a move. What was set aside adds nothing to the gap, as far as is known."""
    beta, f = point.beta.copy(), point.f.copy()
    beta[front.numbers], f[front.numbers] = front.beta, front.f
    b, dual, primal, _ = judge(front.p, front.f, front.beta, front.low, front.high, part.hard)
    value = point.found[1] + grown
    return Point(beta, f, np.array([b, value, value + (primal - dual)]), point.work, point.kept, False)


def _left(front: _Front) -> np.ndarray:
    """Choose the variables that may still be out of order: those at a bound with f far on its right side are not."""
    f, up, down = front.f, front.beta < front.high, front.beta > front.low
    top, bottom = f[up].max(initial=-np.inf), f[down].min(initial=np.inf)
    wide = FARTHER * (top - bottom)
    return np.flatnonzero((up & (f > bottom - wide)) | (down & (f < top + wide)))


def _worst(f: np.ndarray, beta: np.ndarray, low: np.ndarray, high: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Choose the variables that violate the order most, from both ends, and then those that were chosen last."""
    up, down = beta < high, beta > low
    top, bottom = f[up].max(initial=-np.inf), f[down].min(initial=np.inf)
    growing, shrinking = np.flatnonzero(up & (f > bottom)), np.flatnonzero(down & (f < top))
    each = AT_ONCE // 4 if len(kept) else AT_ONCE // 2
    growing, shrinking = growing[_least(-f[growing], each)], shrinking[_least(f[shrinking], each)]
    chosen = np.concatenate([growing, shrinking, kept])
    first = np.sort(np.unique(chosen, return_index=True)[1])
    return np.asarray(chosen[first][:AT_ONCE])


def _least(values: np.ndarray, count: int) -> np.ndarray:
    """Say where the `count` least values are, of equal ones the first.

    >>> _least(np.array([3.0, 1.0, 2.0, 2.0]), 2)
    array([1, 2])
    """
    if len(values) <= count:
        return np.arange(len(values))
    limit = np.partition(values, count - 1)[count - 1]
    below, equal = np.flatnonzero(values < limit), np.flatnonzero(values == limit)
    return np.concatenate([below, equal[: count - len(below)]])
