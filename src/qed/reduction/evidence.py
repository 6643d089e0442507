r"""How many components to keep: for a share of the variance, or as many as make the rows most likely, whatever the directions are.

.. math:: \log p(X \mid k) \approx \log p(U) - \frac N2 \sum_{j \le k} \log \lambda_j - \frac{N (p - k)}{2} \log v
    + \frac{m + k}{2} \log 2\pi - \frac12 \log |A| - \frac k2 \log N,

with the mean :math:`v` of the variances left out, :math:`m = pk - k(k+1)/2` and Laplace's approximation of the integral over directions

.. math:: \log |A| = \sum_{i \le k} \sum_{j > i} \log\big[(\hat\lambda_j^{-1} - \hat\lambda_i^{-1})(\lambda_i - \lambda_j) N\big].

Minka (2000), Automatic choice of dimensionality for PCA.
"""

import numpy as np
from scipy.special import gammaln

from qed.base.numbers import EPS, TINY


def log_evidence(variances: np.ndarray, weight: float) -> np.ndarray:
    """Give about the logarithm of how likely rows are with 1, 2, ..., p - 1 components, up to what does not depend on the number.

    Directions of variances that rounding can not tell apart turn freely, and their pairs count for nothing: the approximation knows no
    ties. One component more than vary is impossible.

    Parameters
    ----------
    variances : ndarray of shape (p,)
        The variances along all directions, the largest first.
    weight : float
        The weight of the rows: their number.

    Examples
    --------
    >>> log_evidence(np.array([9.0, 4.0, 1.3, 1.0, 0.7]), 100.0).argmax() + 1
    np.int64(2)
    """
    p, found = len(variances), np.full(max(len(variances) - 1, 0), -np.inf)
    least = max(p * EPS * float(variances.max(initial=0.0)), TINY)
    variances = np.maximum(variances, 0.0)
    varying = int((variances > least).sum())
    number = np.arange(p, 0.0, -1.0) / 2
    volumes = np.cumsum(gammaln(number) - number * np.log(np.pi) - np.log(2.0))
    logs = np.cumsum(np.log(np.maximum(variances, least)))
    for k in range(1, min(p - 1, varying) + 1):
        noise = max(float(variances[k:].mean()), least)
        free = p * k - k * (k + 1) / 2
        spread = np.where(np.arange(p) < k, np.maximum(variances, least), noise)
        above, below = np.triu_indices(k, 1, p)
        apart = variances[above] - variances[below]
        steeper = (spread[above] - spread[below]) / spread[above] / spread[below]
        distinct = (apart > least) & (steeper > 0)
        bend = float(np.log(apart[distinct] * weight).sum() + np.log(steeper[distinct]).sum())
        fit = float(logs[k - 1]) + (p - k) * np.log(noise)
        found[k - 1] = (
            volumes[k - 1] - weight / 2 * fit + (free + k) / 2 * np.log(2 * np.pi) - (bend + k * np.log(weight)) / 2
        )
    return found


def most_likely(variances: np.ndarray, weight: float) -> int:
    """Say how many components are the most likely, one at least.

    >>> most_likely(np.array([5.0, 1.0, 1.0, 1.0]), 50.0), most_likely(np.array([2.0]), 50.0)
    (1, 1)
    """
    found = log_evidence(variances, weight)
    return int(found.argmax()) + 1 if len(found) else 1


def enough_for(values: np.ndarray, total: float, share: float) -> int:
    """Say how many of the values, from the first on, have a share of the total together: one at least.

    >>> enough_for(np.array([6.0, 3.0, 1.0]), 10.0, 0.9)
    2
    """
    reached = np.cumsum(values) >= share * total * (1 - 4 * len(values) * EPS)
    return int(np.argmax(reached)) + 1 if reached.any() else len(values)
