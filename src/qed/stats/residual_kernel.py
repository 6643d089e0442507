"""Compiled sums of residuals to twice the digits; what they are is said in :mod:`qed.stats.residual_sums`."""

import numpy as np

from qed.base.compile import kernel

# So many rows are gone through at a time: their sums of errors stay small, and they fit into the cache.
ROWS = 64
HALF = 134217729.0


@kernel
def add_residuals(X, Y, weight, center, coef, intercept, g_high, g_low, t_high, t_low, square):  # type: ignore[no-untyped-def]
    """Add up the products of features about `center` and residuals, the residuals, and their squares, of all rows of a table."""
    n, p = X.shape
    turned, high, low = np.empty((p, ROWS)), np.empty(ROWS), np.empty(ROWS)
    own_high, own_low = np.empty(p), np.empty(p)
    for start in range(0, n, ROWS):
        rows = min(ROWS, n - start)
        for r in range(rows):
            for j in range(p):
                turned[j, r] = X[start + r, j]
        for k in range(Y.shape[1]):
            for r in range(rows):
                s = Y[start + r, k] - intercept[k]
                b = s - Y[start + r, k]
                low[r] = (Y[start + r, k] - (s - b)) + (-intercept[k] - b)
                high[r] = s
            for j in range(p):
                subtract_product(turned[j], coef[j, k], high, low, rows)
            own_high[:], own_low[:] = 0.0, 0.0
            for r in range(rows):
                i = start + r
                square[k] += weight[i] * (high[r] + low[r]) ** 2
                value, error = weighted(high[r], low[r], weight[i])
                add_row(X[i], center, value, error, own_high, own_low)
                t_high[k], t_low[k] = added(t_high[k], t_low[k], value, error)
            for j in range(p):
                g_high[j, k], g_low[j, k] = added(g_high[j, k], g_low[j, k], own_high[j], own_low[j])


@kernel(within=True)
def subtract_product(column, w, high, low, rows):  # type: ignore[no-untyped-def]
    """Take ``column * w`` away from ``high + low``, for so many rows."""
    c = HALF * w
    w_high = c - (c - w)
    w_low = w - w_high
    for r in range(rows):
        x = column[r]
        c = HALF * x
        x_high = c - (c - x)
        x_low = x - x_high
        product = x * w
        error = x_low * w_low - (((product - x_high * w_high) - x_low * w_high) - x_high * w_low)
        s = high[r] - product
        b = s - high[r]
        low[r] += ((high[r] - (s - b)) + (-product - b)) - error
        high[r] = s


@kernel(within=True)
def weighted(high, low, weight):  # type: ignore[no-untyped-def]
    """Give ``weight * (high + low)`` as a sum of two floats, the second below the last bit of the first."""
    s = high + low
    low = low - (s - high)
    product = weight * s
    c = HALF * s
    s_high = c - (c - s)
    c = HALF * weight
    w_high = c - (c - weight)
    s_low, w_low = s - s_high, weight - w_high
    error = s_low * w_low - (((product - s_high * w_high) - s_low * w_high) - s_high * w_low)
    return product, error + weight * low


@kernel(within=True)
def add_row(row, center, value, error, high, low):  # type: ignore[no-untyped-def]
    """Add ``(row - center) * (value + error)`` to ``high + low``."""
    c = HALF * value
    v_high = c - (c - value)
    v_low = value - v_high
    for j in range(len(row)):
        away = row[j] - center[j]
        b = away - row[j]
        rest = (row[j] - (away - b)) + (-center[j] - b)
        c = HALF * away
        a_high = c - (c - away)
        a_low = away - a_high
        product = away * value
        slip = a_low * v_low - (((product - a_high * v_high) - a_low * v_high) - a_high * v_low)
        s = high[j] + product
        b = s - high[j]
        low[j] += ((high[j] - (s - b)) + (product - b)) + (slip + (away * error + rest * value))
        high[j] = s


@kernel(within=True)
def added(a, a_low, b, b_low):  # type: ignore[no-untyped-def]
    """Add two numbers that are sums of two floats."""
    s = a + b
    c = s - a
    error = ((a - (s - c)) + (b - c)) + (a_low + b_low)
    total = s + error
    return total, error - (total - s)
