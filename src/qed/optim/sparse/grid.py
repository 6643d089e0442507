"""The strengths of a penalty along a path: those asked for, or evenly spaced in their logarithm below the largest that matters."""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.base.models.parameters import integer, number


def strengths(given: Any, eps: float, top: float, *, name: str, zero: bool) -> np.ndarray:
    """Give the strengths of a penalty.

    They are `given`, or so many from `top`, the smallest one with which all coefficients are zero, down to the share
    `eps` of it.

    >>> strengths(3, 1e-2, 50.0, name="alphas", zero=True)
    array([50. ,  5. ,  0.5])
    """
    if integer(1).accepts(given):
        number(0, 1, above=True).checked("eps", eps)
        if np.isinf(top):
            raise ParameterError(f"Without a penalty on sizes none makes all coefficients zero: give the {name}.")
        first = top if top > 0 else 1.0
        return np.geomspace(first, eps * first, given)
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    allowed = np.isfinite(values) & ((values >= 0) if zero else (values > 0))
    if values.ndim != 1 or len(values) == 0 or not allowed.all():
        raise ParameterError(
            f"{name} must be how many, or finite numbers {'>=' if zero else '>'} 0 in one row, not {given!r}."
        )
    return values
