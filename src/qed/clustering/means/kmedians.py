r"""k-medians: centres that lie close to all rows, by the sum of absolute differences.

.. math:: \min_{c_1, \dots, c_k}\ \sum_i w_i \min_j \|x_i - c_j\|_1.

Every row goes to its nearest centre in that distance, then every centre to the median of its rows, column by column, which makes the sum of
absolute differences least: as much weight on either side, :math:`|W_{<} - W_{>}| \le W_{=}`, or zero in the subdifferential. Where a whole
interval does, its middle is taken. Neither half of a step raises the objective, and there are finitely many partitions, so it ends at a
*fixed point* where both hold. A few rows far out hardly move a median, however far they are. The medians are exact for rows of any source
(:mod:`qed.stats.medians`). A pass costs :math:`O(nkp)`.

Bradley, Mangasarian and Street (1997), Clustering via concave minimization.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import Attributes, floats
from qed.base.certificate import Claim
from qed.base.models.checks import complete
from qed.base.models.parameters import Parameter, integer, number
from qed.base.models.proof import restated
from qed.base.numbers import EPS, TINY, ratio
from qed.base.random import Seed
from qed.base.running.steps import Reason, Rule, Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.clustering.means.assignment import Farthest, refilled
from qed.clustering.means.centres import AroundCentres, empty_claims, say_empty
from qed.clustering.means.cityblock import city_distances, nearest_by_city
from qed.clustering.means.distances import rounding_of
from qed.clustering.means.problem import ClusterProblem
from qed.stats.median import weighted_median
from qed.stats.medians import medians_of_groups

# Tables of so many values are sorted by NumPy: less than compiling a kernel takes.
FEW_VALUES = 1 << 15


class KMedians(AroundCentres):
    """Clusters around medians, with rows compared by the sum of absolute differences.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters.
    init : {"k-means++", "random", "random-domain"}, array of shape (n_clusters, p) or callable, default="k-means++"
        Where the centres begin: at rows that lie far apart, at any rows, at any points between the least and the largest value of
        each column, at the points given, or where ``init(X, n_clusters, random_state)`` says.
    n_init : "auto" or int, default="auto"
        How many beginnings to try; the best end is kept. "auto" is 1 for k-means++ and for points given, else 10.
    max_iter : int, default=300
        The most iterations.
    tol : float, default=0
        The fit ends when in no cluster and column more than this share of the weight lies too far on one side of the centre. Zero asks for
        the very medians, in the middle of all that are, which are found after finitely many iterations.
    random_state : None, int or NumPy generator
        The seed.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, p)
        The centres.
    labels_ : ndarray of shape (n,)
        The cluster of each row.
    inertia_ : float
        The objective: the weighted sum of distances to the nearest centre.
    cluster_spread_ : ndarray of shape (n_clusters,)
        The mean distance of each cluster's rows from its centre.
    n_iter_ : int
        Iterations made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof that rows are with their nearest centre and centres the medians of their rows.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [900.0]])
    >>> qed.KMedians(2, init=[[0.0], [10.0]]).fit(X).cluster_centers_.ravel()
    array([ 1., 11.])
    """

    passes: ClassVar[str] = "each iteration"
    attributes: ClassVar[Attributes] = {"inertia_": floats(low=0), "cluster_spread_": floats("clusters", low=0)}
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **AroundCentres.parameters,
        "max_iter": integer(1),
        "tol": number(0),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 0.0,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _rule(self) -> Rule:
        # While the best restart rests another one may still overtake it.
        return replace(super()._rule(), patience=self.max_iter)

    def _problem(self, rows: Rows) -> ClusterProblem:
        return ClusterProblem(rows.cached(), self)

    def _steps(self, problem: ClusterProblem, start: Step | None = None) -> Iterator[Step]:
        rows = problem.rows
        if start is None or start.prepares:
            runs = yield from self._beginnings(problem, start)
            inertia, off = np.zeros(len(runs)), np.full(len(runs), np.inf)
        else:
            runs, inertia, off = start.following, start.inertia.copy(), start.off.copy()
        while (off > self.tol).any():
            following = runs.copy()
            for run in np.flatnonzero(off > self.tol):
                found = rows.fold(Sides.of, runs[run])
                inertia[run], off[run] = found.cost.sum(), found.off
                if self.tol > 0 and off[run] <= self.tol:
                    continue
                following[run] = self._middles(problem, found)
                # Medians that are not the middle ones are moved there; of others, the rest is what rounding does to sums of weights.
                off[run] = 0.0 if np.array_equal(following[run], runs[run]) else max(off[run], TINY)
            best = int(inertia.argmin())
            step = Step(inertia[best], gap=float(off.max()), centers=runs[best], best=best)
            step.state.update(following=following, inertia=inertia.copy(), off=off.copy())
            yield step
            runs = following

    def _finish(self, problem: ClusterProblem, step: Step) -> None:
        self.cluster_centers_ = step.centers.astype(problem.rows.dtype)
        found = self._sides(problem)
        self.labels_ = np.concatenate(found.labels)
        self.inertia_, self.cluster_spread_ = float(found.cost.sum()), found.spread
        say_empty(self, found.weight, self.inertia_)

    def _sides(self, problem: ClusterProblem) -> Sides:
        found: Sides = problem.rows.fold(Sides.of, self.cluster_centers_.astype(np.float64))
        return found

    def _middles(self, problem: ClusterProblem, found: Sides) -> np.ndarray:
        """Give the medians of all clusters as the dtype of the rows has them; an empty one moves to the row farthest from all others."""
        medians = _medians(problem.rows, found).astype(problem.rows.dtype).astype(np.float64)
        return refilled(problem.rows, medians[None], found.weight[None], FarthestByCity)[0]

    def _nearest(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        return nearest_by_city(X, self.cluster_centers_)

    def _change(self, block: Block) -> np.ndarray:
        return city_distances(block.X, self.cluster_centers_).astype(block.X.dtype)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Give minus the objective on `X`: larger is better.

        Parameters
        ----------
        X, y, sample_weight
            Rows; `y` is not used.
        """
        self._check_fitted()
        rows = complete(self._open(X, None, sample_weight, reset=False), self, once=True)
        return -float(rows.fold(Sides.of, self.cluster_centers_.astype(np.float64)).cost.sum())

    def _prove(self, problem: ClusterProblem) -> list[Claim]:
        found, count = self._sides(problem), problem.summary.count
        total = float(found.cost.sum())
        lost = rounding_of(problem.rows.n_features + count)
        right = np.array_equal(self.labels_, np.concatenate(found.labels))
        claims = [
            Claim("rows are with their nearest centre (1 where one is not)", 0.0 if right else 1.0, 0.0),
            Claim.within(
                "centres are medians of their rows (share of weight too far on one side)", found.off, self.tol, lost
            ),
            Claim.within(
                "inertia_ is that of the data (difference, relative)",
                ratio(abs(self.inertia_ - total), total),
                1e-12,
                lost,
            ),
            restated("cluster_spread_", self.cluster_spread_, found.spread),
            *empty_claims(self.cluster_centers_, found.weight, total),
        ]
        if hasattr(self, "ending_"):
            cost = np.array([record["objective"] for record in self.ending_.trace if record["number"] >= 0])
            rise = float(np.diff(cost).max(initial=0.0))
            moved = lost * float(cost.max(initial=0.0))
            says = "the objective never rose (largest rise, relative)"
            claims.append(Claim.within(says, ratio(rise, total), 0.0, ratio(moved, total) if rise > 0 else 0.0))
        return claims

    def _restate(self, problem: ClusterProblem) -> list[Claim]:
        """Where the very medians were asked for, centres are in the middle of those that there are."""
        if self.tol > 0 or (hasattr(self, "ending_") and self.ending_.reason is not Reason.CERTIFIED):
            return []
        middles = self._middles(problem, self._sides(problem))
        return [restated("cluster_centers_", self.cluster_centers_, middles, slack=4 * EPS)]


@dataclass(frozen=True)
class Sides:
    """What rows say of centres that they are nearest to: how much weight lies on either side of each, column by column.

    >>> from qed.base.sources.open import rows
    >>> found = rows([[0.0], [1.0], [5.0]]).fold(Sides.of, np.array([[0.0], [4.0]]))
    >>> found.cost, found.above.ravel(), found.off
    (array([1., 1.]), array([1., 1.]), 1.0)
    """

    centers: np.ndarray  # (k, p)
    weight: np.ndarray  # (k,)
    cost: np.ndarray  # (k,): weighted sums of distances
    # (k, p): weight of the rows that are less, and more, than their centre
    below: np.ndarray
    above: np.ndarray
    labels: tuple[np.ndarray, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, block: Block, centers: np.ndarray) -> Sides:
        (k, p), X = centers.shape, np.asarray(block.X)
        labels, away = nearest_by_city(X, centers)
        w, below, above = block.weights, np.zeros((k, p)), np.zeros((k, p))
        away = np.where(w > 0, away, 0.0)  # rows of weight zero may hold anything
        for j in range(p):
            column, own = X[:, j], centers[labels, j]
            below[:, j] = np.bincount(labels, w * (column < own), k)
            above[:, j] = np.bincount(labels, w * (column > own), k)
        return cls(centers, np.bincount(labels, w, k), np.bincount(labels, w * away, k), below, above, (labels,))

    def __add__(self, other: Sides) -> Sides:
        sums = [getattr(self, name) + getattr(other, name) for name in ("weight", "cost", "below", "above", "labels")]
        return Sides(self.centers, *sums)

    @property
    def off(self) -> float:
        """The largest share of a cluster's weight that lies too far on one side: zero where all centres are medians."""
        same = self.weight[:, None] - self.below - self.above
        return float(ratio(np.maximum(abs(self.below - self.above) - same, 0.0), self.weight[:, None]).max(initial=0.0))

    @property
    def spread(self) -> np.ndarray:
        """The mean distance of each cluster's rows from its centre."""
        return np.divide(self.cost, self.weight, out=np.zeros_like(self.cost), where=self.weight > 0)


@dataclass(frozen=True)
class Among:
    """Which cluster the rows of a block are in: looked up where rows are at hand, else found again."""

    centers: np.ndarray
    labels: np.ndarray | None

    def __call__(self, block: Block) -> np.ndarray:
        if self.labels is None:
            return nearest_by_city(np.asarray(block.X), self.centers)[0]
        return self.labels[block.start : block.start + len(block)]


def _medians(rows: Rows, found: Sides) -> np.ndarray:
    """Give the medians of all clusters; an empty one keeps its centre."""
    k, p = found.centers.shape
    labels = np.concatenate(found.labels)
    if len(labels) * p <= FEW_VALUES:
        X, weight = (np.concatenate(parts) for parts in zip(*rows.fold(_values)))
        medians = found.centers.copy()
        for c in np.flatnonzero(found.weight > 0):
            mine = (labels == c) & (weight > 0)
            medians[c] = [weighted_median(column, weight[mine]) for column in X[mine].T]
        return medians
    medians = medians_of_groups(rows, k, Among(found.centers, labels if rows.in_memory else None))
    return np.where(found.weight[:, None] > 0, medians, found.centers)


def _values(block: Block) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(np.asarray(block.X, dtype=np.float64), block.weights)]


class FarthestByCity(Farthest):
    """The same by the sum of absolute differences."""

    @staticmethod
    def _away(X: Any, centers: np.ndarray) -> np.ndarray:
        return nearest_by_city(X, centers)[1]
