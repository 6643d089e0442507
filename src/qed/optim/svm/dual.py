r"""The dual of a support vector machine on any number of rows: small ones at once, large ones some hundred variables at a time.

The problem (see :mod:`qed.optim.svm.smo`) may have several *parts* that share the table, one for each pair of classes. Where the Gram
matrix of all rows is small it is worked out once, and all parts are settled inside few compiled calls. Otherwise a part is solved by
decomposition: the variables that violate the optimality conditions most are optimised among themselves, with the rows of the Gram matrix
that this needs, and :math:`f = p - K\beta` follows for all. Rows in single precision only choose the way: whenever a part seems to be
solved, :math:`f` is worked out anew in double precision, and the gap is judged from that.

Joachims (1999), Making large-scale SVM learning practical.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from qed.base.compile import kernel
from qed.base.engine import work
from qed.kernels.gram.rows import GramRows, combined
from qed.kernels.similarity import Similarity
from qed.optim.svm.smo import descend, judge, settle_parts

# Up to so many rows the Gram matrix is held as a whole.
MOST_WHOLE = 2500
# So many variables of a large part are optimised at a time, half of them new ones.
AT_ONCE = 512
# So many pairs are moved between two steps: of small problems, and within the variables that a large one has in work.
FEW_MOVES, MOVES = 4000, 20_000
# With no more variables than this pairs cost so little that the gap is taken on to rounding.
FEW, AIM = 5000, 1e-12
STRETCH = 4096
TASKS = 4


class State(NamedTuple):
    """Where a solver is: multipliers and f of all variables, part after part, and what is known of each part."""

    beta: np.ndarray
    f: np.ndarray
    found: np.ndarray  # of shape (parts, 3): the constant b, the dual and the primal objective
    kept: np.ndarray  # variables of the part in work that were optimised last
    part: int  # which one is in work

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
    known: dict[bytes, np.ndarray] = field(default_factory=dict)  # the last products, by the multipliers they belong to

    @cached_property
    def hard(self) -> bool:
        """Whether slack is not allowed."""
        return not (np.isfinite(self.high).all() and np.isfinite(self.low).all())

    @cached_property
    def gram(self) -> np.ndarray | None:
        """The Gram matrix, where it is small."""
        return self.similarity.gram(self.X) if self.X.shape[0] <= MOST_WHOLE else None

    def parts(self) -> Iterator[slice]:
        return (slice(a, b) for a, b in zip(self.starts[:-1].tolist(), self.starts[1:].tolist()))

    def products(self, beta: np.ndarray) -> np.ndarray:
        """Give ``K beta`` for every variable, with the rows of its own part alone, in double precision."""
        if (found := self.known.get(beta.tobytes())) is not None:
            return found
        if self.gram is not None:
            parts = []
            for part in self.parts():
                used = np.flatnonzero(beta[part])
                block = self.gram[np.ix_(self.row[part], self.row[part][used])]
                parts.append(block @ beta[part][used])
            return self._remember(beta, np.concatenate(parts))
        weights = np.zeros((self.X.shape[0], len(self.starts) - 1))
        for k, part in enumerate(self.parts()):
            np.add.at(weights[:, k], self.row[part], beta[part])
        values = combined(self.similarity, self.X, self.X, weights)
        return self._remember(beta, np.concatenate([values[self.row[part], k] for k, part in enumerate(self.parts())]))

    def _remember(self, beta: np.ndarray, products: np.ndarray) -> np.ndarray:
        self.known.clear()
        self.known[beta.tobytes()] = products
        return products

    def judged(self, beta: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Give constant, dual and primal objective of each part, of shape (parts, 3)."""
        found = [judge(self.p[s], f[s], beta[s], self.low[s], self.high[s], self.hard)[:3] for s in self.parts()]
        return np.array(found, dtype=np.float64).reshape(-1, 3)

    def beginning(self, beta: np.ndarray | None = None) -> State:
        """Begin with multipliers that are given, or none."""
        none = np.empty(0, dtype=np.intp)
        if beta is None:
            beta, f = np.zeros(len(self.p)), self.p.copy()
        else:
            f = self.p - self.products(beta)
        return State(beta, f, self.judged(beta, f), none, 0)

    def solve(self, state: State, tol: float) -> Iterator[State]:
        """Give one state after another, from one that is known, until no part can be moved."""
        return self._whole(state, tol) if self.gram is not None else self._by_parts(state, tol)

    def _whole(self, state: State, tol: float) -> Iterator[State]:
        count = len(self.starts) - 1
        tasks, aim = min(count, TASKS), min(tol, AIM) if len(self.p) <= FEW else tol
        while True:
            beta, f, found = state.beta.copy(), state.f.copy(), np.empty((count, 4))
            given = (self.p, f, beta, self.low, self.high, self.hard, tol, aim, FEW_MOVES, found)
            parts = (partial(settle_parts, self.gram, self.starts, self.row, *given, k, tasks) for k in range(tasks))
            for _ in work(parts):
                continue
            if not found[:, 3].any():
                return
            # What rounding has added up is taken off again before anybody trusts it.
            f = self.p - self.products(beta)
            state = State(beta, f, self.judged(beta, f), state.kept, 0)
            yield state

    def _by_parts(self, state: State, tol: float) -> Iterator[State]:
        slices = list(self.parts())
        for k in range(state.part, len(slices)):
            for after in self._decomposed(state, k, slices[k], tol):
                state = after
                yield state
            state = state._replace(part=k + 1, kept=np.empty(0, dtype=np.intp))

    def _decomposed(self, state: State, k: int, part: slice, tol: float) -> Iterator[State]:
        """Solve a large part, some variables at a time."""
        p, low, high, rows = self.p[part], self.low[part], self.high[part], self.row[part]
        inside = np.unique(rows)
        place = np.searchsorted(inside, rows)
        source = GramRows(self.similarity, self.similarity.chosen(self.X, inside), self.memory, AT_ONCE)
        beta, f, kept, exact = state.beta[part].copy(), state.f[part].copy(), state.kept, True
        while True:
            apart = judge(p, f, beta, low, high, self.hard)[3]
            chosen = _worst(f, beta, low, high, kept)
            if (exact and self._is_solved(p, f, beta, low, high, tol)) or len(chosen) < 2:
                return
            places = source.places(place[chosen])
            K = source.kept[np.ix_(places, place[chosen])].astype(np.float64)
            before, inner, after = beta[chosen], f[chosen], beta[chosen]
            moved = descend(K, inner, after, low[chosen], high[chosen], 0.1 * apart, MOVES)
            if moved == 0 and exact:
                return
            change, kept = after - before, chosen[: AT_ONCE // 2]
            beta[chosen] = after
            drop = np.empty(len(inside))
            _follow(source.kept, places[change != 0], change[change != 0], drop)
            f -= drop[place]
            exact = moved == 0 or self._is_solved(p, f, beta, low, high, tol)
            if exact:
                f = p - self._own_products(part, inside, beta)
            every, values, found = state.beta.copy(), state.f.copy(), state.found.copy()
            every[part], values[part] = beta, f
            found[k] = judge(p, f, beta, low, high, self.hard)[:3]
            state = State(every, values, found, kept, k)
            yield state

    def _is_solved(
        self, p: np.ndarray, f: np.ndarray, beta: np.ndarray, low: np.ndarray, high: np.ndarray, tol: float
    ) -> bool:
        _, dual, primal, _ = judge(p, f, beta, low, high, self.hard)
        return bool(np.isfinite(primal) and primal - dual <= tol * primal)

    def _own_products(self, part: slice, inside: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Give ``K beta`` for the variables of one part."""
        weights, values = np.zeros((self.X.shape[0], 1)), np.zeros(self.X.shape[0])
        np.add.at(weights[:, 0], self.row[part], beta)
        values[inside] = combined(self.similarity, self.X[inside], self.X, weights)[:, 0]
        found = values[self.row[part]]
        return self._remember(beta, found) if len(self.starts) == 2 else found


def _worst(f: np.ndarray, beta: np.ndarray, low: np.ndarray, high: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Choose the variables that violate the order most, from both ends, and then those that were chosen last."""
    up, down = beta < high, beta > low
    top, bottom = f[up].max(initial=-np.inf), f[down].min(initial=np.inf)
    growing, shrinking = np.flatnonzero(up & (f > bottom)), np.flatnonzero(down & (f < top))
    each = AT_ONCE // 4 if len(kept) else AT_ONCE // 2
    growing = growing[np.argsort(-f[growing], kind="stable")[:each]]
    shrinking = shrinking[np.argsort(f[shrinking], kind="stable")[:each]]
    chosen = np.concatenate([growing, shrinking, kept])
    first = np.sort(np.unique(chosen, return_index=True)[1])
    return np.asarray(chosen[first][:AT_ONCE])


def _follow(kept: np.ndarray, places: np.ndarray, change: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` with the sum of rows, each times its change."""
    tasks = (
        partial(add_rows, kept, places, change, out, a, min(a + STRETCH, len(out))) for a in range(0, len(out), STRETCH)
    )
    for _ in work(tasks):
        continue


@kernel(fastmath={"contract"})
def add_rows(kept: Any, places: Any, change: Any, out: Any, start: int, end: int) -> None:
    """Fill a stretch of `out` with the sum of rows, each times its change."""
    sums = out[start:end]
    sums[:] = 0.0
    for k in range(len(places)):
        line, factor = kept[places[k], start:end], change[k]
        for t in range(len(sums)):
            sums[t] += factor * line[t]
