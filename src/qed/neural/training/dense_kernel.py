"""A network of dense layers as one compiled loop over batches: forward, backward and the update, without leaving the machine code.

What costs time in a small network is not its arithmetic but the way from one operation to the next; in a large one it is memory that is
gone through once too often. Here rows of a batch are fetched when they are needed, products are those of
:mod:`qed.linalg.registers.tiles`, offsets, activations and their slopes are loops over what these left in the cache, softmax and
cross-entropy are one loop, gradients are added and weights moved in stretches that stay in the cache, and batches follow each other
without a word of Python. Slopes too small to matter are set to zero: a processor takes a hundred times as long for numbers below 1e-38.
"""

from __future__ import annotations

import math

import numpy as np

from qed.base.compile import kernel
from qed.base.threads.gate import meet
from qed.linalg.registers.tiles import multiply
from qed.neural.training.updates import adam_rows, momentum_rows

ACTIVATIONS = ("identity", "relu", "leaky_relu", "logistic", "tanh")
LOSSES = ("squared_error", "log_loss", "cross_entropy")
FAST = {"contract", "reassoc", "nsz"}
# Weights that are moved at once: with all that is remembered of them they stay in the first cache.
AT_ONCE = 1 << 11


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


@kernel(within=True)
def _turn(W, turned):  # type: ignore[no-untyped-def]
    """Write the transposed matrix, in stretches that stay in the cache."""
    inputs, outputs = W.shape
    for start in range(0, inputs, 16):
        stop = min(start + 16, inputs)
        for j in range(outputs):
            row = turned[j, start:stop]
            for t in range(len(row)):
                row[t] = W[start + t, j]


@kernel(within=True)
def dense_gradient(X, codes, target, weight, vector, gradient, sizes, hidden, delta, loss, share, arrays):  # type: ignore[no-untyped-def]
    """Write the gradient of a batch, of which every row counts `share` times its weight; give the sum of its weighted losses.

    `arrays` are those of a `DenseRoom`: what comes out of the layers, two batches of slopes of the widest of them, whole numbers, and room
    for parts of matrices and for a transposed one.
    """
    room, slopes, numbers, spare, turned = arrays
    n, layers = len(X), len(sizes) - 1
    tiny = vector.dtype.type(1e-18 if vector.itemsize == 4 else 1e-150)
    if n == 0:
        for i in range(len(gradient)):
            gradient[i] = vector.dtype.type(0)
        return 0.0
    # A one that is written out would be a type of its own, and another kernel.
    below, at, place, one = X.reshape(n * sizes[0]), 0, 0, np.int64(1)
    for layer in range(layers):
        inputs, outputs = sizes[layer], sizes[layer + 1]
        W = vector[at : at + inputs * outputs].reshape(inputs, outputs)
        at += inputs * outputs
        Z = room[place : place + n * outputs].reshape(n, outputs)
        multiply(below, inputs, one, W, Z, numbers, spare)
        if layer < layers - 1:
            _activate(Z, vector[at : at + outputs], hidden, delta)
        at += outputs
        below = room[place : place + n * outputs]
        place += n * outputs
    k = sizes[layers]
    D = below.reshape(n, k)
    lost = _lose(D, vector[at - k : at], codes, target, weight, share, loss, gradient[at - k : at], tiny)
    place -= n * k
    for layer in range(layers - 1, -1, -1):
        inputs, outputs = sizes[layer], sizes[layer + 1]
        at -= outputs + inputs * outputs
        place -= n * inputs if layer > 0 else 0
        below = room[place : place + n * inputs] if layer > 0 else X.reshape(n * inputs)
        multiply(below, one, inputs, D, gradient[at : at + inputs * outputs].reshape(inputs, outputs), numbers, spare)
        if layer > 0:
            W = turned[: inputs * outputs].reshape(outputs, inputs)
            _turn(vector[at : at + inputs * outputs].reshape(inputs, outputs), W)
            side = (layer % 2) * (len(slopes) // 2)
            before = slopes[side : side + n * inputs].reshape(n, inputs)
            multiply(D.reshape(n * outputs), outputs, one, W, before, numbers, spare)
            _slope(before, below.reshape(n, inputs), gradient[at - inputs : at], hidden, delta, tiny)
            D = before
    return lost


@kernel(within=True)
def _fetch(table, order, into):  # type: ignore[no-untyped-def]
    """Copy rows, in an order."""
    for i in range(len(order)):
        here, there = table[order[i]], into[i]
        for t in range(len(here)):
            there[t] = here[t]


@kernel(within=True)
def _fetch_rest(rows, order, batch):  # type: ignore[no-untyped-def]
    """Copy class numbers, targets and weights, in an order."""
    _, codes, target, weight = rows
    for i in range(len(order)):
        batch[1][i], batch[3][i] = codes[order[i]], weight[order[i]]
    _fetch(target, order, batch[2])


@kernel(within=True, fastmath={"contract"})
def _move(start, stop, gradients, state, decays, penalty, rule, rate, share, share_2, correct, correct_2, epsilon):  # type: ignore[no-untyped-def]
    """Add up the gradients of all parts, and the penalty's, and move the weights, a stretch of them at a time."""
    vector, first, second = state
    for at in range(start, stop, AT_ONCE):
        end = min(at + AT_ONCE, stop)
        w, m, g = vector[at:end], first[at:end], gradients[0, at:end]
        for part in range(1, len(gradients)):
            other = gradients[part, at:end]
            for i in range(len(g)):
                g[i] += other[i]
        if penalty > 0:
            decay = decays[at:end]
            for i in range(len(g)):
                g[i] += penalty * decay[i] * w[i]
        if rule == 3:
            adam_rows(w, g, m, second[at:end], rate, share, share_2, correct, correct_2, epsilon)
        else:
            momentum_rows(w, g, m, second, rate, share, share_2, correct, correct_2, epsilon, rule == 2)


@kernel
def dense_epoch(  # type: ignore[no-untyped-def]
    member, members, gate, rows, order, state, decays, sizes, network, constants, batches, rooms, gradients, lost
):
    """Go through rows in an order, in batches, and update after each; add the weighted losses of the parts to `lost`.

    To be run by a team: of each batch and of the weights there are as many parts as `gradients`, `batches` and `rooms`. `network` holds the
    numbers of the activation, the loss and the rule of updates, how many updates came before and the rows of a batch; `constants` the slope
    of the activation below zero, the mean weight, the penalty, and what the rule needs.
    """
    number, parts = gradients.dtype.type, len(gradients)
    hidden, loss, rule, t, size = network[0], network[1], network[2], network[3], network[4]
    delta, mean, penalty, rate = number(constants[0]), constants[1], number(constants[2]), number(constants[3])
    share, share_2, epsilon = number(constants[4]), number(constants[5]), number(constants[6])
    correct = correct_2 = number(1)
    power, power_2 = constants[4] ** t, constants[5] ** t
    count = len(state[0])
    for start in range(0, len(order), size):
        n = min(size, len(order) - start)
        each = number(1.0 / (n * mean))
        for part in range(member, parts, members):
            chosen = order[start + n * part // parts : start + n * (part + 1) // parts]
            batch = batches[part]
            X, codes, target, weight = batch[0][: len(chosen)], batch[1], batch[2], batch[3]
            _fetch(rows[0], chosen, X)
            _fetch_rest(rows, chosen, batch)
            lost[part] += dense_gradient(
                X, codes, target, weight, state[0], gradients[part], sizes, hidden, delta, loss, each, rooms[part]
            )
        if parts > 1 and not meet(gate, members):
            return
        if rule == 3:
            power *= constants[4]
            power_2 *= constants[5]
            correct, correct_2 = number(1.0 / (1.0 - power)), number(1.0 / (1.0 - power_2))
        for part in range(member, parts, members):
            _move(
                count * part // parts, count * (part + 1) // parts, gradients, state, decays, penalty, rule,
                rate, share, share_2, correct, correct_2, epsilon,
            )  # fmt: skip
        if parts > 1 and not meet(gate, members):
            return
