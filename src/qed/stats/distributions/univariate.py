r"""Two distributions of single numbers that are not Gaussian: uniform and Laplace, with their maximum likelihood.

.. math:: p(x) = \frac{1}{b - a}\ \text{on } [a, b], \qquad p(x) = \frac{1}{2s} e^{-|x - m|/s}.

The uniform one is most likely on the shortest interval that holds all data; Laplace's about their median, with the mean
absolute deviation from it as its scale. (A Gaussian about the mean is :class:`qed.stats.Gaussian`.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from qed.base.attributes import floats
from qed.base.errors import ParameterError
from qed.base.models.parameters import number
from qed.base.saving.known import savable
from qed.stats.distributions.distribution import Distribution, sample_of
from qed.stats.median import weighted_median


@savable
@dataclass(frozen=True)
class Uniform(Distribution):
    """All numbers of an interval equally likely.

    Parameters
    ----------
    low, high : float
        The interval.

    Examples
    --------
    >>> Uniform.fit([2.0, 5.0, 3.0])
    Uniform(low=2.0, high=5.0)
    """

    attributes: ClassVar = {"low": floats(), "high": floats()}
    low: float
    high: float

    def __post_init__(self) -> None:
        if not (np.isfinite([self.low, self.high]).all() and self.low <= self.high):
            raise ParameterError(f"low must not be above high, and both finite: {self.low!r}, {self.high!r}.")

    @classmethod
    def fit(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Uniform:
        """Fit by maximum likelihood: from the smallest value to the largest.

        Parameters
        ----------
        x : array-like of shape (n,)
            The data.
        sample_weight : array-like of shape (n,), optional
            Weights; values without weight do not count.
        """
        x, weight = sample_of(x, sample_weight)
        return cls(float(x[weight > 0].min()), float(x[weight > 0].max()))

    def log_density(self, x: ArrayLike) -> np.ndarray:
        x = np.asarray(x, dtype=np.float64)
        with np.errstate(divide="ignore"):
            return np.where((x >= self.low) & (x <= self.high), -np.log(self.high - self.low), -np.inf)

    def _draw(self, n: int, random: np.random.Generator) -> np.ndarray:
        return random.uniform(self.low, self.high, n)

    @property
    def mean(self) -> float:
        return (self.low + self.high) / 2

    @property
    def variance(self) -> float:
        """The variance: a twelfth of the squared length."""
        return (self.high - self.low) ** 2 / 12


@savable
@dataclass(frozen=True)
class LaplaceDistribution(Distribution):
    """A double exponential about a centre.

    Parameters
    ----------
    center, scale : float
        The median, and the mean absolute deviation from it.

    Examples
    --------
    >>> LaplaceDistribution.fit([1.0, 2.0, 9.0])
    LaplaceDistribution(center=2.0, scale=2.6666666666666665)
    """

    attributes: ClassVar = {"center": floats(), "scale": floats(above=0)}
    center: float
    scale: float

    def __post_init__(self) -> None:
        number().checked("center", self.center)
        number(0, above=True).checked("scale", self.scale)

    @classmethod
    def fit(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> LaplaceDistribution:
        """Fit by maximum likelihood: the (weighted) median, and the mean absolute deviation from it.

        Parameters
        ----------
        x : array-like of shape (n,)
            The data.
        sample_weight : array-like of shape (n,), optional
            Weights.
        """
        x, weight = sample_of(x, sample_weight)
        center = weighted_median(x[weight > 0], weight[weight > 0])
        return cls(center, float(weight @ np.abs(x - center) / weight.sum()))

    def log_density(self, x: ArrayLike) -> np.ndarray:
        return -np.abs(np.asarray(x, dtype=np.float64) - self.center) / self.scale - np.log(2 * self.scale)

    def _draw(self, n: int, random: np.random.Generator) -> np.ndarray:
        return random.laplace(self.center, self.scale, n)

    @property
    def mean(self) -> float:
        return self.center

    @property
    def variance(self) -> float:
        """The variance: twice the squared scale."""
        return 2 * self.scale**2
