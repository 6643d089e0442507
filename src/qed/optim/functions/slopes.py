r"""The Jacobian of a user's vector function, to as many digits as the function allows.

The complex step gives all digits, but only of functions that are written for complex numbers; so it is tried and compared with central
differences, which are used where the two disagree. Where a function overflows for complex numbers alone
(:math:`1/(1 + e^{800})` is zero, its complex twin is not a number), those rows are done by central differences.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from qed.base.numbers import EPS
from qed.optim.functions.derivatives import STEPS, jacobian

AGREEMENT = 1e-4
SLOPE_ERRORS = {"complex": 0.0, "central": 4 * EPS ** (2 / 3), "forward": 4 * EPS ** (1 / 2)}

Function = Callable[[np.ndarray], Any]


def best_method(function: Function, point: np.ndarray, scale: Any = 1.0) -> str:
    """Say whether the complex step works for a function: ``"complex"``, or ``"central"``.

    >>> best_method(lambda w: np.exp(w), np.ones(2)), best_method(lambda w: np.abs(w), np.ones(2))
    ('complex', 'central')
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as that of float(), which drops imaginary parts
        try:
            exact = jacobian(function, point, "complex", scale)
        except Exception:
            return "central"  # whatever a function does with numbers it was not written for
    return "complex" if agree(exact, function, point, scale) else "central"


def agree(exact: np.ndarray, function: Function, point: np.ndarray, scale: Any = 1.0) -> bool:
    """Say whether slopes agree with central differences, in the rows in which both are finite.

    >>> agree(np.array([[2.0]]), lambda w: w**2, np.ones(1)), agree(np.array([[-2.0]]), lambda w: w**2, np.ones(1))
    (True, False)
    """
    with np.errstate(all="ignore"):
        rough = jacobian(function, point, "central", scale)
        size = np.linalg.norm(np.nan_to_num(np.asarray(function(point), dtype=np.float64)))
        step = STEPS["central"] * np.maximum(np.abs(point), scale)
        sure = np.isfinite(exact).all(axis=1) & np.isfinite(rough).all(axis=1)
        lengths = np.linalg.norm(exact[sure], axis=0) + np.linalg.norm(rough[sure], axis=0)
        noise = 16 * EPS * size / step
        near = np.linalg.norm((exact - rough)[sure], axis=0) <= AGREEMENT * lengths + noise
    return bool(sure.any() and near.all())


def slopes(function: Function, point: np.ndarray, method: str, scale: Any = 1.0) -> np.ndarray:
    """Give the Jacobian; rows in which the complex step is not finite are done by central differences.

    >>> def saturated(w):
    ...     return np.array([1 / (1 + np.exp(w[0])), w[0]])
    >>> slopes(saturated, np.array([800.0]), "complex")
    array([[0.],
           [1.]])
    """
    with np.errstate(all="ignore"):
        found = jacobian(function, point, method, scale)
        if method == "complex" and not np.isfinite(found).all():
            lost = ~np.isfinite(found).all(axis=1)
            found[lost] = jacobian(function, point, "central", scale)[lost]
    return found
