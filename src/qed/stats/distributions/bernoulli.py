r"""Zeros and ones: maximum likelihood, and belief about their probability (Beta).

.. math:: P(x \mid p) = p^x (1 - p)^{1 - x}, \qquad \hat p = \frac1n \sum_i x_i, \qquad
          p \sim \mathrm{Beta}(a, b) \;\Rightarrow\; p \mid x \sim \mathrm{Beta}(a + n_1,\; b + n_0).

The prior counts as :math:`a` ones and :math:`b` zeros seen before. The mean of the posterior, :math:`(a + n_1)/(a + b + n)`, is the
estimate of least expected squared error and the probability of a one to come; its mode, :math:`(a + n_1 - 1)/(a + b + n - 2)`, is the
most probable value (MAP), and with ``Beta(1, 1)`` that of maximum likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, xlog1py, xlogy

from qed.base.attributes import floats
from qed.base.errors import InputError, NotAvailableError
from qed.base.models.parameters import number
from qed.base.saving.known import savable
from qed.stats.distributions.distribution import Distribution, sample_of


@savable
@dataclass(frozen=True)
class Bernoulli(Distribution):
    """One with probability p, else zero.

    Parameters
    ----------
    p : float
        The probability of a one.

    Examples
    --------
    >>> Bernoulli.fit([1, 0, 1, 1])
    Bernoulli(p=0.75)
    """

    attributes: ClassVar = {"p": floats(low=0, high=1)}
    p: float

    def __post_init__(self) -> None:
        number(0, 1).checked("p", self.p)

    @classmethod
    def fit(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Bernoulli:
        """Fit by maximum likelihood: the share of ones.

        Parameters
        ----------
        x : array-like of shape (n,)
            Zeros and ones.
        sample_weight : array-like of shape (n,), optional
            Weights.
        """
        ones, zeros = counts_of(x, sample_weight)
        return cls(ones / (ones + zeros))

    def log_density(self, x: ArrayLike) -> np.ndarray:
        x = np.asarray(x, dtype=np.float64)
        return np.where((x == 0) | (x == 1), xlogy(x, self.p) + xlog1py(1 - x, -self.p), -np.inf)

    def _draw(self, n: int, random: np.random.Generator) -> np.ndarray:
        return (random.random(n) < self.p).astype(np.float64)

    @property
    def mean(self) -> float:
        """The mean: p."""
        return self.p

    @property
    def variance(self) -> float:
        """The variance: p (1 - p)."""
        return self.p * (1 - self.p)


@savable
@dataclass(frozen=True)
class Beta(Distribution):
    """What is believed of the probability of a one.

    Parameters
    ----------
    a, b : float
        As if a ones and b zeros had been seen; ``Beta(1, 1)`` finds all probabilities equally likely.

    Examples
    --------
    >>> after = Beta(2, 2).posterior([1, 1, 1, 1, 0, 1, 1, 1])
    >>> after, after.mean, after.mode
    (Beta(a=9.0, b=3.0), 0.75, 0.8)
    """

    attributes: ClassVar = {"a": floats(above=0), "b": floats(above=0)}
    a: float
    b: float

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            object.__setattr__(self, name, float(number(0, above=True).checked(name, getattr(self, name))))

    def posterior(self, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Beta:
        """Give what is believed after zeros and ones were seen.

        Parameters
        ----------
        x : array-like of shape (n,)
            Zeros and ones.
        sample_weight : array-like of shape (n,), optional
            Weights.
        """
        ones, zeros = counts_of(x, sample_weight)
        return Beta(self.a + ones, self.b + zeros)

    def predictive(self) -> Bernoulli:
        """Give the distribution of the next value."""
        return Bernoulli(self.mean)

    def log_density(self, x: ArrayLike) -> np.ndarray:
        x = np.asarray(x, dtype=np.float64)
        inside = (x >= 0) & (x <= 1)
        x = np.where(inside, x, 0.5)
        return np.where(inside, xlogy(self.a - 1, x) + xlog1py(self.b - 1, -x) - betaln(self.a, self.b), -np.inf)

    def _draw(self, n: int, random: np.random.Generator) -> np.ndarray:
        return random.beta(self.a, self.b, n)

    @property
    def mean(self) -> float:
        """The mean: the estimate of least expected squared error, and the probability that the next value is a one."""
        return self.a / (self.a + self.b)

    @property
    def mode(self) -> float:
        """The most probable value (MAP), where there is one."""
        if self.a < 1 or self.b < 1 or self.a + self.b == 2:
            raise NotAvailableError(
                f"{self} has no single most probable value: a and b must be at least one, and not both."
            )
        return (self.a - 1) / (self.a + self.b - 2)

    @property
    def variance(self) -> float:
        """The variance."""
        whole = self.a + self.b
        return self.a * self.b / (whole**2 * (whole + 1))


def counts_of(x: ArrayLike, sample_weight: ArrayLike | None = None) -> tuple[float, float]:
    """Give how many ones and how many zeros there are, by weight."""
    x, weight = sample_of(x, sample_weight)
    if not np.isin(x, (0, 1)).all():
        strange = x[~np.isin(x, (0, 1))][0]
        raise InputError(f"Bernoulli data are zeros and ones, but there is a {strange:g}.")
    return float(weight @ x), float(weight @ (1 - x))
