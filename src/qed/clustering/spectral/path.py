r"""Spectral clustering for many numbers of clusters at the price of one, and which of them the eigenvalues speak for.

The eigenvectors of the fewest clusters are among those of the most, so one graph and one decomposition serve all. A graph of k clusters
that are hardly joined has k eigenvalues near zero and a gap before the next: the *eigengap* :math:`\lambda_{k+1} - \lambda_k` is largest
there (by Davis and Kahan's theorem it also says how firmly the vectors are held).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.engine import fitting
from qed.base.errors import DegenerateWarning, ParameterError
from qed.base.models.parameters import check_parameters
from qed.base.visible import Lines, Shown
from qed.clustering.spectral.spectral_clustering import SpectralClustering


@dataclass(frozen=True, eq=False, repr=False)
class SpectralPath(Shown):
    """Spectral clusterings of the same rows.

    Attributes
    ----------
    n_clusters : ndarray of int of shape (m,)
        How many clusters each has.
    models : tuple of SpectralClustering
        The models, each with its certificate.
    eigenvalues : ndarray of shape (largest n_clusters + 1,)
        The smallest eigenvalues of the graph's normalised Laplacian; one fewer where there are no more rows.
    """

    n_clusters: np.ndarray
    models: tuple[SpectralClustering, ...]
    eigenvalues: np.ndarray

    def _table(self) -> Lines:
        values = zip(self.n_clusters, self.gaps, self.normalized_cuts)
        return ["clusters", "eigengap", "normalised cut"], [[str(k), f"{a:.4g}", f"{b:.4g}"] for k, a, b in values]

    def _said(self) -> str:
        return f"{self.n_clusters[int(self.gaps.argmax())]} clusters have the largest eigengap"

    @property
    def gaps(self) -> np.ndarray:
        """The eigengap after each number of clusters; zero after as many as there are rows."""
        values = np.append(self.eigenvalues, self.eigenvalues[-1])
        return np.asarray(values[self.n_clusters] - values[self.n_clusters - 1])

    @property
    def normalized_cuts(self) -> np.ndarray:
        """What each clustering cuts."""
        return np.array([model.normalized_cut_ for model in self.models])

    @property
    def best(self) -> SpectralClustering:
        """The clustering with the largest eigengap."""
        return self.models[int(self.gaps.argmax())]


def spectral_path(X: Any, n_clusters: Iterable[int] = range(2, 11), **parameters: Any) -> SpectralPath:
    """Cluster rows into several numbers of clusters, from one graph and one decomposition.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, path, Dask collection or Rows
        The rows, as :class:`SpectralClustering` takes them.
    n_clusters : iterable of int
        The numbers of clusters.
    **parameters
        Of :class:`SpectralClustering`, but for `n_components`.

    Returns
    -------
    SpectralPath
        The models, equal to those fitted one by one, and the eigenvalues.

    Examples
    --------
    >>> import qed
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [9.0], [9.1], [9.2]]
    >>> path = qed.spectral_path(X, range(2, 6), gamma=0.5, random_state=0)
    >>> (
    ...     path.best.n_clusters,
    ...     path.best.labels_.tolist() == qed.SpectralClustering(3, gamma=0.5, random_state=0).fit(X).labels_.tolist(),
    ... )
    (3, True)
    """
    counts = sorted({int(k) for k in n_clusters})
    if not counts or counts[0] < 1:
        raise ParameterError(f"n_clusters must be whole numbers of at least one, not {counts}.")
    if parameters.get("n_components") is not None:
        raise ParameterError("spectral_path looks at as many components as there are clusters: leave n_components out.")
    models = [SpectralClustering(k, **parameters) for k in counts]
    problem, last = None, models[-1]
    for model in models:
        check_parameters(model, model.parameters)
    with fitting():
        problem = last._problem(last._open(X, reset=True))
        most = min(counts[-1] + 1, len(problem.graph))
        values = problem.spectrum(most).values
        with warnings.catch_warnings():
            if problem.graph.n_parts > 1:
                # That the graph falls into parts is said once, by the first.
                models[0]._tell_parts(problem.graph.n_parts)
                warnings.simplefilter("ignore", DegenerateWarning)
            for model in models:
                if model is not last:
                    model._open(X, reset=True)
                model._settle(problem)
    return SpectralPath(np.array(counts), tuple(models), values)
