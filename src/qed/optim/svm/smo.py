r"""Sequential minimal optimisation: the dual of a support vector machine, two multipliers at a time.

.. math:: \min_\beta\ \tfrac12 \beta^\top K \beta - p^\top \beta, \qquad \sum_v \beta_v = 0,\quad l_v \le \beta_v \le h_v,

is that of classification with :math:`\beta_i = y_i \alpha_i` and :math:`p_i = y_i`, where one of the bounds is zero and the other
:math:`y_i C_i`; and that of regression with two variables a row, :math:`p = y \mp \varepsilon`. With :math:`f = p - K\beta` the
optimum is where every variable that may grow has an :math:`f_v` no larger than every one that may shrink. While a pair violates that,
moving it by :math:`(f_i - f_j) / (K_{ii} + K_{jj} - 2K_{ij})` lowers the objective; :math:`i` violates most, and :math:`j` is the
partner with which the objective falls most. For any constant :math:`b`, weak duality gives

.. math:: P - D = \sum_v \bigl[h_v (f_v - b)_+ + (-l_v)(b - f_v)_+ - \beta_v (f_v - b)\bigr],

a sum of terms of which none is negative: it bounds from the duals alone how far the objective is from its optimum.

Platt (1998), Fast training of support vector machines using sequential minimal optimization; Fan, Chen and Lin (2005), Working set
selection using second order information.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.base.compile import kernel

# Pairs of equal rows have no curvature; so much of the largest diagonal entry stands for it.
FLAT = 1e-12
# What keeps a variable out that stands at its bound.
FAR = 1e300
STRIP = 256
# On the way from the tolerance to the aim, no more pairs are moved than so many for each variable.
MORE = 10
# The largest of some numbers does not depend on the order in which they are looked at.
ORDERED = {"contract", "nnan", "nsz", "arcp"}


@kernel(fastmath=ORDERED)
def steepest(
    f: Any, closed: Any, diagonal: Any, line: Any, own: float, top: float, flat: float
) -> tuple[int, float, float]:
    """Find the partner with which the objective falls most: give it, by how much, and the least f that may shrink.

    Strips are scanned for their best value first, which vector units do; only then is it looked for who has it.
    """
    best, where, bottom = 0.0, -1, FAR
    for start in range(0, len(f), STRIP):
        end = min(start + STRIP, len(f))
        values, shut, diag, near = f[start:end], closed[start:end], diagonal[start:end], line[start:end]
        gain = 0.0
        for t in range(end - start):
            value = values[t] + shut[t]
            bottom = min(bottom, value)
            apart = max(top - value, 0.0)
            gain = max(gain, apart * apart / max(own + diag[t] - 2.0 * near[t], flat))
        if gain > best:
            best, where = gain, start
    if where < 0:
        return -1, best, bottom
    for v in range(where, min(where + STRIP, len(f))):
        apart = max(top - (f[v] + closed[v]), 0.0)
        if apart * apart / max(own + diagonal[v] - 2.0 * line[v], flat) >= best * (1 - 1e-12):
            return v, best, bottom
    return -1, best, bottom


@kernel(fastmath=ORDERED)
def advance(f: Any, full: Any, step: float, line: Any, other: Any) -> tuple[int, float]:
    """Let f follow a move of two variables; give the variable that may grow and has the largest f, and that f."""
    top, where = -FAR, -1
    for start in range(0, len(f), STRIP):
        end = min(start + STRIP, len(f))
        values, shut, one, two = f[start:end], full[start:end], line[start:end], other[start:end]
        most = -FAR
        for t in range(end - start):
            values[t] -= step * (one[t] - two[t])
            most = max(most, values[t] + shut[t])
        if most > top:
            top, where = most, start
    if where < 0:
        return -1, top
    for v in range(where, min(where + STRIP, len(f))):
        if f[v] + full[v] == top:
            return v, top
    return -1, top


@kernel
def descend(K: Any, f: Any, beta: Any, low: Any, high: Any, enough: float, most: int) -> int:
    """Move pairs until no two violate the order by more than `enough`, or `most` pairs were moved; give how many were.

    `K` is the Gram matrix of the variables. `f` and `beta` are changed.
    """
    count, moved = len(f), 0
    diagonal, full, closed = np.empty(count), np.empty(count), np.empty(count)
    for v in range(count):
        diagonal[v] = K[v, v]
        full[v] = 0.0 if beta[v] < high[v] else -FAR
        closed[v] = 0.0 if beta[v] > low[v] else FAR
    flat = FLAT * max(1e-300, diagonal.max())
    i, top = advance(f, full, 0.0, K[0], K[0])
    while moved < most and i >= 0:
        line = K[i]
        j, _, bottom = steepest(f, closed, diagonal, line, diagonal[i], top, flat)
        if j < 0 or top - bottom <= enough:
            break
        other = K[j]
        step = (top - f[j]) / max(diagonal[i] + diagonal[j] - 2 * line[j], flat)
        free, rest = high[i] - beta[i], beta[j] - low[j]
        if step < free and step < rest:
            beta[i] += step
            beta[j] -= step
        elif free <= rest:
            step = free
            beta[j] = low[j] if free == rest else beta[j] - step
            beta[i] = high[i]
        else:
            step = rest
            beta[i] += step
            beta[j] = low[j]
        full[i], closed[i] = (0.0 if beta[i] < high[i] else -FAR), (0.0 if beta[i] > low[i] else FAR)
        full[j], closed[j] = (0.0 if beta[j] < high[j] else -FAR), (0.0 if beta[j] > low[j] else FAR)
        i, top = advance(f, full, step, line, other)
        moved += 1
    return moved


@kernel
def judge(p: Any, f: Any, beta: Any, low: Any, high: Any, hard: bool) -> tuple[float, float, float, float]:
    """Give the constant b, the dual objective, the primal one, and by how much the worst pair violates the order.

    The constant is the mean of f over variables inside their bounds, or the middle of what the bounds leave. Without bounds (`hard`)
    slack is not allowed: the function is stretched until every margin is one.
    """
    top, bottom, total, inside = -np.inf, np.inf, 0.0, 0
    for v in range(len(f)):
        up, down = beta[v] < high[v], beta[v] > low[v]
        if up and down:
            total += f[v]
            inside += 1
        if up:
            top = max(top, f[v])
        if down:
            bottom = min(bottom, f[v])
    if inside > 0:
        b = total / inside
    elif np.isfinite(top) and np.isfinite(bottom):
        b = (top + bottom) / 2
    else:
        b = top if np.isfinite(top) else (bottom if np.isfinite(bottom) else 0.0)
    dual, apart, length, worst = 0.0, 0.0, 0.0, 0.0
    for v in range(len(f)):
        over = f[v] - b
        dual += beta[v] * (p[v] + f[v]) / 2
        length += beta[v] * (p[v] - f[v])
        if hard:
            worst = max(worst, over if high[v] > 0.0 else (-over if low[v] < 0.0 else 0.0))
        else:
            apart += high[v] * max(over, 0.0) - low[v] * max(-over, 0.0) - beta[v] * over
    if hard:
        return b, dual, (length / (2 * (1 - worst) ** 2) if worst < 1.0 else np.inf), top - bottom
    return b, dual, dual + apart, top - bottom


@kernel
def settle(
    K: Any, p: Any, f: Any, beta: Any, low: Any, high: Any, hard: bool, tol: float, aim: float, most: int
) -> tuple[float, float, float, int]:
    """Move pairs until the gap is at most `tol` of the primal objective, or `most` were moved; give b, dual, primal, and how many were.

    Once it is, a few more may take it on towards a smaller `aim`.
    """
    moved, limit = 0, most
    while True:
        b, dual, primal, apart = judge(p, f, beta, low, high, hard)
        gap = primal - dual if np.isfinite(primal) else np.inf
        if limit == most and gap < np.inf and gap <= tol * primal:
            limit = min(most, moved + MORE * len(f))
        if (gap < np.inf and gap <= aim * primal) or moved >= limit or not apart > 0.0:
            return b, dual, primal, moved
        made = descend(K, f, beta, low, high, 0.1 * apart, limit - moved)
        if made == 0:
            return b, dual, primal, moved
        moved += made


@kernel
def settle_parts(
    K: Any, starts: Any, members: Any, P: Any, F: Any, B: Any, low: Any, high: Any, hard: bool, tol: float, aim: float, most: int,
    found: Any, first: int, stride: int,
) -> None:  # fmt: skip
    """Settle every `stride`-th of many problems, from `first` on: problem k has the rows ``members[starts[k]:starts[k + 1]]``.

    Its variables lie at the same places of `P`, `F`, `B`, `low` and `high`; `found` takes b, dual, primal and pairs moved of each.
    """
    for k in range(first, len(starts) - 1, stride):
        begin, end = starts[k], starts[k + 1]
        rows = members[begin:end]
        part = np.empty((end - begin, end - begin))
        for i in range(end - begin):
            source, line = K[rows[i]], part[i]
            for j in range(end - begin):
                line[j] = source[rows[j]]
        b, dual, primal, moved = settle(
            part, P[begin:end], F[begin:end], B[begin:end], low[begin:end], high[begin:end],
            hard, tol, aim, most,
        )  # fmt: skip
        found[k, 0], found[k, 1], found[k, 2], found[k, 3] = b, dual, primal, moved
