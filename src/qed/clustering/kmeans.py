r"""k-means: centres that lie close to all rows.

.. math:: \min_{c_1, \dots, c_k}\ \sum_i w_i \min_j \|x_i - c_j\|^2.

Lloyd's algorithm alternates two exact minimisations: every row goes to its nearest centre, then every centre to the mean
of its rows. Neither can raise the objective and there are finitely many partitions, so it ends at a *fixed point*, where
both hold at once. That is a local optimum; the global one is NP-hard. Where a cluster has lost all its rows, its centre
moves to the row that is farthest from all others. The restarts of ``n_init`` go on side by side: one pass over the rows, of
:math:`O(nkp)` operations each, moves all of them, and the best is kept. A bound from below comes from the spectrum: no
:math:`k` clusters cost less than the trace of the scatter matrix less its :math:`k - 1` largest eigenvalues.

Lloyd (1982), Least squares quantization in PCM; Ding and He (2004), K-means clustering via principal component analysis.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.certificate import Claim
from qed.base.errors import DegenerateWarning, InputError, ParameterError, level_of_user
from qed.base.models.checks import complete, overflowed
from qed.base.models.estimator import Iterative
from qed.base.models.parameters import Parameter, anything, choice, integer, number, random_state
from qed.base.models.problem import RowsProblem
from qed.base.models.roles import Clusterer, Transformer
from qed.base.models.ways import one_of, takes
from qed.base.numbers import ratio
from qed.base.random import generator, seed_of
from qed.base.running.steps import Rule, Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.clustering.assignment import Assignment, refilled
from qed.clustering.distances import nearest, squares
from qed.clustering.seeding import draw_centers
from qed.stats.moments import Moments

WIDEST_SPECTRUM = 1024


@takes("verbose", "copy_x", algorithm=one_of("lloyd", "elkan", instead="both find the same clusters"))
class KMeans(Clusterer, Transformer, Iterative):
    """Clusters around means.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters.
    init : {"k-means++", "random"}, array of shape (n_clusters, p) or callable, default="k-means++"
        Where the centres begin: at rows that lie far apart, at any rows, at the points given, or where
        ``init(X, n_clusters, random_state)`` says.
    n_init : "auto" or int, default="auto"
        How many beginnings to try; the best end is kept. "auto" is 1 for k-means++ and for points given, else 10.
    max_iter : int, default=300
        The most iterations.
    tol : float, default=1e-4
        The fit ends when the centres move by no more than this: sum of their squared moves, relative to the mean variance of the
        columns. Zero asks for the very fixed point.
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

    attributes: ClassVar = {
        "cluster_centers_": floats("clusters", "features"),
        "labels_": integers("rows", below="clusters"),
        "inertia_": floats(low=0),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "n_clusters": integer(1, kind="model"),
        "init": anything("'k-means++', 'random', an array or a callable", "optimization"),
        "n_init": integer(1) | choice("auto"),
        "max_iter": integer(1),
        "tol": number(0),
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
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _rule(self) -> Rule:
        # While the best restart rests another one may still overtake it, so an objective at rest is no reason to stop.
        return replace(super()._rule(), patience=self.max_iter)

    def _problem(self, rows: Rows) -> RowsProblem:
        problem = super()._problem(rows)
        summary = problem.summary
        if summary.count < self.n_clusters:
            raise InputError(
                f"n_samples={summary.count} rows can not make n_clusters={self.n_clusters} clusters: "
                "give more rows (of positive weight) or ask for fewer clusters."
            )
        width = summary.high - summary.low
        with np.errstate(over="ignore", under="ignore"):
            square = float((width**2).sum()) * max(1.0, float(summary.weight.max()))
        if not math.isfinite(square):
            raise overflowed(self)
        if square == 0 and width.any():
            raise InputError("The rows differ so little that squared distances vanish: multiply the columns by 1e150.")
        return problem

    def _steps(self, problem: RowsProblem, start: Step | None = None) -> Iterator[Step]:
        rows, variance = problem.rows, float(problem.summary.variance.mean())
        if start is None:
            runs = self._beginnings(rows)
            inertia, moved = np.zeros(len(runs)), np.full(len(runs), np.inf)
        else:
            runs, inertia, moved = start.following, start.inertia.copy(), start.moved.copy()
        while (moving := moved > 0).any():
            found = rows.fold(Assignment.of, runs[moving])
            inertia[moving] = found.inertia
            following = runs.copy()
            following[moving] = refilled(rows, found.means, found.weight)
            moved[moving] = found.moves(following[moving])
            best = int(inertia.argmin())
            yield Step(
                inertia[best],
                gap=ratio(moved.max(), variance),
                centers=runs[best],
                following=following,
                inertia=inertia.copy(),
                moved=moved.copy(),
            )
            runs = following

    def _beginnings(self, rows: Rows) -> np.ndarray:
        """Give the centres to begin with, of shape (restarts, k, p)."""
        k, p = self.n_clusters, rows.n_features
        given = not (isinstance(self.init, str) or callable(self.init))
        tries = (1 if given or self.init == "k-means++" else 10) if self.n_init == "auto" else self.n_init
        if given:
            return _checked_centers(self.init, k, p)[None]
        seed = seed_of(self.random_state)
        if callable(self.init):
            X = rows.array().X
            drawn = [self.init(X, k, random_state=generator(seed, "init", restart)) for restart in range(tries)]
            return np.stack([_checked_centers(centers, k, p) for centers in drawn])
        if self.init not in ("k-means++", "random"):
            raise ParameterError(
                f"KMeans: init must be 'k-means++', 'random', an array or a callable, not {self.init!r}."
            )
        runs = []
        for restart in range(tries):
            centers, distinct = draw_centers(rows, k, seed, restart, uniform=self.init == "random")
            runs.append(centers)
        if distinct < k:
            warnings.warn(
                f"KMeans: only {distinct} different rows were found for n_clusters={k} clusters, so {k - distinct} of them "
                f"stay empty. Ask for n_clusters={distinct}.",
                DegenerateWarning,
                stacklevel=level_of_user(),
            )
        return np.stack(runs)

    def _finish(self, problem: RowsProblem, step: Step) -> None:
        self.cluster_centers_ = step.centers
        labels, costs = zip(*problem.rows.each(_labels_and_cost, self.cluster_centers_))
        self.labels_ = np.concatenate(labels)
        self.inertia_ = math.fsum(costs)

    def _assign(self, block: Block) -> np.ndarray:
        return nearest(block.X, self.cluster_centers_)[0]

    def _change(self, block: Block) -> np.ndarray:
        return np.sqrt(squares(block.X, self.cluster_centers_).T).astype(block.X.dtype)

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
        return -math.fsum(cost for _, cost in rows.each(_labels_and_cost, self.cluster_centers_))

    def _prove(self, problem: RowsProblem) -> list[Claim]:
        rows, variance = problem.rows, float(problem.summary.variance.mean())
        centers = self.cluster_centers_.astype(np.float64)
        k, p = centers.shape
        found = rows.fold(Assignment.of, centers[None])
        inertia = float(found.inertia[0])
        scatter = rows.fold(Moments.of_features) if k - 1 < p <= WIDEST_SPECTRUM else None
        rounding = 16 * float(np.finfo(self.cluster_centers_.dtype).eps)
        noise = rounding**2 * float((found.spread + (centers**2).sum(axis=1)).sum())
        claims = [
            Claim(
                "rows are with their nearest centre (excess, relative)",
                ratio(max(rows.each(_excess, centers, self.labels_)), variance),
                1e-12,
            ),
            Claim(
                "centres are the means of their rows (squared distance, relative)",
                ratio(float(((found.means[0] - centers) ** 2).sum()), variance),
                self.tol + ratio(noise, variance),
            ),
            Claim(
                "inertia_ is that of the data (difference, relative)",
                ratio(abs(self.inertia_ - inertia), inertia),
                1e-10,
            ),
        ]
        if scatter is not None:
            share = ratio(_spectral_bound(scatter.xx, k), inertia)
            claims.append(Claim("no clusters cost less than this share of inertia_", share, 1 + 1e-9))
        return claims


def _labels_and_cost(block: Block, centers: np.ndarray) -> tuple[np.ndarray, float]:
    labels, square = nearest(block.X, centers)
    if block.weight is None:
        return labels, float(square.sum())
    used = block.weight > 0
    return labels, float(block.weight[used] @ square[used])


def _excess(block: Block, centers: np.ndarray, labels: np.ndarray) -> float:
    """Give the most by which a row is farther from its own centre than from the nearest, in squared distance."""
    own = np.asarray(labels)[block.start : block.start + len(block)]
    if len(own) != len(block) or own.ndim != 1 or own.dtype.kind != "i":
        return math.inf
    if len(own) and not (own.min() >= 0 and own.max() < len(centers)):
        return math.inf
    best, square = nearest(block.X, centers)
    wrong = (own != best) if block.weight is None else (own != best) & (block.weight > 0)
    if not wrong.any():
        return 0.0
    apart = ((block.X[wrong].astype(np.float64) - centers[own[wrong]]) ** 2).sum(axis=1)
    return float(max(0.0, (apart - square[wrong]).max()))


def _spectral_bound(scatter: np.ndarray, k: int) -> float:
    """Give a cost below which no k clusters can be: the scatter's trace less its k - 1 largest eigenvalues."""
    value = np.linalg.eigvalsh(scatter)
    least = float(value[: len(value) - (k - 1)].sum())
    return least if least > 1e-12 * float(value[-1]) else 0.0


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
