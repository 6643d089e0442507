r"""k-means: centres that lie close to all rows.

.. math:: \min_{c_1, \dots, c_k}\ \sum_i w_i \min_j \|x_i - c_j\|^2.

Lloyd's algorithm alternates two exact minimisations: every row goes to its nearest centre, then every centre to the mean
of its rows. Neither can raise the objective and there are finitely many partitions, so it ends at a *fixed point*, where
both hold at once. That is a local optimum; the global one is NP-hard. Where a cluster has lost all its rows, its centre
moves to the row that is farthest from all others. The restarts of ``n_init`` go on side by side: one pass over the rows moves all of
them, and the best is kept. A pass costs :math:`O(nkp)` operations at most, and :math:`O(np)` once few rows change their cluster
(:mod:`qed.clustering.nearest`). A bound from below comes from the spectrum: no
:math:`k` clusters cost less than the trace of the scatter matrix less its :math:`k - 1` largest eigenvalues.

Lloyd (1982), Least squares quantization in PCM; Ding and He (2004), K-means clustering via principal component analysis.
"""

import math
import warnings
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.certificate import Claim
from qed.base.errors import DegenerateWarning, InputError, ParameterError, level_of_user
from qed.base.models.checks import complete
from qed.base.models.estimator import Iterative
from qed.base.models.parameters import Parameter, anything, choice, integer, number, random_state
from qed.base.models.roles import Clusterer, Transformer
from qed.base.models.ways import one_of, takes
from qed.base.numbers import EPS, ratio
from qed.base.random import Seed, generator, seed_of
from qed.base.running.steps import Rule, Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.clustering.assignment import Assignment, Memory, refilled
from qed.clustering.distances import rounding_of, squares
from qed.clustering.nearest import Search
from qed.clustering.problem import ClusterProblem
from qed.clustering.seeding import any_points, any_rows, filled_up, spread_out


@takes("verbose", "copy_x", algorithm=one_of("lloyd", "elkan", instead="both find the same clusters"))
class KMeans(Clusterer, Transformer, Iterative):
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
        "cluster_centers_": floats("clusters", "features"),
        "labels_": integers("rows", below="clusters"),
        "inertia_": floats(low=0),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "n_clusters": integer(1, kind="model"),
        "init": anything("'k-means++', 'random', 'random-domain', an array or a callable", "optimization"),
        "n_init": integer(1) | choice("auto"),
        "max_iter": integer(1),
        "tol": number(0),
        "ties": choice("lower", "stay"),
        "random_state": random_state(),
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
        memory = Memory(rows, len(runs), problem.frame, labels, stay=self.ties == "stay")
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
            step = Step(inertia[best], gap=ratio(moved.max(), problem.variance), centers=runs[best], best=best)
            step.state.update(following=following, inertia=inertia.copy(), moved=moved.copy())
            if memory.stay:
                step.state["labels"] = memory.labels.copy()
            yield step
            runs = following

    def _beginnings(self, problem: ClusterProblem, start: Step | None) -> Generator[Step, None, np.ndarray]:
        """Give the centres to begin with, of shape (restarts, k, p); those of k-means++ are drawn step by step."""
        rows, k, p = problem.rows, self.n_clusters, problem.rows.n_features
        given = not (isinstance(self.init, str) or callable(self.init))
        tries = (1 if given or self.init == "k-means++" else 10) if self.n_init == "auto" else self.n_init
        if given:
            return _checked_centers(self.init, k, p)[None]
        seed = seed_of(self.random_state) if start is None else start.seed
        if callable(self.init):
            X = rows.array().X
            drawn = [self.init(X, k, random_state=generator(seed, "init", restart)) for restart in range(tries)]
            return np.stack([_checked_centers(centers, k, p) for centers in drawn])
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
        else:
            raise ParameterError(
                f"KMeans: init must be 'k-means++', 'random', 'random-domain', an array or a callable, not {self.init!r}."
            )
        distinct = min(len(np.unique(centers, axis=0)) for centers in runs)
        if distinct < k:
            warnings.warn(
                f"KMeans: only {distinct} different rows were found for n_clusters={k} clusters, so {k - distinct} of them "
                f"stay empty. Ask for n_clusters={distinct}.",
                DegenerateWarning,
                stacklevel=level_of_user(),
            )
        return runs

    def _finish(self, problem: ClusterProblem, step: Step) -> None:
        centers = step.centers
        labels = step.state.get("labels")
        if labels is None and step.gap is not None and 0 < step.gap <= self.tol:
            # The means that the last pass found are no worse. They are kept if they are proven, too.
            following = step.following[step.best].astype(problem.rows.dtype)
            if problem.found(following).off <= self.tol * problem.variance:
                centers = following
        self.cluster_centers_ = centers.astype(problem.rows.dtype)
        found = problem.found(self.cluster_centers_)
        self.labels_ = found.labels if labels is None else labels[step.best].copy()
        self.inertia_ = found.inertia

    def _assign(self, block: Block) -> np.ndarray:
        return Search.among(self.cluster_centers_).of(block.X)[0]

    def _change(self, block: Block) -> np.ndarray:
        return np.sqrt(squares(block.X, self.cluster_centers_)).astype(block.X.dtype)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns that ``transform`` gives: the distance to each centre.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn's sake.
        """
        self._check_fitted()
        return np.array([f"kmeans{k}" for k in range(len(self.cluster_centers_))], dtype=object)

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
        found, variance, tol = problem.found(self.cluster_centers_), problem.variance, self.tol
        rounding = 16 * float(np.finfo(self.cluster_centers_.dtype).eps)
        claims = [
            Claim.within(
                "rows are with their nearest centre (excess, relative)",
                ratio(_excess_of(problem, self.cluster_centers_, self.labels_, found.labels), variance),
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


def _excess_of(problem: ClusterProblem, centers: np.ndarray, labels: Any, nearest: np.ndarray) -> float:
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


def _checked_centers(given: Any, k: int, p: int) -> np.ndarray:
    centers = np.array(given, dtype=np.float64)
    if centers.shape != (k, p):
        raise ParameterError(
            f"KMeans: init must have one row for each of the n_clusters={k} clusters and one column for each of the {p} "
            f"features, shape {(k, p)}, not {centers.shape}."
        )
    if not np.isfinite(centers).all():
        raise ParameterError("KMeans: init must not contain NaN or infinity.")
    distinct = len(np.unique(centers, axis=0))
    if distinct < k:
        warnings.warn(
            f"KMeans: only {distinct} of the {k} centres given as init are different. Clusters that begin empty move to the rows that are "
            "farthest from all centres.",
            DegenerateWarning,
            stacklevel=level_of_user(),
        )
    return centers
