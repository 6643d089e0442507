r"""Whitened columns of two tables, and the singular values of what is between them.

.. math:: B_x^\top G_x B_x = I, \qquad B_y^\top G_y B_y = I, \qquad B_x^\top G_{xy} B_y = \tilde U S \tilde V^\top, \qquad
    U = B_x \tilde U, \quad V = B_y \tilde V,

where :math:`G` is the matrix of correlations of all columns, so that nothing depends on their units. Where columns are dependent, only
those directions are whitened that rounding can tell from nothing; with ``alpha`` each column counts as noisy, :math:`G_x + \alpha I`, and
all are.

What rounding did is known. Entries of G are off by :math:`h_j h_k / (d_j d_k)`, and whitening divides that by the least eigenvalue kept,
so canonical correlations move by no more than the sum of that over both tables (a relative perturbation of both sides).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS
from qed.stats.moments import Moments

# Directions are told from nothing if their share of the variance is so many times what rounding can make.
CLEAR = 64.0


class Side:
    """The columns of one table, whitened."""

    def __init__(self, G: np.ndarray, noise: np.ndarray, alpha: float) -> None:
        p = len(G)
        self.G = G + alpha * np.diag((np.diagonal(G) > 0).astype(float))
        with one_blas_thread:
            values, vectors = np.linalg.eigh(self.G)
        self.blur = float(noise @ noise) + 4 * p * EPS * max(float(values[-1]), 1.0)
        kept = values > CLEAR * self.blur
        self.rank = int(kept.sum())
        self.least = float(values[kept].min(initial=np.inf))
        self.basis = vectors[:, kept] / np.sqrt(values[kept])

    @property
    def rounding(self) -> float:
        """What rounding can do to whitened products."""
        return self.blur / self.least if self.rank else 0.0


class Canonical:
    """The canonical pairs of the features and targets of some moments."""

    def __init__(self, moments: Moments, alpha: float = 0.0) -> None:
        self.moments, p = moments, moments.n_features
        diagonal = np.diagonal(moments.scatter)
        self.varies = diagonal > 64 * moments.noise**2
        self.length = np.where(self.varies, np.sqrt(np.maximum(diagonal, 0.0)), 1.0)
        scale = np.where(self.varies, 1 / self.length, 0.0)
        self.G = moments.scatter * scale * scale[:, None]
        noise = moments.noise * scale
        self.x, self.y = Side(self.G[:p, :p], noise[:p], alpha), Side(self.G[p:, p:], noise[p:], alpha)
        self.between = self.G[:p, p:]

    @property
    def rank(self) -> int:
        """How many pairs there are."""
        return min(self.x.rank, self.y.rank)

    @property
    def rounding(self) -> float:
        """What rounding can do to a correlation."""
        x, y = self.x.rounding, self.y.rounding
        return 2 * (x + y + float(np.sqrt(x * y))) + 8 * (len(self.x.G) + len(self.y.G)) * EPS

    @cached_property
    def decomposed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All left directions, the correlations, and all right directions in whitened coordinates: square, the values, square."""
        with one_blas_thread:
            left, values, right = np.linalg.svd(self.x.basis.T @ self.between @ self.y.basis)
        return left, values, right.T

    def pairs(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give U, S and V of the first k pairs, for columns of length one; in each of U the largest entry is positive."""
        left, values, right = self.decomposed
        U, V = self.x.basis @ left[:, :k], self.y.basis @ right[:, :k]
        largest = np.abs(U).argmax(axis=0)
        signs = np.where(U[largest, np.arange(k)] < 0, -1.0, 1.0)
        return U * signs, values[:k], V * signs

    def beyond(self, U: np.ndarray, values: np.ndarray, V: np.ndarray) -> float:
        """Give the largest correlation of what is left when some pairs are taken out."""
        rest = self.between - (self.x.G @ U * values) @ (self.y.G @ V).T
        with one_blas_thread:
            found = np.linalg.svd(self.x.basis.T @ rest @ self.y.basis, compute_uv=False)
        return float(found.max(initial=0.0))
