"""Linear models with a chosen design: correlated columns, few that matter, or two that nearly coincide."""

from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.base.random import Seed
from qed.data.synthetic.additive import draw_noise
from qed.data.synthetic.parameters import array, generator, number, whole


def linear(
    n: int,
    p: int,
    *,
    noise: float = 1.0,
    family: str = "gaussian",
    rho: float = 0.0,
    n_informative: int | None = None,
    n_outputs: int = 1,
    intercept: float = 0.0,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Draw from a linear model: y = X w + intercept + z.

    Rows of X are N(0, S) with S_ij = rho^|i-j|. The entries of w are N(0, 1) at `n_informative` columns
    picked at random (the same for all outputs) and zero elsewhere.

    Parameters
    ----------
    n, p : int
        Numbers of rows and columns.
    noise : float, default=1.0
        Standard deviation of z.
    family : {"gaussian", "uniform", "laplace"}
        z is normal, uniform from -√3 to √3 standard deviations, or from Laplace's density ``exp(-√2 |z| / s) / (s√2)``.
    rho : float, default=0.0
        Correlation of neighbouring columns, from -1 to 1.
    n_informative : int, optional
        How many columns matter; all by default.
    n_outputs : int, default=1
        Number of targets.
    intercept : float, default=0.0
        Added to every target.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``coef`` (shape (p,), or (n_outputs, p) for several), ``intercept`` and ``mean``.

    Returns
    -------
    X : ndarray of shape (n, p)
    y : ndarray of shape (n,), or (n, n_outputs) for several
        And the truth when asked for.

    Examples
    --------
    >>> X, y, truth = linear(100, 8, noise=0.0, n_informative=3, random_state=0, return_truth=True)
    >>> int((truth["coef"] != 0).sum()), bool(abs(X @ truth["coef"] - y).max() < 1e-12)
    (3, True)
    """
    random, n_outputs = generator(random_state), whole("n_outputs", n_outputs)
    X = correlated(n, p, rho, random)
    weights = random.standard_normal((n_outputs, p)) * informative(p, n_informative, random)
    coef = weights if n_outputs > 1 else weights[0]
    mean = X @ coef.T + number("intercept", intercept)
    y = mean + draw_noise(mean.shape, noise, family, random)
    return (X, y, {"coef": coef, "intercept": float(intercept), "mean": mean}) if return_truth else (X, y)


def collinear(
    n: int,
    *,
    angle: float = 0.01,
    coef: Any = (1.0, 1.0),
    noise: float = 1.0,
    family: str = "gaussian",
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Draw a linear model whose two columns meet at a given angle: y = X coef + z.

    Both columns have mean 0 and mean square 1, their direction is uniform, and the angle between them is
    exact, so the singular values of X are sqrt(n (1 + cos angle)) and sqrt(n (1 - cos angle)), with or
    without centring.

    Parameters
    ----------
    n : int
        Number of rows, at least 3.
    angle : float, default=0.01
        In radians, from 0 (the same column twice) to pi.
    coef : (float, float)
        True coefficients.
    noise : float, default=1.0
        Standard deviation of z.
    family : {"gaussian", "uniform", "laplace"}
        z is normal, uniform from -√3 to √3 standard deviations, or from Laplace's density ``exp(-√2 |z| / s) / (s√2)``.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``coef``, ``singular_values`` and ``mean``.

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        And the truth when asked for.

    Examples
    --------
    >>> import numpy as np
    >>> X, y, truth = collinear(50, angle=0.1, random_state=0, return_truth=True)
    >>> bool(np.allclose(np.linalg.svd(X, compute_uv=False), truth["singular_values"]))
    True
    """
    n, angle = whole("n", n, least=3), number("angle", angle, least=0, most=np.pi)
    weights, random = array("coef", coef, (2,)), generator(random_state)
    frame, _ = np.linalg.qr(np.column_stack([np.ones(n), random.standard_normal((n, 2))]))
    u, v = np.sqrt(n) * frame[:, 1], np.sqrt(n) * frame[:, 2]
    X = np.column_stack([u, np.cos(angle) * u + np.sin(angle) * v])
    mean = X @ weights
    y = mean + draw_noise((n,), noise, family, random)
    # sin and cos of the half angle: 1 - cos(angle) would lose the digits of a small one
    halves = np.sort(np.sqrt(2.0 * n) * np.array([np.cos(angle / 2), np.sin(angle / 2)]))[::-1]
    return (X, y, {"coef": weights, "singular_values": halves, "mean": mean}) if return_truth else (X, y)


def correlated(n: int, p: int, rho: float, random: np.random.Generator) -> np.ndarray:
    """Draw rows from N(0, S) with S_ij = rho^|i-j|, column after column."""
    rho = number("rho", rho, least=-1, most=1)
    X = random.standard_normal((whole("n", n), whole("p", p)))
    if rho != 0.0:
        fresh = np.sqrt((1.0 - rho) * (1.0 + rho))
        for column in range(1, p):
            X[:, column] = rho * X[:, column - 1] + fresh * X[:, column]
    return X


def informative(p: int, count: int | None, random: np.random.Generator) -> np.ndarray:
    """Give a vector of zeros with `count` ones at random places."""
    count = p if count is None else whole("n_informative", count, least=0)
    if count > p:
        raise ParameterError(f"n_informative={count} columns can not matter when there are only p={p}.")
    chosen = np.zeros(p)
    chosen[random.permutation(p)[:count]] = 1.0
    return chosen
