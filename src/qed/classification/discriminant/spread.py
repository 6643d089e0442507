r"""A covariance as coordinates in which it is the identity, and how much of that rounding may have spoilt.

.. math:: W^\top \Sigma W = I, \qquad (x - \mu)^\top \Sigma^{-1} (x - \mu) = \|W^\top (x - \mu)\|^2, \qquad \Sigma^{-1} d = W W^\top d .

With the Cholesky factor of the matrix scaled to a diagonal of ones, :math:`\Sigma = D L L^\top D`, the coordinates are
:math:`W = D^{-1} L^{-\top}`: the units of the columns do not matter. The sums behind :math:`\Sigma` are known up to
:math:`|\Delta\Sigma_{jk}| \le h_j h_k`, so the covariance of exact arithmetic is :math:`D L (I + M) L^\top D` with a known bound on
:math:`\|M\|`: that is the relative error of every squared distance. Where columns depend on each other there is no factor; then the
eigenvectors that rounding can tell from zero are used alone, and Wedin's theorem (1973) bounds the error.
Cost: :math:`O(p^3)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from qed.base.numbers import EPS
from qed.linalg.cholesky import Cholesky
from qed.linalg.normal import equilibrate
from qed.linalg.root import Root

WEDIN = (1 + 5**0.5) / 2
# A standard deviation changes the logarithm of the odds by less than this: then it says nothing.
NO_SHARE = 1e-5


@dataclass(frozen=True, eq=False)
class Spread:
    """A covariance matrix, factored.

    >>> spread = Spread.of(np.diag([4.0, 9.0, 0.0]), np.zeros(3))
    >>> spread.rank, spread.whitening.T @ [2.0, 3.0, 1.0]
    (2, array([1., 1.]))
    """

    covariance: np.ndarray  # (p, p)
    noise: np.ndarray  # (p,): its entries are off by no more than noise[j] * noise[k]
    length: np.ndarray  # (p,): the standard deviations, one where there is none
    whitening: np.ndarray  # (p, rank): W
    off: float  # the relative error of squared distances, at most
    root: Root | None  # the factor, where there is one

    @classmethod
    def of(cls, covariance: np.ndarray, noise: np.ndarray) -> Spread:
        """Factor a covariance matrix whose entries are known up to ``noise[j] * noise[k]``."""
        factor = Cholesky.of(covariance)
        if factor is not None:
            root = Root.of_cholesky(factor, noise)
            inverse = np.tril(lapack.dtrtri(factor.lower, lower=1)[0])
            off = root.off / (1 - root.off) if root.off < 0.5 else np.inf
            return cls(covariance, noise, factor.length, inverse.T / factor.length[:, None], off, root)
        scaled, length = equilibrate(covariance)
        value, vector = np.linalg.eigh(scaled)
        p = len(value)
        kept = value > 4 * p * EPS * max(value[-1], EPS)
        moved = float(((noise / length) ** 2).sum()) + p * (p + 2) * EPS
        left, least = float(np.abs(value[~kept]).max(initial=0.0)), float(value[kept].min(initial=np.inf))
        off = WEDIN * 2 * (moved + left) / (least - moved) if least > moved else np.inf
        if (noise[~(covariance.diagonal() > 0)] > 0).any():
            off = np.inf  # nothing is left of a column that had something: whether it varies, and how, is not known
        return cls(covariance, noise, length, vector[:, kept] / np.sqrt(value[kept]) / length[:, None], off, None)

    @property
    def rank(self) -> int:
        """How many directions there are in which anything varies."""
        return self.whitening.shape[1]

    @property
    def log_determinant(self) -> float:
        """The logarithm of the determinant; minus infinity where columns depend on each other."""
        if self.root is None:
            return -np.inf
        return 2 * float(np.log(self.length).sum() + np.log(self.root.lower.diagonal()).sum())

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Give the inverse of the covariance times right-hand sides of shape (p, q), in the directions that vary."""
        return np.asarray(self.whitening @ (self.whitening.T @ right))

    def error(self, right: np.ndarray, blur: np.ndarray, coef: np.ndarray) -> float:
        """Bound the error of solutions for right-hand sides known up to `blur`, relative to the largest coefficient of each.

        Coefficients count in units of the standard deviations of their columns; what tells classes apart by less than a hundred-thousandth,
        as where their means are the same, is compared with that.
        """
        if not np.isfinite(self.off):
            return np.inf
        scale = self.length[:, None]
        size = np.maximum(np.abs(coef * scale).max(axis=0, initial=0.0), NO_SHARE)
        if self.root is None:
            far = self.off * np.linalg.norm(coef * scale, axis=0)
            far += np.linalg.norm(self.whitening * scale, 2) ** 2 * np.linalg.norm(blur / scale, axis=0)
            far += np.abs((self.solve(right) - coef) * scale).max(axis=0, initial=0.0)
        else:
            p = len(coef)
            rounding = (p + 2) * EPS * (np.abs(self.covariance) @ np.abs(coef) + np.abs(right))
            blur = blur + rounding + np.multiply.outer(self.noise, self.noise @ np.abs(coef))
            far = self.root.bounds(right - self.covariance @ coef, blur, sharp=False) * scale
            far = far.max(axis=0, initial=0.0)
        return float(np.max(far / size, initial=0.0))
