r"""Rows of which some columns are missing: the E step by what they have.

The columns :math:`o` that a row has are normal in each component, with the part of its covariance that belongs to them. Given these,
the columns :math:`u` that it lacks are

.. math:: x_u \mid x_o \sim \mathcal N\bigl(\mu_u + A (x_o - \mu_o),\; \Sigma_{uu} - A \Sigma_{ou}\bigr),
          \qquad A = \Sigma_{uo} \Sigma_{oo}^{-1},

so the moments of the whole row that an M step needs are those of the row with its expected values filled in, plus the covariance of
what is not known. Values have to be missing at random: whether they are may depend on what is seen, not on what is not.

Ghahramani and Jordan (1994), Supervised learning from incomplete data via an EM approach.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.shapes import is_diagonal


@dataclass(frozen=True)
class Pattern:
    """Which columns some rows have."""

    here: np.ndarray  # (p,): whether a column is there

    def seen(self, X: np.ndarray, mixture: Mixture) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give for rows of this pattern the logarithms of weight times density, (k, n); the differences from the means with those that are
        not known as they are expected, (k, n, p); and what is uncertain about these: a matrix for each component, or its diagonal.
        """
        k, p, o, u = mixture.k, mixture.p, np.flatnonzero(self.here), np.flatnonzero(~self.here)
        away = np.zeros((k, len(X), p))
        away[:, :, o] = mixture.away(X)[:, :, o]
        if is_diagonal(mixture.kind):
            left = np.zeros((k, p))
            left[:, u] = 1 / mixture.turns[:, u] ** 2
            logs = self._logs(
                away[:, :, o] * mixture.turns[:, None, o], np.log(mixture.turns[:, o]).sum(axis=1), mixture
            )
            return logs, away, left
        if len(u) == 0:
            return mixture.logs(away), away, np.zeros((k, p, p))
        left = np.zeros((k, p, p))
        covariances = mixture.matrices
        lower = np.linalg.cholesky(covariances[:, o[:, None], o])
        white = np.swapaxes(np.linalg.solve(lower, np.swapaxes(away[:, :, o], 1, 2)), 1, 2)
        half = np.linalg.solve(lower, covariances[:, o[:, None], u])  # so that A = half' lower^-1
        away[:, :, u] = white @ half
        left[:, u[:, None], u] = covariances[:, u[:, None], u] - np.swapaxes(half, 1, 2) @ half
        spread = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        return self._logs(white, -spread, mixture), away, left

    @staticmethod
    def _logs(white: np.ndarray, spread: np.ndarray, mixture: Mixture) -> np.ndarray:
        with np.errstate(divide="ignore"):
            first = np.log(mixture.weights) + spread - white.shape[2] / 2 * math.log(2 * math.pi)
        return np.asarray(first[:, None] - 0.5 * (white**2).sum(axis=2))


def patterns(X: np.ndarray, w: np.ndarray) -> Iterator[tuple[Pattern, np.ndarray, np.ndarray]]:
    """Sort rows by the columns that they have; give each pattern with its rows and their weights.

    >>> [part.here.tolist() for part, _, _ in patterns(np.array([[1.0, np.nan], [2.0, 3.0]]), np.ones(2))]
    [[True, False], [True, True]]
    """
    here = ~np.isnan(X)
    if here.all():
        yield Pattern(here[0]), X, w
        return
    found, number = np.unique(here, axis=0, return_inverse=True)
    order = np.argsort(number.ravel(), kind="stable")
    cuts = np.searchsorted(number.ravel()[order], np.arange(len(found) + 1))
    for place, pattern in enumerate(found):
        rows = order[cuts[place] : cuts[place + 1]]
        yield Pattern(pattern), X[rows], w[rows]


def log_joint(X: np.ndarray, mixture: Mixture) -> np.ndarray:
    """Give the logarithms of weight times density of rows, some of which may lack columns, of shape (n, k)."""
    here = ~np.isnan(X)
    if here.all():
        return mixture.log_joint(X)
    found = np.empty((len(X), mixture.k))
    numbers = np.arange(len(X), dtype=np.float64)
    for pattern, rows, places in patterns(X, numbers):
        for part in mixture.pieces(len(rows)):
            found[places[part].astype(np.intp)] = pattern.seen(rows[part], mixture)[0].T
    return found
