r"""The likelihood of factors, once the most likely loadings are put in: a function of the noise alone.

With :math:`S^* = \Psi^{-1/2} S \Psi^{-1/2} = U \Lambda U^\top` the most likely loadings are
:math:`\Psi^{1/2} U_k (\Lambda_k - I)_+^{1/2}`, and

.. math:: -2 \ell = p \log 2\pi + \sum_j \log \psi_j + \sum_{j \le k} (\log \lambda_j + 1) + \sum_{j > k} \lambda_j, \qquad
    -2 \frac{\partial \ell}{\partial \log \psi_j} = \sum_{m > k} (1 - \lambda_m)\, u_{jm}^2 .

EM keeps the loadings and puts :math:`\psi_j \leftarrow S_{jj} - (\Lambda\Lambda^\top)_{jj}`, that is
:math:`\psi_j (1 - g_j)` with that gradient g: never less likely, and slow near the end. So a step of Newton's is tried, too: with
:math:`c_{mn} = u_{im} u_{jm} u_{in} u_{jn}` twice the second derivatives are

.. math:: \sum_{m, n > k} \tfrac12 (\lambda_m + \lambda_n)\, c_{mn} +
    \sum_{m > k} \sum_{n \le k} (1 - \lambda_m) \frac{\lambda_n + \lambda_m}{\lambda_n - \lambda_m}\, c_{mn},

by the derivatives of eigenvectors. Of both steps the likelier one is made, so the likelihood never falls.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS

# What parts of a step of Newton's are tried, and how far the logarithm of a column's noise may move at once.
LENGTHS, LONGEST = (1.0, 0.3, 0.1), 8.0


class Profile:
    """The likelihood of some noise for a matrix of correlations, all columns having variance one.

    Parameters
    ----------
    R : ndarray of shape (p, p)
        The correlations.
    noise : ndarray of shape (p,)
        The variances of the noise, as shares of those of the columns.
    k : int
        How many factors.
    """

    def __init__(self, R: np.ndarray, noise: np.ndarray, k: int) -> None:
        self.R, self.noise, self.k = R, noise, k
        root = np.sqrt(noise)
        with one_blas_thread:
            values, vectors = np.linalg.eigh(R / root / root[:, None])
        self.values, self.vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]

    @cached_property
    def taken(self) -> np.ndarray:
        """Which eigenvalues factors explain: the k largest that are above those of noise alone."""
        return np.asarray((np.arange(len(self.values)) < self.k) & (self.values > 1))

    @cached_property
    def cost(self) -> float:
        """Minus the mean log-likelihood, but for the logarithms of the columns' variances."""
        taken, p = self.values[self.taken], len(self.noise)
        inside = float((np.log(taken) + 1).sum() + self.values[~self.taken].sum())
        return (p * float(np.log(2 * np.pi)) + float(np.log(self.noise).sum()) + inside) / 2

    @cached_property
    def slope(self) -> np.ndarray:
        """Twice the derivatives of the cost by the logarithms of the noise."""
        rest = self.vectors[:, ~self.taken]
        return np.asarray((rest**2) @ (1 - self.values[~self.taken]))

    def loadings(self) -> np.ndarray:
        """Give what factors do to columns of variance one, of shape (k, p)."""
        found = np.zeros((self.k, len(self.noise)))
        rows = np.flatnonzero(self.taken)
        found[: len(rows)] = (self.vectors[:, rows] * np.sqrt(self.values[rows] - 1)).T * np.sqrt(self.noise)
        return found

    def gap(self, floor: float) -> float:
        """Give the largest slope that is left; on the floor, only where it leads up."""
        held = (self.noise <= floor * (1 + 1e-9)) & (self.slope > 0)
        return float(np.abs(self.slope[~held]).max(initial=0.0))

    def em(self, floor: float) -> Profile:
        """Make a step of EM."""
        return Profile(self.R, np.clip(self.noise * (1 - self.slope), floor, 1.0), self.k)

    def curvature(self) -> np.ndarray:
        """Twice the second derivatives of the cost by the logarithms of the noise."""
        U, V, values = self.vectors[:, self.taken], self.vectors[:, ~self.taken], self.values[~self.taken]
        found = (V @ V.T) * ((V * values) @ V.T)
        for vector, value in zip(U.T, self.values[self.taken]):
            share = (1 - values) * (value + values) / np.maximum(value - values, 1e-9 * value)
            found += np.multiply.outer(vector, vector) * ((V * share) @ V.T)
        return np.asarray(found)

    def newton(self, floor: float, length: float = 1.0) -> Profile:
        """Make a step of Newton's, or a part of it, in the logarithms of the noise that is free to move."""
        step = np.zeros(len(self.noise))
        step[self._free(floor)] = self._newton_step(floor)
        with np.errstate(over="ignore"):
            moved = self.noise * np.exp(np.clip(-length * step, -LONGEST, LONGEST))
        return Profile(self.R, np.clip(moved, floor, 1.0), self.k)

    def _free(self, floor: float) -> np.ndarray:
        return np.asarray(~((self.noise <= floor * (1 + 1e-9)) & (self.slope > 0)))

    def _newton_step(self, floor: float) -> np.ndarray:
        """Give the step where the cost is curved up; along other directions, as long as its curvature would have it."""
        free = self._free(floor)
        with one_blas_thread:
            values, vectors = np.linalg.eigh(self.curvature()[np.ix_(free, free)])
        size = np.maximum(np.abs(values), 1e-8 * max(float(np.abs(values).max(initial=0.0)), 1e-8))
        return np.asarray(vectors @ ((vectors.T @ self.slope[free]) / size))

    def following(self, floor: float) -> Profile:
        """Make the likelier of both steps; none where both are less likely, as rounding may have it at the end."""
        # At the end costs differ by rounding alone, of small eigenvalues beside large ones: then the slope tells.
        slack = 4 * len(self.noise) * EPS * (abs(self.cost) + float(self.values[0]))
        best = self.em(floor)
        for length in LENGTHS:
            tried = self.newton(floor, length)
            if tried.cost < best.cost or (tried.cost < best.cost + slack and tried.gap(floor) < best.gap(floor)):
                best = tried
                break
        nearer = best.gap(floor) < self.gap(floor)
        return best if best.cost < self.cost or (nearer and best.cost <= self.cost + slack) else self


def rotated(loadings: np.ndarray, gamma: float, rounds: int = 500, tol: float = 1e-10) -> np.ndarray:
    """Turn factors so that each touches few columns: varimax with ``gamma=1``, quartimax with 0.

    Parameters
    ----------
    loadings : ndarray of shape (k, p)
        What factors do to columns.
    gamma : float
        The criterion.
    rounds : int
        The most rounds.
    tol : float
        A round that gains no more than such a share is the last.

    Examples
    --------
    >>> simple, (c, s) = np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), (0.8, 0.6)
    >>> np.abs(rotated(np.array([[c, -s], [s, c]]) @ simple, 1.0)).round(4)
    array([[2., 1., 0.],
           [0., 0., 1.]])
    """
    A, turn, before = loadings.T, np.eye(len(loadings)), 0.0
    p = len(A)
    for _ in range(rounds):
        now = A @ turn
        target = now**3 - gamma / p * now * (now**2).sum(axis=0)
        left, sizes, right = np.linalg.svd(A.T @ target)
        turn = left @ right
        total = float(sizes.sum())
        if total <= before * (1 + tol):
            break
        before = total
    return np.asarray((A @ turn).T)
