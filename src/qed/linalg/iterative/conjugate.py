r"""Conjugate gradients: :math:`Hx = b` for a symmetric positive definite :math:`H` of which only products are known.

.. math:: x^* = \operatorname*{arg\,min}_x \tfrac12 x^\top H x - b^\top x

Each step minimises along a direction that is conjugate (:math:`u^\top H v = 0`) to all before, so nothing gained is
lost again: in exact arithmetic the solution is reached after :math:`d` products, and with a few clusters of eigenvalues
after a few. The error falls like :math:`((\sqrt\kappa - 1) / (\sqrt\kappa + 1))^t`. A direction of negative curvature,
:math:`u^\top H u \le 0`, says that there is no minimum; the method stops there and tells.

Hestenes and Stiefel (1952), Methods of conjugate gradients for solving linear systems.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Conjugate(NamedTuple):
    """Where conjugate gradients ended."""

    solution: np.ndarray
    residual: float  # the length of `b - H x`, relative to that of b; with a preconditioner P, in the norm of `v' P v`
    iterations: int  # how many products it took
    bent_down: bool  # whether a direction of negative (or no) curvature was met
    left: np.ndarray  # what is left of the right-hand side, `b - H x`


def conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray],
    right: np.ndarray,
    tol: float | Callable[[np.ndarray], float] = 1e-10,
    max_iter: int | None = None,
    precondition: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Conjugate:
    """Solve ``H x = right`` from products with H alone.

    Parameters
    ----------
    product : callable
        Gives ``H v`` for an array like `right`, H being symmetric and positive definite.
    right : ndarray
        The right-hand side.
    tol : float or callable, default=1e-10
        How small the residual has to be against the right-hand side; or a function that gives it for the solution so far.
    max_iter : int, optional
        The most products; ten for each dimension, if not given.
    precondition : callable, optional
        A product with a cheap stand-in for the inverse of H, symmetric and positive definite: the better, the fewer products.

    Returns
    -------
    Conjugate
        The solution, its residual, and how it ended.

    Examples
    --------
    >>> H = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> found = conjugate_gradients(lambda v: H @ v, np.array([1.0, 2.0]))
    >>> found.solution * 11, found.iterations
    (array([1., 7.]), 2)
    """
    right = np.asarray(right, dtype=np.float64)
    closer = precondition or np.asarray
    direction = closer(right)
    size = float(np.sqrt(max((right * direction).sum(), 0.0)))
    limit = 10 * right.size if max_iter is None else max_iter
    solution, left, direction = np.zeros_like(right), right / (size or 1.0), direction / (size or 1.0)
    square = float((left * direction).sum())
    for iteration in range(limit):
        near = tol(size * solution) if callable(tol) else tol
        if square <= near**2:
            return Conjugate(size * solution, square**0.5, iteration, False, size * left)
        image = product(direction)
        curvature = float((direction * image).sum())
        if not curvature > 0:
            return Conjugate(size * solution, square**0.5, iteration + 1, True, size * left)
        step = square / curvature
        solution = solution + step * direction
        left = left - step * image
        towards = closer(left)
        before, square = square, float((left * towards).sum())
        direction = towards + square / before * direction
    return Conjugate(size * solution, square**0.5, limit, False, size * left)
