r"""The course's experiment on bias and variance: polynomials of several degrees, fitted to few points about a line.

Training sets of 10 points are drawn from :math:`y = 2x + 1 + z` with :math:`x` uniform on [-1, 1] and noise of standard
deviation 0.5. A constant is wrong on average (bias² is :math:`4x^2`) and, its inputs being random, not even steady; a line is
right on average; a parabola is, too, but follows the noise. The line has the lowest error.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from qed.base.random import Seed
from qed.base.sources.block import Block
from qed.data.synthetic import line
from qed.features.maps.polynomial import PolynomialFeatures
from qed.selection.diagnosis.bias_variance import BiasVariance, repeated
from qed.stats.factor import Factor, least_squares


def polynomial_experiment(
    degrees: Sequence[int] = (0, 1, 2),
    *,
    n: int = 10,
    noise: float = 0.5,
    test_noise: float | None = None,
    n_points: int = 21,
    repetitions: int = 1000,
    random_state: Seed = 0,
) -> dict[int, BiasVariance]:
    """Measure bias and variance of polynomials fitted to points about a line.

    Parameters
    ----------
    degrees : sequence of int
        The degrees to fit; all see the same training sets.
    n : int, default=10
        Points in a training set.
    noise : float, default=0.5
        The standard deviation of the training values.
    test_noise : float, optional
        That of the test values; by default the same.
    n_points : int, default=21
        Size of the grid on [-1, 1] at which to measure.
    repetitions : int, default=200
        How many training sets to draw.
    random_state : None, int or numpy generator, default=0
        The seed. Training set t depends on the seed and on t alone.

    Returns
    -------
    dict of int to BiasVariance
        The decomposition for each degree; ``qed.plots.bias_variance`` draws it.

    Examples
    --------
    >>> found = polynomial_experiment(repetitions=200)
    >>> min(found, key=lambda degree: found[degree].error.mean())
    1
    """
    grid = np.linspace(-1, 1, n_points)[:, None]
    truth, variance = 2 * grid[:, 0] + 1, (noise if test_noise is None else test_noise) ** 2
    found = {}
    for degree in degrees:
        learn = partial(_hypothesis, PolynomialFeatures(degree).fit(grid).transform, grid, n, noise)
        found[degree] = BiasVariance(repeated(learn, truth, repetitions, random_state), truth, variance, grid)
    return found


def _hypothesis(
    expand: Callable[[np.ndarray], np.ndarray], grid: np.ndarray, n: int, noise: float, random: np.random.Generator
) -> np.ndarray:
    """Fit least squares to the powers of drawn points, and ask it about the grid."""
    X, y = line(n, noise=noise, random_state=random)
    coef = least_squares(Factor.of(Block(expand(X), y)), intercept=False).coefficients
    return np.asarray(expand(grid) @ coef)[:, 0]
