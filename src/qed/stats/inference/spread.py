r"""The sums behind least-squares inference: from moments, or from the factor of a QR where columns are nearly dependent.

Both know the scatter :math:`S` of features and target about their means, as itself or as :math:`R^\top R`. The covariance of the
coefficients is :math:`\sigma^2 S_{xx}^{-1}`, the residual sum of squares is the form :math:`(-w, 1)\,S\,(-w, 1)^\top`.
"""

import math

import numpy as np
from scipy import linalg

from qed.base.errors import NotAvailableError
from qed.base.numbers import EPS
from qed.linalg.normal import equilibrate, factorised
from qed.stats.factor import Factor
from qed.stats.moments import Moments


def sums(
    statistic: Moments | Factor, coef: np.ndarray, fit_intercept: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give a root of the inverse scatter of the features, and per target the residual and total sums of squares."""
    p = statistic.n_features
    if isinstance(statistic, Factor):
        R = statistic.R
        if not fit_intercept:
            R = np.asarray(np.linalg.qr(np.vstack([R, statistic.mean * math.sqrt(statistic.weight)]), mode="r"))
        rest = R[:, p:] - R[:, :p] @ coef
        length = np.linalg.norm(R[:, :p], axis=0)
        triangle = R[:p, :p] / np.where(length > 0, length, 1.0)
        return _inverse_root(triangle, length), (rest**2).sum(axis=0), (R[:, p:] ** 2).sum(axis=0)
    S = statistic.scatter
    if not fit_intercept:
        S = S + statistic.weight * np.outer(statistic.mean, statistic.mean)
    scaled, length = equilibrate(S[:p, :p])
    lower, reciprocal = factorised(scaled)
    change = np.vstack([-coef, np.eye(coef.shape[1])])
    residual = np.maximum((change * (S @ change)).sum(axis=0), 0.0)
    return _inverse_root(lower.T if reciprocal > 0 else np.zeros((p, p)), length), residual, np.diagonal(S)[p:]


def _inverse_root(triangle: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Invert an upper triangular matrix of unit columns, and undo their scaling."""
    diagonal = np.abs(np.diagonal(triangle))
    if len(diagonal) < len(length) or (diagonal <= 8 * len(length) * EPS).any():
        raise NotAvailableError(
            "Standard errors are not defined: some columns follow from the others, so the coefficients are not "
            "determined by the data. Drop the columns that follow from others."
        )
    return linalg.solve_triangular(triangle, np.eye(len(length))) / length[:, None]


def with_intercept(inverse: np.ndarray, x_mean: np.ndarray, weight: float) -> np.ndarray:
    """Add the row and column of the intercept ``y_mean - x_mean @ coef``."""
    cross = -inverse @ x_mean
    return np.block([[np.array([[1 / weight - cross @ x_mean]]), cross[None, :]], [cross[:, None], inverse]])


def log_likelihood(n: float, residual: float, sigma2: float | None) -> float | None:
    """Give the Gaussian log-likelihood; with unknown variance at its maximum, residual / n; none for a perfect fit."""
    if sigma2 is not None:
        return -n / 2 * math.log(2 * math.pi * sigma2) - residual / (2 * sigma2)
    return -n / 2 * (math.log(2 * math.pi * residual / n) + 1) if residual > 0 else None
