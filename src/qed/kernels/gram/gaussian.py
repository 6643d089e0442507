r"""Gaussian similarities of rows with few columns, compiled: :math:`e^{-\gamma \|x - z\|^2}` from the differences themselves.

A matrix product gives distances by :math:`\|x\|^2 + \|z\|^2 - 2x^\top z`, which cancels and then has to be repaired; with few columns
the differences cost hardly more, lose no digit, and leave nothing to repair. Tables lie column by column, so that a strip of
rows fills the vector units. The exponential is a polynomial after :math:`x = k \ln 2 + r`: its relative error is a few units in the
last place, in double and in single precision. An entry does not depend on which others are worked out with it.
"""

import numpy as np

from qed.base.compile import kernel

# So many rows at a time: their sums stay in the nearest cache.
STRIP = 256
# From here on a matrix product is faster.
MOST_COLUMNS = 64
# Below so many similarities nobody waits for a kernel to be compiled.
WORTH_COMPILING = 1 << 20
# An offset at which no row is any column.
FAR_AWAY = -(1 << 40)

PER_DOUBLE, HIGH, LOW, ROUND = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10, 6755399441055744.0
LEAST_DOUBLE = -708.0
# The polynomial of degree 11 that meets the exponential at the Chebyshev points of +-ln(2)/2: it is within 2e-17 of it there.
D0, D1, D2, D3, D4, D5, D6, D7, D8, D9, D10, D11 = (
    1.0, 1.0, 0.5000000000000019, 0.1666666666666668, 0.04166666666648795, 0.008333333333319589, 0.0013888888952352863,
    0.00019841269890076403, 2.4801485441561313e-05, 2.755724088722987e-06, 2.763265472252779e-07, 2.5110049204818658e-08,
)  # fmt: skip
SINGLE = np.float32
PER_SINGLE, HIGH_SINGLE, LOW_SINGLE, ROUND_SINGLE = (
    SINGLE(value) for value in (1.44269504, 0.693359375, -2.12194440e-4, 12582912.0)
)
C0, C1, C2, C3, C4, C5, ONE, ZERO, LEAST = (
    SINGLE(value)
    for value in (
        5.0000001201e-1,
        1.6666665459e-1,
        4.1665795894e-2,
        8.3334519073e-3,
        1.3981999507e-3,
        1.9875691500e-4,
        1.0,
        0.0,
        -87.0,
    )
)


@kernel(within=True, fastmath={"contract"})
def exponentials(values: np.ndarray) -> None:
    """Replace numbers of at most zero by their exponentials, in double precision."""
    for t in range(len(values)):
        given = values[t]
        x = max(given, LEAST_DOUBLE)
        shifted = np.float64(x * PER_DOUBLE + ROUND)
        whole = shifted - ROUND
        r = (x - whole * HIGH) - whole * LOW
        # Four terms at a time and then these together: vector units need not wait for one product after another.
        square = r * r
        fourth = square * square
        first = (D0 + D1 * r) + (D2 + D3 * r) * square
        second = (D4 + D5 * r) + (D6 + D7 * r) * square
        third = (D8 + D9 * r) + (D10 + D11 * r) * square
        p = first + second * fourth + third * (fourth * fourth)
        power = np.int64((shifted.view(np.int64) << np.int64(52)) + np.int64(1023 << 52))
        # What has no place among normal numbers is nothing.
        values[t] = p * power.view(np.float64) if given >= LEAST_DOUBLE else 0.0


@kernel(within=True, fastmath={"contract"})
def exponentials_single(values: np.ndarray) -> None:
    """Replace numbers of at most zero by their exponentials, in single precision."""
    for t in range(len(values)):
        x = max(values[t], LEAST)
        shifted = np.float32(x * PER_SINGLE + ROUND_SINGLE)
        whole = shifted - ROUND_SINGLE
        r = (x - whole * HIGH_SINGLE) - whole * LOW_SINGLE
        p = C5 * r + C4
        p = p * r + C3
        p = p * r + C2
        p = p * r + C1
        p = p * r + C0
        p = p * (r * r) + r + ONE
        power = np.int32((shifted.view(np.int32) << np.int32(23)) + np.int32(127 << 23))
        values[t] = p * power.view(np.float32)


@kernel(within=True, fastmath={"contract"})
def squares(columns: np.ndarray, start: int, row: np.ndarray, factor: float, out: np.ndarray) -> None:
    """Fill `out` with `factor` times the squared distances of one row to the rows from `start` on, which lie column by column."""
    end, p = start + len(out), len(row)
    four = p - p % 4
    for t in range(len(out)):
        out[t] = 0
    # Four columns at a time: the sums are loaded and stored less often.
    for j in range(0, four, 4):
        first, second, third, fourth = row[j], row[j + 1], row[j + 2], row[j + 3]
        column, beside = columns[j, start:end], columns[j + 1, start:end]
        after, last = columns[j + 2, start:end], columns[j + 3, start:end]
        for t in range(len(out)):
            a, b, c, d = column[t] - first, beside[t] - second, after[t] - third, last[t] - fourth
            out[t] += (a * a + b * b) + (c * c + d * d)
    for j in range(four, p):
        lead, column = row[j], columns[j, start:end]
        for t in range(len(out)):
            a = column[t] - lead
            out[t] += a * a
    for t in range(len(out)):
        out[t] *= factor


@kernel
def gaussian_rows(columns: np.ndarray, chosen: np.ndarray, factor: float, out: np.ndarray, places: np.ndarray) -> None:
    """Fill rows of `out` with the similarities of chosen rows and all rows; `columns` has shape (p, n), and the factor is minus gamma."""
    n = columns.shape[1]
    for start in range(0, n, STRIP):
        end = min(start + STRIP, n)
        for k in range(len(chosen)):
            part = out[places[k], start:end]
            squares(columns, start, chosen[k], factor, part)
            exponentials_single(part)


@kernel(fastmath={"contract"})
def gaussian_tile(products: np.ndarray, left: np.ndarray, right: np.ndarray, close: float, offset: int) -> bool:
    """Turn inner products of rows (times the root of two gamma) into similarities, given half their squared lengths.

    Say whether any two rows may be nearer than a share `close` of their squared lengths, of which the difference leaves few digits, or
    are so long that nothing is known. The i-th row is the same as that of column ``i + offset``.
    """
    most, doubtful = 0.0, 0
    for t in range(len(right)):
        most = max(most, right[t])
    for i in range(len(products)):
        line, own, place = products[i], left[i], i + offset
        limit = -close * (own + most)
        doubtful += not np.isfinite(limit)
        same = 0 <= place < len(line)
        if same:
            line[place] = -np.inf
        for t in range(len(line)):
            exponent = line[t] - own - right[t]
            doubtful += not exponent <= limit
            line[t] = min(exponent, 0.0)
        if same:
            line[place] = 0.0
        exponentials(line)
    return doubtful > 0


@kernel(fastmath={"contract"})
def single_sums(
    products: np.ndarray, left: np.ndarray, right: np.ndarray, coefficients: np.ndarray, out: np.ndarray
) -> None:
    """Do the same in single precision, and add the similarities, each line times its coefficients of shape (m, q), to `out`."""
    for i in range(len(products)):
        line, own = products[i], left[i]
        for t in range(len(line)):
            line[t] = min(line[t] - own - right[t], ZERO)
        exponentials_single(line)
        for q in range(coefficients.shape[1]):
            weight, sums = coefficients[i, q], out[q]
            if weight != 0.0:
                for t in range(len(line)):
                    sums[t] += weight * line[t]


@kernel
def gaussian_sums(
    columns: np.ndarray, rows: np.ndarray, coefficients: np.ndarray, factor: float, out: np.ndarray
) -> None:
    """Add to `out`, of shape (q, n), the similarities of all rows to `rows`, each times its coefficients of shape (m, q)."""
    n, scratch = columns.shape[1], np.empty(STRIP)
    for start in range(0, n, STRIP):
        end = min(start + STRIP, n)
        part = scratch[: end - start]
        for i in range(len(rows)):
            squares(columns, start, rows[i], factor, part)
            exponentials(part)
            for q in range(coefficients.shape[1]):
                weight, sums = coefficients[i, q], out[q, start:end]
                if weight != 0.0:
                    for t in range(len(part)):
                        sums[t] += weight * part[t]
