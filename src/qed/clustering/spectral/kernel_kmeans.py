r"""Kernel k-means: clusters around means, in the features of a kernel.

.. math:: \min_{C_1, \dots, C_k}\ \sum_c \sum_{i \in C_c} w_i\, \|\phi(x_i) - m_c\|^2, \qquad
    m_c = \frac{1}{W_c} \sum_{i \in C_c} w_i\, \phi(x_i).

Lloyd's algorithm (:class:`qed.KMeans`) needs distances from means alone, and the kernel gives them
(:mod:`qed.clustering.spectral.features`). So clusters are cells of Voronoi in the features, where a plane may be a ring in the table:
k-means can not part two rings, and this can. Each step is a product of the Gram matrix, :math:`O(n^2 k)`, and lowers the objective until
no row is nearer to another mean: a local optimum. A bound from below comes from the spectrum: no k clusters cost less than the trace of
the centred Gram matrix less its :math:`k - 1` largest eigenvalues. With a linear kernel this is k-means itself.

Schölkopf, Smola and Müller (1998), Nonlinear component analysis as a kernel eigenvalue problem; Dhillon, Guan and Kulis (2004), Kernel
k-means, spectral clustering and normalized cuts.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers, maybe
from qed.base.certificate import Claim
from qed.base.errors import DegenerateWarning, ParameterError, level_of_user
from qed.base.models.estimator import Iterative
from qed.base.models.parameters import Parameter, choice, integer, number, numbers, random_state
from qed.base.models.proof import restated, restated_weights
from qed.base.models.roles import Clusterer
from qed.base.numbers import ratio
from qed.base.random import Seed, seed_of
from qed.base.running.steps import Rule, Step
from qed.base.sources.block import Block, copied, is_sparse, values_apart
from qed.base.sources.rows import Rows
from qed.clustering.spectral.features import FeatureSpace, draw
from qed.kernels.gram.compared import WIDTH_PARAMETERS, WithWidth, from_middle
from qed.kernels.gram.sums import combined


class KernelKMeans(WithWidth, Clusterer, Iterative):
    """Clusters around means in the features of a kernel.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters.
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "cosine", a kernel, a function of two rows, or "precomputed".
    degree : int, default=3
        The degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        The factor of "rbf", "laplacian" and "poly": one over the columns ("auto"), and over the variance of the table ("scale").
    coef0 : float, default=1.0
        The constant of "poly".
    init : {"k-means++", "random"} or array of shape (n,), default="k-means++"
        How clusters begin: around rows that lie far apart, around any rows, or as the labels given say.
    n_init : "auto" or int, default="auto"
        How many beginnings to try; the best end is kept. "auto" is 10, or 1 for labels given.
    max_iter : int, default=300
        The most iterations.
    tol : float, default=0.0
        The fit ends when all rows together would come nearer to a mean by no more than this share of the total spread. Zero asks for
        the very fixed point.
    random_state : None, int or NumPy generator
        The seed. It gives the same clusters for any number of threads, any order of the rows, and weights or repetitions.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The cluster of each row.
    inertia_ : float
        The objective: the weighted sum of squared distances, in the features, from the means.
    norms_ : ndarray of shape (n_clusters,)
        The squared length of each mean; zero where a cluster is empty.
    weights_ : ndarray of shape (n_clusters,)
        The weight of each cluster.
    X_fit_ : ndarray or sparse array of shape (n, p)
        The rows; with a precomputed kernel, their similarities.
    weight_fit_ : ndarray of shape (n,)
        The weights of the rows, where they had some.
    gamma_ : float
        The factor of the kernel.
    n_iter_ : int
        Iterations made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof that this is a fixed point, and how far at most it is from the global optimum.

    See Also
    --------
    KMeans : The same with a linear kernel, for any number of rows.
    SpectralClustering : Cuts a graph of similarities, which is kernel k-means with other weights, relaxed.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> angle = np.arange(40) * np.pi / 20
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.vstack([ring, 3 * ring])
    >>> model = qed.KernelKMeans(2, gamma=0.5, random_state=0).fit(X)
    >>> [len(set(part.tolist())) for part in (model.labels_[:40], model.labels_[40:])], bool(model.certificate_)
    ([1, 1], True)
    """

    passes: ClassVar[str] = "in memory"
    sparse: ClassVar[bool] = True
    attributes: ClassVar = {
        "norms_": floats("clusters"),
        "weights_": floats("clusters", low=0),
        "labels_": integers("rows", below="clusters"),
        "inertia_": floats(low=0),
        "X_fit_": floats("rows", "features", finite=False),  # rows of weight zero may hold anything
        "weight_fit_": maybe(floats("rows", low=0)),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "n_clusters": integer(1, kind="model"),
        **WIDTH_PARAMETERS,
        "init": choice("k-means++", "random") | numbers(),
        "n_init": integer(1) | choice("auto"),
        "max_iter": integer(1),
        "tol": number(0),
        "random_state": random_state(),
    }

    labels_: np.ndarray
    norms_: np.ndarray
    weights_: np.ndarray
    X_fit_: Any

    def __init__(
        self,
        n_clusters: int = 8,
        kernel: Any = "rbf",
        *,
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 1.0,
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 0.0,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _rule(self) -> Rule:
        # While the best restart rests another one may still overtake it, so an objective at rest is no reason to stop.
        return replace(super()._rule(), patience=self.max_iter)

    def _problem(self, rows: Rows) -> FeatureSpace:
        return FeatureSpace(rows, self)

    def _steps(self, problem: FeatureSpace, start: Step | None = None) -> Iterator[Step]:
        if start is None or start.prepares:
            labels = yield from self._beginnings(problem, start)
            cost, gain = np.zeros(len(labels)), np.full(len(labels), np.inf)
        else:
            labels, cost, gain = start.following, start.cost.copy(), start.gain.copy()
        while (moving := np.flatnonzero(gain > 0)).size:
            following = labels.copy()
            away, cost[moving], _ = problem.costs(labels[moving])
            for place, run in enumerate(moving):
                following[run], gain[run] = _moved(problem, labels[run], away[place])
            best = int(cost.argmin())
            step = Step(max(cost[best], 0.0), gap=ratio(float(gain.max()), problem.total), labels=labels[best])
            step.state.update(following=following, cost=cost.copy(), gain=gain.copy())
            yield step
            labels = following

    def _beginnings(self, problem: FeatureSpace, start: Step | None) -> Generator[Step, None, np.ndarray]:
        """Give the labels to begin with, of shape (restarts, n); rows to begin clusters with are drawn step by step."""
        if not isinstance(self.init, str):
            return _checked_labels(self.init, problem)[None]
        seed = seed_of(self.random_state) if start is None else start.seed
        tries = 10 if self.n_init == "auto" else self.n_init
        drawn: list[list[int]] = [[] for _ in range(tries)] if start is None else start.drawn.tolist()
        for cluster in range(len(drawn[0]), problem.k):
            costs = np.empty(tries)
            for run, rows in enumerate(drawn):
                row, closest = draw(problem, seed, run, rows, self.init == "k-means++")
                rows.append(rows[0] if row is None else row)
                costs[run] = float(problem.weight @ closest)
            if cluster + 1 < problem.k:
                best = int(costs.argmin())
                labels = _nearest_of(problem, drawn[best])
                yield Step(costs[best], labels=labels, drawn=np.array(drawn), seed=seed, prepares=True)
        if (distinct := min(len(set(rows)) for rows in drawn)) < problem.k:
            warnings.warn(
                f"KernelKMeans: only {distinct} rows differ in the features of the kernel, so {problem.k - distinct} of the "
                f"n_clusters={problem.k} clusters stay empty. Ask for n_clusters={distinct}.",
                DegenerateWarning,
                stacklevel=level_of_user(),
            )
        return np.stack([_nearest_of(problem, rows) for rows in drawn])

    def _finish(self, problem: FeatureSpace, step: Step) -> None:
        self.gamma_, self.X_fit_ = problem.gamma, copied(problem.block.X)
        if problem.block.weight is not None:
            self.weight_fit_ = copied(problem.block.weight)
        # Which restart was the best, of equal ones, hangs on rounding: clusters are numbered by their rows, unless the user did.
        labels = _in_order(problem, step.labels) if isinstance(self.init, str) else step.labels
        _, cost, lengths = problem.costs(labels[None])
        self.weights_ = np.bincount(labels, problem.weight, problem.k)
        self.norms_ = np.where(self.weights_ > 0, lengths[0], 0.0)
        # What is less than rounding can make of zero is zero.
        self.inertia_ = float(cost[0]) if cost[0] > problem.lost else 0.0
        self.labels_ = np.zeros(len(problem.block), np.int32)
        self.labels_[problem.present] = labels
        self._label_absent(problem, self.labels_)

    def _label_absent(self, problem: FeatureSpace, labels: np.ndarray) -> None:
        """Label rows without weight like new ones; those that hold no numbers have the label 0."""
        absent = np.setdiff1d(np.arange(len(labels)), problem.present)
        if len(absent):
            X = problem.block.X[absent]
            whole = np.isfinite(np.asarray(X.sum(axis=1)).ravel())
            labels[absent[~whole]] = 0
            if whole.any():
                labels[absent[whole]] = self._assign(Block(X[whole]))

    def _assign(self, block: Block) -> np.ndarray:
        X, kept, labels = block.X, self.X_fit_, np.asarray(self.labels_)
        weight = getattr(self, "weight_fit_", None)
        shares = np.zeros((len(labels), len(self.weights_)))
        shares[np.arange(len(labels)), labels] = 1.0 if weight is None else weight
        shares /= np.where(self.weights_ > 0, self.weights_, 1.0)
        if self.similarity_is_given:
            sums = np.asarray(X @ shares)
        else:
            if is_sparse(X) != is_sparse(kept):
                X, kept = (one.toarray() if is_sparse(one) else one for one in (X, kept))
            there = kept if weight is None else kept[np.flatnonzero(weight > 0)]
            shares = shares if weight is None else shares[weight > 0]
            here = from_middle(self._similarity, X, there)
            sums = combined(self._similarity, here, from_middle(self._similarity, there, there), shares)
        away = np.where(self.weights_ > 0, self.norms_ - 2 * sums, np.inf)
        return away.argmin(axis=1).astype(np.int32)

    def _prove(self, problem: FeatureSpace) -> list[Claim]:
        labels = np.asarray(self.labels_)
        if labels.shape != (len(problem.block),) or labels.dtype.kind != "i":
            return [Claim("every row has a label", math.inf, 0.0)]
        own = labels[problem.present]
        if not 0 <= own.min() <= own.max() < problem.k:
            return [Claim("every row has a label", math.inf, 0.0)]
        away, cost, _ = problem.costs(own[None])
        inertia, total, weight = max(float(cost[0]), 0.0), problem.total, problem.weight
        excess = np.take_along_axis(away[0], own[:, None].astype(np.intp), 1)[:, 0] - away[0].min(axis=1)
        claims = [
            Claim.within(
                "rows would come nearer to another mean by (all together, relative)",
                ratio(float(weight @ excess), total),
                self.tol,
                ratio(4 * problem.lost, total) if problem.lost > 0 and total > problem.lost else 0.0,
            ),
            Claim(
                "inertia_ is that of the labels (difference, relative to all spread)",
                ratio(abs(float(self.inertia_) - inertia), max(total, problem.lost)),
                ratio(1e-10 * inertia + 2 * problem.lost, max(total, problem.lost)),
            ),
        ]
        if (least := problem.least()) is not None:
            share = ratio(least, float(self.inertia_))
            claims.append(Claim("no clusters cost less than this share of inertia_", share, 1 + 1e-9))
        if hasattr(self, "ending_"):
            objective = np.array([record["objective"] for record in self.ending_.trace])
            rise = float(np.diff(objective).max(initial=0.0))
            claims.append(
                Claim(
                    "the objective never rose (largest rise, relative to all spread)",
                    ratio(rise, max(total, problem.lost)),
                    ratio(2 * problem.lost, max(total, problem.lost)) if rise > 0 else 0.0,
                )
            )
        return claims

    def _restate(self, problem: FeatureSpace) -> list[Claim]:
        labels = np.asarray(self.labels_)
        _, _, lengths = problem.costs(labels[problem.present][None])
        weight = np.bincount(labels[problem.present], problem.weight, problem.k)
        size = float(np.abs(problem.diagonal).max(initial=0.0))
        wanted = labels.copy()
        self._label_absent(problem, wanted)
        return [
            restated("gamma_", self.gamma_, problem.gamma),
            restated("weights_", self.weights_, weight),
            restated(
                "norms_", self.norms_, np.where(weight > 0, lengths[0], 0.0), scale=1e-6 * size + np.abs(self.norms_)
            ),
            restated_weights(getattr(self, "weight_fit_", None), problem.block.weight, len(problem.block)),
            Claim(
                "labels_ of rows without weight are those of new rows (others)", float((wanted != labels).sum()), 0.0
            ),
            Claim("X_fit_ are the rows of the table (others)", values_apart(self.X_fit_, problem.block.X), 0.0),
        ]


def _moved(problem: FeatureSpace, labels: np.ndarray, away: np.ndarray) -> tuple[np.ndarray, float]:
    """Let rows go to the nearest mean, given squared distances of shape (n, k), and say what that gains at least.

    A row stays where rounding alone could make another mean the nearer one. A cluster without rows gets the row that is farthest from
    its own mean, and those equal to it.
    """
    own = away[np.arange(len(labels)), labels]
    nearest = away.argmin(axis=1).astype(np.int32)
    gains = own - away.min(axis=1)
    moves = gains > 2 * problem.rounding
    following = np.where(moves, nearest, labels)
    gain = float(problem.weight[moves] @ gains[moves])
    left = np.where(moves, own - gains, own)
    for empty in np.flatnonzero(np.bincount(following, minlength=problem.k) == 0):
        far = left.max()
        if not far > 2 * problem.rounding:
            break
        row = min(np.flatnonzero(left == far), key=lambda place: problem.names[place])
        equal = problem.names == problem.names[row]
        gain += float(problem.weight[equal] @ left[equal])
        following[equal], left[equal] = empty, 0.0
    return following, gain


def _in_order(problem: FeatureSpace, labels: np.ndarray) -> np.ndarray:
    """Number clusters by the least name of their rows, so that their order does not depend on that of the rows."""
    there, place = np.unique(labels, return_inverse=True)
    least = np.array([problem.names[place == cluster].min() for cluster in range(len(there))])
    number = np.empty(len(there), np.int32)
    number[np.argsort(least, kind="stable")] = np.arange(len(there))
    return np.asarray(number[place])


def _nearest_of(problem: FeatureSpace, rows: list[int]) -> np.ndarray:
    """Label all rows by the nearest of some."""
    return np.argmin([problem.squares_from(row) for row in rows], axis=0).astype(np.int32)


def _checked_labels(given: Any, problem: FeatureSpace) -> np.ndarray:
    labels = np.asarray(given)
    n = len(problem.block)
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise ParameterError(f"KernelKMeans: init must be one label for each of the {n} rows, as whole numbers.")
    if labels.min() < 0 or labels.max() >= problem.k:
        raise ParameterError(f"KernelKMeans: init must hold labels from 0 to {problem.k - 1}, one for each cluster.")
    return labels[problem.present].astype(np.int32)
