"""Reading where a nonlinear fit begins: one point or several, with or without names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from qed.base.errors import ParameterError


def read_starts(start: Any) -> tuple[tuple[str, ...], np.ndarray]:
    """Give the names of the parameters, and the starts as an array with a row each.

    Without names the parameters are called ``w0``, ``w1`` ...

    >>> read_starts({"height": 2.0, "rate": 0.1})
    (('height', 'rate'), array([[2. , 0.1]]))
    >>> read_starts([[1.0, 2.0], [3.0, 4.0]])[1].shape
    (2, 2)
    """
    several = [start] if isinstance(start, Mapping) else start
    names: tuple[str, ...] | None = None
    if isinstance(several, (list, tuple)) and several and all(isinstance(one, Mapping) for one in several):
        names = tuple(str(name) for name in several[0])
        if any(set(map(str, one)) != set(names) for one in several):
            raise ParameterError(f"{_WANTED}: all of them must have the parameters {', '.join(names)}.")
        several = [[dict(zip(map(str, one), one.values()))[name] for name in names] for one in several]
    try:
        found = np.atleast_2d(np.array(several, dtype=np.float64))
    except (TypeError, ValueError):
        raise ParameterError(f"{_WANTED}, not {start!r:.100}.") from None
    if found.ndim != 2 or found.size == 0 or not np.isfinite(found).all():
        raise ParameterError(f"{_WANTED}, all finite, not {start!r:.100}.")
    return names or tuple(f"w{j}" for j in range(found.shape[1])), found


_WANTED = (
    "NonlinearLeastSquares: start must be a number for each parameter, a dict of them by name, or several of either"
)
