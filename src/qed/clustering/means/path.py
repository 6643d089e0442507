r"""How many clusters: k-means for every number of them, from one path.

The centres of :math:`k` clusters and one more, drawn as k-means++ draws it, begin the fit of :math:`k + 1`. A further centre raises no
row's distance and Lloyd's steps raise no objective, so :math:`F_{k+1} \le F_k` for certain, and fits are short. Four rules read it:

- the *elbow*: where the objective lies farthest below the chord from the first number to the last;
- the *silhouette* :math:`(b - a)/b` by the distances :math:`a` and :math:`b` from the nearest centre and the next, zero of a row that is
  alone in its cluster, on average: the largest;
- *AIC* :math:`2m - 2\log L` and *BIC* :math:`m \log n - 2\log L`: the least.

k-means has no likelihood of its own. That of round clusters of one variance :math:`s^2 = F_k/(np)` is taken, each row in its cluster,

.. math:: \log L = \sum_c n_c \log\frac{n_c}{n} - \frac{np}2\bigl(\log(2\pi s^2) + 1\bigr), \qquad m = kp + (k - 1) + 1.

Where the objective is zero but for rounding there is no such likelihood, and that number is not chosen. Pelleg and Moore (2000), X-means.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.errors import ParameterError
from qed.base.numbers import ratio
from qed.base.random import Seed, seed_of
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.base.visible import Lines, Shown
from qed.clustering.means.distances import rounding_of, squares
from qed.clustering.means.kmeans import KMeans
from qed.clustering.means.seeding import spread_out

CHUNK = 1 << 17


@dataclass(frozen=True, eq=False, repr=False)
class KMeansPath(Shown):
    """k-means for several numbers of clusters.

    Attributes
    ----------
    n_clusters : ndarray of shape (m,)
        The numbers of clusters, rising.
    models : tuple of KMeans
        The fitted model of each.
    inertia : ndarray of shape (m,)
        Their objectives, which never rise.
    silhouette : ndarray of shape (m,)
        Their mean silhouettes, by the distances from centres; zero for one cluster.
    aic, bic : ndarray of shape (m,)
        Akaike's and the Bayesian criterion; infinite where the objective is zero.
    certificate : Certificate
        That every model is proven, and that the objective never rose.
    """

    n_clusters: np.ndarray
    models: tuple[KMeans, ...]
    inertia: np.ndarray
    silhouette: np.ndarray
    aic: np.ndarray
    bic: np.ndarray
    certificate: Certificate

    def _table(self) -> Lines:
        values = zip(self.n_clusters, self.inertia, self.silhouette, self.aic, self.bic)
        lines = [[str(count), *(f"{value:.5g}" for value in line)] for count, *line in values]
        return ["clusters", "inertia", "silhouette", "AIC", "BIC"], lines

    def _said(self) -> str:
        chosen = ", ".join(f"{rule} {count}" for rule, count in self.choices.items())
        return f"clusters by each rule: {chosen}; {'proven ∎' if self.certificate else 'not proven'}"

    @property
    def elbow(self) -> int:
        """The number of clusters at which the objective is farthest below the chord."""
        return int(self.n_clusters[elbow_of(self.n_clusters, self.inertia)])

    @property
    def choices(self) -> dict[str, int]:
        """The number of clusters that each rule chooses."""
        found = {"silhouette": self.silhouette.argmax(), "aic": self.aic.argmin(), "bic": self.bic.argmin()}
        return {"elbow": self.elbow, **{rule: int(self.n_clusters[place]) for rule, place in found.items()}}

    def best(self, rule: str = "bic") -> KMeans:
        """Give the model that a rule chooses: "elbow", "silhouette", "aic" or "bic"."""
        if rule not in self.choices:
            raise ParameterError(f"rule must be one of {sorted(self.choices)}, not {rule!r}.")
        return self.models[int(np.flatnonzero(self.n_clusters == self.choices[rule])[0])]


def elbow_of(numbers: np.ndarray, objective: np.ndarray) -> int:
    """Give the place at which a falling curve is farthest below the chord between its ends; the first where it is nowhere below.

    >>> elbow_of(np.array([1, 2, 3, 4]), np.array([10.0, 2.0, 1.0, 0.5]))
    1
    """
    along = ratio((numbers - numbers[0]).astype(float), float(numbers[-1] - numbers[0]))
    fall = ratio(objective[0] - objective, objective[0] - objective[-1])
    return int(np.argmax(fall - along))


def kmeans_path(
    X: Any,
    n_clusters: Iterable[int] = range(1, 11),
    *,
    max_iter: int = 300,
    tol: float = 1e-4,
    random_state: Seed = None,
    sample_weight: Any = None,
) -> KMeansPath:
    """Fit k-means for a range of numbers of clusters, each from the centres of the last, and say what each rule would choose.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, path, Dask collection or Rows
        The features.
    n_clusters : iterable of int, default=range(1, 11)
        The numbers of clusters.
    max_iter : int, default=300
        The most iterations.
    tol : float, default=1e-4
        The fit ends when the centres move by no more than this: sum of their squared moves, relative to the mean variance of the
        columns. Zero asks for the very fixed point.
    random_state : None, int or NumPy generator
        The seed. It gives the same centres for any number of threads, any order of the rows, and weights or repetitions.
    sample_weight : array-like of shape (n,), optional
        Weights.

    Returns
    -------
    KMeansPath
        Objective, silhouette, AIC and BIC of every number, and the models.

    Examples
    --------
    >>> import numpy as np
    >>> corners = np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]])
    >>> X = np.concatenate([corners, corners + [1.0, 0.0], corners + [0.0, 1.0]])
    >>> path = kmeans_path(X, range(1, 6), random_state=0)
    >>> path.inertia.round(1).tolist(), path.choices["elbow"], path.choices["silhouette"]
    ([198.0, 100.0, 4.0, 3.2, 2.3], 3, 3)
    """
    numbers = np.unique(np.asarray(list(n_clusters)))
    if not len(numbers) or numbers.dtype.kind not in "iu" or numbers[0] < 1:
        raise ParameterError("kmeans_path: n_clusters must be whole numbers of at least 1, such as range(1, 11).")
    seed = seed_of(random_state)
    opened = KMeans(int(numbers[-1]), max_iter=max_iter, tol=tol)
    problem = opened._problem(opened._open(X, None, sample_weight, reset=True))
    rows: Rows = problem.rows
    models: list[KMeans] = []
    for k in numbers.tolist():
        drawn = models[-1].cluster_centers_[None].astype(np.float64) if models else None
        for runs, _ in spread_out(rows, k, seed, drawn=drawn):
            start = runs[0]
        models.append(KMeans(k, init=start, n_init=1, max_iter=max_iter, tol=tol).fit(rows))
    weight, p = float(problem.summary.weight[0]), rows.n_features
    inertia = np.array([model.inertia_ for model in models])
    shares = [rows.fold(_weights, model) for model in models]
    likelihood = np.array([_likelihood(share / weight, model, weight) for share, model in zip(shares, models)])
    free = numbers * (p + 1.0)
    silhouette = np.array([_silhouette(rows, model, share) / weight for share, model in zip(shares, models)])
    aic, bic = 2 * free - 2 * likelihood, free * np.log(weight) - 2 * likelihood
    claims = _proven(models, inertia, rounding_of(p + problem.summary.count))
    return KMeansPath(numbers, tuple(models), inertia, silhouette, aic, bic, claims)


def _proven(models: list[KMeans], inertia: np.ndarray, rounding: float) -> Certificate:
    unproven = sum(not model.certificate_ for model in models)
    rise = float(ratio(np.diff(inertia), inertia[:-1]).max(initial=0.0))
    return Certificate(
        (
            Claim("every number of clusters has a certificate that holds (how many have not)", unproven, 0.0),
            Claim.within("no further cluster raised the objective (largest rise, relative)", rise, 0.0, rounding),
        )
    )


def _likelihood(shares: np.ndarray, model: KMeans, weight: float) -> float:
    """Give the log-likelihood of round clusters of one variance, each row in its own; minus infinity where they have no variance."""
    # Rows that all lie on centres cost no more than the rounding of these.
    size = weight * float((model.cluster_centers_.astype(np.float64) ** 2).sum(axis=1).max())
    if model.inertia_ <= (16 * float(np.finfo(model.cluster_centers_.dtype).eps)) ** 2 * size:
        return -np.inf
    entropy = float((shares[shares > 0] * np.log(shares[shares > 0])).sum())
    p = model.cluster_centers_.shape[1]
    return weight * (entropy - p / 2 * (np.log(2 * np.pi * model.inertia_ / (weight * p)) + 1))


def _weights(block: Block, model: KMeans) -> np.ndarray:
    return np.bincount(model._assign(block), block.weights, len(model.cluster_centers_))


def _silhouette(rows: Rows, model: KMeans, weight: np.ndarray) -> float:
    return float(rows.fold(_silhouettes, model.cluster_centers_, weight)) if len(weight) > 1 else 0.0


def _silhouettes(block: Block, centers: np.ndarray, weight: np.ndarray) -> float:
    """Give the weighted sum of the silhouettes of a block's rows, in clusters that weigh so much."""
    total, step = 0.0, max(64, CHUNK // len(centers))
    for start in range(0, len(block), step):
        own = block.weights[start : start + step]
        square = squares(block.X[start : start + step], centers)
        whole = weight[square.argmin(axis=1)]
        # One row that weighs more stands for several that are equal.
        alone = (whole <= 1) & (own >= whole)
        near = np.sqrt(np.partition(square, 1, axis=1)[:, :2])
        total += float(np.where(alone, 0.0, own) @ ratio(near[:, 1] - near[:, 0], near[:, 1]))
    return total
