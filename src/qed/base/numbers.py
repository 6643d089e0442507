"""Numbers that rounding errors are measured with, and a division that knows what nothing over nothing is."""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np

# The distance from one to the next number, and the smallest normal number.
EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)


@overload
def ratio(top: float, bottom: float) -> float: ...
@overload
def ratio(top: Any, bottom: Any) -> np.ndarray: ...
def ratio(top: Any, bottom: Any) -> Any:
    """Divide, with zero over zero being zero and anything else over zero infinite.

    >>> ratio(0.0, 0.0), ratio(3.0, 0.0), ratio(3.0, 2.0)
    (0.0, inf, 1.5)
    >>> ratio(np.array([0.0, -1.0, 1.0]), np.array([0.0, 0.0, 2.0]))
    array([ 0. , -inf,  0.5])
    """
    if isinstance(top, float | int) and isinstance(bottom, float | int):
        if top == 0:
            return 0.0
        return float(top / bottom) if bottom != 0 else math.copysign(math.inf, top)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.equal(top, 0), 0.0, np.divide(top, bottom))
