"""Autoregressive noise: z_{i+1} = r z_i + u_{i+1} with independent u ~ N(0, scale²).

Started from rest (z_1 = u_1) it is z = R u with R_ij = r^(i-j) on and below the diagonal, so its covariance
is R R', the inverse of R has ones on the diagonal and -r below it, and det R = 1. A draw is a recursive
filter and costs O(n).
"""

from typing import Any

import numpy as np
from scipy.signal import lfilter

from qed.base.errors import ParameterError
from qed.base.random import Seed
from qed.data.synthetic.parameters import choice, generator, number, whole

STARTS = ("rest", "stationary")


def ar1_noise(
    n: int,
    r: float,
    *,
    scale: float = 1.0,
    n_series: int | None = None,
    start: str = "rest",
    random_state: Seed = None,
    return_truth: bool = False,
) -> Any:
    """Draw autoregressive noise z_{i+1} = r z_i + u_{i+1} with u iid N(0, scale²).

    Parameters
    ----------
    n : int
        Length of a series.
    r : float
        Memory, from -1 to 1.
    scale : float, default=1.0
        Standard deviation of the innovations u.
    n_series : int, optional
        Draw so many independent series, one a row. By default a single one.
    start : {"rest", "stationary"}
        From rest, z_1 = u_1. Stationary, z_1 has the variance scale² / (1 - r²) that all z_i then share.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``{"covariance": ar1_covariance(n, r, ...)}``.

    Returns
    -------
    z : ndarray of shape (n,) or (n_series, n)
        The noise; and the truth when asked for.

    Notes
    -----
    At r = 1 and r = -1 the noise is a random walk (with alternating signs for -1): its variance grows as
    i scale² and no stationary law exists, so it can only start from rest.

    Examples
    --------
    >>> z = ar1_noise(5, 1.0, random_state=0)
    >>> u = ar1_noise(5, 0.0, random_state=0)
    >>> bool(abs(z - u.cumsum()).max() < 1e-15)
    True
    """
    n, (r, scale, start) = whole("n", n), _ar1(r, scale, start)
    shape = (n,) if n_series is None else (whole("n_series", n_series), n)
    innovations = scale * generator(random_state).standard_normal(shape)
    if start == "stationary":
        innovations[..., 0] /= np.sqrt((1.0 - r) * (1.0 + r))
    z = lfilter([1.0], [1.0, -r], innovations, axis=-1)
    return (z, {"covariance": ar1_covariance(n, r, scale=scale, start=start)}) if return_truth else z


def ar1_covariance(n: int, r: float, *, scale: float = 1.0, start: str = "rest") -> np.ndarray:
    """Give the covariance matrix of `ar1_noise`.

    From rest, Cov(z_i, z_j) = scale² r^|i-j| (1 + r² + ... + r^(2 min(i,j) - 2)). For the stationary series
    the sum is 1 / (1 - r²).

    Parameters
    ----------
    n : int
        Length of a series.
    r : float
        Memory, from -1 to 1.
    scale : float, default=1.0
        Standard deviation of the innovations u.
    start : {"rest", "stationary"}
        From rest, z_1 = u_1. Stationary, z_1 has the variance scale² / (1 - r²) that all z_i then share.

    Returns
    -------
    ndarray of shape (n, n)

    Examples
    --------
    >>> ar1_covariance(3, 0.5)
    array([[1.    , 0.5   , 0.25  ],
           [0.5   , 1.25  , 0.625 ],
           [0.25  , 0.625 , 1.3125]])
    """
    n, (r, scale, start) = whole("n", n), _ar1(r, scale, start)
    steps = np.arange(n)
    variances = np.cumsum(r ** (2 * steps)) if start == "rest" else np.full(n, 1.0 / ((1.0 - r) * (1.0 + r)))
    lags = np.abs(steps[:, None] - steps[None, :])
    earlier = np.minimum(steps[:, None], steps[None, :])
    return scale**2 * (r**steps)[lags] * variances[earlier]


def _ar1(r: Any, scale: Any, start: Any) -> tuple[float, float, str]:
    r, scale = number("r", r, least=-1, most=1), number("scale", scale, least=0)
    start = choice("start", start, STARTS)
    if start == "stationary" and abs(r) == 1.0:
        raise ParameterError(
            f"start='stationary' needs |r| < 1, but r={r:g} gives a random walk, which has no "
            "stationary law: use start='rest'."
        )
    return r, scale, start
