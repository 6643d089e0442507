r"""Values of a few kinds: maximum likelihood, and belief about their probabilities (Dirichlet).

.. math:: \hat p_v = \frac{n_v}{n}, \qquad p \sim \mathrm{Dirichlet}(\alpha) \;\Rightarrow\; p \mid x \sim \mathrm{Dirichlet}(\alpha + n).

The counts of several trials are multinomial, and have the same estimates. The mean of the posterior,
:math:`(\alpha_v + n_v)/(\sum\alpha + n)`, is Laplace's rule where all :math:`\alpha`
are one: nothing is impossible because it was not seen.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from qed.base.attributes import floats, labels
from qed.base.errors import InputError, NotAvailableError, ParameterError
from qed.base.random import Seed, generator, seed_of
from qed.base.saving.known import savable


@savable
@dataclass(frozen=True, eq=False)
class Categorical:
    """A value out of a few, each with a probability.

    Parameters
    ----------
    p : array-like of shape (k,)
        The probabilities.
    values : sequence of length k, optional
        The values; by default 0, 1, 2 and so on.

    Examples
    --------
    >>> die = Categorical.fit([4, 6, 4, 2, 3, 3], values=range(1, 7))
    >>> (6 * die.p).round(9).tolist(), round(die.probability(4), 4)
    ([0.0, 1.0, 2.0, 2.0, 0.0, 1.0], 0.3333)
    """

    attributes: ClassVar = {"p": floats("kinds", low=0, high=1), "values": labels("kinds")}
    p: np.ndarray
    values: np.ndarray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        p = np.asarray(self.p, dtype=np.float64)
        if p.ndim != 1 or not (p >= 0).all() or not abs(p.sum() - 1) <= 1e-9:
            raise ParameterError(f"p must be probabilities that sum to one, not {self.p!r}.")
        values = np.arange(len(p)) if self.values is None else np.asarray(list(self.values))
        if len(values) != len(p):
            raise ParameterError(f"There are {len(values)} values for {len(p)} probabilities.")
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "values", values)

    @classmethod
    def fit(
        cls, x: ArrayLike, sample_weight: ArrayLike | None = None, *, values: Iterable[Hashable] | None = None
    ) -> Categorical:
        """Fit by maximum likelihood: the share of each value.

        Parameters
        ----------
        x : array-like of shape (n,)
            The data.
        sample_weight : array-like of shape (n,), optional
            Weights.
        values : sequence, optional
            All values there are; by default those in the data, in order.
        """
        known, count = level_counts(x, sample_weight, values)
        return cls(count / count.sum(), known)

    def probability(self, x: Hashable) -> float:
        """Give the probability of a value; zero for one that does not exist."""
        return float(self.p[self.values == x].sum())

    def log_likelihood(self, x: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Add up the logarithms of the probabilities of data.

        Parameters
        ----------
        x : array-like of shape (n,)
            The data.
        sample_weight : array-like of shape (n,), optional
            Weights.
        """
        _, count = level_counts(x, sample_weight, self.values.tolist())
        with np.errstate(divide="ignore"):
            return float(count @ np.where(count > 0, np.log(self.p), 0.0))

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw values.

        Parameters
        ----------
        n : int, default=1
            How many.
        random_state : None, int or Generator
            The seed.
        """
        draw = generator(seed_of(random_state), "Categorical")
        return np.asarray(self.values[draw.choice(len(self.p), size=n, p=self.p)])


@savable
@dataclass(frozen=True, eq=False)
class Dirichlet:
    """What is believed of the probabilities of a few values.

    Parameters
    ----------
    alpha : array-like of shape (k,)
        As if each value had been seen so often.
    values : sequence of length k, optional
        The values; by default 0, 1, 2 and so on.

    Examples
    --------
    >>> Dirichlet([1, 1, 1]).posterior([0, 0, 2]).mean.tolist()
    [0.5, 0.16666666666666666, 0.3333333333333333]
    """

    attributes: ClassVar = {"alpha": floats("kinds", above=0), "values": labels("kinds")}
    alpha: np.ndarray
    values: np.ndarray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim != 1 or not (alpha > 0).all() or not np.isfinite(alpha).all():
            raise ParameterError(f"alpha must be numbers > 0, one for each value, not {self.alpha!r}.")
        values = np.arange(len(alpha)) if self.values is None else np.asarray(list(self.values))
        object.__setattr__(self, "alpha", alpha)
        object.__setattr__(self, "values", values)

    def posterior(self, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Dirichlet:
        """Give what is believed after data were seen.

        Parameters
        ----------
        x : array-like of shape (n,)
            The data.
        sample_weight : array-like of shape (n,), optional
            Weights.
        """
        _, count = level_counts(x, sample_weight, self.values.tolist())
        return Dirichlet(self.alpha + count, self.values)

    def predictive(self) -> Categorical:
        """Give the distribution of the next value."""
        return Categorical(self.mean, self.values)

    @property
    def mean(self) -> np.ndarray:
        """The means: the estimates of least expected squared error."""
        return np.asarray(self.alpha / self.alpha.sum())

    @property
    def mode(self) -> np.ndarray:
        """The most probable values (MAP), where all alpha are above one."""
        if not (self.alpha > 1).all():
            raise NotAvailableError("There is no single most probable value: all alpha must be above one.")
        return np.asarray((self.alpha - 1) / (self.alpha - 1).sum())


def level_counts(
    x: ArrayLike, sample_weight: ArrayLike | None, values: Iterable[Hashable] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Give all values and the weight of each in the data; refuse a value that is not among those given."""
    data: Sequence[Hashable] = np.asarray(x).ravel().tolist()
    weight = np.ones(len(data)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if len(data) == 0 or weight.shape != (len(data),) or (weight < 0).any():
        raise InputError("There must be one or more values, and a weight >= 0 for each.")
    known = np.unique(np.asarray(x)).tolist() if values is None else list(values)
    place = {value: k for k, value in enumerate(known)}
    strange = [value for value in data if value not in place]
    if strange:
        raise InputError(f"The value {strange[0]!r} is none of {known}.")
    return np.asarray(known), np.bincount([place[value] for value in data], weight, len(known))
