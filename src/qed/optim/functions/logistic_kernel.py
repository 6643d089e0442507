"""The compiled passes of the logistic loss of two classes: loss, gradient and curvature, and products with the Hessian.

A batch of rows stays in the cache while three loops go over it: their scores, what the loss says of each score, and the gradient. A table
that is stored by columns is gone through column by column, a piece of each after another, and nothing is copied. The second loop calls no
library, so that the compiler does several rows at once: the exponential is a power of two times a polynomial, and the logarithm the series
of the inverse hyperbolic tangent; both are right to a few units in the last place, also where they are tiny.
"""

from __future__ import annotations

import math

import numpy as np

from qed.base.compile import kernel

# Rows whose gradients are added up before they go to the total, so that rounding does not grow with the number of rows.
TOGETHER = 128
# Rows of a table that is stored by columns that are gone through together: a piece of a column is a page of memory.
PAGE_ROWS = 512
FAST = {"reassoc", "contract"}
# The logarithm of two in two parts: multiples of the first, which ends in zeros, are exact.
LOG2E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 6.93147180369123816490e-01, 1.90821492927058770002e-10
POWERS = 2.0 ** -np.arange(1024.0)


@kernel(within=True, fastmath={"contract"})
def falling(a: float) -> float:
    """Give the exponential of minus a number that is not negative; from 708 on, that of minus 708."""
    # The polynomials are written out, for the compiler does not take several rows at once through a loop within.
    a = min(a, 708.0)
    k = math.floor(a * LOG2E + 0.5)
    r = (k * LN2_HIGH - a) + k * LN2_LOW
    total = 1 / 6227020800
    total = (((total * r + 1 / 479001600) * r + 1 / 39916800) * r + 1 / 3628800) * r + 1 / 362880
    total = (((total * r + 1 / 40320) * r + 1 / 5040) * r + 1 / 720) * r + 1 / 120
    total = (((total * r + 1 / 24) * r + 1 / 6) * r + 1 / 2) * r + 1.0
    total = total * r + 1.0
    return total * POWERS[np.int32(k)]


@kernel(within=True, fastmath={"contract"})
def log_one_plus(s: float) -> float:
    """Give the logarithm of one plus a number from 0 to 1."""
    u = s / (2.0 + s)
    v = u * u
    total = 2 / 33
    total = (((total * v + 2 / 31) * v + 2 / 29) * v + 2 / 27) * v + 2 / 25
    total = (((total * v + 2 / 23) * v + 2 / 21) * v + 2 / 19) * v + 2 / 17
    total = (((total * v + 2 / 15) * v + 2 / 13) * v + 2 / 11) * v + 2 / 9
    total = (((total * v + 2 / 7) * v + 2 / 5) * v + 2 / 3) * v + 2.0
    return total * u


@kernel(within=True, fastmath=FAST)
def _terms(score, codes, weight, pull, bend):  # type: ignore[no-untyped-def]
    """Set the gradient and the curvature of each score; give the sums of losses, missed chances and curvatures."""
    value, missed, bent = 0.0, 0.0, 0.0
    for i in range(len(score)):
        sign = 2.0 * codes[i] - 1.0
        lead = sign * score[i]
        small = falling(abs(lead))
        certain = 1.0 / (1.0 + small)
        wrong = certain * small if lead >= 0 else certain
        value += weight[i] * (log_one_plus(small) + max(-lead, 0.0))
        missed += weight[i] * wrong
        curvature = weight[i] * (small * certain * certain)
        bend[i] = curvature
        bent += curvature
        pull[i] = -sign * weight[i] * wrong
    return value, missed, bent


@kernel(fastmath=FAST)
def logistic_rows(X, start, stop, codes, weight, shift, coef, intercept, gradient, curvature):  # type: ignore[no-untyped-def]
    """Add the gradient of the shifted rows from `start` to `stop` to `gradient`, and set the `curvature` of each of their scores.

    The last entry of `gradient` is that of the constant. Gives loss, missed chances and curvature. Rows without weight are not read.
    """
    value, missed, bent = 0.0, 0.0, 0.0
    p = X.shape[1]
    part, score, pull = np.empty(p + 1), np.empty(TOGETHER), np.empty(TOGETHER)
    for first in range(start, stop, TOGETHER):
        last = min(first + TOGETHER, stop)
        for i in range(first, last):
            total = 0.0
            if weight[i] != 0:
                row = X[i]
                for j in range(p):
                    total += (row[j] - shift[j]) * coef[j]
            score[i - first] = total + intercept
        few, none, sharp = _terms(
            score[: last - first], codes[first:last], weight[first:last], pull, curvature[first:last]
        )
        part[:] = 0.0
        for i in range(first, last):
            if weight[i] != 0:
                factor, row = pull[i - first], X[i]
                for j in range(p):
                    part[j] += factor * (row[j] - shift[j])
                part[p] += factor
        value += few
        missed += none
        bent += sharp
        for j in range(p + 1):
            gradient[j] += part[j]
    return value, missed, bent


@kernel(fastmath=FAST)
def bent_rows(X, start, stop, bend, shift, vector, constant, out):  # type: ignore[no-untyped-def]
    """Add the product of the Hessian of the rows from `start` to `stop`, whose scores bend so much, with a vector to `out`."""
    p = X.shape[1]
    part = np.empty(p + 1)
    for first in range(start, stop, TOGETHER):
        part[:] = 0.0
        for i in range(first, min(first + TOGETHER, stop)):
            if bend[i] != 0:
                row, total = X[i], constant
                for j in range(p):
                    total += (row[j] - shift[j]) * vector[j]
                total *= bend[i]
                for j in range(p):
                    part[j] += total * (row[j] - shift[j])
                part[p] += total
        for j in range(p + 1):
            out[j] += part[j]


@kernel(within=True, fastmath=FAST)
def _add_columns(X, first, last, shift, coef, score):  # type: ignore[no-untyped-def]
    """Add the shifted columns of the rows from `first` to `last`, times their coefficients, to the scores."""
    for j in range(X.shape[1]):
        factor, away, column = coef[j], shift[j], X[first:last, j]
        if factor != 0:
            for i in range(len(column)):
                score[i] += (column[i] - away) * factor


@kernel(within=True, fastmath=FAST)
def _add_products(X, first, last, shift, pull, out):  # type: ignore[no-untyped-def]
    """Add the products of the shifted columns of the rows from `first` to `last` with a pull of each row to `out`; the constant is last."""
    for start in range(first, last, TOGETHER):
        some = pull[start - first : min(start + TOGETHER, last) - first]
        for i in range(len(some)):
            out[-1] += some[i]
    for j in range(X.shape[1]):
        away = shift[j]
        for start in range(first, last, TOGETHER):
            stop = min(start + TOGETHER, last)
            total, column, some = 0.0, X[start:stop, j], pull[start - first : stop - first]
            for i in range(len(column)):
                total += some[i] * (column[i] - away)
            out[j] += total


@kernel(fastmath=FAST)
def logistic_columns(X, start, stop, codes, weight, shift, coef, intercept, gradient, curvature):  # type: ignore[no-untyped-def]
    """Do the same as `logistic_rows` for a table that is stored by columns, all of whose rows have a weight."""
    value, missed, bent = 0.0, 0.0, 0.0
    score, pull = np.empty(PAGE_ROWS), np.empty(PAGE_ROWS)
    for first in range(start, stop, PAGE_ROWS):
        last = min(first + PAGE_ROWS, stop)
        score[:] = intercept
        _add_columns(X, first, last, shift, coef, score)
        few, none, sharp = _terms(
            score[: last - first], codes[first:last], weight[first:last], pull, curvature[first:last]
        )
        _add_products(X, first, last, shift, pull, gradient)
        value += few
        missed += none
        bent += sharp
    return value, missed, bent


@kernel(fastmath=FAST)
def bent_columns(X, start, stop, bend, shift, vector, constant, out):  # type: ignore[no-untyped-def]
    """Do the same as `bent_rows` for a table that is stored by columns."""
    score = np.empty(PAGE_ROWS)
    for first in range(start, stop, PAGE_ROWS):
        last = min(first + PAGE_ROWS, stop)
        score[:] = constant
        _add_columns(X, first, last, shift, vector, score)
        for i in range(last - first):
            score[i] *= bend[first + i]
        _add_products(X, first, last, shift, score, out)


@kernel(fastmath=FAST)
def sparse_logistic_rows(data, indices, indptr, start, stop, codes, weight, coef, intercept, gradient, curvature):  # type: ignore[no-untyped-def]
    """Do the same as `logistic_rows` for a sparse table."""
    value, missed, bent = 0.0, 0.0, 0.0
    p = len(gradient) - 1
    score, pull = np.empty(TOGETHER), np.empty(TOGETHER)
    for first in range(start, stop, TOGETHER):
        last = min(first + TOGETHER, stop)
        for i in range(first, last):
            # Slices and unsigned places spare the compiler the check for negative ones.
            values, places = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
            total = 0.0
            if weight[i] != 0:
                for k in range(len(values)):
                    total += values[k] * coef[np.uint64(places[k])]
            score[i - first] = total + intercept
        few, none, sharp = _terms(
            score[: last - first], codes[first:last], weight[first:last], pull, curvature[first:last]
        )
        for i in range(first, last):
            if weight[i] != 0:
                values, places = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
                factor = pull[i - first]
                for k in range(len(values)):
                    gradient[np.uint64(places[k])] += factor * values[k]
                gradient[p] += factor
        value += few
        missed += none
        bent += sharp
    return value, missed, bent
