r"""Rows as a kernel sees them, and how far they are from the means of their clusters in its features.

The mean of a cluster is :math:`m_c = \sum_{j \in C} w_j \phi(x_j) / W_c`, and no feature is ever made:

.. math:: \|\phi(x_i) - m_c\|^2 = K_{ii} - \frac{2}{W_c} \sum_{j \in C} w_j K_{ij} + \frac{1}{W_c^2} \sum_{j, l \in C} w_j w_l K_{jl}.

All the sums are one product of the Gram matrix with a column for each cluster, :math:`O(n^2 k)`. They lose at most :math:`(2n +
8)\,\varepsilon \max |K|`, since each is of n terms. Distances do not depend on where zero is, so the rows of a linear kernel are taken
from their middle, and far ones lose no digits.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.numbers import EPS, TINY
from qed.base.random import generator
from qed.base.sources.rows import Rows
from qed.clustering.means.hashing import hashes
from qed.kernels.gram.compared import ComparedRows, from_middle
from qed.linalg.krylov.leading import times

# From so many rows on the whole spectrum takes longer than the clusters do.
MOST_FOR_SPECTRUM = 1500


class FeatureSpace(ComparedRows):
    """Rows to find `model.n_clusters` clusters in, by their similarities."""

    def __init__(self, rows: Rows, model: Any) -> None:
        super().__init__(rows, model)
        self.k = int(model.n_clusters)
        enough_rows(len(self.weight), self.k)

    @cached_property
    def K(self) -> np.ndarray:
        """The Gram matrix of the rows that count."""
        K = self.similarity.gram(from_middle(self.similarity, self.X, self.X))
        if (self.summary.high > self.summary.low).any() and np.abs(K).max(initial=0.0) < TINY / EPS:
            raise InputError(
                "The similarities of these rows vanish, and their distances with them: multiply the columns by 1e150."
            )
        return K

    @cached_property
    def diagonal(self) -> np.ndarray:
        return np.asarray(self.K.diagonal().copy())

    @cached_property
    def rounding(self) -> float:
        """What rounding can do to a squared distance."""
        return (2 * len(self.K) + 8) * EPS * float(np.abs(self.K).max(initial=0.0))

    @cached_property
    def lost(self) -> float:
        """What rounding can do to the objective."""
        return float(self.weight.sum()) * self.rounding

    @cached_property
    def total(self) -> float:
        """The cost of one cluster: the weighted squared distances of all rows from their mean."""
        return max(self.costs(np.zeros((1, len(self.weight)), np.int32), 1)[1].item(), 0.0)

    def costs(self, labels: np.ndarray, k: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give squared distances from the means of some labellings of shape (runs, n), what each costs, and the means' squared lengths.

        Distances are of shape (runs, n, k), and infinite where a cluster has no rows; lengths are of shape (runs, k).
        """
        k, (runs, n) = self.k if k is None else k, labels.shape
        shares, weight = np.zeros((n, runs * k)), np.empty((runs, k))
        for run, own in enumerate(labels):
            weight[run] = np.bincount(own, self.weight, k)
            shares[np.arange(n), run * k + own] = self.weight / weight[run, own]
        sums = times(self.K, shares)
        lengths = np.einsum("ij,ij->j", shares, sums).reshape(runs, k)
        lengths[weight == 0] = np.inf
        away = self.diagonal[None, :, None] - 2 * sums.reshape(n, runs, k).transpose(1, 0, 2) + lengths[:, None]
        own = np.take_along_axis(away, labels[:, :, None].astype(np.intp), 2)[:, :, 0]
        return away, own @ self.weight, lengths

    def least(self) -> float | None:
        """Give a cost below which no clusters can be; None where that would take long.

        It is the trace of the centred Gram matrix less its k - 1 largest eigenvalues, less what rounding can do to them.
        """
        n = len(self.K)
        if n > MOST_FOR_SPECTRUM:
            return None
        means = self.K @ self.weight / self.weight.sum()
        root = np.sqrt(self.weight)
        centred = self.K - means - means[:, None] + float(means @ self.weight) / self.weight.sum()
        value = np.linalg.eigvalsh(centred * root * root[:, None])
        noise = (8 * n + 32) * EPS * float(np.abs(self.K).max(initial=0.0)) * float(self.weight.sum())
        least = float(value[: n - (self.k - 1)].sum()) - noise
        return max(least, 0.0)

    @cached_property
    def names(self) -> np.ndarray:
        """A number of each row that equal rows share, in an order that does not depend on where rows stand."""
        if self.similarity.kernel is None:
            return np.arange(len(self.weight), dtype=np.uint64)
        return hashes(self.X, np.uint64(0))

    def squares_from(self, row: int) -> np.ndarray:
        """Give the squared distances of all rows from one of them; what is below rounding is zero."""
        square = self.diagonal - 2 * self.K[row] + self.diagonal[row]
        return np.where(square > 16 * EPS * (np.abs(self.diagonal) + abs(self.diagonal[row])), square, 0.0)


def enough_rows(count: int, k: int) -> None:
    """Refuse fewer rows than clusters."""
    if count < k:
        raise InputError(
            f"n_samples={count} rows can not make n_clusters={k} clusters: "
            "give more rows (of positive weight) or ask for fewer clusters."
        )


def draw(space: FeatureSpace, seed: int, run: int, drawn: list[int], spread: bool) -> tuple[int | None, np.ndarray]:
    """Draw one more row to begin a cluster with, far from those drawn so far or anywhere; None where all rows are drawn.

    Of some candidates the best is taken (k-means++). Gives also the squared distance of each row from the nearest drawn, this one included.
    """
    order = np.argsort(space.names, kind="stable")
    closest = np.full(len(order), np.inf)
    for row in drawn:
        np.minimum(closest, space.squares_from(row), out=closest)
    mass = space.weight * (np.where(np.isinf(closest), 1.0, closest) if spread else (closest > 0))
    ends = np.cumsum(mass[order])
    if not ends[-1] > 0:
        return None, closest
    trials = 2 + int(np.log(space.k)) if spread and drawn else 1
    chances = generator(seed, "rows of the features", run, len(drawn)).random(trials) * ends[-1]
    places = np.minimum(np.searchsorted(ends, chances, side="right"), np.searchsorted(ends, ends[-1]))
    found = [(int(order[place]), np.minimum(closest, space.squares_from(int(order[place])))) for place in places]
    return min(found, key=lambda one: float(space.weight @ one[1]))
