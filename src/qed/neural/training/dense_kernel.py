"""A network of dense layers as one compiled loop over batches: forward, backward and the update, without leaving the machine code.

What costs time in a small network is not its arithmetic but the way from one operation to the next; in a large one it is memory that is
gone through once too often. Here offsets, activations and their slopes are part of the loops over what the products left in the cache,
softmax and cross-entropy are one loop, and batches follow each other without a word of Python. Slopes too small to matter are set to zero:
a processor takes a hundred times as long for numbers below 1e-38.
"""

from __future__ import annotations

import math

import numpy as np

from qed.base.compile import kernel
from qed.neural.training.updates import adam_rows, momentum_rows

ACTIVATIONS = ("identity", "relu", "leaky_relu", "logistic", "tanh")
LOSSES = ("squared_error", "log_loss", "cross_entropy")
FAST = {"contract", "reassoc", "nsz"}


@kernel(within=True, fastmath=FAST)
def _activate(Z, offset, kind, delta):  # type: ignore[no-untyped-def]
    """Add the offsets to a batch and apply the activation, in place."""
    zero, one, half = Z.dtype.type(0), Z.dtype.type(1), Z.dtype.type(0.5)
    for i in range(Z.shape[0]):
        row = Z[i]
        if kind == 1:
            for j in range(len(row)):
                row[j] = max(row[j] + offset[j], zero)
        elif kind == 0:
            for j in range(len(row)):
                row[j] += offset[j]
        elif kind == 2:
            for j in range(len(row)):
                z = row[j] + offset[j]
                row[j] = z if z > zero else delta * z
        elif kind == 3:
            for j in range(len(row)):
                row[j] = half * (math.tanh(half * (row[j] + offset[j])) + one)
        else:
            for j in range(len(row)):
                row[j] = math.tanh(row[j] + offset[j])


@kernel(within=True, fastmath=FAST)
def _slope(D, A, total, kind, delta, tiny):  # type: ignore[no-untyped-def]
    """Multiply slopes with those of the activation, in place, and sum them into the slopes of the offsets."""
    zero, one = D.dtype.type(0), D.dtype.type(1)
    for j in range(len(total)):
        total[j] = zero
    for i in range(D.shape[0]):
        row, value = D[i], A[i]
        if kind == 1:
            for j in range(len(row)):
                row[j] = row[j] if value[j] > zero else zero
        elif kind == 2:
            for j in range(len(row)):
                row[j] *= one if value[j] > zero else delta
        elif kind == 3:
            for j in range(len(row)):
                row[j] *= value[j] * (one - value[j])
        elif kind == 4:
            for j in range(len(row)):
                row[j] *= one - value[j] * value[j]
        for j in range(len(row)):
            v = row[j] if abs(row[j]) > tiny else zero
            row[j] = v
            total[j] += v


@kernel(within=True, fastmath={"contract"})
def _lose(Z, offset, codes, target, weight, share, kind, total, tiny):  # type: ignore[no-untyped-def]
    """Turn what comes out of the last layer into its slopes, in place; give the sum of the weighted losses."""
    zero, one = Z.dtype.type(0), Z.dtype.type(1)
    n, k = Z.shape
    lost = 0.0
    for j in range(k):
        total[j] = zero
    for i in range(n):
        row, w = Z[i], weight[i]
        each = 0.0
        if kind == 2:
            high = row[0] + offset[0]
            for j in range(k):
                row[j] += offset[j]
                high = max(high, row[j])
            true = row[codes[i]] - high
            whole = zero
            for j in range(k):
                row[j] = math.exp(row[j] - high)
                whole += row[j]
            each = math.log(whole) - true
            for j in range(k):
                row[j] /= whole
            row[codes[i]] -= one
        elif kind == 1:
            for j in range(k):
                z = row[j] + offset[j]
                small = math.exp(-abs(z))
                each += max(z, zero) + math.log1p(small) - z * target[i, j]
                row[j] = (one / (one + small) if z > zero else small / (one + small)) - target[i, j]
        else:
            for j in range(k):
                r = row[j] + offset[j] - target[i, j]
                each += r * r / (2 * k)
                row[j] = r / Z.dtype.type(k)
        lost += w * each
        factor = w * share
        for j in range(k):
            v = row[j] * factor
            v = v if abs(v) > tiny else zero
            row[j] = v
            total[j] += v
    return lost


@kernel
def dense_gradient(X, codes, target, weight, vector, gradient, sizes, hidden, delta, loss, share, room, slopes):  # type: ignore[no-untyped-def]
    """Write the gradient of a batch, of which every row counts `share` times its weight; give the sum of its weighted losses.

    `room` holds what comes out of the layers, `slopes` two batches of the widest of them.
    """
    n, layers = len(X), len(sizes) - 1
    tiny = vector.dtype.type(1e-18 if vector.itemsize == 4 else 1e-150)
    below, at, place = X, 0, 0
    starts = np.zeros(layers + 1, np.int64)
    for layer in range(layers):
        inputs, outputs = sizes[layer], sizes[layer + 1]
        W = vector[at : at + inputs * outputs].reshape(inputs, outputs)
        at += inputs * outputs
        Z = room[place : place + n * outputs].reshape(n, outputs)
        np.dot(below, W, Z)
        if layer < layers - 1:
            _activate(Z, vector[at : at + outputs], hidden, delta)
        at += outputs
        place += n * outputs
        starts[layer + 1] = place
        below = Z
    k = sizes[layers]
    lost = _lose(below, vector[at - k : at], codes, target, weight, share, loss, gradient[at - k : at], tiny)
    D = below
    for layer in range(layers - 1, -1, -1):
        inputs, outputs = sizes[layer], sizes[layer + 1]
        at -= outputs + inputs * outputs
        A = room[starts[layer] - n * inputs : starts[layer]].reshape(n, inputs) if layer > 0 else X
        np.dot(A.T, D, gradient[at : at + inputs * outputs].reshape(inputs, outputs))
        if layer > 0:
            W = vector[at : at + inputs * outputs].reshape(inputs, outputs)
            side = (layer % 2) * (len(slopes) // 2)
            before = slopes[side : side + n * inputs].reshape(n, inputs)
            np.dot(D, W.T, before)
            _slope(before, A, gradient[at - inputs : at], hidden, delta, tiny)
            D = before
    return lost


@kernel(within=True, fastmath={"contract"})
def _decay(gradient, vector, sizes, penalty):  # type: ignore[no-untyped-def]
    """Add the slope of the penalty, which offsets have no part in."""
    at = 0
    for layer in range(len(sizes) - 1):
        count = sizes[layer] * sizes[layer + 1]
        g, w = gradient[at : at + count], vector[at : at + count]
        for i in range(count):
            g[i] += penalty * w[i]
        at += count + sizes[layer + 1]


@kernel
def dense_epoch(X, codes, target, weight, batch, vector, gradient, memory, sizes, network, constants, room, slopes):  # type: ignore[no-untyped-def]
    """Go through rows in batches, and update after each; give the sum of the weighted losses.

    `network` holds the numbers of the activation, the loss and the rule of updates and how many updates came before; `constants` the
    slope of the activation below zero, the mean weight, the penalty, and what the rule needs.
    """
    number = vector.dtype.type
    first, second = memory
    hidden, loss, rule, t = network[0], network[1], network[2], network[3]
    delta, mean, penalty, rate = constants[0], constants[1], constants[2], number(constants[3])
    share, share_2, epsilon = number(constants[4]), number(constants[5]), number(constants[6])
    correct = correct_2 = number(1)
    power, power_2 = constants[4] ** t, constants[5] ** t
    lost = 0.0
    for start in range(0, len(X), batch):
        stop = min(start + batch, len(X))
        each = number(1.0 / ((stop - start) * mean))
        lost += dense_gradient(
            X[start:stop], codes[start:stop], target[start:stop], weight[start:stop],
            vector, gradient, sizes, hidden, number(delta), loss, each, room, slopes,
        )  # fmt: skip
        if penalty > 0:
            _decay(gradient, vector, sizes, number(penalty))
        if rule == 3:
            power *= constants[4]
            power_2 *= constants[5]
            correct, correct_2 = number(1.0 / (1.0 - power)), number(1.0 / (1.0 - power_2))
            adam_rows(vector, gradient, first, second, rate, share, share_2, correct, correct_2, epsilon)
        else:
            momentum_rows(vector, gradient, first, second, rate, share, share_2, correct, correct_2, epsilon, rule == 2)
    return lost
