r"""Soft k-means: every row belongs to every cluster, the nearer the more.

.. math:: r_i(k) = \frac{e^{-\beta\|x_i - c_k\|^2}}{\sum_l e^{-\beta\|x_i - c_l\|^2}}, \qquad
          c_k = \frac{\sum_i w_i r_i(k)\,x_i}{\sum_i w_i r_i(k)}.

The two are taken in turn. Neither raises the *free energy*

.. math:: F(c) = -\frac1\beta \sum_i w_i \log\Bigl(\frac1K \sum_k e^{-\beta\|x_i - c_k\|^2}\Bigr),

since the pair of them is a step of EM for a mixture of equal weights and the covariance :math:`I / 2\beta`. For large :math:`\beta` that is
k-means and its inertia; for :math:`\beta = 0` all shares are :math:`1/K`, all centres the mean of the rows. Below half of one over the
largest eigenvalue of the covariance all centres fall together, too. Centres that begin equal stay equal. A pass costs :math:`O(nkp)`.

Bishop, Pattern Recognition and Machine Learning, section 9.3.2; Rose (1998), Deterministic annealing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import Attributes, floats
from qed.base.certificate import Claim
from qed.base.models.checks import complete
from qed.base.models.parameters import Parameter, choice, integer, number
from qed.base.models.proof import restated
from qed.base.numbers import EPS, ratio
from qed.base.random import Seed
from qed.base.running.steps import Step
from qed.base.sources.block import Block, rows_that_count
from qed.base.sources.rows import Rows
from qed.clustering.means.assignment import refilled
from qed.clustering.means.centres import AroundCentres, excess_of
from qed.clustering.means.distances import rounding_of, squares
from qed.clustering.means.problem import ClusterProblem

# The table of shares of so many values is made at a time.
CHUNK = 1 << 15


class SoftKMeans(AroundCentres):
    r"""Clusters around means that share the rows between them.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters.
    beta : "auto" or float, default="auto"
        How hard the shares are: the exponent falls by this times the squared distance. "auto" is half of one over the variance of a
        column within the clusters that the fit begins with.
    init : {"k-means++", "random", "random-domain"}, array of shape (n_clusters, p) or callable, default="k-means++"
        Where the centres begin: at rows that lie far apart, at any rows, at any points between the least and the largest value of
        each column, at the points given, or where ``init(X, n_clusters, random_state)`` says.
    n_init : "auto" or int, default="auto"
        How many beginnings to try; that of the least free energy is gone on from. "auto" is 1 for k-means++ and for points given, else 10.
    max_iter : int, default=1000
        The most iterations.
    tol : float, default=1e-8
        The fit ends when the centres move by no more than this: sum of their squared moves, relative to the mean variance of the columns.
    random_state : None, int or NumPy generator
        The seed.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, p)
        The centres.
    labels_ : ndarray of shape (n,)
        The cluster that has the largest share of each row: that of the nearest centre.
    beta_ : float
        The exponent used.
    free_energy_ : float
        The objective.
    cluster_weight_ : ndarray of shape (n_clusters,)
        The weight of all shares in each cluster.
    cluster_spread_ : ndarray of shape (n_clusters,)
        The root of the mean squared distance of the rows from each centre, by their shares.
    n_iter_ : int
        Iterations made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof that the centres are the means of their shares, and that the free energy never rose.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> model = qed.SoftKMeans(2, beta=0.1, init=[[0.0], [10.0]]).fit(X)
    >>> model.cluster_centers_.round(3).ravel(), model.predict_proba([[5.0], [9.0]]).round(3)
    (array([0.504, 9.496]), array([[0.5  , 0.5  ],
           [0.001, 0.999]]))
    """

    passes: ClassVar[str] = "each iteration"
    attributes: ClassVar[Attributes] = {
        "beta_": floats(low=0),
        "free_energy_": floats(low=0),
        "cluster_weight_": floats("clusters", low=0),
        "cluster_spread_": floats("clusters", low=0),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **AroundCentres.parameters,
        "beta": number(0, kind="model") | choice("auto"),
        "max_iter": integer(1),
        "tol": number(0),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        beta: Any = "auto",
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.beta = beta
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _problem(self, rows: Rows) -> ClusterProblem:
        return ClusterProblem(rows.cached(), self)

    def _steps(self, problem: ClusterProblem, start: Step | None = None) -> Iterator[Step]:
        rows, shift = problem.rows, problem.summary.mean
        if start is None or start.prepares:
            runs = yield from self._beginnings(problem, start)
            beta = self._hardness(problem, runs)
            energies = [rows.fold(Shares.of, centers, beta, shift).energy for centers in runs]
            centers = runs[int(np.argmin(energies))]
        else:
            centers, beta = start.following, start.beta
        while True:
            found = rows.fold(Shares.of, centers, beta, shift)
            following = refilled(rows, found.means[None], found.mass[None])[0]
            moved = found.moves(following)
            step = Step(found.energy, gap=ratio(moved, problem.variance), centers=centers)
            step.state.update(following=following, beta=beta)
            yield step
            centers = following

    def _hardness(self, problem: ClusterProblem, runs: np.ndarray) -> float:
        """Give beta: where it is not said, from the variance within the clusters of the best beginning."""
        if self.beta != "auto":
            return float(self.beta)
        cost = min(problem.found(centers).inertia for centers in runs)
        within = cost / (float(problem.summary.weight[0]) * problem.rows.n_features)
        return (
            ratio(1.0, 2.0 * within) if within > 0 else ratio(1.0, 2.0 * problem.variance) if problem.variance else 1.0
        )

    def _finish(self, problem: ClusterProblem, step: Step) -> None:
        self.beta_ = float(step.beta) if "beta" in step.state else self._hardness(problem, step.centers[None])
        self.cluster_centers_ = step.centers.astype(problem.rows.dtype)
        self.labels_ = problem.found(self.cluster_centers_).labels
        found = self._shares(problem)
        self.free_energy_, self.cluster_weight_, self.cluster_spread_ = found.energy, found.mass, found.spread

    def _shares(self, problem: ClusterProblem) -> Shares:
        centers = self.cluster_centers_.astype(np.float64)
        found: Shares = problem.rows.fold(Shares.of, centers, self.beta_, problem.summary.mean)
        return found

    def _probabilities(self, block: Block) -> np.ndarray:
        return shares_of(squares(block.X, self.cluster_centers_), self.beta_)[0].astype(block.X.dtype)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Give the share of each cluster in every row; shares sum to one.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The features.
        """
        return self._apply(self._probabilities, X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Give minus the free energy of `X`: larger is better.

        Parameters
        ----------
        X, y, sample_weight
            Rows; `y` is not used.
        """
        self._check_fitted()
        rows = complete(self._open(X, None, sample_weight, reset=False), self, once=True)
        centers = self.cluster_centers_.astype(np.float64)
        return -float(rows.fold(Shares.of, centers, self.beta_, centers.mean(axis=0)).energy)

    def _prove(self, problem: ClusterProblem) -> list[Claim]:
        variance, nearest = problem.variance, problem.found(self.cluster_centers_)
        found, unit = self._shares(problem), 16 * float(np.finfo(self.cluster_centers_.dtype).eps)
        off, noise = float(((found.means - found.centers) ** 2).sum()), unit**2 * float(found.noise.sum())
        lost = ratio(found.rounding(problem.summary.count), found.energy)
        claims = [
            Claim.within(
                "labels are those of the nearest centre (excess, relative)",
                ratio(excess_of(problem, self.cluster_centers_, self.labels_, nearest.labels), variance),
                1e-12,
                ratio(problem.rounding(nearest.assignment), variance),
            ),
            Claim.within(
                "centres are the means of their shares (squared distance, relative)",
                ratio(off, variance),
                self.tol,
                noise / variance if variance else 0.0,
            ),
            Claim.within(
                "free_energy_ is that of the data (difference, relative)",
                ratio(abs(self.free_energy_ - found.energy), found.energy),
                1e-12,
                lost,
            ),
            restated("cluster_weight_", self.cluster_weight_, found.mass),
            restated("cluster_spread_", self.cluster_spread_, found.spread, slack=1e-7),
        ]
        if self.beta != "auto":
            claims.append(restated("beta_", self.beta_, self.beta))
        if hasattr(self, "ending_"):
            energy = np.array([record["objective"] for record in self.ending_.trace if record["number"] >= 0])
            rise = float(np.diff(energy).max(initial=0.0))
            lost *= max(1.0, ratio(float(energy.max(initial=0.0)), found.energy))
            says = "the free energy never rose (largest rise, relative)"
            claims.append(Claim.within(says, ratio(rise, found.energy), 0.0, lost if rise else 0.0))
        return claims


def shares_of(square: np.ndarray, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """Turn squared distances into shares, in place, and give the free energy of each row: -log(mean(exp(-beta d))) / beta.

    Where the mean is near one, what it lacks of one is added up by itself: no logarithm of nearly one costs the digits.
    """
    k = square.shape[1]
    if beta == 0:
        energy = square.mean(axis=1)
        square[:] = 1 / k
        return square, energy
    least = square.min(axis=1)
    square -= least[:, None]
    square *= -beta
    shares = np.exp(square)
    total = shares.sum(axis=1)
    logarithm, near = np.log(total / k), total > k / 2
    logarithm[near] = np.log1p(np.expm1(square[near]).mean(axis=1))
    np.divide(shares, total[:, None], out=square)
    return square, least - logarithm / beta


@dataclass(frozen=True)
class Shares:
    """What rows say of centres that share them: an additive statistic.

    >>> from qed.base.sources.open import rows
    >>> found = rows([[0.0], [4.0]]).fold(Shares.of, np.array([[1.0], [3.0]]), 0.0, np.zeros(1))
    >>> found.means.ravel(), found.mass, found.energy
    (array([2., 2.]), array([1., 1.]), 10.0)
    """

    centers: np.ndarray  # (k, p)
    sums: np.ndarray  # (k, p): differences of the rows from the centres, by weight and share
    mass: np.ndarray  # (k,): weight of the shares
    cost: np.ndarray  # (k,): squared distances, by weight and share
    energy: float
    beta: float

    @classmethod
    def of(cls, block: Block, centers: np.ndarray, beta: float, shift: np.ndarray) -> Shares:
        (k, p), (X, weight) = centers.shape, rows_that_count(block)
        sums, mass, cost, energy = np.zeros((k, p)), np.zeros(k), np.zeros(k), 0.0
        step = max(64, CHUNK // max(k, p))
        with np.errstate(under="ignore"):
            for start in range(0, len(X), step):
                part, w = X[start : start + step], weight[start : start + step]
                square = squares(part, centers)
                share, own = shares_of(square.copy(), beta)
                share *= w[:, None]
                energy += float(w @ own)
                mass += share.sum(axis=0)
                cost += (share * square).sum(axis=0)
                sums += share.T @ (part - shift)
        sums -= mass[:, None] * (centers - shift)
        return cls(centers, sums, mass, cost, energy, beta)

    def __add__(self, other: Shares) -> Shares:
        together = (self.sums + other.sums, self.mass + other.mass, self.cost + other.cost, self.energy + other.energy)
        return Shares(self.centers, *together, self.beta)

    @property
    def means(self) -> np.ndarray:
        """The mean of each cluster's shares; one without any keeps its centre."""
        mass = self.mass[:, None]
        return self.centers + np.divide(self.sums, mass, out=np.zeros_like(self.sums), where=mass > 0)

    @property
    def spread(self) -> np.ndarray:
        """The root of the mean squared distance of the rows from each centre, by their shares."""
        return np.sqrt(np.divide(self.cost, self.mass, out=np.zeros_like(self.cost), where=self.mass > 0))

    @property
    def noise(self) -> np.ndarray:
        """What rounding can do to the squared distance of each centre from its mean, for each squared unit of rounding."""
        return np.asarray(self.spread**2 + (self.centers**2).sum(axis=1))

    def moves(self, following: np.ndarray) -> float:
        """Give the sum of squared moves of the centres, not counting moves that rounding explains."""
        square = ((following - self.centers) ** 2).sum(axis=1)
        return float(np.where(square > (16 * EPS) ** 2 * self.noise, square, 0.0).sum())

    def rounding(self, count: int) -> float:
        """Bound what rounding can do to the free energy: that of its sums, distances, exponentials and logarithms."""
        k, p = self.centers.shape
        return (rounding_of(p + count) + 2 * rounding_of(k)) * self.energy + 4 * rounding_of(p) * float(self.cost.sum())
