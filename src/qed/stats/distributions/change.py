r"""The density of a vector after a linear map.

For :math:`Z = RU + b` with an invertible :math:`R`, a small cell of volume :math:`v` around :math:`u` becomes one of volume
:math:`|\det R|\,v` and keeps its probability, so

.. math:: f_Z(z) = \frac{f_U\bigl(R^{-1}(z - b)\bigr)}{|\det R|}.

Leaving out the determinant gives a function that does not integrate to one, unless :math:`|\det R| = 1`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from qed.base.errors import DegenerateError, ParameterError
from qed.base.numbers import EPS
from qed.stats.distributions.covariance import numbers


def mapped_density(density: Callable[[np.ndarray], Any], matrix: Any, shift: Any = 0.0) -> Callable[[Any], np.ndarray]:
    """Give the density of ``matrix @ u + shift`` when u has the given density.

    Parameters
    ----------
    density : callable
        Takes vectors of shape (..., k), gives their density.
    matrix : array-like of shape (k, k)
        An invertible linear map.
    shift : float or array-like of shape (k,)
        What is added.

    Examples
    --------
    >>> standard = lambda u: np.exp(-0.5 * (u**2).sum(axis=-1)) / (2 * np.pi)
    >>> mapped = mapped_density(standard, [[2.0, 1.0], [0.0, 1.0]])
    >>> round(float(mapped([0.0, 0.0]) * 4 * np.pi), 12)
    1.0
    """
    R, b = numbers("matrix", matrix), numbers("shift", shift)
    if R.ndim != 2 or R.shape[0] != R.shape[1]:
        raise ParameterError(f"matrix must be square, not of shape {R.shape}.")
    singular = np.linalg.svd(R, compute_uv=False)
    if singular[-1] <= len(R) * EPS * singular[0]:
        raise DegenerateError("matrix is singular: it flattens the space, and nothing flat has a density.")
    factors = linalg.lu_factor(R)
    volume = float(np.exp(np.log(singular).sum()))

    def of(z: Any) -> np.ndarray:
        offset = np.asarray(z, dtype=np.float64) - b
        u = linalg.lu_solve(factors, offset.reshape(-1, len(R)).T).T.reshape(offset.shape)
        return np.asarray(density(u)) / volume

    return of
