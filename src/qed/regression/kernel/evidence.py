r"""What proves a kernel ridge regression, recomputed from the data.

Minimising :math:`J(c) = (y - Kc)^\top \Sigma^{-1} (y - Kc) + \alpha\, c^\top K c` has the dual problem of maximising
:math:`D(c) = \alpha (2 c^\top y - c^\top (K + \alpha\Sigma)\, c)`, and both are met by :math:`\alpha\Sigma c = y - Kc`: dual
coefficients are scaled residuals. For any :math:`c` the gap between the two is a sum of squares,

.. math:: J(c) - D(c) = u^\top \Sigma^{-1} u, \qquad u = y - Kc - \alpha\Sigma c,

so that the objective is above its minimum by no more than that. Here :math:`\Sigma` is the identity, or one over the weights, or a
covariance of the noise. What rounding does to :math:`u` is known by Cauchy and Schwarz: :math:`|K_{ij}| \le \sqrt{K_{ii} K_{jj}}`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS

TOLERANCE = 1e-10


def reach_of(diagonal: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Bound the sums of absolute values behind ``K @ coef``, of shape (n, q), from the diagonal of K."""
    length = np.sqrt(np.maximum(diagonal, 0.0))
    return np.outer(length, length @ np.abs(coef))


def dual_claims(
    Y: np.ndarray,
    fitted: np.ndarray,
    coef: np.ndarray,
    noise: np.ndarray,
    diagonal: np.ndarray,
    whiten: Callable[[np.ndarray], np.ndarray],
    alphas: np.ndarray,
) -> list[Claim]:
    r"""Claim that the equations hold and that the objective is minimal.

    Parameters
    ----------
    Y, fitted, coef : ndarray of shape (n, q)
        Targets, ``K c`` and dual coefficients.
    noise : ndarray of shape (n, q)
        The dual coefficients times the covariance of the noise, :math:`\alpha\Sigma c`.
    diagonal : ndarray of shape (n,)
        The diagonal of the kernel matrix.
    whiten : callable
        Multiplies by a root of :math:`\Sigma^{-1}`.
    alphas : ndarray of shape (q,)
        The penalty of each output.
    """
    left = Y - fitted - noise
    scale = np.abs(Y) + np.abs(noise) + reach_of(diagonal, coef)
    claims = [equation_claim(left, scale)]
    if alphas.any():
        gap = (whiten(left) ** 2).sum(axis=0)
        value = (whiten(Y - fitted) ** 2).sum(axis=0) + alphas * np.maximum((coef * fitted).sum(axis=0), 0.0)
        least = value + EPS * (whiten(scale) ** 2).sum(axis=0)
        excess = np.divide(gap, least, out=np.zeros_like(gap), where=(gap > 0) & (alphas > 0))
        claims.append(Claim("objective above its minimum (duality gap)", float(excess.max(initial=0.0)), 1e-9))
    return claims


def equation_claim(left: np.ndarray, scale: np.ndarray) -> Claim:
    """Claim that dual coefficients are scaled residuals: nothing is `left` of the equations, compared with what was summed up."""
    value = np.divide(np.abs(left), scale, out=np.zeros_like(left), where=left != 0)
    says = "dual coefficients are scaled residuals: alpha c = y - Kc"
    return Claim(says, float(value.max(initial=0.0)), TOLERANCE)


def slope_claim(slope: np.ndarray, Y: np.ndarray, coef: np.ndarray, diagonal: np.ndarray, weight: np.ndarray) -> Claim:
    """Claim that the gradient ``K S (y - Kc - alpha c / s)`` vanishes: all that holds where directions were left out."""
    length = np.sqrt(np.maximum(diagonal, 0.0))
    inner = weight[:, None] * (np.abs(Y) + reach_of(diagonal, coef))
    scale = np.linalg.norm(length) * (length @ inner)
    size = np.linalg.norm(slope, axis=0)
    value = np.divide(size, scale, out=np.zeros_like(size), where=size > 0)
    return Claim("gradient of the penalised error vanishes", float(value.max(initial=0.0)), TOLERANCE)
