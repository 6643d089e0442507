"""Shifting and stretching columns: one reading, one writing, and on the way a look at whether all is finite."""

from __future__ import annotations

import numpy as np

COMPILED_FROM = 1 << 15
STRIP_VALUES = 1 << 15


def affine(X: np.ndarray, shift: np.ndarray, factor: np.ndarray, low: float, out: np.ndarray) -> bool:
    """Write ``(X - shift) * factor + low``, computed in double precision, into `out`, and say whether all of it is finite or missing.

    Examples
    --------
    >>> out = np.empty((2, 1))
    >>> affine(np.array([[1.0], [3.0]]), np.array([2.0]), np.array([0.5]), 0.0, out), out.tolist()
    (True, [[-0.5], [0.5]])
    """
    if X.size >= COMPILED_FROM and X.flags.c_contiguous and out.flags.c_contiguous:
        from qed.features.scaling.affine_kernel import affine_kernel

        return bool(affine_kernel(X, shift, factor, float(low), out)) or not np.isinf(out).any()
    height = max(1, STRIP_VALUES // max(1, X.shape[1]))
    finite = True
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(X), height):
            found = X[start : start + height] - shift
            found *= factor
            found += low
            out[start : start + height] = found
            finite = finite and not np.isinf(out[start : start + height]).any()
    return finite
