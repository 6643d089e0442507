r"""A mixture of normal distributions on the line.

.. math:: f(x) = \sum_{j=1}^k \frac{\pi_j}{\sqrt{2\pi}\, \sigma_j} e^{-(x - \mu_j)^2 / 2\sigma_j^2},

with :math:`k - 1` free weights, k means and k variances: :math:`3k - 1` parameters. The likeliest component changes where two parabolas
:math:`\log \pi_j \mathcal N(x; \mu_j, \sigma_j^2)` meet, so a component owns an interval, none, or several: with different
variances these need not be the cells of the nearest mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import ndtr

from qed.base.errors import ParameterError
from qed.base.random import Seed, generator, seed_of


@dataclass(frozen=True)
class LineMixture:
    """A mixture of normal distributions of one number.

    Parameters
    ----------
    weights, means, variances : array-like of shape (k,)
        The share, mean and variance of each component.

    Examples
    --------
    >>> two = LineMixture([0.5, 0.5], [0.0, 0.0], [1.0, 16.0])
    >>> two.n_parameters, round(float(two.density(0.0)), 4)
    (5, 0.2493)
    >>> [(low, high, j) for low, high, j in two.intervals().round(3).tolist()]
    [(-inf, -1.72, 1.0), (-1.72, 1.72, 0.0), (1.72, inf, 1.0)]
    """

    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray

    def __post_init__(self) -> None:
        for name in ("weights", "means", "variances"):
            vars(self)[name] = np.array(getattr(self, name), dtype=np.float64)
        fits = self.weights.ndim == 1 and self.weights.shape == self.means.shape == self.variances.shape
        if not fits or not (self.weights >= 0).all() or abs(self.weights.sum() - 1) > 1e-8:
            raise ParameterError(
                "LineMixture: weights, means and variances must be as many, weights none below zero and one in all."
            )
        if not (self.variances > 0).all():
            raise ParameterError("LineMixture: variances must be above zero.")

    @property
    def n_parameters(self) -> int:
        """How many free parameters there are: 3k - 1."""
        return 3 * len(self.weights) - 1

    def _log_joint(self, x: Any) -> np.ndarray:
        x = np.asarray(x, dtype=np.float64)[..., None]
        with np.errstate(divide="ignore"):
            first = np.log(self.weights) - 0.5 * np.log(2 * math.pi * self.variances)
        return np.asarray(first - (x - self.means) ** 2 / (2 * self.variances))

    def log_density(self, x: Any) -> np.ndarray:
        """Give the logarithm of the density at some numbers.

        Parameters
        ----------
        x : array-like
            The numbers.
        """
        logs = self._log_joint(x)
        top = logs.max(axis=-1)
        return np.asarray(top + np.log(np.exp(logs - top[..., None]).sum(axis=-1)))

    def density(self, x: Any) -> np.ndarray:
        """Give the density at some numbers.

        Parameters
        ----------
        x : array-like
            The numbers.
        """
        return np.asarray(np.exp(self.log_density(x)))

    def distribution(self, x: Any) -> np.ndarray:
        """Give the probability of being at most some numbers.

        Parameters
        ----------
        x : array-like
            The numbers.
        """
        x = np.asarray(x, dtype=np.float64)[..., None]
        return np.asarray(ndtr((x - self.means) / np.sqrt(self.variances)) @ self.weights)

    def posterior(self, x: Any) -> np.ndarray:
        """Give the probability of each component at some numbers, of shape (..., k).

        Parameters
        ----------
        x : array-like
            The numbers.
        """
        logs = self._log_joint(x)
        shares = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=-1, keepdims=True))

    def log_likelihood(self, x: Any, sample_weight: Any = None) -> float:
        """Give the sum of the logarithms of the densities at some numbers.

        Parameters
        ----------
        x : array-like of shape (n,)
            The numbers.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        """
        found = self.log_density(x)
        return float(found.sum() if sample_weight is None else np.asarray(sample_weight) @ found)

    def sample(self, n_samples: int, random_state: Seed = None) -> np.ndarray:
        """Draw numbers.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : None, int or NumPy generator
            The seed.
        """
        drawing = generator(seed_of(random_state), "line")
        labels = drawing.choice(len(self.weights), size=n_samples, p=self.weights / self.weights.sum())
        normal = drawing.standard_normal(n_samples)
        return np.asarray(self.means[labels] + np.sqrt(self.variances[labels]) * normal)

    def intervals(self) -> np.ndarray:
        """Give the intervals of the line and the component that is the likeliest there: rows of (low, high, component)."""
        cuts = sorted({cut for i in range(len(self.means)) for j in range(i) for cut in self._meet(i, j)})
        edges = [-math.inf, *cuts, math.inf]
        found: list[list[float]] = []
        for low, high in pairwise(edges):
            owner = float(self._owner(low, high))
            if found and found[-1][2] == owner:
                found[-1][1] = high
            else:
                found.append([low, high, owner])
        return np.array(found)

    def _owner(self, low: float, high: float) -> int:
        width = 1.0 + np.sqrt(self.variances.max())
        if math.isinf(low) and math.isinf(high):
            return int(self._log_joint(self.means.mean()).argmax())
        inside = high - width if math.isinf(low) else low + width if math.isinf(high) else (low + high) / 2
        return int(self._log_joint(inside).argmax())

    def _meet(self, i: int, j: int) -> Sequence[float]:
        """Give where two components are equally likely: none, one or two places."""
        if self.weights[i] == 0 or self.weights[j] == 0:
            return []
        middle = (self.means[i] + self.means[j]) / 2
        one, two = (
            (
                1 / self.variances[c],
                self.means[c] - middle,
                math.log(self.weights[c]) - 0.5 * math.log(self.variances[c]),
            )
            for c in (i, j)
        )
        a = 0.5 * (two[0] - one[0])
        b = one[0] * one[1] - two[0] * two[1]
        c = one[2] - two[2] - 0.5 * (one[0] * one[1] ** 2 - two[0] * two[1] ** 2)
        if a == 0:
            return [] if b == 0 else [float(middle - c / b)]
        inside = b * b - 4 * a * c
        if inside <= 0:
            return []
        # The larger root first: the other follows from their product without a difference.
        q = -0.5 * (b + math.copysign(math.sqrt(inside), b))
        roots = [q / a, c / q] if q != 0 else [0.0]
        return [float(middle + root) for root in roots]
