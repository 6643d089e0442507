"""The additive-noise model: y_i = f(x_i) + z_i with fixed x_i and independent z_i of mean zero.

Noise comes in three families, each scaled to the standard deviation that is asked for. The mean has to be
zero: any other would be a systematic error that no number of rows averages out.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.base.random import Seed
from qed.data.synthetic.parameters import choice, generator, number, whole

FAMILIES = ("gaussian", "uniform", "laplace")


def noise(
    size: int | tuple[int, ...], *, scale: float = 1.0, family: str = "gaussian", random_state: Seed = None
) -> np.ndarray:
    """Draw independent noise of mean zero and standard deviation `scale`.

    Parameters
    ----------
    size : int or tuple of int
        Shape of the result.
    scale : float, default=1.0
        Standard deviation, whatever the family.
    family : {"gaussian", "uniform", "laplace"}
        N(0, s²), uniform on [-s√3, s√3], or Laplace with density ``exp(-√2 |z| / s) / (s√2)``.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    ndarray of shape `size`

    Examples
    --------
    >>> z = noise(10_000, scale=2.0, family="uniform", random_state=0)
    >>> bool(abs(z).max() <= 2.0 * 3**0.5)
    True
    """
    shape = tuple(whole("size", length, least=0) for length in (size if isinstance(size, tuple) else (size,)))
    return draw_noise(shape, number("scale", scale, least=0), family, generator(random_state))


def noise_model(
    function: Callable[[np.ndarray], Any],
    x: Any,
    *,
    noise: float = 1.0,
    family: str = "gaussian",
    random_state: Seed = None,
    return_truth: bool = False,
) -> Any:
    """Observe a function at fixed points through additive noise: y_i = f(x_i) + z_i.

    Parameters
    ----------
    function : callable
        Takes `x`, gives one number (or one row of numbers) for each of its rows.
    x : array_like
        The points, which stay as they are.
    noise : float, default=1.0
        Standard deviation of the z_i.
    family : {"gaussian", "uniform", "laplace"}
        The z_i are normal, uniform from -√3 to √3 standard deviations, or from Laplace's density ``exp(-√2 |z| / s) / (s√2)``.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``{"mean": f(x)}``.

    Returns
    -------
    y : ndarray
        What is seen; and the truth when asked for.

    Examples
    --------
    >>> import numpy as np
    >>> noise_model(np.square, [1.0, 2.0, 3.0], noise=0.0)
    array([1., 4., 9.])
    """
    points = np.asarray(x, dtype=np.float64)
    mean = np.asarray(function(points), dtype=np.float64)
    if mean.ndim == 0 or points.ndim == 0 or len(mean) != len(points):
        raise ParameterError(
            f"function must give one value for each point of x, but x has shape {points.shape} "
            f"and the values have shape {mean.shape}."
        )
    y = mean + draw_noise(mean.shape, noise, family, generator(random_state))
    return (y, {"mean": mean}) if return_truth else y


def draw_noise(shape: tuple[int, ...], scale: float, family: str, random: np.random.Generator) -> np.ndarray:
    """Draw independent noise, for generators that have their random numbers already."""
    scale = number("noise", scale, least=0)
    family = choice("family", family, FAMILIES)
    if family == "gaussian":
        return random.normal(0.0, scale, shape)
    if family == "uniform":
        return random.uniform(-np.sqrt(3.0) * scale, np.sqrt(3.0) * scale, shape)
    return random.laplace(0.0, scale / np.sqrt(2.0), shape)
