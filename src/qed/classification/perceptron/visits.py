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


@kernel
def pulls_needed(margin: float, square: float, weight: float, strict: bool) -> float:
    """Give how often a row pulls a plane: until it is on the right side, or as often as its weight says."""
    if square <= 0.0:
        return weight
    needed = math.floor(-margin / square) + 1.0 if strict else max(math.ceil(-margin / square), 1.0)
    return min(needed, weight)


@kernel
def lateness(pulls: float, time: float) -> float:
    """Add up the visits before each of the pulls that begin at a time."""
    whole = math.floor(pulls)
    return whole * time + 0.5 * whole * (whole - 1.0) + (pulls - whole) * (time + whole)


@kernel
def visit_dense(
    X: Any,
    codes: Any,
    weight: Any,
    W: Any,
    told: Any,
    active: Any,
    unit: float,
    strict: bool,
    scaled: bool,
    time: float,
) -> float:
    """Visit dense rows in their order; `W` (with the intercepts last) and `told` are changed in place.

    ``told[0, k, i]`` is how far row i has pulled plane k and ``told[1, k, i]`` the same, each pull times the visits before it. Gives the
    time after the last visit.
    """
    n, p = X.shape
    for i in range(n):
        square = unit
        for j in range(p):
            square += X[i, j] * X[i, j]
        length = 1.0 / math.sqrt(square) if scaled and square > 0.0 else 1.0
        for k in range(len(W)):
            if not active[k] or weight[i] <= 0.0:
                continue
            sign = 1.0 if codes[i] == k + (len(W) == 1) else -1.0
            score = W[k, p] * unit
            for j in range(p):
                score += W[k, j] * X[i, j]
            strictly = strict or sign > 0.0
            if sign * score > 0.0 or (score == 0.0 and not strictly):
                continue
            pulls = pulls_needed(sign * score, square * length, weight[i], strictly)
            told[0, k, i] += pulls * length
            told[1, k, i] += lateness(pulls, time) * length
            for j in range(p):
                W[k, j] += sign * pulls * length * X[i, j]
            W[k, p] += sign * pulls * length * unit
        time += weight[i]
    return time


@kernel
def visit_sparse(
    data: Any,
    indices: Any,
    indptr: Any,
    codes: Any,
    weight: Any,
    W: Any,
    told: Any,
    active: Any,
    unit: float,
    strict: bool,
    scaled: bool,
    time: float,
) -> float:
    """Do the same for rows stored as a CSR array."""
    p = W.shape[1] - 1
    for i in range(len(indptr) - 1):
        square = unit
        for t in range(indptr[i], indptr[i + 1]):
            square += data[t] * data[t]
        length = 1.0 / math.sqrt(square) if scaled and square > 0.0 else 1.0
        for k in range(len(W)):
            if not active[k] or weight[i] <= 0.0:
                continue
            sign = 1.0 if codes[i] == k + (len(W) == 1) else -1.0
            score = W[k, p] * unit
            for t in range(indptr[i], indptr[i + 1]):
                score += W[k, indices[t]] * data[t]
            strictly = strict or sign > 0.0
            if sign * score > 0.0 or (score == 0.0 and not strictly):
                continue
            pulls = pulls_needed(sign * score, square * length, weight[i], strictly)
            told[0, k, i] += pulls * length
            told[1, k, i] += lateness(pulls, time) * length
            for t in range(indptr[i], indptr[i + 1]):
                W[k, indices[t]] += sign * pulls * length * data[t]
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
    told: Any,
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
            told[0, k, i] += pulls * length
            told[1, k, i] += lateness(pulls, time) * length
            for j in range(len(gram)):
                scores[k, j] += sign * pulls * length * gram[i, j]
        time += weight[i]
    return time
