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
from qed.linalg.registers.largest import first_largest

# Pairs of equal rows have no curvature; so much of the largest diagonal entry stands for it.
FLAT = 1e-12
# What keeps a variable out that stands at its bound.
FAR = 1e300
# On the way from the tolerance to the aim, no more pairs are moved than so many for each variable.
MORE = 10
# Rows that follow each other are copied together where runs are this long: of shorter ones the ends are too many to foresee.
LONG = 16
# The largest of some numbers does not depend on the order in which they are looked at.
ORDERED = {"contract", "nnan", "nsz", "arcp"}


@kernel(within=True, fastmath=ORDERED)
def gains(f: Any, closed: Any, diagonal: Any, line: Any, own: float, top: float, flat: float, out: Any) -> None:
    """Say by how much (twice) the objective falls with each partner of the variable whose f is `top`."""
    for t in range(len(out)):
        apart = max(top - (f[t] + closed[t]), 0.0)
        out[t] = apart * apart / max(own + diagonal[t] - 2.0 * line[t], flat)


@kernel(within=True, fastmath=ORDERED)
def advance(f: Any, full: Any, step: float, line: Any, other: Any, out: Any) -> None:
    """Let f follow a move of two variables; `out` takes it, far below where a variable may not grow."""
    for t in range(len(out)):
        value = f[t] - step * (line[t] - other[t])
        f[t] = value
        out[t] = value + full[t]


@kernel(within=True, fastmath=ORDERED)
def least(f: Any, closed: Any, out: Any) -> float:
    """Give the least f of a variable that may shrink; `out` is written over."""
    for t in range(len(out)):
        out[t] = -(f[t] + closed[t])
    return -first_largest(out)[1]


@kernel
def descend(K: Any, f: Any, beta: Any, low: Any, high: Any, enough: float, most: int) -> int:
    """Move pairs until no two violate the order by more than `enough`, or `most` pairs were moved; give how many were.

    `K` is the Gram matrix of the variables. `f` and `beta` are changed.
    """
    count, moved, largest = len(f), 0, 1e-300
    diagonal, full, closed, ranks = np.empty(count), np.empty(count), np.empty(count), np.empty(count)
    for v in range(count):
        diagonal[v] = K[v, v]
        largest = max(largest, diagonal[v])
        full[v] = 0.0 if beta[v] < high[v] else -FAR
        closed[v] = 0.0 if beta[v] > low[v] else FAR
    flat = FLAT * largest
    advance(f, full, 0.0, K[0], K[0], ranks)
    i, top = first_largest(ranks)
    while moved < most and top > -FAR / 2:
        line = K[i]
        gains(f, closed, diagonal, line, diagonal[i], top, flat, ranks)
        j, gain = first_largest(ranks)
        if gain <= 0.0 or (top - f[j] <= enough and top - least(f, closed, ranks) <= enough):
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
        advance(f, full, step, line, other, ranks)
        i, top = first_largest(ranks)
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


@kernel(within=True)
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
def balance(beta: Any, low: Any, high: Any) -> None:
    """Take what rounding has left of the sum of the multipliers off the one with the most room, so that it vanishes."""
    total, lost = 0.0, 0.0
    for v in range(len(beta)):
        after = total + beta[v]
        lost += (total - after) + beta[v] if abs(total) >= abs(beta[v]) else (beta[v] - after) + total
        total = after
    total += lost
    most, where = abs(total), -1
    for v in range(len(beta)):
        if low[v] < beta[v] < high[v]:
            room = beta[v] - low[v] if total > 0.0 else high[v] - beta[v]
            if room > most:
                most, where = room, v
    if where >= 0:
        beta[where] -= total


@kernel(within=True)
def follow(members: Any) -> bool:
    """Say whether numbers follow each other without a gap."""
    gaps = 0
    for i in range(1, len(members)):
        gaps += members[i] != members[i - 1] + 1
    return gaps == 0


@kernel(fastmath={"contract"})
def multiply(K: Any, members: Any, beta: Any, p: Any, out: Any, f: Any) -> None:
    """Fill `out` with ``K beta`` for variables that belong to the rows `members` of a Gram matrix, and `f` with what that leaves of p.

    The matrix is symmetric, so its rows are added up, each times a multiplier: all at once where members follow each other.
    """
    count, together = len(members), follow(members)
    first = members[0] if count > 0 else 0
    for i in range(count):
        out[i] = 0.0
    for j in range(count):
        factor, line = beta[j], K[members[j]]
        if factor != 0.0 and together:
            run = line[first : first + count]
            for i in range(count):
                out[i] += run[i] * factor
        elif factor != 0.0:
            for i in range(count):
                out[i] += line[members[i]] * factor
    for i in range(count):
        f[i] = p[i] - out[i]


@kernel
def among(K: Any, members: Any, room: Any) -> Any:
    """Give the Gram matrix of some rows, from that of all, in a `room` for it."""
    count, runs = len(members), 0
    if count == len(K) and follow(members):
        return K
    ends = np.empty(count, np.int64)
    for j in range(1, count + 1):
        if j == count or members[j] != members[j - 1] + 1:
            ends[runs] = j
            runs += 1
    part = room[: count * count].reshape((count, count))
    for i in range(count):
        source, line, a = K[members[i]], part[i], 0
        if runs * LONG > count:
            for t in range(count):
                line[t] = source[np.uint64(members[t])]
            continue
        for k in range(runs):
            shift = members[a] - a
            for t in range(a, ends[k]):
                line[t] = source[t + shift]
            a = ends[k]
    return part


@kernel
def settle_parts(
    K: Any, starts: Any, members: Any, P: Any, F: Any, B: Any, low: Any, high: Any, hard: bool, tol: float, aim: float, most: int,
    products: Any, found: Any, first: int, stride: int,
) -> None:  # fmt: skip
    """Settle every `stride`-th of many problems, from `first` on: problem k has the rows ``members[starts[k]:starts[k + 1]]``.

    Its variables lie at the same places of `P`, `F`, `B`, `low` and `high`, and ``K beta`` at those of `products`; `found` takes b,
    dual, primal and pairs moved of each.
    """
    size, most_rows = 0, 0
    for k in range(first, len(starts) - 1, stride):
        count = starts[k + 1] - starts[k]
        most_rows = max(most_rows, count)
        if count != len(K) or not follow(members[starts[k] : starts[k + 1]]):
            size = max(size, count)
    room, own = np.empty(size * size), np.empty(most_rows, np.int64)
    for t in range(most_rows):
        own[t] = t
    for k in range(first, len(starts) - 1, stride):
        begin, end = starts[k], starts[k + 1]
        rows, p, f, beta = members[begin:end], P[begin:end], F[begin:end], B[begin:end]
        least, largest = low[begin:end], high[begin:end]
        part = among(K, rows, room)
        found[k, 3] = settle(part, p, f, beta, least, largest, hard, tol, aim, most)[3]
        # What rounding has added up is taken off again before anybody trusts it.
        balance(beta, least, largest)
        multiply(part, own[: end - begin], beta, p, products[begin:end], f)
        found[k, 0], found[k, 1], found[k, 2], _ = judge(p, f, beta, least, largest, hard)
