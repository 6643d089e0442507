r"""Spectral clustering: cut a graph of similar rows where it is thin.

.. math:: \operatorname{NCut}(C_1, \dots, C_k) = \sum_c \frac{\sum_{i \in C_c,\, j \notin C_c} A_{ij}}{\sum_{i \in C_c} d_i}
    \;\ge\; \sum_{j \le k} \lambda_j(L_{sym}), \qquad L_{sym} = I - D^{-1/2} A D^{-1/2}.

To find the least cut is NP-hard. Written with vectors that are constant on clusters it is a quadratic form of the Laplacian, and without
that condition its minimum is the sum of the k smallest eigenvalues: a bound from below that every cut is held against. The rows of the
eigenvectors, divided by the roots of the degrees, lie close together where rows belong together, and k-means finds them there. Clusters
may have any shape, as long as they hang together: rings, spirals. A graph that falls into parts has the eigenvalue zero once for each,
and where it has as many as are asked for, they are the clusters. Memory for :math:`n^2` similarities with a kernel, and :math:`O(nm)`
with m neighbours; see :mod:`qed.linalg.graph.spectrum` for the cost of the eigenvectors.

Shi and Malik (2000), Normalized cuts and image segmentation; von Luxburg (2007), A tutorial on spectral clustering.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import floats, integers, maybe
from qed.base.certificate import Claim
from qed.base.errors import DegenerateWarning, NotAvailableError, ParameterError, level_of_user
from qed.base.models.no_effect import CLOSED, no_effect, one_of, takes
from qed.base.models.parameters import Parameter, choice, integer, number, random_state
from qed.base.models.proof import restated
from qed.base.models.roles import Clusterer
from qed.base.numbers import EPS, TINY, ratio
from qed.base.random import Seed, seed_of
from qed.base.sources.block import Block, copied, is_sparse, values_apart
from qed.base.sources.rows import Rows
from qed.clustering.means.kmeans import KMeans
from qed.clustering.spectral.affinity import GIVEN, GIVEN_NEIGHBORS, NEIGHBORS, GraphProblem, kernel_of
from qed.clustering.spectral.labelling import by_parts, by_pivots, discretised, in_order, rotation_for, unit_rows
from qed.kernels.names import kernel_rule
from qed.linalg.graph.spectrum import nothing_below
from qed.neighbors.nearest import NearestNeighbors

# How far vectors may be from eigenvectors, and how far below the largest value another may go unseen.
TOLERANCE, UNSEEN = 1e-9, 1e-6
# Components whose similarities say so little of them can not be told of new rows.
FADED = 1e-3


@takes(
    "n_jobs",
    "verbose",
    eigen_solver=one_of("arpack", "lobpcg", "amg", instead="eigenvectors are proven, however they were found"),
    eigen_tol=no_effect(number(0) | choice("auto"), "auto", CLOSED),
)
class SpectralClustering(Clusterer):
    """Clusters by cuts of a graph of similarities.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters.
    n_components : int, optional
        How many eigenvectors to look at; the default is `n_clusters`.
    random_state : None, int or NumPy generator
        The seed of k-means, or of discretising.
    n_init : int, default=10
        How many beginnings k-means tries.
    gamma : float, default=1.0
        The factor of "rbf", "laplacian" and "poly".
    affinity : str, Kernel or callable, default="rbf"
        How alike two rows are: "rbf" or another name of a kernel, a kernel, or a function of two rows, none of whose values is below zero;
        "nearest_neighbors"; "precomputed", where the table holds similarities; or "precomputed_nearest_neighbors", where it holds
        distances, of which the nearest of each row count.
    n_neighbors : int, default=10
        How many rows a row is joined to, itself included.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}, default="kmeans"
        How labels follow from eigenvectors: by k-means on their rows, by a rotation that brings them near to the axes, or by pivots.
    degree : int, default=3
        The degree of "poly".
    coef0 : float, default=1.0
        The constant of "poly".
    kernel_params : dict, optional
        Arguments of an affinity that is a function.

    Attributes
    ----------
    affinity_matrix_ : ndarray or sparse array of shape (n, n)
        The similarities.
    labels_ : ndarray of shape (n,)
        The cluster of each row.
    eigenvalues_ : ndarray of shape (n_components,)
        The smallest eigenvalues of the normalised Laplacian.
    embedding_ : ndarray of shape (n, n_components)
        Their vectors, divided by the roots of the degrees.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        The mean of each cluster's rows of the embedding.
    normalized_cut_ : float
        What leaves the clusters, relative to their volumes, added up.
    n_parts_ : int
        How many parts the graph has that no edge joins.
    X_fit_ : ndarray or sparse array of shape (n, p)
        The rows, where similarities were not given.
    certificate_ : Certificate
        That these are eigenvectors, that none with a smaller eigenvalue was missed, and how far at most the cut is from the least.

    See Also
    --------
    KernelKMeans : k-means in the features of a kernel, for any weights of the rows.
    spectral_path : All numbers of clusters from one decomposition, and which of them the eigenvalues speak for.

    Notes
    -----
    ``predict`` is for new rows: a row is where the rows similar to it are, weighted by how similar, stretched by the eigenvalue (Nyström's
    formula), and belongs to the nearest centre.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> angle = np.arange(40) * np.pi / 20
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.vstack([ring, 4 * ring])
    >>> model = qed.SpectralClustering(2, gamma=2.0, random_state=0).fit(X)
    >>> [len(set(part.tolist())) for part in (model.labels_[:40], model.labels_[40:])], bool(model.certificate_)
    ([1, 1], True)
    """

    passes: ClassVar[str] = "in memory"
    # Neighbours reach as far as the rows lie apart, whatever the number of columns.
    compare_grid: ClassVar[Mapping[str, Any]] = {"affinity": ("nearest_neighbors",), "n_clusters": range(2, 11)}
    compare_most_rows: ClassVar[int] = 2000
    sparse: ClassVar[bool] = True
    attributes: ClassVar = {
        "embedding_": floats("rows", "components"),
        "affinity_matrix_": floats("rows", "rows", low=0),
        "eigenvalues_": floats("components", low=0),
        "cluster_centers_": floats("clusters", "components"),
        "labels_": integers("rows", below="clusters"),
        "normalized_cut_": floats(low=0),
        "n_parts_": integers(low=1),
        "X_fit_": maybe(floats("rows", "features")),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "n_clusters": integer(1, kind="model"),
        "n_components": integer(1, kind="model") | choice(None),
        "random_state": random_state(),
        "n_init": integer(1),
        "gamma": number(0, above=True, kind="model") | choice(None),
        "affinity": kernel_rule(NEIGHBORS, GIVEN, GIVEN_NEIGHBORS),
        "n_neighbors": integer(1, kind="model"),
        "assign_labels": choice("kmeans", "discretize", "cluster_qr"),
        "degree": integer(1, kind="model"),
        "coef0": number(0, kind="model"),
        "kernel_params": choice(None) | Parameter("a dict", lambda value: isinstance(value, dict), "model"),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        random_state: Seed = None,
        n_init: int = 10,
        gamma: float | None = 1.0,
        affinity: Any = "rbf",
        n_neighbors: int = 10,
        assign_labels: str = "kmeans",
        degree: int = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, object] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Find the clusters.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The rows; similarities or distances of all rows where they are precomputed.
        y
            Not used.
        """
        return super().fit(X)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:  # type: ignore[override]
        """Fit, and tell the cluster of every row.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The rows; similarities or distances of all rows where they are precomputed.
        y : None
            Not used.
        """
        return np.asarray(self.fit(X).labels_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_given
        return tags

    @property
    def _is_given(self) -> bool:
        return isinstance(self.affinity, str) and self.affinity in (GIVEN, GIVEN_NEIGHBORS)

    def _problem(self, rows: Rows) -> GraphProblem:
        return GraphProblem(rows, self)

    def _width(self, problem: GraphProblem) -> int:
        """Say how many eigenvectors are looked at."""
        m, n = self.n_clusters if self.n_components is None else self.n_components, len(problem.graph)
        if self.assign_labels != "kmeans" and m != self.n_clusters:
            raise ParameterError(
                f"SpectralClustering: assign_labels={self.assign_labels!r} takes as many components as clusters, not n_components={m} "
                f"for n_clusters={self.n_clusters}: leave n_components out, or take 'kmeans'."
            )
        if m > n:
            raise ParameterError(f"SpectralClustering: n_components={m} is more than the {n} rows there are.")
        return int(m)

    def _solve(self, problem: GraphProblem) -> None:
        graph, k, m = problem.graph, int(self.n_clusters), self._width(problem)
        if graph.n_parts > 1:
            self._tell_parts(graph.n_parts)
        if graph.n_parts >= k == m:
            # Each part belongs to a cluster as a whole, and nothing is cut: the largest parts by themselves, and all others together.
            labels = by_parts(graph.parts, k)
            vectors = np.zeros((len(graph), k))
            vectors[np.arange(len(graph)), labels] = graph.root
            vectors /= np.linalg.norm(vectors, axis=0)
            values = np.zeros(k)
            embedding = vectors / graph.root[:, None]
        else:
            values, vectors = problem.spectrum(m)
            embedding = graph.divided(vectors)
            labels = in_order(self._labels(embedding))
        self.affinity_matrix_, self.n_parts_ = problem.affinity, graph.n_parts
        self.eigenvalues_, self.embedding_, self.labels_ = values, embedding, labels
        self.cluster_centers_ = _means(embedding, labels, k)
        self.normalized_cut_ = graph.normalised_cut(labels, k)
        if not self._is_given:
            self.X_fit_ = copied(problem.block.X)

    def _labels(self, embedding: np.ndarray) -> np.ndarray:
        if self.assign_labels == "cluster_qr":
            return by_pivots(embedding)
        seed = seed_of(self.random_state)
        if self.assign_labels == "discretize":
            return discretised(embedding, seed)
        found = KMeans(self.n_clusters, n_init=self.n_init, random_state=seed, tol=0.0).fit(embedding)
        return np.asarray(found.labels_)

    def _tell_parts(self, parts: int) -> None:
        k = self.n_clusters
        then = {
            -1: f"Each is cut no further than n_clusters={k} asks for.",
            0: "They are the clusters.",
            1: f"The {k - 1} largest are clusters, and all others together are one: ask for n_clusters={parts}, or join more rows by a "
            "larger n_neighbors or a smaller gamma.",
        }[(parts > k) - (parts < k)]
        warnings.warn(
            f"SpectralClustering: the graph is not fully connected: it falls into {parts} parts. {then}",
            DegenerateWarning,
            stacklevel=level_of_user(),
        )

    def _assign(self, block: Block) -> np.ndarray:
        if self._is_given and self.affinity == GIVEN_NEIGHBORS:
            raise NotAvailableError(
                "SpectralClustering can not tell clusters from distances of neighbours: take another affinity."
            )
        near = self._similar(block.X)
        degree = np.asarray(near.sum(axis=1)).ravel()
        clear = np.abs(1 - self.eigenvalues_) > FADED
        stretch = np.where(clear, 1 - self.eigenvalues_, 1.0)
        found = np.asarray(near @ self.embedding_) / np.where(degree > 0, degree, 1.0)[:, None] / stretch
        centers = self.cluster_centers_[:, clear]
        filled = np.bincount(self.labels_, minlength=len(centers)) > 0
        away = ((found[:, None, clear] - centers) ** 2).sum(axis=2)
        labels = np.where(filled, away, np.inf).argmin(axis=1).astype(np.int32)
        if (alone := np.flatnonzero(degree <= 0)).size:
            labels[alone] = self._nearest_labels(block.X[alone])
        return labels

    def _similar(self, X: Any) -> Any:
        """Give the similarities of new rows to those of the fit."""
        if self._is_given:
            return X
        kept = self.X_fit_
        if isinstance(self.affinity, str) and self.affinity == NEIGHBORS:
            return NearestNeighbors(n_neighbors=self.n_neighbors).fit(kept).kneighbors_graph(X)
        if is_sparse(X) != is_sparse(kept):
            X, kept = (one.toarray() if is_sparse(one) else one for one in (X, kept))
        return kernel_of(self)(X, kept)

    def _nearest_labels(self, X: Any) -> np.ndarray:
        """Label rows that are similar to none like the nearest one."""
        if self._is_given:
            return np.zeros(X.shape[0], np.int32)
        return np.asarray(self.labels_)[NearestNeighbors(n_neighbors=1).fit(self.X_fit_).kneighbors(X)[1][:, 0]]

    def _prove(self, problem: GraphProblem) -> list[Claim]:
        graph, labels, k = problem.graph, np.asarray(self.labels_), int(self.n_clusters)
        values, embedding = np.asarray(self.eigenvalues_), np.asarray(self.embedding_)
        n, m = len(graph), len(values)
        if not (embedding.shape == (n, m) and labels.shape == (n,) and self.cluster_centers_.shape == (k, m)):
            return [Claim("attributes belong together", math.inf, 0.0)]
        if labels.dtype.kind != "i" or not 0 <= labels.min() <= labels.max() < k:
            return [Claim("every row has a label", math.inf, 0.0)]
        vectors = embedding * graph.root[:, None]
        skew = float(np.abs(vectors.T @ vectors - np.eye(m)).max())
        left = float(np.linalg.norm(graph.laplacian_times(vectors) - vectors * values))
        noise = 8 * (n + 8) * EPS
        level = nothing_below(graph, vectors, values, UNSEEN)
        unseen = max(float(values.max()) - level, 0.0)
        claims = [
            Claim("vectors are orthonormal (products off, at most)", skew, TOLERANCE + noise),
            Claim("vectors are eigenvectors of the Laplacian (residual)", left, TOLERANCE + np.sqrt(m) * noise),
            Claim("an eigenvalue that was missed is below the largest of these by at most", unseen, 2 * UNSEEN),
        ]
        least = _least_cut(
            values, int(np.count_nonzero(np.bincount(labels, minlength=k))), unseen + 4 * (left + skew + noise)
        )
        share = ratio(least, float(self.normalized_cut_))
        claims.append(Claim("no clusters cut less than this share of normalized_cut_", share, 1 + TOLERANCE))
        return claims + self._claims_of_labels(embedding, labels)

    def _claims_of_labels(self, embedding: np.ndarray, labels: np.ndarray) -> list[Claim]:
        """Claim that labels are at rest: at a fixed point of k-means or discretising, or what the pivots say."""
        k, centers = int(self.n_clusters), np.asarray(self.cluster_centers_)
        means, spread = _means(embedding, labels, k), float(((embedding - embedding.mean(axis=0)) ** 2).sum()) or 1.0
        reach = float((embedding**2).sum(axis=1).max())
        rounding = 16 * (len(labels) + len(means)) * EPS * reach
        weight = np.bincount(labels, minlength=k)
        off = float(weight @ ((centers - means) ** 2).sum(axis=1)) / spread + float(np.abs(centers[weight == 0]).sum())
        claims = [Claim("centres are the means of their rows (squared distance, relative)", off, 1e-12)]
        if self.n_parts_ >= k == embedding.shape[1]:
            return claims
        if self.assign_labels == "kmeans":
            away = ((embedding[:, None] - means) ** 2).sum(axis=2)
            away[:, weight == 0] = np.inf
            excess = away[np.arange(len(labels)), labels] - away.min(axis=1)
            says = "rows are with the nearest mean of the embedding (excess, relative)"
            return [*claims, Claim(says, float(excess.max()) / spread, (rounding + 1e-12 * reach) / spread)]
        if self.assign_labels == "discretize":
            rows = unit_rows(embedding)
            turned = rows @ rotation_for(rows, labels)[0]
            excess = turned.max(axis=1) - turned[np.arange(len(labels)), labels]
            return [
                *claims,
                Claim("rows are with the nearest axis of the rotation (excess)", float(excess.max()), 1e-9),
            ]
        others = int((in_order(by_pivots(embedding)) != labels).sum())
        return [*claims, Claim("labels are those of the pivots (others)", float(others), 0.0)]

    def _restate(self, problem: GraphProblem) -> list[Claim]:
        graph, k = problem.graph, int(self.n_clusters)
        wanted = graph.normalised_cut(np.asarray(self.labels_), k)
        apart = abs(self.affinity_matrix_ - problem.affinity).max()
        claims = [
            Claim(
                "affinity_matrix_ holds the similarities (difference)",
                float(apart),
                1e-12 * float(abs(problem.affinity).max()),
            ),
            restated("normalized_cut_", self.normalized_cut_, wanted),
            restated("n_parts_", self.n_parts_, graph.n_parts),
        ]
        if not self._is_given:
            others = values_apart(self.X_fit_, problem.block.X)
            claims.append(Claim("X_fit_ are the rows of the table (others)", others, 0.0))
        return claims


def _means(embedding: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Give the mean of each cluster's rows; zero where it has none."""
    sums = np.zeros((k, embedding.shape[1]))
    np.add.at(sums, labels, embedding)
    return np.asarray(sums / np.maximum(np.bincount(labels, minlength=k), 1)[:, None])


def _least_cut(values: np.ndarray, k: int, off: float) -> float:
    """Bound the normalised cut of any k clusters from below, by eigenvalues each of which may be too large by `off`."""
    known = np.sort(values)[:k]
    least = float(known.sum()) + (k - len(known)) * float(known[-1]) - k * off
    return least if least > TINY else 0.0
