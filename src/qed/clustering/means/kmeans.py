r"""k-means: centres that lie close to all rows.

.. math:: \min_{c_1, \dots, c_k}\ \sum_i w_i \min_j \|x_i - c_j\|^2.

Lloyd's algorithm alternates two exact minimisations: every row goes to its nearest centre, then every centre to the mean
of its rows. Neither can raise the objective and there are finitely many partitions, so it ends at a *fixed point*, where
both hold at once. That is a local optimum; the global one is NP-hard. Where a cluster has lost all its rows, its centre
moves to the row that is farthest from all others. The restarts of ``n_init`` go on side by side: one pass over the rows moves all of
them, and the best is kept. A pass costs :math:`O(nkp)` operations at most, and :math:`O(np)` once few rows change their cluster
(:mod:`qed.clustering.means.nearest`). A bound from below comes from the spectrum: no
:math:`k` clusters cost less than the trace of the scatter matrix less its :math:`k - 1` largest eigenvalues.

Lloyd (1982), Least squares quantization in PCM; Ding and He (2004), K-means clustering via principal component analysis.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats
from qed.base.certificate import Claim
from qed.base.errors import InputError
from qed.base.models.checks import complete
from qed.base.models.no_effect import one_of, takes
from qed.base.models.parameters import Parameter, choice, integer, number
from qed.base.models.proof import restated
from qed.base.numbers import EPS, ratio
from qed.base.random import Seed
from qed.base.running.steps import Rule, Step
from qed.base.sources.rows import Rows
from qed.clustering.means.assignment import Assignment, Memory, refilled
from qed.clustering.means.centres import AroundCentres, empty_claims, excess_of, say_empty
from qed.clustering.means.distances import rounding_of
from qed.clustering.means.problem import ClusterProblem, Found


@takes("verbose", "copy_x", algorithm=one_of("lloyd", "elkan", instead="both find the same clusters"))
class KMeans(AroundCentres):
    """Clusters around means.

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
    tol : float, default=1e-4
        The fit ends when the centres move by no more than this: sum of their squared moves, relative to the mean variance of the
        columns. Zero asks for the very fixed point.
    ties : {"lower", "stay"}, default="lower"
        Where a row goes that is equally near to several centres: to that of the lowest number, or it stays in its cluster unless
        another centre is strictly nearer. "stay" needs the rows in this process, not on a cluster.
    random_state : None, int or NumPy generator
        The seed. It gives the same centres for any number of threads, any order of the rows, and weights or repetitions.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, p)
        The centres.
    labels_ : ndarray of shape (n,)
        The cluster of each row.
    inertia_ : float
        The objective: the weighted sum of squared distances to the nearest centre.
    cluster_spread_ : ndarray of shape (n_clusters,)
        The root of the mean squared distance of each cluster's rows from its centre.
    n_iter_ : int
        Iterations made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof that this is a fixed point, and how far at most it is from the global optimum.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]])
    >>> model = qed.KMeans(2, random_state=0).fit(X)
    >>> model.inertia_, sorted(model.cluster_centers_[:, 0].tolist())
    (1.0, [0.0, 4.0])
    >>> stuck = qed.KMeans(2, init=[[2.0, 0.0], [2.0, 1.0]]).fit(X)
    >>> stuck.inertia_, bool(stuck.certificate_)
    (16.0, True)
    """

    sparse: ClassVar[bool] = True
    attributes: ClassVar = {
        "inertia_": floats(low=0),
        "cluster_spread_": floats("clusters", low=0),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **AroundCentres.parameters,
        "max_iter": integer(1),
        "tol": number(0),
        "ties": choice("lower", "stay"),
    }
    compare_grid: ClassVar[Mapping[str, Any]] = {"n_clusters": range(2, 11)}
    compare_name: ClassVar[str] = "k-means"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        ties: str = "lower",
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.ties = ties
        self.random_state = random_state

    def _rule(self) -> Rule:
        # While the best restart rests another one may still overtake it, so an objective at rest is no reason to stop.
        return replace(super()._rule(), patience=self.max_iter)

    def _problem(self, rows: Rows) -> ClusterProblem:
        return ClusterProblem(rows.cached(), self)

    def _steps(self, problem: ClusterProblem, start: Step | None = None) -> Iterator[Step]:
        rows = problem.rows
        if start is None or start.prepares:
            runs = yield from self._beginnings(problem, start)
            inertia, moved, labels = np.zeros(len(runs)), np.full(len(runs), np.inf), None
        else:
            runs, inertia, moved = start.following, start.inertia.copy(), start.moved.copy()
            labels = start.state.get("labels")
        memory = Memory(rows, len(runs), problem.scaling, labels, stay=self.ties == "stay")
        if memory.stay and not memory.keeps:
            raise InputError(
                "KMeans: ties='stay' needs rows that are read in this process: take ties='lower' on a cluster."
            )
        while (moving := moved > 0).any():
            found = rows.fold(Assignment.following, memory.searches(runs, moving), memory)
            inertia[moving] = found.inertia
            following = runs.copy()
            following[moving] = refilled(rows, found.means, found.weight)
            moved[moving] = found.moves(following[moving])
            best = int(inertia.argmin())
            problem.hint = memory.labels[best] if memory.keeps else None
            step = Step(inertia[best], gap=ratio(moved.max(), problem.variance), centers=runs[best], best=best)
            step.state.update(following=following, inertia=inertia.copy(), moved=moved.copy())
            if memory.stay:
                step.state["labels"] = memory.labels.copy()
            yield step
            runs = following

    def _finish(self, problem: ClusterProblem, step: Step) -> None:
        centers = step.centers
        labels = step.state.get("labels")
        if labels is None and step.gap is not None and 0 < step.gap <= self.tol:
            # The means that the last pass found are no worse. They are kept if they are proven, too.
            following = step.following[step.best].astype(problem.rows.dtype)
            if problem.found(following).off <= self.tol * problem.variance:
                centers = following
        self.cluster_centers_ = centers.astype(problem.rows.dtype)
        self.labels_ = problem.found(self.cluster_centers_).labels if labels is None else labels[step.best].copy()
        found = self._found(problem)
        self.inertia_ = found.inertia
        self.cluster_spread_ = np.sqrt(found.assignment.spread[0])
        say_empty(self, found.assignment.weight[0], self.inertia_)

    def _found(self, problem: ClusterProblem) -> Found:
        """Say what the rows have to say of the centres; those that may stay at a tie have their labels."""
        labels = np.asarray(self.labels_)
        return problem.found(self.cluster_centers_, labels if self.ties == "stay" else None, hint=labels)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Give minus the objective on `X`: larger is better.

        Parameters
        ----------
        X, y, sample_weight
            Rows; `y` is not used.
        """
        self._check_fitted()
        rows = complete(self._open(X, None, sample_weight, reset=False), self, once=True)
        return -float(rows.fold(Assignment.of, self.cluster_centers_[None].astype(np.float64)).inertia[0])

    def _prove(self, problem: ClusterProblem) -> list[Claim]:
        found, variance, tol = self._found(problem), problem.variance, self.tol
        rounding = 16 * float(np.finfo(self.cluster_centers_.dtype).eps)
        claims = [
            Claim.within(
                "rows are with their nearest centre (excess, relative)",
                ratio(excess_of(problem, self.cluster_centers_, self.labels_, found.labels), variance),
                1e-12,
                ratio(problem.rounding(found.assignment), variance),
            ),
            Claim(
                "centres are the means of their rows (squared distance, relative)",
                ratio(found.off, variance),
                tol + ratio(rounding**2 * float(found.noise.sum()), variance),
            ),
            Claim(
                "inertia_ is that of the data (difference, relative)",
                ratio(abs(self.inertia_ - found.inertia), found.inertia),
                1e-10,
            ),
            restated("cluster_spread_", self.cluster_spread_, np.sqrt(found.assignment.spread[0])),
            *empty_claims(self.cluster_centers_, found.assignment.weight[0], found.inertia),
        ]
        if found.least is not None:
            share = ratio(found.least, found.inertia)
            claims.append(Claim("no clusters cost less than this share of inertia_", share, 1 + 1e-9))
        if hasattr(self, "ending_"):
            objective = np.array([record["objective"] for record in self.ending_.trace])
            moved = (16 * EPS) ** 2 * float((found.assignment.weight[0] * found.noise).sum())
            rise = float(np.diff(objective).max(initial=0.0))
            sums = rounding_of(problem.rows.n_features + problem.summary.count) * float(objective[:1].sum())
            claims.append(
                Claim.within(
                    "the objective never rose (largest rise, relative)",
                    ratio(rise, found.inertia),
                    0.0,
                    ratio(moved + sums, found.inertia) if rise > 0 else 0.0,
                )
            )
        return claims
