r"""How hard a quadratic is for gradient descent: the condition number, and what a ridge penalty does to it.

.. math:: \kappa = \frac{M}{m} = \frac{\sigma_{\max}(\nabla^2 f)}{\sigma_{\min}(\nabla^2 f)}, \qquad
          \kappa(\lambda) = \frac{\sigma_{\max}(X)^2 + \lambda}{\sigma_{\min}(X)^2 + \lambda}.

With the step :math:`1/M` a step of gradient descent leaves at most the part :math:`1 - 1/\kappa` of the objective's
distance from its minimum, so the number of steps grows like :math:`\kappa`. A ridge penalty moves :math:`\kappa`
towards 1, at the price of a biased answer. A condition number costs :math:`O(d^3)`, for a design :math:`O(nd^2)`.

Boyd and Vandenberghe (2004), Convex Optimization, section 9.3.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import svdvals

from qed.base.errors import InputError, ParameterError
from qed.base.numbers import EPS


def condition_number(hessian: Any) -> float:
    """Give the ratio of the largest to the smallest singular value; infinite where rounding can not tell the smallest from zero.

    Parameters
    ----------
    hessian : array_like of shape (d, d)
        A matrix, usually a Hessian.

    Examples
    --------
    >>> condition_number([[1.0, 0.0], [0.0, 100.0]])
    100.0
    >>> condition_number([[1.0, 1.0], [1.0, 1.0]])
    inf
    """
    values = svdvals(_matrix(hessian))
    return _condition(values[0], values[-1] if values[-1] > len(values) * EPS * values[0] else 0.0)


def ridge_condition(X: Any, alpha: Any) -> np.ndarray:
    r"""Give the condition number of :math:`X^\top X + \alpha I` for every penalty `alpha`.

    Parameters
    ----------
    X : array_like of shape (n, d)
        The design; its singular values are found once, without squaring them.
    alpha : float or array_like
        Penalties, at least 0.

    Examples
    --------
    >>> ridge_condition([[1.0, 0.0], [0.0, 10.0]], [0, 1, 10, 100]).round(6)
    array([100.      ,  50.5     ,  10.      ,   1.980198])
    """
    X, alphas = _matrix(X), np.asarray(alpha, dtype=np.float64)
    if not (alphas >= 0).all():
        raise ParameterError(f"alpha must be at least 0, not {alpha!r}.")
    values = svdvals(X)
    largest = values[0]
    smallest = values[-1] if X.shape[0] >= X.shape[1] and values[-1] > max(X.shape) * EPS * largest else 0.0
    found = [_condition(largest**2 + each, smallest**2 + each) for each in alphas.ravel()]
    return np.array(found).reshape(alphas.shape)


def descent_iterations(condition: float, tol: float = 1e-6) -> float:
    r"""Give how many steps of gradient descent are enough to shrink the distance to the minimum by the factor `tol`.

    It is the least :math:`t` with :math:`(1 - 1/\kappa)^t \le` `tol`, a bound for strongly convex functions and steps of
    :math:`1/M`; infinite for an infinite condition number.

    Parameters
    ----------
    condition : float
        The condition number, at least 1.
    tol : float
        The factor, between 0 and 1.

    Examples
    --------
    >>> [descent_iterations(condition) for condition in (1, 2, 100, 1e4)]
    [1.0, 20.0, 1375.0, 138149.0]
    """
    if not condition >= 1:
        raise ParameterError(f"condition must be at least 1, not {condition!r}.")
    if not 0 < tol < 1:
        raise ParameterError(f"tol must lie between 0 and 1, not {tol!r}.")
    if condition == 1:
        return 1.0
    rate = -math.log1p(-1 / condition)
    return float(math.ceil(-math.log(tol) / rate)) if rate > 0 else math.inf


def _condition(largest: float, smallest: float) -> float:
    return float(largest / smallest) if smallest > 0 else math.inf


def _matrix(matrix: Any) -> np.ndarray:
    found = np.asarray(matrix, dtype=np.float64)
    if found.ndim != 2 or found.size == 0 or not np.isfinite(found).all():
        raise InputError(f"A matrix of finite numbers is needed; this one has the shape {found.shape}.")
    return found
