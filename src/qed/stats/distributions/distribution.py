"""What distributions of single numbers share: a likelihood of data, and checked samples of them."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError
from qed.base.random import Seed, generator, seed_of


class Distribution(ABC):
    """A distribution of single numbers."""

    @abstractmethod
    def log_density(self, x: ArrayLike) -> np.ndarray:
        """Give the logarithm of the density, or of the probability where values are separate; minus infinity where it is zero.

        Parameters
        ----------
        x : array-like
            Where.
        """

    @abstractmethod
    def _draw(self, n: int, random: np.random.Generator) -> np.ndarray:
        """Draw n values."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """The mean."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance."""

    def density(self, x: ArrayLike) -> np.ndarray:
        """Give the density, or the probability where values are separate.

        Parameters
        ----------
        x : array-like
            Where.
        """
        return np.exp(self.log_density(x))

    def log_likelihood(self, x: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Add up the logarithms of the densities of data.

        Parameters
        ----------
        x : array-like of shape (n,)
            The data.
        sample_weight : array-like of shape (n,), optional
            Weights; two means the same as the value twice.
        """
        x, weight = sample_of(x, sample_weight)
        each = self.log_density(x)
        return float(weight @ np.where(weight > 0, each, 0.0))

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw values.

        Parameters
        ----------
        n : int, default=1
            How many.
        random_state : None, int or Generator
            The seed.
        """
        return self._draw(n, generator(seed_of(random_state), type(self).__name__))


def sample_of(x: ArrayLike, sample_weight: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Give data as a vector of finite numbers, and their weights; refuse anything else.

    >>> sample_of([1, 2])
    (array([1., 2.]), array([1., 1.]))
    """
    try:
        values = np.asarray(x, dtype=np.float64)
        weight = np.ones(values.shape) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("A sample must be numbers.") from None
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise InputError(f"A sample must be one or more finite numbers in a row, not of shape {values.shape}.")
    if weight.shape != values.shape or not np.isfinite(weight).all() or (weight < 0).any() or not weight.sum() > 0:
        raise InputError("sample_weight must be one number >= 0 for each value, not all of them zero.")
    return values, weight
