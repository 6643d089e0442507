"""Convolution, the positive part and pooling as one compiled step, on images whose last axis is the batch.

Images are held as (channels, height, width, n): a row of windows is then copied in long stretches, every loop runs over neighbours in
memory, and a product of the filters with the windows of one line of the image stays in the cache until it is pooled. Nothing of the
unpooled maps is ever written out: which of the four values was the largest is remembered in a byte, and the windows are copied again on
the way back, which is cheaper than to have kept them.
"""

from __future__ import annotations

import numpy as np

from qed.base.compile import kernel

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
def _windows(images, y, rows, columns, across, into):  # type: ignore[no-untyped-def]
    """Copy the windows of line `y`: a row of `into` for each pixel of a window."""
    channels, _, width, n = images.shape
    r, length = 0, across * n
    for c in range(channels):
        for a in range(rows):
            line = images[c, y + a].reshape(width * n)
            for b in range(columns):
                there, here = into[r], line[b * n : b * n + length]
                for t in range(length):
                    there[t] = here[t]
                r += 1


@kernel(fastmath=FAST)
def convolve_and_pool(images, filters, offset, rows, columns, windows, lines, pooled, largest):  # type: ignore[no-untyped-def]
    """Filter images, take the positive part and the largest of each two by two values, and remember which it was."""
    zero = images.dtype.type(0)
    count, n = len(filters), images.shape[3]
    half, across = pooled.shape[1], images.shape[2] - columns + 1
    for y in range(half):
        for k in range(2):
            _windows(images, 2 * y + k, rows, columns, across, windows)
            np.dot(filters, windows, lines[k])
        for o in range(count):
            upper, lower, b = lines[0, o], lines[1, o], offset[o]
            for x in range(pooled.shape[2]):
                at = 2 * x * n
                a0, a1 = upper[at : at + n], upper[at + n : at + 2 * n]
                b0, b1 = lower[at : at + n], lower[at + n : at + 2 * n]
                out, which = pooled[o, y, x], largest[o, y, x]
                for i in range(n):
                    first, second = max(a0[i], a1[i]), max(b0[i], b1[i])
                    value = max(first, second) + b
                    left = np.int8(0) if a0[i] >= a1[i] else np.int8(1)
                    right = np.int8(2) if b0[i] >= b1[i] else np.int8(3)
                    left = left if first >= second else right
                    out[i] = max(value, zero)
                    which[i] = left if value > zero else np.int8(NOWHERE)


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


@kernel(fastmath=FAST)
def convolve_back(images, filters, slope, largest, rows, columns, windows, lines, slopes, part, to_images):  # type: ignore[no-untyped-def]
    """Add the slopes of filters, offsets and images, where the last are asked for (else `to_images` is empty)."""
    to_filters, to_offset = slopes
    channels, _, width, n = images.shape
    count, across = len(filters), width - columns + 1
    length, wanted = across * n, to_images.shape[0] > 0
    for y in range(slope.shape[1]):
        if 2 * slope.shape[2] < across:
            for k in range(2):
                for o in range(count):
                    line = lines[k, o]
                    for t in range(2 * slope.shape[2] * n, length):
                        line[t] = images.dtype.type(0)
        _unpool(slope, largest, y, lines, to_offset)
        for k in range(2):
            _windows(images, 2 * y + k, rows, columns, across, windows)
            np.dot(lines[k], windows.T, part)
            for o in range(count):
                there, here = to_filters[o], part[o]
                for r in range(len(here)):
                    there[r] += here[r]
            if wanted:
                np.dot(filters.T, lines[k], windows)
                r = 0
                for c in range(channels):
                    for a in range(rows):
                        whole = to_images[c, 2 * y + k + a].reshape(width * n)
                        for b in range(columns):
                            into, given = whole[b * n : b * n + length], windows[r]
                            for t in range(length):
                                into[t] += given[t]
                            r += 1
