r"""Derivatives of a function of which only values are known: differences, and the complex step.

.. math:: \frac{f(x + h e_j) - f(x)}{h}, \qquad \frac{f(x + h e_j) - f(x - h e_j)}{2h}, \qquad
          \frac{\operatorname{Im} f(x + i h e_j)}{h}

A *forward* difference errs by :math:`O(h)` for the bend of the function and by :math:`\epsilon / h` for rounding, so
its best step is :math:`\sqrt\epsilon` and half of the digits are right; a *central* one errs by :math:`O(h^2)`, its
best step is :math:`\sqrt[3]\epsilon`, and two thirds are. The *complex* step subtracts nothing: :math:`h` can be tiny
and all digits are right, if the function accepts complex numbers and is analytic (no ``abs``, ``max``, comparisons or
conjugates on the way). Steps are relative to the size of each coordinate. A Jacobian costs :math:`d` evaluations
forward and complex, :math:`2d` central; a Hessian :math:`2d` gradients, or :math:`2d^2` values.

Nocedal and Wright (2006), Numerical Optimization, chapter 8; Squire and Trapp (1998), SIAM Review 40.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from qed.base.certificate import Claim
from qed.base.errors import InputError, ParameterError
from qed.base.numbers import EPS

STEPS = {"forward": EPS ** (1 / 2), "central": EPS ** (1 / 3), "complex": 1e-40}
SECOND_STEP = EPS ** (1 / 4)

Function = Callable[[np.ndarray], Any]
Slope = Callable[[int, float], np.ndarray]


def gradient(function: Function, point: Any, method: str = "central", scale: Any = 1.0) -> np.ndarray:
    """Give the gradient of a function that gives one number.

    Parameters
    ----------
    function : callable
        Takes an array of shape (d,).
    point : array_like of shape (d,)
        Where; a number counts as an array of one.
    method : {"central", "forward", "complex"}
        How.
    scale : float or array_like of shape (d,)
        The size of change that matters in a coordinate where the point is near zero: steps are relative to ``max(|point|, scale)``.

    Returns
    -------
    ndarray of shape (d,)
        The gradient; NaN where the function has no finite value on either side.

    Examples
    --------
    >>> gradient(lambda w: w @ w, [1.0, 2.0]).round(6)
    array([2., 4.])
    """
    return jacobian(lambda w: _number(function(w)), point, method, scale)[0]


def jacobian(function: Function, point: Any, method: str = "forward", scale: Any = 1.0) -> np.ndarray:
    """Give the Jacobian of a function that gives m numbers: entry (i, j) is the derivative of value i for coordinate j.

    Parameters
    ----------
    function : callable
        Takes an array of shape (d,), gives an array of shape (m,).
    point : array_like of shape (d,)
        Where; a number counts as an array of one.
    method : {"central", "forward", "complex"}
        How.
    scale : float or array_like of shape (d,)
        The size of change that matters in a coordinate where the point is near zero: steps are relative to ``max(|point|, scale)``.

    Returns
    -------
    ndarray of shape (m, d)
        The Jacobian.

    Examples
    --------
    >>> jacobian(lambda w: np.array([w[0] * w[1], w[1] ** 2]), [2.0, 3.0], "complex")
    array([[3., 2.],
           [0., 6.]])
    """
    if method not in STEPS:
        raise ParameterError(f"method must be one of {', '.join(map(repr, STEPS))}, not {method!r}.")
    point = as_point(point)
    slope = {"forward": _forward, "central": _central, "complex": _complex}[method](function, point)
    columns = []
    for j, size in enumerate(_sizes(point, scale)):
        found = slope(j, STEPS[method] * size)
        if 0 < abs(point[j]) < size and not np.isfinite(found).all():  # such as a logarithm very near zero
            found = slope(j, STEPS[method] * abs(point[j]))
        columns.append(found)
    return np.column_stack(columns)


def hessian(function: Function, point: Any, gradient: Function | None = None, scale: Any = 1.0) -> np.ndarray:
    """Give the Hessian of a function that gives one number, symmetric.

    Parameters
    ----------
    function : callable
        Takes an array of shape (d,).
    point : array_like of shape (d,)
        Where; a number counts as an array of one.
    scale : float or array_like of shape (d,)
        The size of change that matters in a coordinate where the point is near zero: steps are relative to ``max(|point|, scale)``.
    gradient : callable, optional
        The function's gradient. With it about ten digits are right, without it about seven.

    Returns
    -------
    ndarray of shape (d, d)
        The Hessian.

    Examples
    --------
    >>> hessian(lambda w: w[0] ** 2 * w[1], [1.0, 2.0]).round(5)
    array([[4., 2.],
           [2., 0.]])
    """
    point = as_point(point)
    if gradient is not None:
        found = jacobian(gradient, point, "central", scale)
        return (found + found.T) / 2
    moves = np.diag(SECOND_STEP * _sizes(point, scale))
    moves = (point + moves) - point
    found = np.empty((len(point), len(point)))
    for i, up in enumerate(moves):
        for j, side in enumerate(moves[: i + 1]):
            corners = [_number(function(point + a * up + b * side)) for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
            bend = corners[0] - corners[1] - corners[2] + corners[3]
            found[i, j] = found[j, i] = bend / (4 * up[i] * side[j])
    return found


def hessian_product(gradient: Function, point: Any, direction: Any) -> np.ndarray:
    """Give the product of a Hessian with a direction, by a central difference of two gradients along it.

    Parameters
    ----------
    gradient : callable
        The function's gradient: takes and gives arrays of shape (d,).
    point, direction : array_like of shape (d,)
        Where, and along what.

    Examples
    --------
    >>> hessian_product(lambda w: np.array([2 * w[0], 6 * w[1]]), [1.0, 1.0], [1.0, 1.0]).round(6)
    array([2., 6.])
    """
    point, direction = as_point(point), as_point(direction)
    length = float(np.abs(direction).max())
    if length == 0:
        return np.zeros(len(point))
    step = STEPS["central"] * max(1.0, float(np.abs(point).max())) / length
    return (_values(gradient(point + step * direction)) - _values(gradient(point - step * direction))) / (2 * step)


def check_gradient(
    function: Function, gradient: Function, point: Any, tol: float = 1e-6, method: str = "central", scale: Any = 1.0
) -> Claim:
    """Compare a gradient with differences of its function.

    Parameters
    ----------
    function, gradient : callable
        Both take an array of shape (d,).
    point : array_like of shape (d,)
        Where; a number counts as an array of one.
    method : {"central", "forward", "complex"}
        How.
    scale : float or array_like of shape (d,)
        The size of change that matters in a coordinate where the point is near zero: steps are relative to ``max(|point|, scale)``.
    tol : float
        The relative distance allowed, besides what rounding does to differences.

    Returns
    -------
    Claim
        Its value is the distance of the two, relative to the longer.

    Examples
    --------
    >>> check_gradient(lambda w: w @ w, lambda w: 2 * w, [1.0, 2.0]).holds
    True
    >>> check_gradient(lambda w: w @ w, lambda w: w, [1.0, 2.0]).holds
    False
    """
    point = as_point(point)
    given, found = _values(gradient(point)), jacobian(lambda w: _number(function(w)), point, method, scale)[0]
    if given.shape != found.shape:
        raise InputError(f"The gradient has {given.size} entries at a point of {found.size} coordinates.")
    length = max(float(np.linalg.norm(given)), float(np.linalg.norm(found))) or 1.0
    noise = 0.0
    if method != "complex":
        size = abs(float(_number(function(point))))
        noise = 2 * EPS * size * float(np.linalg.norm(1 / _sizes(point, scale))) / STEPS[method]
    distance = float(np.linalg.norm(given - found))
    return Claim(f"the gradient agrees with the {method} difference", distance / length, tol + noise / length)


def as_point(point: Any) -> np.ndarray:
    """Give a point as a new array of shape (d,), refused if it is not finite."""
    found = np.array(point, dtype=np.float64, ndmin=1)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise InputError(f"A point must be a list of finite numbers; this one is {point!r}.")
    return found


def _forward(function: Function, point: np.ndarray) -> Slope:
    here = _values(function(point.copy()))

    def slope(j: int, h: float) -> np.ndarray:
        right = _moved(point, j, h)
        return (_values(function(right)) - here) / (right[j] - point[j])

    return slope


def _central(function: Function, point: np.ndarray) -> Slope:
    def slope(j: int, h: float) -> np.ndarray:
        right, left = _moved(point, j, h), _moved(point, j, -h)
        width = right[j] - left[j]
        return (_values(function(right)) - _values(function(left))) / width

    return slope


def _complex(function: Function, point: np.ndarray) -> Slope:
    def slope(j: int, h: float) -> np.ndarray:
        values = np.atleast_1d(function(_moved(point.astype(np.complex128), j, 1j * h)))
        if not np.iscomplexobj(values):
            raise InputError(
                "The function gave real numbers at a complex point, so the complex step can not see its derivative. "
                'Write it without abs, max, float() and conjugates, or use method="central".'
            )
        return values.imag / h

    return slope


def _moved(point: np.ndarray, j: int, h: complex) -> np.ndarray:
    moved = point.copy()
    moved[j] += h
    return moved


def _sizes(point: np.ndarray, scale: Any) -> np.ndarray:
    return np.asarray(np.maximum(np.abs(point), np.asarray(scale, dtype=np.float64)))


def _values(values: Any) -> np.ndarray:
    return np.atleast_1d(np.asarray(values, dtype=np.float64))


def _number(value: Any) -> Any:
    """Take the number out of an array of one."""
    found = np.asarray(value)
    if found.size != 1:
        raise InputError(f"The function must give one number; it gave an array of shape {found.shape}.")
    return found.reshape(())[()]
