r"""What models of a few hidden normal numbers share: densities, posterior means, samples.

.. math:: z \sim \mathcal N(0, I_k), \qquad x \mid z \sim \mathcal N(\mu + \Lambda z, \Psi), \qquad
    x \sim \mathcal N(\mu, \Lambda \Lambda^\top + \Psi), \qquad
    z \mid x \sim \mathcal N\big(M^{-1} \Lambda^\top \Psi^{-1} (x - \mu),\, M^{-1}\big),

with :math:`M = I + \Lambda^\top \Psi^{-1} \Lambda`, of shape (k, k): with a diagonal :math:`\Psi` a density needs :math:`O(pk)` numbers,
never the whole covariance (Woodbury).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import Attributes, floats, size
from qed.base.errors import InputError
from qed.base.models.checks import complete
from qed.base.models.roles import ClassNamePrefixFeaturesOutMixin, Transformer
from qed.base.random import Seed, generator, seed_of
from qed.base.sources.block import Block


class HiddenNormal(ClassNamePrefixFeaturesOutMixin, Transformer):  # type: ignore[misc]
    """A model whose rows are ``mean_ + z @ components_`` and noise."""

    attributes: ClassVar[Attributes] = {
        "n_components_": size("factors"),
        "components_": floats("factors", "features"),
        "mean_": floats("features"),
    }
    n_components_: int
    components_: np.ndarray
    mean_: np.ndarray

    @abstractmethod
    def _noise(self) -> np.ndarray:
        """Give the variances of the noise, of shape (p,)."""

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _posterior(self) -> tuple[np.ndarray, np.ndarray]:
        """Give what centred rows are multiplied by for the mean of z, of shape (p, k), and the covariance of z given x."""
        noise = self._noise()
        scaled = self.components_ / noise
        covariance = np.linalg.inv(np.eye(len(scaled)) + scaled @ self.components_.T)
        return np.asarray(scaled.T @ covariance), covariance

    def _change(self, block: Block) -> np.ndarray:
        return np.asarray((block.X - self.mean_) @ self._posterior()[0]).astype(block.X.dtype, copy=False)

    def inverse_transform(self, X: object) -> np.ndarray:
        """Give the rows that hidden numbers make, without noise.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Hidden numbers, such as `transform` gives.
        """
        self._check_fitted()
        hidden = np.asarray(X)
        if hidden.ndim != 2 or hidden.shape[1] != len(self.components_):
            raise InputError(
                f"Expected {len(self.components_)} hidden numbers for each row, got the shape {hidden.shape}."
            )
        found = hidden @ self.components_ + self.mean_
        return np.asarray(found.astype(hidden.dtype if hidden.dtype == np.float32 else np.float64, copy=False))

    def get_covariance(self) -> np.ndarray:
        """Give the covariance of the model, of shape (p, p)."""
        self._check_fitted()
        found: np.ndarray = self.components_.T @ self.components_
        found.flat[:: len(found) + 1] += self._noise()
        return found

    def get_precision(self) -> np.ndarray:
        """Give its inverse, of shape (p, p)."""
        self._check_fitted()
        turn, _ = self._posterior()
        found = -turn @ (self.components_ / self._noise())
        found.flat[:: len(found) + 1] += 1 / self._noise()
        return np.asarray((found + found.T) / 2)

    def _level(self) -> float:
        """Give what all densities have in common: the logarithm of the determinant of the covariance, and of its factor."""
        noise = self._noise()
        inner = np.eye(len(self.components_)) + (self.components_ / noise) @ self.components_.T
        return float(np.log(noise).sum() + np.linalg.slogdet(inner)[1] + len(noise) * np.log(2 * np.pi))

    def score_samples(self, X: object) -> np.ndarray:
        """Give the log-likelihood of each row.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The rows.
        """
        self._check_fitted()
        return np.asarray(self._apply(_likelihoods, X, *self._density()))

    def _density(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Give mean, noise, components and the constant of the density."""
        return self.mean_, self._noise(), self.components_, self._level()

    def score(self, X: object, y: object = None, sample_weight: object = None) -> float:
        """Give the mean log-likelihood of rows.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The rows.
        y : ignored
            Not used.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        """
        self._check_fitted()
        rows = complete(self._open(X, None, sample_weight, reset=False), self, once=True)
        total, weight = rows.fold(_likelihood, *self._density())
        return float(total / weight)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw rows from the model.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : None, int or NumPy generator
            The seed.
        """
        self._check_fitted()
        draws = generator(seed_of(random_state), "hidden")
        hidden = draws.standard_normal((int(n_samples), len(self.components_)))
        noise = draws.standard_normal((int(n_samples), len(self.mean_))) * np.sqrt(self._noise())
        return np.asarray(self.mean_ + hidden @ self.components_ + noise)

    def _likelihood_of(self, covariance: np.ndarray) -> float:
        """Give the mean log-likelihood of rows with the mean of the model and this covariance, with the divisor W."""
        noise = self._noise()
        turn, _ = self._posterior()
        inside = float((covariance.diagonal() / noise).sum())
        inside -= float(np.einsum("ij,ji->", (self.components_ / noise) @ covariance, turn))
        return -(self._level() + inside) / 2


def _likelihoods(block: Block, mean: np.ndarray, noise: np.ndarray, components: np.ndarray, level: float) -> np.ndarray:
    """Give the logarithm of the density of each row."""
    away = block.X - mean
    scaled = components / noise
    inner = np.linalg.cholesky(np.eye(len(components)) + scaled @ components.T)
    # Squares over the noise, of what the posterior mean leaves, and of that mean: no difference of large numbers is taken.
    hidden = np.linalg.solve(inner.T, np.linalg.solve(inner, scaled @ away.T)).T
    left = away - hidden @ components
    return np.asarray(-(level + (left**2 / noise).sum(axis=1) + (hidden**2).sum(axis=1)) / 2)


def _likelihood(block: Block, mean: np.ndarray, noise: np.ndarray, components: np.ndarray, level: float) -> np.ndarray:
    """Add up the log-likelihoods of rows, and their weights."""
    each = _likelihoods(block, mean, noise, components, level)
    return np.array([block.weights @ each, block.weights.sum()])


def turned_up(components: np.ndarray) -> np.ndarray:
    """Give components the sign with which the largest entry of each is positive, of equal ones the first."""
    if not components.size:
        return components
    largest = np.abs(components).argmax(axis=1)
    signs = np.where(components[np.arange(len(components)), largest] < 0, -1.0, 1.0)
    return np.asarray(components * signs[:, None])


def wrong_signs(components: Any) -> float:
    """Count components whose largest entry is negative."""
    rows = np.asarray(components)
    low, high = rows.min(axis=1, initial=0.0), rows.max(axis=1, initial=0.0)
    return float((-low > high * (1 + 1e-9)).sum())
