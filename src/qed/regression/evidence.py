r"""What proves a linear least-squares fit, recomputed from the data.

The minimiser of :math:`\|y - Xw - b\|^2 + \alpha\|w\|^2` is known by its residual :math:`r`: it sums to zero (when there is an
intercept) and :math:`X^\top r = \alpha w`. By how much another :math:`w` misses the minimum is known exactly too,
:math:`g^\top (X^\top X + \alpha I)^{-1} g` with :math:`g = X^\top r - \alpha w`. All of it follows from the moments of :math:`(x, y, r)`, so
the proof of a fit is one fold, on arrays, files and clusters alike.
"""

from __future__ import annotations

import numpy as np

from qed.base.certificate import Claim
from qed.base.rows import Block
from qed.optim.gram import EPS, equilibrate
from qed.stats.moments import Moments

TOLERANCE = 1e-9


def residual_moments(block: Block, coef: np.ndarray, intercept: np.ndarray) -> Moments:
    """Give the moments of features, target and residual of one block; `coef` has shape (p, q)."""
    y = np.asarray(block.y, dtype=np.float64).reshape(len(block), -1)
    residual = y - np.asarray(block.X @ coef, dtype=np.float64) - intercept
    return Moments.of(Block(block.X, np.hstack([y, residual]), block.weight, block.start))


def residual_moments_from(moments: Moments, coef: np.ndarray, intercept: np.ndarray) -> Moments:
    """Give the same from the moments of features and target, without going back to the rows."""
    p, q = coef.shape
    eye = np.eye(p + q)
    change = np.vstack([eye, np.hstack([-coef.T, np.eye(q)])])
    mean = change @ moments.mean
    mean[p + q :] -= intercept
    return Moments(moments.weight, moments.count, mean, change @ moments.scatter @ change.T, p)


def least_squares_claims(
    seen: Moments, coef: np.ndarray, *, alpha: float | np.ndarray = 0.0, centered: bool = True, rank: int | None = None
) -> list[Claim]:
    """Make the claims of a linear least-squares model.

    Parameters
    ----------
    seen : Moments
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
    p, q = coef.shape
    seen = seen if centered else seen.uncentered()
    gram, cross = seen.xx, seen.xy[:, q:]
    length = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    target, residual = np.diagonal(seen.yy)[:q], np.diagonal(seen.yy)[q:]
    reach = np.sqrt(np.maximum(target, 0.0)) + length @ np.abs(coef)
    reach = np.where(reach > 0, reach, 1.0)
    noise = _rounding(seen, coef, reach, centered)
    gradient = cross - alpha * coef
    claims = []
    if centered:
        total = np.sqrt(seen.weight) * np.abs(seen.y_mean[q:]) / reach
        claims.append(Claim("residuals sum to zero", float(total.max()), TOLERANCE + noise))
    scale = np.where(length > 0, length, 1.0)[:, None] * reach
    slope = float((np.abs(gradient) / scale).max(initial=0.0))
    words = "residuals are orthogonal to every column" if not np.any(alpha) else "gradient of the penalised error vanishes"
    claims.append(Claim(words, slope, TOLERANCE + noise))
    value = np.maximum(residual, 0.0) + alpha * (coef**2).sum(axis=0)
    excess = _excess(gram, gradient, alpha) / (value + 1e-8 * reach**2)
    claims.append(Claim("excess over the least possible error", float(excess.max()), TOLERANCE + noise))
    if rank is not None and rank < p:
        claims.append(Claim("solution is the shortest of many", _null_share(gram, coef, p - rank), 1e-6))
    return claims


def condition_claim(condition: float) -> Claim:
    """Claim that the columns are independent enough for the coefficients to mean something."""
    return Claim("relative error of coefficients (condition x rounding)", condition * EPS, 1e-4)


def _rounding(seen: Moments, coef: np.ndarray, reach: np.ndarray, centered: bool) -> float:
    """Bound what rounding of large values does to residuals, relative to their reach."""
    q = coef.shape[1]
    size = np.abs(seen.y_mean[:q]) + np.abs(seen.x_mean) @ np.abs(coef) if centered else np.zeros(q)
    return float((16 * EPS * (1 + np.sqrt(seen.weight) * size / reach)).max())


def _excess(gram: np.ndarray, gradient: np.ndarray, alpha: float | np.ndarray) -> np.ndarray:
    """Compute ``g' (gram + alpha I)^+ g`` for each output."""
    result = np.empty(gradient.shape[1])
    for k, a in enumerate(np.broadcast_to(alpha, gradient.shape[1])):
        scaled, length = equilibrate(gram + float(a) * np.eye(len(gram)))
        value, vector = np.linalg.eigh(scaled)
        kept = value > 16 * len(value) * EPS * max(value[-1], EPS)
        parts = vector[:, kept].T @ (gradient[:, k] / length)
        result[k] = (parts**2 / value[kept]).sum()
    return result


def _null_share(gram: np.ndarray, coef: np.ndarray, dimension: int) -> float:
    """Say which share of the coefficients lies where the data say nothing."""
    scaled, length = equilibrate(gram)
    _, vector = np.linalg.eigh(scaled)
    basis, _ = np.linalg.qr(vector[:, :dimension] / length[:, None])
    size = np.linalg.norm(coef)
    return float(np.linalg.norm(basis.T @ coef) / size) if size > 0 else 0.0
