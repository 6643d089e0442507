r"""All rows compared with all queries in single precision, and a proof that no neighbour was lost.

In many dimensions no box can be passed over. The scores :math:`\|x\|^2/2 - q^\top x` rank the rows as their distances from :math:`q`
do; rows and queries are moved near zero and scaled near one, and the scores are worked out in float32, eight at a time, for a strip of rows
that stays in the cache. The :math:`c > k` best rows of each query are kept, and their distances found by differences in double precision.

What is not kept has a score of at least that of the last one kept, :math:`t`. Scores are off by at most
:math:`E = (p + 8)\,2^{-24} R(\|q\| + R/2)`, :math:`R` being the longest row, and rounding to float32 moves rows and queries by
:math:`2^{-24}` of their length. So its squared distance is at least :math:`2(t - E) + \|q\|^2 - 2^{-23}\|q\|(\|q\| + R)`, and where the
k-th neighbour is nearer than that, the neighbours are proven. Where it is not (many rows at equal distances), the query is
compared with all rows by differences. Cost: :math:`O(np)` for each query, of which most are two operations for eight numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from qed.base.compile import kernel
from qed.base.engine import work
from qed.neighbors.best import Best
from qed.neighbors.tree import insert

# Rows of a strip, which with all its columns stays in the cache; scores that are looked through at a time; queries of a task.
STRIP, RUN, TASK = 256, 32, 128
# The spread of what is not quite a score in single precision, for padding.
FAR = np.float32(1e30)
UNIT = 2.0**-24


def filtered(X: np.ndarray, Q: np.ndarray, k: int, moved: np.ndarray, scale: float) -> Best:
    """Give the k nearest of many rows, by Euclid's distance.

    Parameters
    ----------
    X, Q : ndarray of shape (n, p) and (m, p)
        Rows and queries.
    k : int
        How many are wanted.
    moved : ndarray of shape (p,)
        What is subtracted from both before they are scored.
    scale : float
        By what they are multiplied then: a power of two that brings them near one.
    """
    n, p = X.shape
    X, Q = np.ascontiguousarray(X), np.ascontiguousarray(Q)
    strips, half = np.zeros((-(-n // STRIP), p, STRIP), dtype=np.float32), np.full((-(-n // STRIP), STRIP), FAR)
    most = max(work(_pieces(len(strips), 64, partial(_fill, X, moved, scale, strips, half))))
    kept = min(n, k + 4 + k // 8)
    found = Best(np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.intp))
    search = partial(_search, X, Q, moved, scale, strips, half, float(np.sqrt(most)) * (1 + 8 * p * UNIT), kept, found)
    list(work(_pieces(len(Q), TASK, search)))
    return found


def _pieces(count: int, size: int, function: Callable[..., object]) -> list[Callable[[], object]]:
    return [partial(function, slice(i, min(i + size, count))) for i in range(0, count, size)]


def _fill(X: np.ndarray, moved: np.ndarray, scale: float, strips: np.ndarray, half: np.ndarray, part: slice) -> float:
    return float(fill(X[part.start * STRIP : part.stop * STRIP], moved, scale, strips[part], half[part]))


def _search(
    X: np.ndarray,
    Q: np.ndarray,
    moved: np.ndarray,
    scale: float,
    strips: np.ndarray,
    half: np.ndarray,
    longest: float,
    kept: int,
    found: Best,
    part: slice,
) -> None:
    queries = Q[part]
    small = ((queries - moved) * scale).astype(np.float32)
    scores, rows = np.full((len(queries), kept), np.inf, np.float32), np.full((len(queries), kept), -1, np.int64)
    score(strips, half, small, scores, rows)
    length = np.sqrt((small.astype(np.float64) ** 2).sum(axis=1))
    error = (X.shape[1] + 8) * UNIT * longest * (length + longest / 2) + 2.0**-48 * (length + longest) ** 2
    # Beside what is near one, the least numbers of single precision are as good as none; rows that are all near zero are made of them.
    error += (X.shape[1] + 8) * 2.0**-126 * (1 + length + longest)
    least = 2 * (scores[:, -1] - error) + length**2 * (1 - 2.0**-48) - 2 * UNIT * length * (length + longest)
    least = np.where(np.isfinite(error), least, -np.inf) if kept < len(X) else np.full(len(queries), np.inf)
    rounding = 1 + (X.shape[1] + 8) * 2.0**-52
    decide(X, queries, rows, least, scale * scale * rounding, found.size[part], found.number[part])


@kernel(fastmath={"reassoc", "contract", "nsz"})
def fill(X: np.ndarray, moved: np.ndarray, scale: float, strips: np.ndarray, half: np.ndarray) -> float:
    """Turn rows into strips, with half the squared length of each; give the largest squared length."""
    most, p = 0.0, X.shape[1]
    for i in range(len(X)):
        s, r, total = i // STRIP, i % STRIP, 0.0
        for j in range(p):
            value = np.float32((X[i, j] - moved[j]) * scale)
            strips[s, j, r] = value
            total += np.float64(value) * np.float64(value)
        half[s, r] = total / 2
        most = max(most, total)
    return most


@kernel(fastmath={"reassoc", "contract", "nsz"})
def score(strips: np.ndarray, half: np.ndarray, Q: np.ndarray, best: np.ndarray, rows: np.ndarray) -> None:
    """Keep the rows with the least scores for each query, in ascending order."""
    m, p, last, both = len(Q), Q.shape[1], best.shape[1] - 1, np.empty((2, STRIP), np.float32)
    whole, near, far = p - p % 4, both[0], both[1]
    for s in range(len(strips)):
        strip = strips[s]
        # Two queries at a time, so that what is read of a strip serves both; the last may stand alone.
        for i in range(0, m, 2):
            q, z = Q[i], Q[min(i + 1, m - 1)]
            for r in range(STRIP):
                near[r] = far[r] = half[s, r]
            for j in range(0, whole, 4):
                a, b, c, d = q[j], q[j + 1], q[j + 2], q[j + 3]
                e, f, g, h = z[j], z[j + 1], z[j + 2], z[j + 3]
                A, B, C, D = strip[j], strip[j + 1], strip[j + 2], strip[j + 3]
                for r in range(STRIP):
                    near[r] -= (a * A[r] + b * B[r]) + (c * C[r] + d * D[r])
                    far[r] -= (e * A[r] + f * B[r]) + (g * C[r] + h * D[r])
            for j in range(whole, p):
                a, e, A = q[j], z[j], strip[j]
                for r in range(STRIP):
                    near[r] -= a * A[r]
                    far[r] -= e * A[r]
            for t in range(min(2, m - i)):
                found, sizes, names = both[t], best[i + t], rows[i + t]
                limit = sizes[last]
                for start in range(0, STRIP, RUN):
                    run = found[start : start + RUN]
                    least = run[0]
                    for r in range(RUN):
                        least = min(least, run[r])
                    if least < limit:
                        for r in range(RUN):
                            if run[r] < limit:
                                place = last
                                while place > 0 and sizes[place - 1] > run[r]:
                                    sizes[place], names[place] = sizes[place - 1], names[place - 1]
                                    place -= 1
                                sizes[place], names[place] = run[r], s * STRIP + start + r
                                limit = sizes[last]


@kernel
def decide(
    X: np.ndarray,
    Q: np.ndarray,
    rows: np.ndarray,
    least: np.ndarray,
    larger: float,
    sizes: np.ndarray,
    names: np.ndarray,
) -> None:
    """Take the nearest of the rows kept, by differences; where that proves nothing, of all rows."""
    n, last = len(X), sizes.shape[1] - 1
    for i in range(len(Q)):
        best, who = sizes[i], names[i]
        best[:], who[:] = np.inf, n
        for row in rows[i]:
            if 0 <= row < n:
                insert(apart(X[row], Q[i]), row, best, who)
        if not best[last] * larger < least[i]:
            best[:], who[:] = np.inf, n
            for row in range(n):
                insert(apart(X[row], Q[i]), row, best, who)


@kernel(within=True)
def apart(x: np.ndarray, z: np.ndarray) -> float:
    """Give the squared distance of two rows, feature by feature."""
    total = 0.0
    for j in range(len(x)):
        gap = np.float64(x[j]) - np.float64(z[j])
        total += gap * gap
    return total
