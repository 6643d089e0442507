"""The least objective of small support vector machines, in fractions: the case of every row is guessed, and what follows is checked.

Where it is known which multipliers are zero, at their bound or free, they solve linear equations, and the conditions of Karush, Kuhn and
Tucker then tell, without rounding, whether the guess was right. A first guess comes from a fitted plane; others follow, row by row.
"""

from fractions import Fraction
from itertools import combinations, product

import numpy as np

ZERO, BOUND, FREE = range(3)
# So many cases may be wrong in a first guess.
MOST_WRONG = 3


def fractions(values):
    return [Fraction(float(value)) for value in np.ravel(values)]


def dot(a, b):
    return sum((u * v for u, v in zip(a, b)), Fraction(0))


def solved(A, b):
    """Solve equations by elimination; None where they have no single solution."""
    n, A = len(b), [[*row, value] for row, value in zip(A, b)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if A[i][k]), None)
        if pivot is None:
            return None
        A[k], A[pivot] = A[pivot], A[k]
        for i in range(n):
            if i != k and A[i][k]:
                share = A[i][k] / A[k][k]
                A[i] = [u - share * v for u, v in zip(A[i], A[k])]
    return [A[k][n] / A[k][k] for k in range(n)]


def guesses(first, choices):
    """Give cases, those that differ from the first in few places sooner."""
    for wrong in range(MOST_WRONG + 1):
        for places in combinations(range(len(first)), wrong):
            for other in product(*([c for c in choices if c != first[i]] for i in places)):
                case = list(first)
                for i, value in zip(places, other):
                    case[i] = value
                yield case


def least_with_slack(X, p, C, side, scores):
    """Give the least of ``|w|^2 / 2 + C sum_i max(0, side_i (p_i - x_i w - b))``; None where no guess was right.

    A regression has two terms for each row: one for each side of the tube.
    """
    rows, C = [fractions(row) for row in X], Fraction(float(C))
    K = [[dot(a, b) for b in rows] for a in rows]
    over = [s * float(q - Fraction(float(f))) for s, q, f in zip(side, p, scores)]
    near = 1e-4 * (1 + max(abs(v) for v in over))
    first = [FREE if abs(v) < near else BOUND if v > 0 else ZERO for v in over]
    for case in guesses(first, (ZERO, BOUND, FREE)):
        found = _checked(K, p, C, side, case)
        if found is not None:
            return found
    return None


def _checked(K, p, C, side, case):
    """Give the dual objective of the multipliers that follow from a case, where they are optimal."""
    n, free = len(p), [i for i, kind in enumerate(case) if kind == FREE]
    beta = [s * C if kind == BOUND else Fraction(0) for s, kind in zip(side, case)]
    rest = [q - dot(line, beta) for q, line in zip(p, K)]
    if free:
        A = [[*(K[i][j] for j in free), Fraction(1)] for i in free] + [[Fraction(1)] * len(free) + [Fraction(0)]]
        found = solved(A, [*(rest[i] for i in free), -sum(beta)])
        if found is None:
            return None
        for i, value in zip(free, found):
            beta[i] = value
        low = high = found[-1]
        rest = [q - dot(line, beta) for q, line in zip(p, K)]
    else:
        # Whatever constant puts all rows on their sides will do.
        above = [r for r, s, kind in zip(rest, side, case) if (s > 0) == (kind == BOUND)]
        below = [r for r, s, kind in zip(rest, side, case) if (s > 0) != (kind == BOUND)]
        if sum(beta) or (above and below and max(below) > min(above)):
            return None
        low = high = min(above) if above else max(below)
    for i in range(n):
        beyond = side[i] * (rest[i] - low)
        wrong = (case[i] == ZERO and beyond > 0) or (case[i] == BOUND and beyond < 0)
        if wrong or not 0 <= side[i] * beta[i] <= C:
            return None
    assert low == high
    return dot(beta, p) - dot(beta, [dot(line, beta) for line in K]) / 2


def least_with_squares(X, sign, C, coef, intercept, sizes):
    """Give the least of a penalty and ``C sum_i max(0, 1 - sign_i (x_i w + b))^2``; None where no guess was right.

    The penalty is the sum of sizes of the coefficients, or half their squares.
    """
    rows, C, p = [fractions(row) for row in X], Fraction(float(C)), len(X[0])
    margin = [s * (dot(row, fractions(coef)) + Fraction(float(intercept))) for s, row in zip(sign, rows)]
    first = [int(value < 1) for value in margin]
    signs = [int(np.sign(value)) for value in coef] if sizes else [2] * p
    for directions in guesses(signs, (-1, 0, 1)) if sizes else [signs]:
        for case in guesses(first, (0, 1)):
            found = _checked_squares(rows, sign, C, directions, case)
            if found is not None:
                return found
    return None


def _checked_squares(rows, sign, C, directions, case):
    """Give the objective of the plane that follows from which rows have slack and which coefficients are not zero, where it is optimal."""
    used, p = [j for j, d in enumerate(directions) if d], len(directions)
    active = [([row[j] for j in used] + [Fraction(1)], s) for row, s, slack in zip(rows, sign, case) if slack]
    if not active:
        return None
    size = len(used) + 1
    A = [[2 * C * sum(row[i] * row[j] for row, _ in active) for j in range(size)] for i in range(size)]
    b = [2 * C * sum(row[i] * s for row, s in active) for i in range(size)]
    for place, j in enumerate(used):
        if directions[j] == 2:
            A[place][place] += 1
        else:
            b[place] -= directions[j]
    found = solved(A, b)
    if found is None:
        return None
    w = [Fraction(0)] * p
    for place, j in enumerate(used):
        w[j] = found[place]
    slack = [1 - s * (dot(row, w) + found[-1]) for row, s in zip(rows, sign)]
    if any((value < 0) if one else (value > 0) for value, one in zip(slack, case)):
        return None
    pull = [2 * C * sum(max(value, 0) * s * row[j] for value, s, row in zip(slack, sign, rows)) for j in range(p)]
    for j, d in enumerate(directions):
        if d != 2 and ((d and w[j] * d < 0) or (not d and abs(pull[j]) > 1)):
            return None
    penalty = dot(w, w) / 2 if directions[0] == 2 else sum(abs(value) for value in w)
    return penalty + C * sum(max(value, 0) ** 2 for value in slack)


def bracket_of_all_classes(rows, codes, planes, multipliers, C):
    """Give the objective of planes, of which the last entry is the constant, and one that the least of all can not be below.

    Multipliers of other classes are cut at zero and shrunk until they are no more than C together; the own one is what they lack.
    """
    rows, C, places = [[*fractions(row), Fraction(1)] for row in rows], Fraction(float(C)), range(len(planes))
    planes = [fractions(plane) for plane in planes]
    primal = sum((dot(plane, plane) for plane in planes), Fraction(0)) / 2
    pulled, total = [[Fraction(0)] * len(rows[0]) for _ in planes], Fraction(0)
    for row, own, line in zip(rows, codes, multipliers):
        score = [dot(plane, row) for plane in planes]
        primal += C * max(0 if k == own else 1 + score[k] - score[own] for k in places)
        others = [min(value, Fraction(0)) if k != own else Fraction(0) for k, value in enumerate(fractions(line))]
        shrunk = min(Fraction(1), C / -sum(others)) if any(others) else Fraction(1)
        amounts = [shrunk * (-sum(others) if k == own else others[k]) for k in places]
        total += amounts[own]
        pulled = [[u + amount * v for u, v in zip(plane, row)] for plane, amount in zip(pulled, amounts)]
    return primal, total - sum((dot(plane, plane) for plane in pulled), Fraction(0)) / 2
