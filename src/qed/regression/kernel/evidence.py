r"""What proves a kernel ridge regression, recomputed from the data.

Minimising :math:`J(c) = (y - Kc)^\top \Sigma^{-1} (y - Kc) + \alpha\, c^\top K c` has the dual problem of maximising
:math:`D(c) = \alpha (2 c^\top y - c^\top (K + \alpha\Sigma)\, c)`, and both are met by :math:`\alpha\Sigma c = y - Kc`: dual
coefficients are scaled residuals. For any :math:`c` the gap between the two is a sum of squares,

.. math:: J(c) - D(c) = u^\top \Sigma^{-1} u, \qquad u = y - Kc - \alpha\Sigma c,

so that the objective is above its minimum by no more than that. With :math:`\Sigma^{-1}(y - Kc)/\alpha` in the place of the
second :math:`c` it is :math:`u^\top \Sigma^{-1} K\, \Sigma^{-1} u / \alpha`, which is less where :math:`u` lies in directions that the
kernel hardly knows. Here :math:`\Sigma` is the identity, or one over the weights, or a covariance of the noise. What rounding does to
:math:`u` is known by Cauchy and Schwarz: :math:`|K_{ij}| \le \sqrt{K_{ii} K_{jj}}`.
"""

from collections.abc import Callable

import numpy as np

from qed.base.certificate import MOST_ROUNDING, Claim
from qed.base.numbers import EPS, TINY

TOLERANCE = 1e-10


def reach_of(diagonal: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Bound the sums of absolute values behind ``K @ coef``, of shape (n, q), from the diagonal of K."""
    length = np.sqrt(np.maximum(diagonal, 0.0))
    return np.outer(length, length @ np.abs(coef))


def rounding_of(count: int) -> float:
    """Say how far rounding may carry a sum of `count` products, relative to the sum of their sizes: as the root of their number."""
    return EPS * (8 + float(np.sqrt(count)))


def dual_claims(
    Y: np.ndarray,
    fitted: np.ndarray,
    coef: np.ndarray,
    noise: np.ndarray,
    diagonal: np.ndarray,
    whiten: Callable[[np.ndarray], np.ndarray],
    alphas: np.ndarray,
    slope: np.ndarray | None = None,
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
        Multiplies by a root of :math:`\Sigma^{-1}`, which is symmetric where there is a slope.
    alphas : ndarray of shape (q,)
        The penalty of each output.
    slope : ndarray of shape (n, q), optional
        :math:`K \Sigma^{-1} u`, where directions were left out: then the equations hold in the others only.
    """
    # All that is claimed is relative to the target: measured by a power of two of its own size, squares neither overflow nor vanish.
    largest = np.abs(Y).max(axis=0, initial=0.0)
    unit = np.where(largest > 0, np.ldexp(1.0, np.frexp(largest)[1]), 1.0)
    Y, fitted, coef, noise = (part / unit for part in (Y, fitted, coef, noise))
    slope = None if slope is None else slope / unit
    left, reach = Y - fitted - noise, reach_of(diagonal, coef)
    scale = np.abs(Y) + np.abs(noise) + reach
    claims = [] if slope is not None else [equation_claim(left, scale)]
    held, each = alphas > 0, rounding_of(len(Y))
    if held.any():
        whitened = whiten(left)
        gap, blur = (whitened**2).sum(axis=0), each**2 * (whiten(scale) ** 2).sum(axis=0)
        if slope is not None:
            inner, length = whiten(whitened), np.sqrt(np.maximum(diagonal, 0.0))
            other = np.maximum((inner * slope).sum(axis=0), 0.0) + each * (length @ np.abs(inner)) ** 2
            gap = np.minimum(gap, other / np.where(held, alphas, 1.0))
        error = (whiten(Y - fitted) ** 2).sum(axis=0)
        length = np.maximum((coef * fitted).sum(axis=0) - each * (np.abs(coef) * reach).sum(axis=0), 0.0)
        claims.append(gap_claim(gap[held], (error + alphas * length)[held], blur[held]))
    if not held.all() and slope is None:
        error, size = (whiten(Y - fitted) ** 2).sum(axis=0), (whiten(Y) ** 2).sum(axis=0)
        says = "squared residual of an interpolation, relative to the target"
        claims.append(gap_claim(error[~held], size[~held], each**2 * (whiten(scale) ** 2).sum(axis=0)[~held], says))
    return claims


def gap_claim(
    gap: np.ndarray, value: np.ndarray, blur: np.ndarray, says: str = "objective above its minimum (duality gap)"
) -> Claim:
    """Claim that squares `gap`, known but for squares `blur`, are small against `value`, for the worst of the outputs."""
    size = np.maximum(value, TINY)
    # A gap without any bound is no less so for being known exactly.
    cross = np.multiply(np.sqrt(gap), np.sqrt(blur), out=np.zeros_like(blur), where=blur > 0)
    share, rounding = gap / size, (2 * cross + blur) / size
    worst = int(np.argmax(np.maximum(share - rounding, rounding - MOST_ROUNDING)))
    return Claim.within(says, float(share[worst]), 1e-9, float(rounding[worst]))


def equation_claim(left: np.ndarray, scale: np.ndarray) -> Claim:
    """Claim that dual coefficients are scaled residuals: nothing is `left` of the equations, compared with what was summed up."""
    value = np.divide(np.abs(left), scale, out=np.zeros_like(left), where=left != 0)
    says = "dual coefficients are scaled residuals: alpha c = y - Kc"
    return Claim(says, float(value.max(initial=0.0)), TOLERANCE)


def slope_claim(slope: np.ndarray, Y: np.ndarray, coef: np.ndarray, diagonal: np.ndarray, weight: np.ndarray) -> Claim:
    """Claim that the gradient ``K S (y - Kc - alpha c / s)`` vanishes: all that holds where directions were left out."""
    length, w = np.sqrt(np.maximum(diagonal, 0.0)), weight[:, None]
    unit = np.linalg.norm(length) * (length @ (w * np.abs(Y)))
    reach = np.linalg.norm(length) * (length @ (w * reach_of(diagonal, coef)))
    unit = np.where(unit > 0, unit, 1.0)
    value = np.linalg.norm(slope, axis=0) / unit
    rounding = rounding_of(len(Y)) * (1 + reach / unit)
    worst = int(np.argmax(np.maximum(value - rounding, rounding - MOST_ROUNDING)))
    says = "gradient of the penalised error vanishes"
    return Claim.within(says, float(value[worst]), TOLERANCE, float(rounding[worst]))
