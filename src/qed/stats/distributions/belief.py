r"""Belief about a parameter before and after data: over a few candidates, and over the mean of a Gaussian.

.. math:: P(\theta \mid x) = \frac{P(\theta) \prod_i p(x_i \mid \theta)}{\sum_{\theta'} P(\theta') \prod_i p(x_i \mid \theta')}, \qquad
          p(x_{n+1} \mid x) = \sum_\theta P(\theta \mid x)\, p(x_{n+1} \mid \theta).

Three estimates follow: the most likely candidate (ML), the most probable one after the data (MAP), and the mean of the posterior (Bayes),
which has the least expected squared error. For the mean of a Gaussian of known variance and a Gaussian prior the posterior is Gaussian,
and its mean a weighted average of the data's mean and the prior's, by their precisions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from qed.base.attributes import floats
from qed.base.errors import DegenerateError, ParameterError
from qed.base.models.parameters import number
from qed.base.saving.known import savable
from qed.stats.distributions.distribution import Distribution, sample_of


@dataclass(frozen=True, eq=False)
class DiscretePrior:
    """What is believed of a few candidates for a parameter.

    Parameters
    ----------
    probabilities : mapping of candidate to float
        How probable each is; they are divided by their sum.
    family : callable
        Takes a candidate and gives the distribution of the data, anything with ``log_density``.

    Examples
    --------
    >>> from qed.stats import Uniform
    >>> prior = DiscretePrior({1: 2 / 3, 2: 1 / 3}, lambda top: Uniform(0, top))
    >>> after = prior.posterior([0.5, 0.7, 0.1])
    >>> after.most_probable, round(17 * after.mean, 9), round(34 * float(after.predictive_density(0.82)), 9)
    (1, 18.0, 33.0)
    """

    probabilities: Mapping[Hashable, float]
    family: Callable[..., Distribution]

    def __post_init__(self) -> None:
        values = np.array(list(self.probabilities.values()), dtype=np.float64)
        if len(values) == 0 or not np.isfinite(values).all() or (values < 0).any() or not values.sum() > 0:
            raise ParameterError("probabilities must be numbers >= 0, not all of them zero.")
        shares = dict(zip(self.probabilities, (values / values.sum()).tolist()))
        object.__setattr__(self, "probabilities", shares)

    def log_likelihoods(self, x: ArrayLike, sample_weight: ArrayLike | None = None) -> dict[Hashable, float]:
        """Give the log-likelihood of data for each candidate.

        Parameters
        ----------
        x : array-like of shape (n,)
            The data.
        sample_weight : array-like of shape (n,), optional
            Weights.
        """
        x, weight = sample_of(x, sample_weight)
        return {theta: float(weight @ self.family(theta).log_density(x)) for theta in self.probabilities}

    def posterior(self, x: ArrayLike, sample_weight: ArrayLike | None = None) -> DiscretePrior:
        """Give what is believed after data were seen.

        Parameters
        ----------
        x : array-like of shape (n,)
            The data.
        sample_weight : array-like of shape (n,), optional
            Weights.
        """
        found = self.log_likelihoods(x, sample_weight)
        with np.errstate(divide="ignore"):
            joint = np.array([np.log(share) + found[theta] for theta, share in self.probabilities.items()])
        evidence = logsumexp(joint)
        if not np.isfinite(evidence):
            raise DegenerateError("No candidate makes these data possible: give more candidates.")
        return DiscretePrior(dict(zip(self.probabilities, np.exp(joint - evidence).tolist())), self.family)

    def most_likely(self, x: ArrayLike) -> Hashable:
        """Give the candidate under which data are most likely, whatever was believed before (ML).

        Parameters
        ----------
        x : array-like of shape (n,)
            The data.
        """
        found = self.log_likelihoods(x)
        return max(found, key=lambda theta: found[theta])

    @property
    def most_probable(self) -> Hashable:
        """The candidate that is believed most (MAP, of a posterior)."""
        return max(self.probabilities, key=lambda theta: self.probabilities[theta])

    @property
    def mean(self) -> float:
        """The mean of the candidates, which have to be numbers (Bayes' estimate, of a posterior)."""
        candidates = np.array(list(self.probabilities), dtype=np.float64)
        return float(candidates @ np.array(list(self.probabilities.values())))

    def predictive_density(self, x: ArrayLike) -> np.ndarray:
        """Give the density of the next value, all candidates considered.

        Parameters
        ----------
        x : array-like
            Where.
        """
        parts = [share * self.family(theta).density(x) for theta, share in self.probabilities.items()]
        return np.asarray(np.sum(parts, axis=0))


@savable
@dataclass(frozen=True)
class GaussianMean:
    """What is believed of the mean of a Gaussian whose variance is known.

    Parameters
    ----------
    mean, variance : float
        The Gaussian that the mean is believed to come from; an infinite variance knows nothing.
    noise : float
        The variance of a single value about the mean.

    Examples
    --------
    >>> after = GaussianMean(0.0, 1.0, noise=1.0).posterior([2.0, 4.0])
    >>> after.mean, after.variance
    (2.0, 0.3333333333333333)
    """

    attributes: ClassVar = {"mean": floats(), "variance": floats(low=0, finite=False), "noise": floats(above=0)}
    mean: float
    variance: float
    noise: float

    def __post_init__(self) -> None:
        number().checked("mean", self.mean)
        number(0, above=True).checked("noise", self.noise)
        if not self.variance >= 0:
            raise ParameterError(f"variance must be a number >= 0 or infinity, not {self.variance!r}.")

    def posterior(self, x: ArrayLike, sample_weight: ArrayLike | None = None) -> GaussianMean:
        """Give what is believed after data were seen: means are averaged by their precisions.

        Parameters
        ----------
        x : array-like of shape (n,)
            The data.
        sample_weight : array-like of shape (n,), optional
            Weights.
        """
        x, weight = sample_of(x, sample_weight)
        if self.variance == 0:
            return self
        precision = weight.sum() / self.noise
        share = precision / (precision + 1 / self.variance)
        mean = float(self.mean + share * (weight @ (x - self.mean)) / weight.sum())
        return GaussianMean(mean, float(1 / (precision + 1 / self.variance)), self.noise)
