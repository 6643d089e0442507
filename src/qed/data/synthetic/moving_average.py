"""Moving-average noise: z_i = c_0 u_i + c_1 u_{i-1} + ... + c_q u_{i-q} with independent u ~ N(0, scale²): an echo.

In matrix form z = R u with a banded Toeplitz R, of shape (n, n + q) when the terms before the first are included. Its
autocovariance at lag h is scale² (c_0 c_h + c_1 c_{h+1} + ...), which is zero beyond the window. A draw costs O(nq).
"""

from typing import Any

import numpy as np
from scipy.linalg import toeplitz
from scipy.signal import lfilter

from qed.base.errors import ParameterError
from qed.base.random import Seed
from qed.data.synthetic.parameters import choice, generator, number, whole

STARTS = ("stationary", "rest")


def ma_noise(
    n: int,
    window: Any,
    *,
    scale: float = 1.0,
    n_series: int | None = None,
    start: str = "stationary",
    random_state: Seed = None,
    return_truth: bool = False,
) -> Any:
    """Draw moving-average noise z_i = sum_j window[j] u_{i-j} with u iid N(0, scale²).

    Parameters
    ----------
    n : int
        Length of a series.
    scale : float, default=1.0
        Standard deviation of the innovations u.
    n_series : int, optional
        Draw so many independent series, one a row. By default a single one.
    random_state : int, Generator or None
        Seed.
    window : array-like of shape (q + 1,)
        The weight of the present and of the q innovations before it.
    start : {"stationary", "rest"}
        Stationary, the first values hear innovations from before the series; from rest they do not.
    return_truth : bool, default=False
        Also give ``{"covariance": ma_covariance(n, window, ...)}``.

    Returns
    -------
    z : ndarray of shape (n,) or (n_series, n)
        The noise; and the truth when asked for.

    Examples
    --------
    >>> z = ma_noise(4, [1.0, 1.0], start="rest", random_state=0)
    >>> u = ma_noise(4, [1.0], random_state=0)
    >>> bool(abs(z - (u + [0.0, *u[:-1]])).max() < 1e-15)
    True
    """
    n, (window, scale, start) = whole("n", n), _moving(window, scale, start)
    before = len(window) - 1 if start == "stationary" else 0
    shape = (n + before,) if n_series is None else (whole("n_series", n_series), n + before)
    z = lfilter(window, [1.0], scale * generator(random_state).standard_normal(shape), axis=-1)[..., before:]
    return (z, {"covariance": ma_covariance(n, window, scale=scale, start=start)}) if return_truth else z


def ma_covariance(n: int, window: Any, *, scale: float = 1.0, start: str = "stationary") -> np.ndarray:
    """Give the covariance matrix of `ma_noise`.

    Parameters
    ----------
    n : int
        Length of a series.
    window : array-like of shape (q + 1,)
        The weight of the present and of the q innovations before it.
    scale : float, default=1.0
        Standard deviation of the innovations u.
    start : {"stationary", "rest"}
        Stationary, the first values hear innovations from before the series; from rest they do not.

    Returns
    -------
    ndarray of shape (n, n)

    Examples
    --------
    >>> ma_covariance(4, [2.0, 1.0])
    array([[5., 2., 0., 0.],
           [2., 5., 2., 0.],
           [0., 2., 5., 2.],
           [0., 0., 2., 5.]])
    """
    n, (window, scale, start) = whole("n", n), _moving(window, scale, start)
    before = len(window) - 1 if start == "stationary" else 0
    padded = np.concatenate([window, np.zeros(n + before)])[: n + before]
    R = scale * toeplitz(padded, np.zeros(n + before))[before:]
    return np.asarray(R @ R.T)


def _moving(window: Any, scale: Any, start: Any) -> tuple[np.ndarray, float, str]:
    weights = np.atleast_1d(np.asarray(window, dtype=np.float64))
    if weights.ndim != 1 or len(weights) == 0 or not np.isfinite(weights).all():
        raise ParameterError(f"window must be a list of finite numbers, one for each lag from 0, not {window!r}.")
    return weights, number("scale", scale, least=0), choice("start", start, STARTS)
