"""Noisy points on curves: a line, a polynomial, a sine wave, an ellipse."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyval

from qed.base.random import Seed
from qed.data.synthetic.additive import draw_noise, noise_model
from qed.data.synthetic.parameters import array, generator, interval, number, whole


def line(
    n: int,
    *,
    slope: float = 2.0,
    intercept: float = 1.0,
    low: float = -1.0,
    high: float = 1.0,
    noise: float = 0.5,
    family: str = "gaussian",
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Draw points about a line: x uniform on [low, high], y = slope x + intercept + z.

    Parameters
    ----------
    n : int
        Number of points.
    slope, intercept : float
        The line.
    low, high : float
        Where the points lie.
    noise : float, default=0.5
        Standard deviation of z.
    family : {"gaussian", "uniform", "laplace"}
        z is normal, uniform from -√3 to √3 standard deviations, or from Laplace's density ``exp(-√2 |z| / s) / (s√2)``.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``coef`` (slope,), ``intercept`` and ``mean``, the values without noise.

    Returns
    -------
    X : ndarray of shape (n, 1)
    y : ndarray of shape (n,)
        And the truth when asked for.

    Examples
    --------
    >>> X, y = line(50, slope=3.0, intercept=-1.0, noise=0.0, random_state=0)
    >>> bool(abs(y - (3 * X[:, 0] - 1)).max() == 0)
    True
    """
    slope, intercept = number("slope", slope), number("intercept", intercept)
    x, y, mean = _about(lambda x: slope * x + intercept, n, low, high, noise, family, random_state)
    return (x, y, {"coef": np.array([slope]), "intercept": intercept, **mean}) if return_truth else (x, y)


def polynomial(
    n: int,
    coef: Any = (1.0, -2.0, 0.0, 4.0),
    *,
    low: float = -1.0,
    high: float = 1.0,
    noise: float = 0.5,
    family: str = "gaussian",
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Draw points about a polynomial: x uniform on [low, high], y = sum_j coef_j x^j + z.

    Parameters
    ----------
    n : int
        Number of points.
    coef : array_like
        Coefficients, the constant first.
    low, high : float
        Where the points lie.
    noise : float, default=0.5
        Standard deviation of z.
    family : {"gaussian", "uniform", "laplace"}
        z is normal, uniform from -√3 to √3 standard deviations, or from Laplace's density ``exp(-√2 |z| / s) / (s√2)``.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``coef`` (constant first) and ``mean``.

    Returns
    -------
    X : ndarray of shape (n, 1)
    y : ndarray of shape (n,)
        And the truth when asked for.

    Examples
    --------
    >>> X, y, truth = polynomial(20, [1, 0, 2], noise=0.0, random_state=0, return_truth=True)
    >>> bool(abs(y - (1 + 2 * X[:, 0] ** 2)).max() < 1e-15), truth["coef"]
    (True, array([1., 0., 2.]))
    """
    weights = array("coef", coef, (None,))
    x, y, mean = _about(lambda x: polyval(x, weights), n, low, high, noise, family, random_state)
    return (x, y, {"coef": weights, **mean}) if return_truth else (x, y)


def sinusoid(
    n: int,
    *,
    amplitude: float = 1.0,
    frequency: float = 1.0,
    phase: float = 0.0,
    low: float = 0.0,
    high: float = 1.0,
    noise: float = 0.2,
    family: str = "gaussian",
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Draw points about a sine wave: y = amplitude sin(2 pi frequency x + phase) + z.

    The x are uniform on [low, high].

    Parameters
    ----------
    n : int
        Number of points.
    amplitude, frequency, phase : float
        The wave; the phase is in radians.
    low, high : float
        Where the points lie.
    noise : float, default=0.5
        Standard deviation of z.
    family : {"gaussian", "uniform", "laplace"}
        z is normal, uniform from -√3 to √3 standard deviations, or from Laplace's density ``exp(-√2 |z| / s) / (s√2)``.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``mean``.

    Returns
    -------
    X : ndarray of shape (n, 1)
    y : ndarray of shape (n,)
        And the truth when asked for.

    Examples
    --------
    >>> X, y = sinusoid(100, amplitude=2.0, noise=0.0, random_state=0)
    >>> bool(abs(y).max() <= 2.0)
    True
    """
    amplitude, phase = number("amplitude", amplitude), number("phase", phase)
    turn = 2.0 * np.pi * number("frequency", frequency)
    x, y, mean = _about(lambda x: amplitude * np.sin(turn * x + phase), n, low, high, noise, family, random_state)
    return (x, y, mean) if return_truth else (x, y)


def ellipse(
    n: int,
    *,
    semi_axes: Any = (2.0, 1.0),
    center: Any = (0.0, 0.0),
    angle: float = 0.0,
    noise: float = 0.0,
    random_state: Seed = None,
    return_truth: bool = False,
) -> Any:
    """Place points on an ellipse, at equally spaced parameter values, and move each by Gaussian noise.

    Point i is center + Q(angle) (a cos t_i, b sin t_i) + z_i with t_i = 2 pi i / n and z_i ~ N(0, noise² I).

    Parameters
    ----------
    n : int
        Number of points.
    semi_axes : (float, float)
        The lengths a and b.
    center : (float, float)
        Centre.
    angle : float, default=0.0
        Angle of the first axis, in radians, counter-clockwise.
    noise : float, default=0.0
        Standard deviation of each coordinate.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``coef``, the w of w1 x1² + w2 x2² + w3 x1 x2 + w4 x1 + w5 x2 = 1. It is None when the
        ellipse runs through the origin, which no such equation describes.

    Returns
    -------
    points : ndarray of shape (n, 2)
        And the truth when asked for.

    Examples
    --------
    >>> points, truth = ellipse(20, semi_axes=(2, 1), return_truth=True)
    >>> bool(abs(points[:, 0] ** 2 / 4 + points[:, 1] ** 2 - 1).max() < 1e-12)
    True
    >>> truth["coef"].tolist() == [0.25, 1, 0, 0, 0]
    True
    """
    n, angle = whole("n", n), number("angle", angle)
    axes = array("semi_axes", semi_axes, (2,))
    for length in axes:
        number("semi_axes", length, least=0, above=True)
    middle = array("center", center, (2,))
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    t = 2.0 * np.pi * np.arange(n) / n
    points = middle + (axes * np.column_stack([np.cos(t), np.sin(t)])) @ rotation.T
    points += draw_noise((n, 2), noise, "gaussian", generator(random_state))
    return (points, {"coef": _conic(axes, middle, rotation)}) if return_truth else points


def _conic(axes: np.ndarray, center: np.ndarray, rotation: np.ndarray) -> np.ndarray | None:
    """Write (x - c)' A (x - c) = 1 as a conic whose right-hand side is 1."""
    A = (rotation / axes**2) @ rotation.T
    constant = 1.0 - center @ A @ center
    if abs(constant) < 1e-12 * max(1.0, center @ A @ center):
        return None
    slopes = -2.0 * A @ center
    return np.array([A[0, 0], A[1, 1], 2.0 * A[0, 1], slopes[0], slopes[1]]) / constant


def _about(
    curve: Callable[[np.ndarray], Any], n: int, low: float, high: float, noise: float, family: str, random_state: Seed
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Draw places, as a column, and what is seen of a curve there; give also the values without noise."""
    random = generator(random_state)
    x = random.uniform(*interval(low, high), whole("n", n))
    y, mean = noise_model(curve, x, noise=noise, family=family, random_state=random, return_truth=True)
    return x[:, None], y, mean
