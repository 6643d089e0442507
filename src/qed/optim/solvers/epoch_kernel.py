r"""An epoch of stochastic gradients of the cross-entropy: rows in the order they come, a batch for each step.

A batch B of rows with weights s, of the scores :math:`W z`, moves the parameters by

.. math:: -\eta \circ \Bigl( m \sum_{i \in B} s_i (p_i - e_{y_i})\, z_i^\top + \tfrac{|B|}{b} (\Lambda W + G) \Bigr),

where :math:`\eta` holds a step for each column, m says for how many rows a row of a batch of b stands, :math:`\Lambda` is the penalty's,
and G a constant slope. With an `anchor` :math:`\bar W` there, what the same rows say at the anchor is taken off the sum. One row of
parameters is that of the second of two classes. `batches` is NumPy, for few rows and for sparse ones; `batch_rows` is the same in
compiled loops.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from qed.base.compile import kernel


def batches(Z: Any, codes, weight, size, W, anchor, more, length, ridge, slope, mean):  # type: ignore[no-untyped-def]
    """Go through rows in batches of `size`: move `W`, and add it to `mean`, once for each row."""
    for first in range(0, len(codes), size):
        place = slice(first, first + size)
        z, own, heavy = Z[place], codes[place], weight[place]
        pull = _residual(z @ W.T, own)
        if len(anchor):
            pull -= _residual(z @ anchor.T, own)
        share = len(own) / size
        W -= length * (more * np.asarray((heavy[:, None] * pull).T @ z) + share * (ridge * W + slope))
        mean += len(own) * W


def _residual(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    if scores.shape[1] == 1:
        return np.asarray(0.5 * (1.0 + np.tanh(0.5 * scores)) - codes[:, None])
    chance = np.exp(scores - scores.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    chance[np.arange(len(codes)), codes] -= 1.0
    return np.asarray(chance)


@kernel(within=True)
def _pull(W, z, code, sign, pull):  # type: ignore[no-untyped-def]
    """Add `sign` times the chances of the classes, less one for the row's own, to `pull`."""
    planes = len(W)
    score = np.empty(planes)
    for k in range(planes):
        total, line = 0.0, W[k]
        for j in range(len(z)):
            total += line[j] * z[j]
        score[k] = total
    if planes == 1:
        pull[0] += sign * (0.5 * (1.0 + math.tanh(0.5 * score[0])) - code)
        return
    most, total = score.max(), 0.0
    for k in range(planes):
        score[k] = math.exp(score[k] - most)
        total += score[k]
    for k in range(planes):
        pull[k] += sign * score[k] / total
    pull[code] -= sign


@kernel
def batch_rows(Z, codes, weight, size, W, anchor, more, length, ridge, slope, mean):  # type: ignore[no-untyped-def]
    """Do what `batches` does, compiled."""
    planes, q = W.shape
    total, pull = np.empty((planes, q)), np.empty(planes)
    for first in range(0, len(codes), size):
        last = min(first + size, len(codes))
        total[:] = 0.0
        for i in range(first, last):
            pull[:] = 0.0
            _pull(W, Z[i], codes[i], 1.0, pull)
            if len(anchor):
                _pull(anchor, Z[i], codes[i], -1.0, pull)
            for k in range(planes):
                factor = weight[i] * pull[k]
                for j in range(q):
                    total[k, j] += factor * Z[i, j]
        share = (last - first) / size
        for k in range(planes):
            for j in range(q):
                W[k, j] -= length[j] * (more * total[k, j] + share * (ridge[j] * W[k, j] + slope[k, j]))
                mean[k, j] += (last - first) * W[k, j]
