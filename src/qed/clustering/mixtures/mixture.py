r"""A mixture of normal distributions: what its rows are like, and to which component they belong.

.. math:: p(x) = \sum_{j=1}^k \alpha_j\, \mathcal N(x; \mu_j, \Sigma_j), \qquad
          \log \mathcal N(x; \mu, \Sigma) = \log |U| - \tfrac p2 \log 2\pi - \tfrac12 \|U^\top (x - \mu)\|^2 .

Distances are those of the differences :math:`x - \mu_j` themselves, so rows far from zero lose no digits; densities are summed about
the largest logarithm. Rows are gone through in pieces that stay in the cache, all components at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qed.clustering.mixtures.shapes import axes_of, is_diagonal, matrices, roots_of

# So many differences of rows and means at a time.
PIECE_VALUES, PIECE_ROWS = 1 << 16, 32


@dataclass(frozen=True)
class Mixture:
    """Weights, means and covariances of components, with the roots of their precisions.

    >>> two = Mixture.of("spherical", np.array([0.5, 0.5]), np.array([[-1.0], [1.0]]), np.ones(2))
    >>> two.log_joint(np.zeros((1, 1))).round(4)
    array([[-2.1121, -2.1121]])
    """

    kind: str
    weights: np.ndarray  # (k,)
    means: np.ndarray  # (k, p)
    covariances: np.ndarray  # of the shape of the kind
    roots: np.ndarray  # of the same shape

    @classmethod
    def of(cls, kind: str, weights: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> Mixture:
        """Make a mixture of its parameters; a singular covariance is refused."""
        return cls(kind, weights, means, covariances, roots_of(covariances, kind))

    @property
    def k(self) -> int:
        return len(self.means)

    @property
    def p(self) -> int:
        return self.means.shape[1]

    @cached_property
    def turns(self) -> np.ndarray:
        """The root of each component: matrices of shape (k, p, p), or for independent columns factors of shape (k, p)."""
        if self.kind == "spherical":
            return np.broadcast_to(self.roots[:, None], self.means.shape)
        return np.broadcast_to(self.roots, (self.k, self.p, self.p)) if self.kind == "tied" else self.roots

    @cached_property
    def constants(self) -> np.ndarray:
        """The logarithm of weight and density of each component at its mean, of shape (k,)."""
        diagonal = self.turns if is_diagonal(self.kind) else np.diagonal(self.turns, axis1=1, axis2=2)
        with np.errstate(divide="ignore"):
            density = np.log(np.abs(diagonal)).sum(axis=1) - self.p / 2 * math.log(2 * math.pi)
            return np.asarray(np.log(self.weights) + density)

    @cached_property
    def matrices(self) -> np.ndarray:
        """The covariance of each component, of shape (k, p, p)."""
        return matrices(self.covariances, self.kind, self.k, self.p)

    @cached_property
    def skew(self) -> float:
        r"""By how much rounding of differences grows in their whitening: the norm of :math:`|U^\top| |U^{-\top}|`, one at least."""
        if is_diagonal(self.kind):
            return 1.0
        both = np.abs(np.swapaxes(self.turns, 1, 2)) @ np.abs(np.linalg.inv(np.swapaxes(self.turns, 1, 2)))
        return float(np.linalg.norm(both, axis=(1, 2)).max())

    @cached_property
    def axes(self) -> np.ndarray:
        """The variances along the axes of each component, of shape (k, p) or, where they are shared by some, with ones."""
        return axes_of(self.covariances, self.kind)

    def pieces(self, n: int) -> Iterator[slice]:
        """Cut n rows into pieces."""
        step = max(PIECE_ROWS, PIECE_VALUES // (self.k * self.p))
        return (slice(start, min(start + step, n)) for start in range(0, n, step))

    def away(self, X: np.ndarray) -> np.ndarray:
        """Give the differences of rows and means in double precision, of shape (k, n, p)."""
        return np.asarray(X[None] - self.means[:, None], dtype=np.float64)

    def logs(self, away: np.ndarray) -> np.ndarray:
        """Give the logarithms of weight times density at such differences from the means, of shape (k, n)."""
        if is_diagonal(self.kind):
            white = away * self.turns[:, None]
        else:
            white = away @ self.turns
        np.multiply(white, white, out=white)
        return np.asarray(self.constants[:, None] - 0.5 * white.sum(axis=2))

    def log_joint(self, X: np.ndarray) -> np.ndarray:
        """Give the logarithms of weight times density of each component, of shape (n, k)."""
        found = np.empty((len(X), self.k))
        for here in self.pieces(len(X)):
            found[here] = self.logs(self.away(X[here])).T
        return found

    def moved_to(self, other: Mixture, shift: np.ndarray) -> float:
        r"""Give how far another mixture is, whose means are shifted by so much.

        .. math:: \sum_j \alpha'_j \Bigl[ \log \frac{\alpha'_j}{\alpha_j} +
                  D\bigl(\mathcal N(\mu'_j, \Sigma'_j) \,\|\, \mathcal N(\mu_j, \Sigma_j)\bigr) \Bigr]

        If the other is the result of an M step, that is by how much the step raises the bound of each row, and so by how much at
        least the likelihood rises. No units matter.
        """
        if is_diagonal(self.kind):
            white = shift * self.turns
            times = 1 if self.kind == "diag" else self.p
            ratios = (other.covariances * self.roots**2).reshape(self.k, -1)
        else:
            white = (shift[:, None] @ self.turns)[:, 0]
            kept = self.roots[None] if self.kind == "tied" else self.roots
            theirs = other.covariances[None] if self.kind == "tied" else other.covariances
            with np.errstate(over="ignore", invalid="ignore"):
                seen = np.swapaxes(kept, 1, 2) @ theirs @ kept
            if not np.isfinite(seen).all():
                return math.inf
            ratios, times = np.linalg.eigvalsh(seen), 1
        stretched = times * excess(ratios).sum(axis=1)
        each = 0.5 * (stretched + (white**2).sum(axis=1))
        some = other.weights > 0
        with np.errstate(divide="ignore"):
            logs = np.log(other.weights[some] / self.weights[some])
        return max(float((other.weights[some] * (logs + np.broadcast_to(each, self.k)[some])).sum()), 0.0)


def excess(ratio: np.ndarray) -> np.ndarray:
    r"""Give :math:`r - 1 - \log r`, zero at one and above it elsewhere; infinite where the ratio is not above zero.

    >>> excess(np.array([1.0, 2.0])).round(4)
    array([0.    , 0.3069])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (ratio - 1) - np.log1p(ratio - 1)
    return np.asarray(np.where(ratio > 0, np.maximum(found, 0.0), np.inf))
