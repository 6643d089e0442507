r"""How good an estimator is: its bias and its variance, by simulation.

.. math:: E\bigl[(d - \theta)^2\bigr] = \underbrace{(E[d] - \theta)^2}_{\text{bias}^2}
          + \underbrace{E\bigl[(d - E[d])^2\bigr]}_{\text{variance}} .

Samples are drawn again and again, the estimator is applied to each, and what it gives is compared with the truth. The identity above
holds for the simulated numbers exactly; how far these are from the true ones is said by their standard errors.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.random import Seed, generator, seed_of
from qed.stats.distributions.distribution import Distribution


@dataclass(frozen=True)
class EstimatorQuality:
    """Bias and variance of an estimator."""

    truth: float  # what is estimated
    bias: float
    variance: float
    bias_error: float  # the standard error of the bias, from the simulation
    repeats: int  # how many samples were drawn

    @property
    def squared_error(self) -> float:
        """The mean squared error: squared bias plus variance."""
        return self.bias**2 + self.variance

    @property
    def seems_unbiased(self) -> bool:
        """Whether the bias is within four of its standard errors (and rounding) of zero."""
        return abs(self.bias) <= 4 * self.bias_error + 1e-12 * abs(self.truth)


def assess_estimator(
    estimator: Callable[[np.ndarray], np.ndarray],
    distribution: Distribution,
    truth: float,
    n: int,
    *,
    repeats: int = 10_000,
    random_state: Seed = 0,
) -> EstimatorQuality:
    """Simulate bias and variance of an estimator.

    Parameters
    ----------
    estimator : callable
        Takes samples of shape (repeats, n) and gives one estimate for each row.
    distribution : Distribution
        What samples are drawn from: anything with ``sample(count, random_state)``.
    truth : float
        What is to be estimated.
    n : int
        Values in a sample.
    repeats : int, default=10_000
        How many samples are drawn.
    random_state : None, int or Generator, default=0
        The seed.

    Examples
    --------
    >>> from qed.stats import Uniform
    >>> half_largest = assess_estimator(lambda X: X.max(axis=1) / 2, Uniform(0, 2), truth=1.0, n=4)
    >>> half_largest.seems_unbiased, round(half_largest.bias, 1)
    (False, -0.2)
    """
    if n < 1 or repeats < 2:
        raise ParameterError("n must be at least 1 and repeats at least 2.")
    seed = int(generator(seed_of(random_state), "estimator").integers(2**62))
    draws = np.asarray(distribution.sample(n * repeats, seed), dtype=np.float64).reshape(repeats, n)
    found = np.asarray(estimator(draws), dtype=np.float64)
    if found.shape != (repeats,):
        raise InputError(f"The estimator must give one number for each of the {repeats} rows, not {found.shape}.")
    variance = float(found.var())
    return EstimatorQuality(truth, float(found.mean() - truth), variance, float(np.sqrt(variance / repeats)), repeats)
