r"""Lower bounds of a Hessian that are known in factors: what Newton's step is solved with, and what a proof may rest on.

.. math:: A = C \sum_i w_i\, D_i \otimes \tilde x_i \tilde x_i^\top + \Lambda \;\succeq\; (W^\top W)^{-1},
          \qquad\text{so}\quad v^\top A^{-1} v \le \|W v\|^2 \ \text{ for every } v.

A computed Hessian is off by what rounding did to its sums; a proof must not take those digits for curvature. So the columns are scaled to
a diagonal of ones, all that rounding can have added is taken away from the diagonal, and what is left is factorised: if that succeeds, W
is the inverse of the factor (Rump, 2006, Verification of positive definiteness). Where it fails, the triangle of a QR decomposition of the
rows themselves tells curvatures apart whose ratio is up to the square. The curvature of a part of the rows is such a bound as well,
and so is the penalty alone, with the curvature of the constants.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

UNIT = 2.0**-53
# A factor whose own rounding may change a length by more than this share proves nothing.
TELLING = 0.01


class LowerBound(NamedTuple):
    """A bound of the inverse of a Hessian.

    Attributes
    ----------
    root : ndarray of shape (d, d), (q, q) or (d,)
        W; a vector where it is diagonal, and of shape (q, q) where it is the same for every class.
    sizes : ndarray of shape (d,)
        At least the lengths of its columns: no component of a solution is longer than this times the length of the right-hand side.
    slack : float
        What lengths are multiplied with, so that they are bounds whatever rounding did.
    """

    root: np.ndarray
    sizes: np.ndarray
    slack: float = 1.0

    def norm(self, vector: np.ndarray) -> float:
        """Bound the root of ``v' A^-1 v``."""
        return self.slack * float(np.linalg.norm(self._times(vector)))

    def spread(self, errors: np.ndarray) -> float:
        """Bound the root of ``v' A^-1 v`` for all v that are nowhere larger than `errors`."""
        return self.norm(errors) if self.root.ndim == 1 else float(self.sizes @ errors.ravel())

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solve with the bound in the place of the Hessian."""
        found = self._times(right)
        found = self.root * found if self.root.ndim == 1 else found @ self.root
        return np.asarray(found.reshape(right.shape))

    def _times(self, vector: np.ndarray) -> np.ndarray:
        """Multiply with W, class by class if it is the same for all."""
        parts = vector.reshape(-1, len(self.sizes) if self.root.ndim == 1 else self.root.shape[1])
        return np.asarray(self.root * parts if self.root.ndim == 1 else parts @ self.root.T)

    def for_each(self, n_classes: int) -> LowerBound:
        """Give the bound of a Hessian that is at least this one for every class."""
        return LowerBound(self.root, np.tile(self.sizes, n_classes), self.slack)

    def weaker(self, factor: float) -> LowerBound:
        """Give the bound of a Hessian that is at least one over the square of `factor` times this one."""
        return LowerBound(self.root, self.sizes * factor, self.slack * factor)


def from_sums(total: np.ndarray, moved: np.ndarray, rounding: float, absent: np.ndarray) -> LowerBound | None:
    """Give a bound from computed sums of products; None where rounding may have made all of some curvature.

    Parameters
    ----------
    total : ndarray of shape (d, d)
        The Hessian with its penalty.
    moved : ndarray of shape (d,)
        An entry (i, j) is off by at most ``rounding * moved[i] * moved[j]``, but for the penalty.
    rounding : float
        See `moved`.
    absent : ndarray of bool of shape (d,)
        Columns that are exactly zero, and so have no curvature; they have no gradient either.

    Examples
    --------
    >>> bound = from_sums(np.array([[4.0, 0.0], [0.0, 1.0]]), np.array([2.0, 1.0]), 1e-15, np.zeros(2, dtype=bool))
    >>> round(bound.norm(np.array([2.0, 1.0])) ** 2, 4)
    2.0402
    """
    kept = np.flatnonzero(~absent)
    matrix = total if len(kept) == len(total) else total[np.ix_(kept, kept)]
    diagonal, d = matrix.diagonal(), len(kept)
    if not (np.isfinite(matrix).all() and (diagonal > 0).all()):
        return None
    length = np.sqrt(diagonal)
    scaled = matrix / length
    scaled /= length[:, None]
    away = rounding * float(np.sum((moved[kept] / length) ** 2)) + 8 * UNIT * (d + 4) * d
    if away >= 1:
        return None
    scaled.flat[:: d + 1] = 1.0 - away
    lower, failed = lapack.dpotrf(scaled.T, lower=1, clean=1, overwrite_a=1)
    return None if failed else _inverted(lower, length, 0.0, kept, len(total))


def from_rows(triangle: np.ndarray, rounding: float, absent: np.ndarray) -> LowerBound | None:
    """Give a bound from the triangle of a QR decomposition; None where that may be singular but for rounding.

    Parameters
    ----------
    triangle : ndarray of shape (r, d)
        Its sums of products are the Hessian with its penalty.
    rounding : float
        The rows that it is the exact triangle of are off by at most this, relative to the length of each column.
    absent : ndarray of bool of shape (d,)
        Columns that are exactly zero.

    Examples
    --------
    >>> bound = from_rows(np.array([[2.0, 2.0], [0.0, 1e-9]]), 1e-15, np.zeros(2, dtype=bool))
    >>> round(bound.norm(np.array([0.0, 1e-9])), 3)
    1.01
    """
    kept = np.flatnonzero(~absent)
    length = np.linalg.norm(triangle[:, kept], axis=0)
    if not (np.isfinite(length).all() and (length > 0).all() and len(triangle) >= len(kept)):
        return None
    upper = np.asarray(np.linalg.qr(triangle[:, kept] / length, mode="r"))
    return _inverted(upper.T, length, rounding * np.sqrt(len(kept)), kept, len(absent))


def _inverted(lower: np.ndarray, length: np.ndarray, off: float, kept: np.ndarray, size: int) -> LowerBound | None:
    """Invert a factor whose rows, in the matrix that it is exact for, are off by `off` in length."""
    inverse, singular = lapack.dtrtri(lower, lower=1)
    d = len(kept)
    if singular or not np.isfinite(inverse).all():
        return None
    longest = float(np.linalg.norm(inverse))
    lost = off * longest + 4 * UNIT * (d + 2) * d * longest
    if lost > (TELLING if off == 0 else 0.1):
        return None
    root = np.zeros((d, size))
    root[:, kept] = np.tril(inverse) / length
    slack = float((1 + TELLING) / (1 - lost))
    return LowerBound(root, slack * np.linalg.norm(root, axis=0), slack)
