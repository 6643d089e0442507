"""The compiled passes of the logistic loss: loss, gradient and curvature of two classes while a row is in the cache."""

from __future__ import annotations

import math

import numpy as np

from qed.base.compile import kernel

# Rows whose gradients are added up before they go to the total, so that rounding does not grow with the number of rows.
TOGETHER = 256


@kernel(fastmath={"reassoc", "contract"})
def logistic_rows(X, codes, weight, shift, coef, intercept, part, gradient, curvature):  # type: ignore[no-untyped-def]
    """Add the gradient of shifted rows to `gradient` and set the `curvature` of each score; give loss, missed chances and curvature.

    The last entry of `gradient` is that of the constant. `part` is as long, for sums that are not yet large. `curvature` may be empty.
    """
    value, missed, bent = 0.0, 0.0, 0.0
    p = X.shape[1]
    keep = len(curvature) > 0
    for first in range(0, len(X), TOGETHER):
        part[:] = 0.0
        few, none, sharp = 0.0, 0.0, 0.0
        for i in range(first, min(first + TOGETHER, len(X))):
            score = 0.0
            for j in range(p):
                score += (X[i, j] - shift[j]) * coef[j]
            lead = score + intercept if codes[i] == 1 else -(score + intercept)
            small = math.exp(-abs(lead))
            few += weight[i] * (math.log1p(small) + max(-lead, 0.0))
            wrong = small / (1.0 + small) if lead >= 0 else 1.0 / (1.0 + small)
            none += weight[i] * wrong
            bend = weight[i] * (small / ((1.0 + small) * (1.0 + small)))
            sharp += bend
            if keep:
                curvature[i] = bend
            pull = weight[i] * (-wrong if codes[i] == 1 else wrong)
            for j in range(p):
                part[j] += pull * (X[i, j] - shift[j])
            part[p] += pull
        value += few
        missed += none
        bent += sharp
        for j in range(p + 1):
            gradient[j] += part[j]
    return value, missed, bent


@kernel(fastmath={"contract"})
def sparse_logistic_rows(data, indices, indptr, start, stop, codes, weight, coef, intercept, gradient, curvature):  # type: ignore[no-untyped-def]
    """Do the same for the rows from `start` to `stop` of a sparse table; rows without weight are left out."""
    value, missed, bent = 0.0, 0.0, 0.0
    last = len(gradient) - 1
    for i in range(start, stop):
        curvature[i] = 0.0
        if weight[i] == 0:
            continue
        # Slices and unsigned places spare the compiler the check for negative ones.
        values, places = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        score = 0.0
        for k in range(len(values)):
            score += values[k] * coef[np.uint64(places[k])]
        lead = score + intercept if codes[i] == 1 else -(score + intercept)
        small = math.exp(-abs(lead))
        value += weight[i] * (math.log1p(small) + max(-lead, 0.0))
        wrong = small / (1.0 + small) if lead >= 0 else 1.0 / (1.0 + small)
        missed += weight[i] * wrong
        curvature[i] = weight[i] * (small / ((1.0 + small) * (1.0 + small)))
        bent += curvature[i]
        pull = weight[i] * (-wrong if codes[i] == 1 else wrong)
        for k in range(len(values)):
            gradient[np.uint64(places[k])] += pull * values[k]
        gradient[last] += pull
    return value, missed, bent
