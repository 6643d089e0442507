"""What a fitted mixture tells of rows: their component, its probability, their density; and rows of its own."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.models.checks import complete
from qed.base.models.roles import Grouper
from qed.base.random import Seed, generator, seed_of
from qed.base.sources.block import Block
from qed.clustering.mixtures.holes import log_joint
from qed.clustering.mixtures.line import LineMixture
from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.shapes import matrices, n_parameters
from qed.clustering.mixtures.shares import shared


class MixtureDensity(Grouper):
    """A model whose weights, means and precisions say how rows are spread."""

    weights_: np.ndarray
    means_: np.ndarray
    covariances_: np.ndarray
    precisions_cholesky_: np.ndarray
    covariance_type: str
    random_state: Seed

    def _mixture(self) -> Mixture:
        return Mixture(self.covariance_type, self.weights_, self.means_, self.covariances_, self.precisions_cholesky_)

    def _assign(self, block: Block) -> np.ndarray:
        return np.asarray(log_joint(np.asarray(block.X), self._mixture()).argmax(axis=1))

    def _probabilities(self, block: Block) -> np.ndarray:
        return shared(log_joint(np.asarray(block.X), self._mixture()).T, hard=False)[0].T.astype(block.X.dtype)

    def _log_densities(self, block: Block) -> np.ndarray:
        return shared(log_joint(np.asarray(block.X), self._mixture()).T, hard=False)[1].astype(block.X.dtype)

    def _outlying(self, block: Block) -> np.ndarray:
        X, mixture = np.asarray(block.X), self._mixture()
        present = ~np.isnan(X)
        whole = log_joint(X, mixture)
        best = whole.argmax(axis=1)
        # At its mean the density of a component is what it is less half of the squared distance.
        tops = log_joint(np.where(present, 0.0, np.nan), _about_zero(mixture))
        alone = tops[np.arange(len(X)), best] - whole[np.arange(len(X)), best]
        columns = np.maximum(present.sum(axis=1), 1)
        return np.sqrt(np.maximum(2 * alone, 0.0) / columns).astype(block.X.dtype)

    def outlier_scores(self, X: Any) -> np.ndarray:
        """Say how badly each row fits into its likeliest component: its distance from the mean, in standard deviations of the component.

        The root of the squared distance of Mahalanobis over the number of columns: one is usual, three is far out. Other than the density
        of :meth:`score_samples` it does not depend on how rare or how wide the component is.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The rows; of one that lacks columns, those count that it has.

        Returns
        -------
        ndarray of shape (n,)
            The scores, zero or more.
        """
        return np.asarray(self._apply(self._outlying, X))

    def predict(self, X: Any) -> np.ndarray:
        """Tell the likeliest component of every row.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The rows.
        """
        return np.asarray(self._apply(self._assign, X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Give the probability of each component, for every row.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The rows.

        Returns
        -------
        ndarray of shape (n, n_components)
            The posterior probabilities, which sum to one.
        """
        return np.asarray(self._apply(self._probabilities, X))

    def score_samples(self, X: Any) -> np.ndarray:
        """Give the logarithm of the density at every row; of one that lacks columns, that of those it has.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            The log-densities.
        """
        return np.asarray(self._apply(self._log_densities, X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Give the mean log-likelihood of rows: larger is better.

        Parameters
        ----------
        X, y, sample_weight
            Rows; `y` is not used.
        """
        total, weight, _ = self._likelihood(X, sample_weight)
        return total / weight

    def _likelihood(self, X: Any, sample_weight: Any) -> tuple[float, float, int]:
        self._check_fitted()
        rows = complete(self._open(X, None, sample_weight, reset=False), self, once=True)
        total, weight, count = rows.fold(_log_likelihood, self._mixture())
        if weight == 0:
            raise InputError(f"{type(self).__name__}: there are no rows of positive weight to score.")
        return float(total), float(weight), int(count)

    @property
    def n_parameters_(self) -> int:
        """How many free parameters the mixture has."""
        self._check_fitted()
        return n_parameters(self.covariance_type, *self.means_.shape)

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Give the Bayesian information criterion on rows, ``m log n - 2 log L`` with m parameters: lower is better.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The rows.
        sample_weight : array-like of shape (n,), optional
            Their weights; n is the sum of these.
        """
        total, weight, _ = self._likelihood(X, sample_weight)
        return self.n_parameters_ * math.log(weight) - 2 * total

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Give Akaike's information criterion on rows, ``2m - 2 log L`` with m parameters: lower is better.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The rows.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        """
        return 2 * self.n_parameters_ - 2 * self._likelihood(X, sample_weight)[0]

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and tell the component of every row.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n,), optional
            Weights; a weight of two means the same as the row twice.
        """
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows from the mixture, component after component.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : None, int or NumPy generator
            The seed; None takes that of the model.

        Returns
        -------
        X : ndarray of shape (n_samples, p)
            The rows.
        y : ndarray of shape (n_samples,)
            The component of each.
        """
        self._check_fitted()
        if isinstance(n_samples, bool) or not isinstance(n_samples, (int, np.integer)) or n_samples < 1:
            raise ParameterError(
                f"Invalid value for 'n_samples': {n_samples!r}. The sampling requires at least one sample: give a whole number."
            )
        seed = seed_of(self.random_state if random_state is None else random_state)
        k, p = self.means_.shape
        counts = generator(seed, "components").multinomial(n_samples, self.weights_ / self.weights_.sum())
        lower = np.linalg.cholesky(matrices(self.covariances_, self.covariance_type, k, p))
        drawn = generator(seed, "sample").standard_normal((n_samples, p))
        labels = np.repeat(np.arange(k), counts)
        return self.means_[labels] + (lower[labels] @ drawn[:, :, None])[:, :, 0], labels

    def marginal(self, column: int | str = 0) -> LineMixture:
        """Give the distribution of one column: a mixture of normal distributions on the line.

        Parameters
        ----------
        column : int or str, default=0
            Its number, or its name.
        """
        self._check_fitted()
        names = list(getattr(self, "feature_names_in_", []))
        if isinstance(column, str):
            if column not in names:
                raise ParameterError(f"{type(self).__name__}: there is no column {column!r}, there are {names}.")
            column = names.index(column)
        k, p = self.means_.shape
        if not -p <= column < p:
            raise ParameterError(f"{type(self).__name__}: there is no column {column}, there are {p}.")
        variances = matrices(self.covariances_, self.covariance_type, k, p)[:, column, column]
        return LineMixture(self.weights_, self.means_[:, column], variances)


def _about_zero(mixture: Mixture) -> Mixture:
    """Give the mixture with all means at zero."""
    return replace(mixture, means=np.zeros_like(mixture.means))


def _log_likelihood(block: Block, mixture: Mixture) -> np.ndarray:
    """Add up the logarithms of the densities of rows, their weights, and how many there are."""
    X, w = np.asarray(block.X), block.weights
    used = w > 0
    X, w = (X, w) if used.all() else (X[used], w[used])
    density = shared(log_joint(X, mixture).T, hard=False)[1] if len(X) else np.zeros(0)
    return np.array([(w * density).sum(), w.sum(), float(len(X))])
