r"""A Gaussian in one dimension by nested minimisation: a problem that is not convex, solved inside out.

.. math:: J(\mu, \sigma) = \sum_i w_i \Bigl[ \frac{(x_i - \mu)^2}{2\sigma^2} + \ln\sigma \Bigr], \qquad
   \min_{\mu,\sigma} J = \min_\sigma \min_\mu J.

The Hessian of J is indefinite at some points, so a vanishing gradient alone proves nothing. But for each :math:`\sigma` the
inner problem is a parabola in :math:`\mu` with its minimum at the mean, whatever :math:`\sigma` is; and the outer function grows
without bound for :math:`\sigma \to 0` and :math:`\sigma \to \infty`, so its only stationary point,
:math:`\hat\sigma^2 = \frac1W \sum_i w_i (x_i - \hat\mu)^2`, is the minimum. If all values are equal there is none: J falls
without bound for :math:`\sigma \to 0`.
"""

from typing import Any

import numpy as np

from qed.base.errors import DegenerateError, InputError
from qed.stats.distributions.covariance import numbers
from qed.stats.distributions.gaussian import Gaussian


def gaussian_cost(x: Any, mean: Any, deviation: Any, sample_weight: Any = None) -> Any:
    """Give J, the negative log-likelihood of a Gaussian but for a constant.

    Parameters
    ----------
    x : array-like of shape (n,)
        The values.
    mean, deviation : float or array-like
        Where; arrays of one shape give an array.
    sample_weight : array-like of shape (n,), optional
        Weights.

    Examples
    --------
    >>> float(gaussian_cost([0.0, 2.0], 1.0, 1.0))
    1.0
    """
    values, weight = _values(x, sample_weight)
    mean, deviation = np.asarray(mean, dtype=float)[..., None], np.asarray(deviation, dtype=float)[..., None]
    return (weight * ((values - mean) ** 2 / (2 * deviation**2) + np.log(deviation))).sum(axis=-1)


def fit_nested(x: Any, sample_weight: Any = None) -> Gaussian:
    """Minimise J over the mean inside and over the deviation outside.

    Parameters
    ----------
    x : array-like of shape (n,)
        The values.
    sample_weight : array-like of shape (n,), optional
        Weights.

    Examples
    --------
    >>> fit_nested([1.0, 2.0, 3.0, 4.0])
    Gaussian(mean=[2.5], covariance=[[1.25]])
    """
    values, weight = _values(x, sample_weight)
    mean = values[0] + weight @ (values - values[0]) / weight.sum()
    variance = float(weight @ (values - mean) ** 2 / weight.sum())
    if np.ptp(values[weight > 0]) == 0:
        raise DegenerateError(
            f"All values are {values[0]:g}: the likelihood grows without bound as the variance goes to zero, "
            "so there is no maximum. Add a prior on the variance, or treat the value as known."
        )
    return Gaussian([mean], variance)


def _values(x: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    values = np.atleast_1d(numbers("x", x, InputError))
    weight = np.ones(len(values)) if sample_weight is None else numbers("sample_weight", sample_weight, InputError)
    if values.ndim != 1 or weight.shape != values.shape or (weight < 0).any() or weight.sum() <= 0:
        raise InputError("A Gaussian in one dimension needs a vector of values, and weights that are not all zero.")
    return values, weight
