r"""The dual of a support vector machine on any number of rows: small ones at once, large ones some hundred variables at a time.

The problem (see :mod:`qed.optim.svm.smo`) may have several *parts* that share the table, one for each pair of classes. Where the Gram
matrix of all rows is small it is worked out once, and all parts are settled inside few compiled calls. Otherwise parts are solved one
after another by decomposition (:mod:`qed.optim.svm.decomposition`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, repeat
from typing import Any, NamedTuple, cast

import numpy as np

from qed.base.compile import interpreted
from qed.base.engine import work
from qed.base.numbers import TINY
from qed.kernels.gram.sums import combined
from qed.kernels.similarity import Similarity
from qed.optim.svm.decomposition import Part, Point, decomposed, exactly
from qed.optim.svm.smo import among, balance, descend, judge, multiply, settle_parts

# Up to so many rows the Gram matrix is held as a whole.
MOST_WHOLE = 2500
# So many pairs are moved between two steps.
MOVES = 4000
# With no more variables than this pairs cost so little that the gap is taken on to rounding.
FEW, AIM = 5000, 1e-12
TASKS = 4
# With no more variables than this plain Python is done before the kernels would be compiled, or even loaded.
SMALLEST = 48
# What does not depend on the bounds.
FROM_ROWS = ("gram", "members", "part_of", "_order")


class State(NamedTuple):
    """Where a solver is: multipliers and f of all variables, part after part, and what is known of each part."""

    beta: np.ndarray
    f: np.ndarray
    found: np.ndarray  # of shape (parts, 3): the constant b, the dual and the primal objective
    work: np.ndarray  # variables of the part in work that were not set aside,
    kept: np.ndarray  # those of them that were optimised last,
    exact: bool  # and whether f was worked out in double precision for all
    part: int  # which part is in work
    slopes: np.ndarray  # of shape (parts, p), where the problem was solved by columns; else empty

    @property
    def gaps(self) -> np.ndarray:
        """Primal less dual objective of each part, relative to the primal one."""
        return relative_gaps(self.found[:, 1], self.found[:, 2])


def relative_gaps(dual: np.ndarray, primal: np.ndarray) -> np.ndarray:
    """Give primal less dual objectives, relative to the primal ones; infinity where there is no primal one yet.

    >>> relative_gaps(np.array([1.0, 0.0]), np.array([2.0, np.inf]))
    array([0.5, inf])
    """
    known = np.isfinite(primal)
    above = np.maximum(np.where(known, primal, 0.0) - dual, 0.0) / np.where(known & (primal > 0), primal, 1.0)
    return np.where(known, above, np.inf)


@dataclass(frozen=True, eq=False)
class DualProblem:
    """What is to be solved: for each variable its row, its linear coefficient and its bounds; the parts lie one after another."""

    similarity: Similarity
    X: Any  # the table, in float64
    starts: np.ndarray  # where each part begins, and where the last one ends
    row: np.ndarray
    p: np.ndarray
    low: np.ndarray
    high: np.ndarray
    memory: float = 1e9  # bytes that rows of the Gram matrix may take
    known: dict[int, tuple[bytes, np.ndarray]] = field(
        default_factory=dict
    )  # the last products of each part, and of which multipliers

    @cached_property
    def hard(self) -> bool:
        """Whether slack is not allowed."""
        return not (np.isfinite(self.high).all() and np.isfinite(self.low).all())

    @cached_property
    def part_of(self) -> np.ndarray:
        """The number of the part that each variable belongs to."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def members(self) -> np.ndarray:
        """Where in `gram` the row of each variable lies: rows that parts name together lie together."""
        place = np.empty(self.X.shape[0], dtype=np.intp)
        place[self._order] = np.arange(len(self._order))
        return place[self.row]

    @cached_property
    def _order(self) -> np.ndarray:
        return np.asarray(self.row[np.sort(np.unique(self.row, return_index=True)[1])])

    @cached_property
    def gram(self) -> np.ndarray | None:
        """The Gram matrix, where it is small, of rows in the order in which parts name them."""
        if self.X.shape[0] > MOST_WHOLE:
            return None
        return self.similarity.gram(self.similarity.chosen(self.X, self._order))

    def parts(self) -> Iterator[slice]:
        return (slice(a, b) for a, b in zip(self.starts[:-1].tolist(), self.starts[1:].tolist()))

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Add up values of the variables of each part."""
        return np.asarray(np.add.reduceat(values, self.starts[:-1]))

    def largest(self, values: np.ndarray) -> np.ndarray:
        """Give the largest value in each part."""
        return np.asarray(np.maximum.reduceat(values, self.starts[:-1]))

    def products(self, beta: np.ndarray) -> np.ndarray:
        """Give ``K beta`` for every variable, with the rows of its own part alone, in double precision."""
        slices = list(self.parts())
        known = [self.known.get(k, (b"", beta)) for k in range(len(slices))]
        if all(of == beta[part].tobytes() for (of, _), part in zip(known, slices)):
            return np.concatenate([found for _, found in known])
        if self.gram is not None:
            for k, part in enumerate(slices):
                found, left = np.empty((2, part.stop - part.start))
                self._run(multiply)(self.gram, self.members[part], beta[part], self.p[part], found, left)
                self._remember(k, beta[part], found)
        else:
            weights = np.zeros((self.X.shape[0], len(slices)))
            for k, part in enumerate(slices):
                np.add.at(weights[:, k], self.row[part], beta[part])
            values = combined(self.similarity, self.X, self.X, weights)
            for k, part in enumerate(slices):
                self._remember(k, beta[part], values[self.row[part], k])
        return np.concatenate([self.known[k][1] for k in range(len(slices))])

    def _run(self, kernel: Any) -> Callable[..., Any]:
        """Give a kernel, compiled or, for few variables, as plain Python."""
        return interpreted(kernel) if len(self.p) <= SMALLEST else cast(Callable[..., Any], kernel)

    def _remember(self, k: int, beta: np.ndarray, products: np.ndarray) -> np.ndarray:
        self.known[k] = beta.tobytes(), products
        return products

    def judged(self, beta: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Give constant, dual and primal objective of each part, of shape (parts, 3)."""
        run = self._run(judge)
        found = [run(self.p[s], f[s], beta[s], self.low[s], self.high[s], self.hard)[:3] for s in self.parts()]
        return np.array(found, dtype=np.float64).reshape(-1, 3)

    def gap(self, beta: np.ndarray, over: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give primal less dual objective of each part, the largest term of it, and the primal objective; `over` is f less b."""
        linear, inner = self.sums(beta * self.p), self.sums(beta * over)
        value = (linear + inner) / 2
        if self.hard:
            worst = np.where(self.high > 0, over, 0.0) - np.where(self.low < 0, over, 0.0)
            worst = np.maximum(self.largest(worst), 0.0)
            primal = np.where(worst < 1, (linear - inner) / (2 * np.maximum(1 - worst, TINY) ** 2), np.inf)
            return primal - value, np.where(worst > 0, worst * primal, 0.0), primal
        terms = self.high * np.maximum(over, 0.0) - self.low * np.maximum(-over, 0.0) - beta * over
        gap = self.sums(terms)
        return gap, np.maximum(self.largest(terms), 0.0), value + gap

    def times(self, ratio: float) -> DualProblem:
        """Give the problem with other bounds; what follows from the rows alone is kept."""
        other = replace(self, low=self.low * ratio, high=self.high * ratio, known={})
        return self._shared(other)

    def without(self, absent: np.ndarray) -> DualProblem:
        """Give the problem in which some variables have to be zero."""
        other = replace(self, low=np.where(absent, 0.0, self.low), high=np.where(absent, 0.0, self.high), known={})
        return self._shared(other)

    def _shared(self, other: DualProblem) -> DualProblem:
        other.__dict__.update({name: self.__dict__[name] for name in FROM_ROWS if name in self.__dict__})
        return other

    def beginning(self, state: State | None = None, ratio: float = 1.0) -> State:
        """Begin with nothing, or with all multipliers of a state times a number."""
        if state is None:
            beta, f = np.zeros(len(self.p)), self.p.copy()
        else:
            beta, f = np.clip(ratio * state.beta, self.low, self.high), self.p - ratio * (self.p - state.f)
        return State(beta, f, self.judged(beta, f), **self._fresh(0), slopes=np.empty((0, 0)))

    def solve(self, state: State, tol: float) -> Iterator[State]:
        """Give one state after another, from one that is known, until no part can be moved."""
        return self._whole(state, tol) if self.gram is not None else self._by_parts(state, tol)

    def _whole(self, state: State, tol: float) -> Iterator[State]:
        count = len(self.starts) - 1
        tasks, aim = min(count, TASKS), min(tol, AIM) if len(self.p) <= FEW else tol
        # One problem is settled by a few long calls, so what only calls them need not be compiled, nor what copies its rows if all are its.
        whole = np.array_equal(self.members, np.arange(len(self.gram)))  # type: ignore[arg-type]
        calls = (balance, descend, judge, multiply) if whole else (among, balance, descend, judge, multiply)
        long = interpreted(settle_parts, *calls) if count == 1 else settle_parts
        short = interpreted(settle_parts) if len(self.p) <= SMALLEST else long
        for run in chain([short], repeat(long)):  # what takes long is worth compiling
            beta, f, products, found = state.beta.copy(), state.f.copy(), np.empty(len(self.p)), np.empty((count, 4))
            given = (self.p, f, beta, self.low, self.high, self.hard, tol, aim, MOVES, products, found)
            parts = (partial(run, self.gram, self.starts, self.members, *given, k, tasks) for k in range(tasks))
            for _ in work(parts):
                continue
            if not found[:, 3].any():
                return
            for k, part in enumerate(self.parts()):
                self._remember(k, beta[part], products[part])
            state = state._replace(beta=beta, f=f, found=found[:, :3].copy())
            yield state

    def exactly(self, state: State) -> State:
        """Give a state whose f was worked out in double precision for all variables, whatever it was stopped at."""
        if state.exact:
            return state
        k, own = state.part, slice(*self.starts[state.part : state.part + 2].tolist())
        return self._joined(
            state, k, own, exactly(self._part(own), self._point(state, k, own), partial(self._own_products, k, own))
        )

    def _by_parts(self, state: State, tol: float) -> Iterator[State]:
        slices = list(self.parts())
        for k in range(state.part, len(slices)):
            own = slices[k]
            products = partial(self._own_products, k, own)
            for after in decomposed(self._part(own), self._point(state, k, own), products, tol):
                state = self._joined(state, k, own, after)
                yield state
            state = state._replace(**self._fresh(k + 1))

    def _fresh(self, k: int) -> dict[str, Any]:
        """Say where a part that nobody has looked at begins."""
        count = self.starts[k + 1] - self.starts[k] if k + 1 < len(self.starts) else 0
        return {"work": np.arange(count), "kept": np.empty(0, dtype=np.intp), "exact": True, "part": k}

    def _point(self, state: State, k: int, own: slice) -> Point:
        return Point(state.beta[own], state.f[own], state.found[k], state.work, state.kept, state.exact)

    def _joined(self, state: State, k: int, own: slice, point: Point) -> State:
        beta, f, found = state.beta.copy(), state.f.copy(), state.found.copy()
        beta[own], f[own], found[k] = point.beta, point.f, point.found
        return State(beta, f, found, point.work, point.kept, point.exact, k, state.slopes)

    def _part(self, own: slice) -> Part:
        given = (self.row[own], self.p[own], self.low[own], self.high[own])
        return Part(self.similarity, self.X, *given, self.hard, self.memory)

    def _own_products(self, k: int, own: slice, beta: np.ndarray) -> np.ndarray:
        """Give ``K beta`` for the variables of one part."""
        inside, place = np.unique(self.row[own], return_inverse=True)
        weights = np.zeros((len(inside), 1))
        np.add.at(weights[:, 0], place, beta)
        table = self.similarity.chosen(self.X, inside)
        return self._remember(k, beta, combined(self.similarity, table, table, weights)[place, 0])
