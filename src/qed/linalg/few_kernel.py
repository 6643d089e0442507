"""Products of a tall table with few vectors, both ways; BLAS spends more time on rearranging a table than on multiplying it with ten.

Several rows and vectors are taken together, so that a value that was loaded is used more than once.
"""

import numpy as np

from qed.base.compile import kernel

FAST = {"reassoc", "contract"}
# So many vectors are few, and with fewer values in the table nothing is compiled.
FEWEST, MOST, COMPILED_FROM = 3, 16, 1 << 16


def suits(X: object, n_vectors: int) -> bool:
    """Say whether a table is large, lies row by row in double precision, and is to be multiplied with few vectors."""
    if not isinstance(X, np.ndarray) or not FEWEST <= n_vectors <= MOST:
        return False
    return X.dtype == np.float64 and X.size >= COMPILED_FROM and X.flags.c_contiguous and X.flags.aligned


def times_few(X: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Give ``X vectors'``."""
    m = len(vectors)
    padded, found = np.zeros((m + -m % 4, X.shape[1])), np.empty((len(X), m + -m % 4))
    padded[:m] = vectors
    _rows_times(X, padded, found)
    return found[:, :m]


def few_times(values: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Give ``values' X``."""
    found = np.zeros((values.shape[1], X.shape[1]))
    _times_rows(values, X, found)
    return found


@kernel(fastmath=FAST)
def _rows_times(X, vectors, out):  # type: ignore[no-untyped-def]
    """Set the products of all rows with vectors, whose number is a multiple of four: two rows with four vectors at a time."""
    n, p = X.shape
    for i in range(0, n, 2):
        # The last of an odd number of rows is worked on twice.
        then = min(i + 1, n - 1)
        row, next_row = X[i], X[then]
        for k in range(0, len(vectors), 4):
            a, b, c, d = vectors[k], vectors[k + 1], vectors[k + 2], vectors[k + 3]
            ua, ub, uc, ud, va, vb, vc, vd = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for j in range(p):
                u, v = row[j], next_row[j]
                ua += u * a[j]
                ub += u * b[j]
                uc += u * c[j]
                ud += u * d[j]
                va += v * a[j]
                vb += v * b[j]
                vc += v * c[j]
                vd += v * d[j]
            out[i, k], out[i, k + 1], out[i, k + 2], out[i, k + 3] = ua, ub, uc, ud
            out[then, k], out[then, k + 1], out[then, k + 2], out[then, k + 3] = va, vb, vc, vd


@kernel(fastmath=FAST)
def _times_rows(values, X, out):  # type: ignore[no-untyped-def]
    """Add the sums over the rows of values times rows to `out`: four rows at a time."""
    n, p = X.shape
    m = values.shape[1]
    whole = n - n % 4
    for i in range(0, whole, 4):
        first, second, third, fourth = X[i], X[i + 1], X[i + 2], X[i + 3]
        for k in range(0, m - 1, 2):
            total, other = out[k], out[k + 1]
            a, b, c, d = values[i, k], values[i + 1, k], values[i + 2, k], values[i + 3, k]
            e, f, g, h = values[i, k + 1], values[i + 1, k + 1], values[i + 2, k + 1], values[i + 3, k + 1]
            for j in range(p):
                u, v, w, x = first[j], second[j], third[j], fourth[j]
                total[j] += (a * u + b * v) + (c * w + d * x)
                other[j] += (e * u + f * v) + (g * w + h * x)
        if m % 2:
            total = out[m - 1]
            a, b, c, d = values[i, m - 1], values[i + 1, m - 1], values[i + 2, m - 1], values[i + 3, m - 1]
            for j in range(p):
                total[j] += (a * first[j] + b * second[j]) + (c * third[j] + d * fourth[j])
    for i in range(whole, n):
        for k in range(m):
            for j in range(p):
                out[k, j] += values[i, k] * X[i, j]
