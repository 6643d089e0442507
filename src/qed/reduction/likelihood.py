r"""The probabilistic view of a plane near rows: these are normal, spread along the plane and, by noise, off it.

.. math:: x \sim \mathcal N\big(\bar x,\; V^\top (\Lambda - \sigma^2 I) V + \sigma^2 I\big),

with the variances :math:`\Lambda` of the components along their directions, and :math:`\sigma^2`, the mean of those left out, along all
others. So a density needs the components and the distance from the plane only, :math:`O(pk)` a row.

Tipping and Bishop (1999), Probabilistic principal component analysis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.base.errors import DegenerateError
from qed.base.models.checks import complete
from qed.base.models.estimator import Estimator
from qed.base.sources.block import Block, as_dense


class NormalRows(Estimator):
    """A model whose components say how rows are spread."""

    components_: np.ndarray
    explained_variance_: np.ndarray
    noise_variance_: float
    n_components_: int
    mean_: np.ndarray

    def score_samples(self, X: object) -> np.ndarray:
        r"""Give the log-likelihood of rows in the probabilistic view.

        There rows are normal, with the variances of the components along these, and `noise_variance_` along all other directions.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The rows.
        """
        return np.asarray(self._apply(self._likelihoods, X, *self._density()))

    def _features_of(self, X: Any) -> Any:
        """Give the columns that are spread along components: those of the table, unless features are made of them."""
        return X

    def score(self, X: object, y: object = None, sample_weight: object = None) -> float:
        """Give the mean log-likelihood of rows, by the density of the fitted model.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The rows.
        y : ignored
            Not used.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        """
        self._check_fitted()
        rows = complete(self._open(X, None, sample_weight, reset=False), self, once=True)
        total, weight = rows.fold(self._likelihood, *self._density())
        return float(total / weight)

    def _density(self) -> tuple[np.ndarray, float]:
        """Give the variances of the probabilistic view, that of the noise last, and what all densities have in common."""
        self._check_fitted()
        left = len(self.mean_) - self.n_components_
        variances = np.append(self.explained_variance_, [self.noise_variance_] * (left > 0))
        if not (variances > 0).all():
            raise DegenerateError(
                "PCA has no likelihood where some variance is zero: rows off the plane would be impossible. Give a smaller n_components."
            )
        level = float(np.log(self.explained_variance_).sum() + len(self.mean_) * np.log(2 * np.pi))
        return variances, level + (left * float(np.log(self.noise_variance_)) if left else 0.0)

    def get_covariance(self) -> np.ndarray:
        """Give the covariance of the probabilistic view, of shape (p, p)."""
        self._check_fitted()
        more = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        found: np.ndarray = (self.components_.T * more) @ self.components_
        found.flat[:: len(found) + 1] += self.noise_variance_
        return found

    def get_precision(self) -> np.ndarray:
        """Give the inverse of the covariance of the probabilistic view, of shape (p, p)."""
        return np.asarray(np.linalg.inv(self.get_covariance()))

    def _likelihoods(self, block: Block, variances: np.ndarray, level: float) -> np.ndarray:
        """Give the logarithm of the density of each row: squares along components, and of what is left, over their variances."""
        X, components = self._features_of(block.X), self.components_
        away, k = as_dense(X) - self.mean_, len(components)
        scores = away @ components.T
        found = level + (scores**2 / variances[:k]).sum(axis=1)
        if len(variances) > k:
            found = found + ((away - scores @ components) ** 2).sum(axis=1) / variances[k]
        return np.asarray(-found / 2)

    def _likelihood(self, block: Block, variances: np.ndarray, level: float) -> np.ndarray:
        """Add up the log-likelihoods of rows, and their weights."""
        return np.array([block.weights @ self._likelihoods(block, variances, level), block.weights.sum()])
