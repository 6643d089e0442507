r"""The likelihood of factors, once the most likely loadings are put in: a function of the noise alone.

With :math:`S^* = \Psi^{-1/2} S \Psi^{-1/2} = U \Lambda U^\top` the most likely loadings are :math:`\Psi^{1/2} U_k (\Lambda_k - I)_+^{1/2}`, and

.. math:: -2 \ell = p \log 2\pi + \sum_j \log \psi_j + \sum_{j \le k} (\log \lambda_j + 1) + \sum_{j > k} \lambda_j, \qquad
    -2 \frac{\partial \ell}{\partial \log \psi_j} = \sum_{m > k} (1 - \lambda_m)\, u_{jm}^2 .

EM keeps the loadings and puts :math:`\psi_j \leftarrow S_{jj} - (\Lambda\Lambda^\top)_{jj}`, that is
:math:`\psi_j (1 - g_j)` with that gradient g: never less likely, and slow near the end. There the matrix of second derivatives is about
:math:`\Phi \circ \Phi` with :math:`\Phi = I - U_k U_k^\top` (Jöreskog, 1967), which gives a step of Newton's. Of both steps the likelier
one is made, so the likelihood never falls.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from qed.base.engine import one_blas_thread


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

    def newton(self, floor: float) -> Profile:
        """Make a step of Newton's in the logarithms of the noise that is free to move."""
        free = ~((self.noise <= floor * (1 + 1e-9)) & (self.slope > 0))
        rest = self.vectors[:, ~self.taken]
        curved = (rest @ rest.T)[np.ix_(free, free)] ** 2
        curved.flat[:: len(curved) + 1] += 1e-10
        step = np.zeros(len(self.noise))
        step[free] = np.linalg.solve(curved, self.slope[free])
        with np.errstate(over="ignore"):
            moved = self.noise * np.exp(np.clip(-step, -20.0, 20.0))
        return Profile(self.R, np.clip(moved, floor, 1.0), self.k)

    def following(self, floor: float) -> Profile:
        """Make the likelier of both steps; none where both are less likely, as rounding may have it at the end."""
        tried = [self.em(floor), self.newton(floor)]
        best = min(tried, key=lambda one: one.cost)
        # At the end costs differ by rounding alone: then the slope tells.
        nearer = best.gap(floor) < self.gap(floor)
        return best if best.cost < self.cost or (best.cost == self.cost and nearer) else self


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
