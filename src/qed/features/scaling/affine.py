"""Shifting and stretching columns: one reading, one writing, and on the way a look at whether all is finite."""

import numpy as np
from scipy.sparse import csr_array

from qed.base.errors import InputError
from qed.base.lazy import later

affine_kernel = later("qed.features.scaling.affine_kernel")
COMPILED_FROM = 1 << 15
STRIP_VALUES = 1 << 15


def affine(X: np.ndarray, shift: np.ndarray, factor: np.ndarray, low: float, out: np.ndarray) -> bool:
    """Write ``(X - shift) * factor + low``, computed in double precision, into `out`, and say whether all of it is finite or missing.

    >>> out = np.empty((2, 1))
    >>> affine(np.array([[1.0], [3.0]]), np.array([2.0]), np.array([0.5]), 0.0, out), out.tolist()
    (True, [[-0.5], [0.5]])
    """
    p = X.shape[1]
    if shift.shape != (p,) or factor.shape != (p,) or out.shape != X.shape:
        raise InputError(
            f"There are {p} columns, but {shift.size} shifts and {factor.size} factors were learned: fit anew."
        )
    if X.size >= COMPILED_FROM and X.flags.c_contiguous and out.flags.c_contiguous:
        return bool(affine_kernel.affine_rows(X, shift, factor, float(low), out)) or not np.isinf(out).any()
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


def divided(X: csr_array, scale: np.ndarray) -> csr_array:
    """Divide the columns of a sparse table that is stored by rows.

    Examples
    --------
    >>> from scipy import sparse
    >>> divided(sparse.csr_array([[0.0, 3.0], [1.0, 0.0]]), np.array([2.0, 3.0])).toarray()
    array([[0. , 1. ],
           [0.5, 0. ]])
    """
    found = type(X)((np.empty_like(X.data), X.indices.copy(), X.indptr.copy()), shape=X.shape)
    if X.nnz >= COMPILED_FROM:
        affine_kernel.divide_stored(X.data, X.indices, scale, found.data)
    else:
        found.data[:] = X.data / scale[X.indices]
    return found
