r"""The E step of many rows as two matrix products, in quadratic features of the rows.

.. math:: \log \alpha_j \mathcal N(x; \mu_j, \Sigma_j) = \theta_j^\top z(x), \qquad
          z(x) = (1,\; x_1, \dots, x_p,\; x_1^2, x_1 x_2, \dots, x_p^2), \qquad
          \sum_i r_{ij} z(x_i) = (N_j,\; \text{sums},\; \text{sums of products}).

With k components and :math:`m = 1 + p + p(p + 1)/2` features both cost :math:`nkm` products, half of what differences from each mean take,
and are left to BLAS. Rows are taken about the centre of the data, which makes an offset harmless; but a component that is small against
the distance of rows from that centre would lose digits. So the rounding is bounded first: no logarithm of a density is off by more than

.. math:: (m + 4)\, \varepsilon\, \tfrac12\, (\rho + |\mu_j|)^\top |\Sigma_j^{-1}|\, (\rho + |\mu_j|), \qquad \rho = \max_i |x_i|,

and on average over the rows of a component, whose squares about the centre are :math:`\rho^2` on average, it is no more than the same with
that :math:`\rho`. Where that is not small, differences are taken instead (:mod:`qed.clustering.mixtures.mixture`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.compile import kernel
from qed.base.numbers import EPS
from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.shapes import is_diagonal, precisions_of
from qed.kernels.gram.gaussian import exponentials

# What the logarithm of a density may be off by, on average over rows.
TRUSTED = 1e-7
# From so many products of rows, components and columns on it is worth to compile; beyond so many columns features are too many.
WORTH_COMPILING, MOST_COLUMNS = 1 << 20, 64
# So many features of rows at a time.
PIECE_VALUES, MOST_ROWS = 1 << 15, 1 << 10


@dataclass(frozen=True)
class Origin:
    """Where features are taken from: the centre of the data."""

    centre: np.ndarray

    def rounding(self, mixture: Mixture, squares: np.ndarray | None = None) -> float:
        """Bound the error of the logarithm of the density, on average over the rows as they are shared out.

        Parameters
        ----------
        mixture : Mixture
            Whose densities.
        squares : ndarray of shape (k, p), optional
            The mean squares of the rows of each component about the centre; by default as the mixture has them.
        """
        away = mixture.means - self.centre
        if squares is None:
            squares = np.diagonal(mixture.matrices, axis1=1, axis2=2) + away**2
        span = np.sqrt(squares) + np.abs(away)
        if is_diagonal(mixture.kind):
            size = (span**2 * mixture.turns**2).sum(axis=1)
        else:
            precisions = np.abs(precisions_of(mixture.turns, "full"))
            size = ((span[:, None] @ precisions)[:, 0] * span).sum(axis=1)
        return float((features(mixture) + 4) * EPS * (mixture.weights @ size) / 2)

    def keeps(self, mixture: Mixture) -> bool:
        """Say whether the densities of a mixture keep their digits in features."""
        return self.rounding(mixture) <= TRUSTED


def features(mixture: Mixture) -> int:
    """Count the features that the densities of a mixture are linear in."""
    p = mixture.p
    return 1 + 2 * p if is_diagonal(mixture.kind) else 1 + p + p * (p + 1) // 2


def coefficients(mixture: Mixture, centre: np.ndarray) -> np.ndarray:
    """Give the coefficients of the features in the logarithms of densities, of shape (k, features)."""
    means = mixture.means - centre
    if is_diagonal(mixture.kind):
        precisions = mixture.turns**2
        slopes = precisions * means
        products = -0.5 * precisions
    else:
        precisions = precisions_of(mixture.turns, "full")
        slopes = (precisions @ means[:, :, None])[:, :, 0]
        above = np.triu_indices(mixture.p)
        products = precisions[:, above[0], above[1]] * np.where(above[0] == above[1], -0.5, -1.0)
    first = mixture.constants - 0.5 * (slopes * means).sum(axis=1)
    # A component without weight gets nothing, and infinity times zero is not a number.
    return np.concatenate([np.maximum(first, -1e300)[:, None], slopes, products], axis=1)


@dataclass(frozen=True)
class Ready:
    """A mixture that is ready to share out rows by their features."""

    centre: np.ndarray
    theta: np.ndarray  # (k, features)
    products: bool  # whether there are products of different columns among the features

    @classmethod
    def to_share(cls, mixture: Mixture, origin: Origin | None) -> Ready | None:
        """Make a mixture ready; nothing where there is no origin, or digits would be lost."""
        if origin is None or not origin.keeps(mixture):
            return None
        return cls(origin.centre, coefficients(mixture, origin.centre), not is_diagonal(mixture.kind))

    def totals(self, X: np.ndarray, w: np.ndarray, hard: bool) -> tuple[np.ndarray, float, float]:
        """Share out rows; give the sums of the features for each component, that of the logarithms of densities, and of their sizes."""
        k, m = self.theta.shape
        rows = min(max(PIECE_VALUES // m, 64), MOST_ROWS, len(X))
        sums, part, size = np.zeros((k, m)), np.empty((k, m)), np.zeros(2)
        z, logs, top, total = np.empty((m, rows)), np.empty((k, rows)), np.empty(rows), np.empty(rows)
        X = np.ascontiguousarray(X)
        for start in range(0, len(X), rows):
            some, own = X[start : start + rows], w[start : start + rows]
            if len(some) < rows:
                z, logs = np.empty((m, len(some))), np.empty((k, len(some)))
            fill_features(some, self.centre, self.products, z)
            np.matmul(self.theta, z, out=logs)
            if hard:
                _share_whole(logs, own, size)
            else:
                fill_shares(logs, own, top, total, size)
            np.matmul(logs, z.T, out=part)
            sums += part
        return sums, float(size[0]), float(size[1])

    def matrices(self, products: np.ndarray) -> np.ndarray:
        """Turn sums of products, of shape (k, p(p + 1)/2), into matrices."""
        p = len(self.centre)
        found = np.empty((len(products), p, p))
        above = np.triu_indices(p)
        found[:, above[0], above[1]] = products
        found[:, above[1], above[0]] = products
        return found


def _share_whole(logs: np.ndarray, w: np.ndarray, size: np.ndarray) -> None:
    """Give the whole of each row to the component of its largest logarithm, in place."""
    best, top = logs.argmax(axis=0), w * logs.max(axis=0)
    logs[:] = 0.0
    logs[best, np.arange(len(w))] = w
    size += top.sum(), np.abs(top).sum()


@kernel
def fill_features(X: np.ndarray, centre: np.ndarray, products: bool, z: np.ndarray) -> None:
    """Fill a table of features, one line each, with those of rows about a centre: one, values, and products or squares."""
    n, p = X.shape
    one = z[0]
    for i in range(n):
        one[i] = 1.0
    for j in range(p):
        line, middle = z[1 + j], centre[j]
        for i in range(n):
            line[i] = np.float64(X[i, j]) - middle
    place = 1 + p
    for j in range(p):
        left = z[1 + j]
        for l in range(j, p if products else j + 1):
            right, line = z[1 + l], z[place]
            for i in range(n):
                line[i] = left[i] * right[i]
            place += 1


@kernel
def fill_shares(logs: np.ndarray, w: np.ndarray, top: np.ndarray, total: np.ndarray, size: np.ndarray) -> None:
    """Turn logarithms, one line for each component, into shares times weights.

    Adds the weighted sums of the logarithms of their sums, and of the sizes of these, to `size`; the other two are room to work in.
    """
    k, n = logs.shape
    first = logs[0]
    for i in range(n):
        top[i] = first[i]
        total[i] = 0.0
    for j in range(1, k):
        line = logs[j]
        for i in range(n):
            top[i] = max(top[i], line[i])
    for j in range(k):
        line = logs[j]
        for i in range(n):
            line[i] -= top[i]
        exponentials(line)
        for i in range(n):
            total[i] += line[i]
    added, sized = 0.0, 0.0
    for i in range(n):
        density = w[i] * (top[i] + np.log(total[i]))
        added += density
        sized += abs(density)
        total[i] = w[i] / total[i]
    size[0] += added
    size[1] += sized
    for j in range(k):
        line = logs[j]
        for i in range(n):
            line[i] *= total[i]
