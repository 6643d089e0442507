r"""Jointly Gaussian vectors: density, samples, linear maps, marginals, conditionals, and their maximum-likelihood fit.

.. math:: Z = \mu + R U, \quad U \sim \mathcal N(0, I), \quad \Sigma = R R^\top, \qquad
   \log f(z) = -\tfrac12 \bigl( k \log 2\pi + \log\det\Sigma + (z - \mu)^\top \Sigma^{-1} (z - \mu) \bigr).

Whatever is linear stays Gaussian: :math:`AZ + b` has mean :math:`A\mu + b` and covariance :math:`A \Sigma A^\top`, a part of the vector
has the corresponding part of both, and given :math:`Y = y` the rest has

.. math:: \mu_X + \Sigma_{XY}\Sigma_{YY}^{-1}(y - \mu_Y), \qquad \Sigma_{XX} - \Sigma_{XY}\Sigma_{YY}^{-1}\Sigma_{YX}.

A singular :math:`\Sigma` can be sampled, mapped and conditioned, but has no density. All solves go through one Cholesky factor, of
:math:`O(k^3)`; no matrix is inverted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from qed.base.attributes import floats
from qed.base.errors import DegenerateError, InputError, ParameterError
from qed.base.numbers import EPS
from qed.base.random import Seed, generator, seed_of
from qed.base.saving.known import savable
from qed.base.sources.open import rows as rows_of
from qed.stats.distributions.covariance import numbers, root
from qed.stats.distributions.ellipsoid import Ellipsoid
from qed.stats.moments import Moments


@savable
@dataclass(frozen=True, eq=False)
class Gaussian:
    """A Gaussian distribution of vectors.

    Parameters
    ----------
    mean : array-like of shape (k,)
        The mean.
    covariance : float, or array-like of shape (k,) or (k, k)
        One variance for all, one for each, or the covariance matrix. It may be singular.

    Examples
    --------
    >>> pair = Gaussian([0.0, 0.0], [[2.0, 1.0], [1.0, 2.0]])
    >>> pair.conditional({1: 2.0})
    Gaussian(mean=[1.0], covariance=[[1.5]])
    >>> pair.contour(density=0.05).radii.round(4)
    array([1.9108, 1.1032])
    """

    attributes: ClassVar = {"mean": floats("size"), "covariance": floats("size", "size")}
    mean: Any
    covariance: Any

    def __post_init__(self) -> None:
        mean = np.atleast_1d(numbers("mean", self.mean))
        if mean.ndim != 1:
            raise ParameterError(f"mean must be a vector, not of shape {mean.shape}.")
        given = numbers("covariance", self.covariance)
        root("covariance", given, len(mean))  # refuses what is no covariance
        matrix = given if given.ndim == 2 else np.diag(np.broadcast_to(given, mean.shape))
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "covariance", (matrix + matrix.T) / 2)

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Gaussian:
        """Fit by maximum likelihood: the mean, and the covariance divided by n.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            One vector a row; numbers alone are vectors of length one.
        sample_weight : array-like of shape (n,), optional
            Weights; two means the same as the row twice.

        Examples
        --------
        >>> Gaussian.fit([1.0, 2.0, 3.0, 4.0])
        Gaussian(mean=[2.5], covariance=[[1.25]])
        """
        table = np.asarray(X)[:, None] if np.ndim(X) == 1 and not isinstance(X, str) else X
        return cls.of(rows_of(table, sample_weight=sample_weight).fold(Moments.of_features))

    @classmethod
    def of(cls, moments: Moments) -> Gaussian:
        """Fit from the moments of features: those of one class, for example."""
        if not moments.is_finite:
            raise InputError("The data hold missing or infinite values: impute or drop them before fitting a Gaussian.")
        if moments.weight <= 0:
            raise InputError("A Gaussian needs at least one row of positive weight.")
        p = moments.n_features
        return cls(moments.mean[:p], moments.scatter[:p, :p] / moments.weight)

    @property
    def size(self) -> int:
        """The number of components."""
        return len(self.mean)

    @cached_property
    def root(self) -> np.ndarray:
        """A matrix R with ``R R' = covariance``: triangular, or made of eigenvectors where the covariance is singular."""
        return root("covariance", self.covariance, self.size)

    @cached_property
    def is_degenerate(self) -> bool:
        """Whether the covariance is singular to working precision, so that there is no density."""
        variance = np.diagonal(self.covariance)
        if (variance <= 0).any():
            return True
        scale = np.sqrt(variance)
        return bool(np.linalg.eigvalsh(self.covariance / np.outer(scale, scale))[0] <= self.size * EPS)

    @cached_property
    def _factor(self) -> np.ndarray:
        if self.is_degenerate:
            raise DegenerateError(
                "This Gaussian has a singular covariance: all its mass lies in a subspace, so it has no density. "
                "It can be sampled, mapped and conditioned; for a density drop the components that depend on others."
            )
        return np.linalg.cholesky(self.covariance)

    def whiten(self, z: Any) -> np.ndarray:
        """Change coordinates so that the vectors are standard: ``L^-1 (z - mean)`` with ``L L' = covariance``.

        Parameters
        ----------
        z : array-like of shape (..., k)
            Vectors.
        """
        offset = self._vectors(z) - self.mean
        flat = linalg.solve_triangular(self._factor, offset.reshape(-1, self.size).T, lower=True).T
        return np.asarray(flat).reshape(offset.shape)

    def log_density(self, z: Any) -> Any:
        """Give the logarithm of the density.

        Parameters
        ----------
        z : array-like of shape (..., k)
            Where.
        """
        determinant = 2 * np.log(np.diagonal(self._factor)).sum()
        return -0.5 * (self.size * np.log(2 * np.pi) + determinant + (self.whiten(z) ** 2).sum(axis=-1))

    def density(self, z: Any) -> Any:
        """Give the density.

        Parameters
        ----------
        z : array-like of shape (..., k)
            Where.

        Examples
        --------
        >>> float(Gaussian([0.0], 1.0).density([0.0])).__round__(6)
        0.398942
        """
        return np.exp(self.log_density(z))

    def sample(self, n: int, random_state: Seed = None) -> np.ndarray:
        """Draw `n` vectors, one a row; a singular covariance is allowed.

        Parameters
        ----------
        n : int
            How many.
        random_state : int, Generator or None
            Seed.
        """
        standard = generator(seed_of(random_state), "gaussian").standard_normal((n, self.root.shape[1]))
        return self.mean + standard @ self.root.T

    def map(self, matrix: Any, shift: Any = 0.0) -> Gaussian:
        """Give the distribution of ``matrix @ z + shift``.

        Parameters
        ----------
        matrix : array-like of shape (m, k)
            The linear map.
        shift : float or array-like of shape (m,)
            What is added.
        """
        A = np.atleast_2d(numbers("matrix", matrix))
        if A.shape[1] != self.size:
            raise InputError(f"matrix must have {self.size} columns, one for each component, not {A.shape[1]}.")
        half = A @ self.root
        return Gaussian(A @ self.mean + shift, half @ half.T)

    def marginal(self, components: Sequence[int]) -> Gaussian:
        """Give the distribution of some of the components, whatever the others are."""
        kept = self._places(components)
        return Gaussian(self.mean[kept], self.covariance[np.ix_(kept, kept)])

    def conditional(self, known: dict[int, float]) -> Gaussian:
        """Give the distribution of the other components when some are known.

        Parameters
        ----------
        known : dict
            The values of components, by their numbers.
        """
        given = self._places(list(known))
        value = numbers("known", list(known.values()))
        rest = np.setdiff1d(np.arange(self.size), given)
        if len(rest) == 0:
            raise InputError("All components are known: there is nothing left to have a distribution.")
        cross = self.covariance[np.ix_(rest, given)]
        half = root("covariance", self.covariance[np.ix_(given, given)], len(given))
        # Through a root of the known part, so that components which determine each other are no obstacle.
        reached = np.linalg.lstsq(half, np.column_stack([cross.T, value - self.mean[given]]), rcond=len(given) * EPS)[0]
        gain, news = reached[:, :-1], reached[:, -1]
        missed = np.abs(half @ news - (value - self.mean[given])).max(initial=0.0)
        if missed > 1e-8 * max(1.0, float(np.abs(value - self.mean[given]).max(initial=0.0))):
            raise InputError(
                "The known values contradict each other: they have probability zero under this covariance."
            )
        covariance = self.covariance[np.ix_(rest, rest)] - gain.T @ gain
        return Gaussian(self.mean[rest] + gain.T @ news, _semidefinite(covariance, self.covariance[np.ix_(rest, rest)]))

    def contour(
        self, *, density: float | None = None, mass: float | None = None, distance: float | None = None
    ) -> Ellipsoid:
        """Give the set of points of equal density: an ellipsoid along the eigenvectors of the covariance.

        Parameters
        ----------
        density : float
            The density on it, or
        mass : float
            the probability inside it, or
        distance : float
            its Mahalanobis distance from the mean: 1 gives the semi-axes ``sqrt(eigenvalue) * eigenvector``.
        """
        return Ellipsoid.of(self.mean, self._factor, density, mass, distance)

    def log_likelihood(self, X: Any, sample_weight: Any = None) -> float:
        """Sum the log-density over rows.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            One vector a row; numbers alone are vectors of length one.
        sample_weight : array-like of shape (n,), optional
            Weights; two means the same as the row twice.
        """
        each = self.log_density(X)
        return float(each.sum() if sample_weight is None else np.asarray(sample_weight, dtype=float) @ each)

    def _vectors(self, z: Any) -> np.ndarray:
        values = np.asarray(z, dtype=np.float64)
        if self.size == 1 and (values.ndim == 0 or values.shape[-1] != 1):
            values = values[..., None]
        if values.ndim == 0 or values.shape[-1] != self.size:
            raise InputError(f"The vectors must have {self.size} components, but the shape is {values.shape}.")
        return values

    def _places(self, components: Sequence[int]) -> np.ndarray:
        places = np.asarray(components, dtype=np.intp).reshape(-1)
        if len(places) == 0 or len(np.unique(places)) != len(places) or places.min() < 0 or places.max() >= self.size:
            raise ParameterError(f"Components are different whole numbers from 0 to {self.size - 1}, not {components}.")
        return places

    def __repr__(self) -> str:
        mean, covariance = (np.vectorize(_short)(part).tolist() for part in (self.mean, self.covariance))
        return f"Gaussian(mean={mean}, covariance={covariance})"


def _short(value: float) -> float:
    """Round to six digits, for printing."""
    return float(f"{value:.6g}")


def _semidefinite(covariance: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Set to zero what subtraction left of variances that are fully explained."""
    value, vector = np.linalg.eigh((covariance + covariance.T) / 2)
    noise = 16 * len(value) * EPS * float(np.abs(before).max())
    return covariance if value[0] > noise else (vector * np.where(value > noise, value, 0.0)) @ vector.T
