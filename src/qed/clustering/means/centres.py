"""What models around centres share: where they begin, whose rows are whose, and which rows fit badly.

The restarts of ``n_init`` go on side by side: one pass over the rows serves all of them, and the best is kept.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Generator, Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import Attributes, floats, integers
from qed.base.certificate import Claim
from qed.base.errors import DegenerateWarning, ParameterError, level_of_user
from qed.base.models.estimator import Iterative
from qed.base.models.parameters import Parameter, calling, choice, integer, numbers, random_state
from qed.base.models.roles import Clusterer, Transformer
from qed.base.numbers import ratio
from qed.base.random import Seed, generator, seed_of
from qed.base.running.steps import Step
from qed.base.sources.block import Block
from qed.clustering.means.distances import squares
from qed.clustering.means.nearest import Search
from qed.clustering.means.problem import ClusterProblem
from qed.clustering.means.seeding import any_points, any_rows, filled_up, spread_out


class AroundCentres(Clusterer, Transformer, Iterative):
    """A model whose clusters are what lies nearest to each of some centres."""

    attributes: ClassVar[Attributes] = {
        "cluster_centers_": floats("clusters", "features"),
        "labels_": integers("rows", below="clusters"),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "n_clusters": integer(1, kind="model"),
        "init": choice("k-means++", "random", "random-domain")
        | numbers(finite=False)
        | Parameter("a function of rows, number of clusters and random_state", callable),
        "n_init": integer(1) | choice("auto"),
        "random_state": random_state(),
    }
    n_clusters: int
    init: Any
    n_init: Any
    random_state: Seed
    cluster_centers_: np.ndarray
    labels_: np.ndarray
    cluster_spread_: np.ndarray

    def _beginnings(self, problem: ClusterProblem, start: Step | None) -> Generator[Step, None, np.ndarray]:
        """Give the centres to begin with, of shape (restarts, k, p); those of k-means++ are drawn step by step."""
        rows, k = problem.rows, self.n_clusters
        given = not (isinstance(self.init, str) or callable(self.init))
        tries = (1 if given or self.init == "k-means++" else 10) if self.n_init == "auto" else self.n_init
        if given:
            return self._checked_centers(self.init)[None]
        seed = seed_of(self.random_state) if start is None else start.seed
        if callable(self.init):
            X = rows.array().X
            with calling("init", self.init, "the rows, how many centres to give, and random_state="):
                drawn = [self.init(X, k, random_state=generator(seed, "init", restart)) for restart in range(tries)]
                return np.stack([self._checked_centers(centers) for centers in drawn])
        if self.init == "random-domain":
            return any_points(problem.summary.low, problem.summary.high, k, seed, tries)
        if self.init == "random":
            runs = any_rows(rows, k, seed, tries)
        elif self.init == "k-means++":
            for runs, cost in spread_out(rows, k, seed, tries, drawn=None if start is None else start.drawn):
                if runs.shape[1] < k:
                    best = int(cost.argmin())
                    centers = filled_up(runs[best], k)
                    yield Step(cost[best], centers=centers, best=best, drawn=runs, seed=seed, prepares=True)
        distinct = min(len(np.unique(centers, axis=0)) for centers in runs)
        if distinct < k:
            warnings.warn(
                f"{type(self).__name__}: only {distinct} different rows were found for n_clusters={k} clusters, so {k - distinct} of them "
                f"stay empty. Ask for n_clusters={distinct}.",
                DegenerateWarning,
                stacklevel=level_of_user(),
            )
        return runs

    def _checked_centers(self, given: Any) -> np.ndarray:
        k, p, name = self.n_clusters, self.n_features_in_, type(self).__name__
        centers = np.array(given, dtype=np.float64)
        if centers.shape != (k, p):
            raise ParameterError(
                f"{name}: init must have one row for each of the n_clusters={k} clusters and one column for each of the {p} "
                f"features, shape {(k, p)}, not {centers.shape}."
            )
        if not np.isfinite(centers).all():
            raise ParameterError(f"{name}: init must not contain NaN or infinity.")
        distinct = len(np.unique(centers, axis=0))
        if distinct < k:
            warnings.warn(
                f"{name}: only {distinct} of the {k} centres given as init are different. Clusters that begin empty move to the "
                "rows that are farthest from all centres.",
                DegenerateWarning,
                stacklevel=level_of_user(),
            )
        return centers

    def _nearest(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Give the number of the nearest centre of each row, the lower one of equals, and the distance from it."""
        labels, square = Search.among(self.cluster_centers_).of(X)
        return labels, np.sqrt(square)

    def _assign(self, block: Block) -> np.ndarray:
        return self._nearest(block.X)[0]

    def _change(self, block: Block) -> np.ndarray:
        return np.sqrt(squares(block.X, self.cluster_centers_)).astype(block.X.dtype)

    def _outlying(self, block: Block) -> np.ndarray:
        labels, away = self._nearest(block.X)
        spread = self.cluster_spread_
        usual = np.where(spread > 0, spread, spread.mean())
        return ratio(away, usual[labels])

    def outlier_scores(self, X: Any) -> np.ndarray:
        """Say how badly each row fits into its cluster: its distance from the nearest centre, as a multiple of that cluster's spread.

        One is usual, three is far out. A cluster without spread, such as one of a single row, is given the mean spread of all; a row that
        has a centre for itself scores zero, so look at the sizes of the clusters as well.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.

        Returns
        -------
        ndarray of shape (n,)
            The scores, zero or more.
        """
        return self._apply(self._outlying, X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns that ``transform`` gives: the distance to each centre.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn's sake.
        """
        self._check_fitted()
        name = type(self).__name__.lower()
        return np.array([f"{name}{k}" for k in range(len(self.cluster_centers_))], dtype=object)


def empty_claims(centers: np.ndarray, weight: np.ndarray, cost: float) -> list[Claim]:
    """Claim of clusters without rows that there is no row left for them; they lie where the first one that has rows does."""
    filled = weight > 0
    if filled.all():
        return []
    away = float(np.abs(centers[~filled] - centers[filled.argmax()]).max())
    return [
        Claim(
            "no cluster is empty while rows lie off the centres (empty ones)", float((~filled).sum()) * (cost > 0), 0.0
        ),
        Claim("empty clusters lie with the first that is not (difference)", away if cost == 0 else 0.0, 0.0),
    ]


def say_empty(model: AroundCentres, weight: np.ndarray, cost: float) -> None:
    """Warn of clusters that have no rows since there are too few different ones; of rows that were drawn that has been said before."""
    empty, k = int((weight == 0).sum()), len(weight)
    if empty and cost == 0 and not (isinstance(model.init, str) and model.init in ("k-means++", "random")):
        warnings.warn(
            f"{type(model).__name__}: {empty} of the n_clusters={k} clusters have no rows, since only {k - empty} differ. "
            f"Ask for n_clusters={k - empty}.",
            DegenerateWarning,
            stacklevel=level_of_user(),
        )


def excess_of(problem: ClusterProblem, centers: np.ndarray, labels: Any, nearest: np.ndarray) -> float:
    """Give the most by which a row is farther from the centre of its label than from the nearest, in squared distance."""
    labels = np.asarray(labels)
    if labels.shape != nearest.shape or labels.dtype.kind != "i":
        return math.inf
    if len(labels) and not 0 <= labels.min() <= labels.max() < len(centers):
        return math.inf
    if np.array_equal(labels, nearest):
        return 0.0
    return max(problem.rows.each(_excess, centers, labels))


def _excess(block: Block, centers: np.ndarray, labels: np.ndarray) -> float:
    own = labels[block.start : block.start + len(block)]
    best, square = Search.among(centers).of(block.X)
    wrong = np.flatnonzero((own != best) & (block.weights > 0))
    away = squares(block.X[wrong], centers)[np.arange(len(wrong)), own[wrong]]
    return float((away - square[wrong]).max(initial=0.0))
