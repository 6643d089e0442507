"""Convolution, the positive part and pooling as one compiled step, on images whose last axis is the batch.

Images are held as (channels, height, width, n), one value after the other, with a border and room for a tile behind the last. A line of
all windows then is one long row for each pixel of a window, which begins somewhere in the images: filters are multiplied with these rows
where they are, see :mod:`qed.linalg.registers.tiles`, and nothing is copied. Every loop runs over neighbours in memory. Nothing of the
unpooled maps is ever written out: which of the four values was the largest is remembered in a byte.
"""

from __future__ import annotations

import numpy as np

from qed.base.compile import kernel
from qed.linalg.registers.tiles import add_lanes, add_tile, columns_in_tile, rows_in_tile

FAST = {"contract", "reassoc", "nsz"}
NOWHERE = 4  # the largest value was not above zero


@kernel(fastmath=FAST)
def as_images(rows, images, down, across):  # type: ignore[no-untyped-def]
    """Write rows of numbers as images with their border, the batch last; the border is left as it is."""
    n = len(rows)
    channels, height, width = images.shape[0], images.shape[1] - 2 * down, images.shape[2] - 2 * across
    for i in range(n):
        row, at = rows[i], 0
        for c in range(channels):
            for y in range(height):
                for x in range(width):
                    images[c, y + down, x + across, i] = row[at]
                    at += 1


@kernel(within=True, fastmath=FAST)
def _pool(upper, lower, b, pooled, largest):  # type: ignore[no-untyped-def]
    """Pool two lines of one map: the positive part of the largest of each two by two values, and which it was."""
    zero, n = upper.dtype.type(0), pooled.shape[1]
    for x in range(len(pooled)):
        at = 2 * x * n
        a0, a1 = upper[at : at + n], upper[at + n : at + 2 * n]
        b0, b1 = lower[at : at + n], lower[at + n : at + 2 * n]
        out, which = pooled[x], largest[x]
        for i in range(n):
            first, second = max(a0[i], a1[i]), max(b0[i], b1[i])
            value = max(first, second) + b
            left = np.int8(0) if a0[i] >= a1[i] else np.int8(1)
            right = np.int8(2) if b0[i] >= b1[i] else np.int8(3)
            left = left if first >= second else right
            out[i] = max(value, zero)
            which[i] = left if value > zero else np.int8(NOWHERE)


@kernel
def convolve_and_pool(images, line, filters, offset, places, lines, pooled, largest):  # type: ignore[no-untyped-def]
    """Filter images, take the positive part and the largest of each two by two values, and remember which it was.

    `line` is how many values a line of one image has, `places` says where the rows of windows begin.
    """
    high, wide = rows_in_tile(), columns_in_tile(lines)
    count, pixels, length = len(offset), len(places), lines.shape[2]
    made = lines.reshape(lines.size)
    for y in range(pooled.shape[1]):
        for k in range(2):
            start = (2 * y + k) * line
            for j in range(0, length, wide):
                for o in range(0, count, high):
                    add_tile(
                        filters, o * pixels, pixels, 1, images, start + j, 1, places,
                        made, (k * count + o) * length + j, length, min(high, count - o), pixels, False,
                    )  # fmt: skip
        for o in range(count):
            _pool(lines[0, o], lines[1, o], offset[o], pooled[o, y], largest[o, y])


@kernel(within=True, fastmath=FAST)
def _unpool(slope, largest, y, lines, total):  # type: ignore[no-untyped-def]
    """Hand the slopes of a pooled line to the values that were the largest; sum them into those of the offsets."""
    zero = slope.dtype.type(0)
    n = slope.shape[3]
    for o in range(slope.shape[0]):
        upper, lower, whole = lines[0, o], lines[1, o], zero
        for x in range(slope.shape[2]):
            at = 2 * x * n
            a0, a1 = upper[at : at + n], upper[at + n : at + 2 * n]
            b0, b1 = lower[at : at + n], lower[at + n : at + 2 * n]
            given, which = slope[o, y, x], largest[o, y, x]
            for i in range(n):
                v, q = given[i], which[i]
                a0[i] = v if q == 0 else zero
                a1[i] = v if q == 1 else zero
                b0[i] = v if q == 2 else zero
                b1[i] = v if q == 3 else zero
                whole += v if q < 4 else zero
        total[o] += whole


@kernel(within=True)
def _to_images(filters, shape, lines, k, start, line, plane, numbers, to_images):  # type: ignore[no-untyped-def]
    """Add what one line of slopes gives to the slopes of the images that it was made of."""
    high, wide = rows_in_tile(), columns_in_tile(lines)
    count, length = lines.shape[1], lines.shape[2]
    channels, rows, columns, n = shape
    given, window = lines.reshape(lines.size), rows * columns
    for a in range(rows):
        for b in range(columns):
            for j in range(0, length, wide):
                for c in range(0, channels, high):
                    add_tile(
                        filters, c * window + a * columns + b, window, channels * window,
                        given, k * count * length + j, length, numbers,
                        to_images, c * plane + start + a * line + b * n + j, plane, min(high, channels - c), count, True,
                    )  # fmt: skip


@kernel(fastmath=FAST)
def convolve_back(images, line, plane, filters, shape, slope, largest, places, numbers, lines, sums, slopes, to_images):  # type: ignore[no-untyped-def]
    """Add the slopes of filters, offsets and images, where the last are asked for (else `to_images` is empty).

    `shape` is that of a filter (channels, rows, columns) and the batch. `lines` are zeros where no pooled value comes from, `sums` have a
    vector for each value of the filters.
    """
    to_filters, to_offset = slopes
    high, lanes = rows_in_tile(), sums.shape[2]
    count, pixels, length = lines.shape[1], len(places), lines.shape[2]
    given, totals, zero = lines.reshape(lines.size), sums.reshape(sums.size), sums.dtype.type(0)
    for t in range(len(totals)):
        totals[t] = zero
    for y in range(slope.shape[1]):
        _unpool(slope, largest, y, lines, to_offset)
        for k in range(2):
            start = (2 * y + k) * line
            for o in range(0, count, high):
                rows = min(high, count - o)
                for r in range(0, pixels, 2):
                    add_lanes(
                        given, (k * count + o) * length, length, images, start, places, r, pixels,
                        totals, o * pixels * lanes, pixels * lanes, rows, length,
                    )  # fmt: skip
            if len(to_images):
                _to_images(filters, shape, lines, k, start, line, plane, numbers, to_images)
    for o in range(count):
        for r in range(pixels):
            whole = zero
            for each in sums[o, r]:
                whole += each
            to_filters[o, r] += whole
