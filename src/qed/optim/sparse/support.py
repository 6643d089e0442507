r"""Newton steps on the support: the exact end of a sparse quadratic problem.

.. math:: \min_w\ \tfrac12 w^\top G w - q^\top w + \lambda_1 \|w\|_1 + \tfrac12 \lambda_2 \|w\|^2, \qquad h = q - G w .

While the signs :math:`s` of the coefficients in the support :math:`S` stay what they are, the problem is linear algebra, and
:math:`d` with :math:`(G_{SS} + \lambda_2 I)\, d = h_S - \lambda_2 w_S - \lambda_1 s` is the way to its minimum. Go there, or as far
as the first coefficient that becomes zero, which leaves the support; at the minimum, let in the columns with
:math:`|h_j| > \lambda_1`. The objective falls with every step, so no support comes twice, and the end is exact: with the right
support and signs, the solution is that of a linear system. A triangular factor :math:`R^\top R = G_{SS} + \lambda_2 I` is kept up to
date, so that every change costs :math:`O(|S|^2)`. A column that follows from those in the support (a duplicate, a sum of
others) has no place in a triangular factor: it takes the place of one of them, as in the simplex method.

Osborne, Presnell and Turlach (2000), A new approach to variable selection in least squares problems.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.optim.sparse.sweeps import FAST, take_away

# A column whose squared distance from the span of the support is below this share of its squared length follows from it.
DEPENDENT = 1e-13


@kernel(within=True, fastmath=FAST)
def forward(factor: Any, size: int, right: Any) -> None:
    """Solve ``R' z = right`` in place."""
    for i in range(size):
        row, rest = factor[i, i + 1 : size], right[i + 1 : size]
        value = right[i] / factor[i, i]
        right[i] = value
        for c in range(len(rest)):
            rest[c] -= value * row[c]


@kernel(within=True, fastmath=FAST)
def backward(factor: Any, size: int, right: Any) -> None:
    """Solve ``R z = right`` in place."""
    for i in range(size - 1, -1, -1):
        row, rest = factor[i, i + 1 : size], right[i + 1 : size]
        total = 0.0
        for c in range(len(rest)):
            total += row[c] * rest[c]
        right[i] = (right[i] - total) / factor[i, i]


@kernel(within=True, fastmath=FAST)
def append(gram: Any, l2: float, factor: Any, order: Any, size: int, j: int, column: Any) -> bool:
    """Add column j to the factor, and leave ``R' z = gram[order, j]`` in `column`; False when it follows from the others."""
    total = 0.0
    for i in range(size):
        column[i] = gram[j, order[i]]
    forward(factor, size, column)
    for i in range(size):
        total += column[i] * column[i]
    length = gram[j, j] + l2
    if not length - total > DEPENDENT * length:
        return False
    for i in range(size):
        factor[i, size] = column[i]
    factor[size, size] = np.sqrt(length - total)
    order[size] = j
    return True


@kernel(within=True, fastmath=FAST)
def remove(factor: Any, order: Any, size: int, place: int) -> None:
    """Take the column at `place` out of the factor, by rotating the rows below it back into a triangle."""
    for r in range(size):
        first = place if place >= r else r - 1
        goal, source = factor[r, first : size - 1], factor[r, first + 1 : size]
        for c in range(len(goal)):
            goal[c] = source[c]
    for r in range(place, size - 1):
        order[r] = order[r + 1]
        upper, lower = factor[r, r : size - 1], factor[r + 1, r : size - 1]
        length = np.sqrt(upper[0] * upper[0] + lower[0] * lower[0])
        cosine, sine = upper[0] / length, lower[0] / length
        for c in range(len(upper)):
            a, b = upper[c], lower[c]
            upper[c] = cosine * a + sine * b
            lower[c] = cosine * b - sine * a


@kernel(within=True)
def first_zero(coef: Any, order: Any, size: int, move: Any, sign: Any, most: float) -> Any:
    """Give how far one can go along `move` before a coefficient loses its sign, at most `most`, and which one it is."""
    step, place = most, -1
    for i in range(size):
        value, towards = coef[order[i]] * sign[order[i]], move[i] * sign[order[i]]
        if towards < 0.0 and value + step * towards <= 0.0:
            step, place = (value / -towards if value > 0.0 else 0.0), i
    return step, place


@kernel(within=True)
def solve_signed(
    slope: Any, coef: Any, l1: float, l2: float, factor: Any, order: Any, size: int, sign: Any, work: Any
) -> int:
    """Minimise over the support while signs stay, dropping coefficients that become zero; give the new size.

    `slope` is that of the coefficients on entry, and is left as it is.
    """
    pull, move = work[0], work[1]
    for i in range(size):
        j = order[i]
        pull[i] = slope[j] - l2 * coef[j] - l1 * sign[j]
    while size > 0:
        for i in range(size):
            move[i] = pull[i]
        forward(factor, size, move)
        backward(factor, size, move)
        step, place = first_zero(coef, order, size, move, sign, 1.0)
        for i in range(size):
            coef[order[i]] += step * move[i]
            pull[i] *= 1.0 - step
        if place < 0:
            break
        coef[order[place]] = 0.0
        sign[order[place]] = 0.0
        remove(factor, order, size, place)
        size -= 1
        for i in range(place, size):
            pull[i] = pull[i + 1]
    return size


@kernel(within=True)
def exchange(coef: Any, factor: Any, order: Any, size: int, j: int, sign: Any, column: Any) -> int:
    """Let column j, which follows from the support, take the place of the first coefficient that it drives to zero.

    Predictions stay what they are, and the sum of the sizes of the coefficients does not grow. Gives the new size: the old one
    where it is j that is driven to zero, or where nothing is.
    """
    backward(factor, size, column)
    way = sign[j]
    for i in range(size):
        way -= column[i] * sign[order[i]]
    towards = -sign[j] if way * sign[j] > 0.0 and coef[j] != 0.0 else sign[j]
    for i in range(size):
        column[i] *= -towards
    most = abs(coef[j]) if towards != sign[j] else np.inf
    step, place = first_zero(coef, order, size, column, sign, most)
    if step == np.inf:
        return size
    for i in range(size):
        coef[order[i]] += step * column[i]
    coef[j] = 0.0 if place < 0 else coef[j] + step * towards
    if place < 0:
        return size
    coef[order[place]] = 0.0
    sign[order[place]] = 0.0
    remove(factor, order, size, place)
    return size - 1


@kernel(within=True)
def let_in(gram: Any, coef: Any, l2: float, factor: Any, order: Any, size: int, sign: Any, j: int, column: Any) -> int:
    """Bring column j, whose sign is set, into the support; give the new size."""
    if append(gram, l2, factor, order, size, j, column):
        return size + 1
    left = exchange(coef, factor, order, size, j, sign, column)
    if left < size and append(gram, l2, factor, order, left, j, column):
        return size
    sign[j] = 0.0
    return left


@kernel(within=True)
def refresh(gram: Any, slope: Any, coef: Any, before: Any) -> bool:
    """Bring `slope` up to date after coefficients were changed from `before`; say whether any was."""
    moved = False
    for j in range(len(coef)):
        if coef[j] != before[j]:
            take_away(slope, gram[j, : len(coef)], coef[j] - before[j])
            before[j] = coef[j]
            moved = True
    return moved


@kernel
def settle(
    gram: Any,
    slope: Any,
    coef: Any,
    l1: float,
    l2: float,
    positive: bool,
    factor: Any,
    order: Any,
    size: int,
    sign: Any,
    margin: float,
    rounds: int,
    work: Any,
) -> int:
    """Go to the minimum, support by support; `coef`, `slope`, `factor`, `order` and `sign` are changed in place.

    What `gram` to `positive` are is said in :func:`qed.optim.sparse.sweeps.descend`. `factor` has room for the
    triangular factor of at most m columns, of which the first `size` are there already; `order` holds them, and `sign`
    their signs, zero for all others. A correlation may exceed `l1` by `margin`; `work` is room to work in, three rows.
    Gives the size of the support: when it is m, there may be columns for which there was no room.
    """
    k = len(coef)
    before = work[2, :k]
    for j in range(k):
        before[j] = coef[j]
    last, idle = np.inf, 0
    for _ in range(rounds):
        size = solve_signed(slope, coef, l1, l2, factor, order, size, sign, work)
        idle = 0 if refresh(gram, slope, coef, before) else idle + 1
        off, entered = 0.0, 0
        for i in range(size):
            away = abs(slope[order[i]] - l2 * coef[order[i]] - l1 * sign[order[i]])
            off = away if away > off else off
        for j in range(k):
            pull = slope[j] if positive else abs(slope[j])
            if sign[j] == 0.0 and pull > l1 + margin and size < len(factor):
                sign[j] = 1.0 if slope[j] > 0.0 else -1.0
                size = let_in(gram, coef, l2, factor, order, size, sign, j, work[0])
                entered += 1
        refresh(gram, slope, coef, before)
        if idle > 1 or (entered == 0 and (off <= margin or off > 0.5 * last)):
            break
        last = off
    return size
