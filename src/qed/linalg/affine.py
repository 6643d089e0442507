"""Values of affine functions of rows, in the precision of the rows."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.base.numbers import all_finite

SINGLE = np.dtype(np.float32)
# Below this single precision has fewer digits.
LEAST = float(np.finfo(SINGLE).tiny)


def affine(X: Any, coef: np.ndarray, intercept: ArrayLike) -> np.ndarray:
    """Give ``X @ coef + intercept`` in the type of X, which may be sparse.

    Single precision has no number for slopes above 3.4e38, which columns of the smallest single numbers ask for, nor enough digits for
    those below 1e-38, of columns of the largest, and products or intercepts beyond its range may cancel: what needs it is worked out in
    double precision, and rounded at the end.

    >>> affine(np.array([[2.0**-140]], dtype=np.float32), np.array([2.0**140]), 1.0)
    array([2.], dtype=float32)
    """
    if X.dtype != SINGLE:
        return _worked_out(X, coef, intercept)
    with np.errstate(over="ignore", invalid="ignore"):
        if _fits(coef) and all_finite(found := _worked_out(X, coef, intercept)):
            return found
        return _worked_out(X.astype(np.float64), coef, intercept).astype(SINGLE)


def _worked_out(X: Any, coef: np.ndarray, intercept: ArrayLike) -> np.ndarray:
    found = np.asarray(X @ coef.astype(X.dtype, copy=False))
    found += np.asarray(intercept, dtype=X.dtype)
    return found


def _fits(coef: np.ndarray) -> bool:
    """Say whether single precision has all digits of numbers that are not too large for it, which shows in what comes of them."""
    size = np.abs(coef)
    return not ((size < LEAST) & (size > 0)).any()
