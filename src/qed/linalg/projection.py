r"""Projection of points on a line through the origin: the nearest multiple of a vector.

.. math:: c^* = \arg\min_c \|x - c\,w\|^2 = \frac{x^\top w}{w^\top w}, \qquad
   \|x\|^2 = \|x - c^* w\|^2 + \|c^* w\|^2.

What is left of the point is orthogonal to the line. For n points in d dimensions :math:`O(nd)`; a data set on a line is stored as one
vector and n coefficients. Reference: any first chapter of linear algebra.
"""

from typing import Any

import numpy as np

from qed.base.errors import InputError


def project_on_line(points: Any, direction: Any) -> tuple[np.ndarray, np.ndarray]:
    """Find the nearest multiple of a vector to each point.

    Parameters
    ----------
    points : array-like of shape (d,) or (n, d)
        One point, or many.
    direction : array-like of shape (d,)
        The vector; its length does not matter, but it must have one.

    Returns
    -------
    coefficients : ndarray of shape () or (n,)
        How many times the vector each point's proxy is.
    proxies : ndarray of the shape of `points`
        The nearest points on the line.

    Examples
    --------
    >>> coefficient, proxy = project_on_line([3.0, 4.0], [2.0, 0.0])
    >>> float(coefficient), proxy
    (1.5, array([3., 0.]))
    """
    x, w = np.asarray(points, dtype=np.float64), np.asarray(direction, dtype=np.float64)
    if w.ndim != 1 or x.ndim not in (1, 2) or x.shape[-1] != len(w):
        raise InputError(f"Points of shape {x.shape} can not be projected on a vector of shape {w.shape}.")
    size = float(np.abs(w).max(initial=0.0))
    if not 0 < size < np.inf or not np.isfinite(w).all() or not np.isfinite(x).all():
        raise InputError("Projection needs finite points and a finite direction that is not zero.")
    unit = w / size
    coefficients = (x @ unit) / (unit @ unit) / size
    return coefficients, np.multiply.outer(coefficients, w)
