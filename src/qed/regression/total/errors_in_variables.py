r"""A line through points of which both coordinates are uncertain: the likelihood as the course prints it.

.. math:: y = w x + (z_y - w z_x), \qquad z_x, z_y \sim N(0, 1), \qquad
   \ell(w) = -\frac n2 \log 2\pi(w^2 + 1) - \frac1{2(w^2 + 1)} \sum_i (y_i - w x_i)^2.

The noise about the line has variance :math:`w^2 + 1`, so :math:`w` appears in it, too. The text calls that hard to
maximise; setting the derivative to zero leaves a cubic, :math:`n w^3 + s_{xy} w^2 + (s_{xx} - s_{yy} + n) w - s_{xy}
= 0`. **A demonstration, not an estimator**: the observed :math:`x` holds :math:`z_x` and is not independent of that
noise, which the formula overlooks. So its maximum is biased, however many points there are. `TotalLeastSquares` is
consistent for this model. :math:`O(n)`.
"""

from typing import Any

import numpy as np

from qed.base.errors import InputError


def errors_in_variables_likelihood(w: Any, x: Any, y: Any) -> Any:
    """Give the log-likelihood of slopes, as printed.

    Parameters
    ----------
    w : float or array-like
        One slope, or many.
    x, y : array-like of shape (n,)
        The points.

    Returns
    -------
    float or ndarray of the shape of `w`
        The logarithm of the likelihood.

    Examples
    --------
    >>> round(float(errors_in_variables_likelihood(1.0, [2.0, 1.0], [1.0, 2.0])), 6)
    -3.031024
    """
    n, xx, xy, yy = _sums(x, y)
    slope = np.asarray(w, dtype=np.float64)
    variance = slope**2 + 1
    error = np.maximum(yy - 2 * slope * xy + slope**2 * xx, 0.0)
    found = -n / 2 * np.log(2 * np.pi * variance) - error / (2 * variance)
    return float(found) if found.ndim == 0 else found


def errors_in_variables_maximum(x: Any, y: Any) -> float:
    """Give the slope at which that likelihood is largest; it is biased, and no substitute for `TotalLeastSquares`.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        The points.

    Examples
    --------
    >>> round(errors_in_variables_maximum([2.0, 1.0], [1.0, 2.0]), 6)
    0.695621
    """
    n, xx, xy, yy = _sums(x, y)
    roots = np.roots([n, xy, xx - yy + n, -xy])
    real = roots.real[np.abs(roots.imag) <= 1e-9 * (1 + np.abs(roots))]
    return float(real[np.argmax(errors_in_variables_likelihood(real, x, y))])


def _sums(x: Any, y: Any) -> tuple[int, float, float, float]:
    across, up = np.asarray(x, dtype=np.float64).ravel(), np.asarray(y, dtype=np.float64).ravel()
    if len(across) != len(up) or len(across) == 0 or not (np.isfinite(across).all() and np.isfinite(up).all()):
        raise InputError(f"x and y must be finite and of one length of at least 1, not {len(across)} and {len(up)}.")
    return len(across), float(across @ across), float(across @ up), float(up @ up)
