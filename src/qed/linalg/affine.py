"""Values of affine functions of rows, in the precision of the rows."""

from typing import Any

import numpy as np

SINGLE = np.dtype(np.float32)


def affine(X: Any, coef: np.ndarray, intercept: Any) -> np.ndarray:
    """Give ``X @ coef + intercept`` in the type of X, which may be sparse.

    Single precision has no number for slopes above 3.4e38, which columns of the smallest single numbers ask for, nor enough digits for
    those below 1e-38, of columns of the largest: such products are taken in double precision, and what comes of them is rounded.

    >>> affine(np.array([[2.0**-140]], dtype=np.float32), np.array([2.0**140]), 1.0)
    array([2.], dtype=float32)
    """
    dtype = X.dtype
    if dtype == SINGLE and not _fits(coef):
        found = np.asarray(X.astype(np.float64) @ coef) + np.asarray(intercept, dtype=np.float64)
        with np.errstate(over="ignore"):
            return np.asarray(found.astype(dtype))
    found = np.asarray(X @ coef.astype(dtype, copy=False))
    found += np.asarray(intercept, dtype=dtype)
    return found


def _fits(coef: np.ndarray) -> bool:
    """Say whether single precision has the numbers, zero or with all their digits."""
    size, limits = np.abs(coef), np.finfo(SINGLE)
    return bool(((size <= limits.max) & ((size >= limits.tiny) | (size == 0))).all())
