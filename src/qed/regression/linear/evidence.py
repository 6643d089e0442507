r"""What proves a linear least-squares fit, recomputed from the data.

The minimiser of :math:`\|y - Xw - b\|^2 + \alpha\|w\|^2` is known by its residual :math:`r`: it sums to zero (when there is an
intercept) and :math:`X^\top r = \alpha w`. By how much another :math:`w` misses the minimum is known exactly too,
:math:`g^\top (X^\top X + \alpha I)^{-1} g` with :math:`g = X^\top r - \alpha w`. All of it follows from the moments of :math:`(x, y, r)`,
so the proof of a fit is one fold, on arrays, files and clusters alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.linalg.normal import equilibrate, solve
from qed.stats.moments import Moments

TOLERANCE = 1e-9


def about_zero(moments: Moments) -> Moments:
    """Take moments about zero in the place of the mean, for models without an intercept."""
    return replace(moments, mean=np.zeros_like(moments.mean), scatter=moments.uncentered())


@dataclass(frozen=True)
class Evidence:
    """What is seen of features, target and residual: of a fit with p features and q outputs.

    Attributes
    ----------
    weight : float
        The sum of the weights.
    x_mean, y_mean, r_mean : ndarray of shape (p,) or (q,)
        Means of features, target and residual.
    xx, xr : ndarray of shape (p, p) or (p, q)
        Scatter of the features, and of features with residuals.
    yy, rr : ndarray of shape (q,)
        Squared deviations of target and residual.
    """

    weight: float
    x_mean: np.ndarray
    y_mean: np.ndarray
    r_mean: np.ndarray
    xx: np.ndarray
    xr: np.ndarray
    yy: np.ndarray
    rr: np.ndarray

    @classmethod
    def from_rows(cls, rows: Rows, coef: np.ndarray, intercept: np.ndarray, *, centered: bool) -> Evidence:
        """Go back to the rows; `coef` has shape (p, q). About zero unless `centered`."""
        seen = rows.fold(residual_moments, coef, intercept)
        seen, q = seen if centered else about_zero(seen), coef.shape[1]
        square = np.diagonal(seen.yy)
        means = (seen.x_mean, seen.y_mean[:q], seen.y_mean[q:])
        return cls(seen.weight, *means, seen.xx, seen.xy[:, q:], square[:q], square[q:])

    @classmethod
    def from_moments(cls, moments: Moments, coef: np.ndarray, intercept: np.ndarray, *, centered: bool) -> Evidence:
        """Work it out from the moments of features and target, without going back to the rows."""
        seen = moments if centered else about_zero(moments)
        image, yy = seen.xx @ coef, np.diagonal(seen.yy)
        rr = yy - (coef * (2 * seen.xy - image)).sum(axis=0)
        r_mean = seen.y_mean - seen.x_mean @ coef - intercept
        return cls(seen.weight, seen.x_mean, seen.y_mean, r_mean, seen.xx, seen.xy - image, yy, rr)


def residual_moments(block: Block, coef: np.ndarray, intercept: np.ndarray) -> Moments:
    """Give the moments of features, target and residual of one block."""
    y = np.asarray(block.y, dtype=np.float64).reshape(len(block), -1)
    residual = y - np.asarray(block.X @ coef, dtype=np.float64) - intercept
    return Moments.of(Block(block.X, np.hstack([y, residual]), block.weight, block.start))


def least_squares_claims(
    seen: Evidence, coef: np.ndarray, *, alpha: float | np.ndarray = 0.0, centered: bool = True, rank: int | None = None
) -> list[Claim]:
    """Make the claims of a linear least-squares model.

    Parameters
    ----------
    seen : Evidence
        Of features, target and residual.
    coef : ndarray of shape (p, q)
        The coefficients.
    alpha : float or ndarray of shape (q,)
        The penalty.
    centered : bool
        Whether there is an intercept.
    rank : int, optional
        The number of independent columns the model found; below p the solution has to be the shortest.
    """
    p = len(coef)
    length = np.sqrt(np.maximum(np.diagonal(seen.xx), 0.0))
    reach = np.sqrt(np.maximum(seen.yy, 0.0)) + length @ np.abs(coef)
    reach = np.where(reach > 0, reach, 1.0)
    bound = TOLERANCE + _rounding(seen, coef, reach)
    gradient = seen.xr - alpha * coef
    claims = []
    if centered:
        total = np.sqrt(seen.weight) * np.abs(seen.r_mean) / reach
        claims.append(Claim("residuals sum to zero", float(total.max()), bound))
    scale = np.where(length > 0, length, 1.0)[:, None] * reach
    slope = float((np.abs(gradient) / scale).max(initial=0.0))
    words = "gradient of the penalised error vanishes" if np.any(alpha) else "residuals are orthogonal to every column"
    claims.append(Claim(words, slope, bound))
    value = np.maximum(seen.rr, 0.0) + alpha * (coef**2).sum(axis=0)
    excess = _excess(seen.xx, gradient, alpha) / (value + 1e-8 * reach**2)
    claims.append(Claim("excess over the least possible error", float(excess.max()), bound))
    if rank is not None and rank < p:
        claims.append(Claim("solution is the shortest of many", _null_share(seen.xx, coef, p - rank), 1e-6))
    return claims


def condition_claim(condition: float) -> Claim:
    """Claim that the columns are independent enough for the coefficients to mean something."""
    return Claim("relative error of coefficients (condition x rounding)", condition * EPS, 1e-4)


def _rounding(seen: Evidence, coef: np.ndarray, reach: np.ndarray) -> float:
    """Bound what rounding of large values does to residuals, relative to their reach."""
    size = np.abs(seen.y_mean) + np.abs(seen.x_mean) @ np.abs(coef)
    return float((16 * EPS * (1 + np.sqrt(seen.weight) * size / reach)).max())


def _excess(gram: np.ndarray, gradient: np.ndarray, alpha: float | np.ndarray) -> np.ndarray:
    """Compute ``g' (gram + alpha I)^+ g`` for each output."""
    alphas = np.broadcast_to(alpha, gradient.shape[1])
    result = np.empty(gradient.shape[1])
    for one in np.unique(alphas):
        chosen = alphas == one
        step = solve(gram, gradient[:, chosen], float(one)).coef
        result[chosen] = np.abs((gradient[:, chosen] * step).sum(axis=0))
    return result


def _null_share(gram: np.ndarray, coef: np.ndarray, dimension: int) -> float:
    """Say which share of the coefficients lies where the data say nothing."""
    scaled, length = equilibrate(gram)
    _, vector = np.linalg.eigh(scaled)
    basis, _ = np.linalg.qr(vector[:, :dimension] / length[:, None])
    size = np.linalg.norm(coef)
    return float(np.linalg.norm(basis.T @ coef) / size) if size > 0 else 0.0
