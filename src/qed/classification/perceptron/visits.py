r"""One visit of the perceptron to each of some rows, for all its planes at once.

A row on the wrong side of a plane pulls it towards itself, :math:`w \leftarrow w + y x`, with :math:`x` ending in a constant one where
there is an intercept. A row of weight :math:`s` is visited :math:`s` times in a row: one pull raises :math:`y\,w^\top x` by
:math:`\|x\|^2`, so the number of pulls until it is right is known at once, and the row pulls that often or :math:`s` times, whichever is
less. Averages need the time of each pull: what is pulled at visit :math:`\tau` is in all later planes, so that
:math:`\bar w = w - \sum (\tau - 1)\, y x / T` after :math:`T` visits.
"""

from __future__ import annotations

import math
from typing import Any

from qed.base.compile import kernel


@kernel(within=True)
def pulls_needed(margin: float, square: float, weight: float, strict: bool) -> float:
    """Give how often a row pulls a plane: until it is on the right side, or as often as its weight says."""
    if square <= 0.0:
        return weight
    needed = math.floor(-margin / square) + 1.0 if strict else max(math.ceil(-margin / square), 1.0)
    return min(needed, weight)


@kernel(within=True)
def lateness(pulls: float, time: float) -> float:
    """Add up the visits before each of the pulls that begin at a time."""
    whole = math.floor(pulls)
    return whole * time + 0.5 * whole * (whole - 1.0) + (pulls - whole) * (time + whole)


@kernel
def visit_dense(
    X: Any,
    order: Any,
    codes: Any,
    weight: Any,
    W: Any,
    row_pulls: Any,
    active: Any,
    unit: float,
    strict: bool,
    scaled: bool,
    time: float,
) -> float:
    """Visit dense rows in an order; `W` (with the intercepts last) and `row_pulls` are changed in place.

    ``row_pulls[0, k, i]`` is how far row i has pulled plane k and ``row_pulls[1, k, i]`` the same, each pull times the visits before it.
    Gives the time after the last visit.
    """
    p = X.shape[1]
    whole = p - p % 4
    for i in order:
        x, square = X[i], -1.0
        for k in range(len(W)):
            if not active[k] or weight[i] <= 0.0:
                continue
            w = W[k]
            # Four sums at a time, as the next product need not wait for the last sum then; sparse rows are added in the same way.
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for j in range(0, whole, 4):
                a += w[j] * x[j]
                b += w[j + 1] * x[j + 1]
                c += w[j + 2] * x[j + 2]
                d += w[j + 3] * x[j + 3]
            for j in range(whole, p):
                if j % 4 == 0:
                    a += w[j] * x[j]
                elif j % 4 == 1:
                    b += w[j] * x[j]
                else:
                    c += w[j] * x[j]
            score = w[p] * unit + ((a + b) + (c + d))
            sign = 1.0 if codes[i] == k + (len(W) == 1) else -1.0
            strictly = strict or sign > 0.0
            if sign * score > 0.0 or (score == 0.0 and not strictly):
                continue
            if square < 0.0:
                square = unit
                for j in range(p):
                    square += x[j] * x[j]
            length = 1.0 / math.sqrt(square) if scaled and square > 0.0 else 1.0
            pulls = pulls_needed(sign * score, square * length, weight[i], strictly)
            row_pulls[0, k, i] += pulls * length
            row_pulls[1, k, i] += lateness(pulls, time) * length
            for j in range(p):
                w[j] += sign * pulls * length * x[j]
            w[p] += sign * pulls * length * unit
        time += weight[i]
    return time


@kernel
def visit_sparse(
    data: Any,
    indices: Any,
    indptr: Any,
    order: Any,
    codes: Any,
    weight: Any,
    W: Any,
    row_pulls: Any,
    active: Any,
    unit: float,
    strict: bool,
    scaled: bool,
    time: float,
) -> float:
    """Do the same for rows stored as a CSR array."""
    p = W.shape[1] - 1
    for i in order:
        first, last, square = indptr[i], indptr[i + 1], -1.0
        for k in range(len(W)):
            if not active[k] or weight[i] <= 0.0:
                continue
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for e in range(first, last):
                j = indices[e]
                term = W[k, j] * data[e]
                if j % 4 == 0:
                    a += term
                elif j % 4 == 1:
                    b += term
                elif j % 4 == 2:
                    c += term
                else:
                    d += term
            score = W[k, p] * unit + ((a + b) + (c + d))
            sign = 1.0 if codes[i] == k + (len(W) == 1) else -1.0
            strictly = strict or sign > 0.0
            if sign * score > 0.0 or (score == 0.0 and not strictly):
                continue
            if square < 0.0:
                square = unit
                for e in range(first, last):
                    square += data[e] * data[e]
            length = 1.0 / math.sqrt(square) if scaled and square > 0.0 else 1.0
            pulls = pulls_needed(sign * score, square * length, weight[i], strictly)
            row_pulls[0, k, i] += pulls * length
            row_pulls[1, k, i] += lateness(pulls, time) * length
            for e in range(first, last):
                W[k, indices[e]] += sign * pulls * length * data[e]
            W[k, p] += sign * pulls * length * unit
        time += weight[i]
    return time


@kernel
def visit_gram(
    gram: Any,
    order: Any,
    codes: Any,
    weight: Any,
    scores: Any,
    row_pulls: Any,
    active: Any,
    strict: bool,
    scaled: bool,
    time: float,
) -> float:
    """Do the same by similarities alone: a pull changes the scores of all rows, and a row that is right costs nothing."""
    for i in order:
        square = gram[i, i]
        length = 1.0 / math.sqrt(square) if scaled and square > 0.0 else 1.0
        for k in range(len(scores)):
            if not active[k] or weight[i] <= 0.0:
                continue
            sign = 1.0 if codes[i] == k + (len(scores) == 1) else -1.0
            strictly = strict or sign > 0.0
            if sign * scores[k, i] > 0.0 or (scores[k, i] == 0.0 and not strictly):
                continue
            pulls = pulls_needed(sign * scores[k, i], square * length, weight[i], strictly)
            row_pulls[0, k, i] += pulls * length
            row_pulls[1, k, i] += lateness(pulls, time) * length
            for j in range(len(gram)):
                scores[k, j] += sign * pulls * length * gram[i, j]
        time += weight[i]
    return time
