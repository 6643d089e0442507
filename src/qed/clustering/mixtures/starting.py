r"""Where a mixture begins: rows are shared out once, by clusters or at random, and the first M step makes a mixture of that.

By default the clusters are those of k-means, whose rows go whole to the nearest centre; seeds of k-means++, or any rows, serve as
centres as well. While k-means goes on, its centres are a mixture already: of equal weights and one variance :math:`v = J / (Wp)`, where
:math:`J` is its cost and :math:`W` the weight of all rows. Its likelihood is at least that of the rows with their labels,

.. math:: \frac1W \sum_i w_i \log p(x_i) \ge -\tfrac p2 \log(2\pi v) - \tfrac p2 - \log k,

which the first M step can only raise. So an interrupt leaves a model whenever it comes.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from qed.base.numbers import EPS, TINY
from qed.base.random import generator, mixed
from qed.base.running.steps import Step
from qed.base.running.walk import steps
from qed.base.sources.block import Block, rows_that_count
from qed.base.sources.rows import Rows
from qed.clustering.means.kmeans import KMeans
from qed.clustering.means.seeding import any_rows, filled_up, spread_out
from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.problem import MixtureProblem
from qed.clustering.mixtures.shapes import spread_like
from qed.clustering.mixtures.shares import Held, Shares

WAYS = ("kmeans", "k-means++", "random", "random_from_data")


@dataclass(frozen=True)
class Beginning:
    """How to begin: which way, how often, and what is given."""

    way: str
    k: int
    runs: int
    seed: int
    weights: np.ndarray | None
    means: np.ndarray | None
    covariances: np.ndarray | None

    def mixtures(self, problem: MixtureProblem, start: Step | None) -> Generator[Step, None, list[Mixture]]:
        """Give a mixture to begin with for each run; the steps of k-means are given on the way."""
        k, p, kind = self.k, problem.rows.n_features, problem.held.kind
        if self.weights is not None and self.means is not None and self.covariances is not None:
            given = Mixture.of(kind, self.weights, self.means, self.covariances)
            return [given] * self.runs
        if self.means is None and self.way == "random":
            found = [self._at_random(problem, run) for run in range(self.runs)]
        else:
            centers = yield from self._centers(problem, start)
            equal, unit = np.full(k, 1 / k), spread_like(1.0, kind, k, p)
            nearest = [Mixture.of(kind, equal, one, unit) for one in centers]
            held = replace(problem.held, hard=True, covariances=self.covariances is not None, weights=False)
            shares = problem.shares(nearest, held)
            found = [one.updated(mixture, held) for one, mixture in zip(shares, nearest)]
        return [self._with_given(mixture, problem.held) for mixture in found]

    def _with_given(self, mixture: Mixture, held: Held) -> Mixture:
        """Put what is given in the place of what was found."""
        weights = mixture.weights if self.weights is None else self.weights
        means = mixture.means if self.means is None else self.means
        covariances = mixture.covariances if self.covariances is None else self.covariances
        return Mixture.of(held.kind, weights, means, covariances)

    def _at_random(self, problem: MixtureProblem, run: int) -> Mixture:
        """Share out each row at random, by its number."""
        k, p, held = self.k, problem.rows.n_features, problem.held
        salt = int(generator(self.seed, "shares", run).integers(2**63))
        middle = Mixture.of(
            held.kind, np.full(k, 1 / k), np.tile(problem.summary.mean, (k, 1)), spread_like(1.0, held.kind, k, p)
        )
        shares = problem.rows.fold(_random_shares, middle, salt)
        return shares.updated(middle, replace(held, covariances=self.covariances is not None, weights=False))

    def _centers(self, problem: MixtureProblem, start: Step | None) -> Generator[Step, None, np.ndarray]:
        """Give centres to share out rows by, of shape (runs, k, p)."""
        if self.means is not None:
            return np.tile(self.means, (self.runs, 1, 1))
        rows = problem.rows
        if problem.holes:
            rows = rows.through(_filled, problem.summary.mean)
        if self.way == "random_from_data":
            return any_rows(rows, self.k, self.seed, self.runs)
        if self.way == "k-means++":
            *_, (found, _) = spread_out(rows, self.k, self.seed, self.runs)
            return np.stack([filled_up(one, self.k) for one in found])
        done = [] if start is None else list(start.done)
        centers = None if start is None else start.state.get("centers")
        while len(done) < self.runs:
            found = yield from self._clusters(problem, rows, done, centers)
            done.append(found)
            centers = None
        return np.stack(done)

    def _clusters(
        self, problem: MixtureProblem, rows: Rows, done: list[np.ndarray], centers: np.ndarray | None
    ) -> Generator[Step, None, np.ndarray]:
        """Give the centres of k-means for one run, from given ones on or from its own seeds."""
        run = len(done)
        seed = self.seed if run == 0 else int(generator(self.seed, "clusters", run).integers(2**62))
        model = KMeans(self.k, random_state=seed, n_init=1, init="k-means++" if centers is None else centers)
        found = centers
        for step in steps(model, rows):
            found = step.centers
            if not step.prepares:
                step = self._prepared(problem, step, done)
                yield step
                if step.number >= model.max_iter or step.moved <= model.tol:
                    break
        assert found is not None
        return found

    def _prepared(self, problem: MixtureProblem, step: Step, done: list[np.ndarray]) -> Step:
        """Give the mixture that centres stand for, and the bound of its likelihood."""
        k, p = step.centers.shape
        total = float(problem.summary.weight.max())
        cost = step.objective / (total * p)
        variance = max(cost + problem.held.regulariser, EPS * float(problem.summary.variance.max()), TINY)
        bound = p / 2 * (math.log(2 * math.pi * variance) + cost / variance) + math.log(k)
        covariances = spread_like(variance, problem.held.kind, k, p)
        prepared = Step(bound, weights=np.full(k, 1 / k), means=step.centers, covariances=covariances, prepares=True)
        prepared.state.update(centers=step.centers, done=np.array(done).reshape(len(done), k, p), seed=self.seed)
        prepared.state["moved"] = np.inf if step.gap is None else step.gap
        prepared.number = step.number
        return prepared


def _filled(block: Block, values: np.ndarray) -> Block:
    """Fill what is missing by the values of its columns."""
    X = np.asarray(block.X)
    return replace(block, X=np.where(np.isnan(X), values.astype(X.dtype), X))


def _random_shares(block: Block, middle: Mixture, salt: int) -> Shares:
    """Take the moments of rows that are shared out by lots, each by the number of its row; what is missing is in the middle."""
    kept = np.arange(block.start, block.start + len(block), dtype=np.uint64)
    if block.weight is not None and not block.weight.all():
        kept = kept[block.weight > 0]
    X, w = rows_that_count(block)
    numbers = kept[None] * np.uint64(middle.k) + np.arange(middle.k, dtype=np.uint64)[:, None]
    with np.errstate(over="ignore"):
        lots = (mixed(numbers + np.uint64(salt)) >> np.uint64(11)).astype(np.float64) + 0.5
    shares = lots / lots.sum(axis=0)
    parts = None
    for here in middle.pieces(len(X)):
        found = Shares.given(np.nan_to_num(middle.away(X[here])), shares[:, here] * w[here], middle.kind, w[here])
        parts = found if parts is None else parts + found
    return Shares.none(middle) if parts is None else parts
